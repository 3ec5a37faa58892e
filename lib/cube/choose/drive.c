/* SPDX-License-Identifier: MIT */
/*
 * Reads the drive of a volume from its model.
 */
#include <spindle/geometry.h>
#include "base/minmax.h"
#include "cube/choose/drive.h"
#include "cube/file/volumes.h"
#include "dev/drive.h"
#include "dev/geometry.h"
#include "dev/model.h"
#include "run/volume_spec.h"
#include "sim/machine.h"

/* Sets what the model of a drive, or of an array, says. */
static void describe(struct sp__cubedrive *d, const struct sp__machine_spec *spec,
		     const struct sp__model *m, unsigned volumes)
{
	d->bytes = sp__cube_drive_bytes(m->blocks * m->block_bytes, volumes, spec->page_bytes);
	d->host_ns = m->cpu_request_ns;
	d->caches = sp__model_drive(m) && sp__model_drive(m)->cache.segments;
	d->fifo = (spec->device.policy < 0 ? (int)m->window_policy : spec->device.policy) ==
		  SP__WINDOW_FIFO;
	d->window = (spec->device.window ? spec->device.window : m->window) *
		    (volumes > 1 ? 1 : m->drives);
}

int sp__cubedrive_find(struct sp__cubedrive *d, const struct sp_run_opts *run, unsigned volumes,
		       const char *path, struct sp_errinfo *err)
{
	const char *text = sp__volume_spec_machine_spec(run);
	struct sp__machine_spec spec;
	const struct sp__model *m;
	int rc;

	*d = (struct sp__cubedrive){ .geometry = run->geometry };
	volumes = (unsigned)sp__max(volumes, 1);
	if (!text)
		return 0;
	rc = sp__cube_drives(&spec, text, volumes, path, err);
	if (!rc)
		rc = sp__machine_spec_model(&d->model, &spec, err);
	if (rc)
		return rc;
	m = d->model;
	describe(d, &spec, m, volumes);
	if (d->geometry)
		return sp__volume_spec_check_geometry(d->geometry, m->blocks / volumes,
						      m->block_bytes, err);
	rc = volumes > 1 ? sp_geometry_model(&d->own, spec.model, err)
			 : sp__geometry_of(&d->own, m, err);
	d->geometry = d->own;
	return rc;
}

void sp__cubedrive_share(struct sp__cubedrive *d, struct sp_run_opts *run, unsigned volumes)
{
	struct sp_errinfo ignored = SP_ERRINFO_INIT;

	*d = (struct sp__cubedrive){ 0 };
	if (!sp__volume_spec_check(run, &ignored) &&
	    !sp__cubedrive_find(d, run, volumes, "", &ignored))
		run->geometry = d->geometry;
}

void sp__cubedrive_free(struct sp__cubedrive *d)
{
	sp_geometry_free(d->own);
	sp__model_free(d->model);
}
