/* SPDX-License-Identifier: MIT */
/*
 * Reads an option whose argument is one of a list of names, which can be abbreviated.
 */
#pragma once

#include <spindle/enum.h>

/*
 * Returns the value of text.  An unknown or ambiguous name ends the program with a list of the
 * names.
 */
int choice_option(const char *option, const char *text, const struct sp_enum_value *table);
