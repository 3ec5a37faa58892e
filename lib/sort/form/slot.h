/* SPDX-License-Identifier: MIT */
/*
 * Declares slots: the memory of one run, and its owner.
 *
 * States:
 *
 *	EMPTY -> FILLING -> SORTING -> SORTED -> STORING -> EMPTY
 *
 *	state    EMPTY, FILLING, SORTED    SORTING             STORING
 *	owner    the caller                the sorting task    the storing task
 *
 * A slot has one owner at a time.  It belongs to the thread that calls the sort, and is handed over
 * when a task starts: SORTING slots to the sorting task, STORING slots to the storing task.  If a
 * slot must be stored as soon as it is sorted, it is STORING immediately, and one task does both.
 * The caller owns the slots again when the task has been joined.
 *
 * A full slot whose keys are collapsed can annex the slots behind it; they are ANNEXED until the
 * full one has been emptied.
 *
 * Invariants: only the caller changes a state, while no task is running, with two exceptions.  The
 * storing task empties each of its slots after storing it.  The last task of replacement selection,
 * after which no record is put, makes one free region of all slots.  So the slots of a task are
 * fixed before it starts; a task never finds a slot by a search among slots that another task can
 * change.
 *
 * With parts (parts.c) a worker that fills, sorts or stores a slot owns it from FILLING to SORTED,
 * and while STORING; states change under the lock of the workers.
 *
 * Sorting sets `sorted` as its last step, and storing checks it in every build: if a slot ever
 * reached the storing task too early, the sort would end with an error and lose no records.
 */
#pragma once

#include <stdatomic.h>
#include "sort/records/runbuf.h"

struct sp__forming;

/* GONE: the memory belongs to another slot.  ANNEXED: likewise, until the other slot is emptied. */
enum sp__slot_state {
	SP__SLOT_EMPTY,
	SP__SLOT_FILLING,
	SP__SLOT_SORTING,
	SP__SLOT_SORTED,
	SP__SLOT_STORING,
	SP__SLOT_GONE,
	SP__SLOT_ANNEXED,
};

struct sp__slot {
	struct sp__runbuf buf;
	enum sp__slot_state state;
	_Atomic bool sorted;
	char *mem; /* part of the arena */
	size_t bytes;
	char *giant; /* separate memory for a record larger than the slot */
	size_t giant_bytes;
	uint64_t age;
	bool touched; /* has been used or prefaulted */
	/* For checkpoints: */
	uint64_t end_bytes; /* input offset where its records end */
	struct {
		struct sp__tally read, dropped;
	} noted; /* tallies of its buffer when it was last emptied */
};

/* The slots handed to the tasks of run formation; valid until the tasks are joined. */
struct sp__orders {
	struct sp__slot *sort;	/* to be sorted; NULL: none */
	bool stores;		/* there are STORING slots */
	bool beside;		/* a second task sorts */
	bool last;		/* replacement selection: this is the last batch */
	struct sp__slot *touch; /* an EMPTY slot to be prefaulted */
};

/* Returns the oldest slot in a state, with at least this age; NULL: none. */
struct sp__slot *sp__slot_from(const struct sp__forming *forming, enum sp__slot_state state,
			       uint64_t age);
static inline struct sp__slot *sp__slot_oldest(const struct sp__forming *forming,
					       enum sp__slot_state state)
{
	return sp__slot_from(forming, state, 0);
}

/* Makes the oldest EMPTY slot the one to be filled, and returns it; NULL: none. */
struct sp__slot *sp__slot_fill(struct sp__forming *forming);
/* Starts filling an EMPTY slot. */
void sp__slot_begin(struct sp__forming *forming, struct sp__slot *slot, uint64_t age);
/*
 * Gives an empty slot separate memory for the first record of data, which is larger.  Returns 0, or
 * -ENOMEM recorded in err.
 */
SP_MUST_CHECK int sp__slot_make_giant(struct sp__forming *forming, struct sp__slot *slot,
				      const char *data, size_t bytes, struct sp_errinfo *err);
/* Makes an EMPTY slot of this memory. */
void sp__slot_make(struct sp__forming *forming, struct sp__slot *slot, char *mem, size_t bytes);
/* Empties a slot of the calling thread. */
void sp__slot_empty(struct sp__forming *forming, struct sp__slot *slot);

/*
 * Hands over a full slot to be sorted (NULL: none) and, if storing is set, the oldest slots to be
 * stored: at least one, and half of them if there are many.  No task may be running.
 */
void sp__slots_hand_over(struct sp__forming *forming, struct sp__slot *full, bool storing);
/* Called after the tasks have been joined: the caller owns their slots again. */
void sp__slots_take_back(struct sp__forming *forming);

/*
 * Many small slots allow sorting while an input that might fit is read.  Once the input does not
 * fit, long runs matter: the slots of an empty half become one slot.
 */
void sp__slots_coalesce(struct sp__forming *forming);
/*
 * Extends a full slot whose keys are still collapsed (distinct.c) by the EMPTY slot behind it: the
 * more groups are in one table, the more repetitions it finds.  Returns false if that is not
 * possible.
 */
bool sp__slot_annex(struct sp__forming *forming, struct sp__slot *full);
/* Releases the annexed memory of EMPTY slots. */
void sp__slots_divide(struct sp__forming *forming);
/*
 * Withdraws the last slots if they have never been used, since touching memory is costlier than
 * storing; storing starts when the other slots are full.  sp__slots_return() returns them.
 */
void sp__slots_withdraw(struct sp__forming *forming);
void sp__slots_return(struct sp__forming *forming);
/* True if a SORTED slot has separate memory. */
bool sp__slots_giant(const struct sp__forming *forming);
