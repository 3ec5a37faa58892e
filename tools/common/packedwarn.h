/* SPDX-License-Identifier: MIT */
/*
 * Warns about files that look compressed and are not treated as such.
 */
#pragma once

#include <stdbool.h>

/*
 * Warns if a regular file ("-": standard input) begins like a compressed one. option: the option
 * that decompresses it, or NULL.  True if it warned.
 */
bool packedwarn_input(const char *name, const char *option);

/* True if a file ("-": standard input) is, or could be, compressed: it begins so, or is a pipe. */
bool packedwarn_possible(const char *name);

/*
 * Warns if the name of an output (NULL: none) has the suffix of a compressed file. remedy: a
 * sentence about how to compress it.
 */
void packedwarn_output(const char *name, const char *remedy);
