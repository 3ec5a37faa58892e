/* SPDX-License-Identifier: MIT */
/*
 * Sizes in command-line notation, and memory limits of the machine.
 *
 * Thread rule: any thread.
 */
#ifndef SPINDLE_SIZE_H
#define SPINDLE_SIZE_H

#include <spindle/api.h>

/*
 * Parses a text as a size in bytes, by the rules of sort -S: digits and an optional suffix b (1), K
 * M G T P E Z Y R Q (powers of 1024), k m g t as K M G T, or % (of the machine's memory).
 * default_unit: bytes per unit of a number without a suffix (sort -S: 1024).
 * bytes: written on success only.
 * Returns 0; -EINVAL if the text is not a number or has an unknown suffix; -ERANGE if the size does
 * not fit in 64 bits.
 */
SP_API SP_MUST_CHECK int sp_size_parse(const char *text, uint64_t default_unit, uint64_t *bytes);

/*
 * Returns the default memory limit of a tool in bytes.  It is the minimum of 1/8 of the machine's
 * memory, 1/2 of the available memory, 1/2 of the limit of the control group (version 1 or 2), 1/2
 * of RLIMIT_AS and of RLIMIT_DATA, and 1 GiB.  It never fails.
 */
SP_API uint64_t sp_memory_default(void);
/*
 * Returns the default memory limit for inputs that occupy little of it, in bytes.  It is that of
 * sp_memory_default() without the available memory and the control group, so it opens no files.  It
 * never fails.
 */
SP_API uint64_t sp_memory_default_small(void);

/*
 * Returns the memory limit in bytes of the process's control group or of an ancestor (version 1 or
 * 2); UINT64_MAX: none.  It never fails.
 */
SP_API uint64_t sp_memory_group(void);

#endif
