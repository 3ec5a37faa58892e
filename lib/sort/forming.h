/* SPDX-License-Identifier: MIT */
/*
 * Run formation: form.c loads slots, sorts and stores them; select.c is its counterpart for
 * replacement selection.
 *
 * Memory.  One arena of the planned size, touched only where it is used:
 *
 *	| run slot 0 | run slot 1 | ... | spare | write buffers | output buffers |
 *
 * When merging begins, the empty slots become the page pool.
 *
 * Owner: the thread that puts records.  It hands slots to the two tasks of run formation and
 * gets them back when these are joined (slot.h); `orders` lists those handed over.  While the
 * first task runs replacement selection, it owns `replace`.
 */
#ifndef SP__SORT_FORMING_H
#define SP__SORT_FORMING_H

#include <spindle/sort.h>
#include "base/task.h"
#include "sort/select/replace.h"
#include "sort/slot.h"

/* Below this, sorting in the caller's thread is cheaper than starting another. */
#define SP__INLINE_BYTES (256u << 10)
/* Slots of replacement selection: the record memory and two batches. */
#define SP__SELECT_SLOTS 3

struct sp__cost {
	uint64_t ns, bytes;
};

struct sp__forming {
	char *arena;
	size_t arena_bytes;
	struct sp__slot *slots;
	unsigned nslots, filling;
	unsigned given_up;   /* slots after those */
	size_t enough_bytes; /* records in a slot, even if more would fit */
	bool patient;	     /* all may fit: store only when memory is short */
	char *spare_mem;     /* page pool while runs are being formed (EAGER), or memory */
	size_t spare_bytes;  /* for merging in addition to small run slots */
	/* What they needed last, by which memory is dear or not; the first task's. */
	struct sp__cost touching, storing;
	bool distinct; /* without -u: too few records came again, so they are not sought any more */
	uint64_t next_age;
	size_t taken; /* of the batch being put */
	struct sp__orders orders;
	struct sp__task sorting; /* sorts one slot while the other task stores others */
	struct sp__replace replace;
	bool replacing; /* runs are formed by replacement selection */
};

/* form.c */
SP_MUST_CHECK int sp__form_open(struct sp_sort *s);
void sp__form_close(struct sp_sort *s);
SP_MUST_CHECK int sp__form_put(struct sp_sort *s, const struct sp_batch *batch);
/* Starts sorting the last slot. */
void sp__form_end(struct sp_sort *s);
/* Waits for background work; its error. */
SP_MUST_CHECK int sp__form_join(struct sp_sort *s);
/* The same without waiting: SP_READY; SP_LATER: it is still running; or its error. */
SP_MUST_CHECK int sp__form_settled(struct sp_sort *s);
/* Sorts a slot that the calling thread owns. */
void sp__form_sort_slot(struct sp_sort *s, struct sp__slot *slot);

/* select.c */
/* Slots become batches and record memory. */
SP_MUST_CHECK int sp__select_open(struct sp_sort *s);
SP_MUST_CHECK int sp__select_rotate(struct sp_sort *s);
void sp__select_end(struct sp_sort *s);

#endif
