/* SPDX-License-Identifier: MIT */
/*
 * Probes a simulated drive, and compares the result with the truth.
 */
#ifndef PROBECASE_H
#define PROBECASE_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/probe.h>
#include "base/rng.h"
#include "tap.h"

/* A model file; the rest of the text goes between the braces. */
static inline void probecase_write(const char *path, const char *rest)
{
	FILE *f = fopen(path, "w");

	if (!f)
		exit(2);
	fprintf(f,
		"{\"schema\":\"spindle.model/1\",\"kind\":\"rotating\",\"name\":\"planted\","
		"\"about\":\"for a test\",\"block_bytes\":512,%s"
		"\"write_settle_ms\":0.3,\"read_overhead_ms\":0.2,\"write_overhead_ms\":0.2,"
		"\"queue\":{\"depth\":8,\"policy\":\"fifo\"},%s%s}",
		strstr(rest, "head_switch_ms") ? "" : "\"head_switch_ms\":0.6,",
		strstr(rest, "seek_ms") ? ""
					: "\"seek_ms\":[[1,0.7],[8,0.9],[9,1.3],[100,2],[5999,6]],",
		rest);
	fclose(f);
}

struct probecase {
	struct sp_probe *probe;
	const struct sp_probe_result *r; /* NULL: it could not be probed */
	struct sp_geometry *truth;
	struct sp_geometry_info info;		  /* of the truth */
	unsigned looked, wrong, doubled, unknown; /* tracks */
	uint64_t reach, true_reach;		  /* D */
};

static inline uint64_t probecase_reach(const struct sp_geometry *g)
{
	uint64_t tracks = 0;
	double aim;

	if (sp_geometry_aim(g, SP_GEOMETRY_READ, &aim) ||
	    sp_geometry_reach(g, SP_GEOMETRY_READ, aim, &tracks))
		return 0;
	return tracks;
}

static inline void probecase_look(struct probecase *c, uint64_t lbn)
{
	struct sp_track a, b;

	if (sp_geometry_track(c->truth, lbn, &b))
		return;
	c->looked++;
	if (sp_geometry_track(sp_probe_geometry(c->probe), lbn, &a)) {
		c->unknown++;
	} else if (a.first != b.first || a.blocks != b.blocks) {
		if (!c->wrong++)
			diag("LBN %" PRIu64 ": track %" PRIu64 " + %u, truly %" PRIu64 " + %u", lbn,
			     a.first, a.blocks, b.first, b.blocks);
		c->doubled += a.blocks > b.blocks + b.blocks / 2;
	}
}

/* At all edges of zones, the true and the found ones, and at random blocks. */
static inline void probecase_compare(struct probecase *c)
{
	const struct sp_geometry *both[] = { c->truth, sp_probe_geometry(c->probe) };
	struct sp__rng rng = { 5 };
	struct sp_zone z;

	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; !sp_geometry_zone(both[i], k, &z); k++) {
			probecase_look(c, z.first);
			probecase_look(c, z.first + z.blocks - 1);
		}
	for (unsigned i = 0; i < 1000; i++)
		probecase_look(c, sp__rng_below(&rng, c->info.blocks));
	c->reach = probecase_reach(both[1]);
	c->true_reach = probecase_reach(c->truth);
}

/* noise: as in "sim:MODEL,noise=", or "". */
static inline struct probecase probecase_run(const char *model, const char *noise, unsigned seed)
{
	char device[400];
	struct sp_probe_opts opts = { .device = device, .seed = seed };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct probecase c = { 0 };

	snprintf(device, sizeof(device), "sim:%s%s%s,seed=%u", model, *noise ? ",noise=" : "",
		 noise, seed);
	if (sp_geometry_model(&c.truth, model, &err) || sp_probe_run(&c.probe, &opts, &err)) {
		diag("%s: %s", device, err.text);
		return c;
	}
	sp_geometry_info(c.truth, &c.info);
	c.r = sp_probe_result(c.probe);
	probecase_compare(&c);
	return c;
}

static inline void probecase_free(struct probecase *c)
{
	sp_probe_free(c->probe);
	sp_geometry_free(c->truth);
}

static inline bool probecase_says_unknown(const struct probecase *c, const char *what)
{
	for (size_t i = 0; c->r && i < c->r->nunknown; i++)
		if (!strcmp(c->r->unknown[i], what))
			return true;
	return false;
}

/* Every track exact. */
static inline bool probecase_exact(const struct probecase *c)
{
	return c->r && c->looked && !c->wrong && !c->unknown && c->r->covers;
}

/* Nothing is wrong, and unknown values are reported as unknown. */
static inline bool probecase_honest(const struct probecase *c)
{
	if (!c->r || c->wrong || c->doubled)
		return false;
	if (c->r->verdict != SP_PROBE_ROTATING)
		return !c->r->nzones;
	if (c->unknown && !probecase_says_unknown(c, "part of the tracks") &&
	    !probecase_says_unknown(c, "angles"))
		return false;
	return c->r->layout || probecase_says_unknown(c, "layout");
}

/* The direction of heads can be unknown. */
static inline bool probecase_layout_right(const struct probecase *c)
{
	size_t n = probecase_says_unknown(c, "direction of heads") ? strlen("cylinder") : SIZE_MAX;

	return c->r && c->r->layout && !strncmp(c->r->layout, c->info.layout, n) &&
	       c->r->surfaces == c->info.surfaces;
}

/* D is at most the true one, and at least nine tenths of it. */
static inline bool probecase_reach_right(const struct probecase *c)
{
	return c->reach <= c->true_reach && 10 * c->reach >= 9 * c->true_reach;
}

static inline void probecase_cost(const struct probecase *c, const char *what)
{
	if (c->r)
		diag("%s: %" PRIu64 " reads, %.1f s of the device's time; D %" PRIu64
		     " of %" PRIu64,
		     what, c->r->cost.reads + c->r->cost.flush_reads, c->r->device_s, c->reach,
		     c->true_reach);
}

#endif
