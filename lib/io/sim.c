/* SPDX-License-Identifier: MIT */
/*
 * Implements the engine of simulated volumes.  The machine decides when a request is complete.
 * This file moves the bytes at submission, with pread and pwrite on the volume's own descriptor;
 * bytes of a hollow volume are not moved.
 *
 * Several queues of one process share the machine.  While one of them waits, a request of another
 * can complete.  So each request knows its engine and is kept there.
 */
#include <stdlib.h>
#include "io/engine.h"
#include "sim/machine.h"

struct sim;

struct slot {
	struct sp__simreq sim;
	struct sim *engine;
	struct sp__request *req;
	struct slot *next_free;
};

struct sim {
	struct sp__machine *machine;
	struct sp__donering *done;
	struct slot *free;
	struct sp__simreq **batch;
	unsigned outstanding; /* with the machine */
	struct slot slots[];
};

static void sim_close(void *engine)
{
	struct sim *e = engine;

	free(e->done);
	free(e->batch);
	free(e);
}

static int sim_open(void **engine, const struct sp__engine_opts *opts, struct sp_errinfo *err)
{
	struct sim *e = calloc(1, sizeof(*e) + opts->depth * sizeof(e->slots[0]));

	(void)err;
	if (!e)
		return -ENOMEM;
	e->machine = opts->device->machine;
	e->done = sp__donering_new(opts->depth);
	e->batch = calloc(opts->depth, sizeof(*e->batch));
	if (!e->done || !e->batch) {
		sim_close(e);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < opts->depth; i++) {
		e->slots[i].engine = e;
		e->slots[i].next_free = e->free;
		e->free = &e->slots[i];
	}
	*engine = e;
	return 0;
}

/* Completes requests that take no time: failures of the file below, and the end of the file. */
static bool at_once(struct sim *e, struct sp__request *r)
{
	r->result = r->volume->hollow ? (int32_t)(r->bytes - r->moved) : sp__engine_transfer(r);
	if (r->result > 0)
		return false;
	sp__donering_put(e->done, r);
	return true;
}

static struct sp__simreq *describe(struct sim *e, struct sp__request *r)
{
	struct slot *s = e->free;

	e->free = s->next_free;
	s->req = r;
	s->sim = (struct sp__simreq){ .file = r->volume->sim_file,
				      .write = r->op == SP__OP_WRITE,
				      .prio = r->prio,
				      .offset = r->volume->sim_begin + r->offset + r->moved,
				      .bytes = (uint32_t)r->result,
				      .owner = s };
	return &s->sim;
}

static void give_back(struct slot *s)
{
	s->next_free = s->engine->free;
	s->engine->free = s;
}

static int sim_submit(void *engine, struct sp__request *const *reqs, size_t n)
{
	struct sim *e = engine;
	size_t batch = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		if (!at_once(e, reqs[i]))
			e->batch[batch++] = describe(e, reqs[i]);
	if (batch)
		rc = sp__machine_submit(e->machine, e->batch, batch, true);
	if (rc == 0)
		e->outstanding += (unsigned)batch;
	for (size_t i = 0; rc < 0 && i < batch; i++) {
		struct slot *s = e->batch[i]->owner;

		s->req->result = rc;
		sp__donering_put(e->done, s->req);
		give_back(s);
	}
	return (int)n;
}

/* Gives completed requests to their engines.  Returns true if there are any. */
static bool distribute(struct sp__simreq *r)
{
	struct sp__simreq *next;
	bool any = r;

	for (; r; r = next) {
		struct slot *s = r->owner;

		next = r->next;
		sp__donering_put(s->engine->done, s->req);
		s->engine->outstanding--;
		give_back(s);
	}
	return any;
}

/* Reaps completions of all engines; if wait, advances time until there is one. */
static bool advance(struct sim *e, bool wait)
{
	return distribute(sp__machine_reap(e->machine, wait));
}

void sp__volume_pass(const struct sp__volume *device, uint64_t until_ns)
{
	(void)distribute(sp__machine_reap_until(device->machine, until_ns));
}

static int sim_reap(void *engine, struct sp__request **done, size_t max, size_t min,
		    int64_t timeout_ns)
{
	struct sim *e = engine;

	advance(e, false);
	/* With a limit, time advances to the next completion of any engine, and no further. */
	while (timeout_ns && e->done->count < min && e->outstanding && advance(e, true))
		if (timeout_ns > 0)
			break;
	return (int)sp__donering_take(e->done, done, max);
}

const struct sp__engine_ops sp__sim_engine = {
	.name = "sim",
	.caps = SP__CAP_ASYNC | SP__CAP_PRIO | SP__CAP_MOVES | SP__CAP_SIM,
	.open = sim_open,
	.close = sim_close,
	.submit = sim_submit,
	.reap = sim_reap,
};
