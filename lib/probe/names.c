/* SPDX-License-Identifier: MIT */
/* The names of verdicts and steps. */
#include <spindle/probe.h>
#include "base/enum.h"

SP__ENUM_TABLE(sp_probe_verdict, { "inconclusive", SP_PROBE_INCONCLUSIVE },
	       { "rotating", SP_PROBE_ROTATING }, { "not-rotating", SP_PROBE_NOT_ROTATING },
	       { "layered", SP_PROBE_LAYERED })

SP__ENUM_TABLE(sp_probe_step, { "rotation", SP_PROBE_ROTATION }, { "period", SP_PROBE_PERIOD },
	       { "zones", SP_PROBE_ZONES }, { "skews", SP_PROBE_SKEWS },
	       { "seeks", SP_PROBE_SEEKS }, { "checks", SP_PROBE_CHECKS },
	       { "depths", SP_PROBE_DEPTHS })
