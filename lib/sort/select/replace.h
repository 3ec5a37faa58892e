/* SPDX-License-Identifier: MIT */
/*
 * Replacement selection in batches: records go in in any order; the runs that come out
 * are about twice as long as the memory on random input, and a single run on input in
 * which no record is farther from its place than the memory reaches.
 *
 *	| span of strip 3 | span of strip 7 | free | span of strip 3 | ...
 *
 * A batch of records is sorted and split at the record output last: records that are
 * not before it become a strip of the current run, the rest one of the next.  A strip
 * is a sorted list of spans of whole records.  When memory is short the strips of the
 * current run are merged (merge.h) and output, each span being freed when its last
 * record has been output, until there is space for the next batch.  A new strip
 * rebuilds the merge's tree, once for thousands of records.  When the current run has
 * no strips left, those of the next one take its place.
 *
 * Memory arithmetic.  A record in the memory M costs its length; a span of p
 * bytes 24 more.  A strip costs half a span on average, the part already
 * output, and some 400 bytes for its cursor.  Batches of b bytes make up to
 * 2 M / b strips, so that M / b (p + 800) + b is lost: b is sqrt(2048 M), and p
 * b / 32 between 512 and 4096.  From M of 1 MB on that leaves nine tenths for
 * records, whatever their lengths.  Load-sort-store has M / (1 + 32 / length),
 * because of its entries.
 *
 * Stability.  Take records a before b with equal keys.  If a waits for the next
 * run, it was before the last record when its batch was split; the last record
 * has only grown since, or the run has changed: b is not in an earlier run.  Within a
 * run strips are merged in the order of their creation; and if a has already been
 * output, b comes after it.
 *
 * Rejected: the textbook's heap of all records with memory management for each.  For
 * each record it spends a cache miss on most levels of a heap as large as the memory,
 * whereas a batch is sorted by radix within the cache and the tree over strips stays
 * there too; its entries and tags cost 28 bytes per record.  Also rejected: replacement
 * selection whenever input looks nearly sorted, since the single run saves less in the
 * merge than the selection costs (at 8 MB, 400 MB of lines with one in a hundred out of
 * place: 4.3 s of processor time instead of 2.6).
 *
 * Sources: Knuth volume 3, 5.4.1; Larson, External sorting: run formation
 * revisited, 2003.
 */
#pragma once

#include "sort/tree/merge.h"
#include "sort/select/recmem.h"

/*
 * The destination of runs.  prev is the record put before, at its current address; NULL at
 * the beginning of a run.  All return 0 or an error.
 */
struct sp__replace_sink {
	void *ctx;
	int (*begin)(void *ctx);
	int (*put)(void *ctx, const char *rec, size_t bytes, const char *prev, size_t prev_bytes);
	int (*end)(void *ctx, const char *prev, size_t prev_bytes);
};

struct sp__replace {
	const struct sp_keyset *keys;
	struct sp__budget *budget;
	struct sp__replace_sink sink;
	bool drop_equal; /* -u: drop records that equal the one before */
	struct sp__tally dropped;
	uint64_t held; /* records accepted and neither output nor dropped */
	struct sp__recmem mem;
	size_t span_bytes;
	struct sp__merge merge, next; /* the strips of the current run and the next, oldest first */
	uint32_t *strips;	      /* first span of each; see replace.c */
	size_t nstrips, strips_cap;
	uint32_t free_strip;
	bool writing;	       /* the current run has begun */
	struct sp__bytes last; /* the record output last, while writing */
	bool keyed;	       /* ... is a giant with a key: */
	struct sp__keybuf last_key;
};

/* Bytes for one batch, given the memory. */
size_t sp__replace_batch_bytes(size_t memory_bytes);
/* The length of a run of random input: twice what the memory holds, see above. */
double sp__replace_run_bytes(size_t memory_bytes);

/* mem: aligned to 16 bytes.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__replace_open(struct sp__replace *r, const struct sp_keyset *keys, void *mem,
				   size_t bytes, struct sp__budget *budget,
				   const struct sp__replace_sink *sink, bool drop_equal);
void sp__replace_close(struct sp__replace *r);

/*
 * Accepts a sorted batch, and outputs as many records as must make space for it.  A record
 * larger than the whole memory is output at once.  0 or an error.
 */
SP_MUST_CHECK int sp__replace_add(struct sp__replace *r, const struct sp__runbuf *batch);
/* Outputs all remaining records, and ends the last run. */
SP_MUST_CHECK int sp__replace_drain(struct sp__replace *r);

/* Before anything has been output: the strips, as inputs of another merge. */
static inline unsigned sp__replace_strips(const struct sp__replace *r)
{
	return r->merge.n;
}

void sp__replace_cursors(const struct sp__replace *r, struct sp__cursor *cursors);
