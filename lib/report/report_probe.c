/* SPDX-License-Identifier: MIT */
/*
 * The document of a probe.  The keys are a contract: spindle-report(5) tells
 * what each means, and tests/golden/ holds the list.
 */
#include <math.h>
#include "report/doc.h"

static const char tool[] = "diskprobe";

#define REACH_STEP_DEG 5
#define REACH_ROWS 60

/* What every probe reports. */
static const struct sp_report_field common_fields[] = {
	FIELD(probe_result, "result.verdict", WORD, verdict, .name = sp_probe_verdict_name),
	FIELD(probe_result, "result.stopped", BOOL, stopped),
	FIELD(probe_result, "evidence.samples", COUNT, evidence.samples),
	FIELD(probe_result, "evidence.trial_periods", COUNT, evidence.trials),
	FIELD(probe_result, "evidence.shortest_period_s", DURATION, evidence.shortest_ns),
	FIELD(probe_result, "evidence.longest_period_s", DURATION, evidence.longest_ns),
	FIELD(probe_result, "evidence.concentration", REAL, evidence.concentration),
	FIELD(probe_result, "evidence.chance", POSITIVE, evidence.chance),
	FIELD(probe_result, "evidence.best_period_s", POSITIVE_DURATION, evidence.best_period_ns),
	FIELD(probe_result, "evidence.fast_share", REAL, evidence.fast_share),
	FIELD(probe_result, "evidence.same_block_s", DURATION, evidence.same_ns),
	FIELD(probe_result, "evidence.random_block_s", DURATION, evidence.other_ns),
	FIELD(probe_result, "evidence.near_s", POSITIVE_DURATION, evidence.near_ns),
	FIELD(probe_result, "evidence.far_s", POSITIVE_DURATION, evidence.far_ns),
	FIELD(probe_result, "evidence.clock_p99_s", DURATION, evidence.clock_p99_ns),
	FIELD(probe_result, "evidence.pairs", COUNT, evidence.pairs),
	FIELD(probe_result, "evidence.pairs_together", COUNT, evidence.pairs_together),
	FIELD(probe_result, "host.turnaround_s", DURATION, turnaround_ns),
	FIELD(probe_result, "host.noise_s", POSITIVE_DURATION, noise_ns),
	FIELD(probe_result, "host.noise_tail", REAL, noise_tail),
	{ 0 },
};

static const struct sp_report_field zone_fields[] = {
	FIELD(probe_zone, "first", COUNT, first),
	FIELD(probe_zone, "blocks", COUNT, blocks),
	FIELD(probe_zone, "tracks", COUNT, tracks),
	FIELD(probe_zone, "track_blocks", REAL, track_blocks),
	FIELD(probe_zone, "pattern", COUNT, pattern),
	FIELD(probe_zone, "odd_tracks", COUNT, odd),
	FIELD(probe_zone, "start_deg", REAL, start_deg),
	FIELD(probe_zone, "skew_deg", REAL, skew_deg),
	FIELD(probe_zone, "mb_per_second", POSITIVE, mb_s),
	FIELD(probe_zone, "reads", COUNT, reads),
	{ 0 },
};

static const struct sp_report_field seek_fields[] = {
	FIELD(probe_seek, "tracks", COUNT, tracks),
	FIELD(probe_seek, "cylinders", COUNT, cylinders),
	FIELD(probe_seek, "read_s", POSITIVE_DURATION, read_ns),
	FIELD(probe_seek, "write_s", POSITIVE_DURATION, write_ns),
	FIELD(probe_seek, "queued_s", POSITIVE_DURATION, queued_ns),
	{ 0 },
};

static void put_reach(struct sp__doc doc, const struct sp_geometry *g)
{
	json_t *array = sp__doc_array(doc, "adjacency.reach");
	uint64_t reads, writes, before = 0;

	for (unsigned i = 1; g && i <= REACH_ROWS; i++) {
		double w = i * REACH_STEP_DEG;
		struct sp__doc row;

		if (sp_geometry_reach(g, SP_GEOMETRY_READ, w, &reads) ||
		    sp_geometry_reach(g, SP_GEOMETRY_WRITE, w, &writes))
			return;
		if (!reads || reads + writes == before)
			continue;
		before = reads + writes;
		row = sp__doc_element(doc, array);
		sp__doc_real(row, "w_deg", w);
		sp__doc_count(row, "read_tracks", reads);
		sp__doc_count(row, "write_tracks", writes);
	}
}

/* The aim of an operation and how far it reaches, if that is known. */
static void put_aim(struct sp__doc doc, const struct sp_geometry *g, enum sp_geometry_op op,
		    const char *aim_key, const char *tracks_key)
{
	double aim = NAN;
	uint64_t tracks = 0;

	if (!g || sp_geometry_aim(g, op, &aim) || sp_geometry_reach(g, op, aim, &tracks)) {
		aim = NAN;
		tracks = 0;
	}
	sp__doc_real(doc, aim_key, aim);
	sp__doc_count(doc, tracks_key, tracks);
}

static const struct sp_report_field track_fields[] = {
	FIELD(probe_result, "rotation.period_s", DURATION, period_ns),
	LATER("rotation.rpm"),
	FIELD(probe_result, "rotation.error_ppm", REAL, period_ppm),
	FIELD(probe_result, "rotation.layout", STRING, layout),
	FIELD(probe_result, "rotation.surfaces", KNOWN, surfaces),
	FIELD(probe_result, "rotation.band_tracks", KNOWN, band),
	FIELD(probe_result, "rotation.settle_cylinders", KNOWN, settle_cylinders),
	FIELD(probe_result, "rotation.settle_s", POSITIVE_DURATION, settle_ns),
	FIELD(probe_result, "rotation.overhead_s", POSITIVE_DURATION, overhead_ns),
	FIELD(probe_result, "rotation.bus_block_s", POSITIVE_DURATION, bus_ns),
	FIELD(probe_result, "rotation.cache", BOOL, cache),
	FIELD(probe_result, "rotation.cache_hit_s", POSITIVE_DURATION, cache_hit_ns),
	FIELD(probe_result, "rotation.cache_flush_reads", KNOWN, cache_flush),
	ELEMENTS(probe_result, "zones", LIST, zones, nzones, zone_fields),
	ELEMENTS(probe_result, "seeks", LIST, seeks, nseeks, seek_fields),
	LATER("adjacency.read_aim_deg"),
	LATER("adjacency.read_tracks"),
	LATER("adjacency.write_aim_deg"),
	LATER("adjacency.write_tracks"),
	FIELD(probe_result, "adjacency.write_estimated", BOOL, write_estimated),
	FIELD(probe_result, "adjacency.hops", COUNT, hops),
	FIELD(probe_result, "adjacency.misses", COUNT, hop_misses),
	FIELD(probe_result, "adjacency.conservatism_deg", POSITIVE, conservatism_deg),
	FIELD(probe_result, "adjacency.guarded_hops", COUNT, guarded_hops),
	FIELD(probe_result, "adjacency.guarded_misses", COUNT, guarded_hop_misses),
	FIELD(probe_result, "adjacency.far_hops", COUNT, far_hops),
	FIELD(probe_result, "adjacency.far_misses", COUNT, far_hop_misses),
	FIELD(probe_result, "adjacency.write_hops", COUNT, write_hops),
	FIELD(probe_result, "adjacency.write_misses", COUNT, write_hop_misses),
	LATER("adjacency.reach"),
	FIELD(probe_result, "checks.tracks_cover_device", BOOL, covers),
	FIELD(probe_result, "checks.tracks_descend", BOOL, descending),
	FIELD(probe_result, "checks.boundaries", COUNT, rechecked),
	FIELD(probe_result, "checks.boundary_misses", COUNT, recheck_misses),
	FIELD(probe_result, "checks.layout_hops", COUNT, layout_hops),
	FIELD(probe_result, "checks.layout_misses", COUNT, layout_hop_misses),
	FIELD(probe_result, "checks.round_hops", COUNT, round_hops),
	FIELD(probe_result, "checks.round_misses", COUNT, round_hop_misses),
	FIELD(probe_result, "checks.cache_reads", COUNT, cache_looks),
	FIELD(probe_result, "checks.cache_misses", COUNT, cache_look_misses),
	{ 0 },
};

static void put_tracks(struct sp__doc doc, const struct sp_probe_result *r,
		       const struct sp_geometry *g)
{
	sp__doc_fields(doc, track_fields, r);
	sp__doc_real(doc, "rotation.rpm", 6e10 / r->period_ns);
	put_aim(doc, g, SP_GEOMETRY_READ, "adjacency.read_aim_deg", "adjacency.read_tracks");
	put_aim(doc, g, SP_GEOMETRY_WRITE, "adjacency.write_aim_deg", "adjacency.write_tracks");
	put_reach(doc, g);
}

static const struct sp_report_field rate_fields[] = {
	FIELD(probe_rate, "depth", COUNT, depth),
	FIELD(probe_rate, "request_bytes", COUNT, bytes),
	FIELD(probe_rate, "requests_per_second", REAL, requests_s),
	FIELD(probe_rate, "mb_per_second", REAL, mb_s),
	FIELD(probe_rate, "p50_s", DURATION, p50_ns),
	FIELD(probe_rate, "p99_s", DURATION, p99_ns),
	{ 0 },
};

static const struct sp_report_field range_fields[] = {
	{ .key = "first", .type = SP_REPORT_COUNT, .bytes = sizeof(uint64_t) },
	{ .key = "last",
	  .type = SP_REPORT_COUNT,
	  .offset = sizeof(uint64_t),
	  .bytes = sizeof(uint64_t) },
	{ 0 },
};

static const struct sp_report_field load_fields[] = {
	FIELD(probe_result, "load.knee_depth", KNOWN, knee_depth),
	FIELD(probe_result, "load.preferred_bytes", KNOWN, knee_bytes),
	FIELD(probe_result, "load.throttled", BOOL, throttled),
	FIELD(probe_result, "load.throttle_share", POSITIVE, throttle_share),
	FIELD(probe_result, "load.throttle_windows", COUNT, throttle_looks),
	FIELD(probe_result, "load.throttle_misses", COUNT, throttle_look_misses),
	ELEMENTS(probe_result, "load.rates", LIST, rates, nrates, rate_fields),
	{ 0 },
};

static const struct sp_report_field end_fields[] = {
	ELEMENTS(probe_result, "unreadable", LIST, bad, nbad, range_fields),
	LATER("unknown"),
	FIELD(probe_result, "cost.reads", COUNT, reads),
	FIELD(probe_result, "cost.layout_reads", COUNT, layout_reads),
	FIELD(probe_result, "cost.seek_reads", COUNT, seek_reads),
	FIELD(probe_result, "cost.flush_reads", COUNT, flush_reads),
	FIELD(probe_result, "cost.cache_hits", COUNT, cache_hits),
	FIELD(probe_result, "cost.writes", COUNT, writes),
	FIELD(probe_result, "cost.read_errors", COUNT, errors),
	FIELD(probe_result, "cost.device_s", REAL, device_s),
	{ 0 },
};

struct sp_report *sp_report_probe(const struct sp_probe *probe, const struct sp_probe_opts *opts)
{
	const struct sp_probe_result *r = sp_probe_result(probe);
	struct sp__doc doc = sp__report_new("spindle.probe/1", tool);

	sp__doc_text(doc, "config.device", opts->device);
	sp__doc_bool(doc, "config.simulated", r->simulated);
	sp__doc_count(doc, "config.blocks", r->blocks);
	sp__doc_count(doc, "config.block_bytes", r->block_bytes);
	sp__doc_bool(doc, "config.quick", opts->quick);
	sp__doc_bool(doc, "config.resumed", opts->resume != NULL);
	sp__doc_known(doc, "config.overwrite_bytes", opts->overwrite_bytes);
	sp__doc_count(doc, "config.seed", opts->seed);
	sp__doc_fields(doc, common_fields, r);
	if (!(r->noise_ns > 0))
		sp__doc_null(doc, "host.noise_tail");
	if (r->verdict == SP_PROBE_ROTATING)
		put_tracks(doc, r, sp_probe_geometry(probe));
	if (r->nrates)
		sp__doc_fields(doc, load_fields, r);
	sp__doc_fields(doc, end_fields, r);
	sp__doc_names(doc, "unknown", r->unknown, r->nunknown);
	return sp__report_done(doc);
}

static const struct sp_report_field verify_fields[] = {
	FIELD(probe_verify, "result.pairs", COUNT, pairs),
	FIELD(probe_verify, "result.read_errors", COUNT, errors),
	FIELD(probe_verify, "result.response_s", DURATION, mean_ns),
	FIELD(probe_verify, "result.foretold_s", DURATION, predicted_ns),
	FIELD(probe_verify, "result.demerit_s", DURATION, demerit_ns),
	FIELD(probe_verify, "result.turns_right_share", REAL, turns_right),
	FIELD(probe_verify, "result.within_tenth_turn_share", REAL, within_share),
	{ 0 },
};

struct sp_report *sp_report_probe_verify(const char *device, const struct sp_probe_verify *v)
{
	struct sp__doc doc = sp__report_new("spindle.probe-verify/1", tool);

	sp__doc_text(doc, "config.device", device);
	sp__doc_fields(doc, verify_fields, v);
	return sp__report_done(doc);
}
