/* SPDX-License-Identifier: MIT */
/*
 * Connects loads to a queue of the I/O layer, or to the simulated machine.
 */
#include <stdlib.h>
#include "base/clock.h"
#include "bench/port.h"
#include "obs/trace.h"
#include "sim/machine.h"

/* In real time. */

struct queue_port {
	struct sp__port port;
	struct sp__queue *queue;
	uint64_t last_ns; /* last time read; exact enough to compute waits */
};

static int queue_submit(struct sp__port *port, struct sp__request **reqs, size_t n)
{
	struct queue_port *p = (struct queue_port *)port;
	int rc = sp__queue_submit(p->queue, reqs, n);

	p->last_ns = reqs[0]->submit_ns;
	return rc;
}

static void note_registered(struct queue_port *p)
{
	p->port.pool_rc = sp__queue_pool_rc(p->queue);
	p->port.files_rc = sp__queue_files_rc(p->queue);
}

static int queue_reap(struct sp__port *port, struct sp__request **done, size_t max, size_t min,
		      uint64_t until_ns)
{
	struct queue_port *p = (struct queue_port *)port;
	uint64_t wait_ns = until_ns > p->last_ns ? until_ns - p->last_ns : 0;
	int n;

	if (!sp__queue_outstanding(p->queue)) {
		(void)sp__sleep_until(until_ns);
		return 0;
	}
	n = sp__queue_reap(p->queue, done, max, min,
			   until_ns == UINT64_MAX ? -1 : (int64_t)wait_ns);
	port->engine = sp__queue_engine(p->queue);
	note_registered(p);
	/* The next call can follow without a submission. */
	p->last_ns = n > 0 ? done[n - 1]->done_ns : sp__now_ns();
	return n;
}

static void queue_close(struct sp__port *p)
{
	sp__queue_close(((struct queue_port *)p)->queue);
	free(p);
}

static const struct sp__port_ops queue_ops = {
	.submit = queue_submit,
	.reap = queue_reap,
	.close = queue_close,
};

int sp__port_queue(struct sp__port **out, const struct sp__queue_opts *opts, struct sp_errinfo *err)
{
	struct queue_port *p = calloc(1, sizeof(*p));
	int rc = p ? sp__queue_open(&p->queue, opts, err) : -ENOMEM;

	if (rc) {
		free(p);
		return rc;
	}
	p->port.ops = &queue_ops;
	p->port.engine = sp__queue_engine(p->queue);
	note_registered(p);
	*out = &p->port;
	return 0;
}

/* In virtual time. */

struct sim_port {
	struct sp__port port;
	struct sp__machine *machine;
	struct sp__trace *trace;
	struct sp__simreq *done; /* completed, not yet reaped by the load */
	struct sp__simreq **batch;
	struct sp__simreq reqs[]; /* by tag */
};

static int sim_submit(struct sp__port *port, struct sp__request **reqs, size_t n)
{
	struct sim_port *p = (struct sim_port *)port;
	uint64_t now_ns = sp__machine_now_ns(p->machine);

	for (size_t i = 0; i < n; i++) {
		struct sp__request *r = reqs[i];
		struct sp__simreq *s = &p->reqs[r->tag];

		r->submit_ns = now_ns;
		*s = (struct sp__simreq){ .file = r->volume->sim_file,
					  .write = r->op == SP__OP_WRITE,
					  .prio = r->prio,
					  .offset = r->offset,
					  .bytes = r->bytes,
					  .owner = r };
		p->batch[i] = s;
	}
	return sp__machine_submit(p->machine, p->batch, n, false);
}

static struct sp__request *take(struct sim_port *p)
{
	struct sp__simreq *s = p->done;
	struct sp__request *r = s->owner;

	p->done = s->next;
	r->done_ns = sp__machine_now_ns(p->machine);
	r->result = (int32_t)r->bytes;
	if (p->trace)
		sp__trace_request(p->trace, s->write ? 'W' : 'R', r->volume->name, r->offset,
				  r->bytes, r->prio, r->submit_ns, r->done_ns, r->result);
	return r;
}

static int sim_reap(struct sp__port *port, struct sp__request **done, size_t max, size_t min,
		    uint64_t until_ns)
{
	struct sim_port *p = (struct sim_port *)port;
	size_t n = 0;

	do {
		while (n < max && p->done)
			done[n++] = take(p);
		if (n >= max || (n && n >= min))
			break;
		p->done = sp__machine_reap_until(p->machine, until_ns);
	} while (p->done);
	return (int)n;
}

static void sim_close(struct sp__port *port)
{
	free(((struct sim_port *)port)->batch);
	free(port);
}

static const struct sp__port_ops sim_ops = {
	.submit = sim_submit,
	.reap = sim_reap,
	.close = sim_close,
};

int sp__port_sim(struct sp__port **out, const struct sp__volume *device, unsigned depth,
		 struct sp__trace *trace)
{
	struct sim_port *p = calloc(1, sizeof(*p) + depth * sizeof(p->reqs[0]));

	if (!p)
		return -ENOMEM;
	p->batch = calloc(depth, sizeof(p->batch[0]));
	if (!p->batch) {
		free(p);
		return -ENOMEM;
	}
	p->port.ops = &sim_ops;
	p->port.engine = "sim";
	p->machine = device->machine;
	p->trace = trace;
	*out = &p->port;
	return 0;
}
