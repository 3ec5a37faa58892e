/* SPDX-License-Identifier: MIT */
/*
 * Builds the documents of cubes.
 */
#include <spindle/cube.h>
#include "report/doc.h"

static const struct sp_report_field config_fields[] = {
	MEMBER(cube_info, WORD, mapping, "mapping of cells to blocks",
	       .values = sp_cube_mapping_values),
	LATER("dims", COUNTS, "elements along each dimension"),
	LATER("tile", COUNTS, "elements of a cell along each dimension"),
	LATER("order", COUNTS, "dimensions in the order of the mapping"),
	LATER("basic_cube", COUNTS, "cells of a basic cube along each dimension; empty: none",
	      .optional = true),
	FIELD(cube_info, "type", WORD, shape.type, "type of an element",
	      .values = sp_cube_type_values),
	FIELD(cube_info, "element_bytes", COUNT, shape.element_bytes, "size of an element"),
	LATER("cell_bytes", COUNT, "size of a cell"),
	MEMBER(cube_info, COUNT, waste_bytes,
	       "space between the first and the last block that is in no cell"),
	LATER("fragments", COUNT, "fragments: one, and one more for each append"),
	MEMBER(cube_info, STRING, volume, "simulated volume; null: none"),
	FIELD(cube_info, "geometry", STRING, device, "device of the geometry; null: none"),
	MEMBER(cube_info, COUNT, volumes, "number of volumes"),
	LATER("decluster", WORD, "distribution of cells over volumes; null: one volume",
	      .values = sp_cube_decluster_values),
	{ 0 },
};

static const struct sp_report_field stats_fields[] = {
	RESULT(cube_stats, COUNT, elements, "elements requested, loaded or appended"),
	RESULT(cube_stats, COUNT, cells, "cells of these elements"),
	RESULT(cube_stats, COUNT, cell_bytes, "bytes of these cells"),
	FIELD(cube_stats, "result.elapsed_s", REAL, transfer_s,
	      "time from the first request to the last completion"),
	FIELD(cube_stats, "io.requests", COUNT, requests, "requests issued"),
	FIELD(cube_stats, "io.bytes", COUNT, bytes, "bytes of these requests, gaps included"),
	FIELD(cube_stats, "io.seeks", COUNT, seeks,
	      "requests that did not begin where the previous one on their volume ended"),
	{ 0 },
};

static void numbers(struct sp__doc doc, const char *key, const uint64_t *values, unsigned n)
{
	json_t *array = sp__doc_array(doc, key);

	for (unsigned i = 0; i < n; i++)
		sp__doc_append(doc, array, json_integer((json_int_t)values[i]));
}

static void describe(struct sp__doc doc, const struct sp_cube_info *i)
{
	struct sp__doc config = sp__doc_object(doc, "config");
	unsigned n = i->shape.ndims;
	uint64_t tile[SP_CUBE_DIMS_MAX], order[SP_CUBE_DIMS_MAX];

	for (unsigned k = 0; k < n; k++) {
		tile[k] = i->shape.tile[k];
		order[k] = i->order[k];
	}
	sp__doc_fields(config, config_fields, i);
	numbers(config, "dims", i->shape.dims, n);
	numbers(config, "tile", tile, n);
	numbers(config, "order", order, n);
	numbers(config, "basic_cube", i->basic, i->basic[0] ? n : 0);
	sp__doc_count(config, "cell_bytes", (uint64_t)i->cell_blocks * i->block_bytes);
	sp__doc_count(config, "fragments", i->fragments);
	if (i->volumes > 1)
		sp__doc_text(config, "decluster", sp_cube_decluster_name((int)i->decluster));
}

const struct sp_report_field sp__cube_document[] = {
	GROUP("config", OBJECT, config_fields, "the cube"),
	INCLUDE(sp__used_fields),
	INCLUDE(stats_fields),
	LATER("io.volume_requests", COUNTS, "requests issued on each volume"),
	LATER("io.volume_bytes", COUNTS, "bytes of these requests on each volume"),
	{ 0 },
};

struct sp_report *sp_report_cube(const struct sp_cube_info *info, const struct sp_cube_stats *stats)
{
	struct sp__doc doc = sp__report_new(SP__DOC_CUBE);

	describe(doc, info);
	sp__report_used(doc, &stats->run);
	sp__doc_fields(doc, stats_fields, stats);
	numbers(sp__doc_object(doc, "io"), "volume_requests", stats->volume_requests,
		info->volumes);
	numbers(sp__doc_object(doc, "io"), "volume_bytes", stats->volume_bytes, info->volumes);
	return sp__report_done(doc);
}

static const struct sp_report_field candidate_fields[] = {
	MEMBER(cube_candidate, WORD, mapping, "mapping of cells to blocks",
	       .values = sp_cube_mapping_values),
	MEMBER(cube_candidate, REAL, conservatism_deg, "angle added to the aim of adjacent blocks"),
	FIELD(cube_candidate, "waste_share", REAL, waste,
	      "share of the space that is in no cell; null: the mapping is not possible"),
	MEMBER(cube_candidate, REAL, predicted_s,
	       "predicted duration of a mean query; null: unknown"),
	MEMBER(cube_candidate, REAL, early_s,
	       "predicted duration if each aim were met by two blocks more"),
	MEMBER(cube_candidate, REAL, late_s,
	       "predicted duration if each aim were missed by two blocks more"),
	MEMBER(cube_candidate, REAL, closed_s,
	       "duration of a mean query by closed formulas; null: unknown"),
	MEMBER(cube_candidate, REAL, measured_s,
	       "measured duration of a mean query; null: not measured"),
	MEMBER(cube_candidate, REAL, requests, "predicted requests of a mean query"),
	MEMBER(cube_candidate, REAL, bytes, "predicted bytes of a mean query"),
	MEMBER(cube_candidate, TEXT, reason,
	       "reason for which the mapping is not possible; null: possible"),
	LATER("chosen", BOOL,
	      "true for the mapping that auto chooses; of points, for the dataset as it is"),
	LATER("order", COUNTS, "dimensions in the order of the mapping"),
	LATER("basic_cube", COUNTS, "cells of a basic cube along each dimension; empty: none"),
	{ 0 },
};

static const struct sp_report_field comparison_config_fields[] = {
	LATER("dims", COUNTS, "elements along each dimension"),
	LATER("volume", TEXT, "simulated volume; null: none"),
	LATER("queries", COUNT, "queries of the workload"),
	LATER("depth", COUNT, "maximum number of outstanding requests"),
	LATER("coalesce", BOOL, "true if requests are joined across gaps"),
	LATER("seed", COUNT, "seed of random positions"),
	{ 0 },
};

const struct sp_report_field sp__cube_comparison_document[] = {
	GROUP("config", OBJECT, comparison_config_fields, "the cube and the workload"),
	GROUP("candidates", LIST, candidate_fields,
	      "one object for each mapping; the last one is the choice of auto, or the dataset of "
	      "points"),
	{ 0 },
};

struct sp_report *sp_report_cube_comparison(const struct sp_cube_info *info,
					    const struct sp_cube_workload *workload,
					    const struct sp_cube_candidate *candidates)
{
	struct sp__doc doc = sp__report_new(SP__DOC_CUBE_COMPARISON);
	struct sp__doc config = sp__doc_object(doc, "config");
	unsigned n = info->shape.ndims;
	json_t *array;

	numbers(config, "dims", info->shape.dims, n);
	sp__doc_text(config, "volume", info->volume);
	sp__doc_count(config, "queries", workload->n);
	sp__doc_count(config, "depth", workload->depth ? workload->depth : 1);
	sp__doc_bool(config, "coalesce", !workload->no_coalesce);
	sp__doc_count(config, "seed", workload->seed);
	array = sp__doc_array(doc, "candidates");
	for (unsigned i = 0; i < SP_CUBE_CANDIDATES; i++) {
		struct sp__doc c = sp__doc_element(doc, array);
		uint64_t order[SP_CUBE_DIMS_MAX];

		for (unsigned k = 0; k < n; k++)
			order[k] = candidates[i].order[k];
		sp__doc_fields(c, candidate_fields, &candidates[i]);
		sp__doc_bool(c, "chosen", i == SP_CUBE_CANDIDATES - 1);
		numbers(c, "order", order, n);
		numbers(c, "basic_cube", candidates[i].basic, candidates[i].basic[0] ? n : 0);
	}
	return sp__report_done(doc);
}
