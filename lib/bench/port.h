/* SPDX-License-Identifier: MIT */
/*
 * The path of a load's requests: a queue of the I/O layer in real time, or the simulated device in
 * virtual time, which moves no bytes.
 *
 * A caller submits and then reaps, as with queues. submit_ns, done_ns and result of a request are
 * valid once it is reaped.
 */
#pragma once

#include "io/queue.h"

struct sp__port;

struct sp__port_ops {
	int (*submit)(struct sp__port *p, struct sp__request **reqs, size_t n);
	/*
	 * Waits until min requests have completed or until until_ns; if none is outstanding, until
	 * until_ns.  Returns the number of requests taken, or an error.
	 */
	int (*reap)(struct sp__port *p, struct sp__request **done, size_t max, size_t min,
		    uint64_t until_ns);
	void (*close)(struct sp__port *p);
};

struct sp__port {
	const struct sp__port_ops *ops;
	const char *engine; /* at the last reap */
	int pool_rc,
		files_rc; /* errors of the pool and of the files at the last reap, as in a queue */
};

/* Opens a queue with opts; the buffers of requests are in its pool. */
SP_MUST_CHECK int sp__port_queue(struct sp__port **p, const struct sp__queue_opts *opts,
				 struct sp_errinfo *err);
/* Opens a port for requests with tags 0 to depth - 1 on volumes of the simulated device. */
SP_MUST_CHECK int sp__port_sim(struct sp__port **p, const struct sp__volume *device, unsigned depth,
			       struct sp__trace *trace);
