/* SPDX-License-Identifier: MIT */
/* Computes the costs of a device from its geometry (costs.h). */
#include <math.h>
#include "dev/geometry.h"
#include "predict/costs.h"

/*
 * Without a geometry: a flash drive of 2 GB/s, with 0.03 ms per read while others are outstanding.
 */
#define SEEK_S 0.00003
#define LATENCY_S 0.0001
#define PAGE_MIN 4096u
#define MIB 1048576.0

/*
 * Returns the time of a hop along the semi-sequential path: the angle of the aim for hops inside a
 * round of a serpentine.
 */
static double hop_seconds(const struct sp_geometry *g, const struct sp_geometry_info *info)
{
	const struct sp__hops *hops;

	if (sp__geometry_hops(g, SP_GEOMETRY_READ, 0, 0, &hops) < 0)
		return info->seek_s;
	return hops->aim_deg / 360 * info->period_ns * 1e-9;
}

struct sp__device_costs sp__device_costs(const struct sp_geometry *g, bool semiseq)
{
	struct sp__device_costs d = { .transfer_s_per_mib = SP__DEVICE_TRANSFER_S_PER_MIB,
				      .seek_s = SEEK_S,
				      .latency_s = LATENCY_S,
				      .requests_s = 1 / SEEK_S };
	struct sp_geometry_info info;

	if (!g)
		return d;
	sp_geometry_info(g, &info);
	if (info.transfer_s_per_mib > 0) {
		d.transfer_s_per_mib = info.transfer_s_per_mib;
		d.seek_s = info.seek_s;
		d.latency_s = info.seek_s + PAGE_MIN / MIB * info.transfer_s_per_mib;
		d.requests_s = 1 / d.latency_s;
	}
	if (g->latency_s > 0 && g->requests_s > 0) {
		d.latency_s = g->latency_s;
		d.requests_s = g->requests_s;
	}
	d.path = semiseq && info.tracks;
	if (d.path) {
		d.seek_s = hop_seconds(g, &info);
		d.away_s = d.seek_s + info.period_ns / 2 * 1e-9;
	}
	return d;
}

uint32_t sp__device_page(const struct sp_geometry *g, unsigned pages)
{
	struct sp_geometry_info info;
	struct sp_zone zone;
	double bytes;

	if (sp_geometry_zone(g, 0, &zone))
		return SP__DEVICE_PAGE_MAX;
	sp_geometry_info(g, &info);
	bytes = zone.track_blocks * info.block_bytes / pages;
	return (uint32_t)fmin(fmax(bytes, PAGE_MIN), SP__DEVICE_PAGE_MAX);
}
