/* SPDX-License-Identifier: MIT */
/*
 * Makes the requests of records by number, as read/get.h reads them.
 */
#pragma once

#include "table/cost/maker.h"

struct sp__cost_get {
	unsigned parts; /* of the memory, of which it has one */
	bool exist;	/* records that are there: their tombstones are not read */
	/* Supplies the next number.  Returns SP_READY, SP_END, or an error of the device. */
	int (*next)(void *arg, uint64_t *record);
	void *arg;
};

/* Gets the columns of the query.  Returns 0, -ENOMEM, or an error of the device. */
SP_MUST_CHECK int sp__cost_get(struct sp__cost_maker *m, const struct sp__cost_get *o);
