/* SPDX-License-Identifier: MIT */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

/*
 * The memory a tool may use when its user has not said: the least of an
 * eighth of the machine's, half of what is available, half of the limit of
 * the control group (version 1 or 2), half of RLIMIT_AS and RLIMIT_DATA, and
 * 1 GB.
 */
uint64_t memory_default(void);

#endif
