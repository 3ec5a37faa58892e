/* SPDX-License-Identifier: MIT */
/*
 * Delays threads at random, from a seed in the environment.
 */
#include "base/delay.h"

#ifdef SP_TASK_DELAYS
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include "base/rng.h"

#define LONG_NS 1000000u
#define LONGEST_NS 30000000u

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool wanted;
static uint64_t seed;
static _Atomic uint64_t threads;
static _Thread_local struct sp__rng rng;
static _Thread_local bool seeded;

static void read_seed(void)
{
	const char *text = getenv("SP_TASK_DELAY");

	wanted = text && *text;
	if (wanted)
		seed = strtoull(text, NULL, 10);
}

void sp__delay(unsigned one_in)
{
	struct timespec time = { 0, 0 };

	pthread_once(&once, read_seed);
	if (!wanted)
		return;
	if (!seeded)
		rng.state = sp__mix64(seed ^ sp__mix64(atomic_fetch_add(&threads, 1) + 1));
	seeded = true;
	if (!sp__rng_below(&rng, one_in)) {
		time.tv_nsec =
			(long)sp__rng_below(&rng, sp__rng_below(&rng, 4) ? LONG_NS : LONGEST_NS);
		nanosleep(&time, NULL);
	} else if (!sp__rng_below(&rng, 4)) {
		sched_yield();
	}
}
#endif
