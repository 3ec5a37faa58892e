/* SPDX-License-Identifier: MIT */
/*
 * Chooses records: those for which a predicate is true and that were not deleted.
 *
 * Owner: the thread that reads; an element of `slots` belongs to the task of its slot.
 */
#pragma once

#include "columns/aggregates.h"
#include "columns/predicate.h"
#include "table/file/file.h"
#include "table/read/ring.h"

struct sp__choice_slot {
	struct sp__predicate_scratch *scratch; /* NULL: no predicate */
	uint8_t *bits; /* tombstones; NULL: no record of the table is deleted */
	size_t bytes;
	uint64_t first;	    /* record of bit 0, a multiple of 8 */
	uint32_t *selected; /* offsets in rows; NULL: all records are chosen */
};

struct sp__record_choice {
	const struct sp__predicate *where; /* NULL: all records */
	uint32_t columns;		   /* number of columns of the predicate */
	const uint8_t **bounds;		   /* bounds of each column in a directory row */
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
	double share;  /* share of all rows; 1 if no column of the predicate has bounds */
	uint64_t runs; /* runs of consecutive rows with other rows between them */
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
/*
 * Sets d->selected to the chosen records of rows, *n of them.  Returns 0; SP_EFORMAT: a value is
 * not what the predicate needs; or -ENOMEM, recorded in err.
 */
SP_MUST_CHECK int sp__choice_select(const struct sp__record_choice *c, struct sp__choice_slot *d,
				    const struct sp__rows *rows, uint32_t *n,
				    struct sp_errinfo *err);

/*
 * Charges the joins that make records of columns which are stored apart, on a simulated machine.
 *
 * The values of a record are found by its number, so this library joins nothing.  A database of the
 * layout DSM joins the fragments of a table by record number: these joins take their time here.
 *
 * Source: Shao 2008, sections 4.2.1 and 4.8.1.
 */

/*
 * Sets how columns are joined.  Returns 0, or SP_EUNSUP if the table has no virtual time or not the
 * layout DSM; recorded in err.
 */
SP_MUST_CHECK int sp__columnjoin_set(struct sp__tablefile *f, enum sp_table_dsm_join join,
				     struct sp_errinfo *err);
/* Charges so many joins for each of these records: one less than columns are read. */
void sp__columnjoin_charge(const struct sp__tablefile *f, uint64_t records, uint32_t joins);

/*
 * Aggregates of a scan: a state for each slot of a ring, which its task adds records to, and the
 * line of results.
 *
 * Owner: the thread that scans; an element of `slots` belongs to the task of its slot.
 */

struct sp__scan_sums {
	const struct sp__aggregates *aggregates;
	struct sp__aggregates_state *slots[SP__RING_SLOTS];
};

/* Makes the states.  Returns 0 or -ENOMEM.  After an error, too, they must be closed. */
SP_MUST_CHECK int sp__scan_sums_open(struct sp__scan_sums *s,
				     const struct sp__aggregates *aggregates);
void sp__scan_sums_close(struct sp__scan_sums *s);
/*
 * Adds n records of a slot, in its task; selected: their offsets in rows, or NULL for the first n.
 * Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__scan_sums_add(struct sp__scan_sums *s, const struct sp__window_slot *slot,
				    const struct sp__rows *rows, const uint32_t *selected,
				    uint32_t n);
/*
 * Merges the states and gives a header line, if the table has one, and a line of results to the
 * sink, in the style of the table.  Returns 0; a negative code of the sink; SP_EUNSUP for records
 * of fixed length; or -ENOMEM.
 */
SP_MUST_CHECK int sp__scan_sums_print(struct sp__scan_sums *s, struct sp__tablefile *f,
				      enum sp_table_format format, const struct sp__reading *to);
