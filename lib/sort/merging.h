/* SPDX-License-Identifier: MIT */
/*
 * Merging: the choice of runs to merge, and the final merge (finish.c, step.c, branch.c,
 * inputs.c).
 *
 * Owner: the first background task while it runs, otherwise the caller.  Each branch owns its
 * runs, pages and ring until it is closed.
 */
#ifndef SP__SORT_MERGING_H
#define SP__SORT_MERGING_H

#include <spindle/batch.h>
#include <spindle/sort.h>
#include "run/charge.h"
#include "io/rstream.h"
#include "sort/tree/merge.h"
#include "sort/plan/readplan.h"
#include "spill/pool.h"

struct sp__branch;
#define SP__BRANCHES_MAX 3

/* Free memory. */
struct sp__freemem {
	char *mem;
	size_t bytes;
};

/* Of each cursor of a merge, the offset in its run of the record that it is at. */
struct sp__run_places {
	uint64_t *at;
	unsigned last; /* the cursor of the record that the merge is at, */
	size_t bytes;  /* which is to be passed: its bytes in the run */
};

/* The record that the merge is at has been passed. */
static inline void sp__run_places_pass(struct sp__run_places *p)
{
	p->at[p->last] += p->bytes;
	p->bytes = 0;
}

/* The merge's next() has returned rc. */
static inline void sp__run_places_step(struct sp__run_places *p, const struct sp__merge *m, int rc)
{
	const struct sp__cursor *c = sp__merge_current(m);

	if (rc != SP_READY && rc != SP_END)
		return;
	sp__run_places_pass(p);
	if (rc == SP_END)
		return;
	p->last = (unsigned)(c - m->cursors);
	p->bytes = m->bytes + c->head;
}

/* The resources of one merge of spilled runs. */
struct sp__step_inputs {
	struct sp__spill *spill; /* the store, or a reader of it */
	struct sp__readplan *plan;
	unsigned buffers; /* pages */
	struct sp__pool *pool;
	struct sp__unpackers *unpackers; /* instead of these two, for runs of a program */
	struct sp__run **runs;
	const struct sp__run_span *spans; /* of them; NULL: they are merged whole */
	unsigned n;
	uint64_t charged;
};

struct sp__input {
	const char *name;
	uint64_t file_bytes;	    /* if it is a regular file */
	int fd;			    /* -1: not open */
	struct sp__rstream *stream; /* NULL: not open */
	bool marked;		    /* it begins with a byte order mark */
};

/* Sorted files (-m): opened in groups no larger than descriptors and fan-in allow; n 0: none. */
struct sp__inputs {
	struct sp__input *list;
	unsigned n;
	unsigned next;		 /* the first not merged yet */
	unsigned fan_in;	 /* the most open at a time */
	enum sp__direct direct;	 /* NEVER: there are not descriptors enough for it */
	size_t memory_bytes;	 /* for the streams of all that are open */
	struct sp__queue *queue; /* of those, */
	char *chunks;		 /* and their memory */
	size_t chunks_bytes;
	unsigned sim_file;    /* number of the first one on a simulated machine */
	bool files;	      /* all are regular files, so reading them never waits for others, */
	uint64_t total_bytes; /* ... of that size */
	struct sp__io_counters done;
	uint64_t bytes;	       /* read so far */
	struct sp__tally read; /* records of all inputs; owned by the merging thread */
};

struct sp__merging {
	struct sp__inputs inputs;
	bool reduced;		/* all merges but the final one are done, */
	unsigned runs_left;	/* which has these spilled runs: spilled.ids */
	struct sp__merge merge; /* the final one */
	struct sp__step_inputs final;
	const struct sp__run_span *spans; /* of its runs; NULL: it has them whole */
	struct sp__run_places *places;	  /* ... and how far it is in its cursors; or NULL */
	struct sp_sort_replan replan;	  /* of the merge opened last */
	struct sp_prediction prediction;  /* when runs were formed */
	bool seeks;			  /* which may read a little to measure s */
	struct sp__branch *branches[SP__BRANCHES_MAX];
	unsigned nbranches, branched; /* ... and how many runs they have */
	struct sp__pace pace;	      /* of the final merge, or of replacement selection */
	uint64_t begin_ns, cpu_begin_ns;
};

/* finish.c */
/* Does all merges but the last, once. */
SP_MUST_CHECK int sp__finish_reduce(struct sp_sort *s);
/* The same, and sets up the last one; threaded: it may have branches. */
SP_MUST_CHECK int sp__finish_prepare(struct sp_sort *s, bool threaded);
/* EAGER: does the merges that are due while runs are still being formed. */
SP_MUST_CHECK int sp__finish_due(struct sp_sort *s);
void sp__finish_close(struct sp_sort *s);
SP_MUST_CHECK int sp__finish_add_run(struct sp_sort *s, struct sp__run *run);

/* predict_run.c */
/* Fills in merging.prediction when runs have been formed, on real files; nothing is outstanding. */
void sp__sort_predict_formed(struct sp_sort *s);

/* inputs.c */
/*
 * Sets a list of sorted files as the sort's input, merged without forming runs (-m).  sim_file:
 * number of the first one on a simulated machine; the others follow it.
 */
SP_MUST_CHECK int sp__sort_merge_inputs(struct sp_sort *s, const struct sp_sort_io *io,
					unsigned sim_file);
/*
 * Opens the files of the next inputs, up to the fan-in.  Returns how many are open: fewer if the
 * system has no more descriptors, which lowers the fan-in; or an error.
 */
SP_MUST_CHECK int sp__inputs_acquire(struct sp__inputs *in, struct sp_errinfo *err);
/*
 * Makes cursors of the next n, whose files are open.  After a failure sp__inputs_close() closes
 * those that have streams.  Errors, later ones too, are recorded in err.
 */
SP_MUST_CHECK int sp__inputs_open(const struct sp_sort *s, struct sp__inputs *in, unsigned n,
				  struct sp__cursor *cursors, struct sp_errinfo *err);
/* For another thread: the next n, with their share of memory, as inputs of their own. */
void sp__inputs_part(struct sp__inputs *in, unsigned n, struct sp__inputs *part);
/* The last part was not needed. */
void sp__inputs_unpart(struct sp__inputs *in, const struct sp__inputs *part);
/* Closes a part, and counts what it has read. */
void sp__inputs_rejoin(struct sp__inputs *in, struct sp__inputs *part);
/* Closes all inputs that have streams. */
void sp__inputs_close(struct sp__inputs *in);
/* Closes the others, too, and frees the list. */
void sp__inputs_free(struct sp__inputs *in);

/* step.c: one merge of runs.  Branches call it with their own readers. */
/* The largest free piece of the arena; with_write: nothing will be written any more. */
struct sp__freemem sp__free_region(const struct sp_sort *s, bool with_write);

/*
 * Opens runs ids[0..n), or the spans of them (NULL: all), as cursors of a merge, with pages in
 * where.  Errors are recorded in the spill store's err.  in must be closed in any case.
 */
SP_MUST_CHECK int sp__step_open(struct sp_sort *s, struct sp__spill *spill,
				struct sp__step_inputs *in, const unsigned *ids,
				const struct sp__run_span *spans, unsigned n,
				struct sp__freemem where, struct sp__cursor *cursors);
/*
 * For the report: plans a merge of runs ids[0..n) in buffers pages again, as sp__step_open() does;
 * of a merge with branches, as if it had none.
 */
void sp__step_replan(struct sp_sort *s, const unsigned *ids, unsigned n, unsigned buffers);
void sp__step_close(struct sp_sort *s, struct sp__step_inputs *in);

/* Performs the merge whose cursors are open, into a new run. */
SP_MUST_CHECK int sp__merge_into(struct sp_sort *s, struct sp__merge *m, unsigned level,
				 struct sp__run **run);

/* Merges runs ids[0..n) into a new one, which replaces the first. */
SP_MUST_CHECK int sp__merge_step(struct sp_sort *s, const unsigned *ids, unsigned n, unsigned level,
				 struct sp__freemem where);

/* branch.c */
/*
 * Starts merging.nbranches branches on the first of the runs ids[0..n), with memory taken from
 * *where.  Returns how many runs they have; ids must stay valid.
 */
unsigned sp__branches_open(struct sp_sort *s, const unsigned *ids, unsigned n,
			   struct sp__freemem *where);
/* The same for the next input files; the trunk opens those that are left. */
void sp__branches_open_files(struct sp_sort *s);
/*
 * With s->merging.places there is one branch at most.  Of it, while the first cursor of the trunk
 * is at a record that begins a span, or has ended: the places in its runs of what follows.
 * Otherwise NULL.
 */
const uint64_t *sp__branch_places(const struct sp_sort *s);
/* Sets the first s->merging.nbranches cursors of the trunk to the branches. */
void sp__branches_cursors(struct sp_sort *s, struct sp__cursor *cursors);
/* Ends the branches at any point, and adds their reads to the counts. */
void sp__branches_close(struct sp_sort *s);

#endif
