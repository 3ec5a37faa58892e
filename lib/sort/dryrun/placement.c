/* SPDX-License-Identifier: MIT */
/*
 * Chooses a placement: makes a plan for each, runs them dry, and takes the one with the shortest
 * time.
 *
 * Placement by tracks pays where runs are written, since what is left of a track behind its last
 * whole page gives a write the time to settle, and along the semi-sequential path where short
 * clusters of many runs are read; it costs space, and pages that suit tracks.  Times are known on
 * simulated machines alone; elsewhere, and if nothing is known of the input, runs are contiguous.
 * Times that are nearly equal decide nothing.
 */
#include <spindle/sort.h>
#include "run/memory.h"
#include "run/volume_spec.h"
#include "sort/plan/layout.h"

#define NOTABLE 0.98

static int plan_and_predict(const struct sp_sort_opts *o, struct sp_sort_plan *plan,
			    struct sp_errinfo *err)
{
	int rc = sp__plan_placed(o, plan, err);

	return rc < 0 ? rc : sp_sort_predict(o, plan, err);
}

int sp_sort_plan(const struct sp_sort_opts *opts, struct sp_sort_plan *plan, struct sp_errinfo *err)
{
	static const enum sp_placement others[] = { SP_PLACE_TRACK, SP_PLACE_SEMISEQ };
	struct sp_sort_opts o = *opts;
	int rc;

	sp__plan_threads(&o);
	if (opts->run.placement != SP_PLACE_AUTO)
		return sp__plan_placed(&o, plan, err);
	o.run.placement = SP_PLACE_CONTIGUOUS;
	rc = plan_and_predict(&o, plan, err);
	if (rc < 0 || !sp__volume_spec_simulated(&o.run) || !plan->seconds || plan->in_memory)
		return rc;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct sp_errinfo unused = SP_ERRINFO_INIT;
		struct sp_sort_plan other;

		o.run.placement = others[i];
		if (plan_and_predict(&o, &other, &unused) == 0 &&
		    other.seconds < plan->seconds * NOTABLE)
			*plan = other;
	}
	return 0;
}
