/* SPDX-License-Identifier: MIT */
/*
 * Words that an option takes, abbreviated as far as they stay unique.
 */
#ifndef CHOICE_H
#define CHOICE_H

#include <spindle/enum.h>

/* The value of text, or the end of the program after a list of the words. */
int choice_option(const char *option, const char *text, const struct sp_enum_value *table);

#endif
