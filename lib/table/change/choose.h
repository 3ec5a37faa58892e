/* SPDX-License-Identifier: MIT */
/*
 * Chooses the records for which a predicate is true.
 *
 * Thread rule: one thread; tasks check cells and select records.
 */
#pragma once

#include <spindle/table.h>
#include "table/file/file.h"
#include "table/where/predicate.h"

/*
 * Calls put() for each record that is not deleted and for which the predicate is true, in ascending
 * order.  Returns 0; a code of put(); or an error, recorded in err.
 */
SP_MUST_CHECK int sp__choose_records(struct sp__tablefile *f, const struct sp__predicate *predicate,
				     int (*put)(void *arg, uint64_t record), void *arg,
				     struct sp_table_stats *stats, struct sp_errinfo *err);
