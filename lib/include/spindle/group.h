/* SPDX-License-Identifier: MIT */
/*
 * Groups records by key, and computes aggregates of each group, in a fixed amount of memory.
 *
 * Each thread keeps a table of the groups it has seen; what does not fit goes, as partial totals,
 * through an external sort (spindle/sort.h), which brings equal keys together.  Results do not
 * depend on memory, threads or the order of the records, except first, last and list, which are
 * defined by that order.  Sums, means, deviations and percentiles are exact until they are printed.
 *
 * Numbers: exact up to 9 decimal places below 10^18, otherwise rounded to f64.  Empty fields, and
 * those with the text null_text, do not count.
 *
 * Thread rule: different calls are independent.
 */
#ifndef SPINDLE_GROUP_H
#define SPINDLE_GROUP_H

#include <spindle/batch.h>
#include <spindle/rec.h>
#include <spindle/run.h>

struct sp_group_opts {
	struct sp_run_opts run;
	/*
	 * Lines, CSV, or JSON lines: then columns are paths, keys have the order of xsort(1), and
	 * `header` begins a result that is CSV instead of JSON.  Or records of a fixed length: then
	 * columns are fields, OFFSET:LENGTH[:TYPE] as in sp_bkey_parse(), rows are CSV or JSON, and
	 * `header` begins CSV with the names of the columns.
	 */
	struct sp_recfmt format;
	int separator; /* lines: byte between fields, also format.separator; -1: runs of blanks */
	bool header;   /* the first record of each input has the names of the columns */
	/*
	 * Columns of the key: NAME[:LETTERS], NUMBER[LETTERS], from 1, or EXPRESSION[:LETTERS]; "as
	 * NAME" before the colon names the column of the result.  The letters are those of sort:
	 * fields that sort would call equal are one group.  Without keys all records are one group.
	 */
	const char *const *keys;
	size_t nkeys;
	/*
	 * "FUNCTION(COLUMN) [as NAME], ...", COLUMN as of a key: count() counts records, count(x)
	 * values; sum, mean, min, max, first, last, distinct, median, p0 to p100, ~median, ~p0 to
	 * ~p100 (estimates), var, stddev, mode, list; corr(x, y), slope(x, y), r2(x, y);
	 * hist(x, 0, 10, 20 to 100 by 20), a column for each bin.  NULL: count().
	 */
	const char *aggregates;
	/*
	 * A condition: only records for which it is true are grouped; NULL: all.  xgroup(1)
	 * describes expressions.
	 */
	const char *where;
	/* A condition of the rows of the result, whose columns it names; NULL: all rows. */
	const char *having;
	/*
	 * Not 0: instead of aggregates, write the first `largest` records of each group in the
	 * order of the keys `by`, which are as `keys`; equal ones in the order of the input.  Not
	 * with aggregates, having, order and json.
	 */
	uint64_t largest;
	const char *const *by;
	size_t nby;
	const char *null_text; /* text of a field without a value; NULL: only the empty one */
	bool skip_invalid; /* leave out values that are no number or date, and what is not JSON */
	/*
	 * NULL or "key": in the order of the keys; "first": of the first record of each group;
	 * NAME[:r]: of this column of the result, numbers by value before texts, r: descending.
	 */
	const char *order;
	/*
	 * Write each row as a JSON object on a line of its own, without a header; values that are
	 * not there are null.  Texts that are not UTF-8 are SP_EFORMAT.
	 */
	bool json;
	/*
	 * A key, as of `keys`, whose values are columns of the result: a column for each value and
	 * aggregate, in the order of the values; NULL: none.  The result begins with their names.
	 * Not with having, percent, cumulative, and an order by a column.
	 */
	const char *pivot;
	/*
	 * Columns of the result, "[COLUMN] [as NAME]", COLUMN a count or a sum (the first one): for
	 * each a column with the share of the total of all groups, in percent, and one with the
	 * sum of the rows up to this one.  A running total of a share is possible.
	 */
	const char *const *percent;
	size_t npercent;
	const char *const *cumulative;
	size_t ncumulative;
	/*
	 * Not NULL: instead of aggregates, write the whole records of each group to a file of its
	 * own, with the header of the input.  This is the name of the files; each %s, as many as
	 * there are keys, is replaced by a key, %% by %.  Of a key /, % and control characters are
	 * written as % and two digits, and with several keys all but letters, digits, underscores
	 * and points; a key without characters is %.  With `largest`, its first records.  Each file
	 * appears when it is complete; an existing one is replaced, unless it is an input.
	 */
	const char *split;
	bool limited; /* write only the first `top` rows */
	uint64_t top;
};

#define SP_GROUP_OPTS_INIT                                                                         \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .separator = -1                                           \
	}

enum { SP_GROUP_READ, SP_GROUP_COMBINE, SP_GROUP_PHASES };

struct sp_group_stats {
	struct sp_run_stats run;
	uint64_t records, input_bytes; /* read */
	uint64_t groups;
	uint64_t output_records, output_bytes;
	uint64_t output_files;	 /* complete ones of `split` */
	uint64_t skipped;	 /* records with a value that is not a number or a date */
	uint64_t filtered;	 /* records for which the condition is not true */
	uint64_t blank_lines;	 /* between records of several columns */
	uint64_t partials;	 /* partial totals that tables gave to the sort */
	uint64_t tables_emptied; /* how often a full table did */
	uint64_t spilled_runs;	 /* of partial totals */
	unsigned threads;
	double phase_elapsed_s[SP_GROUP_PHASES];
};

/*
 * Grouping in two steps, such as on several machines.  The first step writes partial totals of the
 * inputs in place of rows: records that end with NUL, in the order of their bytes.  The records of
 * a group begin with its key: bytes that end with the byte 1 of number nkeys.  No byte 1 has
 * another meaning in a key, and the order of keys is that of the rows.  The second step writes the
 * rows of all groups in its inputs, which are partial totals.
 *
 * Options, locale and version of the library must be the same in both steps: partial totals are
 * trusted as temporary data is.  Not with split, pivot, percent, cumulative, and an order other
 * than that of the keys.
 */
enum sp_group_step { SP_GROUP_BOTH_STEPS, SP_GROUP_FIRST_STEP, SP_GROUP_SECOND_STEP };

struct sp_source;

struct sp_group_io {
	enum sp_group_step step;
	uint64_t position;	   /* first step: of the first input among all inputs, in bytes */
	struct sp_batch header;	   /* second step: the header of the records; borrowed */
	bool rows_only;		   /* second step: do not write a header */
	const char *const *inputs; /* paths; "-": standard input */
	size_t ninputs;
	/*
	 * NULL, or the records (sp_call_group_source() of spindle/call.h); then there is one input,
	 * and it only gives them a name.  The format is CSV with commas and a header, in both steps
	 * at once.  A quarter of the memory is for reading them.
	 */
	struct sp_source *source;
	const char *output; /* path; NULL: output_fd */
	int output_fd;
	/* Called at the start of a phase, and then about 10 times per second; or NULL. */
	void (*progress)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);
	void *progress_arg;
};

/*
 * Groups the records of the inputs.  A named output appears whole or not at all if the file system
 * allows that (spindle/outfile.h).  It may be one of the inputs.
 * stats: may be NULL; filled in as far as the work got, even after an error.
 * Returns 0 or an error:
 *   -EINVAL: keys, aggregates, conditions or order are wrong, with the reason in err->text and
 *       the part to quote in err->where; or options exclude each other
 *   SP_EFORMAT: an input is not in the stated format, headers differ, or a value is not a number or
 *       a date
 *   SP_EUNSUP: this build lacks the compressed format of an input,
 *       a file of `split` is an input or was written for another group, or the volume is simulated
 *       and there is a source
 *   SP_EBUDGET, SP_ESYNTAX, -EPERM: see sp_sort_plan() of spindle/sort.h
 *   SP_ECORRUPT: temporary data is damaged
 *   SP_EBALANCE: records were lost by a bug in the library; do not use the result
 *   -errno: a file could not be opened, read or written
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_group_run(const struct sp_group_opts *opts,
				      const struct sp_group_io *io, struct sp_group_stats *stats,
				      struct sp_errinfo *err);

/* The plan of a grouping, with estimates from a sample of its inputs. */
struct sp_group_plan {
	uint64_t input_bytes; /* 0: unknown, and so is all that follows from a sample */
	uint64_t records;     /* of the inputs */
	uint64_t groups;      /* of all records */
	uint64_t sample_records, sample_groups; /* of the sample */
	uint64_t tables_bytes;			/* memory for the tables of all threads */
	uint64_t sort_bytes;			/* memory for the sort of partial totals */
	uint64_t rows_bytes;			/* memory for the sort of rows; 0: there is none */
	uint64_t source_bytes;			/* memory for reading a source; 0: there is none */
	uint64_t partials;	       /* partial totals that the tables give to the sort */
	uint64_t partial_bytes;	       /* bytes of these */
	bool in_memory;		       /* predicted not to spill */
	uint64_t spill_bytes;	       /* maximum temporary space of partial totals; 0: none */
	uint64_t rows_spill_bytes;     /* maximum temporary space of rows; 0: none */
	unsigned threads, max_threads; /* threads that read; max_threads: as requested */
};

/*
 * Plans a grouping without doing it: reads a sample of at most 32 places of the inputs.  Of inputs
 * that are not regular files, or are unpacked, nothing is read.
 * io: without a step; output and progress have no effect.
 * Returns 0 or an error of sp_group_run(); a value that is not a number is none.
 */
SP_API SP_MUST_CHECK int sp_group_plan(const struct sp_group_opts *opts,
				       const struct sp_group_io *io, struct sp_group_plan *plan,
				       struct sp_errinfo *err);

#endif
