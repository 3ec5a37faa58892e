/* SPDX-License-Identifier: MIT */
/*
 * Builds the objects that the documents of all operators share, and the document of an index.
 */
#include <spindle/index.h>
#include "report/doc.h"

static const struct sp_report_field sim_fields[] = {
	FIELD(run_stats, "requests", COUNT, sim_requests, "reads and writes issued by the program"),
	FIELD(run_stats, "dispatched", COUNT, sim_dispatched,
	      "requests received by the device, after merging and splitting"),
	FIELD(run_stats, "dispatched_reads", COUNT, sim_dispatched_reads,
	      "reads among the requests received by the device"),
	FIELD(run_stats, "merges", COUNT, sim_merges, "requests merged into another one"),
	FIELD(run_stats, "transfers", COUNT, sim_transfers,
	      "pages transferred between page cache and device; without a page cache, blocks"),
	FIELD(run_stats, "seeks", COUNT, sim_seeks,
	      "requests of the device that did not begin where the previous one ended"),
	FIELD(run_stats, "io_time_ns", COUNT, sim_io_time_ns, "time in which the device was busy"),
	FIELD(run_stats, "cpu_time_ns", COUNT, sim_cpu_time_ns, "time charged for computation"),
	{ 0 },
};

const struct sp_report_field sp__used_fields[] = {
	GROUP("io", OBJECT, NULL, "requests for inputs, temporary data and output together"),
	FIELD(run_stats, "io.engine", TEXT, engine, "I/O engine of temporary data"),
	FIELD(run_stats, "io.input_engine", TEXT, input_engine, "I/O engine of the inputs"),
	FIELD(run_stats, "io.read_requests", COUNT, read_requests, "read requests"),
	FIELD(run_stats, "io.read_bytes", COUNT, read_bytes, "bytes of the read requests"),
	FIELD(run_stats, "io.write_requests", COUNT, write_requests, "write requests"),
	FIELD(run_stats, "io.write_bytes", COUNT, write_bytes, "bytes of the write requests"),
	GROUP("memory", OBJECT, NULL, "memory of the process"),
	FIELD(run_stats, "memory.limit_bytes", COUNT, memory_limit_bytes, "limit in force"),
	FIELD(run_stats, "memory.peak_bytes", COUNT, memory_peak_bytes, "maximum resident memory"),
	GROUP("spill", OBJECT, NULL, "temporary data"),
	FIELD(run_stats, "spill.read_bytes", COUNT, spill_read_bytes, "bytes read"),
	FIELD(run_stats, "spill.write_bytes", COUNT, spill_write_bytes, "bytes written"),
	FIELD(run_stats, "spill.peak_bytes", COUNT, spill_peak_bytes, "maximum space in use"),
	GROUP("result", OBJECT, NULL, "results of the run"),
	ELEMENTS(run_stats, "result.no_effect", ARRAY, no_effects.list, no_effects.n,
		 sp__no_effect_fields, "options that had no effect", .optional = true),
	GROUP("sim", OBJECT, sim_fields,
	      "simulated machine; if there is one, all times of the report are virtual",
	      .optional = true),
	{ 0 },
};

void sp__report_used(struct sp__doc doc, const struct sp_run_stats *s)
{
	sp__doc_fields(doc, sp__used_fields, s);
	if (s->simulated)
		sp__doc_fields(sp__doc_object(doc, "sim"), sim_fields, s);
}

static const struct sp_report_field prediction_fields[] = {
	MEMBER(prediction, POSITIVE, transfer_s_per_mib,
	       "measured write time of temporary data per MiB; null: not measured"),
	MEMBER(prediction, POSITIVE, read_s_per_mib,
	       "measured read time of temporary data per MiB; null: not measured"),
	MEMBER(prediction, POSITIVE, seek_s,
	       "measured time of a read at another offset; null: not measured"),
	FIELD(prediction, "early_elapsed_s", POSITIVE, early_s,
	      "duration predicted when a quarter of the input had been read; null: not predicted"),
	FIELD(prediction, "elapsed_s", POSITIVE, seconds, "predicted duration of the whole run"),
	FIELD(prediction, "revised_elapsed_s", POSITIVE, revised_s,
	      "duration predicted again early in the last phase; null: the phase was too short"),
	{ 0 },
};

const struct sp_report_field sp__predicted_fields[] = {
	GROUP("prediction", OBJECT, prediction_fields,
	      "prediction made when runs were formed or inputs were partitioned", .optional = true),
	{ 0 },
};

void sp__report_prediction(struct sp__doc doc, const struct sp_prediction *f)
{
	if (f->seconds > 0)
		sp__doc_fields(sp__doc_object(doc, "prediction"), prediction_fields, f);
}

struct sp_report *sp_report_run(const char *schema, const char *tool,
				const struct sp_report_field *fields, const void *result,
				const struct sp_run_stats *run)
{
	struct sp__doc doc = sp__report_named(schema, tool), r = sp__doc_object(doc, "result");

	sp__doc_fields(r, fields, result);
	sp__doc_real(r, "elapsed_s", run->elapsed_s);
	sp__report_used(doc, run);
	return sp__report_done(doc);
}

const struct sp_report_field sp__phase_fields[] = {
	LATER("name", TEXT, "name of the phase"),
	LATER("elapsed_s", REAL, "duration of the phase"),
	{ 0 },
};

void sp__report_phases(struct sp__doc doc, const char *const *names, int n, const double *elapsed_s,
		       const double *cpu_s)
{
	json_t *array = sp__doc_array(doc, "phases");

	for (int i = 0; i < n; i++) {
		struct sp__doc phase = sp__doc_element(doc, array);

		sp__doc_text(phase, "name", names[i]);
		sp__doc_real(phase, "elapsed_s", elapsed_s[i]);
		if (cpu_s)
			sp__doc_real(phase, "cpu_s", cpu_s[i]);
	}
}

const struct sp_report_field sp__io_config_fields[] = {
	LATER("engine", TEXT, "requested I/O engine"),
	MEMBER(run_opts, WORD, direct, "direct I/O", .values = sp_direct_values),
	LATER("decompress", TEXT,
	      "format of compressed inputs; auto: by their magic numbers; null: not compressed"),
	MEMBER(run_opts, WORD, compress_output,
	       "format of the compressed output; null: not compressed", .values = sp_packed_values),
	MEMBER(run_opts, COUNT, compress_level,
	       "level of the output's compression; 0: the default"),
	{ 0 },
};

void sp__report_io_config(struct sp__doc config, const struct sp_run_opts *run)
{
	sp__doc_text(config, "engine", run->engine ? run->engine : "auto");
	sp__doc_text(config, "decompress",
		     run->decompress == SP_PACKED_AUTO ? "auto" : sp_packed_name(run->decompress));
}

static const struct sp_report_field group_fields[] = {
	MEMBER(group_stats, COUNT, records, "records read, without the headers"),
	MEMBER(group_stats, COUNT, input_bytes, "bytes of these records"),
	MEMBER(group_stats, COUNT, groups, "groups"),
	MEMBER(group_stats, COUNT, output_records, "rows written, without the header, or records"),
	MEMBER(group_stats, COUNT, output_bytes, "bytes written"),
	MEMBER(group_stats, COUNT, output_files, "files of --split that are complete"),
	MEMBER(group_stats, COUNT, skipped, "records left out by --skip-invalid"),
	MEMBER(group_stats, COUNT, filtered, "records left out by --where"),
	MEMBER(group_stats, COUNT, blank_lines, "blank lines left out"),
	MEMBER(group_stats, COUNT, partials,
	       "partial totals that the tables of the threads gave to the sort"),
	MEMBER(group_stats, COUNT, tables_emptied, "times that a full table did so"),
	MEMBER(group_stats, COUNT, spilled_runs, "runs of partial totals in temporary space"),
	MEMBER(group_stats, COUNT, threads, "threads that read the inputs, at most"),
	{ 0 },
};

const struct sp_report_field sp__group_document[] = {
	GROUP("result", OBJECT, group_fields, "results of the command"),
	LATER("result.elapsed_s", REAL, "duration of the command"),
	GROUP("phases", LIST, sp__phase_fields, "phases in the order of the work"),
	INCLUDE(sp__used_fields),
	{ 0 },
};

struct sp_report *sp_report_group(const struct sp_group_stats *stats)
{
	static const char *const phases[SP_GROUP_PHASES] = {
		[SP_GROUP_READ] = "read", [SP_GROUP_COMBINE] = "combine"
	};
	struct sp__doc doc = sp__report_new(SP__DOC_GROUP), result = sp__doc_object(doc, "result");

	sp__doc_fields(result, group_fields, stats);
	sp__doc_real(result, "elapsed_s", stats->run.elapsed_s);
	sp__report_phases(doc, phases, SP_GROUP_PHASES, stats->phase_elapsed_s, NULL);
	sp__report_used(doc, &stats->run);
	return sp__report_done(doc);
}

static const struct sp_report_field group_plan_fields[] = {
	MEMBER(group_plan, KNOWN, input_bytes,
	       "bytes of the inputs; null: unknown, and so is the "
	       "rest but for the memory"),
	MEMBER(group_plan, KNOWN, records, "records of the inputs; null: unknown"),
	MEMBER(group_plan, KNOWN, groups, "groups of all records; null: unknown"),
	MEMBER(group_plan, COUNT, sample_records, "records of the sample"),
	MEMBER(group_plan, COUNT, sample_groups, "groups of the sample"),
	MEMBER(group_plan, COUNT, threads, "threads that read the inputs"),
	MEMBER(group_plan, COUNT, max_threads,
	       "threads as requested, or one for each processor, as far as there is memory"),
	MEMBER(group_plan, COUNT, tables_bytes, "memory for the tables of all threads"),
	MEMBER(group_plan, COUNT, sort_bytes, "memory for the sort of partial totals"),
	MEMBER(group_plan, KNOWN, rows_bytes, "memory for the sort of rows; null: there is none"),
	MEMBER(group_plan, KNOWN, source_bytes, "memory for reading a table; null: there is none"),
	MEMBER(group_plan, KNOWN, partials,
	       "partial totals that tables give to the sort; null: unknown"),
	MEMBER(group_plan, KNOWN, partial_bytes, "bytes of these; null: unknown"),
	LATER("in_memory", BOOL, "true if no temporary files are expected; null: unknown"),
	MEMBER(group_plan, KNOWN, spill_bytes,
	       "maximum temporary space for partial totals; null: none, or unknown"),
	MEMBER(group_plan, KNOWN, rows_spill_bytes,
	       "maximum temporary space for the sort of rows; null: none, or unknown"),
	{ 0 },
};

const struct sp_report_field sp__group_plan_document[] = {
	GROUP("plan", OBJECT, group_plan_fields, "plan of the grouping"),
	{ 0 },
};

struct sp_report *sp_report_group_plan(const struct sp_group_plan *plan)
{
	struct sp__doc doc = sp__report_new(SP__DOC_GROUP_PLAN), p = sp__doc_object(doc, "plan");

	sp__doc_fields(p, group_plan_fields, plan);
	if (plan->input_bytes)
		sp__doc_bool(p, "in_memory", plan->in_memory);
	else
		sp__doc_null(p, "in_memory");
	return sp__report_done(doc);
}

static const struct sp_report_field index_fields[] = {
	MEMBER(index_stats, COUNT, keys,
	       "keys looked up; of an index that was built or checked, its different keys"),
	MEMBER(index_stats, COUNT, found, "keys looked up that have a record"),
	MEMBER(index_stats, COUNT, records, "records indexed, checked or matching"),
	MEMBER(index_stats, COUNT, levels, "levels of the index"),
	MEMBER(index_stats, COUNT, pages, "pages of the index"),
	MEMBER(index_stats, COUNT, nodes_read, "nodes that lookups read from the file"),
	MEMBER(index_stats, COUNT, nodes_in_memory,
	       "nodes that lookups found in memory or already requested"),
	{ 0 },
};

const struct sp_report_field sp__index_document[] = {
	GROUP("result", OBJECT, index_fields, "results of the command"),
	LATER("result.elapsed_s", REAL, "duration of the command"),
	INCLUDE(sp__used_fields),
	{ 0 },
};

struct sp_report *sp_report_index(const struct sp_index_stats *stats)
{
	return sp_report_run(sp__documents[SP__DOC_INDEX].schema, sp__documents[SP__DOC_INDEX].tool,
			     index_fields, stats, &stats->run);
}
