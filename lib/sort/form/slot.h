/* SPDX-License-Identifier: MIT */
/*
 * A slot: the place of one run in memory, and its owner.
 *
 *	EMPTY -> FILLING -> SORTING -> SORTED -> STORING -> EMPTY
 *
 * A slot has one owner at a time.  It belongs to the thread that calls the sort, and is
 * handed over when a task is started: SORTING slots to the sorting task, STORING slots
 * to the storing task.  A slot that must be stored as soon as it is sorted is STORING
 * at once, and one task does both.  The slots come back when the task has been joined.
 *
 *	state    EMPTY, FILLING, SORTED    SORTING             STORING
 *	owner    the caller                the sorting task    the storing task
 *
 * Under -u a full slot may take over the next ones, which are ANNEXED then, until it has been
 * emptied.
 *
 * Only the caller changes a state, while no task runs, with two exceptions: the storing
 * task empties each of its slots after storing it, and the last task of replacement
 * selection, after which nothing is put, makes one free region of them all.  So the
 * slots of a task are fixed before it starts, and never found by a search among slots
 * that another task may be changing.
 *
 * Sorting sets `sorted` as its last act, and it is checked before a slot is stored, in
 * every build: should a slot ever reach the storing task too early, the sort ends with an
 * error instead of losing records.
 */
#pragma once

#include <stdatomic.h>
#include "sort/records/runbuf.h"

struct sp__forming;

/* GONE: its memory now belongs to another slot.  ANNEXED: it does until that one is emptied. */
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
	char *mem; /* its part of the arena */
	size_t bytes;
	char *giant; /* separate memory for a record larger than the slot */
	size_t giant_bytes;
	uint64_t age;
	bool touched; /* resident, as far as possible */
	/* For checkpoints: */
	uint64_t end_bytes; /* of the input, where its records end */
	struct {
		struct sp__tally read, dropped;
	} noted; /* of its buffer, as it was emptied last */
};

/* The slots handed to the tasks of run formation; valid until they are joined. */
struct sp__orders {
	struct sp__slot *sort;	/* to be sorted; NULL: none */
	bool stores;		/* there are STORING slots */
	bool beside;		/* a second task sorts */
	bool last;		/* replacement selection: no batch follows */
	struct sp__slot *touch; /* an EMPTY slot, to be made resident */
};

/* The oldest slot in a state, of those of an age or younger; NULL: none. */
struct sp__slot *sp__slot_from(const struct sp__forming *forming, enum sp__slot_state state,
			       uint64_t age);
static inline struct sp__slot *sp__slot_oldest(const struct sp__forming *forming,
					       enum sp__slot_state state)
{
	return sp__slot_from(forming, state, 0);
}

/* The oldest EMPTY slot will be filled next; NULL: there is none. */
struct sp__slot *sp__slot_fill(struct sp__forming *forming);
/* Makes a slot, EMPTY, in its memory. */
void sp__slot_make(struct sp__forming *forming, struct sp__slot *slot, char *mem, size_t bytes);
/* Makes a slot of the calling thread EMPTY. */
void sp__slot_empty(struct sp__forming *forming, struct sp__slot *slot);

/*
 * Hands over a full slot to be sorted (NULL: none) and, with make_room, the oldest slots
 * to be stored: at least one, and half of them if there are many.  No task is running.
 */
void sp__slots_hand_over(struct sp__forming *forming, struct sp__slot *full, bool storing);
/* After the tasks have been joined: the caller owns their slots again. */
void sp__slots_take_back(struct sp__forming *forming);

/*
 * Many small slots allow sorting while an input that may fit is read.  Once it does not
 * fit, long runs matter: the slots of an empty half become one.
 */
void sp__slots_coalesce(struct sp__forming *forming);
/*
 * A full slot whose keys still collapse (distinct.c) takes the memory of the EMPTY one behind it:
 * the more groups are in one table, the more repetitions it finds.  False: it does not.
 */
bool sp__slot_annex(struct sp__forming *forming, struct sp__slot *full);
/* EMPTY slots give annexed memory back. */
void sp__slots_divide(struct sp__forming *forming);
/*
 * The last slots, never used yet, are given up, because touching memory is dear; storing begins
 * when the others are full.  Or all are there again.
 */
void sp__slots_give_up(struct sp__forming *forming);
void sp__slots_reclaim(struct sp__forming *forming);
/* Does a SORTED slot have separate memory? */
bool sp__slots_giant(const struct sp__forming *forming);
