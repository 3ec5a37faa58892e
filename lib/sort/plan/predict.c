/* SPDX-License-Identifier: MIT */
/*
 * Predicts how long a sort on a simulated machine takes and how many clusters it reads.
 *
 * Input: the plan and the mechanics of the drive.  No request is simulated.  The predictor steps
 * through the merges that the policy will order; each is sequential transfer, jumps, and CPU time.
 *
 * Reads.  A merge reads as many clusters as its read plan needs (strategy.c).  A merge that writes
 * into the space it frees produces a run of many extents, and later merges pay for the jumps
 * between them: extents_of().  Memory for descriptors limits the number of extents.  The lengths
 * of runs and the tracks determine where extents lie, and so seek and angle (run/costs.h).
 *
 * Pending requests.  A drive that reorders serves the nearest one.  Pending at a time are half the
 * runs with double buffering, runs / (pages per run) with equal buffering, and two clusters with
 * extended forecasting and clustering.  A drive does not read ahead while requests are pending.
 * The last run can stay in memory.  With --top, a merge reads little more than the result.
 *
 * CPU time overlaps with I/O, except while the first pages are read and after the last page has
 * arrived.  Without read-ahead the two add up.
 *
 * Arrays.  Each drive is a single drive with its share of the bytes.  As many arms are busy as the
 * outstanding requests reach drives: random drives for clusters, consecutive ones for a stream
 * (run/costs.h).  Mirrors read independently and write together.  If less than one stripe per
 * drive of a stream is outstanding and the platters rotate in step, each stripe has already passed
 * the head when it is requested.
 * Flash.  A channel is a drive of an array.  Each read has a latency; a chunk programs whole rows.
 *
 * Not modelled: page cache, file system, schedulers, requests that are not merged, skewed input.
 * No constant is fitted to measurements.  The effects were chosen by comparing predictions on all
 * models, on random models, and on arrays of both.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/memory.h"
#include "sort/plan/predict.h"
#include "sort/plan/predict_impl.h"
#include "sort/tree/merge.h"
#include "sort/plan/policy.h"
#include "sort/plan/readplan.h"
#include "sort/select/replace.h"
#include "base/ring.h"
#include "sort/records/runbuf.h"
#include "spill/pool.h"

/*
 * Runs that are read together are at pages of two neighbouring offsets, each of which is a sweep
 * along the path that begins anywhere.
 */
#define PATH_SWEEPS 2
/* Of an array that grows by halves. */
#define GROWN 0.8

/* A run: its bytes, and how many of its pages begin an extent of their own. */
struct run {
	double bytes, extents;
	unsigned level, from; /* from: runs that were merged into it */
};

/* Its description: a checksum for each page, and each extent. */
static double described(const struct sp__sort_prediction *t, const struct run *r)
{
	return r->bytes / t->plan->page_bytes *
	       (sizeof(uint64_t) + r->extents * sizeof(struct sp__extent));
}

/* Memory to describe runs while n are merged: what buffers and merges leave (form.c, step.c). */
static double left_to_describe(const struct sp__sort_prediction *t, unsigned n)
{
	const struct sp_sort_plan *p = t->plan;
	const struct sp__spill store = { .opts.page_bytes = p->page_bytes };
	const struct sp__readplan_opts reads = { .strategy = SP_READ_EQUAL, .runs = n };
	double slots = (double)p->run_bytes * p->run_buffers, merging = (double)p->merge_bytes;
	double used = sp__policy_eager(p->policy) ? slots + merging : fmax(slots, merging);

	used += (SP__WRITER_CHUNKS + SP__RING_BUFFERS) * t->chunk_bytes;
	used += (double)(sp__merge_memory(n) + sp__pool_memory(&store, n, p->merge_pages) +
			 sp__readplan_memory(&reads));
	return (double)p->memory_bytes - used;
}

/*
 * The share of the extents of a run being merged from n for which there is memory.  Beyond that the
 * store takes new space in sequence.  Arrays grow by halves, so that a fifth is not used yet.
 */
static double extents_kept(const struct sp__sort_prediction *t, unsigned n, const struct run *out)
{
	const struct run whole = { .bytes = out->bytes };
	double pages = described(t, &whole), extents = described(t, out) - pages;
	double left = (left_to_describe(t, n) - t->described) * GROWN - pages;

	return t->keys ? 1 : fmin(fmax(left / extents, 0), 1);
}

/* Requests that wait beside one for a cluster. */
static double waiting(enum sp_readahead strategy, unsigned runs, double pages)
{
	switch (strategy) {
	case SP_READ_DOUBLE:
		return fmax(runs / 2.0, 1);
	case SP_READ_EQUAL:
		return fmax(runs / fmax(pages, 1), 1);
	case SP_READ_EXTENDED:
	case SP_READ_CLUSTER:
		return 2;
	default:
		return 1;
	}
}

/*
 * The extents of k pages that a merge of n runs writes to the lowest free ones: there are n + k
 * free, 1 + k / n of each run.
 */
static double extents_of(double k, double n)
{
	return k * n / (k + n);
}

/*
 * Pages for a merge: of the memory for runs what holds none any more, the last one may stay to its
 * end; and of the final merge what writes none.
 */
static unsigned pages_for(const struct sp__sort_prediction *t, bool formed, bool final)
{
	const struct sp_sort_plan *p = t->plan;
	uint64_t slots = p->run_bytes * p->run_buffers, bytes = p->merge_bytes;

	if (!sp__policy_eager(p->policy))
		bytes -= sp__min(bytes, slots);
	if (formed && !(final && t->kept_bytes > 0))
		bytes += slots;
	if (final)
		bytes += sp__plan_spill_bytes(t->o, p->memory_bytes, p->page_bytes);
	if (t->o->merge_bytes)
		bytes = sp__min(bytes, t->o->merge_bytes);
	return (unsigned)sp__max(sp__min(bytes / p->page_bytes, UINT32_MAX), 1);
}

/* What a merge reads. */
struct reading {
	double bytes, pages;
	double merged_bytes;	/* which are also written, with those from memory */
	double clusters, waits; /* waits: requests that the drive can choose from */
	double spread, arms;	/* of an array: drives of a cluster, and of all that wait */
	double jumps, nearest;	/* jumps between extents within clusters */
	bool path;		/* all lie along the path, and no write takes the arm from it */
	unsigned runs, buffers;
	enum sp_readahead strategy;
};

static void plan_reading(struct sp__sort_prediction *t, const struct run *in, unsigned n,
			 double kept_bytes, struct reading *r)
{
	const struct sp_sort_plan *p = t->plan;
	struct sp_strategy_plan table[SP_READ_COUNT_];
	double extents = 0, from = 0, at_once;

	*r = (struct reading){ .runs = n, .buffers = t->merge_pages, .path = t->device.path };
	for (unsigned i = 0; i < n; i++) {
		r->bytes += in[i].bytes;
		r->path &= in[i].level == 0;
		extents += in[i].extents * in[i].bytes / p->page_bytes;
		if (in[i].extents > 0)
			from = fmax(from, in[i].from);
	}
	r->merged_bytes = fmin(r->bytes + kept_bytes, t->max_bytes);
	r->bytes = fmin(r->bytes, t->max_bytes + (double)r->buffers * p->page_bytes);
	r->pages = r->bytes / p->page_bytes;
	r->strategy = sp__plan_readahead(t->o->readahead, (uint64_t)ceil(r->pages), p->page_bytes,
					 n, r->buffers, t->keys, t->device, table);
	/* One run is read in sequence. */
	r->clusters = n > 1 ? table[r->strategy].cluster_reads : 1;
	r->waits = waiting(r->strategy, n, (double)r->buffers / n);
	r->spread = sp__costs_spread(&t->at, r->bytes / r->clusters, p->page_bytes);
	r->arms = sp__costs_arms(&t->at, r->bytes / r->clusters, p->page_bytes, r->waits);
	r->waits = fmax(r->waits * r->spread / t->at.drives / t->at.mirrors, 1);
	r->jumps = extents * fmax(1 - r->clusters / r->pages, 0);
	at_once = fmin(r->pages / r->clusters, r->strategy == SP_READ_NONE ? 1 : r->buffers);
	r->nearest = fmax(r->waits, extents / r->pages * at_once / 2);
	/* A drive that sorts reads what waits of a cluster and came from one run as one extent. */
	if (extents > 0)
		r->waits = r->nearest;
	if (t->at.sorts && extents > 0)
		r->jumps = fmin(r->jumps, r->pages * extents_of(at_once, from) / at_once);
	t->clusters += r->clusters;
}

/*
 * Turns that are lost within clusters, if the arm does not go away to write.  What waits in a row
 * is merged into requests of some size, behind each of which the next one may have passed.  Without
 * reading ahead the page behind has passed when it is asked for, unless the drive reads on.
 */
static double revolutions_s(const struct sp__sort_prediction *t, const struct reading *r)
{
	const struct sp__costs *c = &t->at;
	double page = t->plan->page_bytes, each = page;

	if (r->jumps > 0 || c->ahead || !(c->misses || r->strategy == SP_READ_NONE))
		return 0;
	if (r->strategy != SP_READ_NONE)
		each = fmax(fmin(r->buffers * page, c->merge_bytes), page);
	return fmax(r->bytes / each - r->clusters, 0) * c->rev_s;
}

static double reading_s(const struct sp__sort_prediction *t, const struct reading *r, bool alone)
{
	const struct sp__costs *c = &t->at;
	struct sp__sites at = { t->run_bytes, r->runs, r->bytes / r->clusters };
	double hop = sp__costs_jump(c, &at, false, r->waits);

	if (r->path)
		return r->bytes * c->byte_s +
		       PATH_SWEEPS * t->device.away_s * r->clusters / r->waits +
		       t->device.seek_s * (c->sorts ? r->clusters : r->pages * (1 - 1.0 / r->runs));
	if (r->waits <= 1)
		hop += c->overhead_s[0];
	at.piece_bytes = t->plan->page_bytes;
	return r->bytes * c->run_byte_s +
	       (alone || r->strategy == SP_READ_NONE ? revolutions_s(t, r) : 0) +
	       r->clusters * r->spread * hop +
	       (r->jumps > 0 ? r->jumps * sp__costs_jump(c, &at, false, r->nearest) : 0);
}

/*
 * How often an arm leaves reading to write some of n chunks that lie in sequence; of an array it
 * comes back for each stripe.
 */
static double changes(const struct sp__sort_prediction *t, double n, const struct reading *r,
		      double outstanding_bytes, double chunk_bytes)
{
	double stops = r->clusters + r->jumps, times = n * stops / (n + stops);

	return sp__costs_interrupted(&t->at, outstanding_bytes, chunk_bytes)
		       ? fmax(times, r->bytes / t->at.stripe_bytes)
		       : times;
}

/* An intermediate run. */
static double writing_s(const struct sp__sort_prediction *t, const struct reading *r, unsigned n,
			struct run *out)
{
	double k = sp__sort_predict_chunk_pages(t);
	double kept =
		t->at.behind_sorts ? fmax(floor(t->at.behind_bytes / t->plan->page_bytes), k) : k;
	double pages = r->merged_bytes / t->plan->page_bytes, chunks = pages / k;
	double chunk_bytes = sp__sort_predict_run_chunk(t);
	double hops = changes(t, chunks, r, sp__sort_predict_chunks(t) * chunk_bytes, chunk_bytes);
	struct sp__sites at = { t->run_bytes, n, t->plan->page_bytes };
	double waits = sp__sort_predict_chunks(t) - 1, share;
	bool sorts = t->at.sorts || t->at.behind_sorts;

	/* One chunk goes out when the one before has been written, and its place has passed. */
	if (sp__sort_predict_chunks(t) < 2)
		hops = chunks;
	out->bytes = r->merged_bytes;
	out->extents = 0;
	out->from = n;
	/* Of placed runs whole tracks become free. */
	if ((int)out->level - 1 <= t->plan->recycle && t->plan->placement == SP_PLACE_CONTIGUOUS) {
		out->extents = fmin(k, n) / k;
		share = extents_kept(t, n, out);
		/* A drive that takes writes as they come goes to each extent. */
		hops = share * pages * (sorts ? extents_of(kept, n) / kept : out->extents) +
		       (1 - share) * hops;
		out->extents *= share;
		waits *= share * extents_of(kept, n) + 1 - share;
	}
	return r->merged_bytes * t->at.run_write_byte_s +
	       hops * sp__costs_jump(&t->at, &at, true, fmax(waits / t->at.drives, 1));
}

/* Does a chunk of the result come too late for the place behind the one before? */
static bool late(const struct sp__sort_prediction *t, unsigned n)
{
	const struct sp__costs *c = &t->at;

	return c->tracks &&
	       t->chunk_bytes * c->byte_s <
		       c->overhead_s[1] + sp__sort_predict_merging_s(t, t->chunk_bytes, n);
}

/* Of the result that are outstanding. */
static double result_bytes(const struct sp__sort_prediction *t)
{
	return sp__buffers(t->plan->memory_bytes).writes * t->chunk_bytes;
}

/*
 * The result, if it lies on the device.  Late chunks go out two at a time, and nothing is read
 * meanwhile; else the drive reads before it turns to them.
 */
static double result_s(const struct sp__sort_prediction *t, struct reading *r)
{
	const struct sp__costs *c = &t->at;
	double bytes = r->merged_bytes, chunks = bytes / t->chunk_bytes;
	double hop = sp__costs_hop(c, t->bytes, true);
	double hops = changes(t, chunks, r, result_bytes(t), t->chunk_bytes);

	if (late(t, r->runs)) {
		hops = fmax(hops, chunks / 2);
		r->waits = fmax(r->waits / 2, 1);
	} else if (c->sorts) {
		hop -= c->rev_s / 2 - c->rev_s / (r->waits + 2);
	}
	return sp__sort_predict_storing_s(t, bytes, t->chunk_bytes, c->write_byte_s) + hops * hop;
}

/*
 * The device's time for a merge.  Of an array some arms read while others write; none of the two
 * has more than its own.
 */
static double device_s(const struct sp__sort_prediction *t, struct reading *r, unsigned n,
		       struct run *out)
{
	double writing = 0, drives = t->at.drives, mirrors = t->at.mirrors, arms[2], reading;
	double chunk_bytes = out ? sp__sort_predict_run_chunk(t) : t->chunk_bytes;
	double outstanding = out ? sp__sort_predict_chunks(t) * chunk_bytes : result_bytes(t);

	if (out)
		writing = writing_s(t, r, n, out);
	else if (t->at.out)
		writing = result_s(t, r);
	r->path &= !(writing > 0);
	reading = reading_s(t, r, !(writing > 0));
	arms[0] = r->arms;
	arms[1] = sp__costs_spread(&t->at, outstanding, chunk_bytes);
	return fmax(fmax(reading / arms[0], writing / arms[1]),
		    (reading / mirrors + writing) / drives /
			    (1 - (1 - arms[0] / drives / mirrors) * (1 - arms[1] / drives)));
}

/* The time of one merge; out: the run that it makes, or NULL for the result. */
static double merge_s(struct sp__sort_prediction *t, const struct run *in, unsigned n,
		      struct run *out)
{
	double kept = out ? 0 : t->kept_bytes, cpu, device, first;
	struct reading r;

	plan_reading(t, in, n, kept, &r);
	cpu = sp__sort_predict_merging_s(t, r.merged_bytes, n + (kept > 0)) +
	      sp__sort_predict_requests_s(t, r.bytes, t->plan->page_bytes);
	if (out || t->at.out)
		cpu += sp__sort_predict_requests_s(
			t, r.merged_bytes, out ? sp__sort_predict_run_chunk(t) : t->chunk_bytes);
	device = device_s(t, &r, n, out);
	if (r.strategy == SP_READ_NONE)
		return device + cpu;
	first = fmin(r.buffers / r.pages, 1);
	return first * device + fmax(cpu, device) * (1 - first) + first * cpu;
}

/* Room for following a policy: number i is the run with that number. */
struct steps {
	struct sp__policy *policy;
	struct run *runs, *in;
	unsigned *ids;
	uint64_t n;
};

/* The next run is formed. */
static int form(struct sp__sort_prediction *t, struct steps *s, uint64_t i)
{
	double left = t->bytes - (double)i * t->run_bytes;

	s->runs[i] = (struct run){ .bytes = fmin(t->run_bytes, left) };
	/* Replacement selection does not know yet which are the first. */
	if (t->plan->formation == SP_FORM_LOAD)
		s->runs[i].bytes = fmin(s->runs[i].bytes, t->max_bytes);
	t->described += described(t, &s->runs[i]);
	return sp__policy_add(s->policy, (unsigned)i, (uint64_t)s->runs[i].bytes);
}

/* Its result takes the number of the first of those merged. */
static int merge(struct sp__sort_prediction *t, struct steps *s, unsigned n,
		 const struct sp__policy_step *step, bool formed)
{
	struct run *out = &s->runs[s->ids[0]];

	for (unsigned i = 0; i < n; i++)
		s->in[i] = s->runs[s->ids[i]];
	out->level = step->level;
	t->merge_pages = pages_for(t, formed, step->final);
	t->seconds += merge_s(t, s->in, n, step->final ? NULL : out);
	for (unsigned i = 0; i < n; i++)
		t->described -= described(t, &s->in[i]);
	t->described += described(t, out);
	return step->final ? 0 : sp__policy_merged(s->policy, s->ids[0], (uint64_t)out->bytes);
}

static int follow(struct sp__sort_prediction *t, struct steps *s)
{
	struct sp__policy_step step = { 0 };
	uint64_t formed = 0;
	int rc = 0;

	while (!rc && !step.final) {
		unsigned n =
			sp__policy_next(s->policy, formed == s->n, s->ids, t->plan->fan_in, &step);

		if (!n && formed == s->n)
			break;
		rc = n ? merge(t, s, n, &step, formed == s->n) : form(t, s, formed++);
	}
	return rc;
}

int sp__sort_predict_merges(struct sp__sort_prediction *t, uint64_t n)
{
	const unsigned fan_in = t->plan->fan_in;
	struct steps s = { .runs = calloc(n, sizeof(*s.runs)),
			   .in = calloc(fan_in, sizeof(*s.in)),
			   .ids = calloc(fan_in, sizeof(*s.ids)),
			   .n = n };
	int rc = s.runs && s.in && s.ids ? sp__policy_new(&s.policy, t->plan->policy, fan_in, false)
					 : -ENOMEM;

	if (!rc)
		rc = follow(t, &s);
	sp__policy_free(s.policy);
	free(s.runs);
	free(s.in);
	free(s.ids);
	return rc;
}

/* Bytes of the records that fill a run. */
static double run_of(const struct sp__sort_prediction *t, uint64_t runs)
{
	double full = (double)t->plan->run_bytes / (1 + SP__ENTRY_COST / t->record_bytes);

	if (t->plan->formation == SP_FORM_LOAD && ceil(t->bytes / full) == (double)runs)
		return full;
	return t->bytes / (double)(runs ? runs : 1);
}

/*
 * The last run stays in memory if the rest has pages for the others (merge/final.c).  On a
 * simulated machine one run is formed at a time.
 */
static double kept_of(struct sp__sort_prediction *t, uint64_t runs)
{
	const struct sp_sort_plan *p = t->plan;
	double last = t->bytes - (double)(runs - 1) * t->run_bytes;

	if (!t->at.simulated || p->formation != SP_FORM_LOAD || p->policy != SP_MERGE_LAZY ||
	    t->o->run_bytes || runs > p->fan_in)
		return 0;
	t->kept_bytes = last;
	return (runs - 1) * SP__PAGES_KEPT <= pages_for(t, true, true) ? last : 0;
}

static uint64_t expected_runs(const struct sp__sort_prediction *t)
{
	/* The first and the last run of replacement selection are short. */
	if (t->plan->formation == SP_FORM_REPLACEMENT)
		return (uint64_t)ceil(t->bytes / sp__replace_run_bytes(t->plan->run_bytes) + 0.5);
	return t->plan->runs;
}

int sp__sort_predict(const struct sp_sort_opts *o, bool keys, struct sp_sort_plan *plan,
		     struct sp_errinfo *err)
{
	uint64_t record = o->format.kind == SP_REC_FIXED ? o->format.fixed_bytes : o->record_bytes;
	struct sp__sort_prediction t = { .o = o,
					 .plan = plan,
					 .device = sp__plan_device(o),
					 .keys = keys,
					 .bytes = (double)plan->input_bytes,
					 .max_bytes = INFINITY,
					 .record_bytes =
						 record ? (double)record : SP__PLAN_RECORD_BYTES,
					 .chunk_bytes =
						 sp__buffers(plan->memory_bytes).chunk_bytes };
	uint64_t runs = expected_runs(&t);
	int rc = sp__costs(&t.at, &o->run, plan->input_bytes, err);
	bool in_memory;

	if (rc < 0 || !plan->input_bytes || runs > SP__PREDICT_RUNS_MAX || o->compress_program)
		return rc;
	if (o->top && !o->count)
		t.max_bytes = (double)o->top * t.record_bytes;
	sp__costs_chunks(&t.at, t.chunk_bytes, sp__sort_predict_run_chunk(&t));
	t.run_bytes = run_of(&t, runs);
	t.kept_bytes = plan->in_memory ? 0 : kept_of(&t, runs);
	if (plan->placement != SP_PLACE_CONTIGUOUS)
		sp__costs_place(&t.at, plan->page_bytes,
				plan->placement == SP_PLACE_SEMISEQ ? (unsigned)runs : 1);
	in_memory = plan->in_memory || t.kept_bytes == t.bytes || sp__sort_predict_unspilled(&t);
	t.seconds = in_memory ? sp__sort_predict_in_memory_s(&t) : sp__sort_predict_in_runs_s(&t);
	rc = in_memory ? 0 : sp__sort_predict_merges(&t, runs - (t.kept_bytes > 0));
	if (rc < 0)
		return sp__err(err, rc, "allocate", NULL, -1);
	plan->cluster_reads = t.clusters;
	if (t.at.simulated && t.at.byte_s > 0)
		plan->seconds = t.seconds;
	return 0;
}
