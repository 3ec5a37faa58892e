/* SPDX-License-Identifier: MIT */
/*
 * Declares run formation: parts.c loads, sorts and stores slots (slot.c) by several threads, form.c
 * does it from batches, or selects by replacement.
 *
 * Memory: one arena of the planned size, touched only where it is used:
 *
 *	| run slot 0 | run slot 1 | ... | spare | write buffers | output buffers |
 *
 * When merging starts, the empty slots become the page pool.
 *
 * Writers: only this room writes struct sp__forming, except that a sort that merges its inputs (-m)
 * empties the first slot (sort.c).  The writing thread is the one that puts records.  It hands
 * slots to the two tasks of run formation and owns them again when the tasks are joined;
 * `orders` lists the slots handed over.  The tasks write the costs and, with replacement selection,
 * `replace` and `pace`.
 */
#pragma once

#include <stdatomic.h>
#include "run/charge.h"
#include "sort/runs/step.h"
#include "sort/select/replace.h"

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

/* Smaller slots are sorted in the caller's thread, which is cheaper than starting another. */
#define SP__INLINE_BYTES (256u << 10)
/* Slots of replacement selection: the memory for records, and two batches. */
#define SP__SELECT_SLOTS 3

struct sp__cost {
	uint64_t ns, bytes;
};

struct sp__forming {
	struct sp__sort_shared *sort;
	struct sp__spilled *spilled;
	char *arena;
	size_t arena_bytes;
	struct sp__slot *slots;
	unsigned nslots, filling;
	unsigned withdrawn;  /* slots withdrawn, after nslots */
	size_t enough_bytes; /* bytes of records at which a slot is handed over */
	bool patient;	     /* the input might fit: store only when memory is short */
	char *spare_mem;     /* page pool while runs are formed (EAGER), or memory */
	size_t spare_bytes;  /* for merging, in addition to small run slots */
	char *output_mem;    /* output buffers of the final merge */
	/*
	 * Costs measured last, by the background task; they decide whether unused slots are
	 * withdrawn.
	 */
	struct sp__cost touching, storing;
	bool distinct; /* without -u: too few records were repeated, so repetitions are no longer
			  sought */
	uint64_t next_age;
	size_t taken; /* bytes consumed of the batch being put */
	struct sp__orders orders;
	struct sp__task task; /* sorts and stores slots */
	int task_error;
	struct sp__task sorting; /* sorts one slot while the other task stores others */
	struct sp__replace replace;
	struct sp__pace pace; /* of replacement selection */
	bool replacing;	      /* runs are formed by replacement selection */
};

/* form.c */
/*
 * Allocates the slots and starts run formation; sort and spilled must be set.  output_bytes: part
 * of the arena for the output buffers.
 */
SP_MUST_CHECK int sp__form_open(struct sp__forming *forming, size_t output_bytes);
void sp__form_close(struct sp__forming *forming);
SP_MUST_CHECK int sp__form_put(struct sp__forming *forming, const struct sp_batch *batch);
/* Ends the input: starts sorting the last slot. */
void sp__form_end(struct sp__forming *forming);
/* Waits for the background tasks.  Returns 0 or their error. */
SP_MUST_CHECK int sp__form_join(struct sp__forming *forming);
/* Returns SP_READY if no task is running, SP_LATER if one is, or the error of a task. */
SP_MUST_CHECK int sp__form_settled(struct sp__forming *forming);
/* True if no task is running. */
bool sp__form_idle(struct sp__forming *forming);
/* Waits for the background tasks and ignores their errors. */
void sp__form_stop(struct sp__forming *forming);

/* slot.c */
/* Sorts a slot that the calling thread owns. */
void sp__form_sort_slot(struct sp__forming *forming, struct sp__slot *slot);
/*
 * Stores a sorted slot as a run, or as the continuation of one; opens the spill store if necessary.
 * Returns 0, SP_EBALANCE if the slot has not been sorted, or an error.
 */
SP_MUST_CHECK int sp__form_write(struct sp__forming *forming, struct sp__spilled *spilled,
				 struct sp__slot *slot);
/* Stores a sorted slot and empties it. */
SP_MUST_CHECK int sp__form_store(struct sp__forming *forming, struct sp__slot *slot);
/* Performs the merges that are due while runs are still being formed. */
SP_MUST_CHECK int sp__form_merge_due(struct sp__forming *forming);
/*
 * Returns the largest free part of the arena.  with_write: no more runs are written, so the write
 * buffers are free, too.
 */
struct sp__freemem sp__free_region(const struct sp__forming *forming, bool with_write);
