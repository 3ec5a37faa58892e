/* SPDX-License-Identifier: MIT */
/* Plans a join: its algorithm, which input builds, and how both are partitioned. */
#include "join/keys/keying.h"
#include "join/plan/plan.h"
#include "run/volume_spec.h"

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
	plan->algorithm = sp__join_choose(&o, &l, plan);
	if (sp__is_inl(plan->algorithm))
		return 0;
	if (plan->algorithm != SP_JOIN_MERGE) {
		plan->build = sp__join_build(&o);
		plan_partitions(&o, &l, plan);
	}
	sp__join_plan_threads(&o, &l, plan);
	return 0;
}
