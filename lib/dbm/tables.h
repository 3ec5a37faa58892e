/* SPDX-License-Identifier: MIT */
/*
 * Writes T1 and T2.
 */
#pragma once

#include "dbm/truth.h"

struct sp__dbm_tables {
	uint64_t t1_records, t2_records, t1_bytes, t2_bytes;
};

/*
 * Generates both tables, and counts T1 in the truth.  Returns 0; -ECANCELED if opts->stop says so;
 * -EINVAL if an option of the tables is wrong; -ENOMEM; or -errno.
 */
SP_MUST_CHECK int sp__tables_make(const struct sp_dbm_opts *opts, const char *t1, const char *t2,
				  struct sp__dbm_tables *made, struct sp__dbm_truth *truth,
				  struct sp_errinfo *err);
