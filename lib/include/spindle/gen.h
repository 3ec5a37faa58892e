/* SPDX-License-Identifier: MIT */
/*
 * Deterministic data: the same specification and seed give the same bytes on
 * every machine.  Nothing is kept for a record that has been written: memory
 * does not grow with the data, shuffled tables included.
 *
 * Thread rule: a generator belongs to one thread.
 */
#ifndef SPINDLE_GEN_H
#define SPINDLE_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include <spindle/enum.h>

struct sp_gen;

enum sp_gen_kind {
	SP_GEN_LINES,	 /* text lines of words */
	SP_GEN_RECORDS,	 /* sort-benchmark style: 100 bytes, 10-byte key */
	SP_GEN_RUNS,	 /* temporally skewed runs (Zhang & Larson, section 5) */
	SP_GEN_LINEITEM, /* TPC-H-shaped tables, '|' text */
	SP_GEN_ORDERS,
	SP_GEN_PARTSUPP,
	SP_GEN_SUPPLIER,
	SP_GEN_CUSTOMER,
	SP_GEN_PART,
};

/* How the keys of lines (the whole line) and records (10 bytes) are spread. */
enum sp_gen_order {
	SP_GEN_UNIFORM, /* independent, uniform */
	SP_GEN_ZIPF,	/* the r-th of `distinct` keys has share 1/r^theta */
	SP_GEN_FEW,	/* `distinct` keys of equal share */
	SP_GEN_SORTED,	/* ascending in the C locale */
	SP_GEN_REVERSE, /* descending */
	SP_GEN_NEARLY,	/* ascending, but a share of the keys is random */
};

#define SP_GEN_ZIPF_DISTINCT 100000u /* what distinct = 0 means */
#define SP_GEN_FEW_DISTINCT 16u

struct sp_gen_opts {
	enum sp_gen_kind kind;
	uint64_t seed;
	uint64_t records;	 /* at most this many; 0: by bytes. Tables: 0: all */
	uint64_t bytes;		 /* stop after the record that reaches it; 0: by records */
	uint32_t words;		 /* LINES: words of a line, at most 1024; 0: varying */
	bool binary;		 /* RECORDS: binary instead of ASCII */
	enum sp_gen_order order; /* LINES, RECORDS: distribution of the keys */
	double theta;		 /* ZIPF: exponent, 0 .. 8, default 1 */
	uint64_t distinct;	 /* ZIPF, FEW: number of different keys; 0: default */
	double nearly;		 /* NEARLY: share of records displaced, default 0.01 */
	double alpha;		 /* RUNS: overlap of neighbouring runs, 0 .. 1 */
	uint64_t runs;		 /* RUNS: number of runs */
	bool sorted_runs;	 /* RUNS: each run ascending instead of in random order */
	size_t record_bytes;	 /* RUNS: bytes of a record with newline, 12 .. 32768 */
	double scale;		 /* tables: scale factor, 1 = 6 million lineitems */
	bool shuffle;		 /* tables: rows in random order instead of key order */
};

#define SP_GEN_OPTS_INIT                                                                           \
	{                                                                                          \
		.seed = 1, .theta = 1.0, .nearly = 0.01, .alpha = 1.0, .runs = 15,                 \
		.record_bytes = 64, .scale = 1.0                                                   \
	}

/*
 * LINES, RECORDS and RUNS need records or bytes (or both: whichever is reached
 * first; sorted keys are then spread over the records).  opts is copied.
 *
 * 0, -EINVAL with err->text, or -ENOMEM. The caller frees with sp_gen_free.
 */
SP_API SP_MUST_CHECK int sp_gen_new(struct sp_gen **gen, const struct sp_gen_opts *opts,
				    struct sp_errinfo *err);
/*
 * Fills buf with whole records: returns how many bytes, 0 at the end, or
 * -EINVAL if not even one record fits (65536 bytes always do).  Bytes of buf
 * past those returned may have been overwritten.
 */
SP_API SP_MUST_CHECK long sp_gen_fill(struct sp_gen *gen, char *buf, size_t bytes);
/* Records given out so far. */
SP_API uint64_t sp_gen_count(const struct sp_gen *gen);
SP_API void sp_gen_free(struct sp_gen *gen); /* accepts NULL */

SP_ENUM(sp_gen_kind)
SP_ENUM(sp_gen_order)

#endif
