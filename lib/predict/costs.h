/* SPDX-License-Identifier: MIT */
/*
 * Summarizes a device for planners: the cost of a read by its size, and the page size that suits
 * its tracks.  The functions neither open nor measure the device.
 */
#pragma once

#include <spindle/run.h>

/* The cost of a read in two numbers, t and s of Zhang & Larson. */
struct sp__device_costs {
	double transfer_s_per_mib, seek_s;
	bool path;     /* the data is placed along the semi-sequential path, and seek_s is a hop */
	double away_s; /* with a path: the time to leave it for a write and return */
	/* Without tracks: a random read of 4 KiB alone, and such reads per second at the knee. */
	double latency_s, requests_s;
};
#define SP__DEVICE_TRANSFER_S_PER_MIB 0.0005 /* without a geometry */
/* geometry: NULL: a flash drive is assumed. semiseq: the data is placed along the path. */
struct sp__device_costs sp__device_costs(const struct sp_geometry *geometry, bool semiseq);
/*
 * Returns the largest page, from 4 KiB to SP__DEVICE_PAGE_MAX, of which `pages` fit on the first
 * track.
 */
uint32_t sp__device_page(const struct sp_geometry *geometry, unsigned pages);
#define SP__DEVICE_PAGE_MAX (1u << 20)
#define SP__DEVICE_PAGES 10 /* per track: only a small part of it is unused */
