/* SPDX-License-Identifier: MIT */
/*
 * Sorting records larger than memory.
 *
 * There are three interfaces: sp_sort_run() sorts or merges named inputs into an
 * output; sp_sort_check() checks whether an input is in order;
 * sp_sort_new/put/finish/get/free sort batches that the caller supplies.
 * sp_sort_plan() returns the plan of a sort without touching a file.
 *
 * Sources: Zhang & Larson 1998 (read-ahead, formulas 1-9); Wang & Cherniack
 * 2006, section 3.1 (multilevel merge sort, block recycling).
 *
 * All sizes are bytes.  A field that is 0 in struct sp_sort_opts is chosen by
 * the planner unless its comment says otherwise.
 */
#ifndef SPINDLE_SORT_H
#define SPINDLE_SORT_H

#include <spindle/batch.h>
#include <spindle/rec.h>
#include <spindle/run.h>

enum sp_run_formation { SP_FORM_AUTO, SP_FORM_LOAD, SP_FORM_REPLACEMENT };
enum sp_merge_policy {
	SP_MERGE_AUTO,
	SP_MERGE_LAZY,
	SP_MERGE_EAGER,
	SP_MERGE_POLYPHASE,
	SP_MERGE_MMS,  /* eager, and at the end level by level up to the highest */
	SP_MERGE_PPMS, /* polyphase until one run is left, which is then read */
};
enum sp_readahead {
	SP_READ_AUTO,
	SP_READ_NONE,	  /* one page when a run has none left */
	SP_READ_DOUBLE,	  /* half of a run's buffers at a time */
	SP_READ_EQUAL,	  /* all but one of a run's buffers, lazily triggered */
	SP_READ_FORECAST, /* one spare buffer, consumption order */
	SP_READ_EXTENDED, /* two spare buffers, consumption order */
	SP_READ_CLUSTER,  /* clusters by the heuristic of section 3.3 */
	SP_READ_COUNT_
};

/* Merge levels whose consumed pages are reused. */
#define SP_RECYCLE_AUTO (-2)
#define SP_RECYCLE_NONE (-1)
#define SP_RECYCLE_ALL 1000

/* Hand-set sizes; 0: the planner's choice. */
struct sp_sort_opts {
	struct sp_run_opts run;
	struct sp_recfmt format;
	const struct sp_keyset *keys; /* borrowed for the sort's life */
	bool unique;		      /* one record of each group of equal keys: the first */
	/* With unique only: its number of occurrences before it, as uniq -c or a field of CSV. */
	bool count;
	uint64_t top; /* only this many records of the result, the first; 0: all */

	uint64_t input_bytes;  /* expected; 0: unknown */
	uint64_t record_bytes; /* mean length of its records; 0: unknown */
	/* Temporary data that the page cache will hold, and that there is space for; 0: none. */
	uint64_t cached_bytes;

	enum sp_run_formation formation;
	enum sp_merge_policy policy;
	enum sp_readahead readahead;
	int recycle;		      /* SP_RECYCLE_... or a level >= 0 */
	unsigned fan_in;	      /* runs merged at once, >= 2 */
	unsigned batch_size;	      /* cap on the fan-in (--batch-size); 0: none */
	uint64_t run_bytes;	      /* memory for one run */
	uint64_t merge_bytes;	      /* memory for the read buffers of one merge */
	const char *compress_program; /* NULL; else run as PROG and PROG -d */
};

#define SP_SORT_OPTS_INIT                                                                          \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .recycle = SP_RECYCLE_AUTO                                \
	}

/* The planner's prediction for one read-ahead strategy, for one final merge. */
struct sp_strategy_plan {
	bool feasible;	      /* enough buffers for this fan-in */
	double cluster_reads; /* N of formulas (1)-(4) */
	double cluster_pages; /* mean pages in a cluster */
	double seconds;	      /* formula (5): t D + s N */
};

struct sp_sort_plan {
	uint64_t memory_bytes; /* working memory after fixed overheads */
	uint64_t input_bytes;  /* 0: unknown */
	bool in_memory;	       /* expected not to spill */
	enum sp_run_formation formation;
	enum sp_merge_policy policy;
	enum sp_readahead readahead;
	int recycle;
	enum sp_placement placement;
	uint64_t run_bytes;   /* memory of one run buffer */
	unsigned run_buffers; /* run buffers in rotation */
	uint64_t runs;	      /* expected initial runs; 0: unknown */
	unsigned fan_in;
	unsigned passes; /* times each spilled byte is read */
	uint32_t page_bytes;
	uint64_t merge_bytes;
	unsigned merge_pages;	   /* b: pages in the merge's pool */
	double transfer_s_per_mib; /* t of the device model */
	double seek_s;		   /* s of the device model */
	double seconds;		   /* expected for run formation and merges */
	double cluster_reads;	   /* expected in all merges; 0: none, or unknown */
	uint64_t spill_bytes;	   /* of temporary space, at most; 0: none, or unknown input */
	struct sp_strategy_plan strategy[SP_READ_COUNT_];
};

/*
 * Pure: fills plan from opts, with the model of a simulated volume.  Returns 0; SP_EBUDGET if
 * hand-set sizes contradict each other or the memory, with the minimum in err->text; the error of
 * a volume that cannot be.
 */
SP_API SP_MUST_CHECK int sp_sort_plan(const struct sp_sort_opts *opts, struct sp_sort_plan *plan,
				      struct sp_errinfo *err);

/*
 * Fills in input_bytes, record_bytes and cached_bytes where opts leaves them unknown (0), as
 * sp_sort_run() does for its plan: the total length of the inputs, at least 1, if all
 * are regular files, and the mean length of the records in the first 64 KB of the
 * first regular file, unless the total is below 1 MB.  "-": standard input, of
 * which nothing is consumed.  Values of unreadable inputs stay unknown.
 * cached_bytes is a share of the available memory, limited by the space in the
 * temporary directories; 0 if runs are to lie elsewhere, or not in the page cache.
 */
SP_API void sp_sort_expect(struct sp_sort_opts *opts, const char *const *inputs, size_t ninputs);

/*
 * When a merge of spilled runs begins, their lengths and the memory for its pages are
 * known, and its strategy is planned again.
 */
struct sp_sort_replan {
	unsigned runs; /* that it merges; 0: there was no such merge */
	enum sp_readahead readahead;
	unsigned merge_pages;
	struct sp_strategy_plan strategy[SP_READ_COUNT_];
};

#define SP_SORT_PHASES 2
enum { SP_PHASE_RUN_FORMATION, SP_PHASE_MERGE };

/* Results of a sort; spindle-report(5) explains each figure. */
struct sp_sort_stats {
	struct sp_run_stats run;
	struct sp_sort_plan plan;
	struct sp_prediction prediction;
	struct sp_sort_replan replan; /* of the last merge of spilled runs */
	uint64_t records, output_records;
	uint64_t input_bytes, output_bytes;
	uint64_t resumed_bytes;	 /* of input_bytes: in runs that were there */
	uint64_t collapsed;	 /* records not kept as runs were formed, since one like them was */
	uint64_t runs;		 /* initial runs formed, in memory or spilled */
	uint64_t spilled_runs;	 /* written to temporary space, all levels */
	uint64_t merges;	 /* merge steps, the final one included */
	unsigned merge_passes;	 /* the most merges that any record went through */
	unsigned merge_branches; /* sets of runs that the final merge has from other threads */
	unsigned merge_parts;	 /* parts of the result merged and written at once; 0: one */
	double phase_elapsed_s[SP_SORT_PHASES];
	double phase_cpu_s[SP_SORT_PHASES];
	uint64_t cluster_reads; /* of spilled runs, in merges */
	uint64_t demand_reads;	/* pages that the read plan had not foreseen */
	uint64_t spill_recycled_bytes;
	/* errno of a compress_program that could not be run (runs are uncompressed); 0: none. */
	int compress_error;
};

struct sp_splitters;

/* Named inputs and an output. */
struct sp_sort_io {
	const char *const *inputs; /* paths; "-": standard input */
	size_t ninputs;
	bool merge;	    /* inputs are sorted already: merge them (-m) */
	const char *output; /* path (-o); NULL: output_fd */
	int output_fd;
	/*
	 * Not NULL: instead, part i of the result goes to the path parts[i], for i from 0 to the
	 * number of splitters (spindle/split.h), empty parts too.  A header goes to part 0.
	 */
	const struct sp_splitters *splitters;
	const char *const *parts;
	/*
	 * Number of records at the beginning of each input that are its header: passed
	 * through once, before the sorted ones.  Headers that differ are SP_EFORMAT.
	 * header_first: only the first input has one.
	 */
	uint64_t header_records;
	bool header_first;
	/*
	 * The name of the column of numbers that opts.count puts before the others of a header, in
	 * CSV; NULL: "count".
	 */
	const char *count_name;
	bool header_only; /* the result has no records; no more is read than the header takes */
	/*
	 * What was read from the first input before, such as its header: it comes first.  Where
	 * inputs are decompressed these bytes are too.
	 */
	struct sp_batch ahead;
	/*
	 * Not NULL: the sort leaves checkpoints in this directory, on the file system of output; it
	 * is made if it is missing, locked, and removed at the end.  After a crash, a signal or an
	 * error the same sort goes on from them.  It takes the place of run.tmpdirs; memory and
	 * threads may differ.  SP_EUNSUP: inputs or options are not those of the checkpoints, the
	 * directory is in use, or such a sort cannot have them: merges, inputs that are not named
	 * regular files, parts, volumes, and a compress_program.  An input that fits in memory
	 * leaves none.
	 */
	const char *resume;
	bool device_counters; /* stats: also the figures that the system must supply:
			      * device_* and spill_regions */
	/*
	 * Called at the beginning of a phase (SP_PHASE_MERGE: before any of the result is
	 * written), and then about ten times a second; or NULL.
	 */
	void (*progress)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);
	void *progress_arg;
};

/*
 * Sorts (or merges) the inputs into the output.  With a path the output appears
 * whole or not at all wherever the file system allows that (see xsort(1)), and
 * may be one of the inputs.  stats may be NULL; it is filled in as far as the sort
 * got, even on error.  Parts get their names when all of them are complete.
 */
SP_API SP_MUST_CHECK int sp_sort_run(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
				     struct sp_sort_stats *stats, struct sp_errinfo *err);

/* The first record out of order. */
struct sp_disorder {
	/* Where the record begins, from 1: its line, or its number (binary, or ended by NUL). */
	uint64_t line;
	char *record; /* malloc()ed copy without terminator; the caller frees */
	size_t bytes;
};

/*
 * Returns 0: in order; 1: not, at *where (with opts->unique also if two
 * neighbours have equal keys); negative: error.  The first header_records are a
 * header and are skipped.  ahead: as in struct sp_sort_io; NULL: nothing.
 */
SP_API SP_MUST_CHECK int sp_sort_check(const struct sp_sort_opts *opts, const char *input,
				       const struct sp_batch *ahead, uint64_t header_records,
				       struct sp_disorder *where, struct sp_errinfo *err);

/* The incremental interface. */

struct sp_sort;

/* err, which may be NULL, receives the errors of all later calls too: it must outlive the sort. */
SP_API SP_MUST_CHECK int sp_sort_new(struct sp_sort **sort, const struct sp_sort_opts *opts,
				     struct sp_errinfo *err);
/*
 * Accepts a batch of whole records: SP_READY when all of it has been consumed,
 * SP_LATER when not (wait, then put the same batch again, unchanged: the sort
 * remembers the part consumed), or an error.
 */
SP_API SP_MUST_CHECK int sp_sort_put(struct sp_sort *sort, const struct sp_batch *batch);
/* Ends the input.  0 or an error. */
SP_API SP_MUST_CHECK int sp_sort_finish(struct sp_sort *sort);
/* The next batch of the result, after finish: a status or an error. */
SP_API SP_MUST_CHECK int sp_sort_get(struct sp_sort *sort, struct sp_batch *batch);
/* Blocks until a put or get that returned SP_LATER can make progress. */
SP_API SP_MUST_CHECK int sp_sort_wait(struct sp_sort *sort);
/*
 * At any time, from the thread that makes the other calls.  Waits for a pause in the
 * background work.
 */
SP_API void sp_sort_stats(struct sp_sort *sort, struct sp_sort_stats *stats);
SP_API void sp_sort_free(struct sp_sort *sort); /* accepts NULL */

struct sp_operator;

/*
 * The sort as an operator of a plan (spindle/flow.h): the records of input in order.  opts: as for
 * a new sort, with memory of its own; the format is that of the input.  In a plan on a simulated
 * volume its runs lie on that machine, in the same virtual time: run.volume is that of the plan, or
 * NULL.  SP_EUNSUP: another simulated volume, or one where the plan has none.
 */
SP_API SP_MUST_CHECK int sp_sort_operator(struct sp_operator **op, struct sp_operator *input,
					  const struct sp_sort_opts *opts);

SP_ENUM(sp_run_formation)
SP_ENUM(sp_merge_policy)
SP_ENUM(sp_readahead)
SP_ENUM(sp_recycle) /* of the SP_RECYCLE_... */

#endif
