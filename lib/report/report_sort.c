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

static void put_recycle(struct sp__doc doc, int recycle)
{
	if (recycle >= 0 && recycle < SP_RECYCLE_ALL)
		sp__doc_count(doc, "recycle", (uint64_t)recycle);
	else
		sp__doc_text(doc, "recycle", sp_recycle_name(recycle));
}

static void put_strategies(struct sp__doc doc, const struct sp_strategy_plan *strategies,
			   enum sp_readahead chosen)
{
	json_t *array = sp__doc_array(doc, "strategies");

	for (int i = SP_READ_NONE; i < SP_READ_COUNT_; i++) {
		const struct sp_strategy_plan *s = &strategies[i];
		struct sp__doc row = sp__doc_element(doc, array);

		sp__doc_text(row, "name", sp_readahead_name(i));
		sp__doc_bool(row, "chosen", (int)chosen == i);
		sp__doc_bool(row, "feasible", s->feasible);
		sp__doc_real(row, "cluster_reads", s->cluster_reads);
		sp__doc_real(row, "cluster_pages", s->cluster_pages);
		sp__doc_real(row, "merge_s", s->seconds);
	}
}

static void put_plan(struct sp__doc doc, const struct sp_sort_plan *plan)
{
	sp__doc_count(doc, "memory_bytes", plan->memory_bytes);
	sp__doc_known(doc, "input_bytes", plan->input_bytes);
	sp__doc_bool(doc, "in_memory", plan->in_memory);
	sp__doc_text(doc, "run_formation", sp_run_formation_name(plan->formation));
	sp__doc_text(doc, "merge_policy", sp_merge_policy_name(plan->policy));
	sp__doc_text(doc, "readahead", sp_readahead_name(plan->readahead));
	put_recycle(doc, plan->recycle);
	sp__report_placement(doc, plan->placement);
	sp__doc_count(doc, "run_bytes", plan->run_bytes);
	sp__doc_count(doc, "run_buffers_count", plan->run_buffers);
	sp__doc_known(doc, "runs", plan->runs);
	sp__doc_count(doc, "fan_in", plan->fan_in);
	sp__doc_count(doc, "merge_passes", plan->passes);
	sp__doc_count(doc, "page_bytes", plan->page_bytes);
	sp__doc_count(doc, "merge_bytes", plan->merge_bytes);
	sp__doc_count(doc, "merge_pages", plan->merge_pages);
	sp__doc_real(doc, "transfer_s_per_mb", plan->transfer_s_per_mb);
	sp__doc_real(doc, "seek_s", plan->seek_s);
	/* Of an input of unknown size nothing can be foretold. */
	sp__doc_real(doc, "elapsed_s", plan->seconds > 0 ? plan->seconds : NAN);
	put_strategies(doc, plan->strategy, plan->readahead);
}

struct sp_report *sp_report_sort_plan(const struct sp_sort_plan *plan)
{
	struct sp__doc doc;
	bool failed;
	struct sp_report *report = sp__report_new("spindle.sort-plan/1", tool, &failed, &doc);

	if (!report)
		return NULL;
	put_plan(sp__doc_object(doc, "plan"), plan);
	return sp__report_done(report, failed);
}

static void put_names(struct sp__doc doc, const char *key, const char *const *names, size_t n)
{
	json_t *array = sp__doc_array(doc, key), *name;

	for (size_t i = 0; i < n; i++) {
		name = json_string(names[i]);
		if (json_array_append_new(array, name ? name : json_string("(not UTF-8)")))
			*doc.failed = true;
	}
}

static void put_format(struct sp__doc doc, const struct sp_recfmt *format)
{
	sp__doc_text(doc, "format", sp_recfmt_name(format->kind));
	sp__doc_known(doc, "record_bytes", format->kind == SP_REC_FIXED ? format->fixed_bytes : 0);
	sp__doc_bool(doc, "zero_terminated", format->kind == SP_REC_LINE && !format->eol);
}

static void put_config(struct sp__doc doc, const struct sp_sort_opts *opts,
		       const struct sp_sort_io *io, const struct sp_sort_plan *plan)
{
	struct sp__doc c = sp__doc_object(doc, "config");

	put_format(c, &opts->format);
	sp__doc_count(c, "inputs_count", io->ninputs);
	sp__doc_text(c, "output", io->output);
	sp__doc_bool(c, "merge_only", io->merge);
	sp__doc_count(c, "header_records", io->header_records);
	sp__doc_bool(c, "unique", opts->unique);
	sp__doc_bool(c, "count", opts->count);
	sp__doc_known(c, "top", opts->top);
	sp__doc_count(c, "memory_bytes", opts->run.memory_bytes);
	put_names(c, "temporary_directories", opts->run.tmpdirs, opts->run.ntmpdirs);
	sp__doc_text(c, "volume", opts->run.volume);
	sp__doc_known(c, "parallel", opts->run.parallel);
	sp__report_engine(c, opts->run.engine, opts->run.direct);
	sp__doc_text(c, "spill_compression", sp_spill_compression_name(opts->run.compression));
	sp__doc_text(c, "compress_program", opts->compress_program);
	sp__doc_count(c, "seed", opts->run.seed);
	put_plan(sp__doc_object(c, "plan"), plan);
}

static const struct sp_report_field result_fields[] = {
	{ "records", SP_REPORT_COUNT, offsetof(struct sp_sort_stats, records) },
	{ "output_records", SP_REPORT_COUNT, offsetof(struct sp_sort_stats, output_records) },
	{ "input_bytes", SP_REPORT_COUNT, offsetof(struct sp_sort_stats, input_bytes) },
	{ "output_bytes", SP_REPORT_COUNT, offsetof(struct sp_sort_stats, output_bytes) },
	{ "runs", SP_REPORT_COUNT, offsetof(struct sp_sort_stats, runs) },
	{ "spilled_runs", SP_REPORT_COUNT, offsetof(struct sp_sort_stats, spilled_runs) },
	{ "merges", SP_REPORT_COUNT, offsetof(struct sp_sort_stats, merges) },
	{ "merge_passes", SP_REPORT_UNSIGNED, offsetof(struct sp_sort_stats, merge_passes) },
	{ "merge_branches", SP_REPORT_UNSIGNED, offsetof(struct sp_sort_stats, merge_branches) },
	{ "elapsed_s", SP_REPORT_REAL, offsetof(struct sp_sort_stats, run.elapsed_s) },
	{ 0 },
};

static const struct sp_report_field io_fields[] = {
	{ "cluster_reads", SP_REPORT_COUNT, offsetof(struct sp_sort_stats, cluster_reads) },
	{ "demand_reads", SP_REPORT_COUNT, offsetof(struct sp_sort_stats, demand_reads) },
	{ "device_read_bytes", SP_REPORT_SIGNED,
	  offsetof(struct sp_sort_stats, run.device_read_bytes) },
	{ "device_write_bytes", SP_REPORT_SIGNED,
	  offsetof(struct sp_sort_stats, run.device_write_bytes) },
	{ 0 },
};

static const struct sp_report_field memory_fields[] = {
	{ "charged_peak_bytes", SP_REPORT_COUNT,
	  offsetof(struct sp_sort_stats, run.memory_charged_peak_bytes) },
	{ "overrun_bytes", SP_REPORT_COUNT,
	  offsetof(struct sp_sort_stats, run.memory_overrun_bytes) },
	{ 0 },
};

/* What was settled when the last merge of spilled runs began. */
static void put_replan(struct sp__doc doc, const struct sp_sort_replan *p)
{
	struct sp__doc r;

	if (!p->runs)
		return;
	r = sp__doc_object(doc, "replan");
	sp__doc_count(r, "runs", p->runs);
	sp__doc_text(r, "readahead", sp_readahead_name(p->readahead));
	sp__doc_count(r, "merge_pages", p->merge_pages);
	put_strategies(r, p->strategy, p->readahead);
}

static void put_pair(struct sp__doc doc, const char *key, json_t *predicted, json_t *measured)
{
	struct sp__doc pair = sp__doc_object(doc, key);

	sp__doc_put(pair, "predicted", predicted);
	sp__doc_put(pair, "measured", measured);
}

/* Cluster reads are predicted for one merge of all runs that are left at last. */
static void put_comparison(struct sp__doc doc, const struct sp_sort_stats *s)
{
	const struct sp_sort_plan *p = &s->plan;
	const struct sp_strategy_plan *chosen = s->replan.runs
							? &s->replan.strategy[s->replan.readahead]
							: &p->strategy[p->readahead];
	struct sp__doc c = sp__doc_object(doc, "comparison");
	bool merged = s->spilled_runs > 0 && chosen->feasible;

	put_pair(c, "runs", p->runs ? json_integer((json_int_t)p->runs) : json_null(),
		 json_integer((json_int_t)s->runs));
	put_pair(c, "merge_passes", json_integer(p->passes), json_integer(s->merge_passes));
	put_pair(c, "cluster_reads", merged ? json_real(chosen->cluster_reads) : json_null(),
		 json_integer((json_int_t)s->cluster_reads));
	put_pair(c, "elapsed_s", p->seconds > 0 ? json_real(p->seconds) : json_null(),
		 json_real(s->run.elapsed_s));
}

static void put_spill(struct sp__doc spill, const struct sp_sort_stats *s)
{
	bool known = s->run.spill_regions > 0 || !s->run.spill_write_bytes;

	sp__doc_count(spill, "recycled_bytes", s->spill_recycled_bytes);
	sp__doc_put(spill, "extents_count",
		    known ? json_integer((json_int_t)s->run.spill_regions) : json_null());
	sp__doc_real(spill, "region_bytes_mean", known ? s->run.spill_region_bytes_mean : NAN);
}

struct sp_report *sp_report_sort(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
				 const struct sp_sort_stats *stats)
{
	struct sp__doc doc;
	bool failed;
	struct sp_report *report = sp__report_new("spindle.sort/1", tool, &failed, &doc);

	if (!report)
		return NULL;
	put_config(doc, opts, io, &stats->plan);
	put_replan(doc, &stats->replan);
	sp__doc_fields(sp__doc_object(doc, "result"), result_fields, stats);
	put_comparison(doc, stats);
	sp__report_phases(doc, phase_names, SP_SORT_PHASES, stats->phase_elapsed_s,
			  stats->phase_cpu_s);
	sp__doc_fields(sp__report_io(doc, &stats->run), io_fields, stats);
	sp__doc_fields(sp__report_memory(doc, &stats->run), memory_fields, stats);
	put_spill(sp__report_spill(doc, &stats->run), stats);
	if (stats->run.simulated)
		sp__report_sim(doc, &stats->run);
	return sp__report_done(report, failed);
}
