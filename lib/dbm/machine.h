/* SPDX-License-Identifier: MIT */
/*
 * Describes the machine that a run is made on.
 */
#pragma once

#include <spindle/dbm.h>

/* Sets machine, kernel, processors and memory_bytes of a result.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__dbm_machine(struct sp_dbm_result *result);
