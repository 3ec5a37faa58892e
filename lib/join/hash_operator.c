/* SPDX-License-Identifier: MIT */
/*
 * Runs a hash join as an operator of a plan.
 *
 * Algorithm: the join of files runs unchanged, but in a task.  So it can wait for its temporary
 * space, and suspend between its partitions, while the plan continues.  Plan and task exchange data
 * under one lock.
 *
 * States of an input batch: KEPT, the task can still read it; WANTED, the plan calls the operator
 * for the next one; GIVEN; OVER.  Rows collect in the buffer that the task fills.  A full buffer is
 * ready for the plan; a buffer passed to the plan's caller is pinned until the next call.  While
 * the task waits for inputs it is idle, and the plan can take a partly filled buffer, so early rows
 * are returned early.
 *
 * Memory: the memory of the join's own options, and two buffers.
 *
 * Rejected: stages that suspend and resume like the merge join.  Each loop over partitions, blocks,
 * chains and groups would need a state, and temporary space would still block the plan.
 */
#include <pthread.h>
#include "base/delay.h"
#include "join/hash/stage.h"
#include "join/operator.h"
#include "run/volume_spec.h"

enum input_state { KEPT, WANTED, GIVEN, OVER };

struct input {
	struct sp_operator asked; /* the input of the task's join; its next() is take() */
	struct hashing *of;
	struct sp_operator *operator;
	enum input_state state;
	struct sp_batch batch;
	int status;   /* OVER */
	bool awaited; /* the task waits for it */
	bool later;   /* the operator returned SP_LATER in this call of the plan */
};

struct hashing {
	struct sp__joining g;
	struct sp_errinfo err; /* the task's */
	struct sp__task task;
	struct sp__waiter for_inputs, for_task; /* waits of the task, and of the plan */
	bool opened, begun;

	pthread_mutex_t lock; /* protects the following members, and input[] */
	pthread_cond_t changed;
	struct input input[2];
	struct sp__bytes rows[2];
	unsigned filling;  /* the buffer that the task fills */
	bool full, pinned; /* state of the other buffer */
	bool idle;	   /* the task waits for inputs */
	bool ended;	   /* the task, with this status */
	bool stopped;	   /* the plan has stopped; the task can still run */
	int status;
};

/* Functions of the task. */

/* Exchanges the buffers if the other one is free. */
static void exchange(struct hashing *h)
{
	if (h->full || h->pinned || !h->rows[h->filling].bytes)
		return;
	h->filling = !h->filling;
	sp__bytes_empty(&h->rows[h->filling], &h->g.j.env.budget);
	h->full = true;
	pthread_cond_broadcast(&h->changed);
}

/* Waits until the buffer is taken.  0, or SP__LIMIT_REACHED: the plan has stopped. */
static int hand_over(struct hashing *h)
{
	int rc;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&h->lock);
	while ((h->full || h->pinned) && !h->stopped)
		pthread_cond_wait(&h->changed, &h->lock);
	exchange(h);
	rc = h->stopped ? SP__LIMIT_REACHED : 0;
	pthread_mutex_unlock(&h->lock);
	return rc;
}

/* Sink of the emit. */
static int collect(void *hashing, const char *data, size_t bytes, bool whole)
{
	struct hashing *h = hashing;
	struct sp__bytes *rows = &h->rows[h->filling];

	if (sp__bytes_append(rows, data, bytes, &h->g.j.env.budget) < 0)
		return sp__join_no_memory(&h->g.j.env);
	return whole && rows->bytes >= SP__RESULT_ENOUGH_BYTES ? hand_over(h) : 0;
}

/* next() of an input, called by the join. */
static int take(void *asked, struct sp_batch *batch)
{
	struct input *in = asked;
	struct hashing *h = in->of;
	int rc = SP_LATER;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&h->lock);
	if (in->state == KEPT) {
		in->state = WANTED;
		pthread_cond_broadcast(&h->changed);
	}
	if (in->state == GIVEN) {
		*batch = in->batch;
		in->state = KEPT;
		rc = SP_READY;
	} else if (in->state == OVER) {
		rc = in->status;
	}
	in->awaited = rc == SP_LATER;
	pthread_mutex_unlock(&h->lock);
	if (rc == SP_LATER)
		sp__waits_add(&h->g.j.in.waits, &h->for_inputs);
	return rc;
}

static bool has_come(const struct hashing *h)
{
	for (int i = 0; i < 2; i++)
		if (h->input[i].awaited && h->input[i].state != WANTED)
			return true;
	return h->stopped;
}

/* Has no time limit, since it is the only wait of the task. */
static int until_input(void *hashing, int64_t timeout_ns)
{
	struct hashing *h = hashing;
	struct sp__emit *e = &h->g.j.result.emit;
	int rc = e->sink == collect ? sp__emit_flush(e) : 0;

	(void)timeout_ns;
	pthread_mutex_lock(&h->lock);
	while (!rc && !has_come(h)) {
		h->idle = true;
		pthread_cond_broadcast(&h->changed);
		pthread_cond_wait(&h->changed, &h->lock);
	}
	h->idle = h->input[0].awaited = h->input[1].awaited = false;
	rc = rc ? rc : h->stopped ? SP__LIMIT_REACHED : 1;
	pthread_mutex_unlock(&h->lock);
	return rc;
}

static void work(void *hashing)
{
	struct hashing *h = hashing;
	int rc = sp__join_hash(&h->g.j.in, &h->g.j.result, &h->g.j.layout);

	if (!rc)
		rc = sp__emit_flush(&h->g.j.result.emit);
	if (!rc)
		rc = hand_over(h);
	pthread_mutex_lock(&h->lock);
	h->ended = true;
	h->status = rc;
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->lock);
}

/* Functions of the plan's thread. */

/* True if the task has rows or a request for the plan. */
static bool has_news(const struct hashing *h)
{
	for (int i = 0; i < 2; i++)
		if (h->input[i].state == WANTED && !h->input[i].later)
			return true;
	return h->full || h->ended || (h->idle && h->rows[h->filling].bytes);
}

static int until_task(void *hashing, int64_t timeout_ns)
{
	struct hashing *h = hashing;
	bool news;

	pthread_mutex_lock(&h->lock);
	while (timeout_ns < 0 && !has_news(h))
		pthread_cond_wait(&h->changed, &h->lock);
	news = has_news(h);
	pthread_mutex_unlock(&h->lock);
	/* A task has no descriptor: with a limit, the plan sleeps that long. */
	if (!news && timeout_ns)
		(void)sp__sleep_until(sp__now_ns() + (uint64_t)timeout_ns);
	return news;
}

static int no_fd(void *hashing)
{
	(void)hashing;
	return -1;
}

/* Calls an input operator for the task, without the lock.  0 or its error. */
static int give(struct hashing *h, struct input *in)
{
	struct sp_batch batch;
	int rc;

	pthread_mutex_unlock(&h->lock);
	rc = sp__operator_next(in->operator, & batch);
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&h->lock);
	in->later = rc == SP_LATER;
	if (rc == SP_LATER)
		return 0;
	in->state = rc == SP_READY ? GIVEN : OVER;
	in->batch = batch;
	in->status = rc;
	h->idle = h->idle && !in->awaited;
	pthread_cond_broadcast(&h->changed);
	return rc < 0 ? rc : 0;
}

/* SP_READY: rows can be taken; SP_LATER; SP_END; or an error. */
static int serve(struct hashing *h)
{
	int rc = 0;

	do {
		if (h->idle)
			exchange(h);
		if (h->full)
			return SP_READY;
		if (h->ended)
			return h->status;
		for (int i = 0; i < 2 && !rc; i++)
			if (h->input[i].state == WANTED && !h->input[i].later)
				rc = give(h, &h->input[i]);
	} while (!rc && has_news(h));
	return rc ? rc : SP_LATER;
}

static int next(void *operator, struct sp_batch * batch)
{
	struct hashing *h = operator;
	struct sp_errinfo *err = h->g.op.flow->env.err;
	bool idle;
	int rc;

	sp__waits_withdraw(&h->for_task);
	if (!h->begun && !sp__task_start_thread(&h->task, work, h))
		return sp__err(err, SP_ETHREAD, "join", NULL, -1);
	h->begun = true;
	pthread_mutex_lock(&h->lock);
	h->pinned = h->input[0].later = h->input[1].later = false;
	pthread_cond_broadcast(&h->changed);
	rc = serve(h);
	if (rc == SP_READY) {
		const struct sp__bytes *rows = &h->rows[!h->filling];

		*batch = (struct sp_batch){ rows->data, rows->bytes };
		h->full = false;
		h->pinned = true;
	}
	if (rc < 0 && h->ended)
		*err = h->err;
	idle = h->idle;
	pthread_mutex_unlock(&h->lock);
	if (rc == SP_LATER && !idle)
		sp__waits_add(&h->g.op.flow->waits, &h->for_task);
	return rc;
}

static void stop(struct hashing *h)
{
	sp__waits_withdraw(&h->for_task);
	pthread_mutex_lock(&h->lock);
	h->stopped = true;
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->lock);
	sp__task_join(&h->task);
}

static void close_hashing(void *operator)
{
	struct hashing *h = operator;

	if (h->opened)
		stop(h);
	for (int i = 0; i < 2; i++)
		sp__bytes_release(&h->rows[i], &h->g.j.env.budget);
	sp__joining_release(&h->g);
	if (!h->opened)
		return;
	(void)sp__env_close(&h->g.j.env);
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
}

static void open_inputs(struct hashing *h, struct sp_operator *const inputs[2])
{
	for (int i = 0; i < 2; i++) {
		struct sp__source *src = &h->g.j.in.source[i];

		h->input[i].of = h;
		h->input[i].operator= inputs[i];
		h->input[i].asked.next = take;
		src->operator= & h->input[i].asked;
		src->waits = &h->g.j.in.waits;
	}
}

static int open_hashing(struct hashing *h, struct sp_operator *const inputs[2])
{
	static const struct sp__wait_ops inputs_ops = { until_input, no_fd };
	static const struct sp__wait_ops task_ops = { until_task, no_fd };
	struct sp_errinfo *err = h->g.op.flow->env.err;
	struct sp__join *j = &h->g.j;
	int rc;

	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	h->opened = true;
	h->for_inputs.ops = &inputs_ops;
	h->for_task.ops = &task_ops;
	h->for_inputs.source = h->for_task.source = h;
	open_inputs(h, inputs);
	j->opts.ordered = sp__join_ordered(&j->opts);
	rc = sp__env_open(&j->env, &j->opts.run, err);
	if (!rc)
		rc = sp__join_layout(&j->opts, &j->layout, err);
	j->in.read = sp__env_reading(&j->env);
	h->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	j->env.err = j->result.emit.err = &h->err;
	j->result.emit.sink = collect;
	j->result.emit.sink_arg = h;
	return rc;
}

int sp__hash_operator(struct sp_operator **op, struct sp_operator *const inputs[2],
		      const struct sp_join_opts *opts)
{
	struct sp_flow *flow = inputs[0]->flow;
	struct sp__joining *g;
	int rc;

	if (flow->env.device || sp__volume_spec_simulated(&opts->run))
		return sp__errf(flow->env.err, SP_EUNSUP, "plan", opts->run.volume, -1,
				"a hash join within a plan cannot use a simulated volume");
	g = sp__joining_new(inputs, opts, sizeof(struct hashing), &rc);
	if (!g)
		return rc;
	g->op.next = next;
	g->op.close = close_hashing;
	*op = &g->op;
	return rc ? rc : open_hashing((struct hashing *)(void *)g, inputs);
}
