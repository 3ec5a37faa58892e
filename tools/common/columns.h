/* SPDX-License-Identifier: MIT */
/*
 * Reads columns by name (spindle/columns.h); errors end the program.
 */
#pragma once

#include <spindle/columns.h>

_Noreturn void columns_failed(const struct sp_errinfo *err);
/* Messages show names as quote() does. */
void columns_read(struct sp_columns *c);
/* Does the work of sp_columns_key(). */
char *columns_key(const struct sp_columns *c, const char *text);
