/* SPDX-License-Identifier: MIT */
/*
 * Merges sorted regular files by ranges of keys, with several threads (ranges.h).
 *
 * Algorithm: the thread of the join and its tasks are makers (io/ordered.h).  A maker takes the
 * next range, cuts it off, merges it into a buffer of the result, and takes another one.  The
 * lowest range that stops is the last one.
 *
 * Memory: for each maker the streams of two inputs and of the result, two buffers of twice a step,
 * and SP__JOIN_HOLD_BYTES for records kept.  Only the lowest range keeps more.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/delay.h"
#include "base/host.h"
#include "base/minmax.h"
#include "base/task.h"
#include "base/tasklog.h"
#include "io/ordered.h"
#include "io/volume.h"
#include "join/merge/merge.h"
#include "join/merge/ranges.h"

/* Bytes of the longer file in a range, if they are in the page cache, and if not. */
#define STEP_READ (UINT64_C(16) << 20)

/* Counts of a range that has been merged. */
struct counted {
	bool ended;
	uint64_t lines[2], bytes[2], merged[2], records, filtered;
	bool unpairable;
};

struct sp__joinrange_maker {
	struct sp__joinrange range;
	struct sp__inorder_maker ordered;
	int fd[2];	    /* descriptors of the inputs */
	struct sp__env env; /* the join's, except the error */
	struct sp_errinfo err;
	struct sp__join_counts counts;
	struct sp__io_counters io; /* of closed sources */
	void *merge;		   /* merge of the range; kept if it has stopped */
	int stopped;		   /* result of run() when the merge stopped */
	struct sp__log_parts logged;
};

struct sp__joinranges {
	struct sp__join_inputs *in;
	struct sp__result *out;
	const struct sp__joinrange_ops *ops;
	const void *arg;
	uint64_t begin[2]; /* ends of the headers */
	struct sp__inorder ordered;
	struct sp__joinrange_maker *makers;
	struct sp__join_makers layout;
	char *mem; /* buffers of the result */

	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t merged;
	struct sp__keycuts cuts;
	struct sp__joinrange_cut *cut; /* ring of ranges cut off, by number */
	unsigned ncut;
	uint64_t next;	       /* number of the next range to be cut off */
	uint64_t end;	       /* number of ranges, once all are cut off */
	int error;	       /* of cutting */
	uint64_t lowest;       /* range that is not merged */
	struct counted *count; /* by number */
	size_t capacity;
};

/* Functions of any maker. */

/* Sink of a maker's emit. */
static int put(void *maker, const char *data, size_t bytes, bool whole)
{
	struct sp__joinrange_maker *k = maker;

	(void)whole;
	return sp__inorder_put(&k->ordered, data, bytes, bytes);
}

/* Cuts off ranges up to the one of this number.  SP_READY, SP_END or an error.  Holds the lock. */
static int cut_off(struct sp__joinranges *a, uint64_t number)
{
	while (!a->error && a->next <= number && a->next < a->end) {
		int rc = SP__ARRAY_GROW(a->count, a->capacity, a->next + 1)
				 ? sp__keycuts_next(&a->cuts, &a->cut[a->next % a->ncut])
				 : sp__join_no_memory(a->in->env);

		if (rc < 0)
			a->error = rc;
		else if (rc == SP_END)
			a->end = a->next;
		else
			a->count[a->next++] = (struct counted){ 0 };
	}
	return a->next > number ? SP_READY : a->error ? a->error : SP_END;
}

/* Gets the range of this number.  Returns as cut_off(). */
static int take(struct sp__joinrange_maker *k, uint64_t number)
{
	struct sp__joinranges *a = k->range.all;
	struct sp__joinrange_cut mine = k->range.cut;
	int rc;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&a->lock);
	rc = cut_off(a, number);
	if (rc == SP_READY) {
		k->range.cut = a->cut[number % a->ncut];
		a->cut[number % a->ncut] = mine; /* for its memory */
	}
	pthread_mutex_unlock(&a->lock);
	k->range.number = number;
	return rc;
}

static int open_range(struct sp__joinrange_maker *k)
{
	struct sp__joinrange *r = &k->range;
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		struct sp__scan_part part = { .fd = k->fd[i],
					      .from = r->cut.from[i],
					      .to = r->cut.to[i],
					      .last = !r->cut.more[i] };

		rc = sp__source_open_part(&r->in, i, &part);
	}
	if (rc < 0)
		return rc;
	r->unpairable = false;
	r->in.merged[0] = r->in.merged[1] = 0;
	r->out.emit.records = r->out.emit.filtering.records = 0;
	r->out.emit.error = 0;
	k->merge = r->all->ops->begin(r, r->all->arg);
	return k->merge ? 0 : -ENOMEM;
}

static void leave_range(struct sp__joinrange_maker *k)
{
	struct sp__io_counters c;

	if (k->merge)
		k->range.all->ops->end(k->merge);
	k->merge = NULL;
	for (int i = 0; i < 2; i++) {
		if (k->range.in.source[i].scan) {
			sp__scan_counters(k->range.in.source[i].scan, &c);
			sp__io_add(&k->io, &c);
		}
		sp__source_close(&k->range.in.source[i]);
	}
}

/* Notes that the maker's range is merged, as far as it goes. */
static void count(struct sp__joinrange_maker *k)
{
	const struct sp__joinrange *r = &k->range;
	struct sp__joinranges *a = r->all;
	struct counted *c;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&a->lock);
	c = &a->count[r->number];
	*c = (struct counted){ .ended = !k->stopped,
			       .records = r->out.emit.records,
			       .filtered = r->out.emit.filtering.records,
			       .unpairable = r->unpairable };
	for (int i = 0; i < 2; i++) {
		c->lines[i] = r->in.source[i].lines;
		c->bytes[i] = r->in.source[i].bytes;
		c->merged[i] = r->in.merged[i];
	}
	while (a->lowest < a->next && a->count[a->lowest].ended)
		a->lowest++;
	pthread_cond_broadcast(&a->merged);
	pthread_mutex_unlock(&a->lock);
}

/* Merges a range.  Returns what run() returns, or an error. */
static int merge_range(struct sp__joinrange_maker *k)
{
	struct sp__emit *e = &k->range.out.emit;
	int rc = open_range(k);

	if (rc < 0)
		return rc;
	while ((rc = k->range.all->ops->run(k->merge)) == SP_READY && !sp__emit_flush(e))
		;
	return sp__emit_flush(e) ? e->error : rc;
}

/* Makes a range of the result. */
static void make(struct sp__joinrange_maker *k, uint64_t number)
{
	int rc = take(k, number);

	/* There is no range, or an error that is kept. */
	if (rc != SP_READY) {
		(void)sp__inorder_end_all(&k->ordered);
		return;
	}
	rc = merge_range(k);
	if (k->range.out.emit.error || rc == -ECANCELED) {
		leave_range(k);
		sp__inorder_fail(&k->ordered, rc);
		return;
	}
	k->stopped = rc;
	/* Another range may then keep more. */
	if (!rc)
		leave_range(k);
	count(k);
	(void)(rc ? sp__inorder_end_all(&k->ordered) : sp__inorder_end(&k->ordered));
}

static void work(void *maker)
{
	struct sp__joinrange_maker *k = maker;
	struct sp__joinranges *a = k->range.all;
	uint64_t number;

	sp__inorder_join(&k->ordered, &a->ordered, &k->err);
	/* A maker that has stopped gets no further range, but writes the buffers of others. */
	while (sp__inorder_take(&k->ordered, &number)) {
		struct sp__logging outer = sp__log_part(&k->logged, SP__TASK_KIND(make));

		make(k, number);
		sp__log_leave(outer);
		if (k == a->makers)
			sp__progress_report(&a->in->counts->progress, SP_JOIN_PHASE_PROBE,
					    k->range.cut.to[0] + k->range.cut.to[1],
					    a->cuts.size[0] + a->cuts.size[1]);
	}
	sp__inorder_leave(&k->ordered);
	/* A maker that waits in sp__joinrange_hold() might have to stop. */
	pthread_mutex_lock(&a->lock);
	pthread_cond_broadcast(&a->merged);
	pthread_mutex_unlock(&a->lock);
}

int sp__joinrange_hold(struct sp__joinrange *r, uint64_t bytes)
{
	struct sp__joinranges *a = r->all;
	bool stopped = false;

	if (bytes <= SP__JOIN_HOLD_BYTES)
		return 0;
	pthread_mutex_lock(&a->lock);
	while (a->lowest < r->number && !(stopped = sp__inorder_stopped(&r->maker->ordered)))
		pthread_cond_wait(&a->merged, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return stopped ? -ECANCELED : 0;
}

/* The join's thread: the end. */

/* Returns the maker of the lowest range that has stopped, or NULL. */
static struct sp__joinrange_maker *lowest_stopped(const struct sp__joinranges *a)
{
	struct sp__joinrange_maker *lowest = NULL;

	for (unsigned i = 0; i < a->layout.n; i++) {
		struct sp__joinrange_maker *k = &a->makers[i];

		if (k->stopped && (!lowest || k->range.number < lowest->range.number))
			lowest = k;
	}
	return lowest;
}

/* Adds the counts of all ranges before one to the join's, and of this one if it does not go on. */
static void add_counts(struct sp__joinranges *a, uint64_t before, bool goes_on,
		       struct sp__joinrange_past *past)
{
	struct sp__join_inputs *in = a->in;

	for (int i = 0; i < 2; i++)
		in->source[i].bytes = a->begin[i];
	for (uint64_t n = 0; n <= before && n < a->next; n++) {
		const struct counted *c = &a->count[n];

		a->out->emit.records += c->records;
		a->out->emit.filtering.records += c->filtered;
		if (n == before && goes_on)
			break;
		past->unpairable |= c->unpairable;
		for (int i = 0; i < 2; i++) {
			past->records[i] += c->lines[i];
			in->source[i].lines += c->lines[i];
			in->source[i].bytes += c->bytes[i];
			in->merged[i] += c->merged[i];
		}
	}
}

/* Merges the rest of both files, from a range that has stopped on. */
static int go_on(struct sp__joinranges *a, struct sp__joinrange_maker *k,
		 const struct sp__joinrange_past *past)
{
	struct sp__join_inputs *in = a->in, *mine = &k->range.in;
	int rc;

	mine->counts = in->counts;
	mine->env = in->env;
	for (int i = 0; i < 2; i++) {
		struct sp__source *s = &mine->source[i];

		s->rest = k->range.cut.more[i] ? a->cuts.size[i] : 0;
		s->lines += in->source[i].lines;
		s->charged = s->lines;
		s->done.records += in->source[i].lines;
	}
	a->ops->go_on(k->merge, a->out, past);
	rc = a->ops->run(k->merge);
	for (int i = 0; i < 2; i++) {
		in->source[i].lines = mine->source[i].lines;
		in->source[i].bytes += mine->source[i].bytes;
		in->merged[i] = mine->merged[i];
	}
	return rc;
}

static int finish(struct sp__joinranges *a, struct sp__joinrange_maker *stopped)
{
	struct sp__joinrange_past past = { 0 };
	int rc = sp__result_end_ordered(a->out, &a->ordered), checked;

	if (rc < 0)
		return rc;
	add_counts(a, stopped ? stopped->range.number : a->next,
		   stopped && stopped->stopped == SP__MERGE_STOPPED, &past);
	rc = stopped ? stopped->stopped : a->error;
	if (rc == SP__MERGE_STOPPED)
		rc = go_on(a, stopped, &past);
	if (rc < 0 && stopped && a->in->env->err && !a->in->env->err->code)
		*a->in->env->err = stopped->err;
	/* Even if another join goes on with the rest: the ranges before are in the result. */
	checked = rc < 0 ? 0 : sp__keycuts_check(&a->cuts);
	return checked < 0 ? checked : rc;
}

/* The join's thread: the beginning. */

static bool can_be_cut(const struct sp__join_inputs *in, uint64_t *bytes)
{
	bool all;

	/* Ranges are too short for direct I/O. */
	if (in->env->device || in->opts->run.direct > 0 || in->opts->limited || in->io->row ||
	    in->io->next || sp__join_format(in->opts, 0).kind != SP_REC_LINE)
		return false;
	*bytes = sp__inputs_bytes(in->io->inputs, 2, in->read.unpack, &all);
	for (int i = 0; i < 2; i++)
		all &= strcmp(in->io->inputs[i], "-") && !in->io->ahead[i].bytes;
	return all;
}

static int open_maker(struct sp__joinranges *a, struct sp__joinrange_maker *k)
{
	struct sp__emit *e = &k->range.out.emit;
	char *buf = malloc(SP__EMIT_BYTES);

	if (!buf)
		return sp__join_no_memory(a->in->env);
	k->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	k->env = *a->in->env;
	k->env.err = &k->err;
	k->range.all = a;
	k->range.maker = k;
	k->range.budget = &a->in->env->budget;
	k->range.in = *a->in;
	k->range.in.env = k->range.out.env = &k->env;
	k->range.in.counts = &k->counts;
	k->range.in.waits = (struct sp__waits){ 0 };
	memset(k->range.in.source, 0, sizeof(k->range.in.source));
	sp__emit_share(e, &a->out->emit, buf, SP__EMIT_BYTES);
	e->err = &k->err;
	e->sink = put;
	e->sink_arg = k;
	for (int i = 0; i < 2; i++) {
		k->fd[i] = sp__keycuts_reopen(&a->cuts, i);
		if (k->fd[i] < 0)
			return k->fd[i];
	}
	return 0;
}

static void close_maker(struct sp__joinranges *a, struct sp__joinrange_maker *k)
{
	leave_range(k);
	for (int i = 0; i < 2; i++)
		if (k->fd[i] > 0)
			sp__input_close(a->in->io->inputs[i], k->fd[i]);
	sp__env_note_io(&a->in->counts->stats.run, &k->io);
	sp__emit_release(&k->range.out.emit);
	sp__bytes_release(&k->range.cut.bound_copy, NULL);
}

static int open_makers(struct sp__joinranges *a)
{
	int rc = 0;

	a->end = UINT64_MAX;
	a->ncut = 2 * a->layout.n;
	a->makers = calloc(a->layout.n, sizeof(*a->makers));
	a->cut = calloc(a->ncut, sizeof(*a->cut));
	if (!a->makers || !a->cut)
		return sp__join_no_memory(a->in->env);
	for (unsigned i = 0; i < a->layout.n && !rc; i++)
		rc = open_maker(a, &a->makers[i]);
	if (rc < 0)
		return rc;
	a->mem = sp__pages_alloc(a->layout.buffer_bytes * a->ncut, true);
	if (!a->mem)
		return sp__join_no_memory(a->in->env);
	return sp__result_begin_ordered(a->out, &a->ordered, a->mem, a->layout.buffer_bytes,
					a->ncut, true);
}

/* Sets the step of the cuts.  SP_EUNSUP: a disk that turns reads both files best in order. */
static int set_step(struct sp__joinranges *a)
{
	char byte;

	a->cuts.step = a->layout.step;
	for (int i = 0; i < 2; i++) {
		/* A file of /proc has contents, but no size. */
		if (!a->cuts.size[i] && pread(a->cuts.fd[i], &byte, 1, 0))
			return SP_EUNSUP;
		if (sp__file_cached(a->cuts.fd[i], a->begin[i], a->cuts.size[i]))
			continue;
		if (sp__host_turns(a->in->file[i].st_dev))
			return SP_EUNSUP;
		a->cuts.step = sp__max(a->layout.step, STEP_READ);
	}
	return 0;
}

static void close_ranges(struct sp__joinranges *a)
{
	sp__inorder_close(&a->ordered);
	if (a->mem)
		sp__pages_free(a->mem, a->layout.buffer_bytes * a->ncut);
	for (unsigned i = 0; a->makers && i < a->layout.n; i++)
		close_maker(a, &a->makers[i]);
	for (unsigned i = 0; a->cut && i < a->ncut; i++)
		sp__bytes_release(&a->cut[i].bound_copy, NULL);
	sp__keycuts_close(&a->cuts);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->merged);
	free(a->count);
	free(a->cut);
	free(a->makers);
}

int sp__joinranges_merge(struct sp__join_inputs *in, struct sp__result *out,
			 const struct sp__keyorder *order, const struct sp__joinrange_ops *ops,
			 const void *arg)
{
	struct sp__joinranges a = { .in = in,
				    .out = out,
				    .ops = ops,
				    .arg = arg,
				    .lock = PTHREAD_MUTEX_INITIALIZER,
				    .merged = PTHREAD_COND_INITIALIZER,
				    .cuts = { .fd = { -1, -1 } },
				    .begin = { in->source[0].done.sum, in->source[1].done.sum } };
	uint64_t bytes;
	int rc;

	if (!can_be_cut(in, &bytes))
		return SP_EUNSUP;
	sp__join_makers(&in->opts->run, bytes, &a.layout);
	if (a.layout.n < 2)
		return SP_EUNSUP;
	rc = sp__keycuts_open(&a.cuts, in, &out->emit, order, a.begin);
	if (!rc)
		rc = set_step(&a);
	if (!rc)
		rc = open_makers(&a);
	if (!rc) {
		sp__tasks_run(a.layout.n, work, a.makers, sizeof(*a.makers));
		for (unsigned i = 0; i < a.layout.n; i++)
			sp__log_parts_join(&a.makers[i].logged);
		rc = finish(&a, lowest_stopped(&a));
	}
	close_ranges(&a);
	return rc;
}
