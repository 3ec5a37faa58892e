/* SPDX-License-Identifier: MIT */
/*
 * Declares the interface of the generators.
 *
 * A kind has one emit function, which writes the next record and returns its end, or NULL at the
 * end of the data.  It may write up to max_bytes from its start, so that short fields are copied
 * with fixed-size moves.  The next record overwrites the excess.
 *
 * Determinism: integers, and exact conversions of 53 bits to f64.  Records draw from a stream that
 * is named by (seed, kind, record number), never from one that earlier records have advanced.  So
 * rows can be made in any order, and two tables agree about a row.
 */
#pragma once

#include <spindle/gen.h>
#include "base/rng.h"

#define SP__GOLDEN 0x9E3779B97F4A7C15u

struct sp_gen {
	struct sp_gen_opts opts;
	char *(*emit)(struct sp_gen *g, char *p);
	void (*release)(void *state); /* NULL: plain free */
	void *state;		      /* state of this kind of data; freed with the generator */
	size_t max_bytes;	      /* maximum bytes of a record, with its excess */
	uint64_t row, rows;	      /* number of the next record, and maximum number */
	uint64_t bytes, limit_bytes;  /* returned so far, and their limit */
};

/* Returns the seed of the stream (seed, what, row); what and row are small numbers. */
static inline uint64_t sp__gen_seed(uint64_t seed, uint64_t what)
{
	return sp__mix64(seed + what * 0xD1342543DE82EF95u) ^ sp__mix64(what + SP__GOLDEN);
}

static inline struct sp__rng sp__gen_stream(uint64_t seed, uint64_t row)
{
	return (struct sp__rng){ sp__mix64(seed + (row + 1) * SP__GOLDEN) };
}

/*
 * Takes a number in [0, n) from *u and keeps the rest of its randomness, so that one draw yields
 * several small numbers.
 */
static inline uint32_t sp__take(uint64_t *u, uint32_t n)
{
	unsigned __int128 v = (unsigned __int128)*u * n;

	*u = (uint64_t)v;
	return (uint32_t)(v >> 64);
}

/* Returns the number of rows of a table that has at_one at scale 1, and at least min. */
static inline uint64_t sp__gen_scaled(uint64_t at_one, double scale, uint64_t min)
{
	/* Millionths first: from there on all are integers, equal on all machines. */
	uint64_t millionths = (uint64_t)(scale * 1e6);
	uint64_t n;

	if ((double)millionths + 0.5 <= scale * 1e6)
		millionths++;
	n = (uint64_t)((unsigned __int128)at_one * millionths / 1000000);
	return n > min ? n : min;
}

/* Each sets emit, state, max_bytes and rows.  Returns 0 or a negative error. */
int sp__gen_lines(struct sp_gen *g, struct sp_errinfo *err);
int sp__gen_records(struct sp_gen *g, struct sp_errinfo *err);
int sp__gen_runs(struct sp_gen *g, struct sp_errinfo *err);
int sp__gen_table(struct sp_gen *g, struct sp_errinfo *err);
int sp__gen_dbm(struct sp_gen *g, struct sp_errinfo *err);
int sp__gen_reals(struct sp_gen *g, struct sp_errinfo *err);
int sp__gen_g1(struct sp_gen *g, struct sp_errinfo *err);
