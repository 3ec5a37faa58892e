/* SPDX-License-Identifier: MIT */
/*
 * Derives from the options alone: policy, recycling, placement, and the costs and memory that
 * follow.
 */
#include "base/minmax.h"
#include "run/memory.h"
#include "sort/plan/layout.h"
#include "spill/writer.h"

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

size_t sp__plan_spill_bytes(const struct sp_sort_opts *o, uint64_t working_bytes,
			    uint32_t page_bytes)
{
	size_t bytes = (size_t)sp__buffers(working_bytes).chunk_bytes * SP__WRITER_CHUNKS;
	size_t min = o->run.compression == SP_SPILL_RAW ? page_bytes : 2 * (size_t)page_bytes;

	return sp__max(bytes, min);
}
