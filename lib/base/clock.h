/* SPDX-License-Identifier: MIT */
/*
 * Clocks of the real machine, in nanoseconds.
 */
#ifndef SP__BASE_CLOCK_H
#define SP__BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t sp__clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t sp__now_ns(void)
{
	return sp__clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t sp__cpu_ns(void)
{
	return sp__clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
