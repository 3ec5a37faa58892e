/* SPDX-License-Identifier: MIT */
/*
 * Branches of the final merge.
 *
 * A loser tree keeps one processor busy, and over hundreds of runs it is slower than
 * the device that they come from.  If threads are available, the oldest runs are
 * divided among branches.  Each merges its runs in its own thread, with its own pages,
 * read plan and reader of the spill store, and passes the result on through a ring: one
 * sorted feed for the trunk, the main merge, which has the other runs.  Feeds come first
 * in the trunk, so equal records stay in the order of their runs.
 *
 * Shares.  Taking a record from a branch costs the trunk about a third of merging it
 * from one of many runs.  So that all finish at the same time, each of k branches gets
 * 3 / (3 + 2 k) of the bytes.  With three nothing is left for the trunk.
 *
 * There are no branches if figures must be deterministic (simulated machines), if
 * reading was set by hand, or below 16 MB of memory.  If a branch cannot be created, its
 * runs stay with the trunk.
 *
 * Sorted files (-m) are divided likewise if they are regular.  Each record that the merge gives
 * is the least of those that the files are at, in order or not, so dividing changes nothing.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/ring.h"
#include "sort/plan/plan.h"
#include "sort/merge/merging.h"

#define MIN_RUNS 8
#define MIN_FILES 4
#define MIN_BYTES (UINT64_C(8) << 20)
/* Ring buffers are this much smaller than those of the output; less is not worth passing on. */
#define SPAN_SHARE 8
#define MIN_SPAN (32u << 10)
#define PAGES_EACH 2

struct sp__branch {
	struct sp__merging *merging;
	struct sp__spill *reader;
	struct sp__inputs files; /* n 0: it has runs */
	const unsigned *ids;	 /* its runs, and the memory for their pages */
	unsigned n;		 /* of either */
	struct sp__freemem where;
	const struct sp__run_span *spans; /* of its runs; NULL: whole */
	struct sp__merge merge;
	struct sp__run_offsets offsets; /* if the sort's are kept: its own, */
	uint64_t *begin;		/* those where each ring buffer begins, */
	const char *pinned;		/* and the span that the trunk has */
	struct sp__ring ring;
	struct sp__task task;
	struct sp_errinfo err;
};

static int next_of_branch(void *branch, bool wait, const char **data, size_t *bytes)
{
	struct sp__branch *b = branch;
	int rc = sp__merge_next(&b->merge, wait);

	if (b->begin)
		sp__run_offsets_step(&b->offsets, &b->merge, rc);
	if (rc == SP_READY) {
		size_t head = sp__merge_current(&b->merge)->head;

		*data = b->merge.rec - head;
		*bytes = b->merge.bytes + head;
	}
	return rc;
}

static uint64_t *begin_of(struct sp__branch *b, const struct sp__ring_buffer *out)
{
	return b->begin + (size_t)(out - b->ring.buf) * b->n;
}

/* Notes where in the runs a ring buffer begins: at the record for which the last one was full. */
static void note_begin(struct sp__branch *b, const struct sp__ring_buffer *out)
{
	if (!b->begin)
		return;
	if (!b->ring.pending)
		sp__run_offsets_pass(&b->offsets);
	memcpy(begin_of(b, out), b->offsets.at, b->n * sizeof(*b->begin));
}

static int open_cursors(struct sp__branch *b, struct sp__step_inputs *in)
{
	if (b->files.n)
		return sp__inputs_open(b->merging->sort, &b->files, b->n, b->merge.cursors,
				       &b->err);
	return sp__step_open(b->merging->spilled, b->reader, in, b->ids, b->spans, b->n, b->where,
			     b->merge.cursors);
}

/* The branch's thread.  It must reap all its own requests. */
static void branch_main(void *arg)
{
	struct sp__branch *b = arg;
	struct sp__step_inputs in = { 0 };
	struct sp__ring_buffer *out;
	int rc = open_cursors(b, &in);
	bool going = rc == 0;

	if (rc < 0)
		sp__ring_publish(&b->ring, rc);
	while (going && (out = sp__ring_empty(&b->ring))) {
		note_begin(b, out);
		rc = sp__ring_pack(&b->ring, out, next_of_branch, b, true);
		if (rc < 0)
			sp__err(&b->err, rc, "merge", NULL, -1);
		sp__ring_publish(&b->ring, rc);
		going = rc == SP_READY && sp__ring_settled(&b->ring, out);
	}
	sp__step_close(b->merging->spilled, &in);
}

static void branch_free(struct sp__branch *b)
{
	if (b->reader)
		sp__spill_reader_close(b->reader, b->merging->spilled->store);
	sp__merge_release(&b->merge);
	sp__ring_destroy(&b->ring);
	free(b->offsets.at);
	free(b->begin);
	free(b);
}

static size_t span_bytes(const struct sp__merging *merging)
{
	return merging->buffer_bytes / SPAN_SHARE & ~(size_t)4095;
}

static bool keep_offsets(struct sp__branch *b)
{
	b->offsets.at = calloc(b->n, sizeof(*b->offsets.at));
	b->begin = calloc((size_t)b->n * SP__RING_BUFFERS, sizeof(*b->begin));
	for (unsigned i = 0; b->offsets.at && b->spans && i < b->n; i++)
		b->offsets.at[i] = b->spans[i].from;
	return b->offsets.at && b->begin;
}

static bool branch_start(struct sp__branch *b, char *spans)
{
	struct sp__merging *merging = b->merging;
	struct sp__sort_shared *s = merging->sort;

	if (merging->offsets && !keep_offsets(b))
		return false;
	if (sp__merge_init(&b->merge, s->opts.keys, b->n, &s->env.budget, &b->err) < 0)
		return false;
	b->merge.plain = true;
	sp__ring_use(&b->ring, spans, span_bytes(merging));
	return (b->files.n ||
		sp__spill_reader_open(&b->reader, merging->spilled->store, &b->err) == 0) &&
	       sp__task_start_thread(&b->task, branch_main, b);
}

/* Memory of a branch in addition to pages: its ring, and its pool's unpacking. */
static size_t branch_bytes(const struct sp__merging *merging)
{
	size_t unpacking = sp__pool_unpacking(merging->spilled->store->opts.codec,
					      merging->sort->plan.page_bytes);

	return SP__RING_BUFFERS * span_bytes(merging) + ((unpacking + 4095) & ~(size_t)4095);
}

/* How many of the first runs hold about the given bytes; at most n. */
static unsigned runs_of(const struct sp__merging *merging, const unsigned *ids, unsigned n,
			uint64_t bytes)
{
	struct sp__spilled *spilled = merging->spilled;
	uint64_t have = 0;
	unsigned some = 0;

	while (some < n && have + spilled->runs[ids[some]]->bytes / 2 <= bytes)
		have += spilled->runs[ids[some++]]->bytes;
	return some;
}

/* The number of branches that pays, with the resources for them. */
static unsigned branches_for(const struct sp__merging *merging, unsigned n, uint64_t bytes,
			     size_t free_bytes)
{
	struct sp__spilled *spilled = merging->spilled;
	const struct sp__sort_shared *s = merging->sort;
	const struct sp_sort_opts *o = &s->opts;
	unsigned max = merging->offsets ? 1 : SP__BRANCHES_MAX;
	unsigned k = s->threads - 1 < max ? s->threads - 1 : max;
	size_t beside = k * branch_bytes(merging);

	if (spilled->store->opts.program || spilled->store->place ||
	    span_bytes(merging) < MIN_SPAN || n < MIN_RUNS || bytes < MIN_BYTES)
		return 0;
	if (sp__plan_reading_given(o) || o->merge_bytes || free_bytes < beside)
		return 0;
	return (free_bytes - beside) / s->plan.page_bytes < PAGES_EACH * (uint64_t)n ? 0 : k;
}

static struct sp__branch *branch_new(struct sp__merging *merging, unsigned n)
{
	struct sp__branch *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->merging = merging;
	b->n = n;
	b->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	sp__ring_init(&b->ring);
	return b;
}

static bool branch_open(struct sp__branch *b, char *spans)
{
	struct sp__merging *merging = b->merging;

	if (!branch_start(b, spans))
		return false;
	merging->branches[merging->nbranches++] = b;
	merging->sort->stats.merge_branches = merging->nbranches;
	return true;
}

static bool open_runs(struct sp__merging *merging, const unsigned *ids, unsigned n,
		      struct sp__freemem where, char *spans)
{
	struct sp__branch *b = branch_new(merging, n);

	if (!b)
		return false;
	b->ids = ids;
	b->where = where;
	if (merging->spans)
		b->spans = merging->spans + (ids - merging->spilled->ids);
	if (!branch_open(b, spans)) {
		branch_free(b);
		return false;
	}
	return true;
}

unsigned sp__branches_open(struct sp__merging *merging, const unsigned *ids, unsigned n,
			   struct sp__freemem *where)
{
	const struct sp__sort_shared *s = merging->sort;
	size_t ring = SP__RING_BUFFERS * span_bytes(merging);
	uint64_t bytes = 0, pages;
	unsigned taken = 0, runs, k;

	for (unsigned i = 0; i < n; i++)
		bytes += merging->spilled->runs[ids[i]]->bytes;
	k = branches_for(merging, n, bytes, where->bytes);
	where->bytes -= k * branch_bytes(merging);
	pages = where->bytes / s->plan.page_bytes;
	for (char *spans = where->mem + where->bytes; merging->nbranches < k; spans += ring) {
		struct sp__freemem part = *where;

		runs = runs_of(merging, ids + taken, n - taken, 3 * bytes / (3 + 2 * k));
		part.bytes = pages * runs / n * s->plan.page_bytes;
		if (!runs || !open_runs(merging, ids + taken, runs, part, spans))
			break;
		taken += runs;
		where->mem += part.bytes;
		where->bytes -= part.bytes;
	}
	return taken;
}

/* How many of the next files hold about the given bytes; not all of them. */
static unsigned files_of(const struct sp__inputs *in, uint64_t bytes)
{
	uint64_t have = 0;
	unsigned n = in->next;

	while (n + 1 < in->n && have + in->list[n].file_bytes / 2 <= bytes)
		have += in->list[n++].file_bytes;
	return n - in->next;
}

static bool open_files(struct sp__merging *merging, unsigned n, char *spans)
{
	struct sp__inputs *in = &merging->inputs;
	struct sp__branch *b = branch_new(merging, n);

	if (!b)
		return false;
	sp__inputs_part(in, n, &b->files);
	if (branch_open(b, spans))
		return true;
	sp__inputs_unpart(in, &b->files);
	branch_free(b);
	return false;
}

void sp__branches_open_files(struct sp__merging *merging)
{
	const struct sp__sort_shared *s = merging->sort;
	const struct sp__inputs *in = &merging->inputs;
	unsigned max = s->threads - 1 < SP__BRANCHES_MAX ? s->threads - 1 : SP__BRANCHES_MAX, n;
	struct sp__freemem where = sp__free_region(merging->forming, true);
	uint64_t bytes = 0;

	for (unsigned i = in->next; i < in->n; i++)
		bytes += in->list[i].file_bytes;
	if (!in->files || span_bytes(merging) < MIN_SPAN || in->n - in->next < MIN_FILES ||
	    bytes < MIN_BYTES || where.bytes < max * SP__RING_BUFFERS * span_bytes(merging))
		return;
	for (unsigned k = 0; k < max; k++, where.mem += SP__RING_BUFFERS * span_bytes(merging)) {
		n = files_of(in, 3 * bytes / (3 + 2 * max));
		if (!n || !open_files(merging, n, where.mem))
			return;
	}
}

static int branch_get(void *branch, size_t index, bool wait, const char **data, size_t *bytes)
{
	struct sp__branch *b = branch;
	int rc = sp__ring_get(&b->ring, wait, data, bytes);

	(void)index;
	if (rc < 0)
		*b->merging->sort->env.err = b->err;
	b->pinned = rc == SP_READY ? *data : NULL;
	return rc;
}

const uint64_t *sp__branch_offsets(const struct sp__merging *merging)
{
	const struct sp__cursor *c = merging->sequence.merge.cursors;
	struct sp__branch *b = merging->branches[0];

	/* It has ended, and its thread has nothing more to do with them. */
	if (!c->rec)
		return b->offsets.at;
	return c->rec - c->head == b->pinned ? begin_of(b, &b->ring.buf[b->ring.get]) : NULL;
}

static int branch_release(void *branch, size_t index)
{
	struct sp__branch *b = branch;

	(void)index;
	sp__ring_release(&b->ring);
	return 0;
}

void sp__branches_cursors(struct sp__merging *merging, struct sp__cursor *cursors)
{
	for (unsigned i = 0; i < merging->nbranches; i++)
		cursors[i].feed = (struct sp__feed){ .ctx = merging->branches[i],
						     .counted = merging->sort->opts.count,
						     .get = branch_get,
						     .release = branch_release };
}

void sp__branches_close(struct sp__merging *merging)
{
	for (unsigned i = 0; i < merging->nbranches; i++)
		sp__ring_abandon(&merging->branches[i]->ring);
	for (unsigned i = 0; i < merging->nbranches; i++) {
		sp__task_join(&merging->branches[i]->task);
		sp__inputs_rejoin(&merging->inputs, &merging->branches[i]->files);
		branch_free(merging->branches[i]);
	}
	merging->nbranches = 0;
}
