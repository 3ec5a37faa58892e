/* SPDX-License-Identifier: MIT */
/*
 * Replacement selection in batches: records go in as they come, runs come out
 * that are about twice as long as the memory on random input, and one run on input
 * in which no record is further from its place than the memory reaches.
 *
 *	| span of strip 3 | span of strip 7 | free | span of strip 3 | ...
 *
 * A batch of records is sorted and cut in two at the record given out last:
 * what is not before it becomes a strip of the present run, the rest one of
 * the next.  A strip is a sorted list of spans of whole records.  When memory is
 * short the strips of the present run are merged (merge.h) and the result given
 * out, each span being freed when its last record has gone, until there is
 * room for the next batch.  A strip that joins replaces the merge's
 * tree by a new one, once for thousands of records.  When the present run has no
 * strips left, those of the next one take its place.
 *
 * Memory arithmetic.  A record in the memory M costs its length; a span of p
 * bytes 24 more.  A strip costs half a span on average, the part already
 * given out, and some 400 bytes for its cursor.  Batches of b bytes make up to
 * 2 M / b strips, so that M / b (p + 800) + b is lost: b is sqrt(2048 M), and p
 * b / 32 between 512 and 4096.  From M of 1 MB on that leaves nine tenths for
 * records, whatever their lengths.  Load-sort-store has M / (1 + 32 / length),
 * because of its entries.
 *
 * Stability.  Take records a before b with equal keys.  If a waits for the next
 * run, it was before the last record when its batch was cut; the last record
 * has only grown since, or the run has changed: b is not in an earlier run.  Within a
 * run strips are merged in the order of their making; and if a has been given
 * out already, b is behind it.
 *
 * Rejected: the textbook's heap of all records with a memory manager for each.  It
 * spends a cache miss on most levels of a heap as large as the memory, for
 * each record, where a batch is sorted by radix within the cache and the tree over
 * strips stays there too; its entries and tags cost 28 bytes a record.  Turning to
 * replacement selection when input looks nearly sorted: the one run it makes
 * saves less in the merge than the selection costs (at 8 MB, 400 MB of lines
 * with one in a hundred out of place: 4.3 s of processor time instead of 2.6).
 *
 * Sources: Knuth volume 3, 5.4.1; Larson, External sorting: run formation
 * revisited, 2003.
 */
#ifndef SP__SORT_REPLACE_H
#define SP__SORT_REPLACE_H

#include "sort/merge.h"
#include "sort/recmem.h"

/*
 * Where runs go.  prev is the record put before, where it lies now; NULL at a
 * run's beginning.  All return 0 or an error.
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
	bool drop_equal; /* -u: records that equal the one before */
	struct sp__tally dropped;
	uint64_t held; /* records taken and neither given out nor dropped */
	struct sp__recmem mem;
	size_t span_bytes;
	struct sp__merge merge; /* the strips of the present run, oldest first */
	uint32_t *strips;	/* first span of each; see replace.c */
	size_t nstrips, strips_cap;
	uint32_t free_strip;
	size_t *next; /* strips of the next run, oldest first */
	size_t nnext, next_cap;
	bool writing;	       /* the present run has begun */
	struct sp__bytes last; /* the record given out last, while writing */
	bool keyed;	       /* ... is a giant with a key: */
	struct sp__keybuf last_key;
};

/* Bytes for one batch in memory of so many. */
size_t sp__replace_batch_bytes(size_t memory_bytes);

/* mem: aligned to 16 bytes.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__replace_open(struct sp__replace *r, const struct sp_keyset *keys, void *mem,
				   size_t bytes, struct sp__budget *budget,
				   const struct sp__replace_sink *sink, bool drop_equal);
void sp__replace_close(struct sp__replace *r);

/*
 * Takes a sorted batch, giving out as many records as must make room for it.  A record
 * larger than all the memory is given out at once.  0 or an error.
 */
SP_MUST_CHECK int sp__replace_add(struct sp__replace *r, const struct sp__runbuf *batch);
/* Gives out all that is left, and ends the last run. */
SP_MUST_CHECK int sp__replace_drain(struct sp__replace *r);

/* While nothing has been given out: the strips, as inputs of another merge. */
static inline unsigned sp__replace_strips(const struct sp__replace *r)
{
	return r->merge.n;
}

void sp__replace_cursors(const struct sp__replace *r, struct sp__cursor *cursors);

#endif
