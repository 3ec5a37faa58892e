/* SPDX-License-Identifier: MIT */
/*
 * A series of moments to wait for, one period apart.
 *
 * A sleep sets the processor's timer, which on a virtual machine costs more than a sample.
 * Therefore several periodic timers alternate: when one is armed again, others expire before it,
 * and the interrupt of one sets the processor's timer for the next.
 */
#pragma once

#include <stdint.h>

#define SP__MOMENTS_AHEAD 16

struct sp__moments {
	int fds[SP__MOMENTS_AHEAD]; /* timerfds; moment i uses number i % nfds */
	unsigned nfds;		    /* 0: clock_nanosleep() for each moment */
	uint64_t begin_ns, period_ns;
	uint64_t next; /* index of the next moment */
};

/* Sets up a series; moment 1 is one period (at least 1 ns) after begin_ns.  Never fails. */
void sp__moments_open(struct sp__moments *m, uint64_t begin_ns, uint64_t period_ns);
/*
 * Waits for the next moment; after a signal, that moment stays the next.  Skips moments whose
 * period is over at now_ns.  Returns their number.
 */
uint64_t sp__moments_wait(struct sp__moments *m, uint64_t now_ns);
void sp__moments_close(struct sp__moments *m);
