/* SPDX-License-Identifier: MIT */
/*
 * The final merge of a sort that can be resumed.
 *
 * The result is written in ranges, each at its own offset of the file: those between the cuts of
 * parts.c, or one.  Threads take range after range; of one range the records come from the
 * sort's own final merge, with a branch if there are threads (branch.c).  From time to time a range
 * is marked: what was written of it is on the device, and the journal has its checksum and the
 * offset in each run where the rest begins.  The offsets are exact, so any order of records and any
 * key will do; in a branch they are known where the trunk comes to a new span of it.  Records
 * that are dropped belong to the group before, so there a mark comes between groups.
 *
 * After a crash the same runs are merged from the offsets of the last marks on, in ranges that stay
 * what they were, whatever the number of threads is.  What was written before is read and verified;
 * if it is damaged, or if more runs had to be merged because there is less memory, the final merge
 * starts over.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "sort/merge/write_parts.h"
#include "sort/merge/output.h"
#include "sort/merge/parts.h"

#define WORKERS_MAX 16
/* Between two marks of a range: the memory, but at least this, or this part of the input. */
#define MARKED_BYTES (UINT64_C(256) << 20)
#define MARKED_SHARE 16
#define STRIDE_BYTES (64u << 10)

struct writing {
	struct sp__output *output; /* of the sort, whose final merge it may use */
	struct sp__merging *merging;
	struct sp__parts_out *out;
	struct sp__ranges *ranges;
	unsigned workers;
	bool parts;		  /* several ranges, each merged by readers of its own */
	uint64_t marked_bytes;	  /* between marks */
	struct sp__tally dropped; /* before the final merge */
	_Atomic unsigned next;	  /* range to be taken */
	_Atomic uint64_t done_bytes;
	_Atomic bool failed;
	pthread_mutex_t journal; /* and the counts of requests */
};

struct worker {
	struct writing *all;
	unsigned number;
	struct sp__freemem where;
	struct sp__spill *reader;
	struct sp__merge merge;
	struct sp__run_offsets offsets; /* of the cursors of its merge */
	uint64_t *marked;		/* for each run, as the journal gets them */
	int fd;
	struct sp__wstream *stream;
	XXH3_state_t *digest;
	struct sp__task task;
	struct sp_errinfo err;
	int rc;
};

static bool finished(const struct writing *w, const struct sp__range *r)
{
	for (unsigned i = 0; i < w->ranges->runs; i++)
		if (r->spans[i].from < r->spans[i].to)
			return false;
	return true;
}

static int open_stream(struct worker *k, uint64_t at)
{
	struct writing *w = k->all;
	struct sp__wstream_opts o = w->out->writing;

	o.chunk_bytes = sp__parts_chunk(&o, w->workers);
	o.expected_bytes = w->marked_bytes;
	o.piece = w->parts;
	o.digest = k->digest;
	if (lseek(k->fd, (off_t)at, SEEK_SET) < 0)
		return sp__err(&k->err, -errno, "write", w->out->name, -1);
	return sp__wstream_open(&k->stream, k->fd, w->out->name, &o, &k->err);
}

static void close_stream(struct worker *k)
{
	struct sp__io_counters c;

	if (!k->stream)
		return;
	sp__wstream_counters(k->stream, &c);
	pthread_mutex_lock(&k->all->journal);
	sp__io_add(k->all->out->io, &c);
	pthread_mutex_unlock(&k->all->journal);
	sp__wstream_close(k->stream);
	k->stream = NULL;
}

/* Notes where in the runs the records begin that are to be given; false: that is not known here. */
static bool note_offsets(struct worker *k)
{
	const struct sp__merging *merging = k->all->merging;
	unsigned branched = k->all->parts ? 0 : merging->branched;
	const uint64_t *branch = branched ? sp__branch_offsets(merging) : k->marked;

	if (!branch)
		return false;
	memmove(k->marked, branch, branched * sizeof(*branch));
	memcpy(k->marked + branched, k->offsets.at + (branched > 0),
	       (k->all->ranges->runs - branched) * sizeof(*k->marked));
	return true;
}

/* A checkpoint, at the offsets noted: of the range all that is before offset `to` is written. */
static int mark(struct worker *k, unsigned range, uint64_t to, const struct sp__tally *given)
{
	struct writing *w = k->all;
	struct sp__range *r = &w->ranges->list[range];
	int rc = sp__wstream_finish(k->stream);
	struct sp__written written = { r->at, to, sp__digest_take(k->digest) };

	close_stream(k);
	if (!rc && fdatasync(k->fd) < 0)
		rc = sp__err(&k->err, -errno, "fsync", w->out->name, -1);
	if (rc < 0)
		return rc;
	r->at = to;
	r->given = *given;
	pthread_mutex_lock(&w->journal);
	if (!w->parts) {
		w->ranges->dropped =
			sp__tally_since(w->merging->sort->balance.dropped, &w->dropped);
		w->ranges->counted = w->merging->sort->balance.counted;
	}
	rc = sp__resume_mark(w->merging->spilled->resume, range, k->marked, &written);
	if (rc < 0)
		k->err = *w->merging->sort->env.err;
	pthread_mutex_unlock(&w->journal);
	return rc;
}

static int next_record(struct worker *k, struct sp__tally *given, const char **data, size_t *bytes)
{
	struct sp__merging *merging = k->all->merging;
	struct sp__merge *m = &k->merge;
	int rc;

	if (!k->all->parts) {
		rc = sp__output_next(k->all->output, true, data, bytes);
		*given = merging->sort->balance.given;
		return rc;
	}
	rc = sp__merge_next(m, true);
	sp__run_offsets_step(&k->offsets, m, rc);
	if (rc != SP_READY)
		return rc;
	sp__tally_add(given, m->rec, m->bytes);
	*data = m->rec;
	*bytes = m->bytes;
	return rc;
}

/* A stride further: tells so, and learns whether the others have failed. */
static int look_round(struct worker *k, uint64_t bytes)
{
	struct writing *w = k->all;
	uint64_t done = atomic_fetch_add(&w->done_bytes, bytes) + bytes;

	if (atomic_load_explicit(&w->failed, memory_order_relaxed))
		return -ECANCELED;
	if (!k->number)
		w->out->tell(w->out->arg, done);
	return 0;
}

/* All records of a range, with marks. */
static int put_range(struct worker *k, unsigned range)
{
	struct writing *w = k->all;
	const bool counted = w->merging->sort->opts.count;
	struct sp__range *r = &w->ranges->list[range];
	struct sp__tally given = r->given, before;
	uint64_t at = r->at, looked = at;
	const char *data;
	size_t bytes;
	int rc, put_rc;

	for (before = given; (rc = next_record(k, &given, &data, &bytes)) == SP_READY;
	     before = given) {
		/* A number is given with the group before the record that the merge is at. */
		bool due = at - r->at >= w->marked_bytes && note_offsets(k);

		put_rc = counted ? sp__wstream_put(k->stream, data, bytes) : 0;
		at += counted ? bytes : 0;
		if (!put_rc && due)
			put_rc = mark(k, range, at, counted ? &given : &before);
		if (!put_rc && due)
			put_rc = open_stream(k, at);
		if (!put_rc && !counted)
			put_rc = sp__wstream_put(k->stream, data, bytes);
		at += counted ? 0 : bytes;
		if (!put_rc && at - looked >= STRIDE_BYTES) {
			put_rc = look_round(k, at - looked);
			looked = at;
		}
		if (put_rc < 0)
			return put_rc;
	}
	if (rc < 0)
		return sp__err(&k->err, rc, "merge", NULL, -1);
	(void)note_offsets(k);
	rc = mark(k, range, at, &given);
	if (!rc && r->end != UINT64_MAX && r->end != at) {
		rc = sp__balance_compare(w->merging->sort, "bytes of a part", r->end, at);
		k->err = *w->merging->sort->env.err;
	}
	return rc;
}

/* The first `branched` runs are behind one cursor. */
static void begin_offsets(struct worker *k, unsigned range, unsigned branched)
{
	k->offsets.last = 0;
	k->offsets.bytes = 0;
	for (unsigned i = branched; i < k->all->ranges->runs; i++)
		k->offsets.at[i - branched + (branched > 0)] =
			k->all->ranges->list[range].spans[i].from;
}

/* The merge of all records of a range, by readers of its own. */
static int merge_part(struct worker *k, unsigned range)
{
	struct sp__merging *merging = k->all->merging;
	struct sp__spilled *spilled = merging->spilled;
	struct sp__sort_shared *s = merging->sort;
	struct sp__step_inputs in = { 0 };
	int rc = sp__merge_init(&k->merge, s->opts.keys, k->all->ranges->runs, &s->env.budget,
				&k->err);

	if (rc < 0)
		return rc;
	k->merge.plain = true;
	rc = sp__step_open(spilled, k->reader, &in, spilled->ids, k->all->ranges->list[range].spans,
			   k->all->ranges->runs, k->where, k->merge.cursors);
	begin_offsets(k, range, 0);
	if (!rc)
		rc = put_range(k, range);
	sp__step_close(spilled, &in);
	sp__merge_release(&k->merge);
	return rc;
}

/* The sort's own final merge, which drops and counts; --top may end it amid a branch's span. */
static int merge_all(struct worker *k)
{
	struct sp__merging *merging = k->all->merging;
	const struct sp__sort_shared *s = merging->sort;
	int rc;

	merging->spans = k->all->ranges->list[0].spans;
	merging->offsets = &k->offsets;
	rc = sp__final_prepare(merging, s->threads > 1 && !s->opts.top);
	begin_offsets(k, 0, merging->branched);
	if (!rc)
		rc = put_range(k, 0);
	sp__branches_close(merging);
	if (s->env.err->code)
		k->err = *s->env.err;
	merging->offsets = NULL;
	return rc;
}

static int write_range(struct worker *k, unsigned range)
{
	const struct sp__range *r = &k->all->ranges->list[range];
	int rc = open_stream(k, r->at);

	if (!rc)
		rc = k->all->parts ? merge_part(k, range) : merge_all(k);
	close_stream(k);
	return rc;
}

static void work(void *arg)
{
	struct worker *k = arg;
	struct writing *w = k->all;
	unsigned i;

	while (!k->rc && (i = atomic_fetch_add(&w->next, 1)) < w->ranges->n)
		if (!finished(w, &w->ranges->list[i]))
			k->rc = write_range(k, i);
	if (k->rc < 0)
		atomic_store(&w->failed, true);
}

static int open_worker(struct worker *k, struct writing *w, unsigned number,
		       struct sp__freemem where)
{
	char path[32];

	*k = (struct worker){ .all = w, .number = number, .where = where, .fd = -1 };
	k->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	k->digest = sp__digest_new();
	k->offsets.at = calloc(w->ranges->runs + 1, sizeof(*k->offsets.at));
	k->marked = calloc(w->ranges->runs + 1, sizeof(*k->marked));
	if (!k->digest || !k->offsets.at || !k->marked)
		return sp__err(&k->err, -ENOMEM, "allocate", NULL, -1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->out->fd);
	k->fd = open(path, O_RDWR | O_CLOEXEC);
	/* Without /proc there is one worker, and the descriptor is its own. */
	if (k->fd < 0 && w->workers == 1)
		k->fd = fcntl(w->out->fd, F_DUPFD_CLOEXEC, 0);
	if (k->fd < 0)
		return sp__err(&k->err, -errno, "open", w->out->name, -1);
	return sp__spill_reader_open(&k->reader, w->merging->spilled->store, &k->err);
}

static void close_worker(struct worker *k)
{
	if (k->reader)
		sp__spill_reader_close(k->reader, k->all->merging->spilled->store);
	if (k->fd >= 0)
		close(k->fd);
	free(k->offsets.at);
	free(k->marked);
	sp__digest_free(k->digest);
}

static int run_workers(struct writing *w, struct worker *list)
{
	const struct worker *bad = NULL;

	for (unsigned i = 1; i < w->workers; i++)
		if (!list[i].rc)
			sp__task_start(&list[i].task, work, &list[i]);
	if (!list[0].rc)
		work(&list[0]);
	for (unsigned i = 0; i < w->workers; i++) {
		sp__task_join(&list[i].task);
		if (list[i].rc < 0 && (!bad || bad->rc == -ECANCELED))
			bad = &list[i];
	}
	if (bad)
		*w->merging->sort->env.err = bad->err;
	return bad ? bad->rc : 0;
}

/* As many as there are ranges left, threads, and memory. */
static unsigned workers_for(const struct writing *w, struct sp__freemem where)
{
	unsigned left = 0, k;

	for (unsigned i = 0; i < w->ranges->n; i++)
		left += !finished(w, &w->ranges->list[i]);
	k = (unsigned)sp__min(sp__min(left, w->merging->sort->threads), WORKERS_MAX);
	while (k > 1 && !sp__parts_fit(w->merging, w->ranges->runs, where, &w->out->writing, k))
		k--;
	return k ? k : 1;
}

static int write_all(struct writing *w)
{
	struct sp__freemem where = sp__free_region(w->merging->forming, true);
	struct worker list[WORKERS_MAX];
	size_t each;
	int rc = 0;

	w->workers = workers_for(w, where);
	each = where.bytes / w->workers / w->merging->sort->plan.page_bytes *
	       w->merging->sort->plan.page_bytes;
	for (unsigned i = 0; i < w->workers; i++) {
		list[i].rc = 0;
		rc = open_worker(&list[i], w, i,
				 (struct sp__freemem){ where.mem + i * each, each });
		list[i].rc = rc;
	}
	rc = run_workers(w, list);
	for (unsigned i = 0; i < w->workers; i++)
		close_worker(&list[i]);
	return rc;
}

/* Can what is there be continued?  1, 0, or an error. */
static int continues(struct writing *w)
{
	const struct sp__ranges *g = w->ranges;
	int rc;

	if (!g->list || g->runs != w->merging->runs_left)
		return 0;
	rc = sp__ranges_verify(g, w->out->fd);
	return rc < 0 ? sp__err(w->merging->sort->env.err, rc, "read", w->out->name, -1) : rc;
}

/* The ranges between the cuts, or one of all. */
static int make_ranges(struct writing *w, const struct sp__cuts *c, unsigned n, bool all)
{
	struct sp__merging *merging = w->merging;
	struct sp__spilled *spilled = merging->spilled;
	struct sp__ranges *g = w->ranges;
	uint64_t at = w->out->at;

	sp__ranges_forget(g);
	g->runs = merging->runs_left;
	g->n = n;
	g->from = at;
	g->list = calloc(n, sizeof(*g->list));
	g->spans = calloc((size_t)n * g->runs + 1, sizeof(*g->spans));
	if (!g->list || !g->spans)
		return sp__err(merging->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; i < n; i++) {
		struct sp__range *r = &g->list[i];

		r->spans = g->spans + (size_t)i * g->runs;
		r->at = at;
		for (unsigned j = 0; j < g->runs; j++) {
			struct sp__run_span whole = { 0, spilled->runs[spilled->ids[j]]->bytes };

			r->spans[j] = n == 1 ? whole
					     : (struct sp__run_span){ sp__cuts_at(c, i, j),
								      sp__cuts_at(c, i + 1, j) };
			at += r->spans[j].to - r->spans[j].from;
		}
		r->end = all ? at : UINT64_MAX;
	}
	return sp__resume_begin_ranges(spilled->resume);
}

static int begin(struct writing *w)
{
	const bool all = !w->merging->sort->opts.unique && !w->merging->sort->opts.top;
	struct sp__cuts cuts = { 0 };
	int rc = all ? sp__parts_cut(w->merging, &w->out->writing, &cuts) : 0;

	if (rc >= 0)
		rc = make_ranges(w, &cuts, rc > 1 ? (unsigned)rc : 1, all);
	sp__cuts_release(&cuts);
	return rc;
}

/* What the marks say has been given belongs to the balance. */
static void take_up(struct writing *w)
{
	struct sp__balance *b = &w->merging->sort->balance;

	w->dropped = b->dropped;
	sp__tally_join(&b->dropped, &w->ranges->dropped);
	b->counted = w->ranges->counted;
	if (!w->parts)
		b->given = w->ranges->list[0].given;
	for (unsigned i = 0; i < w->ranges->n; i++)
		w->done_bytes += w->ranges->list[i].at;
	w->done_bytes -= w->out->at;
}

static void note(struct writing *w)
{
	struct sp__merging *merging = w->merging;
	struct sp__spilled *spilled = merging->spilled;
	struct sp__sort_shared *s = merging->sort;

	s->stats.merge_parts = w->parts ? w->ranges->n : 0;
	if (w->parts) {
		s->stats.merges++;
		s->stats.merge_passes++;
		sp__step_replan(spilled, spilled->ids, w->ranges->runs,
				(unsigned)(sp__free_region(merging->forming, true).bytes /
					   s->plan.page_bytes));
	}
}

static int end(struct writing *w)
{
	struct sp__merging *merging = w->merging;
	struct sp__sort_shared *s = merging->sort;
	uint64_t at = w->out->at;

	for (unsigned i = 0; i < w->ranges->n; i++) {
		at = sp__max(at, w->ranges->list[i].at);
		if (w->parts)
			sp__tally_join(&s->balance.given, &w->ranges->list[i].given);
	}
	s->stats.output_bytes = at - w->out->at;
	if (ftruncate(w->out->fd, (off_t)at) < 0)
		return sp__err(s->env.err, -errno, "write", w->out->name, -1);
	return 0;
}

int sp__ranges_write(struct sp__output *output, struct sp__parts_out *out)
{
	struct sp__merging *merging = output->merging;
	const struct sp__sort_shared *s = merging->sort;
	const uint64_t min = sp__min(s->stats.input_bytes / MARKED_SHARE, MARKED_BYTES);
	struct writing w = { .output = output,
			     .merging = merging,
			     .out = out,
			     .ranges = &merging->spilled->resume->ranges,
			     .marked_bytes = sp__max(s->plan.memory_bytes, min) };
	int rc = continues(&w);

	if (rc == 0)
		rc = begin(&w);
	if (rc < 0)
		return rc;
	w.parts = w.ranges->n > 1;
	take_up(&w);
	note(&w);
	pthread_mutex_init(&w.journal, NULL);
	rc = write_all(&w);
	pthread_mutex_destroy(&w.journal);
	return rc < 0 ? rc : end(&w);
}
