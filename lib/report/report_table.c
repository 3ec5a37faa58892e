/* SPDX-License-Identifier: MIT */
/*
 * Builds the documents of tables, and of a run of clients on them.
 */
#include <spindle/table.h>
#include <spindle/tablerun.h>
#include "report/doc.h"

#define LATENCIES(of)                                                                              \
	FIELD(of, "transactions", COUNT, latencies.transactions,                                   \
	      "transactions that ended while the run was measured"),                               \
		FIELD(of, "transactions_per_s", REAL, latencies.per_s, "these per second"),        \
		FIELD(of, "latency_mean_ns", REAL, latencies.mean_ns,                              \
		      "mean duration of a transaction; null: none ended"),                         \
		FIELD(of, "latency_min_ns", COUNT, latencies.min_ns, "lowest duration"),           \
		FIELD(of, "latency_p50_ns", COUNT, latencies.p50_ns, "median duration"),           \
		FIELD(of, "latency_p90_ns", COUNT, latencies.p90_ns, "90th percentile"),           \
		FIELD(of, "latency_p99_ns", COUNT, latencies.p99_ns, "99th percentile"),           \
		FIELD(of, "latency_p999_ns", COUNT, latencies.p999_ns, "99.9th percentile"),       \
		FIELD(of, "latency_max_ns", COUNT, latencies.max_ns, "highest duration")

static const struct sp_report_field line_fields[] = {
	MEMBER(table_run_line, STRING, text, "the steps of the transaction"),
	MEMBER(table_run_line, REAL, weight, "its weight"),
	LATENCIES(table_run_line),
	{ 0 },
};

static const struct sp_report_field kind_fields[] = {
	MEMBER(table_run_kind, COUNT, clients, "clients of this kind"),
	MEMBER(table_run_kind, COUNT, think_ns, "time between two transactions of a client"),
	LATENCIES(table_run_kind),
	FIELD(table_run_kind, "starved", COUNT, nstarved, "clients that ended no transaction"),
	ELEMENTS(table_run_kind, "lines", LIST, lines, nlines, line_fields,
		 "the transactions that they make"),
	{ 0 },
};

static const struct sp_report_field run_config_fields[] = {
	FIELD(table_run_opts, "volume", STRING, run.volume, "simulated volume; null: none given"),
	FIELD(table_run_opts, "seed", COUNT, run.seed, "seed of all random choices"),
	FIELD(table_run_opts, "runtime_s", SECONDS, runtime_ns, "time to measure"),
	FIELD(table_run_opts, "ramp_s", SECONDS, ramp_ns, "time before it"),
	MEMBER(table_run_opts, COUNT, changed_bytes,
	       "changed cells that stay in memory; 0: changes are made through the journal"),
	{ 0 },
};

static const struct sp_report_field result_fields[] = {
	RESULT(table_run_result, REAL, measured_s, "time that was measured"),
	RESULT(table_run_result, BOOL, stopped, "true if the run was ended early"),
	RESULT(table_run_result, COUNT, requests, "reads and writes of that time"),
	RESULT(table_run_result, COUNT, request_bytes, "bytes of these requests"),
	FIELD(table_run_result, "result.elapsed_s", REAL, stats.run.elapsed_s,
	      "duration of the whole run"),
	FIELD(table_run_result, "result.records_read", COUNT, stats.records_read,
	      "records read by scans, gets and updates in the whole run"),
	FIELD(table_run_result, "result.records_written", COUNT, stats.records_written,
	      "records inserted, changed or deleted in the whole run"),
	ELEMENTS(table_run_result, "kinds", LIST, kinds, nkinds, kind_fields,
		 "one object for each kind of client"),
	{ 0 },
};

const struct sp_report_field sp__table_run_document[] = {
	GROUP("config", OBJECT, run_config_fields, "the run"),
	INCLUDE(sp__used_fields),
	INCLUDE(sp__pool_fields),
	INCLUDE(result_fields),
	{ 0 },
};

struct sp_report *sp_report_table_run(const struct sp_table_run_opts *opts,
				      const struct sp_table_run_result *result)
{
	struct sp__doc doc = sp__report_new(SP__DOC_TABLE_RUN);

	sp__doc_fields(sp__doc_object(doc, "config"), run_config_fields, opts);
	sp__report_used(doc, &result->stats.run);
	sp__doc_fields(doc, sp__pool_fields, &result->stats);
	sp__doc_fields(doc, result_fields, result);
	return sp__report_done(doc);
}

static const struct sp_report_field group_fields[] = {
	MEMBER(table_group, STRING, columns, "names of its columns, with commas between them"),
	MEMBER(table_group, BOOL, rows,
	       "true if a cell has record after record, false if it has column after column"),
	MEMBER(table_group, COUNT, record_bytes, "bytes of a record in its cells"),
	MEMBER(table_group, COUNT, cell_records, "maximum number of records of a cell"),
	MEMBER(table_group, COUNT, cells, "cells of an A-page"),
	{ 0 },
};

#define GROUPS                                                                                     \
	ELEMENTS(table_info, "column_groups", LIST, groups, ngroups, group_fields,                 \
		 "column groups: columns that share cells")

static const struct sp_report_field config_fields[] = {
	LATER("command", TEXT, "command of xtable"),
	MEMBER(table_info, WORD, layout, "division of columns into column groups",
	       .values = sp_table_layout_values),
	GROUPS,
	MEMBER(table_info, COUNT, cell_bytes, "size of a cell"),
	MEMBER(table_info, COUNT, records, "records of the table, deleted ones included"),
	MEMBER(table_info, WORD, placement, "order of the cells on the device",
	       .values = sp_placement_values),
	MEMBER(table_info, STRING, volume, "simulated volume; null: none"),
	LATER("access", WORD, "requested way to find records; null: a command without a choice",
	      .values = sp_table_access_values),
	{ 0 },
};

const struct sp_report_field sp__pool_fields[] = {
	GROUP("pool", OBJECT, NULL, "frames of the buffer pool; all 0: no pool"),
	FIELD(table_stats, "pool.frames", COUNT, pool.frames, "frames"),
	FIELD(table_stats, "pool.frame_bytes", COUNT, pool.frame_bytes, "bytes of a frame"),
	FIELD(table_stats, "pool.lookups", COUNT, pool.lookups, "lookups of a frame"),
	FIELD(table_stats, "pool.hits", COUNT, pool.hits, "lookups that found one"),
	FIELD(table_stats, "pool.misses", COUNT, pool.misses, "lookups that did not"),
	FIELD(table_stats, "pool.full_fetches", COUNT, pool.full_fetches,
	      "misses that read all column groups"),
	FIELD(table_stats, "pool.refused", COUNT, pool.refused,
	      "misses after which no frame was read: gets, or none was free"),
	FIELD(table_stats, "pool.invalidated", COUNT, pool.invalidated,
	      "A-pages that changes removed from frames"),
	FIELD(table_stats, "pool.schema_changes", COUNT, pool.schema_changes,
	      "changes of the page schemas by queries that began or ended"),
	FIELD(table_stats, "pool.held_bytes", COUNT, pool.held_bytes,
	      "bytes of the cells in frames at the end"),
	FIELD(table_stats, "pool.useful_bytes", COUNT, pool.useful_bytes,
	      "those of column groups that were looked up, without copies"),
	{ 0 },
};

static const struct sp_report_field stats_fields[] = {
	RESULT(table_stats, COUNT, records_read, "records whose values were examined"),
	RESULT(table_stats, COUNT, records_matched, "records that the command selected"),
	RESULT(table_stats, COUNT, records_written, "records loaded, appended, changed or deleted"),
	RESULT(table_stats, COUNT, input_bytes, "bytes of text or records read"),
	RESULT(table_stats, COUNT, output_bytes, "bytes of text or records printed"),
	RESULT(table_stats, COUNT, cells_read, "cells of the table read"),
	RESULT(table_stats, COUNT, cells_written, "cells of the table written"),
	RESULT(table_stats, COUNT, pages_skipped, "A-pages that bounds excluded"),
	RESULT(table_stats, COUNT, keys, "keys or record numbers looked up"),
	RESULT(table_stats, COUNT, keys_found, "those that have a record"),
	RESULT(table_stats, BOOL, exact,
	       "after load and append: true if a scan of all columns gives the bytes of the "
	       "input; after convert: true if no record was left out"),
	FIELD(table_stats, "result.elapsed_s", REAL, run.elapsed_s, "duration of the command"),
	FIELD(table_stats, "io.requests", COUNT, requests, "requests for cells of the table"),
	FIELD(table_stats, "io.bytes", COUNT, bytes, "bytes of these requests"),
	GROUP("prediction", OBJECT, NULL, "prediction made before the command began"),
	FIELD(table_stats, "prediction.requests", KNOWN, predicted_requests,
	      "predicted requests for cells; null: not predicted"),
	FIELD(table_stats, "prediction.bytes", KNOWN, predicted_bytes,
	      "predicted bytes of these requests; null: not predicted"),
	FIELD(table_stats, "prediction.elapsed_s", POSITIVE, predicted_s,
	      "predicted duration; null: not predicted"),
	GROUP("journal", OBJECT, NULL, "cells written twice, first to the journal"),
	FIELD(table_stats, "journal.cells", COUNT, journal_cells,
	      "cells that went through the journal"),
	FIELD(table_stats, "journal.bytes", COUNT, journal_bytes, "bytes of the journal"),
	INCLUDE(sp__pool_fields),
	{ 0 },
};

const struct sp_report_field sp__table_document[] = {
	GROUP("config", OBJECT, config_fields, "the command and the table"),
	INCLUDE(sp__used_fields),
	INCLUDE(stats_fields),
	{ 0 },
};

struct sp_report *sp_report_table(const char *command, const struct sp_table_info *info,
				  const struct sp_table_query *query,
				  const struct sp_table_stats *stats)
{
	struct sp__doc doc = sp__report_new(SP__DOC_TABLE);
	struct sp__doc config = sp__doc_object(doc, "config");

	sp__doc_fields(config, config_fields, info);
	sp__doc_text(config, "command", command);
	if (query)
		sp__doc_text(config, "access", sp_table_access_name((int)query->access));
	sp__report_used(doc, &stats->run);
	sp__doc_fields(doc, stats_fields, stats);
	return sp__report_done(doc);
}

static const struct sp_report_field column_fields[] = {
	MEMBER(table_column, STRING, name, "name of the column"),
	MEMBER(table_column, TEXT, type, "type of its values"),
	MEMBER(table_column, BOOL, not_null, "true if no value can be NULL"),
	MEMBER(table_column, BOOL, bounds, "true if the directory has bounds of it"),
	FIELD(table_column, "column_group", COUNT, group, "its column group, from 0"),
	MEMBER(table_column, COUNT, words, "texts in its dictionary"),
	MEMBER(table_column, COUNT, changed,
	       "number of the superblock of its last change in place; 0: none"),
	MEMBER(table_column, REAL, bounds_width,
	       "mean width of its bounds in a directory row, as a share of its range; null: "
	       "unknown"),
	{ 0 },
};

const struct sp_report_field sp__table_info_document[] = {
	MEMBER(table_info, WORD, layout, "division of columns into column groups",
	       .values = sp_table_layout_values),
	MEMBER(table_info, COUNT, records, "records, deleted ones included"),
	MEMBER(table_info, COUNT, deleted, "records that were deleted"),
	MEMBER(table_info, COUNT, bytes, "size of the file"),
	MEMBER(table_info, COUNT, cell_bytes, "size of a cell"),
	FIELD(table_info, "records_per_page", COUNT, page_records, "records of an A-page"),
	MEMBER(table_info, COUNT, strip_pages,
	       "maximum number of A-pages of a strip; 0: strips double without end"),
	MEMBER(table_info, COUNT, pages, "A-pages"),
	MEMBER(table_info, COUNT, cells, "cells of the file"),
	MEMBER(table_info, COUNT, free_cells, "cells that are not in use"),
	MEMBER(table_info, COUNT, text_bytes, "bytes of texts"),
	MEMBER(table_info, COUNT, dead_text_bytes, "bytes of texts that no record has any more"),
	FIELD(table_info, "fill_share", REAL, fill,
	      "share of the bytes of cells with values or texts that these take; null: no records"),
	ELEMENTS(table_info, "columns", LIST, columns, ncolumns, column_fields, "its columns"),
	GROUPS,
	MEMBER(table_info, WORD, format, "form of the input from which it was loaded",
	       .values = sp_table_format_values),
	MEMBER(table_info, BOOL, header, "true if the input began with names of columns"),
	MEMBER(table_info, WORD, placement, "order of the cells on the device",
	       .values = sp_placement_values),
	MEMBER(table_info, COUNT, volumes, "drives; 0: contiguous"),
	LATER("volume_names", TEXTS,
	      "names of all volumes except the first; empty: all drives are in one file"),
	MEMBER(table_info, COUNT, depth_rows, "cells of an A-page on consecutive tracks"),
	MEMBER(table_info, COUNT, hop_blocks, "blocks from one of these to the next one"),
	MEMBER(table_info, COUNT, track_blocks, "blocks of a track of the first zone"),
	MEMBER(table_info, COUNT, location_pages, "A-pages at a location of the sled; 0: not mems"),
	FIELD(table_info, "waste_share", REAL, waste, "share of the space for cells without any"),
	MEMBER(table_info, BOOL, no_data, "true if the cells of the table have no values"),
	MEMBER(table_info, BOOL, alone, "true if one of the two superblocks is not valid"),
	MEMBER(table_info, STRING, volume, "simulated volume; null: none"),
	{ 0 },
};

struct sp_report *sp_report_table_info(const struct sp_table_info *info)
{
	struct sp__doc doc = sp__report_new(SP__DOC_TABLE_INFO);

	sp__doc_fields(doc, sp__table_info_document, info);
	sp__doc_names(doc, "volume_names", info->volume_names, info->nvolume_names);
	return sp__report_done(doc);
}

static const struct sp_report_field cost_fields[] = {
	MEMBER(table_cost, REAL, requests, "requests for cells, a mean for random records"),
	MEMBER(table_cost, REAL, seeks, "requests that do not begin where the one before ended"),
	MEMBER(table_cost, REAL, bytes, "bytes of these requests"),
	MEMBER(table_cost, REAL, predicted_s, "predicted duration; null: unknown"),
	MEMBER(table_cost, REAL, measured_s, "measured duration; null: not measured"),
	MEMBER(table_cost, BOOL, scattered,
	       "true for a scan that reads cells of matching records alone"),
	{ 0 },
};

static const struct sp_report_field candidate_fields[] = {
	MEMBER(table_candidate, WORD, layout, "division of columns into column groups",
	       .values = sp_table_layout_values),
	MEMBER(table_candidate, WORD, placement, "order of the cells on the device",
	       .values = sp_placement_values),
	LATER("chosen", BOOL, "true for the choice of auto"),
	LATER("stored", BOOL, "true for the table as it is stored"),
	MEMBER(table_candidate, STRING, together,
	       "columns that share cells, as \"a,b;c,d\"; null: none by name"),
	MEMBER(table_candidate, COUNT, bytes, "size of the file"),
	FIELD(table_candidate, "fill_share", REAL, fill, "share of the file that values take"),
	FIELD(table_candidate, "requests", REAL, sum.requests, "requests of the whole workload"),
	FIELD(table_candidate, "seeks", REAL, sum.seeks, "seeks of the whole workload"),
	FIELD(table_candidate, "request_bytes", REAL, sum.bytes, "bytes of these requests"),
	FIELD(table_candidate, "predicted_s", REAL, sum.predicted_s,
	      "predicted duration of the whole workload"),
	FIELD(table_candidate, "measured_s", REAL, sum.measured_s,
	      "measured duration of the whole workload; null: not measured"),
	MEMBER(table_candidate, REAL, full_reads,
	       "reads of a full record that outweigh a scan, against nsm; null: no number does"),
	MEMBER(table_candidate, TEXT, reason,
	       "reason for which the layout is not possible; null: possible"),
	ELEMENTS(table_candidate, "costs", LIST, costs, ncosts, cost_fields,
		 "one object for each query, without its weight"),
	{ 0 },
};

static const struct sp_report_field query_fields[] = {
	LATER("query", TEXT, "the query"),
	LATER("weight", REAL, "its weight"),
	{ 0 },
};

static const struct sp_report_field comparison_config_fields[] = {
	LATER("command", TEXT, "command of xtable"),
	LATER("volume", TEXT, "simulated volume; null: none"),
	MEMBER(table_comparison, COUNT, records, "records of the table"),
	{ 0 },
};

const struct sp_report_field sp__table_comparison_document[] = {
	GROUP("config", OBJECT, comparison_config_fields, "the command and the table"),
	GROUP("queries", LIST, query_fields, "the workload"),
	GROUP("candidates", LIST, candidate_fields,
	      "one object for each layout, for the choice of auto, on request for csm along "
	      "tracks, and for the stored table"),
	{ 0 },
};

static void add_candidate(struct sp__doc doc, json_t *array, const struct sp_table_candidate *c,
			  bool chosen, bool stored)
{
	struct sp__doc d = sp__doc_element(doc, array);

	sp__doc_fields(d, candidate_fields, c);
	sp__doc_bool(d, "chosen", chosen);
	sp__doc_bool(d, "stored", stored);
}

struct sp_report *sp_report_table_comparison(const char *command, const char *volume,
					     const struct sp_table_comparison *comparison)
{
	struct sp__doc doc = sp__report_new(SP__DOC_TABLE_COMPARISON);
	struct sp__doc config = sp__doc_object(doc, "config");
	json_t *array;

	sp__doc_fields(config, comparison_config_fields, comparison);
	sp__doc_text(config, "command", command);
	sp__doc_text(config, "volume", volume);
	array = sp__doc_array(doc, "queries");
	for (size_t i = 0; i < comparison->nqueries; i++) {
		struct sp__doc d = sp__doc_element(doc, array);

		sp__doc_text(d, "query", comparison->queries[i]);
		sp__doc_real(d, "weight", comparison->weights[i]);
	}
	array = sp__doc_array(doc, "candidates");
	for (unsigned i = 0; i < SP_TABLE_CANDIDATES; i++)
		add_candidate(doc, array, &comparison->candidates[i], i == SP_TABLE_AUTO, false);
	if (comparison->semiseq.costs || comparison->semiseq.code)
		add_candidate(doc, array, &comparison->semiseq, false, false);
	if (comparison->stored.costs)
		add_candidate(doc, array, &comparison->stored, false, true);
	return sp__report_done(doc);
}
