/* SPDX-License-Identifier: MIT */
/*
 * The requests of one query: cells that adjoin in the file are joined to requests of at most
 * SP__TABLE_REQUEST_BYTES, and those are issued to a device.
 *
 * Functions return 0 or an error of the device.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "base/rng.h"
#include "table/cost/device.h"
#include "table/cost/subject.h"
#include "table/layout/runs.h"

/* The caller sets table and rng and opens the device; the rest is zero to begin. */
struct sp__cost_requests {
	const struct sp__cost_table *table;
	struct sp__cost_device device;
	struct sp__rng rng;
	uint64_t max_cells;    /* of a request; 0: SP__TABLE_REQUEST_BYTES */
	uint64_t first, cells; /* of the file: the request that is being joined */
	bool write;
};

/* Reads or writes cells of an area. */
SP_MUST_CHECK int sp__cost_cells(struct sp__cost_requests *r, bool write, enum sp__table_area area,
				 uint64_t cell, uint64_t cells);
/* Does so with a cell of the data area, and with the gap before it if it is not longer. */
SP_MUST_CHECK int sp__cost_cell(struct sp__cost_requests *r, bool write, uint64_t cell,
				uint64_t gap_cells);
/*
 * Does so with those cells of a run of the data area that are touched, each with this chance, and
 * with gaps between them that are not longer.
 */
SP_MUST_CHECK int sp__cost_touched(struct sp__cost_requests *r, bool write,
				   struct sp__layout_run run, double chance, uint64_t gap_cells);
/* Draws the cells that are not touched before the next one that is, each with this chance. */
uint64_t sp__cost_gap(struct sp__cost_requests *r, double chance);
/* Writes bytes behind the end of the file and waits for them. */
SP_MUST_CHECK int sp__cost_behind(struct sp__cost_requests *r, uint64_t bytes);
/* Writes a superblock and waits for it. */
SP_MUST_CHECK int sp__cost_commit(struct sp__cost_requests *r);
/* Issues the request that is being joined: the next cells begin another. */
SP_MUST_CHECK int sp__cost_flush(struct sp__cost_requests *r);
/* Waits for all requests. */
SP_MUST_CHECK int sp__cost_wait(struct sp__cost_requests *r);
