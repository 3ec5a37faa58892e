/* SPDX-License-Identifier: MIT */
/*
 * Builds the documents of a sort.
 */
#include "report/doc.h"

static const char *const phase_names[SP_SORT_PHASES] = {
	[SP_PHASE_RUN_FORMATION] = "run_formation", [SP_PHASE_MERGE] = "merge"
};

static const struct sp_report_field strategy_fields[] = {
	LATER("name", WORD, "name of the read-ahead strategy", .values = sp_readahead_values),
	LATER("chosen", BOOL, "true if the plan uses this strategy"),
	MEMBER(strategy_plan, BOOL, feasible, "true if there are enough buffers"),
	MEMBER(strategy_plan, REAL, cluster_reads,
	       "predicted cluster reads of one merge of all runs"),
	MEMBER(strategy_plan, REAL, cluster_pages, "mean pages per cluster"),
	FIELD(strategy_plan, "merge_s", REAL, seconds, "predicted duration of that merge"),
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
	MEMBER(sort_plan, COUNT, memory_bytes, "working memory: the limit without fixed overheads"),
	MEMBER(sort_plan, KNOWN, input_bytes, "size of the input; null: unknown"),
	MEMBER(sort_plan, BOOL, in_memory,
	       "true if the sort is expected to need no temporary space"),
	FIELD(sort_plan, "run_formation", WORD, formation, "method of run formation",
	      .values = sp_run_formation_values),
	FIELD(sort_plan, "merge_policy", WORD, policy, "order of the merges",
	      .values = sp_merge_policy_values),
	MEMBER(sort_plan, WORD, readahead, "read-ahead strategy of the merges",
	       .values = sp_readahead_values),
	MEMBER(sort_plan, LEVEL, recycle,
	       "merge levels whose consumed pages are reused: a name or the highest level",
	       .values = sp_recycle_values),
	MEMBER(sort_plan, WORD, placement, "placement of runs on a device with tracks",
	       .values = sp_placement_values),
	MEMBER(sort_plan, COUNT, run_bytes, "memory of one run buffer"),
	FIELD(sort_plan, "run_buffers_count", COUNT, run_buffers,
	      "run buffers that are filled, sorted and written alternately"),
	MEMBER(sort_plan, COUNT, threads, "threads that have enough memory to form runs"),
	MEMBER(sort_plan, COUNT, max_threads,
	       "threads as requested, or one for each processor; no more if a device is read"),
	MEMBER(sort_plan, KNOWN, runs, "expected runs of the input; null: unknown"),
	MEMBER(sort_plan, COUNT, fan_in, "runs merged concurrently"),
	FIELD(sort_plan, "merge_passes", COUNT, passes,
	      "number of times that each byte of temporary data is read"),
	MEMBER(sort_plan, COUNT, page_bytes, "page size of temporary data"),
	MEMBER(sort_plan, COUNT, merge_bytes, "read buffers of one merge"),
	MEMBER(sort_plan, COUNT, merge_pages, "read buffers of one merge, in pages"),
	MEMBER(sort_plan, REAL, transfer_s_per_mib, "modelled transfer time per MiB"),
	MEMBER(sort_plan, REAL, seek_s, "modelled time before each cluster"),
	MEMBER(sort_plan, POSITIVE, cluster_reads,
	       "expected cluster reads of all merges; null: none, or an input of unknown size"),
	MEMBER(sort_plan, KNOWN, spill_bytes,
	       "maximum temporary space; null: none, or an input of unknown size"),
	FIELD(sort_plan, "elapsed_s", POSITIVE, seconds,
	      "predicted duration of the sort; null: an input of unknown size"),
	LATER("strategies", LIST, "one object for each read-ahead strategy",
	      .fields = strategy_fields),
	{ 0 },
};

static void put_plan(struct sp__doc doc, const struct sp_sort_plan *plan)
{
	struct sp__doc p = sp__doc_object(doc, "plan");

	sp__doc_fields(p, plan_fields, plan);
	put_strategies(p, plan->strategy, plan->readahead);
}

const struct sp_report_field sp__sort_plan_document[] = {
	GROUP("plan", OBJECT, plan_fields, "plan of the sort"),
	{ 0 },
};

struct sp_report *sp_report_sort_plan(const struct sp_sort_plan *plan)
{
	struct sp__doc doc = sp__report_new(SP__DOC_SORT_PLAN);

	put_plan(doc, plan);
	return sp__report_done(doc);
}

static const struct sp_report_field config_fields[] = {
	LATER("format", WORD, "format of the records", .values = sp_recfmt_values),
	LATER("record_bytes", COUNT, "length of a fixed-length record"),
	LATER("zero_terminated", BOOL, "true if lines end with NUL"),
	LATER("inputs_count", COUNT, "number of inputs"),
	LATER("output", TEXT, "output file; null: standard output"),
	LATER("merge_only", BOOL, "true if sorted inputs were merged (-m)"),
	LATER("header_records", COUNT, "records at the start of each input that stay there"),
	MEMBER(sort_opts, BOOL, unique, "true if one record of each key is kept (-u)"),
	MEMBER(sort_opts, BOOL, count, "true if records of each key are counted (--count)"),
	MEMBER(sort_opts, KNOWN, top, "maximum number of records written; null: all"),
	FIELD(sort_opts, "memory_bytes", COUNT, run.memory_bytes,
	      "memory limit of the whole process"),
	LATER("temporary_directories", TEXTS, "directories of temporary data"),
	FIELD(sort_opts, "volume", STRING, run.volume,
	      "volume of temporary data; null: the directories"),
	FIELD(sort_opts, "parallel", KNOWN, run.parallel,
	      "threads: as requested, or 1 for small inputs; null: one for each processor"),
	FIELD(sort_opts, NULL, OBJECT, run, NULL, .fields = sp__io_config_fields),
	FIELD(sort_opts, "spill_compression", WORD, run.compression,
	      "compression of temporary data", .values = sp_spill_compression_values),
	MEMBER(sort_opts, STRING, compress_program,
	       "program that compresses temporary data; null: none"),
	FIELD(sort_opts, "seed", COUNT, run.seed, "seed of all random choices"),
	GROUP("plan", OBJECT, plan_fields, "plan made before the inputs were read"),
	{ 0 },
};

static void put_config(struct sp__doc doc, const struct sp_sort_opts *opts,
		       const struct sp_sort_io *io, const struct sp_sort_plan *plan)
{
	const struct sp_recfmt *format = &opts->format;
	struct sp__doc c = sp__doc_object(doc, "config");

	sp__doc_fields(c, config_fields, opts);
	sp__doc_text(c, "format", sp_recfmt_name(format->kind));
	sp__doc_known(c, "record_bytes", format->kind == SP_REC_FIXED ? format->fixed_bytes : 0);
	sp__doc_bool(c, "zero_terminated", format->kind == SP_REC_LINE && !format->eol);
	sp__doc_count(c, "inputs_count", io->ninputs);
	sp__doc_text(c, "output", io->output);
	sp__doc_bool(c, "merge_only", io->merge);
	sp__doc_count(c, "header_records", io->header_records);
	sp__doc_names(c, "temporary_directories", opts->run.tmpdirs, opts->run.ntmpdirs);
	sp__report_io_config(c, &opts->run);
	put_plan(c, plan);
}

static const struct sp_report_field result_fields[] = {
	GROUP("result", OBJECT, NULL, "results of the sort"),
	RESULT(sort_stats, COUNT, records, "records read"),
	RESULT(sort_stats, COUNT, filtered, "records left out by --where, not in the other counts"),
	RESULT(sort_stats, COUNT, skipped, "records left out by --skip-invalid, not in the others"),
	RESULT(sort_stats, COUNT, output_records, "records written"),
	RESULT(sort_stats, COUNT, input_bytes, "bytes read"),
	RESULT(sort_stats, COUNT, output_bytes, "bytes written"),
	RESULT(sort_stats, COUNT, resumed_bytes, "bytes of the input in runs that --resume found"),
	RESULT(sort_stats, COUNT, collapsed,
	       "records dropped or counted during run formation: another with their key was in "
	       "memory"),
	RESULT(sort_stats, COUNT, runs,
	       "runs formed from the input, in memory or in temporary space"),
	RESULT(sort_stats, COUNT, spilled_runs,
	       "runs written to temporary space, those of merges included"),
	RESULT(sort_stats, COUNT, merges, "merges, the final one included"),
	RESULT(sort_stats, COUNT, merge_passes, "maximum number of merges of one record"),
	RESULT(sort_stats, COUNT, merge_parts,
	       "ranges of the result that several threads merged; 0: one range"),
	FIELD(sort_stats, "result.elapsed_s", REAL, run.elapsed_s,
	      "time from the start of the sort to the complete output"),
	GROUP("comparison", OBJECT, NULL, "predicted and measured values"),
	GROUP("comparison.runs", OBJECT, NULL, "runs of the input"),
	FIELD(sort_stats, "comparison.runs.predicted", KNOWN, plan.runs, "value of the plan"),
	FIELD(sort_stats, "comparison.runs.measured", COUNT, runs, "value of the sort"),
	GROUP("comparison.merge_passes", OBJECT, NULL, "passes over temporary data"),
	FIELD(sort_stats, "comparison.merge_passes.predicted", COUNT, plan.passes,
	      "value of the plan"),
	FIELD(sort_stats, "comparison.merge_passes.measured", COUNT, merge_passes,
	      "value of the sort"),
	GROUP("comparison.cluster_reads", OBJECT, NULL, "cluster reads of all merges"),
	LATER("comparison.cluster_reads.predicted", REAL,
	      "value of the plan, or, of a single merge, of its plan when it began"),
	FIELD(sort_stats, "comparison.cluster_reads.measured", COUNT, cluster_reads,
	      "value of the sort"),
	GROUP("comparison.elapsed_s", OBJECT, NULL, "duration of the sort"),
	FIELD(sort_stats, "comparison.elapsed_s.predicted", POSITIVE, plan.seconds,
	      "value of the plan"),
	FIELD(sort_stats, "comparison.elapsed_s.measured", REAL, run.elapsed_s,
	      "value of the sort"),
	{ 0 },
};

/* Members of the objects of sp__report_used() that only a sort has. */
static const struct sp_report_field used_fields[] = {
	FIELD(sort_stats, "io.cluster_reads", COUNT, cluster_reads,
	      "maximal series of reads of one run, each of which begins where the last one ended"),
	FIELD(sort_stats, "io.demand_reads", COUNT, demand_reads,
	      "pages that a merge needed before the read plan had requested them"),
	FIELD(sort_stats, "io.device_read_bytes", SIGNED, run.device_read_bytes,
	      "bytes that the kernel read from devices for the process"),
	FIELD(sort_stats, "io.device_write_bytes", SIGNED, run.device_write_bytes,
	      "bytes that the kernel wrote to devices for the process"),
	FIELD(sort_stats, "memory.charged_peak_bytes", COUNT, run.memory_charged_peak_bytes,
	      "maximum charged to the budget"),
	FIELD(sort_stats, "memory.overrun_bytes", COUNT, run.memory_overrun_bytes,
	      "excess over the budget, of records larger than the budget"),
	FIELD(sort_stats, "spill.recycled_bytes", COUNT, spill_recycled_bytes,
	      "bytes written to space of merged runs"),
	FIELD(sort_stats, "spill.extents_count", COUNT, run.spill_regions,
	      "contiguous extents on the device; null: unknown"),
	FIELD(sort_stats, "spill.region_bytes_mean", REAL, run.spill_region_bytes_mean,
	      "mean size of these extents; null: unknown"),
	{ 0 },
};

static const struct sp_report_field replan_fields[] = {
	MEMBER(sort_replan, COUNT, runs, "runs of the merge"),
	MEMBER(sort_replan, WORD, readahead, "read-ahead strategy of the merge",
	       .values = sp_readahead_values),
	MEMBER(sort_replan, COUNT, merge_pages, "read buffers of the merge, in pages"),
	LATER("strategies", LIST, "one object for each read-ahead strategy",
	      .fields = strategy_fields),
	{ 0 },
};

/* Adds the plan that was made when the last merge of spilled runs began. */
static void put_replan(struct sp__doc doc, const struct sp_sort_replan *p)
{
	struct sp__doc replan;

	if (!p->runs)
		return;
	replan = sp__doc_object(doc, "replan");
	sp__doc_fields(replan, replan_fields, p);
	put_strategies(replan, p->strategy, p->readahead);
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

static const struct sp_report_field phase_fields[] = {
	INCLUDE(sp__phase_fields),
	LATER("cpu_s", REAL, "processor time of all threads"),
	{ 0 },
};

const struct sp_report_field sp__sort_document[] = {
	GROUP("config", OBJECT, config_fields, "options in effect"),
	INCLUDE(sp__predicted_fields),
	GROUP("replan", OBJECT, replan_fields,
	      "plan of the last merge of spilled runs, made when it began", .optional = true),
	INCLUDE(result_fields),
	GROUP("phases", LIST, phase_fields, "phases in the order of the work; they can overlap"),
	INCLUDE(sp__used_fields),
	INCLUDE(used_fields),
	{ 0 },
};

struct sp_report *sp_report_sort(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
				 const struct sp_sort_stats *s)
{
	struct sp__doc doc = sp__report_new(SP__DOC_SORT);

	put_config(doc, opts, io, &s->plan);
	sp__report_prediction(doc, &s->prediction);
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
