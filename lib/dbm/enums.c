/* SPDX-License-Identifier: MIT */
/*
 * Names the values of the public enums.
 */
#include <spindle/dbm.h>
#include "base/enum.h"

SP__ENUM_TABLE(sp_dbm_query, { "uss", SP_DBM_USS }, { "unj", SP_DBM_UNJ }, { "uidx", SP_DBM_UIDX })

SP__ENUM_TABLE(sp_dbm_counters, { "auto", SP_DBM_COUNTERS_AUTO }, { "hw", SP_DBM_COUNTERS_HW },
	       { "sim", SP_DBM_COUNTERS_SIM }, { "none", SP_DBM_COUNTERS_NONE })

SP__ENUM_TABLE(sp_dbm_event, { "cycles", SP_DBM_CYCLES }, { "instructions", SP_DBM_INSTRUCTIONS },
	       { "branches", SP_DBM_BRANCHES }, { "branch_misses", SP_DBM_BRANCH_MISSES },
	       { "l1d_misses", SP_DBM_L1D_MISSES }, { "l1i_misses", SP_DBM_L1I_MISSES },
	       { "llc_misses", SP_DBM_LLC_MISSES }, { "dtlb_misses", SP_DBM_DTLB_MISSES },
	       { "itlb_misses", SP_DBM_ITLB_MISSES }, { "frontend_stalls", SP_DBM_FRONTEND_STALLS },
	       { "backend_stalls", SP_DBM_BACKEND_STALLS })
