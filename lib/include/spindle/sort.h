/* SPDX-License-Identifier: MIT */
/*
 * Sorts records larger than memory.  It does not parse keys: see spindle/rec.h and spindle/order.h.
 *
 * There are three interfaces: sp_sort_run() sorts or merges named inputs into an output;
 * sp_sort_check() checks whether an input is in order; sp_sort_new/put/finish/get/free sort batches
 * that the caller supplies. sp_sort_plan() returns the plan of a sort without reading a file.
 *
 * All sizes are bytes.  If a field of struct sp_sort_opts is 0, the planner chooses its value,
 * unless its comment says otherwise.
 *
 * Thread rule: different calls and different sorts are independent.  One thread at a time uses a
 * struct sp_sort.  LC_COLLATE and LC_CTYPE must not change during a sort.
 *
 * Source: Zhang & Larson 1998 (read-ahead, formulas 1-9); Wang & Cherniack 2006, section 3.1
 * (multilevel merge sort, block recycling).
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
	SP_MERGE_MMS,  /* eager; at the end level by level up to the highest */
	SP_MERGE_PPMS, /* polyphase until one run is left, which is then read */
};
enum sp_readahead {
	SP_READ_AUTO,
	SP_READ_NONE,	  /* one page when a run has none left */
	SP_READ_DOUBLE,	  /* half of a run's buffers at a time */
	SP_READ_EQUAL,	  /* all but one of a run's buffers, lazily triggered */
	SP_READ_FORECAST, /* one spare buffer, consumption order */
	SP_READ_EXTENDED, /* two spare buffers, consumption order */
	SP_READ_CLUSTER,  /* clusters by the heuristic of Zhang & Larson, section 3.3 */
	SP_READ_COUNT_
};

/* Merge levels whose consumed pages are reused. */
#define SP_RECYCLE_AUTO (-2)
#define SP_RECYCLE_NONE (-1)
#define SP_RECYCLE_ALL 1000

/* Options of a sort. */
struct sp_sort_opts {
	struct sp_run_opts run;
	struct sp_recfmt format;
	const struct sp_keyset *keys; /* borrowed while the sort lives */
	bool unique;		      /* keep the first record of each group of equal keys */
	/* With unique only: write the size of each group before it, as uniq -c or a CSV field. */
	bool count;
	uint64_t top; /* return only this many records; 0: all */

	uint64_t input_bytes;  /* expected; 0: unknown */
	uint64_t record_bytes; /* mean length of the records; 0: unknown */
	/* Temporary data that the page cache and the temporary directories can hold; 0: none. */
	uint64_t cached_bytes;
	/* Inputs are read directly from devices: at most as many threads as processors are used. */
	bool on_device;

	enum sp_run_formation formation;
	enum sp_merge_policy policy;
	enum sp_readahead readahead;
	int recycle;		      /* SP_RECYCLE_... or a level >= 0 */
	unsigned fan_in;	      /* runs per merge, >= 2 */
	unsigned batch_size;	      /* maximum fan-in (--batch-size); 0: no maximum */
	uint64_t run_bytes;	      /* memory for one run */
	uint64_t merge_bytes;	      /* memory for the read buffers of one merge */
	const char *compress_program; /* NULL; else run as PROG and PROG -d */
};

#define SP_SORT_OPTS_INIT                                                                          \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .recycle = SP_RECYCLE_AUTO                                \
	}

/* The predicted final merge with one read-ahead strategy. */
struct sp_strategy_plan {
	bool feasible;	      /* enough buffers for this fan-in */
	double cluster_reads; /* N of formulas (1)-(4) */
	double cluster_pages; /* mean pages in a cluster */
	double seconds;	      /* formula (5): t D + s N */
};

/* The plan of a sort. */
struct sp_sort_plan {
	uint64_t memory_bytes; /* working memory without fixed overheads */
	uint64_t input_bytes;  /* 0: unknown */
	bool in_memory;	       /* predicted not to spill */
	enum sp_run_formation formation;
	enum sp_merge_policy policy;
	enum sp_readahead readahead;
	int recycle;
	enum sp_placement placement;
	uint64_t run_bytes;   /* memory of one run buffer */
	unsigned run_buffers; /* run buffers in rotation */
	uint64_t runs;	      /* predicted initial runs; 0: unknown */
	unsigned fan_in;
	unsigned passes; /* times each spilled byte is read */
	uint32_t page_bytes;
	uint64_t merge_bytes;
	unsigned merge_pages;	   /* b: pages in the merge's pool */
	double transfer_s_per_mib; /* t of the device model */
	double seek_s;		   /* s of the device model */
	double seconds;		   /* predicted time of run formation and merges; 0: unknown */
	double cluster_reads;	   /* predicted for all merges; 0: none, or unknown */
	uint64_t spill_bytes;	   /* maximum temporary space; 0: none, or unknown input */
	unsigned threads;	   /* number of max_threads that have enough memory to form runs */
	unsigned max_threads;	   /* requested threads, or one for each processor */
	struct sp_strategy_plan strategy[SP_READ_COUNT_];
};

/*
 * Makes the plan of a sort without reading a file, with the model of a simulated volume.
 * Returns 0 or an error:
 *   SP_EBUDGET: sizes set by hand contradict each other or the memory limit; err->text has the
 *       minimum
 *   -EINVAL: the page size or the fan-in is out of its range
 *   SP_ESYNTAX: the volume or the simulated machine is specified wrongly
 *   SP_EUNSUP: options exclude each other, or the placement needs tracks that the volume does not
 *       have
 *   -EPERM: the volume is a block device and run.overwrite is not set
 *   -errno: the model of the volume could not be read
 */
SP_API SP_MUST_CHECK int sp_sort_plan(const struct sp_sort_opts *opts, struct sp_sort_plan *plan,
				      struct sp_errinfo *err);

/*
 * Sets plan->seconds of a plan of the same options on a simulated machine, by simulating its
 * requests without data.  The simulation takes about 1 s, with a file system 3 s, for inputs of
 * any length.  plan->seconds stays as it is on a real device, if the input length is unknown, the
 * files do not fit on the device, or there are more than 4096 runs.
 * Returns 0, -ENOMEM, or an error of sp_sort_plan().
 */
SP_API SP_MUST_CHECK int sp_sort_predict(const struct sp_sort_opts *opts, struct sp_sort_plan *plan,
					 struct sp_errinfo *err);

/*
 * Fills in input_bytes, record_bytes and cached_bytes where opts leaves them unknown (0), and
 * on_device, as sp_sort_run() does for its plan.
 *
 * input_bytes becomes the total length of the inputs, at least 1, if all are regular files.
 * record_bytes becomes the mean length of the records in the first 64 KiB of the first regular
 * file, unless the total is below 1 MiB. cached_bytes becomes a share of the available memory,
 * limited by the space in the temporary directories; it stays 0 if runs are stored elsewhere or
 * bypass the page cache.  on_device is set if all inputs of 1 MiB or more are files that are not in
 * the page cache and can be read directly.  Values of unreadable inputs stay unknown.
 * inputs: paths; "-": standard input, from which nothing is consumed.
 */
SP_API void sp_sort_expect(struct sp_sort_opts *opts, const char *const *inputs, size_t ninputs);

/* The plan of a merge of spilled runs, made when their lengths and its memory were known. */
struct sp_sort_replan {
	unsigned runs; /* merged runs; 0: there was no such merge */
	enum sp_readahead readahead;
	unsigned merge_pages;
	struct sp_strategy_plan strategy[SP_READ_COUNT_];
};

#define SP_SORT_PHASES 2
enum { SP_PHASE_RUN_FORMATION, SP_PHASE_MERGE };

/* Results of a sort; spindle-report(5) explains each value. */
struct sp_sort_stats {
	struct sp_run_stats run;
	struct sp_sort_plan plan;
	struct sp_prediction prediction;
	struct sp_sort_replan replan; /* last merge of spilled runs */
	uint64_t records, output_records;
	uint64_t input_bytes, output_bytes;
	uint64_t filtered;	 /* records left out by the condition, and not in the others */
	uint64_t skipped;	 /* records left out since they are invalid */
	size_t skipped_input;	 /* the number of the input that has the first of them, */
	char skipped_first[600]; /* its line, and what is wrong */
	uint64_t resumed_bytes;	 /* share of input_bytes in runs of checkpoints */
	uint64_t collapsed;	 /* duplicates dropped while runs were formed */
	uint64_t runs;		 /* initial runs formed, in memory or spilled */
	uint64_t spilled_runs;	 /* runs written to temporary space, all levels */
	uint64_t merges;	 /* merge steps, the final one included */
	unsigned merge_passes;	 /* maximum number of merges of a record */
	unsigned merge_parts;	 /* ranges of the result that several threads merged; 0: one */
	double phase_elapsed_s[SP_SORT_PHASES];
	double phase_cpu_s[SP_SORT_PHASES];
	uint64_t cluster_reads; /* cluster reads of spilled runs in merges */
	uint64_t demand_reads;	/* pages read that the read plan did not contain */
	uint64_t spill_recycled_bytes;
	/* errno of a compress_program that could not be run (runs are uncompressed); 0: none. */
	int compress_error;
};

struct sp_splitters;

/* Named inputs and an output. */
struct sp_sort_io {
	const char *const *inputs; /* paths; "-": standard input */
	size_t ninputs;
	bool merge; /* inputs are sorted already: merge them (-m) */
	/*
	 * With unique only: the result has the first record of each key in the order of the input,
	 * not of the keys.  Records are written while the input is read if the keys fit in memory,
	 * and no input is decompressed or overwritten in place.  Otherwise the input, or a copy in
	 * temporary space, is read again, if the repeated keys fit; if not, it is sorted by key and
	 * a second time.  SP_EUNSUP: count, merge, splitters, resume, a volume, traces.
	 */
	bool keep_order;
	const char *output; /* path (-o); NULL: output_fd */
	int output_fd;
	/*
	 * Not NULL: instead, part i of the result goes to the path parts[i], for i from 0 to the
	 * number of splitters (spindle/split.h), empty parts too.  Each part begins with
	 * the header.
	 */
	const struct sp_splitters *splitters;
	const char *const *parts;
	/*
	 * A condition of the records, as of --where in xsort(1): the others are left out; or NULL.
	 * names: of the columns, for the condition.  SP_EUNSUP: merge, resume, records of a fixed
	 * length.
	 */
	const char *where;
	/* Leave out records that are not JSON, or have a text that is not of its checked type. */
	bool skip_invalid;
	char *const *names;
	size_t nnames;
	bool names_unknown; /* the input is empty: a condition can have any name */
	/*
	 * Number of records at the start of each input that are its header.  The header is
	 * written once, before the sorted records.  Different headers are SP_EFORMAT.
	 * header_first: only the first input has a header.
	 */
	uint64_t header_records;
	bool header_first;
	/* CSV with a header: the name of the column that opts.count adds; NULL: "count". */
	const char *count_name;
	bool header_only; /* write the header only; read nothing behind it */
	/*
	 * Bytes that the caller has already read from the first input, such as a header; they come
	 * first.  If inputs are decompressed, these bytes are, too.
	 */
	struct sp_batch ahead;
	/*
	 * A directory for checkpoints, on the file system of output, or NULL.  The sort creates
	 * it if it is missing, locks it, and removes it at the end.  It replaces run.tmpdirs.
	 * After a crash, a signal or an error the same sort continues from the checkpoints; memory
	 * and threads may differ.  An input that fits in memory leaves no checkpoints.
	 *
	 * SP_EUNSUP: inputs or options are not those of the checkpoints; the directory is in use;
	 * or the sort cannot have checkpoints, because it is a merge, has inputs that are not named
	 * regular files, parts, a volume, or a compress_program.
	 */
	const char *resume;
	bool device_counters; /* fill in device_* and spill_regions of stats, too */
	/*
	 * Called at the start of a phase (SP_PHASE_MERGE: before the first byte of the result
	 * is written), and then about 10 times per second; or NULL.
	 */
	void (*progress)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);
	void *progress_arg;
};

/*
 * Sorts or merges the inputs into the output.  A named output appears whole or not at all if the
 * file system allows that (spindle/outfile.h).  It may be one of the inputs.  Parts get their names
 * when all of them are complete.
 * stats: may be NULL; filled in as far as the sort got, even after an error.
 * Returns 0 or an error:
 *   SP_EFORMAT: an input is not in the stated format, headers differ, an input of a merge is out of
 *       order, or a checked text is not of its type (sp_key.checked; err->op "check", err->where
 *       the column)
 *   SP_EBUDGET: sizes set by hand contradict the memory limit; err->text has the minimum
 *   SP_EUNSUP: a combination of options, or this build, is not supported; err->text names it
 *   -EINVAL, SP_ESYNTAX, -EPERM: see sp_sort_plan()
 *   SP_ECORRUPT: temporary data is damaged
 *   SP_ECHILD: compress_program failed
 *   SP_EBALANCE: records were lost or duplicated by a bug in the library; do not use the result
 *   SP_ETHREAD: the system does not allow io_uring a thread
 *   -errno: a file could not be opened, read or written
 */
SP_API SP_MUST_CHECK int sp_sort_run(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
				     struct sp_sort_stats *stats, struct sp_errinfo *err);

/* The first record out of order. */
struct sp_disorder {
	/*
	 * Line at which the record starts, counted from 1; for binary or NUL-ended records its
	 * number.
	 */
	uint64_t line;
	char *record; /* malloc()ed copy without terminator; the caller frees */
	size_t bytes;
};

/*
 * Checks whether an input is in order.  With opts->unique, equal keys of consecutive records are
 * disorder, too.
 * ahead: see struct sp_sort_io; NULL: nothing.
 * header_records: records at the start that are skipped.
 * where: receives the first record out of order.
 * Returns 0 if the input is in order, 1 if not, or an error:
 *   SP_EFORMAT: the input is not in the stated format, or a checked text is not of its type
 *   SP_EUNSUP: this build lacks the compressed format of the input
 *   -errno: the input could not be opened or read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_sort_check(const struct sp_sort_opts *opts, const char *input,
				       const struct sp_batch *ahead, uint64_t header_records,
				       struct sp_disorder *where, struct sp_errinfo *err);

/* The incremental interface. */

struct sp_sort;

/*
 * Opens a sort of batches.  Free it with sp_sort_free().
 * opts: copied; its pointers are borrowed while the sort lives.
 * err: also receives the errors of all later calls, so it must outlive the sort; may be NULL.
 * Returns 0, -ENOMEM, or an error of sp_sort_plan(): SP_EBUDGET, -EINVAL, SP_ESYNTAX, SP_EUNSUP,
 * -EPERM, -errno.
 */
SP_API SP_MUST_CHECK int sp_sort_new(struct sp_sort **sort, const struct sp_sort_opts *opts,
				     struct sp_errinfo *err);

/*
 * Adds a batch of whole records.
 * Returns SP_READY if the batch was consumed; SP_LATER if not (wait, then put the same batch again,
 * unchanged: the sort remembers the consumed part); or an error, which every further call returns:
 *   SP_ESTATE: the input has ended
 *   SP_EBALANCE: records were lost or duplicated by a bug in the library
 *   -errno: temporary data could not be written
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_sort_put(struct sp_sort *sort, const struct sp_batch *batch);

/*
 * Ends the input.
 * Returns 0; SP_ESTATE if the input has ended already; or an error of sp_sort_put().
 */
SP_API SP_MUST_CHECK int sp_sort_finish(struct sp_sort *sort);

/*
 * Fetches the next batch of the result, after sp_sort_finish().  The batch is valid until the next
 * call.
 * Returns SP_READY, SP_LATER, SP_END or an error, which every further call returns:
 *   SP_ESTATE: the input has not ended
 *   SP_ECORRUPT: temporary data is damaged
 *   SP_EBUDGET: a merge does not fit in the memory limit
 *   SP_ECHILD: compress_program failed
 *   SP_EBALANCE: records were lost or duplicated by a bug in the library
 *   -errno: temporary data could not be read or written
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_sort_get(struct sp_sort *sort, struct sp_batch *batch);

/*
 * Blocks until a put or get that returned SP_LATER can continue.
 * Returns 0; SP_ESTATE if there was no SP_LATER; or an error of sp_sort_put() or sp_sort_get().
 */
SP_API SP_MUST_CHECK int sp_sort_wait(struct sp_sort *sort);

/* Reports the statistics of a sort, at any time.  It waits for a pause in the background work. */
SP_API void sp_sort_stats(struct sp_sort *sort, struct sp_sort_stats *stats);

/* Frees a sort; NULL is accepted. */
SP_API void sp_sort_free(struct sp_sort *sort);

struct sp_operator;

/*
 * Opens a sort as an operator of a plan (spindle/flow.h).  It returns the records of input in
 * order, in the format of input.
 * opts: see sp_sort_new(); the sort has memory of its own.  In a plan on a simulated volume, runs
 * are stored on that machine, in the same virtual time; run.volume is the volume of the plan, or
 * NULL.
 * Returns 0 or an error:
 *   SP_EUNSUP: the simulated volume is not that of the plan
 *   SP_ESTATE: input is in another plan or already the input of an operator
 * Or an error of sp_sort_new().
 */
SP_API SP_MUST_CHECK int sp_sort_operator(struct sp_operator **op, struct sp_operator *input,
					  const struct sp_sort_opts *opts);

SP_ENUM(sp_run_formation)
SP_ENUM(sp_merge_policy)
SP_ENUM(sp_readahead)
SP_ENUM(sp_recycle) /* names of SP_RECYCLE_... */

#endif
