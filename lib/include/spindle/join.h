/* SPDX-License-Identifier: MIT */
/*
 * Joins two files of records on a common key, as POSIX join does, and more files through indexes.
 * It parses no command line: see spindle/joinform.h.
 *
 * Each pair of records with equal keys, one from each file, makes a record of the result.  Unpaired
 * records can be written, too, or alone.  Lines are divided into fields as in join(1): at each
 * separator, or at runs of blanks.  A CSV record continues through newlines in quotes.  Binary
 * records have one length, and the caller defines their fields.
 *
 * Hash joins need no order, and keep the order of one input on request.  Keys are equal if their
 * bytes are equal or, for fields with a type, if their values are equal. Data that exceed memory
 * are partitioned by a hash of the keys and spilled.
 *
 * SP_JOIN_MERGE reads both files in parallel.  They must be sorted on the key in the order of
 * LC_COLLATE.  Output and reports of disorder are those of GNU join.
 *
 * Thread rule: a call belongs to one thread; different calls are independent.  LC_CTYPE and
 * LC_COLLATE must not change during a call.
 *
 * Source: Wang & Cherniack 2006, section 3.2, for the number of partitions; Iyengar et al. 2008 for
 * asynchronous index nested loops.
 */
#ifndef SPINDLE_JOIN_H
#define SPINDLE_JOIN_H

#include <spindle/batch.h>
#include <spindle/rec.h>
#include <spindle/run.h>

enum sp_join_algorithm {
	SP_JOIN_MERGE,	/* both inputs are sorted */
	SP_JOIN_HYBRID, /* hash join; part of the build input stays in memory */
	SP_JOIN_GRACE,	/* hash join; both inputs are partitioned completely first */
	SP_JOIN_NESTED, /* block nested loops over copies in temporary space */
	SP_JOIN_SHJ,	/* sort-hash join: GRACE, records sorted by partition before writing */
	/*
	 * Index nested loops: the inner file is a regular file with an index, and its records are
	 * read by their offsets, one at a time (INL) or many concurrently (ASYNC_INL).
	 */
	SP_JOIN_INL,
	SP_JOIN_ASYNC_INL,
	/*
	 * ASYNC_INL if there is an index and it is predicted to be faster.  Otherwise MERGE if the
	 * files are sorted; otherwise HYBRID, or SHJ if it is predicted to be faster.
	 */
	SP_JOIN_AUTO,
};

/* The order of both inputs on their keys, as far as samples show it. */
enum sp_join_sorted {
	SP_JOIN_SORTED_UNKNOWN, /* not examined */
	SP_JOIN_UNSORTED,
	SP_JOIN_SORTED_BYTES,  /* sorted by bytes */
	SP_JOIN_SORTED_LENGTH, /* shorter ones first, then as bytes: whole numbers */
};

/* Methods that give the result the order of an input. */
enum sp_join_ordering {
	SP_JOIN_ANY_ORDER,  /* no order requested */
	SP_JOIN_BY_PROBING, /* in the order of the probe input */
	SP_JOIN_BY_SORTING, /* the result is sorted */
	SP_JOIN_BY_MERGING, /* both inputs are sorted */
};

enum sp_join_order {
	SP_JOIN_CHECK_UNPAIRABLE, /* disorder ends the join after a record without a partner */
	SP_JOIN_CHECK,		  /* disorder ends the join */
	SP_JOIN_NOCHECK,
};

/* Maximum number of files of one join. */
#define SP_JOIN_FILES_MAX 8

/* A further file: its records with this key join the rows of the files before it. */
struct sp_join_then {
	const char *input, *index;
	unsigned left;	   /* file whose field equals the key, counted from 1 */
	size_t left_field; /* field of that file, counted from 0 */
	size_t key;	   /* field of this file, counted from 0 */
};

/* A column of the output: the key itself, or a field of a file. */
struct sp_join_column {
	unsigned file;	  /* 0: the key; else counted from 1 */
	size_t field;	  /* counted from 0 */
	const char *path; /* JSON lines, instead of field: a path, such as ".user.id" */
};

/* The format of the records of a result. */
enum sp_join_rows {
	SP_JOIN_ROWS_AS_READ, /* that of the inputs */
	SP_JOIN_ROWS_CSV,     /* of JSON lines: CSV of the columns, with a header */
	/*
	 * Of CSV and of lines with a header: objects whose members have the names of the columns.
	 * A field is a text, or a number if it is a key with a type of numbers and is one in JSON,
	 * or null if it is empty.
	 */
	SP_JOIN_ROWS_JSON,
};

struct sp_join_opts {
	/*
	 * parallel: threads that merge ranges of sorted files, build and probe the table of a hash
	 * join, and sort the result.  The result does not depend on their number.  compression:
	 * only SP_SPILL_RAW.
	 */
	struct sp_run_opts run;
	char eol;		/* byte that ends a record: '\n' or '\0' */
	const char *separator;	/* between fields; NULL: runs of blanks */
	size_t separator_bytes; /* at most 16; "\n", 1: a line is one field */
	const size_t *keys[2];	/* the key's fields in each file, counted from 0 */
	size_t nkeys;		/* number of key fields; SP_JOIN_MERGE: 1 */
	/*
	 * The type of each key field.  Only type and fold are used; texts compare as bytes, and so
	 * do texts that are not a number or not a month under those types.
	 * NULL: all are texts.
	 */
	const struct sp_key *types;
	const bool *collated; /* the texts compared by strcoll(); NULL: none */
	bool csv;	      /* fields may be in quotes; separator is one byte */
	/*
	 * JSON lines: the key are the values at nkeys paths of each file, such as ".user.id".  Keys
	 * are equal if their values are: numbers by value, texts by character; null and missing
	 * values equal nothing.  A pair is one object, or a line is SP_EFORMAT: the members of the
	 * record of file 1, then those of file 2 without a member that is a key of both; names that
	 * are in both get "_2" in those of file 2.  Only eol '\n', pairs, unpaired, semi, and the
	 * algorithms of hash joins are supported, not: keys, separator, types, collated, csv,
	 * fixed_bytes, ignore_case, header, auto_columns, filler, index, then.  With columns any
	 * values are joined, and a record of the result is an object of these members, or CSV.
	 */
	bool json;
	bool strict; /* ... whose characters are all checked, not only those of keys */
	const char *const *paths[2];
	/*
	 * JSON lines: names of two members, whose values are the records of file 1 and 2; null for
	 * no partner.  NULL: records are merged, and those without a partner are unchanged.
	 */
	const char *const *nested;
	/*
	 * Binary records: length in each file, in bytes; 0: lines.  fields defines the fields of a
	 * record: offset, length and, for keys, a type from SP_KEY_BYTES on and big_endian.  keys
	 * and columns are indexes into fields.  Numbers in keys compare by value.  A record of the
	 * result has no terminator.  A missing partner becomes a filling of its length (see
	 * filler).  Not supported with SP_JOIN_MERGE, types, collated, csv, ignore_case, header
	 * and auto_columns.
	 */
	size_t fixed_bytes[2];
	const struct sp_key *fields;
	bool ignore_case; /* bytes compare in upper case */
	bool pairs;	  /* write pairs */
	bool unpaired[2]; /* write unpaired records of this file */
	bool semi;	  /* write records of file 1 with partners, each once */
	bool first_alone; /* CSV with a header: only columns of file 1, for semi- and anti-joins */
	/*
	 * The first lines are headers and are joined regardless of their keys.  With csv and
	 * without columns, each record of the result has as many fields as the headers: missing
	 * fields are empty; a record with more fields is SP_EFORMAT, unless auto_columns drops
	 * them.  With csv, a key or column beyond the header is SP_EFORMAT.
	 */
	bool header;
	/*
	 * With header: for each file, the text that is appended to those names in its header that
	 * several columns of the result have.  Names that are equal afterwards are SP_EFORMAT.
	 * NULL: names are not changed.
	 */
	const char *const *suffixes;
	enum sp_join_order order;
	/* NULL: key, rest of file 1, rest of file 2; binary records: the whole records. */
	const struct sp_join_column *columns;
	size_t ncolumns;
	bool auto_columns; /* each record has as many fields as the first lines */
	/*
	 * CSV of JSON needs columns.  JSON of other records needs a header and eol '\n'; two
	 * columns with one name are SP_EFORMAT.  SP_EUNSUP: binary records, an operator of a plan.
	 */
	enum sp_join_rows rows;
	/*
	 * Replaces empty or missing fields; NULL: nothing.  Binary records: its first byte
	 * fills missing parts; NULL: zeros.
	 */
	const char *filler;

	enum sp_join_algorithm algorithm;
	/*
	 * 1, 2: the result has the order of this input; pairs of one record have the order of the
	 * other input.  Unpaired records of this input keep their positions; those of the other
	 * input come last, in their order.  A result of only one input (semi, or no pairs) has the
	 * order of that input.  0: any order.  SP_EUNSUP with a volume, and with SP_JOIN_MERGE if
	 * unpaired[] of the other input is set.
	 */
	unsigned ordered;
	/*
	 * SP_JOIN_AUTO: the expected order of the inputs.  If they are expected to be sorted,
	 * regular files are merged on one text key.  A wrong value costs time only.
	 */
	enum sp_join_sorted sorted;
	unsigned build;		  /* file read into memory first: 1 or 2; 0: the smaller */
	uint64_t input_bytes[2];  /* expected; 0: unknown. */
	uint64_t record_bytes[2]; /* mean length of the records; 0: unknown. */
	uint64_t join_bytes;	  /* for records of the build input; 0: the remaining memory */
	/*
	 * Index nested loops: the index (spindle-index(5)) of each file, at least one.  With two,
	 * the larger file is read through its index.  That file must not be a pipe or have its
	 * unpaired records written, and with semi it must not be file 1.
	 */
	const char *index[2];
	unsigned max_outstanding; /* keys, and reads, for each index; 0: 128 */
	/* Files 3 and up, lines or CSV, for SP_JOIN_INL and SP_JOIN_ASYNC_INL; pairs only. */
	const struct sp_join_then *then;
	size_t nthen;
	/*
	 * A condition of the records of the result, as of --where in xjoin(1): the others are left
	 * out; or NULL.  SP_EUNSUP: binary records, an operator of a plan.
	 */
	const char *where;
	/* End the join, as complete, after `limit` records; the header does not count. */
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
	/*
	 * Bytes that the caller has already read from each input, such as a header; they come
	 * first.
	 */
	struct sp_batch ahead[2];
	/*
	 * Supplies the next whole records of file 0 or 1, valid until the next call for that file.
	 * Returns SP_READY, SP_END or a negative error.  inputs then are names only.  NULL: read
	 * the inputs.  Not supported by index nested loops.
	 */
	int (*next)(void *arg, int side, struct sp_batch *batch);
	void *next_arg;
	const char *output; /* path; NULL: output_fd */
	int output_fd;
	/*
	 * Called once for each file that is out of order, after all output so far has been
	 * written: file number (1, 2), line number from 1, and line without terminator.  NULL: not
	 * called.
	 */
	void (*disorder)(void *arg, unsigned file, uint64_t line, const char *data, size_t bytes);
	void *disorder_arg;
	/*
	 * Called at the beginning of each phase SP_JOIN_PHASE_... and then about 10 times per
	 * second, with the bytes done and in total (0: unknown).  A merge has one phase, PROBE.  In
	 * BUILD only headers, and the result of an abandoned merge, are written.
	 */
	void (*progress)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);
	void *progress_arg;
	/*
	 * Called when a record of the result is complete, with its number from 1 (the header does
	 * not count) and the time since the join began.  From 1000 on, called only for numbers with
	 * three significant digits, and for the last record.
	 */
	void (*row)(void *arg, uint64_t number, double elapsed_s);
	void *row_arg;
	/*
	 * Called before a join fails because an index is missing or has other keys, with the
	 * arguments of the command that builds it, up to NULL, valid during the call.  Not called
	 * if an index would not help.  NULL: not called.
	 */
	void (*index_wanted)(void *arg, const char *const *args);
	void *index_wanted_arg;
};

/* Phases.  ORDER: the result is written from its sort. */
enum {
	SP_JOIN_PHASE_BUILD,
	SP_JOIN_PHASE_PROBE,
	SP_JOIN_PHASE_JOIN,
	SP_JOIN_PHASE_ORDER,
	SP_JOIN_PHASES
};

/* The plan of a join.  Members about hash joins are 0 for merges and index nested loops. */
struct sp_join_plan {
	enum sp_join_algorithm algorithm;
	/*
	 * SP_JOIN_AUTO with an index: predicted times with the index and by hash join; 0: unknown.
	 */
	double index_s, hash_s;
	unsigned build;	       /* input read into memory first, 1 or 2 */
	uint64_t build_bytes;  /* its length; 0: unknown. */
	uint64_t need_bytes;   /* memory for its records: |R| F */
	uint64_t memory_bytes; /* available for them: |M| */
	uint32_t page_bytes;   /* page size in which formulas (1) and (2) count both */
	uint64_t partitions;   /* N of formula (1); 0: unknown. */
	uint64_t group_pages;  /* G of formula (2), if they were sorted; 0: unknown. */
	unsigned resident;     /* partitions kept in memory while it suffices */
	unsigned spilled;      /* partitions in temporary space from the start */
	double resident_share; /* share of the build input in resident partitions, 0 to 1 */
	enum sp_join_ordering ordered_by;
	/*
	 * Threads that probe or merge: those of max_threads that have enough memory and input.
	 * max_threads: as requested, or one for each processor; 1 if others cannot help: with a
	 * limit, on a simulated machine, if the result is sorted, or if a merge cannot divide its
	 * inputs.  0, 0: index nested loops.
	 */
	unsigned threads, max_threads;
	double seconds; /* from sp_join_predict(); 0: unknown */
};

/*
 * Fills in input_bytes and record_bytes where opts leaves them unknown (0): the lengths of regular
 * files, and the mean length of their first lines, unless there is less than 1 MiB.  For
 * SP_JOIN_AUTO without `ordered` it also fills in `sorted`, by samples of regular files.  Values of
 * unreadable inputs stay unknown.
 */
SP_API void sp_join_expect(struct sp_join_opts *opts, const char *const inputs[2]);

/*
 * Makes the plan of a join without reading a file.
 * Returns 0 or an error:
 *   SP_EBUDGET: sizes set by hand contradict the memory limit; err->text has the minimum
 *   -EINVAL: a key or column is outside the binary records, or run.page_bytes is wrong
 *   SP_ESYNTAX: the volume or the simulated machine is specified wrongly
 *   SP_EUNSUP: an ordered result with a volume, or the placement needs tracks that the volume does
 *       not have
 *   -EPERM: the volume is a block device and run.overwrite is not set
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_join_plan(const struct sp_join_opts *opts, struct sp_join_plan *plan,
				      struct sp_errinfo *err);

/*
 * Fills in plan->seconds of a plan of the same options on a simulated machine, by simulating its
 * requests.  The simulation takes about 1 s, with a file system 3 s, for inputs of any length.
 * plan->seconds stays 0 if an input length is unknown, the files do not fit on the device, even a
 * part takes longer, or xjoin(1) excludes the join.  No file is read.
 * Returns 0, or an error of sp_join_plan().
 */
SP_API SP_MUST_CHECK int sp_join_predict(const struct sp_join_opts *opts, struct sp_join_plan *plan,
					 struct sp_errinfo *err);

/* Results of a join; spindle-report(5) explains each value. */
struct sp_join_stats {
	struct sp_run_stats run; /* spill_regions: counted after both inputs were partitioned */
	enum sp_join_algorithm algorithm; /* the one used at the end; AUTO: none had begun */
	enum sp_join_ordering ordered_by;
	/* SP_JOIN_AUTO: records merged, until disorder was found. */
	uint64_t merged_records[2];
	uint64_t sort_runs; /* runs of the result in temporary space */
	uint64_t records[2], input_bytes[2];
	uint64_t blank_lines[2]; /* skipped: they are not records in CSV of several columns */
	uint64_t filtered;	 /* records of the result that `where` left out */
	uint64_t output_records, output_bytes;
	unsigned build;	     /* file read first; 0: merged */
	uint64_t partitions; /* partitions of the build input, before repeated partitioning */
	uint64_t spilled_partitions; /* build partitions in temporary space, at any depth */
	double resident_share;	     /* share of the build input that never left memory, 0 to 1 */
	uint64_t groups;	     /* SHJ: series of one partition written at once */
	unsigned depth; /* maximum depth of pairs joined by a table; 0: none, 1: first partitions */
	uint64_t reversals;	/* pairs of partitions with roles exchanged */
	uint64_t nested_blocks; /* blocks of nested loops */
	uint64_t filter_probes; /* probe records of spilled partitions */
	uint64_t filter_drops;	/* filter_probes that the filter dropped instead of spilling */
	/* Index nested loops, sums over all indexes: */
	uint64_t probes;	    /* keys looked up */
	uint64_t index_reads;	    /* requests for pages of indexes */
	uint64_t inner_records;	    /* inner records needed */
	uint64_t inner_reads;	    /* requests for inner records */
	uint64_t inner_bytes;	    /* bytes of these requests */
	uint64_t shared_records;    /* inner records in blocks read for others */
	uint64_t coalesced_records; /* inner records read with the previous one, across a gap */
	unsigned batch;		    /* largest batch of lookups */
	double phase_elapsed_s[SP_JOIN_PHASES]; /* hash joins */
	struct sp_prediction prediction;	/* hash joins; seek_s is 0 */
};

/*
 * Joins the inputs.  A named output appears whole or not at all if the file system allows that
 * (spindle/outfile.h).
 * stats: may be NULL; filled in as far as the join got, even after an error.
 * Returns 0; 1 if disorder was found and reported, so that pairs may be missing and a named output
 * was not created; or an error:
 *   SP_EFORMAT: an input is not in the stated format, or disorder under SP_JOIN_CHECK
 *   SP_EBUDGET: the memory limit is too small
 *   SP_EUNSUP: a combination of options, or this build, is not supported; err->text names it
 *   -EINVAL, SP_ESYNTAX, -EPERM: see sp_join_plan()
 *   SP_ECORRUPT: temporary data or an index is damaged
 *   -ESTALE: the source of an index has changed
 *   SP_EBALANCE: records were lost or duplicated by a bug in the library; do not use the result
 *   SP_ETHREAD: the system does not allow io_uring a thread
 *   -errno: a file could not be opened, read or written
 */
SP_API SP_MUST_CHECK int sp_join_run(const struct sp_join_opts *opts, const struct sp_join_io *io,
				     struct sp_join_stats *stats, struct sp_errinfo *err);

struct sp_tally; /* spindle/buffers.h */

/*
 * Distributes the whole records of a buffer of file 0 or 1 over parts, by a hash of their keys.
 * Records of both files with equal keys get one part, on all machines.  The call needs up to 8
 * bytes of memory per record.
 * out: memory of the caller, as large as the buffer.  It receives the records of part 0, then those
 * of part 1 and so on, in their order.
 * offsets: array of the caller of parts - 1 elements. offsets[i] becomes the offset in bytes at
 * which part i + 1 begins.
 * tally: of all records; written on success only.
 * Returns 0 or an error:
 *   SP_EFORMAT: the last record is not whole
 *   -EINVAL: parts is 0, side is not 0 or 1, or a key is wrong
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_join_partition(const struct sp_join_opts *opts, int side,
					   const struct sp_batch *buffer, size_t parts, char *out,
					   size_t *offsets, struct sp_tally *tally,
					   struct sp_errinfo *err);

struct sp_operator;

/*
 * Opens a join of lines or CSV records as an operator of a plan (spindle/flow.h). opts->algorithm
 * selects the method:
 *
 * SP_JOIN_MERGE, SP_JOIN_AUTO: merges two operators that are sorted by one key of bytes in every
 * locale.  While one input has nothing yet, the other is read ahead, as far as the memory of the
 * plan allows for an input. next() returns SP_EFORMAT if an input is out of order, unless
 * opts->order is SP_JOIN_NOCHECK.
 *
 * SP_JOIN_HYBRID, SP_JOIN_GRACE, SP_JOIN_NESTED, SP_JOIN_SHJ: joins two operators in a task of its
 * own, with the memory of opts->run; simulated volumes are not supported.
 *
 * SP_JOIN_INL, SP_JOIN_ASYNC_INL: joins left, the outer rows, with the source of opts->index[1].
 * right is NULL.  Only memory_bytes, engine, direct and geometry of opts->run are used.  While left
 * has nothing yet, pending rows continue; without `ordered` they may overtake each other.
 *
 * opts: keys, columns and names are borrowed until the plan is closed.  Members about files are
 * ignored.
 * Returns 0 or an error:
 *   SP_EUNSUP: opts has a header, a limit or further files, or does not suit the inputs
 *   SP_EBUDGET: the buffer exceeds the memory of the plan
 *   SP_ESTATE: an input is in another plan or already the input of an operator
 *   -ENOMEM: memory is short
 * For index nested loops also an error of sp_index_open().
 */
SP_API SP_MUST_CHECK int sp_join_operator(struct sp_operator **op, struct sp_operator *left,
					  struct sp_operator *right,
					  const struct sp_join_opts *opts);

/* Join types of SQL, for options. */
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
