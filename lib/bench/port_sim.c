/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include "bench/port.h"
#include "obs/trace.h"
#include "sim/machine.h"

struct port {
	struct sp__port port;
	struct sp__machine *machine;
	struct sp__trace *trace;
	struct sp__simreq *done; /* completed, not yet reaped by the load */
	struct sp__simreq **batch;
	struct sp__simreq reqs[]; /* by tag */
};

static struct port *of(struct sp__port *p)
{
	return (struct port *)p;
}

static int sim_submit(struct sp__port *port, struct sp__request **reqs, size_t n)
{
	struct port *p = of(port);
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

static struct sp__request *take(struct port *p)
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
	struct port *p = of(port);
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
	free(of(port)->batch);
	free(port);
}

static const struct sp__port_ops ops = {
	.submit = sim_submit,
	.reap = sim_reap,
	.close = sim_close,
};

int sp__port_sim(struct sp__port **out, const struct sp__volume *device, unsigned depth,
		 struct sp__trace *trace)
{
	struct port *p = calloc(1, sizeof(*p) + depth * sizeof(p->reqs[0]));

	if (!p)
		return -ENOMEM;
	p->batch = calloc(depth, sizeof(p->batch[0]));
	if (!p->batch) {
		free(p);
		return -ENOMEM;
	}
	p->port.ops = &ops;
	p->port.engine = "sim";
	p->machine = device->machine;
	p->trace = trace;
	*out = &p->port;
	return 0;
}
