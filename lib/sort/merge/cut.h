/* SPDX-License-Identifier: MIT */
/*
 * Declares exact cuts of the sorted data of a sort: spilled runs and slots in memory.
 *
 * A cut is a position in each of them: that of the first record whose key does not precede a given
 * key.  Only keys are compared, never the last resort, so equal keys are never separated.
 *
 * Owner: the thread that works on the sort, before its final merge.
 */
#pragma once

#include "sort/form/forming.h"

/* A cut's position in an input, and the records before it. */
struct sp__cut_at {
	uint64_t position; /* of a run a byte, of a buffer an entry */
	uint64_t records;
};

struct sp__cuts {
	struct sp__forming *forming;
	const unsigned *ids; /* spilled runs */
	unsigned n;
	const struct sp__runbuf **bufs; /* sorted buffers after them, oldest first */
	unsigned nbufs;
	unsigned parts;
	/* Cut i starts at at + i * (n + nbufs), for i from 0 (the start) to parts (the end). */
	struct sp__cut_at *at;
};

/*
 * True if all runs can be cut: the last keys of their pages and checksums of single pages are kept.
 */
bool sp__cuts_possible(const struct sp__spilled *spilled, const unsigned *ids, unsigned n);
/*
 * Cuts the spilled runs ids[0..n) and all sorted slots into parts of about equal length.  reader: a
 * reader of the store, if there are runs; where: memory for two pages of each run.  Returns 0,
 * SP_EUNSUP if a cut cannot be found, or an error.
 */
SP_MUST_CHECK int sp__cuts_find(struct sp__cuts *c, struct sp__forming *forming,
				struct sp__spill *reader, const unsigned *ids, unsigned n,
				unsigned parts, struct sp__freemem where);
void sp__cuts_release(struct sp__cuts *c);

/* Returns the position of cut i in input j. */
static inline uint64_t sp__cuts_at(const struct sp__cuts *c, unsigned i, unsigned j)
{
	return c->at[(size_t)i * (c->n + c->nbufs) + j].position;
}
/*
 * Return the bytes of a part's records and, with --count, their number.  Each record must then
 * stand for itself: its number takes one byte in a run.
 */
uint64_t sp__cuts_bytes(const struct sp__cuts *c, unsigned part);
uint64_t sp__cuts_records(const struct sp__cuts *c, unsigned part);
