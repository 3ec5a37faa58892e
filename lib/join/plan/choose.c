/* SPDX-License-Identifier: MIT */
/*
 * Chooses the algorithm for SP_JOIN_AUTO from options and sizes.
 *
 * Algorithm: if there is an index, and index nested loops are predicted to be faster than reading
 * both files, they join.  Files that seem sorted are merged.  All others are joined by hashing;
 * partitions are sorted before they are written, if that saves more than it writes.
 */
#include "base/err.h"
#include "base/minmax.h"
#include "join/plan/plan.h"
#include "run/costs.h"
#include "run/volume_spec.h"
#include "sim/fsmap.h"
#include "sim/machine.h"
#include "spill/writer.h"

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
		return refuse(err,
			      "index nested loops with an index of file 1 find no records of it "
			      "that lack a partner, nor each once");
	if (o->index[1] && !o->index[0] && o->unpaired[1])
		return refuse(err,
			      "index nested loops with an index of file 2 find no records of it "
			      "that lack a partner");
	if (!is_inner(o, 0) && !is_inner(o, 1))
		return refuse(err, "index nested loops cannot do this type of join");
	if (o->nthen && (!o->pairs || o->unpaired[0] || o->unpaired[1]))
		return refuse(err, "further files can only be joined to pairs");
	if (o->nthen && o->fixed_bytes[0])
		return refuse(err, "further files have lines or CSV records");
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
	if (o->nkeys > 1 || o->fixed_bytes[0] || o->collated)
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

enum sp_join_algorithm sp__join_choose(const struct sp_join_opts *o,
				       const struct sp__join_layout *l, struct sp_join_plan *plan)
{
	if (sp__is_inl(o->algorithm) || o->algorithm == SP_JOIN_MERGE)
		return o->algorithm;
	if (sp__inl_pays(o, &plan->index_s, &plan->hash_s))
		return SP_JOIN_ASYNC_INL;
	return sp__join_merges(o, l) ? SP_JOIN_MERGE : sp__join_choice(o, l);
}
