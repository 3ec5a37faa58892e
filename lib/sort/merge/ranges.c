/* SPDX-License-Identifier: MIT */
/*
 * Performs the final merge in ranges.
 *
 * Algorithm: one loser tree keeps one processor busy, and one stream writes its result.  So all
 * inputs are cut at the same keys into many ranges (divide.c), which threads, the workers, take one
 * after the other.  A worker merges the range's spans of the runs with its own pages, read plan and
 * reader of the store (range.c).  The ordered output has the ranges written in order
 * (io/ordered.h): into a file at offsets of their own, concurrently; elsewhere sequentially.
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
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "sort/merge/writing.h"

/* Bytes between two marks of a range: the memory, but at least this, or this share of the input. */
#define MARKED_BYTES (UINT64_C(256) << 20)
#define MARKED_SHARE 16

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
		.to = calloc(sp__cuts_inputs(&w->cuts) + 1, sizeof(*k->to)),
		.files = calloc(w->cuts.nfiles + 1, sizeof(*k->files)),
	};
	if (!k->spans || !k->to || !k->files)
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
		sp__io_add(&w->merging->inputs.done, &k->io);
		free(k->spans);
		free(k->to);
		free(k->files);
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

static int put_bytes(void *arg, const char *data, size_t bytes)
{
	struct sp__writing *w = arg;

	w->put_bytes += bytes;
	return w->out->put(w->out->put_arg, data, bytes);
}

/* Opens the output of the ranges, at this offset of a file.  limit: of records; 0: none. */
static int open_output(struct sp__writing *w, uint64_t at, uint64_t limit)
{
	const struct sp__division *d = &w->division;
	const struct sp__ranges_out *out = w->out;
	struct sp__inorder_opts o = { .ranges = w->nranges,
				      .mem = d->where.mem + d->workers * d->pages_bytes,
				      .buffer_bytes = d->buffer_bytes,
				      .buffers = d->buffers,
				      .limit = limit,
				      .cut = cut_records,
				      .put = out->put ? put_bytes : NULL,
				      .put_err = out->put_err,
				      .arg = w,
				      .fd = out->fd,
				      .name = out->name,
				      .at = at,
				      .writing = out->writing };

	o.writing.chunk_bytes = d->chunk_bytes;
	return sp__inorder_open(&w->ordered, &o, w->merging->sort->env.err);
}

static int allocate(struct sp__writing *w)
{
	const unsigned inputs = sp__cuts_inputs(&w->cuts);

	w->disordered = UINT64_MAX;
	w->sums = calloc(w->nranges, sizeof(*w->sums));
	w->found = calloc(w->nranges, sizeof(*w->found));
	w->rest = calloc(inputs + 1, sizeof(*w->rest));
	/* The first range starts at the start of all inputs. */
	if (w->found)
		w->found[0] = calloc(inputs + 1, sizeof(**w->found));
	if (!w->sums || !w->rest || !w->found || !w->found[0])
		return sp__err(w->merging->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	return open_output(w, w->out->at, w->merging->sort->opts.top);
}

static void close_output(struct sp__writing *w)
{
	sp__inorder_close(&w->ordered);
	for (uint64_t i = 0; w->found && i < w->nranges; i++)
		free(w->found[i]);
	free(w->found);
	free(w->rest);
	free(w->sums);
	sp__cuts_release(&w->cuts);
	sp__divide_release(&w->division);
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

/* Adds up the first n ranges. */
static void add_sums(struct sp__writing *w, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		sp__balance_join(&w->balance, &w->sums[i].balance);
		sp__tally_join(&w->merging->inputs.read, &w->sums[i].read);
	}
}

/* Ends a file that has been written again from an offset on: its end can be longer than that. */
static int end_again(struct sp__writing *w, uint64_t end)
{
	const uint64_t bytes = sp__max(end, w->ordered.old_bytes);
	struct stat st;

	if (fstat(w->out->fd, &st) < 0 ||
	    ((uint64_t)st.st_size > bytes && ftruncate(w->out->fd, (off_t)bytes) < 0))
		return sp__err(w->merging->sort->env.err, -errno, "write", w->out->name, -1);
	return 0;
}

/* Merges everything from the first disordered range on as one range. */
static int write_rest(struct sp__writing *w, uint64_t *end)
{
	struct sp_errinfo *err = w->merging->sort->env.err;
	const uint64_t top = w->merging->sort->opts.top, old_bytes = w->ordered.old_bytes;
	uint64_t at = w->ordered.at, found = w->ordered.items;
	int rc;

	add_sums(w, w->disordered);
	if (w->division.announces)
		at = w->out->at + w->balance.given.bytes;
	w->division.announces = false;
	w->resting = true;
	if (w->out->io)
		sp__io_add(w->out->io, &w->ordered.io);
	w->ordered.finished = true;
	sp__inorder_close(&w->ordered);
	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	w->workers[0].err = *err;
	for (uint64_t i = 0; i < w->nranges; i++) {
		free(w->found[i]);
		w->found[i] = NULL;
	}
	w->nranges = w->cuts.parts = 1;
	w->found[0] = w->rest;
	w->rest = NULL;
	w->given_up = false;
	rc = open_output(w, at, top ? top - found : 0);
	w->ordered.old_bytes = old_bytes;
	if (rc < 0)
		return rc;
	sp__range_work(&w->workers[0]);
	rc = sp__inorder_finish(&w->ordered, end, err);
	return rc < 0 || w->out->put ? rc : end_again(w, *end);
}

/* Checks that no file has changed. */
static int check_files(struct sp__writing *w)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < w->cuts.nfiles; i++) {
		rc = sp__cut_file_check(&w->cuts.files[i], w->merging->sort->env.err);
		w->merging->inputs.bytes += w->cuts.files[i].bytes;
	}
	return rc;
}

/* Takes the result of the ordered output, and compares it with the records returned. */
static int end_output(struct sp__writing *w)
{
	struct sp__sort_shared *s = w->merging->sort;
	const struct sp_sort_opts *o = &s->opts;
	uint64_t end;
	int rc = sp__inorder_finish(&w->ordered, &end, s->env.err);

	if (rc == SP__DISORDERED)
		rc = write_rest(w, &end);
	if (!rc)
		rc = check_files(w);
	if (rc < 0) {
		s->stats.output_bytes = atomic_load(&w->done_bytes);
		return rc;
	}
	if (w->out->io)
		sp__io_add(w->out->io, &w->ordered.io);
	add_sums(w, atomic_load(&w->ordered.stop));
	s->stats.output_bytes = w->out->put ? w->put_bytes : end - w->out->at;
	/* The last range that was wanted has returned more records. */
	if (o->top && w->balance.given.records > o->top)
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
	sp__tasks_run(w->division.workers, sp__range_work, w->workers, sizeof(*w->workers));
	for (unsigned i = 0; i < SP__EMPTYING; i++)
		sp__task_join(&w->emptying[i].task);
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
	rc = allocate(w);
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
