/* SPDX-License-Identifier: MIT */
/* Opens the store of a join's temporary data, and counts its use. */
#include "base/host.h"
#include "join/space/space.h"

/* Requests outstanding in temporary space; a batch of gathered writes is a large one. */
#define DEPTH 64
#define DEPTH_GATHERED 1024

/* True if the simulated machine has a file system, where partitions are files. */
static bool has_files(const struct sp__join_inputs *in)
{
	return sp__env_file_system(in->env) && in->opts->run.placement == SP_PLACE_CONTIGUOUS;
}

/* True if all spilled data will be read again before the system would write it back. */
static bool fits_cache(const struct sp_join_opts *o)
{
	return o->input_bytes[0] && o->input_bytes[1] &&
	       o->input_bytes[0] + o->input_bytes[1] <= sp__host_unwritten();
}

int sp__joinspace_open(struct sp__spill **spill, const struct sp__join_inputs *in,
		       uint32_t page_bytes, uint64_t runs, bool buffered)
{
	struct sp__spill_opts o = sp__env_spilling(in->env);

	o.direct = in->read.direct;
	if (o.direct == SP__DIRECT_AUTO && (buffered || fits_cache(in->opts)))
		o.direct = SP__DIRECT_NEVER;
	o.page_bytes = page_bytes;
	o.recycle_level = 1;
	o.depth = o.placement ? DEPTH_GATHERED : DEPTH;
	o.budget = &in->env->budget;
	o.ahead = !in->env->device;
	o.apart = has_files(in);
	o.runs = runs;
	o.hops = SP_GEOMETRY_WRITE;
	return sp__spill_open(spill, &o);
}

void sp__joinspace_note(const struct sp__join_inputs *in, struct sp__spill *spill)
{
	if (!spill)
		return;
	sp__env_note_spill(in->env, &in->counts->stats.run, spill);
	/* The write-back of the result takes simulated time; temporary data must not add to it. */
	if (sp__env_writing(in->env).device)
		sp__spill_forget(spill);
}
