/* SPDX-License-Identifier: MIT */
/*
 * How long a sort on a simulated machine will take, and how many clusters it will read, from its
 * plan and from the mechanics of the drive.  No request is simulated: the merges are those that the
 * policy will order, and each is some bytes in sequence, some changes of place, and some
 * computation.
 *
 * A merge reads as many clusters as the read plan needs (plan.c).  If it writes where it has read,
 * its pages lie in pieces, as does what reads them later: pieces_of(), as long as there is memory
 * to describe them.  Where pieces lie, and so seek and angle between them, follows from the lengths
 * of runs and the tracks (run/costs.h).  A drive that sorts takes the nearest of those that wait:
 * of double buffering's runs half have asked at a time, of equal buffering's one in as many as it
 * has pages; extended forecasting and clustering are one cluster ahead.  A drive with a cache reads
 * ahead in as many streams as it has segments; a merge of n runs is n + 1 streams.
 *
 * Computation passes beside reading, except while the first pages come and after the last have.
 * Without read-ahead the two add up.
 *
 * Of an array each drive does what one does, with fewer bytes, and as many arms are at work as
 * requests that are outstanding reach drives: those of clusters anywhere, those of a stream in a
 * row (run/costs.h).  Where less of a stream is outstanding than a stripe of each drive, and the
 * platters turn in step, stripes have passed when they are asked for.
 *
 * Not looked at: page cache, file system, requests that are not merged, mirrored drives that read
 * apart, skewed input.  No constant was fitted to measurements, but which effects are here was
 * found by comparing on six drives: atlas10k3-like, barracuda4-like and cheetah36es-like; for
 * writes that a drive keeps, ide300-like and ultrastar36lzx-like; for lost turns, nearline6t-like;
 * of arrays on the first two and linear.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/err.h"
#include "run/memory.h"
#include "sort/foretell.h"
#include "sort/foretell_impl.h"
#include "sort/merge.h"
#include "sort/policy.h"
#include "sort/readplan.h"
#include "sort/replace.h"
#include "sort/ring.h"
#include "spill/pool.h"
#include "spill/writer.h"

/*
 * Runs that are read together are at pages of two neighbouring offsets, each of which is a sweep
 * along the path that begins anywhere.
 */
#define PATH_SWEEPS 2
/* Of an array that grows by halves. */
#define GROWN 0.8

/* A run: its bytes, and how many of its pages begin a piece of their own. */
struct run {
	double bytes, pieces;
	unsigned level, from; /* from: runs that were merged into it */
};

/* Its description: a checksum for each page, and an extent for each piece. */
static double described(const struct sp__told_sort *t, const struct run *r)
{
	return r->bytes / t->plan->page_bytes *
	       (sizeof(uint64_t) + r->pieces * sizeof(struct sp__extent));
}

/* Memory to describe runs while n are merged: what buffers and merges leave (form.c, step.c). */
static double left_to_describe(const struct sp__told_sort *t, unsigned n)
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
 * The share of the pieces of a run being merged from n for which there is memory.  Beyond that the
 * store takes new space in sequence.  Arrays grow by halves, so that a fifth is not used yet.
 */
static double pieces_kept(const struct sp__told_sort *t, unsigned n, const struct run *out)
{
	const struct run whole = { .bytes = out->bytes };
	double pages = described(t, &whole), pieces = described(t, out) - pages;
	double left = (left_to_describe(t, n) - t->described) * GROWN - pages;

	return t->keys ? 1 : fmin(fmax(left / pieces, 0), 1);
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
 * The pieces of k pages that a merge of n runs writes to the lowest free ones: there are some n + k
 * free, 1 + k / n of each run.
 */
static double pieces_of(double k, double n)
{
	return k * n / (k + n);
}

/* What a merge reads. */
struct reading {
	double bytes, pages;
	double clusters, waits; /* waits: requests that the drive can choose from */
	double spread, arms;	/* of an array: drives of a cluster, and of all that wait */
	double jumps, nearest;	/* the same of pieces within clusters */
	unsigned runs;
	enum sp_readahead strategy;
};

static void plan_reading(struct sp__told_sort *t, const struct run *in, unsigned n,
			 struct reading *r)
{
	const struct sp_sort_plan *p = t->plan;
	struct sp_strategy_plan table[SP_READ_COUNT_];
	double pieces = 0, left, from = 0;

	*r = (struct reading){ .runs = n };
	for (unsigned i = 0; i < n; i++) {
		r->bytes += in[i].bytes;
		pieces += in[i].pieces * in[i].bytes / p->page_bytes;
		if (in[i].pieces > 0)
			from = fmax(from, in[i].from);
	}
	r->pages = r->bytes / p->page_bytes;
	r->strategy = sp__plan_readahead((uint64_t)ceil(r->pages), p->page_bytes, n, p->merge_pages,
					 t->keys, t->device, table);
	if (t->o->readahead != SP_READ_AUTO)
		r->strategy = t->o->readahead;
	r->clusters = table[r->strategy].cluster_reads;
	r->waits = waiting(r->strategy, n, (double)p->merge_pages / n);
	r->spread = sp__costs_spread(&t->at, r->bytes / r->clusters, p->page_bytes);
	r->arms = sp__costs_arms(&t->at, r->bytes / r->clusters, p->page_bytes, r->waits);
	r->waits = fmax(r->waits * r->spread / t->at.drives, 1);
	left = fmax(1 - (double)t->at.segments / (n + 1), 0);
	r->jumps = pieces * fmax(1 - r->clusters / r->pages, 0) * left;
	r->nearest = fmax(r->waits, pieces / r->clusters / 2);
	/* A drive that sorts reads the pages of a cluster that came from one run as one piece. */
	if (pieces > 0)
		r->waits = r->nearest;
	if (t->at.sorts && pieces > 0)
		r->jumps = fmin(r->jumps, r->clusters * pieces_of(r->pages / r->clusters, from));
	t->clusters += r->clusters;
}

static double reading_s(const struct sp__told_sort *t, const struct reading *r, bool result)
{
	const struct sp__costs *c = &t->at;
	struct sp__sites at = { t->run_bytes, r->runs, r->bytes / r->clusters };
	double hop = sp__costs_jump(c, &at, false, r->waits);

	if (t->device.path && result)
		return r->bytes * c->byte_s +
		       PATH_SWEEPS * t->device.away_s * r->clusters / r->waits +
		       t->device.seek_s * (c->sorts ? r->clusters : r->pages * (1 - 1.0 / r->runs));
	if (r->waits <= 1)
		hop += c->overhead_s[0];
	at.piece_bytes = t->plan->page_bytes;
	return r->bytes * c->run_byte_s + r->clusters * r->spread * hop +
	       (r->jumps > 0 ? r->jumps * sp__costs_jump(c, &at, false, r->nearest) : 0);
}

/*
 * How often an arm leaves reading to write some of n chunks that lie in sequence; of an array it
 * comes back for each stripe.
 */
static double changes(const struct sp__told_sort *t, double n, const struct reading *r,
		      double outstanding_bytes)
{
	double places = r->clusters + r->jumps, times = n * places / (n + places);

	return sp__costs_parted(&t->at, outstanding_bytes, t->chunk_bytes)
		       ? fmax(times, r->bytes / t->at.stripe_bytes)
		       : times;
}

/* An intermediate run. */
static double writing_s(const struct sp__told_sort *t, const struct reading *r, unsigned n,
			struct run *out)
{
	double k = sp__told_chunk_pages(t);
	double kept = fmax(floor(t->at.behind_bytes / t->plan->page_bytes), k);
	double chunks = r->pages / k;
	double hops = changes(t, chunks, r, SP__WRITER_CHUNKS * t->chunk_bytes);
	struct sp__sites at = { t->run_bytes, n, t->plan->page_bytes };
	double waits = SP__WRITER_CHUNKS - 1, share;

	out->bytes = r->bytes;
	out->pieces = 0;
	out->from = n;
	if ((int)out->level - 1 <= t->plan->recycle) {
		out->pieces = fmin(k, n) / k;
		share = pieces_kept(t, n, out);
		out->pieces *= share;
		hops = share * r->pages * pieces_of(kept, n) / kept + (1 - share) * hops;
		waits *= share * pieces_of(kept, n) + 1 - share;
	}
	return r->bytes * t->at.run_write_byte_s +
	       hops * sp__costs_jump(&t->at, &at, true, fmax(waits, 1));
}

/* Does a chunk of the result come too late for the place behind the one before? */
static bool late(const struct sp__told_sort *t, unsigned n)
{
	const struct sp__costs *c = &t->at;

	return c->tracks && t->chunk_bytes * c->byte_s <
				    c->overhead_s[1] + sp__told_merging_s(t, t->chunk_bytes, n);
}

/* Of the result that are outstanding. */
static double result_bytes(const struct sp__told_sort *t)
{
	return sp__buffers(t->plan->memory_bytes).writes * t->chunk_bytes;
}

/*
 * The result, if it lies on the device.  Late chunks go out two at a time, and nothing is read
 * meanwhile; else the drive reads before it turns to them.
 */
static double result_s(const struct sp__told_sort *t, struct reading *r)
{
	const struct sp__costs *c = &t->at;
	double chunks = r->bytes / t->chunk_bytes, hop = sp__costs_hop(c, t->bytes, true);
	double hops = changes(t, chunks, r, result_bytes(t));

	if (late(t, r->runs)) {
		hops = fmax(hops, chunks / 2);
		r->waits = fmax(r->waits / 2, 1);
	} else if (c->sorts) {
		hop -= c->turn_s / 2 - c->turn_s / (r->waits + 2);
	}
	return r->bytes * c->write_byte_s + hops * hop;
}

/*
 * The device's time for a merge.  Of an array some arms read while others write; none of the two
 * has more than its own.
 */
static double device_s(const struct sp__told_sort *t, struct reading *r, unsigned n,
		       struct run *out)
{
	double writing = 0, drives = t->at.drives, arms[2], reading;
	double outstanding = out ? SP__WRITER_CHUNKS * t->chunk_bytes : result_bytes(t);

	if (out)
		writing = writing_s(t, r, n, out);
	else if (t->at.out)
		writing = result_s(t, r);
	reading = reading_s(t, r, !out);
	arms[0] = r->arms;
	arms[1] = sp__costs_spread(&t->at, outstanding, t->chunk_bytes);
	return fmax(fmax(reading / arms[0], writing / arms[1]),
		    (reading + writing) / drives /
			    (1 - (1 - arms[0] / drives) * (1 - arms[1] / drives)));
}

/* The time of one merge; out: the run that it makes, or NULL for the result. */
static double merge_s(struct sp__told_sort *t, const struct run *in, unsigned n, struct run *out)
{
	double cpu, device, first;
	struct reading r;

	plan_reading(t, in, n, &r);
	cpu = sp__told_merging_s(t, r.bytes, n) +
	      sp__told_requests_s(t, r.bytes, t->plan->page_bytes);
	if (out || t->at.out)
		cpu += sp__told_requests_s(t, r.bytes, t->chunk_bytes);
	device = device_s(t, &r, n, out);
	if (r.strategy == SP_READ_NONE)
		return device + cpu;
	first = fmin(t->plan->merge_pages / r.pages, 1);
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
static int form(struct sp__told_sort *t, struct steps *s, uint64_t i)
{
	double left = t->bytes - (double)i * t->run_bytes;

	s->runs[i] = (struct run){ .bytes = fmin(t->run_bytes, left) };
	t->described += described(t, &s->runs[i]);
	return sp__policy_add(s->policy, (unsigned)i, (uint64_t)s->runs[i].bytes);
}

/* Its result takes the number of the first of those merged. */
static int merge(struct sp__told_sort *t, struct steps *s, unsigned n,
		 const struct sp__policy_step *step)
{
	struct run *out = &s->runs[s->ids[0]];

	for (unsigned i = 0; i < n; i++)
		s->in[i] = s->runs[s->ids[i]];
	out->level = step->level;
	t->seconds += merge_s(t, s->in, n, step->final ? NULL : out);
	for (unsigned i = 0; i < n; i++)
		t->described -= described(t, &s->in[i]);
	t->described += described(t, out);
	return step->final ? 0 : sp__policy_merged(s->policy, s->ids[0], (uint64_t)out->bytes);
}

static int follow(struct sp__told_sort *t, struct steps *s)
{
	struct sp__policy_step step = { 0 };
	uint64_t formed = 0;
	int rc = 0;

	while (!rc && !step.final) {
		unsigned n =
			sp__policy_next(s->policy, formed == s->n, s->ids, t->plan->fan_in, &step);

		if (!n && formed == s->n)
			break;
		rc = n ? merge(t, s, n, &step) : form(t, s, formed++);
	}
	return rc;
}

int sp__told_merges(struct sp__told_sort *t, uint64_t n)
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

static uint64_t expected_runs(const struct sp__told_sort *t)
{
	/* The first and the last run of replacement selection are short. */
	if (t->plan->formation == SP_FORM_REPLACEMENT)
		return (uint64_t)ceil(t->bytes / sp__replace_run_bytes(t->plan->run_bytes) + 0.5);
	return t->plan->runs;
}

int sp__foretell(const struct sp_sort_opts *o, bool keys, struct sp_sort_plan *plan,
		 struct sp_errinfo *err)
{
	uint64_t record = o->format.kind == SP_REC_FIXED ? o->format.fixed_bytes : o->record_bytes;
	struct sp__told_sort t = { .o = o,
				   .plan = plan,
				   .device = sp__plan_device(o),
				   .keys = keys,
				   .bytes = (double)plan->input_bytes,
				   .record_bytes = record ? (double)record : SP__PLAN_RECORD_BYTES,
				   .chunk_bytes = sp__buffers(plan->memory_bytes).chunk_bytes };
	uint64_t runs = expected_runs(&t);
	int rc = sp__costs(&t.at, &o->run, plan->input_bytes, err);

	if (rc < 0 || !plan->input_bytes || runs > SP__TOLD_RUNS || o->compress_program)
		return rc;
	t.run_bytes = t.bytes / (double)(runs ? runs : 1);
	if (plan->placement != SP_PLACE_CONTIGUOUS)
		sp__costs_place(&t.at, plan->page_bytes,
				plan->placement == SP_PLACE_SEMISEQ ? (unsigned)runs : 1);
	t.seconds = plan->in_memory ? sp__told_in_memory_s(&t) : sp__told_in_runs_s(&t);
	rc = plan->in_memory ? 0 : sp__told_merges(&t, runs);
	if (rc < 0)
		return sp__err(err, rc, "allocate", NULL, -1);
	plan->cluster_reads = t.clusters;
	if (t.at.simulated && t.at.byte_s > 0)
		plan->seconds = t.seconds;
	return 0;
}
