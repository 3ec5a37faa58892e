/* SPDX-License-Identifier: MIT */
/*
 * Makes a sort an operator of a plan, and collects the records of another capability for a sort, 64
 * KiB per batch.
 */
#include <string.h>
#include "base/clock.h"
#include "base/err.h"
#include "flow/operator.h"
#include "run/volume_spec.h"
#include "sort/state.h"

#define PART_BYTES ((size_t)64 << 10)

int sp__sorter_open(struct sp__sorter *s, const struct sp_keyset_opts *order,
		    struct sp_sort_opts *opts, const struct sp__env *plan, struct sp_errinfo *err)
{
	int rc;

	*s = (struct sp__sorter){ 0 };
	rc = sp_keyset_new(&s->keys, order, err);
	opts->format = order->format;
	opts->keys = s->keys;
	return rc < 0 ? rc : sp__sort_new(&s->sort, opts, plan, err);
}

int sp__sorter_close(struct sp__sorter *s)
{
	int rc = sp__sort_free(s->sort);

	sp_keyset_free(s->keys);
	sp__bytes_release(&s->part, NULL);
	*s = (struct sp__sorter){ 0 };
	return rc;
}

void *sp__sorter_space(struct sp__sorter *s, size_t bytes)
{
	if (!sp__bytes_reserve(&s->part, s->part.bytes + bytes, NULL))
		return s->part.data + s->part.bytes;
	(void)!sp__err(sp__sort_env(s->sort)->err, -ENOMEM, "allocate", NULL, -1);
	return NULL;
}

int sp__sorter_add(struct sp__sorter *s, size_t bytes)
{
	s->part.bytes += bytes;
	return s->part.bytes >= PART_BYTES ? sp__sorter_flush(s) : 0;
}

int sp__sorter_flush(struct sp__sorter *s)
{
	struct sp_batch batch = { s->part.data, s->part.bytes };
	int rc = batch.bytes ? sp__sort_put_all(s->sort, &batch) : 0;

	sp__bytes_empty(&s->part, NULL);
	return rc < 0 ? rc : 0;
}

int sp__sorter_finish(struct sp__sorter *s)
{
	int rc = sp__sorter_flush(s);

	return rc ? rc : sp_sort_finish(s->sort);
}

/*
 * Waits for a worker thread, which has no descriptor: if there is a limit, by sleeping that long.
 */
static int work_until(struct sp_sort *s, bool (*done)(struct sp_sort *s), int64_t timeout_ns)
{
	int rc;

	if (timeout_ns < 0) {
		rc = sp_sort_wait(s);
		return rc < 0 ? rc : 1;
	}
	if (timeout_ns && !done(s))
		(void)sp__sleep_until(sp__now_ns() + (uint64_t)timeout_ns);
	return done(s);
}

static bool formed(struct sp_sort *s)
{
	return sp__form_idle(&s->forming);
}

static bool merged(struct sp_sort *s)
{
	return sp__ring_await(&s->output.ring, 0);
}

static int until(void *sort, int64_t timeout_ns)
{
	struct sp_sort *s = sort;

	if (s->state != SP__SORT_OUTPUT)
		return work_until(s, formed, timeout_ns);
	if (s->output.threaded)
		return work_until(s, merged, timeout_ns);
	return s->spilled.store ? sp__spill_wait(s->spilled.store, timeout_ns) : SP_ESTATE;
}

static int no_fd(void *sort)
{
	(void)sort;
	return -1;
}

void sp__sort_later(struct sp_sort *s, struct sp__waits *waits)
{
	static const struct sp__wait_ops ops = { until, no_fd };

	s->wait.ops = &ops;
	s->wait.source = s;
	sp__waits_add(waits, &s->wait);
}

struct sorting {
	struct sp_operator op;
	struct sp_sort *sort;
	struct sp_batch batch; /* batch of the input that is not completely put */
	bool finished;
};

/* Puts the input.  Returns SP_END when all of it has been put. */
static int feed(struct sorting *n)
{
	int rc;

	do {
		if (!n->batch.bytes) {
			rc = sp__operator_next(n->op.input, &n->batch);
			if (rc != SP_READY)
				return rc;
		}
		rc = sp_sort_put(n->sort, &n->batch);
		if (rc == SP_READY)
			n->batch.bytes = 0;
	} while (rc == SP_READY);
	if (rc == SP_LATER)
		sp__sort_later(n->sort, &n->op.flow->waits);
	return rc;
}

/* Ends the input.  Returns SP_LATER instead of waiting for background work. */
static int finish(struct sorting *n)
{
	if (!formed(n->sort)) {
		n->sort->reported_later = true;
		sp__sort_later(n->sort, &n->op.flow->waits);
		return SP_LATER;
	}
	n->finished = true;
	return sp_sort_finish(n->sort);
}

static int next(void *operator, struct sp_batch * batch)
{
	struct sorting *n = operator;
	int rc = 0;

	sp__waits_withdraw(&n->sort->wait);
	if (!n->finished) {
		rc = feed(n);
		if (rc != SP_END)
			return rc;
		rc = finish(n);
		if (rc)
			return rc;
	}
	rc = sp_sort_get(n->sort, batch);
	if (rc == SP_LATER)
		sp__sort_later(n->sort, &n->op.flow->waits);
	return rc;
}

static void close_sorting(void *operator)
{
	sp_sort_free(((struct sorting *)operator)->sort);
}

/* A plan has one machine, which its sorts use. */
static int choose_volume(const struct sp_flow *flow, struct sp_run_opts *run)
{
	const char *volume = flow->run.volume;

	if (flow->env.device && (!run->volume || !strcmp(run->volume, volume))) {
		run->volume = volume;
		if (!run->geometry)
			run->geometry = flow->run.geometry;
		return 0;
	}
	if (!flow->env.device && !sp__volume_spec_simulated(run))
		return 0;
	return sp__errf(flow->env.err, SP_EUNSUP, "plan", run->volume, -1,
			"a sort within a plan uses the simulated volume of the plan, or none");
}

int sp_sort_operator(struct sp_operator **op, struct sp_operator *input,
		     const struct sp_sort_opts *opts)
{
	struct sp_flow *flow = input->flow;
	struct sp_sort_opts o = *opts;
	struct sorting *n;
	int rc = choose_volume(flow, &o.run);

	n = rc ? NULL : sp__operator_new(flow, sizeof(*n), &input, 1, &rc);
	if (!n)
		return rc;
	n->op.next = next;
	n->op.any_order = false;
	n->op.close = close_sorting;
	o.format = input->format;
	rc = sp__sort_new(&n->sort, &o, flow->env.device ? &flow->env : NULL, flow->env.err);
	*op = &n->op;
	return rc;
}
