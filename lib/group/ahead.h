/* SPDX-License-Identifier: MIT */
/*
 * Prefetches the groups of records that a worker adds next.
 *
 * The slots of a table and its groups are rarely in the processor's cache once there are thousands.
 * The key of a record is made some records before the record is added, and its slot and then its
 * group are prefetched.
 *
 * Thread rule: one thread at a time per worker.
 */
#pragma once

#include "group/worker.h"

/*
 * Prepares for the records whose ends were found.  False: there is nothing to gain, or keys are not
 * fields as they are.
 */
bool sp__ahead_begin(struct sp__group_worker *w, uint32_t nfields);
/* Prefetches for the records behind record i, which is added next. */
void sp__ahead(struct sp__group_worker *w, uint32_t nfields, uint32_t i);
