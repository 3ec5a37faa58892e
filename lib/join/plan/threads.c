/* SPDX-License-Identifier: MIT */
/*
 * Computes how many threads have enough memory to probe or to merge.  A hash join has two ways
 * (hash/workers.c): copies of records in memory of the writers, and parts of a file, with memory
 * that the table does not use.
 */
#include "base/minmax.h"
#include "join/plan/plan.h"
#include "run/volume_spec.h"

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

void sp__join_plan_threads(const struct sp_join_opts *o, const struct sp__join_layout *l,
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
