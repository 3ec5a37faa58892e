/* SPDX-License-Identifier: MIT */
/*
 * Finds what is known of a device.
 */
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/rng.h"
#include "dev/geometry.h"
#include "predict/platform.h"
#include "predict/timer.h"
#include "run/volume_spec.h"

#define MIB (UINT64_C(1) << 20)
#define SHORT_BYTES 4096
#define SHORT_READS 512
#define LONG_READS 64
#define LONG_DEPTH 4
#define SEED 1
#define GAP_SHARE 2    /* a gap takes at most half of the time of going on without it */
#define POSITIONINGS 9 /* positioning is a tenth of the time of a run */

/* Reads at random or in sequence from a fresh machine; *seconds of all reads. */
static int time_reads(struct sp__platform *p, unsigned n, unsigned depth, uint64_t bytes,
		      bool sequential, double *seconds, struct sp_errinfo *err)
{
	uint64_t space = (uint64_t)SHORT_READS * MIB / 2;
	struct sp__rng rng = { SEED };
	struct sp__timer_opts o = { .platform = p, .measure = true };
	struct sp__timer d;
	int rc;

	if (p->drive.own->blocks * p->drive.own->block_bytes < 2 * space)
		space = p->drive.own->blocks * p->drive.own->block_bytes / 2;
	space -= space % bytes;
	o.bytes = space;
	rc = sp__timer_open(&d, &o, err);
	sp__timer_depth(&d, depth);
	for (uint64_t i = 0; !rc && i < n; i++) {
		uint64_t at = sequential ? i : sp__rng_below(&rng, space / bytes);

		rc = sp__timer_issue(&d, false, at * bytes % space, bytes);
	}
	if (!rc)
		rc = sp__timer_wait(&d);
	*seconds = rc ? 0 : sp__timer_s(&d);
	sp__timer_close(&d);
	return rc;
}

/* Measures latency, rate of short reads, and rate of long ones. */
static int measure(struct sp__platform *p, struct sp_errinfo *err)
{
	double alone_s, many_s = 0, long_s = 0;
	int rc;

	if (p->drive.own->blocks * p->drive.own->block_bytes < 8 * MIB)
		return 0;
	rc = time_reads(p, 1, 1, SHORT_BYTES, false, &alone_s, err);
	if (!rc)
		rc = time_reads(p, SHORT_READS, SP__TIMER_DEPTH, SHORT_BYTES, false, &many_s, err);
	if (!rc)
		rc = time_reads(p, LONG_READS, LONG_DEPTH, MIB, true, &long_s, err);
	if (rc)
		return rc;
	p->costs.latency_s = alone_s;
	p->costs.requests_s = SHORT_READS / many_s;
	p->costs.transfer_s_per_mib = long_s / LONG_READS;
	return 0;
}

int sp__platform_open(struct sp__platform *p, const struct sp_run_opts *run, struct sp_errinfo *err)
{
	struct sp_run_opts own = *run;
	int rc;

	own.geometry = NULL; /* the geometry of the model is needed, too */
	*p = (struct sp__platform){ .run = run, .simulated = sp__volume_spec_simulated(run) };
	rc = sp__volume_drive_find(&p->drive, &own, 1, NULL, err);
	p->geometry = p->tracks = run->geometry ? run->geometry : p->drive.own;
	p->costs = sp__device_costs(p->geometry, false);
	if (!rc && p->simulated && !p->geometry->nzones && !(p->geometry->requests_s > 0))
		rc = measure(p, err);
	return rc;
}

int sp__platform_open_drives(struct sp__platform *p, const struct sp_run_opts *run, unsigned drives,
			     struct sp_errinfo *err)
{
	struct sp_run_opts all = *run;
	char *array = NULL;
	int rc;

	if (drives == 1 || !run->volume)
		return sp__platform_open(p, run, err);
	all.geometry = NULL;
	all.volume = array = sp__volume_spec_array(run->volume, drives);
	rc = array ? sp__platform_open(p, &all, err) : sp__err(err, -ENOMEM, "malloc", NULL, -1);
	p->array = array;
	p->array_run = all;
	p->run = &p->array_run;
	p->tracks = run->geometry ? run->geometry : p->drive.own;
	return rc;
}

void sp__platform_close(struct sp__platform *p)
{
	free(p->array);
	sp__volume_drive_free(&p->drive);
}

double sp__platform_rho(const struct sp__platform *p, uint32_t page_bytes)
{
	double sequential_s = (double)page_bytes / MIB * p->costs.transfer_s_per_mib;

	if (p->geometry && p->geometry->nzones)
		return sequential_s / (p->costs.seek_s + sequential_s);
	return fmin(sequential_s * p->costs.requests_s, 1);
}

uint64_t sp__platform_gap_bytes(const struct sp__platform *p)
{
	const struct sp__device_costs *c = &p->costs;
	bool tracks = p->geometry && p->geometry->nzones;
	/* A head hops over a gap at least as fast as it reads it, unless the gap is short. */
	double other_s = tracks ? sp__device_costs(p->geometry, true).seek_s : 1 / c->requests_s;

	return (uint64_t)(other_s / GAP_SHARE / (c->transfer_s_per_mib / MIB));
}

uint64_t sp__platform_run_bytes(const struct sp__platform *p, uint64_t min_bytes)
{
	double bytes = (double)min_bytes;

	if (p->geometry && p->geometry->nzones)
		bytes = fmax(bytes,
			     POSITIONINGS * p->costs.seek_s / (p->costs.transfer_s_per_mib / MIB));
	return (uint64_t)bytes;
}
