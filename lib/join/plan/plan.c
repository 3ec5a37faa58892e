/* SPDX-License-Identifier: MIT */
/*
 * Plans a join: its algorithm, which input builds, how both are partitioned, and its threads.
 *
 * Algorithm for SP_JOIN_AUTO: if there is an index, and index nested loops are predicted to be
 * faster than reading both files, they join.  Files that seem sorted are merged.  All others are
 * joined by hashing; partitions are sorted before they are written, if that saves more than it
 * writes.
 *
 * Threads: as many as have enough memory to probe or to merge.  A hash join has two ways
 * (hash/workers.c): copies of records in memory of the writers, and parts of a file, with memory
 * that the table does not use.
 */
#include "base/err.h"
#include "join/keys/keying.h"
#include "join/plan/plan.h"
#include "predict/costs.h"
#include "run/volume_spec.h"
#include "sim/fsmap.h"
#include "sim/machine.h"
#include "spill/writer.h"

/* Share of the writers' memory for copies. */
#define SHARE 4
#define STEP_MIN (UINT64_C(256) << 10)
#define STEP_CACHED (UINT64_C(1) << 20)

static unsigned wanted(const struct sp_run_opts *o)
{
	return (unsigned)sp__min(sp__threads(o->parallel), SP__JOIN_THREADS_MAX);
}

uint64_t sp__join_copies_bytes(const struct sp_join_opts *o, const struct sp__join_layout *l)
{
	uint64_t bytes = l->write_bytes / SHARE, rest = l->write_bytes - bytes;

	return wanted(&o->run) > 1 && bytes >= 2 * SP__JOIN_COPIES_MIN &&
			       rest >= sp__max(l->read_bytes, l->page_bytes * l->partitions_max)
		       ? bytes
		       : 0;
}

unsigned sp__join_copiers(const struct sp_join_opts *o, uint64_t copies_bytes)
{
	return (unsigned)sp__min(wanted(&o->run), copies_bytes / SP__JOIN_COPIES_MIN);
}

unsigned sp__join_probers(const struct sp_join_opts *o, uint64_t unused_bytes)
{
	struct sp__buffers b = sp__buffers(sp__working_memory(&o->run, o->run.memory_bytes));
	uint64_t streams = (uint64_t)(b.reads + b.writes) * b.chunk_bytes;

	return (unsigned)sp__min(wanted(&o->run), unused_bytes / (SP__JOIN_PROBER_BYTES + streams));
}

void sp__join_makers(const struct sp_run_opts *o, uint64_t input_bytes, struct sp__join_makers *m)
{
	uint64_t working = sp__working_memory(o, o->memory_bytes), each;
	struct sp__buffers b = sp__buffers(working);

	m->step = sp__max(STEP_MIN, sp__min(STEP_CACHED, working / 64));
	m->buffer_bytes = 2 * m->step;
	each = (2 * b.reads + b.writes) * (uint64_t)b.chunk_bytes + 2 * m->buffer_bytes +
	       SP__EMIT_BYTES + SP__JOIN_HOLD_BYTES;
	m->n = (unsigned)sp__min(wanted(o), sp__min(working / each, input_bytes / m->step));
}

static void plan_makers(const struct sp_join_opts *o, struct sp_join_plan *plan)
{
	struct sp__join_makers m;

	if (sp__join_format(o, 0).kind != SP_REC_LINE || o->run.direct > 0 || !o->input_bytes[0] ||
	    !o->input_bytes[1])
		return;
	sp__join_makers(&o->run, o->input_bytes[0] + o->input_bytes[1], &m);
	plan->max_threads = wanted(&o->run);
	plan->threads = sp__max(m.n, 1);
}

static void plan_probers(const struct sp_join_opts *o, const struct sp__join_layout *l,
			 struct sp_join_plan *plan)
{
	uint64_t copies = sp__join_copies_bytes(o, l), need = plan->need_bytes;
	unsigned n = 0;

	if (plan->ordered_by == SP_JOIN_BY_SORTING)
		return;
	if (copies && need && !plan->spilled && o->input_bytes[2 - plan->build] &&
	    sp__join_format(o, 0).kind != SP_REC_CSV)
		n = sp__join_probers(o, l->table_bytes - sp__min(need, l->table_bytes));
	plan->max_threads = wanted(&o->run);
	plan->threads = n > 1 ? n : sp__max(sp__join_copiers(o, copies), 1);
}

/* Sets the threads of a plan that is otherwise complete. */
static void plan_threads(const struct sp_join_opts *o, const struct sp__join_layout *l,
			 struct sp_join_plan *plan)
{
	plan->threads = plan->max_threads = 1;
	if (o->limited || sp__volume_spec_simulated(&o->run))
		return;
	if (plan->algorithm == SP_JOIN_MERGE)
		plan_makers(o, plan);
	else
		plan_probers(o, l, plan);
}

/* Index nested loops. */

static bool is_inner(const struct sp_join_opts *o, int side)
{
	return o->index[side] && !o->unpaired[side] && !(o->semi && !side);
}

int sp__inl_outer(const struct sp_join_opts *o)
{
	if (!is_inner(o, 1) || !is_inner(o, 0))
		return is_inner(o, 1) ? 0 : 1;
	return o->input_bytes[1] && o->input_bytes[1] < o->input_bytes[0] ? 1 : 0;
}

static int refuse(struct sp_errinfo *err, const char *reason)
{
	return sp__errf(err, SP_EUNSUP, "plan", NULL, -1, "%s", reason);
}

/* Checks the type of the join, the comparison of its keys, and the further files. */
int sp__inl_possible(const struct sp_join_opts *o, struct sp_errinfo *err)
{
	if (o->collated)
		return refuse(err, "an index does not compare as the locale does");
	if (o->index[0] && !o->index[1] && (o->unpaired[0] || o->semi))
		return refuse(err, "index nested loops with an index of file 1 cannot return its "
				   "unpaired records, or each of its records once");
	if (o->index[1] && !o->index[0] && o->unpaired[1])
		return refuse(err, "index nested loops with an index of file 2 cannot return its "
				   "unpaired records");
	if (!is_inner(o, 0) && !is_inner(o, 1))
		return refuse(err, "index nested loops cannot do this type of join");
	if (o->nthen && (!o->pairs || o->unpaired[0] || o->unpaired[1]))
		return refuse(err, "further files need a join type that returns pairs");
	if (o->nthen && o->fixed_bytes[0])
		return refuse(err, "further files must have lines or CSV records");
	if (o->nthen > SP_JOIN_FILES_MAX - 2)
		return refuse(err, "too many files");
	if (o->ordered && (int)o->ordered - 1 != sp__inl_outer(o))
		return refuse(err,
			      "index nested loops keep the order of the file without the index");
	return 0;
}

/*
 * Each probe reads a page of the index and a page of the inner file.  The number of outstanding
 * reads is ignored: it compensates for the pages of inner nodes, and for several matches.
 */
bool sp__inl_pays(const struct sp_join_opts *o, double *index_s, double *hash_s)
{
	const struct sp__device_costs d = sp__device_costs(o->run.geometry, false);
	const double mb = 1 << 20;
	int outer = sp__inl_outer(o), build = (int)sp__join_build(o) - 1;
	double all = (double)o->input_bytes[0] + (double)o->input_bytes[1];
	double share = 1, probes = (double)sp__join_records(o, outer);
	struct sp__join_layout l;

	*index_s = *hash_s = 0;
	if (o->algorithm != SP_JOIN_AUTO || sp__inl_possible(o, NULL) < 0)
		return false;
	if (!o->input_bytes[0] || !o->input_bytes[1] || sp__join_layout(o, &l, NULL) < 0)
		return false;
	if (o->limited && (double)o->limit < probes)
		share = (double)o->limit / probes;
	*index_s = share * (2 * probes * d.seek_s +
			    (double)o->input_bytes[outer] / mb * d.transfer_s_per_mib);
	*hash_s = all / mb * d.transfer_s_per_mib;
	if (sp__join_need(o->input_bytes[build], sp__join_records(o, build)) > l.table_bytes)
		*hash_s *= 3;
	return *index_s < *hash_s;
}

/* Merging. */

bool sp__join_mergeable(const struct sp_join_opts *o)
{
	if (o->nkeys > 1 || o->fixed_bytes[0] || o->collated || o->json)
		return false;
	return !o->types || (o->types[0].type == SP_KEY_TEXT && !o->types[0].fold);
}

bool sp__join_merges(const struct sp_join_opts *o, const struct sp__join_layout *l)
{
	bool alone = o->semi || o->unpaired[0] || o->unpaired[1];

	/* Held records are bytes, so a limit could not count them. */
	if (o->algorithm != SP_JOIN_AUTO || o->ordered || o->run.volume ||
	    o->sorted < SP_JOIN_SORTED_BYTES || !sp__join_mergeable(o) || (alone && o->limited))
		return false;
	/* A merge holds unpaired records in temporary space; hashing in memory does not. */
	return !alone || sp__join_need_of(o, (int)sp__join_build(o) - 1) > l->table_bytes;
}

/* Hashing. */

/* Smallest contiguous extent of a simulated file system, and its cache; 0: none. */
static void file_system(const struct sp_join_opts *o, uint64_t *piece_bytes, uint64_t *cache_bytes)
{
	const char *text = sp__volume_spec_machine_spec(&o->run);
	struct sp__machine_spec spec;

	*piece_bytes = *cache_bytes = 0;
	if (!text || sp__machine_spec_parse(&spec, text, NULL) < 0)
		return;
	*cache_bytes = spec.cache_bytes;
	if (spec.fs != SP__FS_NONE)
		*piece_bytes =
			(uint64_t)(spec.group_pages ? spec.group_pages : SP__FS_GROUP_PAGES) *
			spec.page_bytes;
}

/* Time to write bytes in extents of the given size, and to read them again. */
static double spill_s(const struct sp__device_costs *d, double bytes, double piece)
{
	return 2 * (bytes / (1 << 20) * d->transfer_s_per_mib + bytes / piece * d->seek_s);
}

/*
 * Compares the additional writes of SHJ over HYBRID, the share that would stay in memory, with its
 * saving: writing and reading in extents of G pages, if these are larger than the extents of
 * HYBRID's writers or of the file system.
 */
static bool sorting_pays(const struct sp_join_opts *o, const struct sp__join_layout *l)
{
	const struct sp__device_costs device = sp__device_costs(o->run.geometry, false);
	int build = (int)sp__join_build(o) - 1;
	double all = (double)o->input_bytes[0] + (double)o->input_bytes[1], row;
	uint64_t piece, cache, chunk, records = sp__join_records(o, build);
	const uint64_t probe_bytes = o->input_bytes[!build];
	struct sp__join_split hybrid, shj;

	file_system(o, &piece, &cache);
	/*
	 * Without a page cache in front of the device sorting does not pay: the output goes to one
	 * partition at a time, whose writer has only a few pages to overlap.
	 */
	if (!o->run.geometry || !o->input_bytes[0] || !o->input_bytes[1] ||
	    !(o->run.volume ? cache > 0 : o->run.direct <= 0))
		return false;
	sp__join_split(l, SP_JOIN_HYBRID, o->input_bytes[build], records, probe_bytes, &hybrid);
	sp__join_split(l, SP_JOIN_SHJ, o->input_bytes[build], records, probe_bytes, &shj);
	if (!hybrid.spilled || all <= (double)cache)
		return false;
	chunk = sp__min(l->write_bytes / (hybrid.resident + hybrid.spilled), l->writer_max) /
		SP__WRITER_CHUNKS;
	chunk = sp__max(sp__max(chunk, l->page_bytes), piece);
	row = (double)sp__join_formula2(shj.spilled, l->table_bytes / l->page_bytes) *
	      l->page_bytes;
	if (row <= (double)chunk)
		return false;
	return spill_s(&device, all, row) <
	       spill_s(&device, all * (1 - hybrid.share), (double)chunk);
}

enum sp_join_algorithm sp__join_choice(const struct sp_join_opts *o,
				       const struct sp__join_layout *l)
{
	if (o->algorithm != SP_JOIN_AUTO)
		return o->algorithm;
	return sorting_pays(o, l) ? SP_JOIN_SHJ : SP_JOIN_HYBRID;
}

/* All algorithms. */

/* The algorithm of a plan, and the times by which it was chosen. */
static enum sp_join_algorithm choose(const struct sp_join_opts *o, const struct sp__join_layout *l,
				     struct sp_join_plan *plan)
{
	if (sp__is_inl(o->algorithm) || o->algorithm == SP_JOIN_MERGE)
		return o->algorithm;
	if (sp__inl_pays(o, &plan->index_s, &plan->hash_s))
		return SP_JOIN_ASYNC_INL;
	return sp__join_merges(o, l) ? SP_JOIN_MERGE : sp__join_choice(o, l);
}

/* Plans the partitioning of both inputs. */
static void plan_partitions(const struct sp_join_opts *o, struct sp__join_layout *l,
			    struct sp_join_plan *plan)
{
	const int input = (int)plan->build - 1;
	uint64_t records = sp__join_records(o, input);
	struct sp__join_split split;

	if (o->ordered)
		plan->ordered_by =
			sp__join_sorts(o, l, input) ? SP_JOIN_BY_SORTING : SP_JOIN_BY_PROBING;
	if (plan->ordered_by == SP_JOIN_BY_SORTING)
		l->table_bytes -= l->order_bytes;
	plan->build_bytes = o->input_bytes[input];
	plan->need_bytes = sp__join_need(plan->build_bytes, records);
	plan->memory_bytes = l->table_bytes;
	plan->page_bytes = l->page_bytes;
	sp__join_split(l, plan->algorithm, plan->build_bytes, records, o->input_bytes[!input],
		       &split);
	plan->resident = split.resident;
	plan->spilled = split.spilled;
	plan->resident_share = split.share;
	if (!plan->build_bytes)
		return;
	plan->partitions = sp__join_formula1((plan->need_bytes + l->page_bytes - 1) / l->page_bytes,
					     l->table_bytes / l->page_bytes);
	plan->group_pages =
		sp__join_formula2(plan->algorithm == SP_JOIN_SHJ ? split.spilled : plan->partitions,
				  l->table_bytes / l->page_bytes);
}

int sp_join_plan(const struct sp_join_opts *opts, struct sp_join_plan *plan, struct sp_errinfo *err)
{
	struct sp_join_opts o = *opts;
	struct sp__join_layout l = { 0 };
	int rc = sp__volume_spec_check(&o.run, err);

	if (!rc && (o.fixed_bytes[0] || o.fixed_bytes[1]))
		rc = sp__binary_check(&o, err);
	if (!rc && o.algorithm != SP_JOIN_MERGE)
		rc = sp__join_layout(&o, &l, err);
	if (rc < 0)
		return rc;
	o.ordered = sp__join_ordered(opts);
	*plan = (struct sp_join_plan){ 0 };
	plan->algorithm = choose(&o, &l, plan);
	if (sp__is_inl(plan->algorithm))
		return 0;
	if (plan->algorithm != SP_JOIN_MERGE) {
		plan->build = sp__join_build(&o);
		plan_partitions(&o, &l, plan);
	}
	plan_threads(&o, &l, plan);
	return 0;
}
