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
		sp__doc_append(doc, array, json_integer((json_int_t)k));
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
	sp__doc_text(c, "index_1", o->index[0]);
	sp__doc_text(c, "index_2", o->index[1]);
	sp__doc_known(c, "max_outstanding", o->max_outstanding);
	sp__doc_count(c, "memory_bytes", o->run.memory_bytes);
	sp__doc_known(c, "join_memory_bytes", o->join_bytes);
	sp__doc_known(c, "page_bytes", o->run.page_bytes);
	sp__doc_text(c, "volume", o->run.volume);
	sp__doc_text(c, "placement", sp_placement_name(o->run.placement));
	sp__report_engine(c, o->run.engine, o->run.direct);
	sp__report_packing(c, &o->run);
	sp__doc_count(c, "seed", o->run.seed);
}

static const struct sp_report_field result_fields[] = {
	FIELD(join_stats, "algorithm", WORD, algorithm, .name = sp_join_algorithm_name),
	FIELD(join_stats, "merged_records_1", COUNT, merged_records[0]),
	FIELD(join_stats, "merged_records_2", COUNT, merged_records[1]),
	FIELD(join_stats, "ordered_by", WORD, ordered_by, .name = sp_join_ordering_name),
	FIELD(join_stats, "sort_runs", COUNT, sort_runs),
	FIELD(join_stats, "records_1", COUNT, records[0]),
	FIELD(join_stats, "records_2", COUNT, records[1]),
	FIELD(join_stats, "input_1_bytes", COUNT, input_bytes[0]),
	FIELD(join_stats, "input_2_bytes", COUNT, input_bytes[1]),
	FIELD(join_stats, "output_records", COUNT, output_records),
	FIELD(join_stats, "output_bytes", COUNT, output_bytes),
	FIELD(join_stats, "build_input", KNOWN, build),
	FIELD(join_stats, "partitions", COUNT, partitions),
	FIELD(join_stats, "spilled_partitions", COUNT, spilled_partitions),
	FIELD(join_stats, "resident_share", REAL, resident_share),
	FIELD(join_stats, "partition_groups", KNOWN, groups),
	FIELD(join_stats, "recursion_depth", COUNT, depth),
	FIELD(join_stats, "role_reversals", COUNT, reversals),
	FIELD(join_stats, "nested_blocks", COUNT, nested_blocks),
	FIELD(join_stats, "filter_probes", COUNT, filter_probes),
	FIELD(join_stats, "filter_drops", COUNT, filter_drops),
	FIELD(join_stats, "elapsed_s", REAL, run.elapsed_s),
	{ 0 },
};

static const struct sp_report_field inl_fields[] = {
	FIELD(join_stats, "index_loops.probes", COUNT, probes),
	FIELD(join_stats, "index_loops.index_reads", COUNT, index_reads),
	FIELD(join_stats, "index_loops.inner_records", COUNT, inner_records),
	FIELD(join_stats, "index_loops.inner_reads", COUNT, inner_reads),
	FIELD(join_stats, "index_loops.inner_bytes", COUNT, inner_bytes),
	FIELD(join_stats, "index_loops.shared_records", COUNT, shared_records),
	FIELD(join_stats, "index_loops.coalesced_records", COUNT, coalesced_records),
	FIELD(join_stats, "index_loops.batch", COUNT, batch),
	{ 0 },
};

static const struct sp_report_field sim_fields[] = {
	FIELD(run_stats, "sim.device_read_bytes", SIGNED, device_read_bytes),
	FIELD(run_stats, "sim.device_write_bytes", SIGNED, device_write_bytes),
	FIELD(run_stats, "sim.partition_regions", COUNT, spill_regions),
	FIELD(run_stats, "sim.region_bytes_mean", REAL, spill_region_bytes_mean),
	{ 0 },
};

struct sp_report *sp_report_join(const struct sp_join_opts *opts, const struct sp_join_io *io,
				 const struct sp_join_stats *stats)
{
	struct sp__doc doc = sp__report_new("spindle.join/1", "xjoin");

	put_config(doc, opts, io);
	sp__doc_fields(sp__doc_object(doc, "result"), result_fields, stats);
	if (stats->algorithm == SP_JOIN_INL || stats->algorithm == SP_JOIN_ASYNC_INL)
		sp__doc_fields(doc, inl_fields, stats);
	sp__report_foretold(doc, &stats->foretold);
	sp__report_phases(doc, phase_names, SP_JOIN_PHASES, stats->phase_elapsed_s, NULL);
	sp__report_used(doc, &stats->run);
	if (stats->run.simulated)
		sp__doc_fields(doc, sim_fields, &stats->run);
	return sp__report_done(doc);
}

static const struct sp_report_field plan_fields[] = {
	FIELD(join_plan, "algorithm", WORD, algorithm, .name = sp_join_algorithm_name),
	FIELD(join_plan, "ordered_by", WORD, ordered_by, .name = sp_join_ordering_name),
	FIELD(join_plan, "build_input", COUNT, build),
	FIELD(join_plan, "build_bytes", KNOWN, build_bytes),
	FIELD(join_plan, "need_bytes", KNOWN, need_bytes),
	FIELD(join_plan, "memory_bytes", COUNT, memory_bytes),
	FIELD(join_plan, "page_bytes", COUNT, page_bytes),
	FIELD(join_plan, "partitions", KNOWN, partitions),
	FIELD(join_plan, "group_pages", KNOWN, group_pages),
	FIELD(join_plan, "resident_partitions", COUNT, resident),
	FIELD(join_plan, "spilled_partitions", COUNT, spilled),
	FIELD(join_plan, "resident_share", REAL, resident_share),
	FIELD(join_plan, "elapsed_s", POSITIVE, seconds),
	{ 0 },
};

static const struct sp_report_field choice_fields[] = {
	FIELD(join_plan, "index_s", REAL, index_s),
	FIELD(join_plan, "hash_s", REAL, hash_s),
	{ 0 },
};

struct sp_report *sp_report_join_plan(const struct sp_join_plan *plan)
{
	struct sp__doc doc = sp__report_new("spindle.join-plan/1", "xjoin");
	struct sp__doc p = sp__doc_object(doc, "plan");

	/* The plan of these is their name, and what is foretold. */
	if (plan->algorithm == SP_JOIN_MERGE || plan->algorithm == SP_JOIN_INL ||
	    plan->algorithm == SP_JOIN_ASYNC_INL)
		sp__doc_text(p, "algorithm", sp_join_algorithm_name(plan->algorithm));
	else
		sp__doc_fields(p, plan_fields, plan);
	if (plan->algorithm == SP_JOIN_MERGE && plan->seconds > 0)
		sp__doc_real(p, "elapsed_s", plan->seconds);
	if (plan->index_s > 0)
		sp__doc_fields(p, choice_fields, plan);
	return sp__report_done(doc);
}
