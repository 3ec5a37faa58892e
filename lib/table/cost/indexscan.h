/* SPDX-License-Identifier: MIT */
/*
 * Compares a scan through an index with a scan of the columns of the predicate.
 *
 * Thread rule: pure; any number of threads.
 */
#pragma once

#include "predict/platform.h"
#include "table/index/byindex.h"
#include "table/read/scan.h"

struct sp__indexscan {
	const struct sp__tablefile *file;
	const struct sp__tablescan_opts *opts; /* with a predicate */
	const struct sp__platform *platform;
	struct sp__rows_kept kept; /* of the predicate */
};

/* True if the scan through the index is predicted to take less time; false if memory is missing. */
bool sp__indexscan_is_cheaper(const struct sp__indexscan *s, const struct sp__keyrange_estimate *e);
