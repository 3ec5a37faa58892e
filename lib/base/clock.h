/* SPDX-License-Identifier: MIT */
/*
 * Reads the clocks of the real machine, in nanoseconds.
 */
#pragma once

#include <stdbool.h>
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

static inline struct timespec sp__timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u),
				  .tv_nsec = (long)(ns % 1000000000u) };
}

/* Sleeps until a time of sp__now_ns().  Returns false if a signal came first. */
static inline bool sp__sleep_until(uint64_t ns)
{
	struct timespec ts = sp__timespec(ns);

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == 0;
}
