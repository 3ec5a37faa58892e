/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "base/clock.h"
#include "bench/port.h"

struct port {
	struct sp__port port;
	struct sp__queue *queue;
	uint64_t last_ns; /* the last known time, near enough to now to compute waits */
};

static struct port *of(struct sp__port *p)
{
	return (struct port *)p;
}

static int queue_submit(struct sp__port *p, struct sp__request **reqs, size_t n)
{
	int rc = sp__queue_submit(of(p)->queue, reqs, n);

	of(p)->last_ns = reqs[0]->submit_ns;
	return rc;
}

static int queue_reap(struct sp__port *p, struct sp__request **done, size_t max, size_t min,
		      uint64_t until_ns)
{
	uint64_t last_ns = of(p)->last_ns, wait_ns = until_ns > last_ns ? until_ns - last_ns : 0;
	int n;

	if (!sp__queue_outstanding(of(p)->queue)) {
		(void)sp__sleep_until(until_ns);
		return 0;
	}
	n = sp__queue_reap(of(p)->queue, done, max, min,
			   until_ns == UINT64_MAX ? -1 : (int64_t)wait_ns);
	p->engine = sp__queue_engine(of(p)->queue);
	p->registered = sp__queue_registered(of(p)->queue);
	/* The next call may follow without a submission. */
	of(p)->last_ns = n > 0 ? done[n - 1]->done_ns : sp__now_ns();
	return n;
}

static void queue_close(struct sp__port *p)
{
	sp__queue_close(of(p)->queue);
	free(p);
}

static const struct sp__port_ops ops = {
	.submit = queue_submit,
	.reap = queue_reap,
	.close = queue_close,
};

int sp__port_queue(struct sp__port **out, const struct sp__queue_opts *opts, struct sp_errinfo *err)
{
	struct port *p = calloc(1, sizeof(*p));
	int rc = p ? sp__queue_open(&p->queue, opts, err) : -ENOMEM;

	if (rc) {
		free(p);
		return rc;
	}
	p->port.ops = &ops;
	p->port.engine = sp__queue_engine(p->queue);
	p->port.registered = sp__queue_registered(p->queue);
	*out = &p->port;
	return 0;
}
