/* SPDX-License-Identifier: MIT */
/*
 * Declares run formation: parts.c loads, sorts and stores slots by several threads, form.c does it
 * from batches, with store.c, and select.c by replacement selection.
 *
 * Memory: one arena of the planned size, touched only where it is used:
 *
 *	| run slot 0 | run slot 1 | ... | spare | write buffers | output buffers |
 *
 * When merging starts, the empty slots become the page pool.
 *
 * Writers: only this room writes struct sp__forming, except that a sort that merges its inputs (-m)
 * empties the first slot (sort.c).  The writing thread is the one that puts records.  It hands
 * slots to the two tasks of run formation and owns them again when the tasks are joined (slot.h);
 * `orders` lists the slots handed over.  The tasks write the costs and, with replacement selection,
 * `replace` and `pace`.
 */
#pragma once

#include "base/task.h"
#include "run/charge.h"
#include "sort/form/slot.h"
#include "sort/runs/step.h"
#include "sort/select/replace.h"

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

/* store.c */
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

/* select.c */
/* Divides the slots into memory for records and batches. */
SP_MUST_CHECK int sp__select_open(struct sp__forming *forming);
SP_MUST_CHECK int sp__select_rotate(struct sp__forming *forming);
void sp__select_end(struct sp__forming *forming);
