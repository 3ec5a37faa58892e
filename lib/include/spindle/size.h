/* SPDX-License-Identifier: MIT */
/*
 * Sizes as people write them on the command line.
 */
#ifndef SPINDLE_SIZE_H
#define SPINDLE_SIZE_H

#include <stdint.h>
#include <spindle/api.h>

/*
 * Reads the whole of text as a size in bytes, by the rules of sort -S: digits
 * and one suffix out of b (1), K M G T P E Z Y R Q (powers of 1024), k m g t
 * as K M G T, or % (of the machine's memory).  Without suffix the number
 * counts default_unit bytes (sort -S: 1024).
 *
 * Returns 0, -EINVAL (no number, or an unknown suffix) or -ERANGE (does not
 * fit in 64 bits).  *bytes is written on success alone.  Thread-safe.
 */
SP_API SP_MUST_CHECK int sp_size_parse(const char *text, uint64_t default_unit,
				       uint64_t *bytes);

#endif
