/* SPDX-License-Identifier: MIT */
/*
 * Exact cuts of the sorted data of a sort: spilled runs and slots in memory.
 *
 * A cut is the position in each of them where the first record lies whose key does not precede a
 * given key.  Keys alone are compared, never the last resort, so equal keys are never parted.
 *
 * Owner: the thread that works on the sort, before its final merge.
 */
#pragma once

#include "sort/form/forming.h"

/* Where a cut is in an input, and the records before it. */
struct sp__cut_at {
	uint64_t position; /* of a run a byte, of a buffer an entry */
	uint64_t records;
};

struct sp__cuts {
	struct sp__forming *forming;
	const unsigned *ids; /* spilled runs ... */
	unsigned n;
	const struct sp__runbuf **bufs; /* ... and sorted buffers after them, oldest first */
	unsigned nbufs;
	unsigned parts;
	/*
	 * Cut i from at + i * (n + nbufs) on, for i from 0 (the beginning) to parts (the end).
	 */
	struct sp__cut_at *at;
};

/* Can all runs be cut: are the last keys of their pages, and checksums of single pages, kept? */
bool sp__cuts_possible(const struct sp__spilled *spilled, const unsigned *ids, unsigned n);
/*
 * Cuts the spilled runs ids[0..n) and all sorted slots into parts of about equal length.  reader: a
 * reader of the store, if there are runs; where: memory for two pages of each.  0, an error, or
 * SP_EUNSUP: some cut cannot be found.
 */
SP_MUST_CHECK int sp__cuts_find(struct sp__cuts *c, struct sp__forming *forming,
				struct sp__spill *reader, const unsigned *ids, unsigned n,
				unsigned parts, struct sp__freemem where);
void sp__cuts_release(struct sp__cuts *c);

/* The position of cut i in input j. */
static inline uint64_t sp__cuts_at(const struct sp__cuts *c, unsigned i, unsigned j)
{
	return c->at[(size_t)i * (c->n + c->nbufs) + j].position;
}
/*
 * What a part has of records, their bytes, and with --count how many.  Each must stand for itself
 * then: its number takes one byte in a run.
 */
uint64_t sp__cuts_bytes(const struct sp__cuts *c, unsigned part);
uint64_t sp__cuts_records(const struct sp__cuts *c, unsigned part);
