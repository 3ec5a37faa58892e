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

static double known(double v)
{
	return v > 0 ? v : NAN;
}

static void put_time(struct sp__doc doc, const char *key, double ns)
{
	sp__doc_real(doc, key, ns / 1e9);
}

static void put_config(struct sp__doc doc, const struct sp_probe_opts *o,
		       const struct sp_probe_result *r)
{
	struct sp__doc c = sp__doc_object(doc, "config");

	sp__doc_text(c, "device", o->device);
	sp__doc_bool(c, "simulated", r->simulated);
	sp__doc_count(c, "blocks", r->blocks);
	sp__doc_count(c, "block_bytes", r->block_bytes);
	sp__doc_bool(c, "quick", o->quick);
	sp__doc_bool(c, "resumed", o->resume != NULL);
	sp__doc_known(c, "overwrite_bytes", o->overwrite_bytes);
	sp__doc_count(c, "seed", o->seed);
}

static void put_evidence(struct sp__doc doc, const struct sp_probe_evidence *e)
{
	struct sp__doc v = sp__doc_object(doc, "evidence");

	sp__doc_count(v, "samples", e->samples);
	sp__doc_count(v, "trial_periods", e->trials);
	put_time(v, "shortest_period_s", e->shortest_ns);
	put_time(v, "longest_period_s", e->longest_ns);
	sp__doc_real(v, "concentration", e->concentration);
	sp__doc_real(v, "chance", known(e->chance));
	put_time(v, "best_period_s", known(e->best_period_ns));
	sp__doc_real(v, "fast_share", e->fast_share);
	put_time(v, "same_block_s", e->same_ns);
	put_time(v, "random_block_s", e->other_ns);
	put_time(v, "near_s", known(e->near_ns));
	put_time(v, "far_s", known(e->far_ns));
	put_time(v, "clock_p99_s", e->clock_p99_ns);
}

static void put_host(struct sp__doc doc, const struct sp_probe_result *r)
{
	struct sp__doc h = sp__doc_object(doc, "host");

	put_time(h, "turnaround_s", r->turnaround_ns);
	put_time(h, "noise_s", known(r->noise_ns));
	sp__doc_real(h, "noise_tail", r->noise_ns > 0 ? r->noise_tail : NAN);
}

static void put_rotation(struct sp__doc doc, const struct sp_probe_result *r)
{
	struct sp__doc v = sp__doc_object(doc, "rotation");

	put_time(v, "period_s", r->period_ns);
	sp__doc_real(v, "rpm", 6e10 / r->period_ns);
	sp__doc_real(v, "error_ppm", r->period_ppm);
	sp__doc_text(v, "layout", r->layout);
	sp__doc_known(v, "surfaces", r->surfaces);
	sp__doc_known(v, "band_tracks", r->band);
	sp__doc_known(v, "settle_cylinders", r->settle_cylinders);
	put_time(v, "settle_s", known(r->settle_ns));
	sp__doc_bool(v, "cache", r->cache);
	put_time(v, "cache_hit_s", known(r->cache_hit_ns));
	sp__doc_known(v, "cache_flush_reads", r->cache_flush);
}

static void put_zones(struct sp__doc doc, const struct sp_probe_result *r)
{
	json_t *array = sp__doc_array(doc, "zones");

	for (size_t i = 0; i < r->nzones; i++) {
		const struct sp_probe_zone *z = &r->zones[i];
		struct sp__doc row = sp__doc_element(doc, array);

		sp__doc_count(row, "first", z->first);
		sp__doc_count(row, "blocks", z->blocks);
		sp__doc_count(row, "tracks", z->tracks);
		sp__doc_real(row, "track_blocks", z->track_blocks);
		sp__doc_count(row, "pattern", z->pattern);
		sp__doc_count(row, "odd_tracks", z->odd);
		sp__doc_real(row, "start_deg", z->mb_s > 0 ? z->start_deg : NAN);
		sp__doc_real(row, "skew_deg", z->mb_s > 0 ? z->skew_deg : NAN);
		sp__doc_real(row, "mb_per_second", known(z->mb_s));
		sp__doc_count(row, "reads", z->reads);
	}
}

static void put_seeks(struct sp__doc doc, const struct sp_probe_result *r)
{
	json_t *array = sp__doc_array(doc, "seeks");

	for (size_t i = 0; i < r->nseeks; i++) {
		const struct sp_probe_seek *s = &r->seeks[i];
		struct sp__doc row = sp__doc_element(doc, array);

		sp__doc_count(row, "tracks", s->tracks);
		sp__doc_count(row, "cylinders", s->cylinders);
		put_time(row, "read_s", known(s->read_ns));
		put_time(row, "write_s", known(s->write_ns));
		put_time(row, "queued_s", known(s->queued_ns));
	}
}

static void put_reach(struct sp__doc doc, const struct sp_geometry *g)
{
	json_t *array = sp__doc_array(doc, "reach");
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
static void put_aim(struct sp__doc doc, const struct sp_geometry *g, enum sp_geometry_op op)
{
	bool write = op == SP_GEOMETRY_WRITE;
	double aim = NAN;
	uint64_t tracks = 0;

	if (!g || sp_geometry_aim(g, op, &aim) || sp_geometry_reach(g, op, aim, &tracks)) {
		aim = NAN;
		tracks = 0;
	}
	sp__doc_real(doc, write ? "write_aim_deg" : "read_aim_deg", aim);
	sp__doc_count(doc, write ? "write_tracks" : "read_tracks", tracks);
}

static void put_adjacency(struct sp__doc doc, const struct sp_probe_result *r,
			  const struct sp_geometry *g)
{
	struct sp__doc a = sp__doc_object(doc, "adjacency");

	put_aim(a, g, SP_GEOMETRY_READ);
	put_aim(a, g, SP_GEOMETRY_WRITE);
	sp__doc_bool(a, "write_estimated", r->write_estimated);
	sp__doc_count(a, "hops", r->hops);
	sp__doc_count(a, "misses", r->hop_misses);
	sp__doc_real(a, "conservatism_deg", known(r->conservatism_deg));
	sp__doc_count(a, "guarded_hops", r->guarded_hops);
	sp__doc_count(a, "guarded_misses", r->guarded_hop_misses);
	put_reach(a, g);
}

static void put_checks(struct sp__doc doc, const struct sp_probe_result *r)
{
	struct sp__doc c = sp__doc_object(doc, "checks");

	sp__doc_bool(c, "tracks_cover_device", r->covers);
	sp__doc_bool(c, "tracks_descend", r->descending);
	sp__doc_count(c, "boundaries", r->rechecked);
	sp__doc_count(c, "boundary_misses", r->recheck_misses);
}

static void put_rates(struct sp__doc doc, const struct sp_probe_result *r)
{
	struct sp__doc d = sp__doc_object(doc, "load");
	json_t *array;

	sp__doc_known(d, "knee_depth", r->knee_depth);
	sp__doc_known(d, "preferred_bytes", r->knee_bytes);
	sp__doc_bool(d, "throttled", r->throttled);
	sp__doc_real(d, "throttle_share", known(r->throttle_share));
	array = sp__doc_array(d, "rates");
	for (size_t i = 0; i < r->nrates; i++) {
		const struct sp_probe_rate *p = &r->rates[i];
		struct sp__doc row = sp__doc_element(doc, array);

		sp__doc_count(row, "depth", p->depth);
		sp__doc_count(row, "request_bytes", p->bytes);
		sp__doc_real(row, "requests_per_second", p->requests_s);
		sp__doc_real(row, "mb_per_second", p->mb_s);
		put_time(row, "p50_s", p->p50_ns);
		put_time(row, "p99_s", p->p99_ns);
	}
}

static void put_cost(struct sp__doc doc, const struct sp_probe_result *r)
{
	struct sp__doc c = sp__doc_object(doc, "cost");

	sp__doc_count(c, "reads", r->reads);
	sp__doc_count(c, "layout_reads", r->layout_reads);
	sp__doc_count(c, "seek_reads", r->seek_reads);
	sp__doc_count(c, "flush_reads", r->flush_reads);
	sp__doc_count(c, "cache_hits", r->cache_hits);
	sp__doc_count(c, "writes", r->writes);
	sp__doc_count(c, "read_errors", r->errors);
	sp__doc_real(c, "device_s", r->device_s);
}

static void put_ranges(struct sp__doc doc, const struct sp_probe_result *r)
{
	json_t *bad = sp__doc_array(doc, "unreadable"), *unknown;

	for (size_t i = 0; i < r->nbad; i++) {
		struct sp__doc row = sp__doc_element(doc, bad);

		sp__doc_count(row, "first", r->bad[i][0]);
		sp__doc_count(row, "last", r->bad[i][1]);
	}
	unknown = sp__doc_array(doc, "unknown");
	for (size_t i = 0; i < r->nunknown; i++)
		if (json_array_append_new(unknown, json_string(r->unknown[i])))
			*doc.failed = true;
}

struct sp_report *sp_report_probe(const struct sp_probe *probe, const struct sp_probe_opts *opts)
{
	const struct sp_probe_result *r = sp_probe_result(probe);
	const struct sp_geometry *g = sp_probe_geometry(probe);
	bool failed, tracks = r->verdict == SP_PROBE_ROTATING;
	struct sp__doc doc, result;
	struct sp_report *report = sp__report_new("spindle.probe/1", tool, &failed, &doc);

	if (!report)
		return NULL;
	put_config(doc, opts, r);
	result = sp__doc_object(doc, "result");
	sp__doc_text(result, "verdict", sp_probe_verdict_name(r->verdict));
	sp__doc_bool(result, "stopped", r->stopped);
	put_evidence(doc, &r->evidence);
	put_host(doc, r);
	if (tracks) {
		put_rotation(doc, r);
		put_zones(doc, r);
		put_seeks(doc, r);
		put_adjacency(doc, r, g);
		put_checks(doc, r);
	}
	if (r->nrates)
		put_rates(doc, r);
	put_ranges(doc, r);
	put_cost(doc, r);
	return sp__report_done(report, failed);
}

struct sp_report *sp_report_probe_verify(const char *device, const struct sp_probe_verify *v)
{
	struct sp__doc doc, result;
	bool failed;
	struct sp_report *report = sp__report_new("spindle.probe-verify/1", tool, &failed, &doc);

	if (!report)
		return NULL;
	sp__doc_text(sp__doc_object(doc, "config"), "device", device);
	result = sp__doc_object(doc, "result");
	sp__doc_count(result, "pairs", v->pairs);
	sp__doc_count(result, "read_errors", v->errors);
	put_time(result, "response_s", v->mean_ns);
	put_time(result, "foretold_s", v->predicted_ns);
	put_time(result, "demerit_s", v->demerit_ns);
	sp__doc_real(result, "turns_right_share", v->turns_right);
	sp__doc_real(result, "within_tenth_turn_share", v->within_share);
	return sp__report_done(report, failed);
}
