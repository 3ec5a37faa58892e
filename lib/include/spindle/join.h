/* SPDX-License-Identifier: MIT */
/*
 * Joining two files of records on a common field, as POSIX join does.
 *
 * Each pair of records with equal keys, one of either file, makes a record of
 * the result; records without a partner can be written too, or alone.  Lines
 * fall into fields as join(1) has it: at each separator, or at runs of blanks.
 * A CSV record goes on through newlines in quotes.  Of binary records, which
 * all have one length, fields are what the caller says.
 *
 * The hash joins need no order, and keep the order of one input if that is wanted.  Keys are equal
 * when their bytes are equal or, for fields with a type, their values.  What does not fit into
 * memory is partitioned by a hash of the keys and goes to temporary space.
 *
 * SP_JOIN_MERGE reads both files side by side.  They must be sorted on the
 * key in the order of LC_COLLATE; the output, and what is told of disorder,
 * are those of GNU join.
 *
 * Thread rule: one call is one thread's; different calls are independent.
 * LC_CTYPE and LC_COLLATE must not change while one runs.
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
#include <spindle/error.h>
#include <spindle/rec.h>
#include <spindle/run.h>

enum sp_join_algorithm {
	SP_JOIN_MERGE,	/* both inputs are sorted */
	SP_JOIN_HYBRID, /* hash join; part of the build input stays in memory */
	SP_JOIN_GRACE,	/* hash join; all of both inputs is parted first */
	SP_JOIN_NESTED, /* block nested loops over copies in temporary space */
	SP_JOIN_SHJ,	/* sort-hash join: GRACE, records sorted by partition before writing */
	/* Sorted files are merged; HYBRID, or SHJ where that is expected to take less time. */
	SP_JOIN_AUTO,
};

/* Are both inputs sorted on their keys, as far as one has looked, and how? */
enum sp_join_sorted {
	SP_JOIN_SORTED_UNKNOWN, /* nobody has looked */
	SP_JOIN_UNSORTED,
	SP_JOIN_SORTED_BYTES,  /* as bytes */
	SP_JOIN_SORTED_LENGTH, /* shorter ones first, then as bytes: whole numbers */
};

/* What brings the result into the order of an input. */
enum sp_join_ordering {
	SP_JOIN_ANY_ORDER,  /* nothing: that is not wanted */
	SP_JOIN_BY_PROBING, /* that input's records meet the others one by one */
	SP_JOIN_BY_SORTING, /* the result is sorted */
	SP_JOIN_BY_MERGING, /* both inputs are sorted */
};

enum sp_join_order {
	SP_JOIN_CHECK_UNPAIRABLE, /* disorder matters once a record had no partner */
	SP_JOIN_CHECK,		  /* disorder ends the join */
	SP_JOIN_NOCHECK,
};

/* A column of the output: the key itself, or a field of a file. */
struct sp_join_column {
	unsigned file; /* 0: the key; 1, 2 */
	size_t field;  /* counted from 0 */
};

struct sp_join_opts {
	/* parallel: threads that sort the result; compression: only SP_SPILL_RAW. */
	struct sp_run_opts run;
	char eol;		/* what ends a record: '\n' or '\0' */
	const char *separator;	/* between fields; NULL: runs of blanks */
	size_t separator_bytes; /* at most 16; "\n", 1: a line is one field */
	const size_t *keys[2];	/* the key's fields in either file, counted from 0 */
	size_t nkeys;		/* how many; SP_JOIN_MERGE: 1 */
	/*
	 * What each field of the key is: of a key only type and fold count, and
	 * texts are bytes.  NULL: all are texts.
	 */
	const struct sp_key *types;
	const bool *collated; /* which texts are equal where strcoll() has it so; NULL: none */
	bool csv;	      /* fields may be in quotes; separator is one byte */
	/*
	 * Binary records: their lengths in either file; 0: lines.  fields holds
	 * parts of them (offset, length, and, for keys, a type from SP_KEY_BYTES on
	 * and big_endian); keys and columns count in it.  Numbers in keys are equal
	 * by value; a record of the result has no terminator, and in place of a
	 * partner that is not there as many bytes as it would have (see filler).
	 * Not for SP_JOIN_MERGE, nor with types, collated, csv, ignore_case, header and
	 * auto_columns.
	 */
	size_t fixed_bytes[2];
	const struct sp_key *fields;
	bool ignore_case; /* bytes compare in upper case */
	bool pairs;	  /* write pairs */
	bool unpaired[2]; /* write records without partner of either file */
	bool semi;	  /* write records of file 1 with partners, each once */
	/*
	 * The first lines are joined whatever they hold.  With csv, and without columns, all
	 * records of the result have their fields: missing ones are empty; a record
	 * that has more is SP_EFORMAT, unless auto_columns drops them.
	 */
	bool header;
	enum sp_join_order order;
	/* NULL: key, rest of 1, rest of 2; binary records: the records that there can be. */
	const struct sp_join_column *columns;
	size_t ncolumns;
	bool auto_columns; /* as many fields as the first lines have */
	/*
	 * In place of fields empty or missing; NULL: nothing.  Binary records: its
	 * first byte fills what is missing; NULL: zeros.
	 */
	const char *filler;

	enum sp_join_algorithm algorithm;
	/*
	 * 1, 2: the result is in the order of this input's records, those with several
	 * partners in the order of these; its records without partner are in their
	 * places, the other's behind all, in their order.  A result that only one input
	 * has records in (semi, or no pairs) is in the order of that one.  0: any order.
	 * SP_EUNSUP with a volume, and, for SP_JOIN_MERGE, with unpaired[] of the other
	 * input.
	 */
	unsigned ordered;
	/* SP_JOIN_AUTO: what is expected of the inputs; only regular files are merged. */
	enum sp_join_sorted sorted;
	unsigned build;		  /* file read into memory first: 1 or 2; 0: the smaller */
	uint64_t input_bytes[2];  /* expected; 0: unknown */
	uint64_t record_bytes[2]; /* mean length of the records; 0: unknown */
	uint64_t join_bytes;	  /* for records of the build input; 0: what is left */
};

#define SP_JOIN_OPTS_INIT                                                                          \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .eol = '\n', .pairs = true                                \
	}

/* Named inputs and an output. */
struct sp_join_io {
	const char *inputs[2]; /* paths; "-": standard input, for one of them */
	const char *output;    /* path; NULL: output_fd */
	int output_fd;
	/*
	 * Called once for each file found out of order, when all output so far
	 * has been written: its number (1, 2), the line's number, and the line
	 * without terminator.
	 */
	void (*disorder)(void *arg, unsigned file, uint64_t line, const char *data, size_t bytes);
	void *disorder_arg;
	/*
	 * Called now and then, and at the beginning of each phase: in phase SP_JOIN_PHASE_...,
	 * so many bytes of so many are done; total_bytes 0: not known.  A merge is one
	 * phase, PROBE.  In BUILD nothing but headers is written, and what was merged before.
	 */
	void (*progress)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);
	void *progress_arg;
};

/* ORDER: writing the result from its sort. */
enum {
	SP_JOIN_PHASE_BUILD,
	SP_JOIN_PHASE_PROBE,
	SP_JOIN_PHASE_JOIN,
	SP_JOIN_PHASE_ORDER,
	SP_JOIN_PHASES
};

/* What a join is going to do; SP_JOIN_MERGE: nothing else is filled in. */
struct sp_join_plan {
	enum sp_join_algorithm algorithm;
	unsigned build;	       /* the input read into memory first, 1 or 2 */
	uint64_t build_bytes;  /* of it; 0: unknown */
	uint64_t need_bytes;   /* what its records take in memory: |R| F */
	uint64_t memory_bytes; /* for them: |M| */
	uint32_t page_bytes;   /* the page that both are counted in */
	uint64_t partitions;   /* N of formula (1); 0: unknown */
	uint64_t group_pages;  /* G of formula (2), if they were sorted; 0: unknown */
	unsigned resident;     /* partitions in memory as long as there is room */
	unsigned spilled;      /* partitions in temporary space from the start */
	double resident_share; /* of the build input, for those in memory */
	enum sp_join_ordering ordered_by;
};

/*
 * Fills in what opts leaves unknown (0) of input_bytes and record_bytes: lengths
 * of regular files, and the mean length of their first lines, unless there is less than
 * 1 MB; and for SP_JOIN_AUTO, unless the result is ordered, sorted: by samples of regular
 * files.
 */
SP_API void sp_join_expect(struct sp_join_opts *opts, const char *const inputs[2]);

/*
 * Pure: fills plan from opts, whose algorithm is a hash join or SP_JOIN_AUTO.  0;
 * SP_EBUDGET when hand-set sizes contradict the memory, with the least that would do in
 * err->text; -EINVAL for keys and columns that binary records have not; SP_EUNSUP for
 * an ordered result with a volume.
 */
SP_API SP_MUST_CHECK int sp_join_plan(const struct sp_join_opts *opts, struct sp_join_plan *plan,
				      struct sp_errinfo *err);

/* What happened; see spindle-report(5) for the meaning of each figure. */
struct sp_join_stats {
	struct sp_run_stats run;	  /* spill_regions: when both inputs had been partitioned */
	enum sp_join_algorithm algorithm; /* that ended it; AUTO: none had begun */
	enum sp_join_ordering ordered_by;
	/* SP_JOIN_AUTO: records merged, before disorder if there was any. */
	uint64_t merged_records[2];
	uint64_t sort_runs; /* of the result in temporary space */
	uint64_t records[2], input_bytes[2];
	uint64_t output_records, output_bytes;
	unsigned build;		     /* the file that was read first; 0: merged */
	uint64_t partitions;	     /* of the build input, at first */
	uint64_t spilled_partitions; /* of it in temporary space, at any depth */
	double resident_share;	     /* of the build input that never left memory */
	uint64_t groups;	     /* SHJ: series of one partition that were written in a row */
	unsigned depth;		     /* of parting again; 0: once or never */
	uint64_t reversals;	     /* pairs of partitions with roles exchanged */
	uint64_t nested_blocks;	     /* blocks of nested loops */
	uint64_t filter_probes;	     /* records that would have been spilled */
	uint64_t filter_drops;	     /* ... had not the filter known of no partner */
	double phase_elapsed_s[SP_JOIN_PHASES]; /* hash joins */
};

/*
 * Joins.  With a path the output appears whole or not at all wherever the file
 * system allows that (see xjoin(1)).  Returns 0; 1: disorder was found and
 * told, the result may lack pairs, and a named output was not made; negative:
 * an error; SP_EBALANCE: records were lost or doubled, by a fault of the library, and the
 * result is not to be trusted.  stats may be NULL; it is filled as far as things went.
 */
SP_API SP_MUST_CHECK int sp_join_run(const struct sp_join_opts *opts, const struct sp_join_io *io,
				     struct sp_join_stats *stats, struct sp_errinfo *err);

SP_WORDS(sp_join_algorithm)
SP_WORDS(sp_join_ordering)

#endif
