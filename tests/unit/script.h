/* SPDX-License-Identifier: MIT */
/*
 * A device whose completions come in chosen orders.  What it completes are batches of sources,
 * one read at a time, and requests of the engine "null", whose place it takes in programs that
 * include this.  Wherever something is waited for, one of all that is outstanding is completed: on
 * the present one of all possible paths, or at random.  Until then its bytes are not there.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/rng.h"
#include "flow/operator.h"
#include "io/engine.h"

#define SCRIPT_MAX 64

struct source {
	struct sp_operator op;
	struct sp__waiter wait;
	const char *const *batches; /* NULL ends them */
	int given, arrived;	    /* one more is outstanding, unless all have arrived */
	int fails;		    /* the read of this batch, from 1; 0: none */
	char pinned[128];	    /* overwritten when its time is over */
};

struct scripted {
	struct sp__donering *done;
};

struct pending {
	struct source *source; /* or a request: */
	struct scripted *engine;
	struct sp__request *request;
	bool fails;
};

static struct {
	struct source *source[8];
	int nsources;
	struct pending request[SCRIPT_MAX];
	int nrequests;
	/* For each choice: its result, and the number of alternatives. */
	int chosen[SCRIPT_MAX], of[SCRIPT_MAX], depth, at;
	struct sp__rng *random; /* instead of paths */
	/* Instead: what this is true of comes last. */
	bool (*last)(const struct pending *p);
	bool only_last; /* when something was completed last, there was nothing else */
	long completed, reads;
	long fails; /* this request, from 1; 0: none */
} script;

/* Choosing. */

static int script_choose(int n)
{
	if (script.random)
		return (int)sp__rng_below(script.random, (uint64_t)n);
	if (n == 1 || script.last || script.at == SCRIPT_MAX)
		return 0;
	if (script.at == script.depth) {
		script.chosen[script.depth] = 0;
		script.of[script.depth++] = n;
	}
	return script.chosen[script.at++];
}

/* To the next path; false: that was the last. */
static inline bool script_next_path(void)
{
	while (script.depth && script.chosen[script.depth - 1] + 1 == script.of[script.depth - 1])
		script.depth--;
	if (!script.depth)
		return false;
	script.chosen[script.depth - 1]++;
	return true;
}

/* Before each run of a plan. */
static inline void script_begin(void)
{
	script.nsources = script.nrequests = script.at = 0;
	script.completed = script.reads = 0;
	script.only_last = false;
}

static bool source_outstanding(const struct source *s)
{
	return s->batches[s->arrived] && s->arrived <= s->given;
}

static void complete_request(struct pending *p)
{
	struct sp__request *r = p->request;

	r->result = p->fails ? -EIO : sp__engine_transfer(r);
	sp__donering_put(p->engine->done, r);
	script.nrequests--;
	memmove(p, p + 1, (size_t)(script.request + script.nrequests - p) * sizeof(*p));
}

static int script_outstanding(struct pending *can, bool last)
{
	int n = 0;

	for (int i = 0; i < script.nsources; i++)
		if (source_outstanding(script.source[i]))
			can[n++] = (struct pending){ .source = script.source[i] };
	for (int i = 0; i < script.nrequests; i++)
		can[n++] = script.request[i];
	if (!script.last)
		return n;
	for (int i = n; i-- > 0;)
		if (script.last(&can[i]) != last)
			memmove(&can[i], &can[i + 1], (size_t)(--n - i) * sizeof(*can));
	return n;
}

static void script_complete(void)
{
	struct pending can[SCRIPT_MAX + 8], *one;
	int n = script_outstanding(can, false);

	script.only_last = !n;
	n = n ? n : script_outstanding(can, true);
	script.completed++;
	if (!n)
		return;
	one = &can[script_choose(n)];
	if (!one->request) {
		one->source->arrived++;
		return;
	}
	for (int i = 0; i < script.nrequests; i++)
		if (script.request[i].request == one->request) {
			complete_request(&script.request[i]);
			return;
		}
}

/* The engine. */

static int script_open(void **engine, const struct sp__engine_opts *opts, struct sp_errinfo *err)
{
	struct scripted *e = calloc(1, sizeof(*e));

	(void)err;
	*engine = e;
	if (e)
		e->done = sp__donering_new(opts->depth);
	return e && e->done ? 0 : -ENOMEM;
}

static void script_close(void *engine)
{
	free(((struct scripted *)engine)->done);
	free(engine);
}

static int script_submit(void *engine, struct sp__request *const *reqs, size_t n)
{
	size_t i;

	for (i = 0; i < n && script.nrequests < SCRIPT_MAX; i++) {
		memset((char *)reqs[i]->data + reqs[i]->moved, '#',
		       reqs[i]->bytes - reqs[i]->moved);
		script.request[script.nrequests++] = (struct pending){
			.engine = engine,
			.request = reqs[i],
			.fails = ++script.reads == script.fails,
		};
	}
	return i ? (int)i : -EAGAIN;
}

static int script_reap(void *engine, struct sp__request **done, size_t max, size_t min,
		       int64_t timeout_ns)
{
	struct scripted *e = engine;

	while (e->done->count < min && timeout_ns) {
		script_complete();
		if (timeout_ns > 0)
			break;
	}
	return (int)sp__donering_take(e->done, done, max);
}

const struct sp__engine_ops sp__null_engine = {
	.name = "null",
	.caps = SP__CAP_ASYNC | SP__CAP_MOVES,
	.open = script_open,
	.close = script_close,
	.submit = script_submit,
	.reap = script_reap,
};

/* Sources. */

static inline int source_until(void *source, int64_t timeout_ns)
{
	struct source *s = source;

	if (s->arrived > s->given)
		return 1;
	if (!source_outstanding(s))
		return SP_ESTATE;
	if (timeout_ns)
		script_complete();
	return s->arrived > s->given;
}

static inline int source_fd(void *source)
{
	(void)source;
	return -1;
}

static inline int source_next(void *operator, struct sp_batch * batch)
{
	static const struct sp__wait_ops ops = { source_until, source_fd };
	struct source *s = operator;

	memset(s->pinned, '#', sizeof(s->pinned));
	if (!s->batches[s->given])
		return SP_END;
	if (s->arrived == s->given) {
		s->wait.ops = &ops;
		s->wait.source = s;
		sp__waits_add(&s->op.flow->waits, &s->wait);
		return SP_LATER;
	}
	if (++s->given == s->fails)
		return sp__err(s->op.flow->env.err, -EIO, "read", "source", -1);
	strcpy(s->pinned, s->batches[s->given - 1]);
	*batch = (struct sp_batch){ s->pinned, strlen(s->pinned) };
	return SP_READY;
}

/* Lines of fields with a blank between them. */
static inline struct sp_operator *source(struct sp_flow *flow, const char *const *batches,
					 int fails)
{
	int rc;
	struct source *s = sp__operator_new(flow, sizeof(*s), NULL, 0, &rc);

	if (!s)
		abort();
	s->op.next = source_next;
	s->op.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	sp__cut_init(&s->op.cut, " ", 1, false);
	s->batches = batches;
	s->fails = fails;
	script.source[script.nsources++] = s;
	return &s->op;
}

#endif
