/* SPDX-License-Identifier: MIT */
/*
 * Joining two files of records on a common field, as POSIX join does.
 *
 * Each pair of records with equal keys, one from each file, makes a record of
 * the result; unpaired records can be written too, or only these.  Lines are
 * divided into fields as in join(1): at each separator, or at runs of blanks.
 * A CSV record continues through newlines in quotes.  Binary records have one
 * length, and the caller defines their fields.
 *
 * The hash joins need no order, and keep the order of one input on request.  Keys are
 * equal if their bytes are equal or, for fields with a type, their values.  Data that
 * does not fit into memory is partitioned by a hash of the keys and spilled.
 *
 * SP_JOIN_MERGE reads both files in parallel.  They must be sorted on the key in
 * the order of LC_COLLATE; output and reports of disorder are those of GNU join.
 *
 * Thread rule: a call belongs to one thread; different calls are independent.
 * LC_CTYPE and LC_COLLATE must not change during a call.
 *
 * Source: Wang, Cherniack: Permuting block requests (2006), section 3.2, for
 * the number of partitions.
 */
#ifndef SPINDLE_JOIN_H
#define SPINDLE_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/batch.h>
#include <spindle/error.h>
#include <spindle/rec.h>
#include <spindle/run.h>

enum sp_join_algorithm {
	SP_JOIN_MERGE,	/* both inputs are sorted */
	SP_JOIN_HYBRID, /* hash join; part of the build input stays in memory */
	SP_JOIN_GRACE,	/* hash join; both inputs are partitioned completely first */
	SP_JOIN_NESTED, /* block nested loops over copies in temporary space */
	SP_JOIN_SHJ,	/* sort-hash join: GRACE, records sorted by partition before writing */
	/*
	 * Index nested loops: the inner file is a regular one with an index, whose records are
	 * read by their places; one after the other, or many at once.
	 */
	SP_JOIN_INL,
	SP_JOIN_ASYNC_INL,
	/*
	 * ASYNC_INL if there is an index and it is predicted to be faster.  Else sorted files are
	 * merged; others: HYBRID, or SHJ if predicted to be faster.
	 */
	SP_JOIN_AUTO,
};

/* Whether and how both inputs are sorted on their keys, as far as samples show. */
enum sp_join_sorted {
	SP_JOIN_SORTED_UNKNOWN, /* not examined */
	SP_JOIN_UNSORTED,
	SP_JOIN_SORTED_BYTES,  /* as bytes */
	SP_JOIN_SORTED_LENGTH, /* shorter ones first, then as bytes: whole numbers */
};

/* How the result gets the order of an input. */
enum sp_join_ordering {
	SP_JOIN_ANY_ORDER,  /* not at all: not requested */
	SP_JOIN_BY_PROBING, /* that input is the probe input, in order */
	SP_JOIN_BY_SORTING, /* the result is sorted */
	SP_JOIN_BY_MERGING, /* both inputs are sorted */
};

enum sp_join_order {
	SP_JOIN_CHECK_UNPAIRABLE, /* disorder matters once a record had no partner */
	SP_JOIN_CHECK,		  /* disorder ends the join */
	SP_JOIN_NOCHECK,
};

/* Files of one join, at most. */
#define SP_JOIN_FILES_MAX 8

/* A further file: its records with this key join the rows of the files before it. */
struct sp_join_then {
	const char *input, *index;
	unsigned left;	   /* the file whose field equals the key, counted from 1 */
	size_t left_field; /* counted from 0, as the next */
	size_t key;
};

/* A column of the output: the key itself, or a field of a file. */
struct sp_join_column {
	unsigned file; /* 0: the key; else counted from 1 */
	size_t field;  /* counted from 0 */
};

struct sp_join_opts {
	/*
	 * parallel: threads that look up the records of a hash join together, and that sort the
	 * result, which does not depend on their number; compression: only SP_SPILL_RAW.
	 */
	struct sp_run_opts run;
	char eol;		/* what ends a record: '\n' or '\0' */
	const char *separator;	/* between fields; NULL: runs of blanks */
	size_t separator_bytes; /* at most 16; "\n", 1: a line is one field */
	const size_t *keys[2];	/* the key's fields in each file, counted from 0 */
	size_t nkeys;		/* how many; SP_JOIN_MERGE: 1 */
	/*
	 * The type of each key field: only type and fold are used, and texts compare
	 * as bytes.  NULL: all are texts.
	 */
	const struct sp_key *types;
	const bool *collated; /* the texts compared by strcoll(); NULL: none */
	bool csv;	      /* fields may be in quotes; separator is one byte */
	/*
	 * Binary records: their lengths in each file; 0: lines.  fields holds parts of
	 * them (offset, length, and, for keys, a type from SP_KEY_BYTES on and
	 * big_endian); keys and columns are indexes into it.  Numbers in keys compare by
	 * value; a record of the result has no terminator, and a missing partner is
	 * replaced by filling of its length (see filler).  Not for SP_JOIN_MERGE, nor with
	 * types, collated, csv, ignore_case, header and auto_columns.
	 */
	size_t fixed_bytes[2];
	const struct sp_key *fields;
	bool ignore_case; /* bytes compare in upper case */
	bool pairs;	  /* write pairs */
	bool unpaired[2]; /* write unpaired records of this file */
	bool semi;	  /* write records of file 1 with partners, each once */
	bool first_alone; /* CSV with a header: only columns of file 1, for semi and its opposite */
	/*
	 * The first lines are joined regardless of their keys.  With csv, and without columns,
	 * all records of the result have their fields: missing ones are empty; a record
	 * with more fields is SP_EFORMAT, unless auto_columns drops them.  With csv, keys and
	 * columns beyond them are SP_EFORMAT, too.
	 */
	bool header;
	enum sp_join_order order;
	/* NULL: key, rest of 1, rest of 2; binary records: whole records of each file possible. */
	const struct sp_join_column *columns;
	size_t ncolumns;
	bool auto_columns; /* as many fields as the first lines have */
	/*
	 * Replaces empty or missing fields; NULL: nothing.  Binary records: its first byte
	 * fills missing parts; NULL: zeros.
	 */
	const char *filler;

	enum sp_join_algorithm algorithm;
	/*
	 * 1, 2: the result is in the order of this input's records, and pairs of one record
	 * in the order of the other input; its unpaired records keep their places, those of
	 * the other input come last, in their order.  A result with records of only one
	 * input (semi, or no pairs) is in the order of that input.  0: any order.
	 * SP_EUNSUP with a volume, and, for SP_JOIN_MERGE, with unpaired[] of the other
	 * input.
	 */
	unsigned ordered;
	/*
	 * SP_JOIN_AUTO: the expected order of the inputs, by which regular files are merged on
	 * one text key; it need not be true, and with other keys it is ignored.
	 */
	enum sp_join_sorted sorted;
	unsigned build;		  /* file read into memory first: 1 or 2; 0: the smaller */
	uint64_t input_bytes[2];  /* expected; 0: unknown. */
	uint64_t record_bytes[2]; /* mean length of the records; 0: unknown. */
	uint64_t join_bytes;	  /* for records of the build input; 0: the remaining memory */
	/*
	 * Index nested loops: the index (spindle-index(5)) of each file, of which one at least is
	 * given; with both the larger file is read through its index.  That file must not be a
	 * pipe, have unpaired records written, or, with semi, be file 1.
	 */
	const char *index[2];
	unsigned max_outstanding; /* of keys, and of reads, for each index; 0: 128 */
	/* Files 3 and up, for SP_JOIN_INL and SP_JOIN_ASYNC_INL, of lines or CSV; pairs only. */
	const struct sp_join_then *then;
	size_t nthen;
	/* Ends the join, as complete, after `limit` records beside the header. */
	bool limited;
	uint64_t limit;
};

#define SP_JOIN_OPTS_INIT                                                                          \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .eol = '\n', .pairs = true                                \
	}

/* Named inputs and an output. */
struct sp_join_io {
	const char *inputs[2]; /* paths; "-": standard input, for one of them */
	/* What was read from each before, such as its header: it comes first. */
	struct sp_batch ahead[2];
	/*
	 * Instead of reading inputs, which then are only names: gives the next whole records of
	 * file 0 or 1, which stay valid until its next call for that file: SP_READY, SP_END or an
	 * error.  NULL: not wanted.  Not for index nested loops.
	 */
	int (*next)(void *arg, int side, struct sp_batch *batch);
	void *next_arg;
	const char *output; /* path; NULL: output_fd */
	int output_fd;
	/*
	 * Called once for each file found out of order, after all output so far has been
	 * written, with its number (1, 2), the line number, and the line without
	 * terminator.
	 */
	void (*disorder)(void *arg, unsigned file, uint64_t line, const char *data, size_t bytes);
	void *disorder_arg;
	/*
	 * Called from time to time, and at the beginning of each phase SP_JOIN_PHASE_..., with
	 * the bytes done and in total (0: unknown).  A merge is one phase, PROBE.  In BUILD
	 * only headers, and the result of an abandoned merge, are written.
	 */
	void (*progress)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);
	void *progress_arg;
	/*
	 * Called when a record of the result, counted from 1 without the header, is complete: its
	 * time since the join began.  After the 999th only records whose numbers have three
	 * significant digits are told, and the last one.
	 */
	void (*row)(void *arg, uint64_t number, double elapsed_s);
	void *row_arg;
	/*
	 * Called before a join fails for want of an index, of an input or of its keys: the words of
	 * the command that makes it, up to NULL, valid during the call.  Not called where no index
	 * would do.  NULL: not wanted.
	 */
	void (*index_wanted)(void *arg, const char *const *words);
	void *index_wanted_arg;
};

/* ORDER: writing the result from its sort. */
enum {
	SP_JOIN_PHASE_BUILD,
	SP_JOIN_PHASE_PROBE,
	SP_JOIN_PHASE_JOIN,
	SP_JOIN_PHASE_ORDER,
	SP_JOIN_PHASES
};

/* The plan of a join; of SP_JOIN_MERGE, index nested loops, what is about hash joins is 0. */
struct sp_join_plan {
	enum sp_join_algorithm algorithm;
	/* SP_JOIN_AUTO with an index: predicted times through it and of a hash join; 0: unknown. */
	double index_s, hash_s;
	unsigned build;	       /* the input read into memory first, 1 or 2 */
	uint64_t build_bytes;  /* of it; 0: unknown. */
	uint64_t need_bytes;   /* memory for its records: |R| F */
	uint64_t memory_bytes; /* available for them: |M| */
	uint32_t page_bytes;   /* the page that both are counted in */
	uint64_t partitions;   /* N of formula (1); 0: unknown. */
	uint64_t group_pages;  /* G of formula (2), if they were sorted; 0: unknown. */
	unsigned resident;     /* partitions kept in memory as long as there is space */
	unsigned spilled;      /* partitions in temporary space from the start */
	double resident_share; /* of the build input, for those in memory */
	enum sp_join_ordering ordered_by;
	double seconds; /* from sp_join_predict(); 0: unknown */
};

/*
 * Fills in input_bytes and record_bytes where opts leaves them unknown (0): lengths of
 * regular files, and the mean length of their first lines, unless there is less than
 * 1 MB; and for SP_JOIN_AUTO, unless the result is ordered, `sorted`: by samples of
 * regular files.
 */
SP_API void sp_join_expect(struct sp_join_opts *opts, const char *const inputs[2]);

/*
 * Pure: fills plan from opts.  0; an error of the volume, or of placement, with which a join would
 * not begin; SP_EBUDGET if hand-set sizes contradict the memory, with the minimum in err->text;
 * -EINVAL for keys and columns outside binary records; SP_EUNSUP for an ordered result
 * with a volume.
 */
SP_API SP_MUST_CHECK int sp_join_plan(const struct sp_join_opts *opts, struct sp_join_plan *plan,
				      struct sp_errinfo *err);

/*
 * Fills in plan->seconds of a plan for the same options, on a simulated machine: its requests are
 * simulated, in about a second, on a file system three, for inputs of any length.  It stays 0 for
 * inputs of unknown length, what the man page xjoin(1) says is not predicted, files that the device
 * has no room for, and joins of which even a part would take longer.  Pure.  0 or an error.
 */
SP_API SP_MUST_CHECK int sp_join_predict(const struct sp_join_opts *opts, struct sp_join_plan *plan,
					 struct sp_errinfo *err);

/* Results of a join; spindle-report(5) explains each figure. */
struct sp_join_stats {
	struct sp_run_stats run;	  /* spill_regions: when both inputs had been partitioned */
	enum sp_join_algorithm algorithm; /* the one used at the end; AUTO: none had begun */
	enum sp_join_ordering ordered_by;
	/* SP_JOIN_AUTO: records merged, before disorder if there was any. */
	uint64_t merged_records[2];
	uint64_t sort_runs; /* of the result in temporary space */
	uint64_t records[2], input_bytes[2];
	uint64_t blank_lines[2]; /* skipped: in CSV of several columns they are not records */
	uint64_t output_records, output_bytes;
	unsigned build;		     /* the file that was read first; 0: merged */
	uint64_t partitions;	     /* of the build input, at first */
	uint64_t spilled_partitions; /* of it in temporary space, at any depth */
	double resident_share;	     /* of the build input that never left memory */
	uint64_t groups;	     /* SHJ: series of one partition written at once */
	unsigned depth;		     /* of repeated partitioning; 0: once or never */
	uint64_t reversals;	     /* pairs of partitions with roles exchanged */
	uint64_t nested_blocks;	     /* blocks of nested loops */
	uint64_t filter_probes;	     /* probe records of spilled partitions */
	uint64_t filter_drops;	     /* ... that the filter dropped instead of spilling */
	/* Index nested loops, of all indexes: */
	uint64_t probes;	    /* keys looked up */
	uint64_t index_reads;	    /* requests for pages of indexes */
	uint64_t inner_records;	    /* wanted */
	uint64_t inner_reads;	    /* requests for them */
	uint64_t inner_bytes;	    /* read */
	uint64_t shared_records;    /* in blocks read for others */
	uint64_t coalesced_records; /* read together with the one before, beyond a gap */
	unsigned batch;		    /* the largest reached */
	double phase_elapsed_s[SP_JOIN_PHASES]; /* hash joins */
	struct sp_prediction prediction;	/* the same; seek_s is 0 */
};

/*
 * Joins the inputs.  With a path the output appears whole or not at all wherever the file
 * system allows that (see xjoin(1)).  Returns 0; 1: disorder was found and reported, the
 * result may lack pairs, and a named output was not created; negative: an error;
 * SP_EBALANCE: records were lost or duplicated by a bug in the library, and the result
 * must not be used.  stats may be NULL; it is filled in as far as the join got.
 */
SP_API SP_MUST_CHECK int sp_join_run(const struct sp_join_opts *opts, const struct sp_join_io *io,
				     struct sp_join_stats *stats, struct sp_errinfo *err);

struct sp_tally; /* spindle/buffers.h */

/*
 * Distributes the whole records of a buffer of file 0 or 1 of a join over parts by a hash of their
 * keys: those of both files whose keys are equal have the same part, on all machines.  out, which
 * has room for the buffer, gets those of part 0, then those of part 1 and so on, of each in their
 * order.  offsets[i], for i from 0 to parts - 2, is where part i + 1 begins; *tally: of all.  Takes
 * up to 8 bytes of memory for each record.  SP_EFORMAT: the last record is not whole.
 */
SP_API SP_MUST_CHECK int sp_join_partition(const struct sp_join_opts *opts, int side,
					   const struct sp_batch *buffer, size_t parts, char *out,
					   size_t *offsets, struct sp_tally *tally,
					   struct sp_errinfo *err);

struct sp_operator;

/*
 * A join as an operator of a plan (spindle/flow.h), of lines or CSV records.  Keys, columns and
 * names in opts are borrowed until the plan is closed; what is for files in opts is not used, and a
 * header, a limit and further files are SP_EUNSUP.  Its buffer is charged to the plan: SP_EBUDGET.
 * opts->algorithm says which:
 *
 * SP_JOIN_MERGE, SP_JOIN_AUTO: of two operators that are sorted by one key of bytes, whatever the
 * locale.  While one has nothing yet the other is read ahead, as far as the memory of the plan
 * allows for an input; what is kept is charged to the plan.  Inputs out of order end the plan with
 * SP_EFORMAT, unless order is SP_JOIN_NOCHECK.
 *
 * A hash join: of two operators, by a task of its own, with opts->run; no simulated volume.
 *
 * SP_JOIN_INL, SP_JOIN_ASYNC_INL: of left, the outer rows, with the source of opts->index[1]; right
 * is NULL.  Of opts->run it uses memory_bytes, engine, direct and geometry.  While left has nothing
 * yet, the rows that there are go on; without `ordered` they overtake each other.
 */
SP_API SP_MUST_CHECK int sp_join_operator(struct sp_operator **op, struct sp_operator *left,
					  struct sp_operator *right,
					  const struct sp_join_opts *opts);

/* The usual names of what a result has; for options. */
enum sp_join_type {
	SP_JOIN_INNER,
	SP_JOIN_LEFT,
	SP_JOIN_RIGHT,
	SP_JOIN_FULL,
	SP_JOIN_SEMI,
	SP_JOIN_ANTI
};

SP_ENUM(sp_join_type)
SP_ENUM(sp_join_algorithm)
SP_ENUM(sp_join_ordering)

#endif
