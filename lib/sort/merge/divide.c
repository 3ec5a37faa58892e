/* SPDX-License-Identifier: MIT */
/*
 * Decides into which ranges the final merge is divided, and divides the memory.
 *
 * A worker has pages for its range of the spilled runs, and the result has buffers (io/ordered.h).
 * If nothing is dropped and the result is a file, the length of a range is known before it is
 * merged.  Buffers are then small, since they never wait.  Otherwise a buffer has the bytes of a
 * range, and there are a quarter more than workers.
 *
 * There is one range if values must be deterministic (simulated machines); if reading was set by
 * hand; if the last keys of pages are not kept, or most are truncated texts that a locale orders;
 * if files are merged whose order is that of a locale; if a disk that turns would have to read in
 * many places; if only a small part of the result is wanted; or if there is not enough memory or
 * work for two workers.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "base/ring.h"
#include "io/engine.h"
#include "io/volume.h"
#include "sort/merge/ranges.h"

/* Fewer bytes take less time than the preparations. */
#define MIN_BYTES (UINT64_C(1) << 20)
#define WORKERS_MAX 64u
#define MARKED_MAX 16u
/* A range: shorter ones are more even, longer ones are cut less often. */
#define RANGE_MIN ((size_t)128 << 10)
#define RANGE_WANTED ((size_t)2 << 20)
#define RANGES_EACH 8
#define RANGES_MAX 8192
/*
 * Pages of each run in a range.  Those at cuts are read three times, so more are better, if there
 * are then RANGES_FEW ranges for each worker, and if the range need not wait in memory.
 */
#define RUN_PAGES 8
#define RUN_PAGES_BUFFERED 4
#define RUN_PAGES_MIN 1
#define RANGES_FEW 3
/* So few workers end at about the same time with two ranges each. */
#define WORKERS_FEW 4
#define RUN_PAGES_FEW 32
/* The share of the result that can wait in buffers. */
#define BUFFERED_SHARE 2
/* Share of the planned memory that is not used in addition to the arena: for the streams. */
#define STREAMS_SHARE 8
/* Pages of files: with 1000 files, a range has as few bytes of each. */
#define FILE_PAGE_MIN ((size_t)4 << 10)
#define FILE_PAGE_MAX ((size_t)128 << 10)
#define BUFFER_MIN ((size_t)32 << 10)
#define BUFFER_SMALL ((size_t)256 << 10)
#define MIN_CHUNK (8u << 10)

/* Ranges vary in length. */
static size_t with_spare(size_t range_bytes)
{
	return range_bytes / 4 * 5;
}

static size_t without_spare(size_t buffer_bytes)
{
	return buffer_bytes / 5 * 4;
}

/* Returns the chunk of each of k streams that divide the memory of one. */
static size_t chunk_for(const struct sp__wstream_opts *w, unsigned k)
{
	size_t all = w->chunk_bytes * (SP__RING_BUFFERS + w->depth);

	return sp__min(w->chunk_bytes, all / ((size_t)k * w->depth)) & ~(size_t)4095;
}

/* Inputs of the final merge: spilled runs and slots, or files. */
struct inputs {
	unsigned n;	  /* spilled runs, or files */
	size_t page;	  /* bytes read at a time */
	size_t unpacking; /* memory of a worker */
	bool files;
	uint64_t bytes, records;
};

static struct inputs files_of(const struct sp__merging *merging)
{
	const uint64_t each = merging->sort->opts.record_bytes;
	const struct sp__inputs *files = &merging->inputs;
	struct inputs in = { .n = files->n - files->next, .files = true };

	if (!in.n)
		return in;
	in.bytes = files->total_bytes;
	in.records = each ? in.bytes / each : 0;
	in.page = sp__min(sp__min(RANGE_WANTED / 4, in.bytes / 16) / in.n, FILE_PAGE_MAX);
	in.page = sp__max(in.page, FILE_PAGE_MIN) & ~(size_t)4095;
	return in;
}

static struct inputs inputs_of(const struct sp__merging *merging)
{
	const struct sp__spilled *spilled = merging->spilled;
	struct inputs in = { .n = merging->runs_left, .page = merging->sort->plan.page_bytes };
	const struct sp__slot *slot;

	if (merging->inputs.n)
		return files_of(merging);
	for (unsigned i = 0; i < in.n; i++) {
		in.bytes += spilled->runs[spilled->ids[i]]->bytes;
		in.records += spilled->runs[spilled->ids[i]]->records;
	}
	for (uint64_t from = 0; (slot = sp__slot_from(merging->forming, SP__SLOT_SORTED, from));
	     from = slot->age + 1) {
		in.bytes += sp__runbuf_gives(&slot->buf);
		in.records += slot->buf.n + slot->buf.repeated;
	}
	if (in.n)
		in.unpacking = sp__pool_unpacking(spilled->store->opts.codec, (uint32_t)in.page);
	return in;
}

/* Returns the bytes of pages that a merge needs, or with which it reads ahead. */
static size_t pages_for(const struct inputs *in, bool ahead)
{
	if (in->files || !in->n)
		return in->n * in->page;
	return (ahead ? 2 * in->n : in->n + in->n / 4 + 1) * in->page;
}

/* Gives k workers all memory that buffers do not have.  False if it is not enough. */
static bool divide_pages(const struct inputs *in, unsigned k, struct sp__division *d)
{
	const size_t other = k * in->unpacking + d->buffers * d->buffer_bytes;

	d->workers = k;
	d->pages_bytes = 0;
	if (in->n)
		d->pages_bytes =
			(d->where.bytes - sp__min(d->where.bytes, other)) / k / in->page * in->page;
	return d->pages_bytes >= pages_for(in, false);
}

static struct sp__freemem free_memory(const struct sp__merging *merging)
{
	return sp__free_region(merging->forming, true);
}

void sp__divide_memory(const struct sp__merging *merging, const struct sp__wstream_opts *w,
		       unsigned workers, struct sp__division *d)
{
	const struct inputs in = inputs_of(merging);
	unsigned k = workers;

	*d = (struct sp__division){ .where = free_memory(merging) };
	while (k > 1 && (chunk_for(w, k) < MIN_CHUNK || !divide_pages(&in, k, d) ||
			 d->pages_bytes < pages_for(&in, true)))
		k--;
	d->workers = k;
	d->chunk_bytes = chunk_for(w, k);
	if (k == 1)
		d->pages_bytes = d->where.bytes;
}

/* Plans k workers.  Returns the bytes of a range; 0: there is not enough memory. */
static size_t plan_ranges(const struct inputs *in, unsigned k, struct sp__division *d)
{
	const size_t run_page = in->n * in->page,
		     pages = k * (pages_for(in, false) + in->unpacking);
	size_t range = sp__min(in->bytes / k / RANGES_EACH, RANGE_WANTED), max;

	range = sp__max(sp__max(range, RANGE_MIN), in->bytes / RANGES_MAX);
	if (d->announces && k <= WORKERS_FEW)
		range = sp__max(range, sp__min(RUN_PAGES_FEW * run_page, in->bytes / k / 2));
	range = sp__max(range, sp__min((d->announces ? RUN_PAGES : RUN_PAGES_BUFFERED) * run_page,
				       in->bytes / k / RANGES_FEW));
	range = sp__max(range, RUN_PAGES_MIN * run_page);
	d->buffers = d->announces ? k : k + k / 4 + 1;
	max = d->where.bytes - sp__min(d->where.bytes, pages);
	if (!d->announces)
		max = sp__min(max, in->bytes / BUFFERED_SHARE);
	max = max / d->buffers & ~(size_t)4095;
	d->buffer_bytes = sp__min(d->announces ? BUFFER_SMALL : with_spare(range), max);
	if (d->buffer_bytes < BUFFER_MIN)
		return 0;
	if (!d->announces)
		range = sp__min(range, without_spare(d->buffer_bytes));
	if (range < RANGE_MIN || range < RUN_PAGES_MIN * run_page)
		return 0;
	return divide_pages(in, k, d) ? range : 0;
}

static unsigned max_workers(const struct sp__merging *merging)
{
	return (unsigned)sp__min(merging->sort->threads, WORKERS_MAX);
}

/* Plans as many workers as there are memory and work for.  Returns the bytes of a range, or 0. */
static size_t plan_workers(const struct sp__merging *merging, const struct inputs *in,
			   const struct sp__wstream_opts *w, struct sp__division *d)
{
	const struct sp__freemem limit = d->where;
	size_t range;

	for (unsigned k = max_workers(merging); k > 1; k--) {
		d->where = limit;
		d->chunk_bytes = chunk_for(w, k);
		if (d->chunk_bytes < MIN_CHUNK)
			continue;
		range = plan_ranges(in, k, d);
		if (range && in->bytes / range >= k)
			return range;
	}
	return 0;
}

bool sp__divide_possible(const struct sp__merging *merging)
{
	const struct sp__sort_shared *s = merging->sort;
	const struct sp__inputs *files = &merging->inputs;

	if (!files->n)
		return sp__runs_cuttable(merging->spilled);
	/* The mark of a CSV file is known when it is read. */
	return files->files && files->n > 1 && s->threads > 1 && !s->env.device &&
	       s->opts.format.kind != SP_REC_CSV &&
	       sp__ks(s->opts.keys)->form != SP__KEY_COLLATED &&
	       sp__engine_is_auto(s->opts.run.engine);
}

/* True if runs are on a disk that turns. */
static bool turns(const struct sp__spill *store)
{
	for (size_t i = 0; i < store->nfiles; i++) {
		const struct sp__volume *v = store->files[i].volume;

		if (v && v->fd >= 0 &&
		    sp__file_turns(v->fd, 0, store->files[i].space.end * store->unit_bytes))
			return true;
	}
	return false;
}

static bool possible(const struct sp__merging *merging, const struct inputs *in)
{
	const struct sp__spilled *spilled = merging->spilled;

	if (in->bytes < MIN_BYTES || !sp__divide_possible(merging))
		return false;
	/* Files were merged into runs if they were too many. */
	if (in->files)
		return !merging->runs_left && !merging->inputs.next;
	return !(in->n && (spilled->store->place || turns(spilled->store))) &&
	       sp__cuts_possible(spilled, spilled->ids, in->n);
}

/*
 * Returns the memory that the sort can use.  The plan gives runs less than there is, since touching
 * memory costs as much as reading.  For several workers, more is worth that.
 */
static size_t memory_limit(const struct sp__merging *merging)
{
	const uint64_t planned = merging->sort->plan.memory_bytes,
		       taken = merging->forming->arena_bytes + planned / STREAMS_SHARE;

	return planned - sp__min(planned, taken);
}

/*
 * Plans with the free memory of the arena, which has been touched, and with all memory if more
 * workers then have enough.
 */
static size_t plan_memory(const struct sp__merging *merging, const struct inputs *in,
			  const struct sp__wstream_opts *w, struct sp__division *d)
{
	const size_t free = free_memory(merging).bytes, limit = memory_limit(merging);
	struct sp__division more = *d;
	size_t range, other;

	d->where.bytes = free;
	range = plan_workers(merging, in, w, d);
	if (limit <= free || (range && d->workers == max_workers(merging)))
		return range;
	more.where.bytes = limit;
	other = plan_workers(merging, in, w, &more);
	if (!other || (range && more.workers <= d->workers))
		return range;
	*d = more;
	return other;
}

/* Chooses free memory of the arena if that is enough, or else maps as much as is needed. */
static void choose_memory(struct sp__merging *merging, const struct inputs *in,
			  struct sp__division *d)
{
	const size_t limit = d->where.bytes,
		     other = d->workers * in->unpacking + d->buffers * d->buffer_bytes;

	d->where = free_memory(merging);
	if (d->workers * pages_for(in, false) + other <= d->where.bytes) {
		(void)divide_pages(in, d->workers, d);
		return;
	}
	d->pages_bytes = sp__min(d->pages_bytes, pages_for(in, true));
	d->mapped_bytes = sp__min(d->workers * d->pages_bytes + other, limit);
	d->where.mem = sp__pages_alloc(d->mapped_bytes, true);
	d->where.bytes = d->mapped_bytes;
	d->budget = &merging->sort->env.budget;
	sp__budget_charge(d->budget, d->mapped_bytes);
}

void sp__divide_release(struct sp__division *d)
{
	free(d->files);
	if (!d->mapped_bytes)
		return;
	if (d->where.mem)
		sp__pages_free(d->where.mem, d->mapped_bytes);
	sp__budget_credit(d->budget, d->mapped_bytes);
}

static bool wants_few(const struct sp_sort_opts *o, const struct inputs *in, size_t range)
{
	return o->top && o->top < sp__max(in->records / (in->bytes / range) * 2, 1000);
}

/* Describes the files.  Returns 1, 0 if one of them should not be cut, or an error. */
static int describe_files(struct sp__merging *merging, unsigned n, struct sp__division *d)
{
	const struct sp__sort_shared *s = merging->sort;
	int rc = 1;

	d->files = calloc(n, sizeof(*d->files));
	if (!d->files)
		return sp__err(s->env.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; rc == 1 && i < n; i++) {
		rc = sp__cut_file_describe(&d->files[i], &s->opts.format,
					   merging->inputs.list[i].name, merging->inputs.list[i].fd,
					   s->env.err);
		if (rc == 1 && sp__file_turns(d->files[i].fd, 0, d->files[i].bytes))
			rc = 0;
	}
	return rc;
}

/* Cuts the inputs into about that many ranges.  Returns 1, 0 if that is impossible, or an error. */
static int choose_cuts(struct sp__merging *merging, const struct inputs *in, unsigned ranges,
		       struct sp__division *d, struct sp__cuts *cuts)
{
	int rc;

	if (!in->files) {
		rc = sp__cuts_choose(cuts, merging->forming, merging->spilled->ids, in->n, ranges);
		return rc < 0 ? rc : cuts->parts > 1;
	}
	rc = describe_files(merging, in->n, d);
	if (rc == 1)
		rc = sp__cuts_choose_files(cuts, merging->forming, d->files, in->n, ranges);
	return rc < 0 ? rc : cuts->parts > 1;
}

/* True if all workers have memory for the current records of n runs. */
static bool fits_records(const struct sp__merging *merging, unsigned n)
{
	const struct sp__sort_shared *s = merging->sort;

	return sp__runs_current(merging->spilled, (uint64_t)n * s->threads) <=
	       s->plan.memory_bytes / 2;
}

int sp__divide(struct sp__merging *merging, const struct sp__ranges_out *out,
	       struct sp__division *d, struct sp__cuts *cuts)
{
	const struct sp_sort_opts *o = &merging->sort->opts;
	const struct inputs in = inputs_of(merging);
	size_t range = 0;

	*d = (struct sp__division){ .announces = !out->put && !o->unique && !o->count && !o->top };
	if (possible(merging, &in) && fits_records(merging, in.n))
		range = plan_memory(merging, &in, &out->writing, d);
	if (!range || wants_few(o, &in, range))
		return 0;
	choose_memory(merging, &in, d);
	if (!d->where.mem)
		return 0;
	return choose_cuts(merging, &in, (unsigned)(in.bytes / range), d, cuts);
}

/* Sets the spans of all ranges: from each cut to the next one. */
static int find_spans(struct sp__merging *merging, const struct sp__cuts *cuts,
		      struct sp__ranges *g)
{
	struct sp__freemem where = free_memory(merging);
	struct sp__spill *reader = NULL;
	uint64_t *at = calloc(g->runs + 1, sizeof(*at));
	int rc = at ? 0 : sp__err(merging->sort->env.err, -ENOMEM, "allocate", NULL, -1);

	if (!rc)
		rc = sp__spill_reader_open(&reader, merging->spilled->store,
					   merging->sort->env.err);
	for (unsigned i = 0; !rc && i <= g->n; i++) {
		rc = sp__cuts_find(cuts, i, reader, where, at, merging->sort->env.err);
		for (unsigned j = 0; !rc && j < g->runs; j++) {
			if (i < g->n)
				g->list[i].spans[j].from = at[j];
			if (i)
				g->list[i - 1].spans[j].to = at[j];
		}
	}
	if (reader)
		sp__spill_reader_close(reader, merging->spilled->store);
	free(at);
	return rc;
}

static int make_ranges(struct sp__merging *merging, const struct sp__cuts *cuts, uint64_t at,
		       struct sp__ranges *g)
{
	const struct sp_sort_opts *o = &merging->sort->opts;
	int rc;

	*g = (struct sp__ranges){ .n = cuts->parts, .runs = merging->runs_left, .from = at };
	g->list = calloc(g->n, sizeof(*g->list));
	g->spans = calloc((size_t)g->n * g->runs + 1, sizeof(*g->spans));
	if (!g->list || !g->spans)
		return sp__err(merging->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; i < g->n; i++)
		g->list[i].spans = g->spans + (size_t)i * g->runs;
	rc = find_spans(merging, cuts, g);
	for (unsigned i = 0; !rc && i < g->n; i++) {
		struct sp__range *r = &g->list[i];

		r->at = at;
		for (unsigned j = 0; j < g->runs; j++)
			at += r->spans[j].to - r->spans[j].from;
		r->end = o->unique || o->count || o->top ? UINT64_MAX : at;
	}
	return rc;
}

int sp__divide_marked(struct sp__merging *merging, const struct sp__ranges_out *out,
		      struct sp__ranges *ranges)
{
	const struct sp_sort_opts *o = &merging->sort->opts;
	const struct inputs in = inputs_of(merging);
	struct sp__division d = { .workers = 1 };
	struct sp__cuts cuts;
	int rc;

	/* The offsets in the file must be known. */
	if (!o->unique && !o->count && !o->top && possible(merging, &in))
		sp__divide_memory(merging, &out->writing,
				  (unsigned)sp__min(merging->sort->threads, MARKED_MAX), &d);
	while (d.workers > 1 && in.bytes / merging->sort->plan.page_bytes <
					(uint64_t)RUN_PAGES_MIN * in.n * d.workers)
		d.workers--;
	rc = sp__cuts_choose(&cuts, merging->forming, merging->spilled->ids, in.n, d.workers);
	if (!rc)
		rc = make_ranges(merging, &cuts, out->at, ranges);
	sp__cuts_release(&cuts);
	return rc;
}
