/* SPDX-License-Identifier: MIT */
/*
 * Run formation: form.c loads slots and sorts them, store.c stores them; select.c is their
 * counterpart for replacement selection.
 *
 * Memory.  One arena of the planned size, touched only where it is used:
 *
 *	| run slot 0 | run slot 1 | ... | spare | write buffers | output buffers |
 *
 * When merging begins, the empty slots become the page pool.
 *
 * Writers.  Only this room writes struct sp__forming, in the thread that puts records.  That thread
 * hands slots to the two tasks of run formation and gets them back when these are joined (slot.h);
 * `orders` lists those handed over.  The tasks write the costs, and, with replacement selection,
 * `replace` and `pace`.
 */
#pragma once

#include "base/task.h"
#include "run/charge.h"
#include "sort/form/slot.h"
#include "sort/runs/step.h"
#include "sort/select/replace.h"

/* Below this, sorting in the caller's thread is cheaper than starting another. */
#define SP__INLINE_BYTES (256u << 10)
/* Slots of replacement selection: the record memory and two batches. */
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
	unsigned given_up;   /* slots after those */
	size_t enough_bytes; /* records in a slot, even if more would fit */
	bool patient;	     /* all may fit: store only when memory is short */
	char *spare_mem;     /* page pool while runs are being formed (EAGER), or memory */
	size_t spare_bytes;  /* for merging in addition to small run slots */
	char *output_mem;    /* of the final merge: output buffers */
	/* What they needed last, by which memory is dear or not; the first task's. */
	struct sp__cost touching, storing;
	bool distinct; /* without -u: too few records came again, so they are not sought any more */
	uint64_t next_age;
	size_t taken; /* of the batch being put */
	struct sp__orders orders;
	struct sp__task task; /* sorts and stores slots */
	int task_error;
	struct sp__task sorting; /* sorts one slot while the other task stores others */
	struct sp__replace replace;
	struct sp__pace pace; /* of replacement selection */
	bool replacing;	      /* runs are formed by replacement selection */
};

/* form.c */
/* output_bytes: of the arena, for the output buffers.  sort and spilled have been set. */
SP_MUST_CHECK int sp__form_open(struct sp__forming *forming, size_t output_bytes);
void sp__form_close(struct sp__forming *forming);
SP_MUST_CHECK int sp__form_put(struct sp__forming *forming, const struct sp_batch *batch);
/* Starts sorting the last slot. */
void sp__form_end(struct sp__forming *forming);
/* Waits for background work; its error. */
SP_MUST_CHECK int sp__form_join(struct sp__forming *forming);
/* The same without waiting: SP_READY; SP_LATER: it is still running; or its error. */
SP_MUST_CHECK int sp__form_settled(struct sp__forming *forming);
/* True if nothing runs in the background. */
bool sp__form_idle(struct sp__forming *forming);
/* Waits for the tasks, whatever they return. */
void sp__form_stop(struct sp__forming *forming);

/* store.c */
/* Sorts a slot that the calling thread owns. */
void sp__form_sort_slot(struct sp__forming *forming, struct sp__slot *slot);
/*
 * Stores a slot and empties it; opens the spill store first if necessary.  A slot that has
 * not been sorted is refused: SP_EBALANCE.
 */
SP_MUST_CHECK int sp__form_store(struct sp__forming *forming, struct sp__slot *slot);
/* Does the merges that are due while runs are still being formed. */
SP_MUST_CHECK int sp__form_merge_due(struct sp__forming *forming);
/* The largest free part of the arena; with_write: nothing will be written any more. */
struct sp__freemem sp__free_region(const struct sp__forming *forming, bool with_write);

/* select.c */
/* Slots become batches and record memory. */
SP_MUST_CHECK int sp__select_open(struct sp__forming *forming);
SP_MUST_CHECK int sp__select_rotate(struct sp__forming *forming);
void sp__select_end(struct sp__forming *forming);
