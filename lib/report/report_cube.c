/* SPDX-License-Identifier: MIT */
#include <spindle/cube.h>
#include "report/report_run.h"

static const struct sp_report_field stats_fields[] = {
	FIELD(cube_stats, "result.elements", COUNT, elements),
	FIELD(cube_stats, "result.cells", COUNT, cells),
	FIELD(cube_stats, "result.cell_bytes", COUNT, cell_bytes),
	FIELD(cube_stats, "result.elapsed_s", REAL, transfer_s),
	FIELD(cube_stats, "io.requests", COUNT, requests),
	FIELD(cube_stats, "io.bytes", COUNT, bytes),
	FIELD(cube_stats, "io.seeks", COUNT, seeks),
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
	sp__doc_text(config, "mapping", sp_cube_mapping_name((int)i->mapping));
	numbers(config, "dims", i->shape.dims, n);
	numbers(config, "tile", tile, n);
	numbers(config, "order", order, n);
	numbers(config, "basic_cube", i->basic, i->basic[0] ? n : 0);
	sp__doc_text(config, "type", sp_cube_type_name((int)i->shape.type));
	sp__doc_count(config, "element_bytes", i->shape.element_bytes);
	sp__doc_count(config, "cell_bytes", (uint64_t)i->cell_blocks * i->block_bytes);
	sp__doc_count(config, "waste_bytes", i->waste_bytes);
	sp__doc_count(config, "parts", i->parts);
	sp__doc_text(config, "volume", i->volume);
	sp__doc_text(config, "geometry", i->device);
	sp__doc_count(config, "volumes", i->volumes);
	sp__doc_text(config, "decluster",
		     i->volumes > 1 ? sp_cube_decluster_name((int)i->decluster) : NULL);
}

struct sp_report *sp_report_cube(const struct sp_cube_info *info, const struct sp_cube_stats *stats)
{
	struct sp__doc doc = sp__report_new("spindle.cube/1", "mmap-cube");

	describe(doc, info);
	sp__report_used(doc, &stats->run);
	sp__doc_fields(doc, stats_fields, stats);
	numbers(sp__doc_object(doc, "io"), "volume_requests", stats->volume_requests,
		info->volumes);
	numbers(sp__doc_object(doc, "io"), "volume_bytes", stats->volume_bytes, info->volumes);
	return sp__report_done(doc);
}

static const struct sp_report_field candidate_fields[] = {
	FIELD(cube_candidate, "mapping", WORD, mapping, .name = sp_cube_mapping_name),
	FIELD(cube_candidate, "conservatism_deg", REAL, conservatism_deg),
	FIELD(cube_candidate, "waste_share", REAL, waste),
	FIELD(cube_candidate, "predicted_s", REAL, predicted_s),
	FIELD(cube_candidate, "early_s", REAL, early_s),
	FIELD(cube_candidate, "late_s", REAL, late_s),
	FIELD(cube_candidate, "measured_s", REAL, measured_s),
	FIELD(cube_candidate, "requests", REAL, requests),
	FIELD(cube_candidate, "bytes", REAL, bytes),
	FIELD(cube_candidate, "reason", TEXT, reason),
	{ 0 },
};

struct sp_report *sp_report_cube_comparison(const struct sp_cube_info *info,
					    const struct sp_cube_workload *workload,
					    const struct sp_cube_candidate *candidates)
{
	struct sp__doc doc = sp__report_new("spindle.cube-comparison/1", "mmap-cube");
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
