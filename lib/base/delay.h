/* SPDX-License-Identifier: MIT */
/*
 * Random delays where threads meet, so that tests find races that are rare.
 *
 * Compiled in with -DSP_TASK_DELAYS alone (`make DELAY=1`, and the sanitizer builds), and
 * inactive even there unless the environment has SP_TASK_DELAY=SEED.  Each thread draws
 * from a stream of its own, so a seed gives about the same schedule again, though not exactly.
 */
#ifndef SP__BASE_DELAY_H
#define SP__BASE_DELAY_H

/* Where a task begins, is handed over or waited for; and where a buffer changes hands. */
#define SP__DELAY_TASK 2u
#define SP__DELAY_BUFFER 16u

#ifdef SP_TASK_DELAYS
/*
 * Sleeps one time in one_in, for up to 1 ms or, more rarely, up to 30 ms; at other times it may
 * yield the processor.
 */
void sp__delay(unsigned one_in);
#else
static inline void sp__delay(unsigned one_in)
{
	(void)one_in;
}
#endif

#endif
