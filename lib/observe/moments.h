/* SPDX-License-Identifier: MIT */
/*
 * A series of moments to wait for, one period apart.
 *
 * To begin a sleep, the kernel sets the processor's timer, which on a virtual
 * machine costs more than a sample does.  So several timers take turns: each is set again
 * for a time when others come before it, and the interrupt of one sets the processor's
 * timer for the next.
 */
#ifndef SP__OBSERVE_MOMENTS_H
#define SP__OBSERVE_MOMENTS_H

#include <stdint.h>

#define SP__MOMENTS_AHEAD 16

struct sp__moments {
	int fds[SP__MOMENTS_AHEAD]; /* timerfds; moment i has that of i modulo their number */
	unsigned nfds;		    /* 0: there are none, each moment is slept for */
	uint64_t begin_ns, period_ns;
	uint64_t next; /* the moment to wait for */
};

/* Moment 1 is one period (at least 1 ns) after begin_ns. Never fails. */
void sp__moments_open(struct sp__moments *m, uint64_t begin_ns, uint64_t period_ns);
/*
 * Waits for the next moment; a signal ends the wait, and the moment is still to come.
 * Moments that were over, and their period too, by now_ns are left out: how many.
 */
uint64_t sp__moments_wait(struct sp__moments *m, uint64_t now_ns);
void sp__moments_close(struct sp__moments *m);

#endif
