/* SPDX-License-Identifier: MIT */
/*
 * Counts events of the processor during units, by the means that a run has chosen.
 */
#pragma once

#include "dbm/usage.h"

/*
 * The processor's counters are read in all units.  Cachegrind makes programs fifty times slower, so
 * it counts in units of its own.
 */
struct sp__dbm_counting {
	enum sp_dbm_counters kind; /* HW, SIM or NONE */
	bool active;		   /* units are counted now */
	const char *sim;	   /* folder of cachegrind's results */
	struct sp__hw *hw;	   /* counters of the unit that goes on; or NULL */
};

/*
 * Chooses the means.  reason: receives why not the processor's own counters, or what these do not
 * count; "": neither.  Returns 0, or an error if those asked for do not work.
 */
SP_MUST_CHECK int sp__counting_open(struct sp__dbm_counting *c, enum sp_dbm_counters asked,
				    const char *sim, char *reason, size_t capacity,
				    struct sp_errinfo *err);
/* Before the calls of a unit. */
SP_MUST_CHECK int sp__counting_begin(struct sp__dbm_counting *c,
				     const struct sp__dbm_servers *servers, struct sp_errinfo *err);
/* After them: adds what was counted.  used: NULL: forget it. */
SP_MUST_CHECK int sp__counting_end(struct sp__dbm_counting *c, struct sp_dbm_usage *used,
				   struct sp_errinfo *err);
