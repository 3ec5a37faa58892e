/* SPDX-License-Identifier: MIT */
/*
 * Generates deterministic test data.  One specification and one seed give identical bytes on every
 * machine.  Memory does not grow with the data, shuffled tables included.  The tables LINEITEM to
 * PART have the shape of TPC-H; they are not TPC-H.  T1 and T2 are the tables of DBmbench, G1 is
 * the table of group by of db-benchmark.
 *
 * Source: Zhang & Larson 1998, section 5 (temporally skewed runs); Shao 2008, chapter 3
 * (DBmbench); h2oai/db-benchmark, groupby-datagen.R (G1).
 *
 * Thread rule: a generator belongs to one thread.
 */
#ifndef SPINDLE_GEN_H
#define SPINDLE_GEN_H

#include <spindle/error.h>
#include <spindle/enum.h>

struct sp_gen;

enum sp_gen_kind {
	SP_GEN_LINES,	 /* text lines of words */
	SP_GEN_RECORDS,	 /* records of the sort benchmark: 100 bytes, 10-byte key */
	SP_GEN_RUNS,	 /* temporally skewed runs (Zhang & Larson, section 5) */
	SP_GEN_LINEITEM, /* from here on tables: text with the separator '|' */
	SP_GEN_ORDERS,
	SP_GEN_PARTSUPP,
	SP_GEN_SUPPLIER,
	SP_GEN_CUSTOMER,
	SP_GEN_PART,
	SP_GEN_R,  /* 15 f64, uniform in [0, 1) with 53 random bits each */
	SP_GEN_T1, /* a1|a2|a3|padding, 1 to 7 rows for each row of T2 of this seed and scale */
	SP_GEN_T2, /* a1|a2|a3|padding, a1 unique from 1 */
	SP_GEN_G1, /* CSV with a header: id1 to id6, v1 to v3; group by of db-benchmark */
};

/* Distributions of the keys of lines (whole lines) and records (10 bytes). */
enum sp_gen_order {
	SP_GEN_UNIFORM, /* independent, uniform */
	SP_GEN_ZIPF,	/* the r-th of `distinct` keys has share 1/r^theta */
	SP_GEN_FEW,	/* `distinct` keys of equal share */
	SP_GEN_SORTED,	/* ascending in the C locale */
	SP_GEN_REVERSE, /* descending */
	SP_GEN_NEARLY,	/* ascending, but a share of the keys is random */
};

#define SP_GEN_ZIPF_DISTINCT 100000u /* number of keys if distinct is 0 */
#define SP_GEN_FEW_DISTINCT 16u

struct sp_gen_opts {
	enum sp_gen_kind kind;
	uint64_t seed;
	/* Maximum; 0: bytes decides; tables: 0: all; R: 0: 8 million; G1: 0: 10 million. */
	uint64_t records;
	uint64_t bytes;		 /* end after the record that reaches it; 0: records decides */
	uint32_t words;		 /* LINES: words of a line, at most 1024; 0: varying */
	bool binary;		 /* RECORDS, R: binary instead of text */
	enum sp_gen_order order; /* LINES, RECORDS: distribution of the keys */
	double theta;		 /* ZIPF: exponent, 0 to 8, default 1 */
	uint64_t distinct;	 /* ZIPF, FEW: number of different keys; 0: as above */
	double nearly;		 /* NEARLY: share of displaced records, 0 to 1, default 0.01 */
	double alpha;		 /* RUNS: overlap of consecutive runs, 0 to 1 */
	uint64_t runs;		 /* RUNS: number of runs */
	bool sorted_runs;	 /* RUNS: each run ascending instead of in random order */
	/* RUNS: bytes of a record with newline, 12 to 32768; 0: 64.  T1, T2: 12 for a1, a2 and a3,
	 * and the bytes of padding, 13 to 32768; 0: 100. */
	size_t record_bytes;
	/* G1: number of values of id1, id2, id4 and id5; id3 and id6 have records / groups. */
	uint64_t groups;
	uint32_t missing; /* G1: percentage of missing values, 0 to 99 */
	/* Tables but R and G1: scale factor; 1: 6 million lineitems, 150000 rows of T2. */
	double scale;
	bool shuffle; /* tables but R and G1: rows in random order instead of key order */
};

#define SP_GEN_OPTS_INIT                                                                           \
	{                                                                                          \
		.seed = 1, .theta = 1.0, .nearly = 0.01, .alpha = 1.0, .runs = 15, .groups = 100,  \
		.scale = 1.0                                                                       \
	}

/*
 * Makes a generator.  LINES, RECORDS and RUNS need a number of records or bytes; with both, the one
 * reached first ends the data.  Free the generator with sp_gen_free().
 * opts: copied.
 * Returns 0; -EINVAL with the reason in err->text if a value is out of its range or missing;
 * -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_gen_new(struct sp_gen **gen, const struct sp_gen_opts *opts,
				    struct sp_errinfo *err);

/*
 * Fills buf with whole records.  Bytes of buf behind those returned may be overwritten.
 * bytes: size of buf, memory of the caller; 65536 always hold a record.
 * Returns the number of bytes, 0 at the end, or -EINVAL if not even one record fits.
 */
SP_API SP_MUST_CHECK long sp_gen_fill(struct sp_gen *gen, char *buf, size_t bytes);

/* Returns the number of records generated so far. */
SP_API uint64_t sp_gen_count(const struct sp_gen *gen);

/* Frees a generator; NULL is accepted. */
SP_API void sp_gen_free(struct sp_gen *gen);

SP_ENUM(sp_gen_kind)
SP_ENUM(sp_gen_order)

#endif
