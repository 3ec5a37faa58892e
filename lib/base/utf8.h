/* SPDX-License-Identifier: MIT */
/*
 * Checks that bytes are UTF-8: no longer forms than needed, no surrogates, no code points beyond
 * U+10FFFF.
 *
 * Thread rule: any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the bytes of the character at the beginning of n > 0 bytes; 0: they are none. */
size_t sp__utf8_character(const char *text, size_t n);
/* True if all of the text is UTF-8. */
bool sp__is_utf8(const char *text, size_t n);
