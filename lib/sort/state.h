/* SPDX-License-Identifier: MIT */
/*
 * The state of one sort, shared by the files of this folder:
 *
 *	sort.c    the public calls, stepping through the states below
 *	form.c    run formation: filling and sorting run buffers
 *	slot.c    the places of runs in memory, and who owns them
 *	runs.c    runs on their way to temporary space
 *	select.c  run formation by replacement selection
 *	finish.c  intermediate merges, and setting up the final one
 *	branch.c  parts of the final merge in threads of their own
 *	output.c  the final merge's records gathered into output buffers
 *	balance.c what was read compared with what was given out
 *
 * Memory.  One arena of the planned size, touched only where it is used:
 *
 *	| run slot 0 | run slot 1 | ... | spare | write buffers | output buffers |
 *
 * While runs are formed, a slot is filled by the caller's thread, or sorted
 * or stored in the background.  When merging begins the slots that
 * hold nothing become the page pool.
 *
 * Threads.  Run formation has two background tasks; slot.h says which slot
 * belongs to which of them, and when.  Everything else is the first task's while
 * it runs, but for what the caller counts as it puts records (taken, and records and bytes of the
 * stats); the caller joins both before touching it.
 */
#ifndef SP__SORT_STATE_H
#define SP__SORT_STATE_H

#include <pthread.h>
#include <spindle/sort.h>
#include "base/task.h"
#include "run/charge.h"
#include "run/env.h"
#include "sort/balance.h"
#include "sort/inputs.h"
#include "sort/merge.h"
#include "sort/policy.h"
#include "sort/readplan.h"
#include "sort/replace.h"
#include "sort/ring.h"
#include "sort/slot.h"
#include "spill/pool.h"
#include "spill/writer.h"

enum sp__sort_state {
	SP__SORT_FORMING,   /* put() is allowed */
	SP__SORT_FINISHING, /* finish() has been called; the last run is being sorted */
	SP__SORT_OUTPUT,    /* get() gives records */
	SP__SORT_DONE,	    /* the end, or an error */
};

struct sp__branch;
#define SP__BRANCHES_MAX 3

/* Below this sorting in the caller's thread is cheaper than starting another. */
#define SP__INLINE_BYTES (256u << 10)
/* Replacement selection makes do with so many: its memory, and two batches. */
#define SP__SELECT_SLOTS 3

/* What one merge of spilled runs needs while it lasts. */
struct sp__step_inputs {
	struct sp__spill *spill; /* the store, or a reader of it */
	struct sp__readplan *plan;
	enum sp_readahead strategy;
	unsigned buffers; /* pages */
	struct sp__pool *pool;
	struct sp__unpackers *unpackers; /* instead of the two, behind a program */
	struct sp__run **runs;
	unsigned n;
	uint64_t charged;
};

struct sp_sort {
	struct sp_sort_opts opts;
	struct sp_sort_plan plan;
	struct sp__env env;
	unsigned input_file;  /* number of the first input there; the others follow it */
	struct sp__pace pace; /* of the final merge, or of replacement selection */
	enum sp__sort_state state;
	int error; /* the first; returned ever after */
	unsigned threads;

	char *arena;
	size_t arena_bytes;
	struct sp__slot *slots;
	unsigned nslots, filling;
	size_t enough_bytes; /* records in a slot, though more would fit */
	bool patient;	     /* all may fit: store only what must be stored */
	char *spare_mem;     /* page pool while runs are being formed (EAGER), or what */
	size_t spare_bytes;  /* merging may use beyond small run slots */
	char *write_mem;
	size_t write_bytes;
	struct sp__replace replace;
	bool replacing; /* runs are formed by replacement selection */
	uint64_t next_age;
	size_t taken;	 /* of the batch being put */
	bool told_later; /* put() or get() has said LATER since the last wait() */

	struct sp__task task;	 /* run formation, then the final merge */
	struct sp__task sorting; /* sorts one slot while the task stores others */
	struct sp__orders orders;
	int task_error;

	struct sp__spill *spill; /* NULL until the first run is stored */
	struct sp__policy *policy;
	struct sp__run **runs; /* by number; NULL: consumed */
	size_t nruns, runs_cap;
	struct sp__runwriter writer;
	bool writing;		      /* the run being stored may still be continued */
	struct sp__bytes last_record; /* of the run being stored */
	struct sp__keybuf lastkey;
	sp__lastkey_fn *lastkey_fn;
	unsigned *ids; /* scratch: numbers of the runs to merge */

	struct sp__inputs *inputs; /* -m: sorted files; else NULL */
	struct sp__merge merge;	   /* the final one */
	bool merging;
	struct sp__step_inputs final;
	uint64_t final_age;

	struct sp__branch *branches[SP__BRANCHES_MAX]; /* of the final merge */
	unsigned nbranches;

	struct sp__ring out; /* from the final merge to get() */
	size_t out_bytes;
	bool mt;	       /* the final merge runs in the task */
	pthread_mutex_t busy;  /* when mt: held by the task while it merges */
	struct sp__bytes held; /* --count: the record whose number is not known yet */
	uint64_t held_count;
	bool held_due; /* it is the merge's present record, not held yet */

	struct sp__balance balance;
	struct sp_sort_stats stats;
	uint64_t merge_begin_ns, merge_cpu_begin_ns;
};

/* sort.c */
/* sp_sort_stats(), with or without those figures that the system must be asked for. */
void sp__sort_stats(struct sp_sort *s, struct sp_sort_stats *stats, bool device_figures);
/* sp_sort_free(); a trace that could not be written is an error. */
int sp__sort_free(struct sp_sort *s);

/* describe.c */
/* Between two runs: keeps what describes the spilled ones within the memory. */
void sp__bound_descriptors(struct sp_sort *s);

/* form.c */
SP_MUST_CHECK int sp__form_open(struct sp_sort *s);
void sp__form_close(struct sp_sort *s);
SP_MUST_CHECK int sp__form_put(struct sp_sort *s, const struct sp_batch *batch);
/* Starts sorting the last slot. */
void sp__form_end(struct sp_sort *s);
/* Waits for background work; its error. */
SP_MUST_CHECK int sp__form_join(struct sp_sort *s);
/* The same without waiting: SP_READY; SP_LATER: it goes on; or its error. */
SP_MUST_CHECK int sp__form_settled(struct sp_sort *s);

/* Sorts what a slot holds; the slot is the calling thread's. */
void sp__form_sort_slot(struct sp_sort *s, struct sp__slot *slot);

/* runs.c */
void sp__runs_open(struct sp_sort *s);
void sp__runs_close(struct sp_sort *s);
/* Opens the spill store unless it is open. */
SP_MUST_CHECK int sp__runs_open_spill(struct sp_sort *s);
/*
 * Stores a slot and empties it; opens the spill store first, if need be.  A slot that
 * has not been sorted is refused: SP_EBALANCE.
 */
SP_MUST_CHECK int sp__runs_store(struct sp_sort *s, struct sp__slot *slot);
/* A new run to be written. */
SP_MUST_CHECK int sp__runs_begin(struct sp_sort *s, uint64_t age);
/* No more runs follow: ends the run being written. */
SP_MUST_CHECK int sp__runs_end(struct sp_sort *s);
/* Does the slot's first record follow the last one of the run being written? */
bool sp__runs_continues(const struct sp_sort *s, const struct sp__slot *slot);

/* select.c; the counterparts of what form.c does */
/* Slots become batches and record memory. */
SP_MUST_CHECK int sp__select_open(struct sp_sort *s);
SP_MUST_CHECK int sp__select_rotate(struct sp_sort *s);
void sp__select_end(struct sp_sort *s);

/* finish.c */
/* All merges but the last, and the last one set up; threaded: it may have branches. */
SP_MUST_CHECK int sp__finish_prepare(struct sp_sort *s, bool threaded);
/* EAGER: merges that are due while runs are still being formed. */
SP_MUST_CHECK int sp__finish_due(struct sp_sort *s);
void sp__finish_close(struct sp_sort *s);
SP_MUST_CHECK int sp__finish_add_run(struct sp_sort *s, struct sp__run *run);

/* output.c */
SP_MUST_CHECK int sp__output_start(struct sp_sort *s);
SP_MUST_CHECK int sp__output_get(struct sp_sort *s, struct sp_batch *batch);
SP_MUST_CHECK int sp__output_wait(struct sp_sort *s);
/* The merge stops where it is; afterwards nothing runs in the background. */
void sp__output_stop(struct sp_sort *s);
void sp__output_close(struct sp_sort *s);

/* inputs.c */
/* The sort's input is a list of sorted files, merged without forming runs (-m). */
SP_MUST_CHECK int sp__sort_merge_inputs(struct sp_sort *s, const struct sp_sort_io *io);

#endif
