/* SPDX-License-Identifier: MIT */
/*
 * Builds the documents of a probe.
 */
#include <math.h>
#include "report/doc.h"

#define REACH_STEP_DEG 5
#define REACH_ROWS 60

/* Fields that every probe reports. */
static const struct sp_report_field common_fields[] = {
	GROUP("result", OBJECT, NULL, "result of the probe"),
	RESULT(probe_result, WORD, verdict, "kind of the device",
	       .values = sp_probe_verdict_values),
	RESULT(probe_result, BOOL, stopped, "true if the probe was interrupted"),
	GROUP("evidence", OBJECT, NULL, "measurements behind the verdict"),
	MEMBER(probe_result, COUNT, evidence.samples,
	       "completions of one block that were compared"),
	FIELD(probe_result, "evidence.trial_periods", COUNT, evidence.trials,
	      "periods that were tried"),
	FIELD(probe_result, "evidence.shortest_period_s", DURATION, evidence.shortest_ns,
	      "shortest period that was tried"),
	FIELD(probe_result, "evidence.longest_period_s", DURATION, evidence.longest_ns,
	      "longest period that was tried"),
	MEMBER(probe_result, REAL, evidence.concentration,
	       "best concentration of the phases, 0 to 1"),
	MEMBER(probe_result, POSITIVE, evidence.chance,
	       "concentration that chance alone reaches once in 10000 searches"),
	FIELD(probe_result, "evidence.best_period_s", POSITIVE_DURATION, evidence.best_period_ns,
	      "period of the best concentration"),
	MEMBER(probe_result, REAL, evidence.fast_share,
	       "share of random reads that took less than 1 ms"),
	FIELD(probe_result, "evidence.same_block_s", DURATION, evidence.same_ns,
	      "median duration of a read of the same block"),
	FIELD(probe_result, "evidence.random_block_s", DURATION, evidence.other_ns,
	      "median duration of a read of a random block"),
	FIELD(probe_result, "evidence.near_s", POSITIVE_DURATION, evidence.near_ns,
	      "median duration of a read of a near block"),
	FIELD(probe_result, "evidence.far_s", POSITIVE_DURATION, evidence.far_ns,
	      "median duration of a read of a far block"),
	FIELD(probe_result, "evidence.clock_p99_s", DURATION, evidence.clock_p99_ns,
	      "99th percentile of the delay with which the host wakes up"),
	MEMBER(probe_result, COUNT, evidence.pairs,
	       "pairs of distant blocks that were read concurrently"),
	MEMBER(probe_result, COUNT, evidence.pairs_together,
	       "pairs of these that were served without a seek between them"),
	GROUP("host", OBJECT, NULL, "delays of the host"),
	FIELD(probe_result, "host.turnaround_s", DURATION, turnaround_ns,
	      "time from a completion to the next request"),
	FIELD(probe_result, "host.noise_s", POSITIVE_DURATION, noise_ns,
	      "standard deviation of completions"),
	FIELD(probe_result, "host.noise_tail", REAL, noise_tail, "share of late completions"),
	{ 0 },
};

static const struct sp_report_field zone_fields[] = {
	MEMBER(probe_zone, COUNT, first, "first block"),
	MEMBER(probe_zone, COUNT, blocks, "number of blocks"),
	MEMBER(probe_zone, COUNT, tracks, "number of tracks"),
	MEMBER(probe_zone, REAL, track_blocks, "mean number of blocks per track"),
	MEMBER(probe_zone, COUNT, pattern, "number of tracks after which their lengths repeat"),
	FIELD(probe_zone, "odd_tracks", COUNT, odd,
	      "tracks with fewer blocks than the pattern: slipped blocks"),
	MEMBER(probe_zone, REAL, start_deg, "angle of the first block"),
	MEMBER(probe_zone, REAL, skew_deg, "most frequent skew from track to track"),
	FIELD(probe_zone, "mb_per_second", POSITIVE, mb_s,
	      "media rate in 10^6 bytes per second, skews included"),
	MEMBER(probe_zone, COUNT, reads, "reads that found the tracks"),
	{ 0 },
};

static const struct sp_report_field seek_fields[] = {
	MEMBER(probe_seek, COUNT, tracks, "distance in tracks"),
	MEMBER(probe_seek, COUNT, cylinders, "distance in cylinders"),
	FIELD(probe_seek, "read_s", POSITIVE_DURATION, read_ns,
	      "time from the issue of a read to the first reachable block"),
	FIELD(probe_seek, "write_s", POSITIVE_DURATION, write_ns,
	      "time from the issue of a write to the first reachable block"),
	FIELD(probe_seek, "queued_s", POSITIVE_DURATION, queued_ns,
	      "time from the end of the previous block to the first reachable block"),
	{ 0 },
};

static const struct sp_report_field reach_fields[] = {
	LATER("w_deg", REAL, "angle from the aim"),
	LATER("read_tracks", COUNT, "distance in tracks that reads reach"),
	LATER("write_tracks", COUNT, "distance in tracks that writes reach"),
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

/* Adds the aim of an operation and its reach, if known. */
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
	GROUP("rotation", OBJECT, NULL, "rotation of the device; only with tracks",
	      .optional = true),
	FIELD(probe_result, "rotation.period_s", DURATION, period_ns, "duration of a revolution"),
	LATER("rotation.rpm", REAL, "revolutions per minute"),
	FIELD(probe_result, "rotation.error_ppm", REAL, period_ppm,
	      "standard error of the period in parts per million"),
	FIELD(probe_result, "rotation.layout", STRING, layout, "layout of the tracks"),
	FIELD(probe_result, "rotation.surfaces", KNOWN, surfaces,
	      "number of surfaces; null: unknown"),
	FIELD(probe_result, "rotation.band_tracks", KNOWN, band, "tracks of a band; null: unknown"),
	FIELD(probe_result, "rotation.settle_cylinders", KNOWN, settle_cylinders,
	      "cylinders of the plateau of the seek curve; null: none"),
	FIELD(probe_result, "rotation.settle_s", POSITIVE_DURATION, settle_ns,
	      "positioning time within this plateau"),
	FIELD(probe_result, "rotation.overhead_s", POSITIVE_DURATION, overhead_ns,
	      "overhead of a read before the arm moves"),
	FIELD(probe_result, "rotation.bus_block_s", POSITIVE_DURATION, bus_ns,
	      "time of a block on the bus; null: the cache of the drive does not answer"),
	FIELD(probe_result, "rotation.cache", BOOL, cache,
	      "true if the drive answers repeated reads from its cache"),
	FIELD(probe_result, "rotation.cache_hit_s", POSITIVE_DURATION, cache_hit_ns,
	      "duration of such a read"),
	FIELD(probe_result, "rotation.cache_flush_reads", KNOWN, cache_flush,
	      "reads elsewhere after which the cache has lost a block; null: no cache"),
	ELEMENTS(probe_result, "zones", LIST, zones, nzones, zone_fields, "zones of equal tracks",
		 .optional = true),
	ELEMENTS(probe_result, "seeks", LIST, seeks, nseeks, seek_fields,
		 "one object for each distance", .optional = true),
	GROUP("adjacency", OBJECT, NULL, "hops to adjacent blocks; only with tracks",
	      .optional = true),
	LATER("adjacency.read_aim_deg", REAL, "aim of reads; null: unknown"),
	LATER("adjacency.read_tracks", COUNT, "distance in tracks that this aim reaches"),
	LATER("adjacency.write_aim_deg", REAL, "aim of writes; null: unknown"),
	LATER("adjacency.write_tracks", COUNT, "distance in tracks that this aim reaches"),
	FIELD(probe_result, "adjacency.write_estimated", BOOL, write_estimated,
	      "true if the values of writes are estimated"),
	FIELD(probe_result, "adjacency.hops", COUNT, checks.hops, "hops to adjacent blocks"),
	FIELD(probe_result, "adjacency.misses", COUNT, checks.hop_misses,
	      "hops that took a revolution more"),
	FIELD(probe_result, "adjacency.conservatism_deg", POSITIVE, checks.conservatism_deg,
	      "recommended conservatism"),
	FIELD(probe_result, "adjacency.guarded_hops", COUNT, checks.guarded_hops,
	      "hops with this conservatism"),
	FIELD(probe_result, "adjacency.guarded_misses", COUNT, checks.guarded_hop_misses,
	      "hops with this conservatism that took a revolution more"),
	FIELD(probe_result, "adjacency.far_hops", COUNT, checks.far_hops,
	      "hops to the farthest tracks in reach"),
	FIELD(probe_result, "adjacency.far_misses", COUNT, checks.far_hop_misses,
	      "hops to the farthest tracks that took a revolution more"),
	FIELD(probe_result, "adjacency.write_hops", COUNT, checks.write_hops, "hops by writes"),
	FIELD(probe_result, "adjacency.write_misses", COUNT, checks.write_hop_misses,
	      "hops by writes that took a revolution more"),
	LATER("adjacency.reach", LIST, "distances in reach, by angle", .fields = reach_fields),
	GROUP("checks", OBJECT, NULL, "checks of the tracks; only with tracks", .optional = true),
	FIELD(probe_result, "checks.tracks_cover_device", BOOL, covers,
	      "true if the tracks add up to the device"),
	FIELD(probe_result, "checks.tracks_descend", BOOL, descending,
	      "true if tracks do not become longer inwards"),
	FIELD(probe_result, "checks.boundaries", COUNT, rechecked,
	      "track boundaries checked again"),
	FIELD(probe_result, "checks.boundary_misses", COUNT, recheck_misses,
	      "track boundaries found elsewhere"),
	MEMBER(probe_result, COUNT, checks.layout_hops, "hops between random tracks"),
	FIELD(probe_result, "checks.layout_misses", COUNT, checks.layout_hop_misses,
	      "hops that the layout did not predict"),
	MEMBER(probe_result, COUNT, checks.round_hops, "hops between rounds of bands"),
	FIELD(probe_result, "checks.round_misses", COUNT, checks.round_hop_misses,
	      "hops between rounds that the layout did not predict"),
	FIELD(probe_result, "checks.cache_reads", COUNT, cache_looks,
	      "reads of blocks that the cache has, or has lost"),
	FIELD(probe_result, "checks.cache_misses", COUNT, cache_look_misses,
	      "reads of these that were not answered accordingly"),
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
	MEMBER(probe_rate, COUNT, depth, "outstanding requests"),
	FIELD(probe_rate, "request_bytes", COUNT, bytes, "size of a request"),
	FIELD(probe_rate, "requests_per_second", REAL, requests_s, "requests per second"),
	FIELD(probe_rate, "mb_per_second", REAL, mb_s, "10^6 bytes per second"),
	FIELD(probe_rate, "p50_s", DURATION, p50_ns, "median latency"),
	FIELD(probe_rate, "p99_s", DURATION, p99_ns, "99th percentile of the latency"),
	{ 0 },
};

static const struct sp_report_field range_fields[] = {
	{ .key = "first",
	  .type = SP_REPORT_COUNT,
	  .bytes = sizeof(uint64_t),
	  .about = "first block of the range" },
	{ .key = "last",
	  .type = SP_REPORT_COUNT,
	  .offset = sizeof(uint64_t),
	  .bytes = sizeof(uint64_t),
	  .about = "last block of the range" },
	{ 0 },
};

static const struct sp_report_field load_fields[] = {
	GROUP("load", OBJECT, NULL, "rates under load; only without tracks", .optional = true),
	MEMBER(probe_result, KNOWN, load.knee_depth,
	       "outstanding requests beyond which the rate gains less than a tenth; null: unknown"),
	FIELD(probe_result, "load.preferred_bytes", KNOWN, load.knee_bytes,
	      "request size beyond which the rate gains less than a tenth; null: unknown"),
	MEMBER(probe_result, BOOL, load.throttled, "true if the rate fell to a steady lower rate"),
	MEMBER(probe_result, POSITIVE, load.throttle_share,
	       "share of the rate that remained; null: not throttled"),
	FIELD(probe_result, "load.throttle_windows", COUNT, load.throttle_looks,
	      "windows of load compared with the lower rate"),
	FIELD(probe_result, "load.throttle_misses", COUNT, load.throttle_look_misses,
	      "windows of these that were not at the lower rate"),
	ELEMENTS(probe_result, "load.rates", LIST, load.rates, load.nrates, rate_fields,
		 "one object for each depth and size"),
	{ 0 },
};

static const struct sp_report_field end_fields[] = {
	ELEMENTS(probe_result, "unreadable", LIST, bad, nbad, range_fields,
		 "ranges of blocks that could not be read", .optional = true),
	LATER("unknown", TEXTS, "names of values that could not be found", .optional = true),
	GROUP("cost", OBJECT, NULL, "requests of the probe"),
	MEMBER(probe_result, COUNT, cost.reads, "reads"),
	FIELD(probe_result, "cost.layout_reads", COUNT, layout_reads, "reads for skews"),
	FIELD(probe_result, "cost.seek_reads", COUNT, seek_reads, "reads for the seek curve"),
	MEMBER(probe_result, COUNT, cost.flush_reads, "reads that flushed the cache"),
	MEMBER(probe_result, COUNT, cost.cache_hits, "reads that the cache answered"),
	MEMBER(probe_result, COUNT, cost.writes, "writes"),
	FIELD(probe_result, "cost.read_errors", COUNT, cost.errors, "reads that failed"),
	FIELD(probe_result, "cost.device_s", REAL, device_s, "time on the clock of the device"),
	{ 0 },
};

static const struct sp_report_field config_fields[] = {
	LATER("device", TEXT, "device or simulated model"),
	LATER("simulated", BOOL, "true if the device is simulated"),
	LATER("blocks", COUNT, "blocks of the device"),
	LATER("block_bytes", COUNT, "size of a block"),
	LATER("quick", BOOL, "true if the probe was quick"),
	LATER("resumed", BOOL, "true if the probe began with a partial geometry"),
	LATER("overwrite_bytes", COUNT,
	      "bytes that the probe was allowed to overwrite; null: none"),
	LATER("seed", COUNT, "seed of all random choices"),
	{ 0 },
};

const struct sp_report_field sp__probe_document[] = {
	GROUP("config", OBJECT, config_fields, "options in effect, and the device"),
	INCLUDE(common_fields),
	INCLUDE(track_fields),
	INCLUDE(load_fields),
	INCLUDE(end_fields),
	{ 0 },
};

static void put_config(struct sp__doc doc, const struct sp_probe_result *r,
		       const struct sp_probe_opts *opts)
{
	sp__doc_text(doc, "config.device", opts->device);
	sp__doc_bool(doc, "config.simulated", r->simulated);
	sp__doc_count(doc, "config.blocks", r->blocks);
	sp__doc_count(doc, "config.block_bytes", r->block_bytes);
	sp__doc_bool(doc, "config.quick", opts->quick);
	sp__doc_bool(doc, "config.resumed", opts->resume != NULL);
	sp__doc_known(doc, "config.overwrite_bytes", opts->overwrite_bytes);
	sp__doc_count(doc, "config.seed", opts->seed);
}

struct sp_report *sp_report_probe(const struct sp_probe *probe, const struct sp_probe_opts *opts)
{
	const struct sp_probe_result *r = sp_probe_result(probe);
	struct sp__doc doc = sp__report_new(SP__DOC_PROBE);

	put_config(doc, r, opts);
	sp__doc_fields(doc, common_fields, r);
	if (!(r->noise_ns > 0))
		sp__doc_null(doc, "host.noise_tail");
	if (r->verdict == SP_PROBE_ROTATING)
		put_tracks(doc, r, sp_probe_geometry(probe));
	if (r->load.nrates)
		sp__doc_fields(doc, load_fields, r);
	sp__doc_fields(doc, end_fields, r);
	sp__doc_names(doc, "unknown", r->unknown, r->nunknown);
	return sp__report_done(doc);
}

static const struct sp_report_field verify_fields[] = {
	RESULT(probe_verify, COUNT, pairs, "pairs of reads whose response times were predicted"),
	FIELD(probe_verify, "result.read_errors", COUNT, errors, "reads that failed"),
	FIELD(probe_verify, "result.response_s", DURATION, mean_ns, "mean measured response time"),
	FIELD(probe_verify, "result.predicted_s", DURATION, predicted_ns,
	      "mean predicted response time"),
	FIELD(probe_verify, "result.demerit_s", DURATION, demerit_ns,
	      "rms distance of the two distributions"),
	FIELD(probe_verify, "result.revolutions_right_share", REAL, revolutions_right,
	      "share of pairs with the right number of revolutions"),
	FIELD(probe_verify, "result.within_tenth_revolution_share", REAL, within_share,
	      "share of pairs predicted within a tenth of a revolution"),
	{ 0 },
};

const struct sp_report_field sp__probe_verify_document[] = {
	GROUP("config", OBJECT, NULL, "options in effect"),
	LATER("config.device", TEXT, "device or simulated model"),
	GROUP("result", OBJECT, NULL, "measured and predicted response times"),
	INCLUDE(verify_fields),
	{ 0 },
};

struct sp_report *sp_report_probe_verify(const char *device, const struct sp_probe_verify *v)
{
	struct sp__doc doc = sp__report_new(SP__DOC_PROBE_VERIFY);

	sp__doc_text(doc, "config.device", device);
	sp__doc_fields(doc, verify_fields, v);
	return sp__report_done(doc);
}
