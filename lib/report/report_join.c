/* SPDX-License-Identifier: MIT */
/*
 * Builds the documents of a join.
 */
#include <stdlib.h>
#include <string.h>
#include "report/doc.h"

static const char *const phase_names[SP_JOIN_PHASES] = { [SP_JOIN_PHASE_BUILD] = "build_partition",
							 [SP_JOIN_PHASE_PROBE] = "probe_partition",
							 [SP_JOIN_PHASE_JOIN] = "join",
							 [SP_JOIN_PHASE_ORDER] = "order" };

/* Adds the key of file 0 or 1: numbers of fields, or their offsets. */
static void put_key(struct sp__doc doc, const char *name, const struct sp_join_opts *o, int file)
{
	json_t *array = sp__doc_array(doc, name);

	for (size_t i = 0; i < o->nkeys && !o->json; i++) {
		size_t k = o->keys[file][i];

		k = o->fixed_bytes[file] ? o->fields[k].offset : k + 1;
		sp__doc_append(doc, array, json_integer((json_int_t)k));
	}
}

/* Adds the paths of the key of file 0 or 1 as a list. */
static void put_paths(struct sp__doc doc, const char *name, const struct sp_join_opts *o, int file)
{
	char *list = NULL, *to;
	size_t bytes = 1;

	for (size_t i = 0; o->json && i < o->nkeys; i++)
		bytes += strlen(o->paths[file][i]) + 1;
	to = list = o->json ? malloc(bytes) : NULL;
	for (size_t i = 0; list && i < o->nkeys; i++) {
		if (i)
			*to++ = ',';
		to = stpcpy(to, o->paths[file][i]);
	}
	sp__doc_text(doc, name, list);
	free(list);
}

static const struct sp_report_field config_fields[] = {
	MEMBER(join_opts, WORD, algorithm, "requested algorithm",
	       .values = sp_join_algorithm_values),
	LATER("format", WORD, "format of the records", .values = sp_recfmt_values),
	LATER("record_1_bytes", COUNT, "length of a binary record of file 1; null: lines"),
	LATER("record_2_bytes", COUNT, "length of a binary record of file 2; null: lines"),
	LATER("zero_terminated", BOOL, "true if lines end with NUL"),
	LATER("input_1", TEXT, "file 1"),
	LATER("input_2", TEXT, "file 2"),
	LATER("output", TEXT, "output file; null: standard output"),
	LATER("key_1", COUNTS, "fields of the key in file 1; of binary records, their offsets"),
	LATER("key_2", COUNTS, "fields of the key in file 2; of binary records, their offsets"),
	LATER("paths_1", TEXT,
	      "JSON lines: paths of the key in file 1, separated by commas; null: other records"),
	LATER("paths_2", TEXT, "paths of the key in file 2"),
	MEMBER(join_opts, BOOL, ignore_case, "true if keys compare without regard to case"),
	MEMBER(join_opts, BOOL, pairs, "true if pairs are written"),
	MEMBER(join_opts, BOOL, semi, "true if records of file 1 with a partner are written once"),
	FIELD(join_opts, "unpaired_1", BOOL, unpaired[0],
	      "true if records of file 1 without a partner are written"),
	FIELD(join_opts, "unpaired_2", BOOL, unpaired[1],
	      "true if records of file 2 without a partner are written"),
	MEMBER(join_opts, KNOWN, ordered, "file in whose order the result is; null: in no order"),
	FIELD(join_opts, "index_1", STRING, index[0], "index of file 1; null: none"),
	FIELD(join_opts, "index_2", STRING, index[1], "index of file 2; null: none"),
	MEMBER(join_opts, KNOWN, max_outstanding,
	       "requested maximum of outstanding keys; null: the default"),
	FIELD(join_opts, "memory_bytes", COUNT, run.memory_bytes,
	      "memory limit of the whole process"),
	FIELD(join_opts, "join_memory_bytes", KNOWN, join_bytes,
	      "requested memory of the build input; null: the default"),
	FIELD(join_opts, "page_bytes", KNOWN, run.page_bytes,
	      "requested page size of temporary data; null: the default"),
	FIELD(join_opts, "volume", STRING, run.volume,
	      "volume of temporary data; null: directories"),
	FIELD(join_opts, "placement", WORD, run.placement, "placement of partitions",
	      .values = sp_placement_values),
	FIELD(join_opts, NULL, OBJECT, run, NULL, .fields = sp__io_config_fields),
	FIELD(join_opts, "seed", COUNT, run.seed, "seed of all random choices"),
	{ 0 },
};

static void put_config(struct sp__doc doc, const struct sp_join_opts *o,
		       const struct sp_join_io *io)
{
	struct sp__doc c = sp__doc_object(doc, "config");

	sp__doc_fields(c, config_fields, o);
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
	put_paths(c, "paths_1", o, 0);
	put_paths(c, "paths_2", o, 1);
	sp__report_io_config(c, &o->run);
}

static const struct sp_report_field result_fields[] = {
	MEMBER(join_stats, WORD, algorithm, "algorithm that ended the join",
	       .values = sp_join_algorithm_values),
	FIELD(join_stats, "merged_records_1", COUNT, merged_records[0],
	      "records of file 1 that auto merged, before disorder if there was any"),
	FIELD(join_stats, "merged_records_2", COUNT, merged_records[1],
	      "records of file 2 that auto merged, before disorder if there was any"),
	MEMBER(join_stats, WORD, ordered_by, "operation that ordered the result; null: in no order",
	       .values = sp_join_ordering_values),
	MEMBER(join_stats, COUNT, sort_runs, "sorted runs of the result in temporary space"),
	FIELD(join_stats, "records_1", COUNT, records[0], "records read of file 1"),
	FIELD(join_stats, "records_2", COUNT, records[1], "records read of file 2"),
	FIELD(join_stats, "input_1_bytes", COUNT, input_bytes[0], "bytes read of file 1"),
	FIELD(join_stats, "input_2_bytes", COUNT, input_bytes[1], "bytes read of file 2"),
	MEMBER(join_stats, COUNT, filtered, "records left out by --where"),
	MEMBER(join_stats, COUNT, output_records, "records written"),
	MEMBER(join_stats, COUNT, output_bytes, "bytes written"),
	FIELD(join_stats, "build_input", KNOWN, build,
	      "file that was read into memory first; null: files were merged"),
	MEMBER(join_stats, COUNT, partitions, "initial partitions of the build input"),
	MEMBER(join_stats, COUNT, spilled_partitions,
	       "partitions of the build input in temporary space, at any depth"),
	MEMBER(join_stats, REAL, resident_share,
	       "share of the build input that was never in temporary space"),
	FIELD(join_stats, "partition_groups", KNOWN, groups,
	      "series of pages of one partition written together by a sort-hash join; null: none"),
	FIELD(join_stats, "recursion_depth", COUNT, depth,
	      "maximum depth of a pair joined by a table; 0: none, 1: of the first partitions"),
	FIELD(join_stats, "role_reversals", COUNT, reversals,
	      "pairs of partitions that exchanged roles"),
	MEMBER(join_stats, COUNT, nested_blocks, "blocks of block nested loops"),
	MEMBER(join_stats, COUNT, filter_probes,
	       "records of the probe input whose partition was in temporary space"),
	MEMBER(join_stats, COUNT, filter_drops,
	       "filter probes without a partner, which were not written to temporary space"),
	FIELD(join_stats, "elapsed_s", REAL, run.elapsed_s, "duration of the join"),
	{ 0 },
};

static const struct sp_report_field inl_fields[] = {
	MEMBER(join_stats, COUNT, probes, "keys looked up"),
	MEMBER(join_stats, COUNT, index_reads, "requests for pages of indexes"),
	MEMBER(join_stats, COUNT, inner_records,
	       "records of the files with indexes that were needed"),
	MEMBER(join_stats, COUNT, inner_reads, "requests for these records"),
	MEMBER(join_stats, COUNT, inner_bytes, "bytes of these requests"),
	MEMBER(join_stats, COUNT, shared_records,
	       "records in blocks that were read for another record"),
	MEMBER(join_stats, COUNT, coalesced_records,
	       "records read in one request with the previous record and the gap between them"),
	MEMBER(join_stats, COUNT, batch, "maximum number of outstanding keys"),
	{ 0 },
};

static const struct sp_report_field sim_fields[] = {
	FIELD(run_stats, "sim.device_read_bytes", SIGNED, device_read_bytes,
	      "bytes read from the device"),
	FIELD(run_stats, "sim.device_write_bytes", SIGNED, device_write_bytes,
	      "bytes written to the device"),
	FIELD(run_stats, "sim.partition_regions", COUNT, spill_regions,
	      "contiguous extents of the partitions when both inputs were partitioned"),
	FIELD(run_stats, "sim.region_bytes_mean", REAL, spill_region_bytes_mean,
	      "mean size of these extents"),
	{ 0 },
};

const struct sp_report_field sp__join_document[] = {
	GROUP("config", OBJECT, config_fields, "options in effect"),
	GROUP("result", OBJECT, result_fields, "results of the join"),
	GROUP("index_loops", OBJECT, inl_fields, "sums over all indexes of index nested loops",
	      .optional = true),
	INCLUDE(sp__predicted_fields),
	GROUP("phases", LIST, sp__phase_fields, "phases in the order of the work"),
	INCLUDE(sp__used_fields),
	INCLUDE(sim_fields),
	{ 0 },
};

struct sp_report *sp_report_join(const struct sp_join_opts *opts, const struct sp_join_io *io,
				 const struct sp_join_stats *stats)
{
	struct sp__doc doc = sp__report_new(SP__DOC_JOIN);

	put_config(doc, opts, io);
	sp__doc_fields(sp__doc_object(doc, "result"), result_fields, stats);
	if (stats->algorithm == SP_JOIN_INL || stats->algorithm == SP_JOIN_ASYNC_INL)
		sp__doc_fields(sp__doc_object(doc, "index_loops"), inl_fields, stats);
	sp__report_prediction(doc, &stats->prediction);
	sp__report_phases(doc, phase_names, SP_JOIN_PHASES, stats->phase_elapsed_s, NULL);
	sp__report_used(doc, &stats->run);
	if (stats->run.simulated)
		sp__doc_fields(doc, sim_fields, &stats->run);
	return sp__report_done(doc);
}

static const struct sp_report_field plan_fields[] = {
	MEMBER(join_plan, WORD, algorithm, "algorithm of the join",
	       .values = sp_join_algorithm_values),
	MEMBER(join_plan, WORD, ordered_by, "operation that orders the result; null: in no order",
	       .values = sp_join_ordering_values),
	FIELD(join_plan, "build_input", COUNT, build, "file to be read into memory first"),
	MEMBER(join_plan, KNOWN, build_bytes, "length of this file; null: unknown"),
	MEMBER(join_plan, KNOWN, need_bytes,
	       "memory that its records need, in whole pages; null: unknown"),
	MEMBER(join_plan, COUNT, memory_bytes, "memory for its records, in whole pages"),
	MEMBER(join_plan, COUNT, page_bytes, "page size of temporary data"),
	MEMBER(join_plan, KNOWN, partitions,
	       "partitions by formula (1) of Wang and Cherniack; null: unknown"),
	MEMBER(join_plan, KNOWN, group_pages,
	       "pages of one partition written together by a sort-hash join, formula (2); null: "
	       "none"),
	FIELD(join_plan, "resident_partitions", COUNT, resident, "partitions that stay in memory"),
	FIELD(join_plan, "spilled_partitions", COUNT, spilled, "partitions in temporary space"),
	MEMBER(join_plan, REAL, resident_share, "share of the file in resident partitions"),
	FIELD(join_plan, "elapsed_s", POSITIVE, seconds,
	      "predicted duration on a simulated machine; null: unknown"),
	{ 0 },
};

static const struct sp_report_field thread_fields[] = {
	MEMBER(join_plan, COUNT, threads, "threads that have enough memory to probe or to merge",
	       .optional = true),
	MEMBER(join_plan, COUNT, max_threads, "threads as requested, or one for each processor",
	       .optional = true),
	{ 0 },
};

static const struct sp_report_field choice_fields[] = {
	MEMBER(join_plan, REAL, index_s, "predicted duration of index nested loops",
	       .optional = true),
	MEMBER(join_plan, REAL, hash_s, "predicted duration of a hash join", .optional = true),
	{ 0 },
};

const struct sp_report_field sp__join_plan_document[] = {
	GROUP("plan", OBJECT, plan_fields,
	      "plan of the join; without partitions, algorithm, elapsed_s and threads alone"),
	GROUP("plan", OBJECT, thread_fields, NULL),
	GROUP("plan", OBJECT, choice_fields, NULL),
	{ 0 },
};

struct sp_report *sp_report_join_plan(const struct sp_join_plan *plan)
{
	struct sp__doc doc = sp__report_new(SP__DOC_JOIN_PLAN);
	struct sp__doc p = sp__doc_object(doc, "plan");

	/* the plan of these is their name and the prediction */
	if (plan->algorithm == SP_JOIN_MERGE || plan->algorithm == SP_JOIN_INL ||
	    plan->algorithm == SP_JOIN_ASYNC_INL)
		sp__doc_text(p, "algorithm", sp_join_algorithm_name(plan->algorithm));
	else
		sp__doc_fields(p, plan_fields, plan);
	if (plan->algorithm == SP_JOIN_MERGE && plan->seconds > 0)
		sp__doc_real(p, "elapsed_s", plan->seconds);
	if (plan->max_threads)
		sp__doc_fields(p, thread_fields, plan);
	if (plan->index_s > 0)
		sp__doc_fields(p, choice_fields, plan);
	return sp__report_done(doc);
}
