/* SPDX-License-Identifier: MIT */
/*
 * Reads the drive of a volume from its model.
 */
#include <spindle/geometry.h>
#include "base/minmax.h"
#include "dev/drive.h"
#include "dev/geometry.h"
#include "dev/model.h"
#include "predict/drive.h"
#include "run/volume_spec.h"
#include "sim/machine.h"

/* Times of a real host. */
#define RECORD_NS 20
#define COPY_NS 0.1
#define VALUE_NS 1

static struct sp__drive_facts facts_of(const struct sp__machine_spec *spec,
				       const struct sp__model *m, unsigned volumes)
{
	const int policy = spec->device.policy < 0 ? (int)m->window_policy : spec->device.policy;
	const struct sp__drive *drive = sp__model_drive(m);
	struct sp__drive_facts f = {
		.host_ns = m->cpu_request_ns,
		.fifo = policy == SP__WINDOW_FIFO,
		.window = (spec->device.window ? spec->device.window : m->window) *
			  (volumes > 1 ? 1 : m->drives),
		.record_ns = m->cpu_record_ns,
		.copy_ns = m->cpu_copy_ps * 1e-3,
		.value_ns = m->cpu_value_ns,
		.compare_ns = m->cpu_compare_ns,
	};

	if (drive) {
		f.caches = drive->cache.segments;
		f.bus_ns = (double)drive->bus_ps * 1e-3;
		f.bus_apart[SP_GEOMETRY_READ] = drive->bus_apart[0];
		f.bus_apart[SP_GEOMETRY_WRITE] = drive->bus_apart[1];
	}
	return f;
}

int sp__volume_drive_find(struct sp__volume_drive *d, const struct sp_run_opts *run,
			  unsigned volumes, const char *path, struct sp_errinfo *err)
{
	const char *text = sp__volume_spec_machine_spec(run);
	struct sp__machine_spec spec;
	const struct sp__model *m;
	int rc;

	*d = (struct sp__volume_drive){ .geometry = run->geometry,
					.facts = { .record_ns = RECORD_NS,
						   .copy_ns = COPY_NS,
						   .value_ns = VALUE_NS,
						   .compare_ns = VALUE_NS } };
	volumes = (unsigned)sp__max(volumes, 1);
	if (!text)
		return 0;
	rc = sp__volume_spec_drives(&spec, text, volumes, path, err);
	if (!rc)
		rc = sp__machine_spec_model(&d->model, &spec, err);
	if (rc)
		return rc;
	m = d->model;
	d->facts = facts_of(&spec, m, volumes);
	d->bytes =
		sp__volume_spec_drive_bytes(m->blocks * m->block_bytes, volumes, spec.page_bytes);
	if (d->geometry)
		return sp__volume_spec_check_geometry(d->geometry, m->blocks / volumes,
						      m->block_bytes, err);
	rc = volumes > 1 ? sp_geometry_model(&d->own, spec.model, err)
			 : sp__geometry_of(&d->own, m, err);
	d->geometry = d->own;
	return rc;
}

void sp__volume_drive_share(struct sp__volume_drive *d, struct sp_run_opts *run, unsigned volumes)
{
	struct sp_errinfo ignored = SP_ERRINFO_INIT;

	*d = (struct sp__volume_drive){ 0 };
	if (!sp__volume_spec_check(run, &ignored) &&
	    !sp__volume_drive_find(d, run, volumes, "", &ignored))
		run->geometry = d->geometry;
}

void sp__volume_drive_free(struct sp__volume_drive *d)
{
	sp_geometry_free(d->own);
	sp__model_free(d->model);
}
