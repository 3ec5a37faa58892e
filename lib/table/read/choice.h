/* SPDX-License-Identifier: MIT */
/*
 * Chooses records: those for which a predicate is true and that were not deleted.
 *
 * Owner: the thread that reads; an element of `slots` belongs to the task of its slot.
 */
#pragma once

#include "table/read/ring.h"
#include "table/where/predicate.h"

struct sp__choice_slot {
	struct sp__predicate_scratch *scratch; /* NULL: no predicate */
	uint8_t *bits; /* tombstones; NULL: no record of the table is deleted */
	size_t bytes;
	uint64_t first;	    /* record of bit 0, a multiple of 8 */
	uint32_t *selected; /* offsets in rows; NULL: all records are chosen */
};

struct sp__record_choice {
	const struct sp__predicate *where; /* NULL: all records */
	uint32_t columns;		   /* of the predicate */
	const uint8_t **bounds;		   /* of each column, in a directory row */
	struct sp__choice_slot slots[SP__RING_SLOTS];
};

/*
 * Opens the choice for the slots of a ring, then its ranges, which skip directory rows that the
 * predicate excludes.  where is set.  Returns 0 or -ENOMEM.  After an error, too, it must be
 * closed.
 */
SP_MUST_CHECK int sp__choice_open(struct sp__record_choice *c, struct sp__window_ring *ring);
/* The directory rows that a predicate does not exclude. */
struct sp__rows_kept {
	double share;  /* of all rows; 1 if no column of the predicate has bounds */
	uint64_t runs; /* of consecutive rows, if there are others between them */
};

/*
 * Finds the rows that are kept: reads the directory, if it is needed.  Returns 0, -ENOMEM, or an
 * error of reading, recorded in err.
 */
SP_MUST_CHECK int sp__choice_count_kept(struct sp__tablefile *f, const struct sp__predicate *where,
					struct sp__rows_kept *kept, struct sp_errinfo *err);
void sp__choice_close(struct sp__record_choice *c);
/*
 * Fills a window, and reads its tombstones: a hook of a ring whose slots own those of the choice.
 */
SP_MUST_CHECK int sp__choice_fill(void *unused, struct sp__window_slot *s);
/* Charges the evaluation of so many records. */
void sp__choice_charge(const struct sp__record_choice *c, const struct sp__tablefile *f,
		       uint64_t records);
/* Sets d->selected to the chosen records of rows.  Returns their number. */
uint32_t sp__choice_select(const struct sp__record_choice *c, struct sp__choice_slot *d,
			   const struct sp__rows *rows);
