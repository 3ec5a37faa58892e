/* SPDX-License-Identifier: MIT */
/*
 * Compares all mappings for a workload: predicted, and measured on the simulated volume with cubes
 * that have no file.  Every query has the same positions under each mapping.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "cube/choose/choose.h"
#include "run/volume_spec.h"

static void describe(struct sp_cube_candidate *c, const struct sp__cube_plan *plan)
{
	const struct sp__mapping *m = &plan->superblock.mapping;

	c->mapping = m->kind;
	memcpy(c->order, m->order, sizeof(c->order));
	c->conservatism_deg = plan->opts->conservatism_deg;
	if (plan->superblock.points)
		return;
	if (m->kind == SP_CUBE_MULTIMAP)
		memcpy(c->basic, m->basic.k, sizeof(c->basic));
	c->waste = sp__mapping_waste(m);
}

int sp__candidate_predict(struct sp_cube_candidate *c, const struct sp__cube_plan *plan)
{
	struct sp__runs_prediction p;
	int rc = sp__cube_predict(plan, 0, 0, &p);

	if (!rc) {
		c->predicted_s = p.ns * 1e-9;
		c->early_s = p.early_ns * 1e-9;
		c->late_s = p.late_ns * 1e-9;
		c->closed_s = p.closed_ns * 1e-9;
		c->requests = p.requests;
		c->bytes = p.blocks * plan->superblock.block_bytes;
	}
	return rc == -ENODATA ? 0 : rc;
}

int sp__candidate_plan(struct sp_cube_candidate *c, struct sp__cube_plan *plan,
		       const struct sp_cube_create_opts *opts, struct sp_errinfo *err)
{
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	int rc;

	*c = (struct sp_cube_candidate){ .mapping = opts->mapping,
					 .waste = NAN,
					 .predicted_s = NAN,
					 .early_s = NAN,
					 .late_s = NAN,
					 .requests = NAN,
					 .bytes = NAN,
					 .closed_s = NAN,
					 .measured_s = NAN };
	rc = sp__cube_plan(plan, opts, "cube", &cause);
	plan->err = err;
	c->code = rc;
	if (!rc) {
		describe(c, plan);
		return 0;
	}
	snprintf(c->reason, sizeof(c->reason), "%s", cause.text[0] ? cause.text : sp_strerror(rc));
	return rc == SP_EUNSUP || rc == -ENOSPC
		       ? 0
		       : sp__errf(err, rc, "plan", "cube", -1, "%s", c->reason);
}

static int examine(struct sp_cube_candidate *c, const struct sp_cube_create_opts *opts, bool run,
		   struct sp_errinfo *err)
{
	struct sp__cube_plan plan;
	int rc = sp__candidate_plan(c, &plan, opts, err);

	if (!rc && !c->code)
		rc = sp__candidate_predict(c, &plan);
	if (!rc && !c->code && run)
		rc = sp__cube_measure(&plan, 0, &c->measured_s, err);
	sp__cube_plan_free(&plan);
	return rc;
}

static int compare(const struct sp_cube_create_opts *opts, bool run,
		   struct sp_cube_candidate candidates[SP_CUBE_CANDIDATES], struct sp_errinfo *err)
{
	struct sp_cube_create_opts o;
	int rc = 0;

	for (unsigned i = 0; !rc && i < SP_CUBE_CANDIDATES - 1; i++) {
		o = *opts;
		o.mapping = (enum sp_cube_mapping)(SP_CUBE_MULTIMAP + i);
		rc = sp__cube_choose_open(&o, err);
		rc = rc ? rc : examine(&candidates[i], &o, run, err);
	}
	o = *opts;
	o.mapping = SP_CUBE_AUTO;
	if (!rc)
		rc = sp__cube_choose(&o, err);
	return rc ? rc : examine(&candidates[SP_CUBE_CANDIDATES - 1], &o, run, err);
}

int sp_cube_compare(const struct sp_cube_create_opts *opts, bool run,
		    struct sp_cube_candidate candidates[SP_CUBE_CANDIDATES], struct sp_errinfo *err)
{
	struct sp_cube_create_opts o = *opts;
	struct sp__volume_drive drive;
	int rc;

	if (run && !sp__volume_spec_simulated(&opts->run))
		return sp__errf(err, SP_EUNSUP, "plan", "cube", -1,
				"measuring mappings needs a simulated volume");
	sp__volume_drive_share(&drive, &o.run, o.volumes);
	rc = compare(&o, run, candidates, err);
	sp__volume_drive_free(&drive);
	return rc;
}
