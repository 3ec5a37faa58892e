/* SPDX-License-Identifier: MIT */
/*
 * Sizes in command-line notation, and memory limits.
 */
#ifndef SPINDLE_SIZE_H
#define SPINDLE_SIZE_H

#include <stdint.h>
#include <spindle/api.h>

/*
 * Parses all of text as a size in bytes, by the rules of sort -S: digits and an
 * optional suffix b (1), K M G T P E Z Y R Q (powers of 1024), k m g t as K M G T,
 * or % (of the machine's memory).  Without a suffix the number is in units of
 * default_unit bytes (sort -S: 1024).
 *
 * Returns 0, -EINVAL (no number, or an unknown suffix) or -ERANGE (does not
 * fit in 64 bits).  *bytes is written only on success.  Thread-safe.
 */
SP_API SP_MUST_CHECK int sp_size_parse(const char *text, uint64_t default_unit, uint64_t *bytes);

/*
 * The default memory limit of a tool in bytes: the least of an eighth of the
 * machine's memory, half of the available memory, half of the limit of the
 * control group (version 1 or 2), half of RLIMIT_AS and RLIMIT_DATA, and 1 GB.
 * Never fails.  Thread-safe.
 */
SP_API uint64_t sp_memory_default(void);

/*
 * The limit in bytes of the process's control group or of an ancestor (version 1
 * or 2); UINT64_MAX: none.  Never fails.  Thread-safe.
 */
SP_API uint64_t sp_memory_group(void);

#endif
