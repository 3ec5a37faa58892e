/* SPDX-License-Identifier: MIT */
/*
 * Chooses policy, recycling and placement by the options, and the read-ahead strategy of a merge by
 * the formulas of Zhang & Larson, section 4.  Computes the costs and memory that follow.
 */
#include <math.h>
#include "base/enum.h"
#include "run/memory.h"
#include "run/volume_spec.h"
#include "sort/plan/plan.h"
#include "sort/plan/readplan.h"
#include "spill/writer.h"

double sp__plan_cluster_pages(enum sp_readahead strategy, unsigned runs, unsigned buffers)
{
	double n = runs, b = buffers;

	if (buffers < sp__readplan_min(strategy, runs))
		return 0;
	switch (strategy) {
	case SP_READ_DOUBLE:
		return b < 2 * n ? 1 : floor(b / (2 * n));
	case SP_READ_EQUAL:
		return b < 2 * n ? 1 : b / n - 1;
	case SP_READ_FORECAST:
		return floor(b / (n + 1));
	case SP_READ_EXTENDED:
		return b / (n + 2);
	case SP_READ_CLUSTER:
		return b / (n + 1);
	default:
		return 1;
	}
}

enum sp_readahead sp__plan_readahead(enum sp_readahead given, uint64_t pages, uint32_t page_bytes,
				     unsigned runs, unsigned buffers, bool sequence,
				     struct sp__device_costs device, struct sp_strategy_plan *table)
{
	struct sp_strategy_plan own[SP_READ_COUNT_], *all = table ? table : own;
	enum sp_readahead best = SP_READ_AUTO;

	all[SP_READ_AUTO] = (struct sp_strategy_plan){ 0 };
	for (enum sp_readahead s = SP_READ_NONE; s < SP_READ_COUNT_; s++) {
		struct sp_strategy_plan *p = &all[s];

		p->feasible = buffers >= sp__readplan_min(s, runs) &&
			      (sequence || !sp__readplan_needs_sequence(s));
		p->cluster_pages = sp__plan_cluster_pages(s, runs, buffers);
		/* At least one cluster for each run, for any memory. */
		p->cluster_reads =
			p->cluster_pages > 0 ? fmax((double)pages / p->cluster_pages, runs) : runs;
		p->seconds = device.transfer_s_per_mib * ((double)pages * page_bytes) / MIB +
			     device.seek_s * p->cluster_reads;
		if (p->feasible &&
		    (best == SP_READ_AUTO || p->seconds < all[best].seconds * (1 - 1e-9)))
			best = s;
	}
	if (given != SP_READ_AUTO)
		return given;
	/* Along the path many runs are read together, each when half of its pages are free. */
	if (device.path && all[SP_READ_DOUBLE].feasible)
		best = SP_READ_DOUBLE;
	return best == SP_READ_AUTO ? SP_READ_NONE : best;
}

SP__ENUM_TABLE(sp_run_formation, { "load", SP_FORM_LOAD }, { "replacement", SP_FORM_REPLACEMENT },
	       { "auto", SP_FORM_AUTO })
SP__ENUM_TABLE(sp_merge_policy, { "lazy", SP_MERGE_LAZY }, { "eager", SP_MERGE_EAGER },
	       { "polyphase", SP_MERGE_POLYPHASE }, { "mms", SP_MERGE_MMS },
	       { "ppms", SP_MERGE_PPMS }, { "auto", SP_MERGE_AUTO })
SP__ENUM_TABLE(sp_readahead, { "none", SP_READ_NONE }, { "double", SP_READ_DOUBLE },
	       { "equal", SP_READ_EQUAL }, { "forecast", SP_READ_FORECAST },
	       { "extended", SP_READ_EXTENDED }, { "cluster", SP_READ_CLUSTER },
	       { "auto", SP_READ_AUTO })
SP__ENUM_TABLE(sp_recycle, { "none", SP_RECYCLE_NONE }, { "all", SP_RECYCLE_ALL },
	       { "auto", SP_RECYCLE_AUTO })

/* Share of the memory for the input, and for the output, of several threads. */
#define BUFFERS_SHARE 16
/* A thread with less memory does not pay. */
#define WRITER_BYTES (512u << 10)
#define WRITER_PAGES 4	   /* pages of each of several writers, if memory allows */
#define WRITER_MIN_PAGES 2 /* minimum pages of each writer */
#define PART_CHUNK_MIN (16u << 10)
#define PART_CHUNK_MAX (1u << 20)
/* Chunks of a thread that reads parts; a device reaches its full speed with the maximum. */
#define PART_CHUNKS_MIN 2u
#define PART_CHUNKS_USUAL 4u
#define PART_CHUNKS_MAX 8u

enum sp_merge_policy sp__plan_policy(const struct sp_sort_opts *o)
{
	return o->policy == SP_MERGE_AUTO ? SP_MERGE_LAZY : o->policy;
}

enum sp_placement sp__plan_placement(const struct sp_sort_opts *o)
{
	/* Runs of unpredictable length cannot be adjacent on tracks. */
	if (o->run.placement == SP_PLACE_SEMISEQ && o->formation == SP_FORM_REPLACEMENT)
		return SP_PLACE_CONTIGUOUS;
	return o->run.placement;
}

struct sp__device_costs sp__plan_device(const struct sp_sort_opts *o)
{
	return sp__device_costs(o->run.geometry, sp__plan_placement(o) == SP_PLACE_SEMISEQ);
}

void sp__plan_threads(struct sp_sort_opts *o)
{
	/* Virtual time does not depend on the processors of the host. */
	if (sp__volume_spec_simulated(&o->run))
		return;
	o->run.parallel = sp__threads(o->run.parallel);
	/* More threads make no device quicker, but its requests shorter. */
	if (o->on_device)
		o->run.parallel = sp__min(o->run.parallel, sp__threads(0));
}

unsigned sp__plan_writers(const struct sp_sort_opts *o, uint64_t working_bytes)
{
	if (sp__volume_spec_simulated(&o->run) || o->compress_program ||
	    sp__plan_policy(o) != SP_MERGE_LAZY)
		return 1;
	return (unsigned)sp__max(sp__min(o->run.parallel, working_bytes / WRITER_BYTES), 1);
}

size_t sp__plan_spill_bytes(const struct sp_sort_opts *o, uint64_t working_bytes,
			    uint32_t page_bytes)
{
	size_t one = (size_t)sp__buffers(working_bytes).chunk_bytes * SP__WRITER_CHUNKS;
	size_t min = o->run.compression == SP_SPILL_RAW ? page_bytes : 2 * (size_t)page_bytes;
	unsigned writers = sp__plan_writers(o, working_bytes);

	one = sp__max(one, min);
	if (writers > 1)
		one = sp__max(one,
			      sp__min(writers * WRITER_PAGES * min, working_bytes / BUFFERS_SHARE));
	return one;
}

unsigned sp__plan_workers(const struct sp_sort_opts *o, const struct sp_sort_plan *p)
{
	const unsigned packed = o->run.compression == SP_SPILL_RAW ? 1 : 2;
	/* Input that is planned to stay in memory can need more than expected. */
	const uint64_t pages = packed * (p->in_memory ? 1 : WRITER_MIN_PAGES);
	uint64_t n = sp__min(sp__plan_writers(o, p->memory_bytes), p->run_buffers);

	if (p->formation != SP_FORM_LOAD)
		return 1;
	/* Each can hold a long record, in its stream and with its key in a run buffer. */
	n = sp__min(n, p->memory_bytes / (SP__LONG_RECORDS * o->record_bytes + 1));
	n = sp__min(n, sp__plan_spill_bytes(o, p->memory_bytes, p->page_bytes) /
			       (pages * p->page_bytes));
	return (unsigned)sp__max(n, 1);
}

struct sp__chunks_plan sp__plan_part_chunks(const struct sp_sort_opts *o, uint64_t working_bytes)
{
	size_t each = working_bytes / BUFFERS_SHARE / sp__plan_writers(o, working_bytes);
	size_t bytes = sp__min(each / PART_CHUNKS_USUAL, PART_CHUNK_MAX) & ~(size_t)4095;

	bytes = sp__max(bytes, PART_CHUNK_MIN);
	return (struct sp__chunks_plan){
		bytes, (unsigned)sp__max(sp__min(each / bytes, PART_CHUNKS_MAX), PART_CHUNKS_MIN)
	};
}
