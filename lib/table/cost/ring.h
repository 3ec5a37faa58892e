/* SPDX-License-Identifier: MIT */
/*
 * The windows that are read ahead, as in read/ring.h.
 */
#pragma once

#include "table/cost/maker.h"
#include "table/read/ring.h"

struct sp__cost_window {
	uint64_t at, end; /* records, or numbers of a batch */
	bool complete;	  /* its texts, too, have been asked for */
};

struct sp__cost_ring {
	/* Set by the caller. */
	struct sp__cost_maker *m;
	/*
	 * Issues the cells of the next window, and sets its records.  Returns SP_READY, SP_END, or
	 * an error.
	 */
	int (*fill)(void *arg, struct sp__cost_window *w);
	/* Issues those of its texts, when the others are in memory; NULL: there are none. */
	int (*texts)(void *arg, const struct sp__cost_window *w);
	void *arg;
	unsigned number; /* of its first window on the device: 0 or SP__RING_SLOTS */
	unsigned slots;
	/* Zero to begin. */
	unsigned ahead; /* windows that can be in flight: 1, 2, 4 ... slots */
	uint64_t made, done;
	struct sp__cost_window windows[SP__RING_SLOTS];
};

/* Returns SP_READY and the next window that is complete, SP_END, or an error of the device. */
SP_MUST_CHECK int sp__cost_ring_next(struct sp__cost_ring *r, const struct sp__cost_window **w);

/* The directory rows that a ring needs, in portions (read/ranges.h); zero to begin. */
struct sp__cost_rows {
	uint64_t max; /* of a portion; 0: no rows are needed */
	uint64_t first, n;
};

/* Prepares to read portions of so many bytes. */
void sp__cost_rows_open(struct sp__cost_rows *rows, const struct sp__cost_maker *m, uint64_t bytes);
/* Reads the row of a record, unless it is in memory.  Returns 0 or an error of the device. */
SP_MUST_CHECK int sp__cost_row(struct sp__cost_rows *rows, struct sp__cost_maker *m,
			       uint64_t record);
/* Reads the tombstones of records [at, end) of a table with deleted ones, likewise. */
SP_MUST_CHECK int sp__cost_tombstones(struct sp__cost_maker *m, uint64_t at, uint64_t end);
