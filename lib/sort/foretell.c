/* SPDX-License-Identifier: MIT */
/*
 * How long a sort on a simulated machine will take, and how many clusters it will read, from its
 * plan and from the mechanics of the drive.  No request is simulated: the merges are those that the
 * policy will order, and each is some bytes in sequence, some changes of place, and some
 * computation.
 *
 * Formation.  A run is filled, sorted and stored, one after the other; what the writer still has
 * under way is written beside the next run's computation.  The last chunk of a run goes out when
 * the next one is stored: the drive has been idle and waits for half a turn, and the chunk behind
 * it just misses its place, which costs a whole one.
 *
 * A merge reads as many clusters as the read plan needs (plan.c).  If it writes where it has read,
 * its pages lie in pieces, as does what reads them later: pieces_of().  Where pieces lie, and so
 * seek and angle between them, follows from the lengths of runs and the tracks (run/costs.h).  A
 * drive that sorts takes the nearest of those that wait: of double buffering's runs half have asked
 * at a time, of equal buffering's one in as many as it has pages; extended forecasting and
 * clustering are one cluster ahead.  A drive with a cache reads ahead in as many streams as it has
 * segments; a merge of n runs is n + 1 streams.
 *
 * Computation passes beside reading, except while the first pages come and after the last have.
 * Without read-ahead the two add up.
 *
 * Not looked at: page cache, file system, requests that are not merged, arrays beyond their t and
 * s, skewed input.  No constant was fitted to measurements, but which effects are here was found by
 * comparing on five drives: atlas10k3-like, barracuda4-like and cheetah36es-like; and for writes
 * that a drive keeps, ide300-like and ultrastar36lzx-like.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "run/costs.h"
#include "run/memory.h"
#include "sort/foretell.h"
#include "sort/plan_impl.h"
#include "sort/policy.h"
#include "sort/replace.h"
#include "spill/writer.h"

/*
 * Runs that are read together are at pages of two neighbouring offsets, each of which is a sweep
 * along the path that begins anywhere.
 */
#define PATH_SWEEPS 2
/* Steps of more runs are not followed one by one. */
#define MOST_RUNS 4096

struct told {
	struct sp__costs at;
	const struct sp_sort_opts *o;
	struct sp_sort_plan *plan;
	struct sp__plan_device device;
	bool keys;
	double bytes, record_bytes, chunk_bytes, run_bytes;
	double clusters, seconds; /* so far */
};

/* A run: its bytes, and how many of its pages begin a piece of their own. */
struct run {
	double bytes, pieces;
	unsigned level, from; /* from: runs that were merged into it */
};

static double merging_s(const struct told *t, double bytes, double runs)
{
	const struct sp__costs *c = &t->at;
	double records = bytes / t->record_bytes;

	return records * (c->record_s + c->compare_s * log2(fmax(runs, 2))) + bytes * c->copy_s;
}

/* Pages or chunks that are dealt with one at a time. */
static double requests_s(const struct told *t, double bytes, double each)
{
	return bytes / each * t->at.request_s;
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
	double jumps, nearest;	/* the same of pieces within clusters */
	unsigned runs;
	enum sp_readahead strategy;
};

static void plan_reading(struct told *t, const struct run *in, unsigned n, struct reading *r)
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

static double reading_s(const struct told *t, const struct reading *r, bool result)
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
	return r->bytes * c->run_byte_s + r->clusters * hop +
	       (r->jumps > 0 ? r->jumps * sp__costs_jump(c, &at, false, r->nearest) : 0);
}

/* An intermediate run. */
static double writing_s(const struct told *t, const struct reading *r, unsigned n, struct run *out)
{
	double k = fmax(floor(t->chunk_bytes / t->plan->page_bytes), 1);
	double kept = fmax(floor(t->at.behind_bytes / t->plan->page_bytes), k);
	double chunks = r->pages / k, hops = chunks * r->clusters / (chunks + r->clusters);
	struct sp__sites at = { t->run_bytes, n, t->plan->page_bytes };
	double waits = SP__WRITER_CHUNKS - 1;

	out->bytes = r->bytes;
	out->pieces = 0;
	out->from = n;
	if ((int)out->level - 1 <= t->plan->recycle) {
		out->pieces = pieces_of(k, n) / k;
		hops = r->pages * pieces_of(kept, n) / kept;
		waits *= pieces_of(kept, n);
	}
	return r->bytes * t->at.run_write_byte_s +
	       hops * sp__costs_jump(&t->at, &at, true, fmax(waits, 1));
}

/* Does a chunk of the result come too late for the place behind the one before? */
static bool late(const struct told *t, unsigned n)
{
	const struct sp__costs *c = &t->at;

	return c->tracks &&
	       t->chunk_bytes * c->byte_s < c->overhead_s[1] + merging_s(t, t->chunk_bytes, n);
}

/*
 * The result, if it lies on the device.  Late chunks go out two at a time, and nothing is read
 * meanwhile; else the drive reads before it turns to them.
 */
static double result_s(const struct told *t, struct reading *r)
{
	const struct sp__costs *c = &t->at;
	double chunks = r->bytes / t->chunk_bytes, hop = sp__costs_hop(c, t->bytes, true);
	double hops = chunks * r->clusters / (chunks + r->clusters);

	if (late(t, r->runs)) {
		hops = fmax(hops, chunks / 2);
		r->waits = fmax(r->waits / 2, 1);
	} else if (c->sorts) {
		hop -= c->turn_s / 2 - c->turn_s / (r->waits + 2);
	}
	return r->bytes * c->write_byte_s + hops * hop;
}

/* The time of one merge; out: the run that it makes, or NULL for the result. */
static double merge_s(struct told *t, const struct run *in, unsigned n, struct run *out)
{
	double cpu, device = 0, first;
	struct reading r;

	plan_reading(t, in, n, &r);
	cpu = merging_s(t, r.bytes, n) + requests_s(t, r.bytes, t->plan->page_bytes);
	if (out || t->at.out)
		cpu += requests_s(t, r.bytes, t->chunk_bytes);
	if (out)
		device = writing_s(t, &r, n, out);
	else if (t->at.out)
		device = result_s(t, &r);
	device += reading_s(t, &r, !out);
	if (r.strategy == SP_READ_NONE)
		return device + cpu;
	first = fmin(t->plan->merge_pages / r.pages, 1);
	return first * device + fmax(cpu, device) * (1 - first) + first * cpu;
}

/* An input on the device, in chunks of which some are asked for ahead. */
static double input_s(const struct told *t, double bytes)
{
	const struct sp__costs *c = &t->at;
	double each = t->chunk_bytes * sp__buffers(t->plan->memory_bytes).reads;

	return bytes * c->byte_s + (c->misses ? bytes / each * c->turn_s : 0);
}

static double formation_s(const struct told *t)
{
	const struct sp__costs *c = &t->at;
	double bytes = t->run_bytes, records = bytes / t->record_bytes;
	double fill = records * c->record_s + bytes * c->copy_s;
	double sort = records * log2(fmax(records, 2)) * c->compare_s;
	double write = bytes * c->run_write_byte_s, waits = 1.5 * c->turn_s + c->overhead_s[1];
	double store = bytes * c->copy_s + requests_s(t, bytes, t->chunk_bytes);

	/* Reading the input takes the arm away and back. */
	if (c->in) {
		fill += requests_s(t, bytes, t->chunk_bytes);
		fill = fmax(fill, input_s(t, bytes)) + sp__costs_hop(c, t->bytes, false);
		waits = sp__costs_hop(c, t->bytes, true) + c->turn_s + c->overhead_s[1];
	}
	if (c->behind_bytes > 0)
		waits = c->in ? sp__costs_hop(c, t->bytes, true) : 0;
	store +=
		write - fmin(SP__WRITER_CHUNKS * t->chunk_bytes * c->run_write_byte_s, fill + sort);
	return (fill + sort + store + waits) * t->bytes / bytes;
}

/*
 * Chunks go out as they are computed, and the one that the drive does not have in time costs a
 * turn, in which the writer's others and one more become ready.
 */
static double replacement_s(const struct told *t, double memory)
{
	const struct sp__costs *c = &t->at;
	double batch = (double)sp__replace_batch_bytes((size_t)memory);
	double records = t->bytes / t->record_bytes, cpu, device;
	double comparisons = log2(fmax(batch / t->record_bytes, 2)) + log2(fmax(memory / batch, 2));

	cpu = records * (2 * c->record_s + comparisons * c->compare_s) + 2 * t->bytes * c->copy_s +
	      requests_s(t, t->bytes, t->chunk_bytes);
	device = t->bytes * c->run_write_byte_s;
	if (!(c->behind_bytes > 0))
		device += t->bytes / t->chunk_bytes / (SP__WRITER_CHUNKS + 1) * c->turn_s;
	if (c->in)
		device += input_s(t, t->bytes) + t->bytes / batch *
							 (sp__costs_hop(c, t->bytes, false) +
							  sp__costs_hop(c, t->bytes, true));
	return fmax(cpu, device);
}

static double in_memory_s(struct told *t)
{
	const struct sp__costs *c = &t->at;
	double records = t->bytes / t->record_bytes;
	double fill = records * c->record_s + t->bytes * c->copy_s;
	double out = merging_s(t, t->bytes, 1);

	if (c->in)
		fill = fmax(fill, input_s(t, t->bytes)) + sp__costs_hop(c, 0, false);
	if (c->out)
		out = fmax(out, t->bytes * c->write_byte_s);
	return fill + records * log2(fmax(records, 2)) * c->compare_s + out;
}

/* Room for following a policy: number i is the run with that number. */
struct steps {
	struct sp__policy *policy;
	struct run *runs, *in;
	unsigned *ids;
	uint64_t n;
};

/* The next run is formed. */
static int form(const struct told *t, struct steps *s, uint64_t i)
{
	double left = t->bytes - (double)i * t->run_bytes;

	s->runs[i] = (struct run){ .bytes = fmin(t->run_bytes, left) };
	return sp__policy_add(s->policy, (unsigned)i, (uint64_t)s->runs[i].bytes);
}

/* Its result takes the number of the first of those merged. */
static int merge(struct told *t, struct steps *s, unsigned n, const struct sp__policy_step *step)
{
	struct run *out = &s->runs[s->ids[0]];

	for (unsigned i = 0; i < n; i++)
		s->in[i] = s->runs[s->ids[i]];
	out->level = step->level;
	t->seconds += merge_s(t, s->in, n, step->final ? NULL : out);
	return step->final ? 0 : sp__policy_merged(s->policy, s->ids[0], (uint64_t)out->bytes);
}

static int follow(struct told *t, struct steps *s)
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

static int merges(struct told *t, uint64_t n)
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

static uint64_t expected_runs(const struct told *t)
{
	/* The first and the last run of replacement selection are short. */
	if (t->plan->formation == SP_FORM_REPLACEMENT)
		return (uint64_t)ceil(t->bytes / sp__replace_run_bytes(t->plan->run_bytes) + 0.5);
	return t->plan->runs;
}

static double in_runs_s(struct told *t)
{
	return t->plan->formation == SP_FORM_LOAD ? formation_s(t)
						  : replacement_s(t, (double)t->plan->run_bytes);
}

int sp__foretell(const struct sp_sort_opts *o, bool keys, struct sp_sort_plan *plan,
		 struct sp_errinfo *err)
{
	uint64_t record = o->format.kind == SP_REC_FIXED ? o->format.fixed_bytes : o->record_bytes;
	struct told t = { .o = o,
			  .plan = plan,
			  .device = sp__plan_device(o),
			  .keys = keys,
			  .bytes = (double)plan->input_bytes,
			  .record_bytes = record ? (double)record : SP__PLAN_RECORD_BYTES,
			  .chunk_bytes = sp__buffers(plan->memory_bytes).chunk_bytes };
	uint64_t runs = expected_runs(&t);
	int rc = sp__costs(&t.at, &o->run, plan->input_bytes, err);

	if (rc < 0 || !plan->input_bytes || runs > MOST_RUNS || o->compress_program)
		return rc;
	t.run_bytes = t.bytes / (double)(runs ? runs : 1);
	if (plan->placement != SP_PLACE_CONTIGUOUS)
		sp__costs_place(&t.at, plan->page_bytes,
				plan->placement == SP_PLACE_SEMISEQ ? (unsigned)runs : 1);
	t.seconds = plan->in_memory ? in_memory_s(&t) : in_runs_s(&t);
	rc = plan->in_memory ? 0 : merges(&t, runs);
	if (rc < 0)
		return sp__err(err, rc, "allocate", NULL, -1);
	plan->cluster_reads = t.clusters;
	if (t.at.simulated && t.at.byte_s > 0)
		plan->seconds = t.seconds;
	return 0;
}
