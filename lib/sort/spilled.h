/* SPDX-License-Identifier: MIT */
/*
 * Spilled runs: the store, the runs in it, and the one being written (runs.c).
 *
 * Owner: the first background task while it runs, otherwise the caller of the sort.  Branches
 * of the final merge read their own runs, through their own readers, and change nothing here.
 */
#ifndef SP__SORT_SPILLED_H
#define SP__SORT_SPILLED_H

#include <spindle/sort.h>
#include "rec/key.h"
#include "sort/plan/policy.h"
#include "sort/slot.h"
#include "spill/writer.h"

/*
 * --count: the record that is put into a run next.  Two take turns, for the writer may look at the
 * one before.
 */
struct sp__counting {
	struct sp__bytes held[2]; /* each with room for its number in front */
	unsigned now;
	uint64_t number; /* 0: none is held */
};

struct sp__spilled {
	struct sp__spill *store; /* NULL until the first run is stored */
	struct sp__policy *policy;
	struct sp__run **runs; /* by number; NULL: consumed */
	size_t nruns, runs_cap;
	unsigned *ids; /* scratch: numbers of the runs to merge */
	struct sp__runwriter writer;
	char *write_mem; /* part of the arena: the writer's chunks */
	size_t write_bytes;
	bool writing;		      /* the run being stored may still be continued */
	struct sp__bytes last_record; /* of the run being stored */
	struct sp__keybuf lastkey;
	sp__lastkey_fn *lastkey_fn;
	struct sp__counting counting;
};

/* runs.c */
void sp__runs_close(struct sp_sort *s);
/* What sp_sort_expect() promises as cached_bytes. */
uint64_t sp__runs_cached(const struct sp_sort_opts *o);
/* Opens the spill store unless it is open. */
SP_MUST_CHECK int sp__runs_open_spill(struct sp_sort *s);
/*
 * Stores a slot and empties it; opens the spill store first if necessary.  A slot that has
 * not been sorted is refused: SP_EBALANCE.
 */
SP_MUST_CHECK int sp__runs_store(struct sp_sort *s, struct sp__slot *slot);
/* Opens a writer of a new run, in the write buffers. */
SP_MUST_CHECK int sp__runs_new(struct sp_sort *s, struct sp__runwriter *w, unsigned level);
/* Closes a writer, whose run is not wanted. */
void sp__runs_discard(struct sp__runwriter *w);
/* Begins a run formed from the input. */
SP_MUST_CHECK int sp__runs_begin(struct sp_sort *s);
/* No more runs follow: ends the run being written. */
SP_MUST_CHECK int sp__runs_end(struct sp_sort *s);
/* Holds a copy of a record; the one before has been put.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__counting_hold(struct sp__counting *c, const char *rec, size_t bytes,
				    uint64_t number, struct sp__budget *budget);
/* Puts the record that is held, if there is one. */
SP_MUST_CHECK int sp__counting_put(struct sp__counting *c, struct sp__runwriter *w);
/* Does the slot's first record follow the last one of the run being written? */
bool sp__runs_continues(const struct sp_sort *s, const struct sp__slot *slot);

#endif
