/* SPDX-License-Identifier: MIT */
/*
 * Chooses compression by what files are: --auto-compression, or SPINDLE_AUTO_COMPRESSION=1.
 */
#pragma once

#include "common_options.h"

/*
 * If requested: decompresses the n inputs, if one is compressed or not a regular file, and
 * compresses the output (NULL: none) if its name has the suffix of a format.  --decompress and
 * --compress-output take precedence.
 */
void autopack(struct common_options *c, const char *const *inputs, size_t n, const char *output);
