/* SPDX-License-Identifier: MIT */
/*
 * Columns by name (spindle/columns.h), where an error ends the program.
 */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <spindle/columns.h>

_Noreturn void columns_failed(const struct sp_errinfo *err);
/* Names stand in messages as quote() shows them. */
void columns_read(struct sp_columns *c);
/* As sp_columns_key(). */
char *columns_key(const struct sp_columns *c, const char *text);

#endif
