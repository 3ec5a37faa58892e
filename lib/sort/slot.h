/* SPDX-License-Identifier: MIT */
/*
 * A slot: the place of one run in memory, and who owns it.
 *
 *	EMPTY -> FILLING -> SORTING -> SORTED -> STORING -> EMPTY
 *
 * A slot has one owner at a time.  It belongs to the thread that calls the sort, and
 * is handed over when a task is started: SORTING slots to the task that sorts,
 * STORING slots to the task that stores.  A slot that has to be stored as soon as it
 * is sorted is STORING at once, and one task does both.  What a task has been
 * handed comes back when the task has been joined.
 *
 *	state    EMPTY, FILLING, SORTED    SORTING             STORING
 *	owner    the caller                the sorting task    the storing task
 *
 * Only the caller changes a state, while no task runs, with two exceptions: the
 * storing task empties each of its slots once it has been stored, and the last task of
 * replacement selection, after which nothing is put, makes one free region of them all.
 * So which slots a task works on is settled before it starts, and never found by a search
 * among slots that another task may be changing.
 *
 * `sorted` is set by whoever has sorted the slot, as its last act, and is asked for
 * before a slot is stored, in every build: should a slot ever reach the storing task
 * too early, the sort ends with an error instead of losing records.
 */
#ifndef SP__SORT_SLOT_H
#define SP__SORT_SLOT_H

#include <stdatomic.h>
#include "sort/runbuf.h"

struct sp_sort;

/* GONE: its memory belongs to another slot now. */
enum sp__slot_state {
	SP__SLOT_EMPTY,
	SP__SLOT_FILLING,
	SP__SLOT_SORTING,
	SP__SLOT_SORTED,
	SP__SLOT_STORING,
	SP__SLOT_GONE,
};

struct sp__slot {
	struct sp__runbuf buf;
	enum sp__slot_state state;
	_Atomic bool sorted;
	char *mem; /* its part of the arena */
	size_t bytes;
	char *giant; /* memory of its own, for a record larger than the slot */
	size_t giant_bytes;
	uint64_t age;
	bool touched; /* resident, as far as that can be seen to */
};

/* What the tasks of run formation have been handed; valid until they are joined. */
struct sp__orders {
	struct sp__slot *sort;	/* to be sorted; NULL: none */
	bool stores;		/* there are STORING slots */
	bool beside;		/* the one to be sorted is a task's of its own */
	bool last;		/* replacement selection: no batch follows */
	struct sp__slot *touch; /* an EMPTY slot, to be made resident */
};

/* The oldest slot in a state; NULL: none. */
struct sp__slot *sp__slot_oldest(const struct sp_sort *s, enum sp__slot_state state);
/* Makes a slot of the calling thread's own EMPTY. */
void sp__slot_empty(struct sp_sort *s, struct sp__slot *slot);

/*
 * Hands over a full slot to be sorted (NULL: none) and, with make_room, the oldest
 * slots to be stored: at least one, and half of them while there are many.  No
 * task is running.
 */
void sp__slots_hand_over(struct sp_sort *s, struct sp__slot *full, bool make_room);
/* The tasks have been joined: what they were handed is the caller's again. */
void sp__slots_take_back(struct sp_sort *s);

/*
 * Many small slots let runs be sorted while an input that may fit is read.
 * Once it does not, long runs count: the slots of an empty half become one.
 */
void sp__slots_coalesce(struct sp_sort *s);
/* Does a SORTED slot hold memory of its own? */
bool sp__slots_giant(const struct sp_sort *s);

#endif
