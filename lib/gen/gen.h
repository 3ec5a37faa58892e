/* SPDX-License-Identifier: MIT */
/*
 * What the generators share.
 *
 * A kind has one emit function, which writes the next record and returns its
 * end, or NULL when there are no more.  It may scribble up to max_bytes past
 * its start, so that short fields are copied with fixed-size moves; the next
 * record overwrites what was too much.
 *
 * Determinism: integers only.  Records draw from a stream that is named by
 * (seed, kind, record number), never from one that earlier records have moved,
 * so rows can be made in any order and two tables agree about a row.
 */
#ifndef SP__GEN_GEN_H
#define SP__GEN_GEN_H

#include <spindle/gen.h>
#include "base/rng.h"

#define SP__GOLDEN 0x9E3779B97F4A7C15u

struct sp_gen {
	struct sp_gen_opts opts;
	char *(*emit)(struct sp_gen *g, char *p);
	void (*release)(void *state); /* NULL: plain free */
	void *state;		      /* of the kind; freed with the generator */
	size_t max_bytes;	      /* one record with what it may scribble */
	uint64_t row, rows;	      /* next record, and how many at most */
	uint64_t bytes, limit_bytes;  /* given out, and where to stop */
};

/* A stream for each (seed, what, row); what and row are small numbers. */
static inline uint64_t sp__gen_seed(uint64_t seed, uint64_t what)
{
	return sp__mix64(seed + what * 0xD1342543DE82EF95u) ^ sp__mix64(what + SP__GOLDEN);
}

static inline struct sp__rng sp__gen_stream(uint64_t seed, uint64_t row)
{
	return (struct sp__rng){ sp__mix64(seed + (row + 1) * SP__GOLDEN) };
}

/*
 * Takes a number in [0, n) out of *u and leaves the rest of its randomness:
 * several small numbers come from one draw.
 */
static inline uint32_t sp__take(uint64_t *u, uint32_t n)
{
	unsigned __int128 v = (unsigned __int128)*u * n;

	*u = (uint64_t)v;
	return (uint32_t)(v >> 64);
}

/* Each sets emit, state, max_bytes and rows; 0 or a negative error. */
int sp__gen_lines(struct sp_gen *g, struct sp_errinfo *err);
int sp__gen_records(struct sp_gen *g, struct sp_errinfo *err);
int sp__gen_runs(struct sp_gen *g, struct sp_errinfo *err);
int sp__gen_table(struct sp_gen *g, struct sp_errinfo *err);

#endif
