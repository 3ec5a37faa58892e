/* SPDX-License-Identifier: MIT */
/*
 * Deterministic data: the same specification and seed give the same bytes on
 * every machine.
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

enum sp_gen_order {
	SP_GEN_UNIFORM,
	SP_GEN_ZIPF,
	SP_GEN_FEW,
	SP_GEN_SORTED,
	SP_GEN_REVERSE,
	SP_GEN_NEARLY,
};

struct sp_gen_opts {
	enum sp_gen_kind kind;
	uint64_t seed;
	uint64_t records;    /* LINES, RECORDS, RUNS: how many; 0: by bytes */
	uint64_t bytes;	     /* stop after the record that reaches it; 0: by records */
	bool binary;	     /* RECORDS: binary instead of ASCII */
	enum sp_gen_order order; /* LINES, RECORDS: distribution of the keys */
	double theta;	     /* ZIPF: exponent, default 1 */
	uint64_t distinct;   /* ZIPF, FEW: number of different keys; 0: default */
	double nearly;	     /* NEARLY: share of records displaced, default 0.01 */
	double alpha;	     /* RUNS: overlap of neighbouring runs, 0 .. 1 */
	uint64_t runs;	     /* RUNS: number of runs */
	size_t record_bytes; /* RUNS: bytes of a record with newline, default 64 */
	double scale;	     /* tables: scale factor, 1 = 6 million lineitems */
	bool shuffle;	     /* tables: rows in random order instead of key order */
};

#define SP_GEN_OPTS_INIT { .seed = 1, .theta = 1.0, .nearly = 0.01, .alpha = 1.0, .runs = 15, \
			   .record_bytes = 64, .scale = 1.0 }

/* 0, -EINVAL with err->text, or -ENOMEM. The caller frees with sp_gen_free. */
SP_API SP_MUST_CHECK int sp_gen_new(struct sp_gen **gen, const struct sp_gen_opts *opts,
				    struct sp_errinfo *err);
/*
 * Fills buf with whole records: returns how many bytes, 0 at the end, or
 * -EINVAL if not even one record fits (65536 bytes always do).
 */
SP_API SP_MUST_CHECK long sp_gen_fill(struct sp_gen *gen, char *buf, size_t bytes);
SP_API void sp_gen_free(struct sp_gen *gen); /* accepts NULL */

#endif
