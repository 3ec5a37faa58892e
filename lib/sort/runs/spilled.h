/* SPDX-License-Identifier: MIT */
/*
 * Declares spilled runs: the store and the runs in it and the run being written (runs.c),
 * and merges of runs into longer ones, in the order of the policy (step.c).
 *
 * Writers: this room writes struct sp__spilled, with these exceptions.  The shell sets `sort`,
 * `resume`, and `uncut` for -m.  form/ sets write_mem when it allocates the arena, and `uncut` for
 * replacement selection.  merge/ writes the prediction.
 *
 * The writing thread is the background task of form/ while it runs, otherwise the caller of the
 * sort.  The threads that write ranges of the result read runs by readers of their own, and change
 * nothing here.
 */
#pragma once

#include "sort/plan/policy.h"
#include "sort/records/runbuf.h"
#include "sort/resume/resume.h"
#include "sort/shared.h"
#include "spill/writer.h"

/*
 * --count: the record that is put into a run next.  Two buffers are used alternately, since the
 * writer can still read the record before.
 */
struct sp__counting {
	struct sp__bytes held[2]; /* with free space for the number in front */
	unsigned now;
	uint64_t number; /* 0: no record is held */
};

struct sp__spilled {
	struct sp__sort_shared *sort;
	struct sp_errinfo *err;
	/*
	 * Threads that write runs each have one such struct, with a store of its own: `number` of
	 * `beside`.  0: this one has all runs, or gets them (sp__runs_take_over()).
	 */
	unsigned beside, number;
	struct sp__resume *resume; /* borrowed; NULL: no checkpoints */
	struct sp__spill *store;   /* NULL until the first run is stored */
	struct sp__policy *policy;
	struct sp__run **runs; /* by number; NULL: consumed */
	size_t nruns, runs_cap;
	unsigned *ids; /* scratch: numbers of the runs to merge */
	struct sp__runwriter writer;
	char *write_mem; /* part of the arena: the writer's chunks */
	size_t write_bytes;
	bool writing;		      /* the run being stored can still be continued */
	struct sp__bytes last_record; /* last record of the run being stored */
	struct sp__keybuf lastkey;
	sp__lastkey_fn *lastkey_fn;
	struct sp__counting counting;
	bool uncut; /* the final merge also has inputs other than runs and slots */
	struct sp_sort_replan replan;	 /* plan of the merge opened last */
	struct sp_prediction prediction; /* made when runs were formed */
};

/* runs.c */
/* Opens the room; sort must be set.  Returns 0 or an error; close it in both cases. */
SP_MUST_CHECK int sp__runs_open(struct sp__spilled *spilled);
/*
 * Opens a room for one of n threads that write runs, with its share of the write buffers. err:
 * receives its errors.
 */
void sp__runs_beside(struct sp__spilled *w, const struct sp__spilled *of, unsigned number,
		     unsigned n, struct sp_errinfo *err);
/*
 * Takes over the runs of such a room.  After the last one, sp__runs_arrange() puts all runs in the
 * order of their beginnings.
 */
SP_MUST_CHECK int sp__runs_take_over(struct sp__spilled *spilled, struct sp__spilled *from);
SP_MUST_CHECK int sp__runs_arrange(struct sp__spilled *spilled);
/* Called after the final merge. */
void sp__runs_close(struct sp__spilled *spilled);
/* Returns cached_bytes of sp_sort_expect(). */
uint64_t sp__runs_cached(const struct sp_sort_opts *o);
/* True if the final merge can be cut into parts that are written concurrently. */
bool sp__runs_cuttable(const struct sp__spilled *spilled);
/* Opens the spill store unless it is open. */
SP_MUST_CHECK int sp__runs_open_spill(struct sp__spilled *spilled);
/* Opens a writer of a new run, in the write buffers. */
SP_MUST_CHECK int sp__runs_new(struct sp__spilled *spilled, struct sp__runwriter *w,
			       unsigned level);
/* Closes a writer and frees its run. */
void sp__runs_discard(struct sp__runwriter *w);
/* True if equal keys can have different records, whose order matters. */
bool sp__runs_stable(const struct sp__spilled *spilled);
/* Starts a run that is formed from the input; `begin`: age of its first slot. */
SP_MUST_CHECK int sp__runs_begin(struct sp__spilled *spilled, uint64_t begin);
/* Ends the run being written, if there is one. */
SP_MUST_CHECK int sp__runs_end(struct sp__spilled *spilled);
/* Adds a run and takes ownership of it, even after an error. */
SP_MUST_CHECK int sp__runs_add(struct sp__spilled *spilled, struct sp__run *run);
/* True if a sorted buffer's first record does not precede the last one of the run being written. */
bool sp__runs_continues(const struct sp__spilled *spilled, const struct sp__runbuf *rb);
/* Puts all records of a sorted buffer into the run being written. */
SP_MUST_CHECK int sp__runs_put_all(struct sp__spilled *spilled, const struct sp__runbuf *rb);
/* Sets the record put last, at its present address, for the last key of its page. */
static inline void sp__runs_set_prev(struct sp__spilled *spilled, const char *prev,
				     size_t prev_bytes)
{
	if (spilled->sort->opts.count)
		return;
	spilled->writer.prev = prev;
	spilled->writer.prev_bytes = prev_bytes;
}
/*
 * Puts a record into the run being written.  prev: the record before, at its present address, or
 * NULL.
 */
SP_MUST_CHECK int sp__runs_put(struct sp__spilled *spilled, const char *rec, size_t bytes,
			       const char *prev, size_t prev_bytes);

/* Holds a copy of a record, after the previous one has been put.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__counting_hold(struct sp__counting *c, const char *rec, size_t bytes,
				    uint64_t number, struct sp__budget *budget);
/* Puts the record that is held, if there is one. */
SP_MUST_CHECK int sp__counting_put(struct sp__counting *c, struct sp__runwriter *w);
