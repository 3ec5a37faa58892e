/* SPDX-License-Identifier: MIT */
/*
 * Writes values as JSON (RFC 8259).
 *
 * Thread rule: any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Most bytes of a text of n bytes. */
#define SP__JSON_TEXT(n) (6 * (n) + 2)

/*
 * Writes a text in quotes; returns the end of the output; NULL: the text is not UTF-8, so JSON
 * cannot have it.
 */
char *sp__json_put_text(char *to, const char *p, size_t n);
/* True if a text is a number of JSON as it is: -1.50e+7, but not 007, +1 or .5. */
bool sp__json_is_number(const char *p, size_t n);
