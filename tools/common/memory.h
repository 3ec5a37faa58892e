/* SPDX-License-Identifier: MIT */
/*
 * The memory of -S, and the default where there is no -S.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* The bytes asked for, or the default if that is 0.  Can warn if the control group has less. */
uint64_t memory_asked(uint64_t bytes, bool warn);

#endif
