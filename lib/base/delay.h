/* SPDX-License-Identifier: MIT */
/*
 * Delays threads at random where they meet, so that tests find rare races.
 *
 * Compiled in only with -DSP_TASK_DELAYS (`make DELAY=1`, and the sanitizer builds).  Inactive
 * unless the environment has SP_TASK_DELAY=SEED.  Each thread has its own random stream, so a seed
 * reproduces a schedule approximately, not exactly.
 */
#pragma once

/*
 * Values of one_in: where a task begins, is handed over or is awaited; where a buffer changes
 * hands.
 */
#define SP__DELAY_TASK 2u
#define SP__DELAY_BUFFER 16u

#ifdef SP_TASK_DELAYS
/*
 * Sleeps once in one_in calls, for up to 1 ms or, more rarely, up to 30 ms.  Other calls might
 * yield the processor.
 */
void sp__delay(unsigned one_in);
#else
static inline void sp__delay(unsigned one_in)
{
	(void)one_in;
}
#endif
