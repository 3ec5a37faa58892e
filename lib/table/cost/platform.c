/* SPDX-License-Identifier: MIT */
/*
 * Finds what is known of a device.
 */
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "dev/drive.h"
#include "dev/geometry.h"
#include "dev/model.h"
#include "run/volume_spec.h"
#include "sim/machine.h"
#include "table/cost/device.h"
#include "table/cost/platform.h"
#include "table/layout/shares.h"

#define MIB (UINT64_C(1) << 20)
#define SHORT_BYTES 4096
#define SHORT_READS 512
#define LONG_READS 64
#define LONG_DEPTH 4
#define SEED 1
/* Of a real host. */
#define RECORD_NS 20
#define COPY_NS 0.1
#define VALUE_NS 1
#define GAP_SHARE 2    /* a gap takes at most half of the time of going on without it */
#define POSITIONINGS 9 /* positioning is a tenth of the time of a run */

static int read_spec(struct sp__cost_platform *p, struct sp_errinfo *err)
{
	struct sp__machine_spec spec;
	struct sp__model *m = NULL;
	int rc = sp__machine_spec_parse(&spec, sp__volume_spec_machine_spec(p->run), err);

	if (!rc)
		rc = sp__machine_spec_model(&m, &spec, err);
	if (rc)
		return rc;
	p->host_ns = m->cpu_request_ns;
	p->record_ns = m->cpu_record_ns;
	p->copy_ns = m->cpu_copy_ps * 1e-3;
	p->value_ns = m->cpu_value_ns;
	p->compare_ns = m->cpu_compare_ns;
	p->fifo = (spec.device.policy < 0 ? (int)m->window_policy : spec.device.policy) ==
		  SP__WINDOW_FIFO;
	p->window = (spec.device.window ? spec.device.window : m->window) * m->drives;
	if (sp__model_drive(m)) {
		p->bus_ns = (double)sp__model_drive(m)->bus_ps * 1e-3;
		p->bus_apart[SP_GEOMETRY_READ] = sp__model_drive(m)->bus_apart[0];
		p->bus_apart[SP_GEOMETRY_WRITE] = sp__model_drive(m)->bus_apart[1];
	}
	rc = sp__geometry_of(&p->own, m, err);
	sp__model_free(m);
	return rc;
}

/* Reads at random or in sequence from a fresh machine; *seconds of all reads. */
static int time_reads(struct sp__cost_platform *p, unsigned n, unsigned depth, uint64_t bytes,
		      bool sequential, double *seconds, struct sp_errinfo *err)
{
	uint64_t space = (uint64_t)SHORT_READS * MIB / 2;
	struct sp__rng rng = { SEED };
	struct sp__cost_device d;
	int rc;

	if (p->own->blocks * p->own->block_bytes < 2 * space)
		space = p->own->blocks * p->own->block_bytes / 2;
	space -= space % bytes;
	rc = sp__cost_device_open(&d, p, NULL, space, true, err);
	sp__cost_device_depth(&d, depth);
	for (uint64_t i = 0; !rc && i < n; i++) {
		uint64_t at = sequential ? i : sp__rng_below(&rng, space / bytes);

		rc = sp__cost_device_issue(&d, false, at * bytes % space, bytes);
	}
	if (!rc)
		rc = sp__cost_device_wait(&d);
	*seconds = rc ? 0 : sp__cost_device_s(&d);
	sp__cost_device_close(&d);
	return rc;
}

/* Measures latency, rate of short reads, and rate of long ones. */
static int measure(struct sp__cost_platform *p, struct sp_errinfo *err)
{
	double alone_s, many_s = 0, long_s = 0;
	int rc;

	if (p->own->blocks * p->own->block_bytes < 8 * MIB)
		return 0;
	rc = time_reads(p, 1, 1, SHORT_BYTES, false, &alone_s, err);
	if (!rc)
		rc = time_reads(p, SHORT_READS, SP__COST_DEPTH, SHORT_BYTES, false, &many_s, err);
	if (!rc)
		rc = time_reads(p, LONG_READS, LONG_DEPTH, MIB, true, &long_s, err);
	if (rc)
		return rc;
	p->costs.latency_s = alone_s;
	p->costs.requests_s = SHORT_READS / many_s;
	p->costs.transfer_s_per_mib = long_s / LONG_READS;
	return 0;
}

int sp__cost_platform_open(struct sp__cost_platform *p, const struct sp_run_opts *run,
			   struct sp_errinfo *err)
{
	int rc = 0;

	*p = (struct sp__cost_platform){ .run = run,
					 .simulated = sp__volume_spec_simulated(run),
					 .record_ns = RECORD_NS,
					 .copy_ns = COPY_NS,
					 .value_ns = VALUE_NS,
					 .compare_ns = VALUE_NS };
	if (p->simulated)
		rc = read_spec(p, err);
	p->geometry = p->tracks = run->geometry ? run->geometry : p->own;
	p->costs = sp__device_costs(p->geometry, false);
	if (!rc && p->simulated && !p->geometry->nzones && !(p->geometry->requests_s > 0))
		rc = measure(p, err);
	return rc;
}

int sp__cost_platform_open_drives(struct sp__cost_platform *p, const struct sp_run_opts *run,
				  const struct sp__lanemap *lanemap, struct sp_errinfo *err)
{
	struct sp_run_opts all = *run;
	char *array = NULL;
	int rc;

	if (lanemap->volumes == 1 || !run->volume)
		return sp__cost_platform_open(p, run, err);
	all.geometry = NULL;
	all.volume = array = sp__lanemap_array(lanemap, run->volume);
	rc = array ? sp__cost_platform_open(p, &all, err)
		   : sp__err(err, -ENOMEM, "malloc", NULL, -1);
	p->array = array;
	p->array_run = all;
	p->run = &p->array_run;
	p->tracks = run->geometry ? run->geometry : p->own;
	return rc;
}

void sp__cost_platform_close(struct sp__cost_platform *p)
{
	free(p->array);
	sp_geometry_free(p->own);
}

double sp__cost_rho(const struct sp__cost_platform *p, uint32_t cell_bytes)
{
	double sequential_s = (double)cell_bytes / MIB * p->costs.transfer_s_per_mib;

	if (p->geometry && p->geometry->nzones)
		return sequential_s / (p->costs.seek_s + sequential_s);
	return fmin(sequential_s * p->costs.requests_s, 1);
}

double sp__cost_switch_share(const struct sp__cost_platform *p, const struct sp__table_layout *l,
			     const bool *groups, const bool *first)
{
	uint32_t records = 0;

	for (uint32_t g = 0; g < l->ngroups; g++)
		if (groups[g] && !first[g])
			records = sp__max(records, l->groups[g].cell_records);
	return records ? sp__share_switch(sp__cost_rho(p, l->cell_bytes), records) : 0;
}

uint64_t sp__cost_gap_bytes(const struct sp__cost_platform *p)
{
	const struct sp__device_costs *c = &p->costs;
	bool tracks = p->geometry && p->geometry->nzones;
	/* A head hops over a gap at least as fast as it reads it, unless the gap is short. */
	double other_s = tracks ? sp__device_costs(p->geometry, true).seek_s : 1 / c->requests_s;

	return (uint64_t)(other_s / GAP_SHARE / (c->transfer_s_per_mib / MIB));
}

uint64_t sp__cost_strip_bytes(const struct sp__cost_platform *p)
{
	double bytes = SP__STRIP_BYTES;

	if (p->geometry && p->geometry->nzones)
		bytes = fmax(bytes,
			     POSITIONINGS * p->costs.seek_s / (p->costs.transfer_s_per_mib / MIB));
	return (uint64_t)bytes;
}
