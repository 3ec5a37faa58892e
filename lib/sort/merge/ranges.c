/* SPDX-License-Identifier: MIT */
/*
 * Performs the final merge in ranges.
 *
 * Algorithm: one loser tree keeps one processor busy, and one stream writes its result.  So all
 * inputs are cut at the same keys into many ranges (divide.c), which threads, the workers, take one
 * after the other.  A worker merges the range's spans of the runs with its own pages, read plan and
 * reader of the store (range.c).  The ordered output has the ranges written in order
 * (io/ordered.h): into a file at offsets of their own, concurrently; elsewhere in turn.
 *
 * With checkpoints (marks.c) the result is always written here, as one range if it cannot be cut.
 * The ranges then have known lengths, and each is written by streams that end at its marks.
 *
 * Memory: the workers divide the pages of the free part of the arena, which also has the buffers of
 * the output.  Their streams divide the memory of the output buffers and of the single stream.
 *
 * Rejected: setting the length and allocating the space of the file first; writing was then slower.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "sort/merge/writing.h"

/* Bytes between two marks of a range: the memory, but at least this, or this share of the input. */
#define MARKED_BYTES (UINT64_C(256) << 20)
#define MARKED_SHARE 16

static void work(void *worker)
{
	sp__range_work(worker);
}

static int open_worker(struct sp__writing *w, unsigned number)
{
	struct sp__range_worker *k = &w->workers[number];
	const struct sp__division *d = &w->division;
	const unsigned runs = w->merging->runs_left;

	*k = (struct sp__range_worker){
		.all = w,
		.number = number,
		.where = { d->where.mem + number * d->pages_bytes, d->pages_bytes },
		.err = SP_ERRINFO_INIT,
		.spans = calloc(runs + 1, sizeof(*k->spans)),
		.to = calloc(w->cuts.n + w->cuts.nbufs + 1, sizeof(*k->to)),
	};
	if (!k->spans || !k->to)
		return sp__err(&k->err, -ENOMEM, "allocate", NULL, -1);
	if (w->resume && sp__marks_open(k) < 0)
		return -ENOMEM;
	return runs ? sp__spill_reader_open(&k->reader, w->merging->spilled->store, &k->err) : 0;
}

static int open_workers(struct sp__writing *w)
{
	int rc = 0;

	w->workers = calloc(w->division.workers, sizeof(*w->workers));
	if (!w->workers)
		return sp__err(w->merging->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; !rc && i < w->division.workers; i++) {
		rc = open_worker(w, i);
		if (rc < 0)
			*w->merging->sort->env.err = w->workers[i].err;
	}
	return rc;
}

static void close_workers(struct sp__writing *w)
{
	for (unsigned i = 0; w->workers && i < w->division.workers; i++) {
		struct sp__range_worker *k = &w->workers[i];

		if (k->reader)
			sp__spill_reader_close(k->reader, w->merging->spilled->store);
		sp__marks_close(k);
		free(k->spans);
		free(k->to);
	}
	free(w->workers);
}

/* Cuts records off a range that has more than are wanted. */
static size_t cut_records(void *arg, const char *data, size_t bytes, uint64_t n)
{
	const struct sp__writing *w = arg;
	const struct sp_recfmt *f = &w->merging->sort->opts.format;
	const char *at = data;

	for (; n; n--)
		at = sp__rec_end(f, at, (size_t)(data + bytes - at));
	return (size_t)(at - data);
}

static int put_in_turn(void *arg, const char *data, size_t bytes)
{
	struct sp__writing *w = arg;

	w->put_bytes += bytes;
	return w->out->put(w->out->put_arg, data, bytes);
}

static int open_output(struct sp__writing *w)
{
	const struct sp__division *d = &w->division;
	const struct sp__ranges_out *out = w->out;
	struct sp__inorder_opts o = { .ranges = w->nranges,
				      .mem = d->where.mem + d->workers * d->pages_bytes,
				      .buffer_bytes = d->buffer_bytes,
				      .buffers = d->buffers,
				      .limit = w->merging->sort->opts.top,
				      .cut = cut_records,
				      .put = out->put ? put_in_turn : NULL,
				      .put_err = out->put_err,
				      .arg = w,
				      .fd = out->fd,
				      .name = out->name,
				      .at = out->at,
				      .writing = out->writing };

	o.writing.chunk_bytes = sp__min(d->chunk_bytes, d->buffer_bytes);
	w->found = calloc(w->nranges, sizeof(*w->found));
	if (!w->found)
		return sp__err(w->merging->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	/* The first range starts at the start of all inputs. */
	w->found[0] = calloc(w->cuts.n + w->cuts.nbufs, sizeof(**w->found));
	if (!w->found[0])
		return sp__err(w->merging->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	return sp__inorder_open(&w->ordered, &o, w->merging->sort->env.err);
}

static void close_output(struct sp__writing *w)
{
	sp__inorder_close(&w->ordered);
	for (uint64_t i = 0; w->found && i < w->nranges; i++)
		free(w->found[i]);
	free(w->found);
	sp__cuts_release(&w->cuts);
	sp__divide_release(&w->division);
}

/* Runs all workers, the first one in this thread. */
static void run_workers(struct sp__writing *w)
{
	for (unsigned i = 1; i < w->division.workers; i++)
		if (!sp__task_start_thread(&w->workers[i].task, work, &w->workers[i]))
			break;
	work(&w->workers[0]);
	for (unsigned i = 1; i < w->division.workers; i++)
		sp__task_join(&w->workers[i].task);
	sp__task_join(&w->emptying);
}

static void note(struct sp__writing *w)
{
	struct sp__merging *merging = w->merging;
	struct sp__sort_shared *s = merging->sort;
	const struct sp__division *d = &w->division;

	s->stats.merge_parts = w->nranges > 1 ? (unsigned)w->nranges : 0;
	s->stats.merges += w->nranges > 1 || merging->runs_left > 1;
	s->stats.merge_passes += w->nranges > 1 || merging->runs_left > 1;
	if (merging->runs_left)
		sp__step_replan(merging->spilled, merging->spilled->ids, merging->runs_left,
				d->workers * (unsigned)(d->pages_bytes / s->plan.page_bytes));
}

/* Takes the result of the ordered output, and compares it with the records returned. */
static int end_output(struct sp__writing *w)
{
	struct sp__sort_shared *s = w->merging->sort;
	const struct sp_sort_opts *o = &s->opts;
	uint64_t end;
	int rc = sp__inorder_finish(&w->ordered, &end, s->env.err);

	if (rc < 0)
		return rc;
	if (w->out->io)
		sp__io_add(w->out->io, &w->ordered.io);
	s->stats.output_bytes = w->out->put ? w->put_bytes : end - w->out->at;
	/* Ranges that were not wanted have returned records, too. */
	if (o->top && w->ordered.items == o->top)
		w->balance.given.records = o->top;
	sp__balance_join(&s->balance, &w->balance);
	return o->top || o->count ? 0
				  : sp__balance_compare(s, "bytes written", w->balance.given.bytes,
							s->stats.output_bytes);
}

/* Returns the first error of workers with checkpoints, or ends the file. */
static int end_marked(struct sp__writing *w)
{
	const struct sp__range_worker *bad = NULL;

	for (unsigned i = 0; i < w->division.workers; i++) {
		const struct sp__range_worker *k = &w->workers[i];

		if (k->rc < 0 && (!bad || bad->rc == -ECANCELED))
			bad = k;
	}
	if (bad) {
		*w->merging->sort->env.err = bad->err;
		return bad->rc;
	}
	sp__balance_join(&w->merging->sort->balance, &w->balance);
	return sp__marks_end(w);
}

static int write_all(struct sp__writing *w)
{
	atomic_store(&w->unread, w->nranges);
	note(w);
	if (w->out->busy)
		pthread_mutex_unlock(w->out->busy);
	run_workers(w);
	if (w->out->busy)
		pthread_mutex_lock(w->out->busy);
	return w->resume ? end_marked(w) : end_output(w);
}

/* Finds or makes the ranges of a sort with checkpoints. */
static int begin_marked(struct sp__writing *w)
{
	const struct sp__sort_shared *s = w->merging->sort;
	const uint64_t min = sp__min(s->stats.input_bytes / MARKED_SHARE, MARKED_BYTES);
	unsigned left = 0;
	int rc;

	w->resume = w->merging->spilled->resume;
	w->ranges = &w->resume->ranges;
	w->marked_bytes = sp__max(s->plan.memory_bytes, min);
	rc = sp__marks_begin(w);
	if (rc < 0)
		return rc;
	w->nranges = w->ranges->n;
	for (unsigned i = 0; i < w->ranges->n; i++) {
		w->done_bytes += w->ranges->list[i].at - sp__range_begin(w->ranges, i);
		left += !sp__marks_complete(w, i);
	}
	left = (unsigned)sp__max(sp__min(left, s->threads), 1);
	sp__divide_memory(w->merging, &w->out->writing, left, &w->division);
	return open_workers(w);
}

/* Returns 1; 0 if there is one range, or not all resources are available; or an error. */
static int begin(struct sp__writing *w)
{
	struct sp_errinfo *err = w->merging->sort->env.err;
	int rc = sp__divide(w->merging, w->out, &w->division, &w->cuts);

	if (rc <= 0)
		return rc;
	w->nranges = w->cuts.parts;
	rc = open_output(w);
	if (!rc)
		rc = open_workers(w);
	if (!rc)
		return 1;
	/* Nothing has changed: one range needs less. */
	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	w->ordered.finished = true;
	return 0;
}

int sp__ranges_write(struct sp__merging *merging, const struct sp__ranges_out *out)
{
	struct sp__writing w = { .merging = merging, .out = out };
	int rc, written = 0;

	pthread_mutex_init(&w.lock, NULL);
	pthread_cond_init(&w.changed, NULL);
	if (merging->spilled->resume && merging->spilled->store) {
		rc = begin_marked(&w);
		rc = rc < 0 ? rc : 1;
	} else {
		rc = begin(&w);
	}
	if (rc > 0)
		written = write_all(&w);
	close_workers(&w);
	close_output(&w);
	pthread_cond_destroy(&w.changed);
	pthread_mutex_destroy(&w.lock);
	return written < 0 ? written : rc;
}
