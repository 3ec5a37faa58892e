/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON that a terminal can show; sp_printable() does the same for text.
 */
#pragma once

#include <stddef.h>

/*
 * Writes bytes of a JSON document to the FILE *file, and escapes each control character that JSON
 * allows in a string (DEL, U+0080 to U+009F).  The type is jansson's json_dump_callback_t, which
 * never divides a character.  Returns 0, or -1 if writing failed.
 */
int sp__json_write(const char *bytes, size_t n, void *file);
