/* SPDX-License-Identifier: MIT */
/*
 * The documents of a sort.  The keys are a contract: spindle-report(5) tells
 * what each means, and tests/golden/ holds the list.
 */
#include <math.h>
#include "report/report_run.h"

static const char tool[] = "xsort";

static const char *const phase_names[SP_SORT_PHASES] = {
	[SP_PHASE_RUN_FORMATION] = "run_formation", [SP_PHASE_MERGE] = "merge"
};

static const struct sp_report_field strategy_fields[] = {
	LATER("name"),
	LATER("chosen"),
	FIELD(strategy_plan, "feasible", BOOL, feasible),
	FIELD(strategy_plan, "cluster_reads", REAL, cluster_reads),
	FIELD(strategy_plan, "cluster_pages", REAL, cluster_pages),
	FIELD(strategy_plan, "merge_s", REAL, seconds),
	{ 0 },
};

static void put_strategies(struct sp__doc doc, const struct sp_strategy_plan *strategies,
			   enum sp_readahead chosen)
{
	json_t *array = sp__doc_array(doc, "strategies");

	for (int i = SP_READ_NONE; i < SP_READ_COUNT_; i++) {
		struct sp__doc row = sp__doc_element(doc, array);

		sp__doc_fields(row, strategy_fields, &strategies[i]);
		sp__doc_text(row, "name", sp_readahead_name(i));
		sp__doc_bool(row, "chosen", (int)chosen == i);
	}
}

static const struct sp_report_field plan_fields[] = {
	FIELD(sort_plan, "memory_bytes", COUNT, memory_bytes),
	FIELD(sort_plan, "input_bytes", KNOWN, input_bytes),
	FIELD(sort_plan, "in_memory", BOOL, in_memory),
	FIELD(sort_plan, "run_formation", WORD, formation, .name = sp_run_formation_name),
	FIELD(sort_plan, "merge_policy", WORD, policy, .name = sp_merge_policy_name),
	FIELD(sort_plan, "readahead", WORD, readahead, .name = sp_readahead_name),
	FIELD(sort_plan, "recycle", WORD, recycle, .name = sp_recycle_name),
	FIELD(sort_plan, "placement", WORD, placement, .name = sp_placement_name),
	FIELD(sort_plan, "run_bytes", COUNT, run_bytes),
	FIELD(sort_plan, "run_buffers_count", COUNT, run_buffers),
	FIELD(sort_plan, "runs", KNOWN, runs),
	FIELD(sort_plan, "fan_in", COUNT, fan_in),
	FIELD(sort_plan, "merge_passes", COUNT, passes),
	FIELD(sort_plan, "page_bytes", COUNT, page_bytes),
	FIELD(sort_plan, "merge_bytes", COUNT, merge_bytes),
	FIELD(sort_plan, "merge_pages", COUNT, merge_pages),
	FIELD(sort_plan, "transfer_s_per_mb", REAL, transfer_s_per_mb),
	FIELD(sort_plan, "seek_s", REAL, seek_s),
	FIELD(sort_plan, "cluster_reads", POSITIVE, cluster_reads),
	FIELD(sort_plan, "spill_bytes", KNOWN, spill_bytes),
	/* Of an input of unknown size nothing can be foretold. */
	FIELD(sort_plan, "elapsed_s", POSITIVE, seconds),
	{ 0 },
};

static void put_plan(struct sp__doc doc, const struct sp_sort_plan *plan)
{
	struct sp__doc p = sp__doc_object(doc, "plan");

	sp__doc_fields(p, plan_fields, plan);
	if (plan->recycle >= 0 && plan->recycle < SP_RECYCLE_ALL)
		sp__doc_count(p, "recycle", (uint64_t)plan->recycle);
	put_strategies(p, plan->strategy, plan->readahead);
}

struct sp_report *sp_report_sort_plan(const struct sp_sort_plan *plan)
{
	struct sp__doc doc = sp__report_new("spindle.sort-plan/1", tool);

	put_plan(doc, plan);
	return sp__report_done(doc);
}

static void put_config(struct sp__doc doc, const struct sp_sort_opts *opts,
		       const struct sp_sort_io *io, const struct sp_sort_plan *plan)
{
	const struct sp_recfmt *format = &opts->format;
	struct sp__doc c = sp__doc_object(doc, "config");

	sp__doc_text(c, "format", sp_recfmt_name(format->kind));
	sp__doc_known(c, "record_bytes", format->kind == SP_REC_FIXED ? format->fixed_bytes : 0);
	sp__doc_bool(c, "zero_terminated", format->kind == SP_REC_LINE && !format->eol);
	sp__doc_count(c, "inputs_count", io->ninputs);
	sp__doc_text(c, "output", io->output);
	sp__doc_bool(c, "merge_only", io->merge);
	sp__doc_count(c, "header_records", io->header_records);
	sp__doc_bool(c, "unique", opts->unique);
	sp__doc_bool(c, "count", opts->count);
	sp__doc_known(c, "top", opts->top);
	sp__doc_count(c, "memory_bytes", opts->run.memory_bytes);
	sp__doc_names(c, "temporary_directories", opts->run.tmpdirs, opts->run.ntmpdirs);
	sp__doc_text(c, "volume", opts->run.volume);
	sp__doc_known(c, "parallel", opts->run.parallel);
	sp__report_engine(c, opts->run.engine, opts->run.direct);
	sp__report_packing(c, &opts->run);
	sp__doc_text(c, "spill_compression", sp_spill_compression_name(opts->run.compression));
	sp__doc_text(c, "compress_program", opts->compress_program);
	sp__doc_count(c, "seed", opts->run.seed);
	put_plan(c, plan);
}

static const struct sp_report_field result_fields[] = {
	FIELD(sort_stats, "result.records", COUNT, records),
	FIELD(sort_stats, "result.output_records", COUNT, output_records),
	FIELD(sort_stats, "result.input_bytes", COUNT, input_bytes),
	FIELD(sort_stats, "result.output_bytes", COUNT, output_bytes),
	FIELD(sort_stats, "result.resumed_bytes", COUNT, resumed_bytes),
	FIELD(sort_stats, "result.collapsed", COUNT, collapsed),
	FIELD(sort_stats, "result.runs", COUNT, runs),
	FIELD(sort_stats, "result.spilled_runs", COUNT, spilled_runs),
	FIELD(sort_stats, "result.merges", COUNT, merges),
	FIELD(sort_stats, "result.merge_passes", COUNT, merge_passes),
	FIELD(sort_stats, "result.merge_branches", COUNT, merge_branches),
	FIELD(sort_stats, "result.merge_parts", COUNT, merge_parts),
	FIELD(sort_stats, "result.elapsed_s", REAL, run.elapsed_s),
	FIELD(sort_stats, "comparison.runs.predicted", KNOWN, plan.runs),
	FIELD(sort_stats, "comparison.runs.measured", COUNT, runs),
	FIELD(sort_stats, "comparison.merge_passes.predicted", COUNT, plan.passes),
	FIELD(sort_stats, "comparison.merge_passes.measured", COUNT, merge_passes),
	LATER("comparison.cluster_reads.predicted"),
	FIELD(sort_stats, "comparison.cluster_reads.measured", COUNT, cluster_reads),
	FIELD(sort_stats, "comparison.elapsed_s.predicted", POSITIVE, plan.seconds),
	FIELD(sort_stats, "comparison.elapsed_s.measured", REAL, run.elapsed_s),
	{ 0 },
};

/* What the objects of sp__report_used() have besides. */
static const struct sp_report_field used_fields[] = {
	FIELD(sort_stats, "io.cluster_reads", COUNT, cluster_reads),
	FIELD(sort_stats, "io.demand_reads", COUNT, demand_reads),
	FIELD(sort_stats, "io.device_read_bytes", SIGNED, run.device_read_bytes),
	FIELD(sort_stats, "io.device_write_bytes", SIGNED, run.device_write_bytes),
	FIELD(sort_stats, "memory.charged_peak_bytes", COUNT, run.memory_charged_peak_bytes),
	FIELD(sort_stats, "memory.overrun_bytes", COUNT, run.memory_overrun_bytes),
	FIELD(sort_stats, "spill.recycled_bytes", COUNT, spill_recycled_bytes),
	FIELD(sort_stats, "spill.extents_count", COUNT, run.spill_regions),
	FIELD(sort_stats, "spill.region_bytes_mean", REAL, run.spill_region_bytes_mean),
	{ 0 },
};

/* What was settled when the last merge of spilled runs began. */
static void put_replan(struct sp__doc doc, const struct sp_sort_replan *p)
{
	if (!p->runs)
		return;
	sp__doc_count(doc, "replan.runs", p->runs);
	sp__doc_text(doc, "replan.readahead", sp_readahead_name(p->readahead));
	sp__doc_count(doc, "replan.merge_pages", p->merge_pages);
	put_strategies(sp__doc_object(doc, "replan"), p->strategy, p->readahead);
}

static void put_result(struct sp__doc doc, const struct sp_sort_stats *s)
{
	const struct sp_strategy_plan *chosen = s->replan.runs
							? &s->replan.strategy[s->replan.readahead]
							: &s->plan.strategy[s->plan.readahead];

	sp__doc_fields(doc, result_fields, s);
	/* A single merge was planned again when it began. */
	if (s->spilled_runs > 0 && s->merges > 1 && s->plan.cluster_reads > 0)
		sp__doc_real(doc, "comparison.cluster_reads.predicted", s->plan.cluster_reads);
	else if (s->spilled_runs > 0 && chosen->feasible)
		sp__doc_real(doc, "comparison.cluster_reads.predicted", chosen->cluster_reads);
}

struct sp_report *sp_report_sort(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
				 const struct sp_sort_stats *s)
{
	struct sp__doc doc = sp__report_new("spindle.sort/1", tool);

	put_config(doc, opts, io, &s->plan);
	sp__report_foretold(doc, &s->foretold);
	put_replan(doc, &s->replan);
	put_result(doc, s);
	sp__report_phases(doc, phase_names, SP_SORT_PHASES, s->phase_elapsed_s, s->phase_cpu_s);
	sp__report_used(doc, &s->run);
	sp__doc_fields(doc, used_fields, s);
	if (!s->run.spill_regions && s->run.spill_write_bytes) {
		sp__doc_null(doc, "spill.extents_count");
		sp__doc_null(doc, "spill.region_bytes_mean");
	}
	return sp__report_done(doc);
}
