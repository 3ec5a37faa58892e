/* SPDX-License-Identifier: MIT */
/*
 * The virtual clock of a simulated machine.  Submitting does not wait for the device, but charges
 * the processor's time of the request and of copying; waiting moves the clock to the next
 * completion; computing moves it by what is charged.  One for a machine, one thread.
 */
#ifndef SP__SIM_VCLOCK_H
#define SP__SIM_VCLOCK_H

#include <stdint.h>

struct sp__vclock {
	uint64_t now_ns;
	uint64_t cpu_ns;  /* of it, computation charged */
	uint64_t wait_ns; /* of it, spent waiting for I/O */
};

static inline void sp__vclock_charge(struct sp__vclock *c, uint64_t ns)
{
	c->now_ns += ns;
	c->cpu_ns += ns;
}

static inline void sp__vclock_wait_until(struct sp__vclock *c, uint64_t ns)
{
	if (ns > c->now_ns) {
		c->wait_ns += ns - c->now_ns;
		c->now_ns = ns;
	}
}

#endif
