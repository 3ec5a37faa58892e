/* SPDX-License-Identifier: MIT */
/*
 * The document of a join.  The keys are a contract: spindle-report(5) tells
 * what each means, and tests/golden/report-join.keys holds the list.
 */
#include "report/report_run.h"

static const char *const phase_names[SP_JOIN_PHASES] = { [SP_JOIN_PHASE_BUILD] = "build_partition",
							 [SP_JOIN_PHASE_PROBE] = "probe_partition",
							 [SP_JOIN_PHASE_JOIN] = "join",
							 [SP_JOIN_PHASE_ORDER] = "order" };

/* The key of file 0 or 1: numbers of fields, or where they begin. */
static void put_key(struct sp__doc doc, const char *name, const struct sp_join_opts *o, int file)
{
	json_t *array = sp__doc_array(doc, name);

	for (size_t i = 0; i < o->nkeys; i++) {
		size_t k = o->keys[file][i];

		k = o->fixed_bytes[file] ? o->fields[k].offset : k + 1;
		if (json_array_append_new(array, json_integer((json_int_t)k)))
			*doc.failed = true;
	}
}

static void put_config(struct sp__doc doc, const struct sp_join_opts *o,
		       const struct sp_join_io *io)
{
	struct sp__doc c = sp__doc_object(doc, "config");

	sp__doc_text(c, "algorithm", sp_join_algorithm_name(o->algorithm));
	sp__doc_text(c, "format",
		     sp_recfmt_name(o->fixed_bytes[0] ? SP_REC_FIXED
				    : o->csv	      ? SP_REC_CSV
						      : SP_REC_LINE));
	sp__doc_known(c, "record_1_bytes", o->fixed_bytes[0]);
	sp__doc_known(c, "record_2_bytes", o->fixed_bytes[1]);
	sp__doc_bool(c, "zero_terminated", !o->eol);
	sp__doc_text(c, "input_1", io->inputs[0]);
	sp__doc_text(c, "input_2", io->inputs[1]);
	sp__doc_text(c, "output", io->output);
	put_key(c, "key_1", o, 0);
	put_key(c, "key_2", o, 1);
	sp__doc_bool(c, "ignore_case", o->ignore_case);
	sp__doc_bool(c, "pairs", o->pairs);
	sp__doc_bool(c, "semi", o->semi);
	sp__doc_bool(c, "unpaired_1", o->unpaired[0]);
	sp__doc_bool(c, "unpaired_2", o->unpaired[1]);
	sp__doc_known(c, "ordered", o->ordered);
	sp__doc_count(c, "memory_bytes", o->run.memory_bytes);
	sp__doc_known(c, "join_memory_bytes", o->join_bytes);
	sp__doc_known(c, "page_bytes", o->run.page_bytes);
	sp__doc_text(c, "volume", o->run.volume);
	sp__report_placement(c, o->run.placement);
	sp__report_engine(c, o->run.engine, o->run.direct);
	sp__doc_count(c, "seed", o->run.seed);
}

static const struct sp_report_field merged_fields[] = {
	{ "merged_records_1", SP_REPORT_COUNT, offsetof(struct sp_join_stats, merged_records[0]) },
	{ "merged_records_2", SP_REPORT_COUNT, offsetof(struct sp_join_stats, merged_records[1]) },
	{ 0 },
};

static const struct sp_report_field record_fields[] = {
	{ "sort_runs", SP_REPORT_COUNT, offsetof(struct sp_join_stats, sort_runs) },
	{ "records_1", SP_REPORT_COUNT, offsetof(struct sp_join_stats, records[0]) },
	{ "records_2", SP_REPORT_COUNT, offsetof(struct sp_join_stats, records[1]) },
	{ "input_1_bytes", SP_REPORT_COUNT, offsetof(struct sp_join_stats, input_bytes[0]) },
	{ "input_2_bytes", SP_REPORT_COUNT, offsetof(struct sp_join_stats, input_bytes[1]) },
	{ "output_records", SP_REPORT_COUNT, offsetof(struct sp_join_stats, output_records) },
	{ "output_bytes", SP_REPORT_COUNT, offsetof(struct sp_join_stats, output_bytes) },
	{ 0 },
};

static const struct sp_report_field hash_fields[] = {
	{ "partitions", SP_REPORT_COUNT, offsetof(struct sp_join_stats, partitions) },
	{ "spilled_partitions", SP_REPORT_COUNT,
	  offsetof(struct sp_join_stats, spilled_partitions) },
	{ "resident_share", SP_REPORT_REAL, offsetof(struct sp_join_stats, resident_share) },
	{ "partition_groups", SP_REPORT_KNOWN, offsetof(struct sp_join_stats, groups) },
	{ "recursion_depth", SP_REPORT_UNSIGNED, offsetof(struct sp_join_stats, depth) },
	{ "role_reversals", SP_REPORT_COUNT, offsetof(struct sp_join_stats, reversals) },
	{ "nested_blocks", SP_REPORT_COUNT, offsetof(struct sp_join_stats, nested_blocks) },
	{ "filter_probes", SP_REPORT_COUNT, offsetof(struct sp_join_stats, filter_probes) },
	{ "filter_drops", SP_REPORT_COUNT, offsetof(struct sp_join_stats, filter_drops) },
	{ "elapsed_s", SP_REPORT_REAL, offsetof(struct sp_join_stats, run.elapsed_s) },
	{ 0 },
};

static void put_result(struct sp__doc doc, const struct sp_join_stats *s)
{
	struct sp__doc r = sp__doc_object(doc, "result");

	sp__doc_text(r, "algorithm", sp_join_algorithm_name(s->algorithm));
	sp__doc_fields(r, merged_fields, s);
	sp__doc_text(r, "ordered_by", sp_join_ordering_name(s->ordered_by));
	sp__doc_fields(r, record_fields, s);
	sp__doc_known(r, "build_input", s->build);
	sp__doc_fields(r, hash_fields, s);
}

static void put_sim(struct sp__doc doc, const struct sp_join_stats *s)
{
	struct sp__doc sim;

	if (!s->run.simulated)
		return;
	sim = sp__report_sim(doc, &s->run);
	sp__doc_count(sim, "device_read_bytes", (uint64_t)s->run.device_read_bytes);
	sp__doc_count(sim, "device_write_bytes", (uint64_t)s->run.device_write_bytes);
	sp__doc_count(sim, "partition_regions", s->run.spill_regions);
	sp__doc_real(sim, "region_bytes_mean", s->run.spill_region_bytes_mean);
}

struct sp_report *sp_report_join(const struct sp_join_opts *opts, const struct sp_join_io *io,
				 const struct sp_join_stats *stats)
{
	struct sp__doc doc;
	bool failed;
	struct sp_report *report = sp__report_new("spindle.join/1", "xjoin", &failed, &doc);

	if (!report)
		return NULL;
	put_config(doc, opts, io);
	put_result(doc, stats);
	sp__report_phases(doc, phase_names, SP_JOIN_PHASES, stats->phase_elapsed_s, NULL);
	sp__report_io(doc, &stats->run);
	sp__report_memory(doc, &stats->run);
	sp__report_spill(doc, &stats->run);
	put_sim(doc, stats);
	return sp__report_done(report, failed);
}

struct sp_report *sp_report_join_plan(const struct sp_join_plan *plan)
{
	struct sp__doc doc, p;
	bool failed;
	struct sp_report *report = sp__report_new("spindle.join-plan/1", "xjoin", &failed, &doc);

	if (!report)
		return NULL;
	p = sp__doc_object(doc, "plan");
	sp__doc_text(p, "algorithm", sp_join_algorithm_name(plan->algorithm));
	if (plan->algorithm == SP_JOIN_MERGE)
		return sp__report_done(report, failed);
	sp__doc_text(p, "ordered_by", sp_join_ordering_name(plan->ordered_by));
	sp__doc_count(p, "build_input", plan->build);
	sp__doc_known(p, "build_bytes", plan->build_bytes);
	sp__doc_known(p, "need_bytes", plan->need_bytes);
	sp__doc_count(p, "memory_bytes", plan->memory_bytes);
	sp__doc_count(p, "page_bytes", plan->page_bytes);
	sp__doc_known(p, "partitions", plan->partitions);
	sp__doc_known(p, "group_pages", plan->group_pages);
	sp__doc_count(p, "resident_partitions", plan->resident);
	sp__doc_count(p, "spilled_partitions", plan->spilled);
	sp__doc_real(p, "resident_share", plan->resident_share);
	return sp__report_done(report, failed);
}
