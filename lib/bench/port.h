/* SPDX-License-Identifier: MIT */
/*
 * What a load sends its requests through: a queue of the I/O layer in real
 * time, or the simulated machine in virtual time, without any bytes.
 *
 * As with queues: submit, then reap; a request's submit_ns, done_ns and result
 * are filled in by the time it is reaped.
 */
#ifndef SP__BENCH_PORT_H
#define SP__BENCH_PORT_H

#include "io/queue.h"
#include "sim/fwd.h"

struct sp__port;

struct sp__port_ops {
	uint64_t (*now)(const struct sp__port *p);
	int (*submit)(struct sp__port *p, struct sp__request **reqs, size_t n);
	/*
	 * Waits for min of those outstanding, or until a moment; with none
	 * outstanding, until that moment.  How many were taken, or an error.
	 */
	int (*reap)(struct sp__port *p, struct sp__request **done, size_t max, size_t min,
		    uint64_t until_ns);
	void (*close)(struct sp__port *p);
};

struct sp__port {
	const struct sp__port_ops *ops;
	const char *engine; /* of the last reap, as is */
	bool registered;    /* the pool */
};

/* Requests use the pool; opts as for a queue. */
SP_MUST_CHECK int sp__port_queue(struct sp__port **p, const struct sp__queue_opts *opts,
				 struct sp_errinfo *err);
/* depth requests with tags from 0 to depth - 1, on volumes that are on the machine. */
SP_MUST_CHECK int sp__port_sim(struct sp__port **p, struct sp__machine *machine, unsigned depth,
			       struct sp__trace *trace);

#endif
