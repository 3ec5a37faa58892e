/* SPDX-License-Identifier: MIT */
/*
 * Declares replacement selection in batches.  On random input, runs are about twice as long as the
 * memory; if no record is farther from its final position than the memory reaches, there is one
 * run.
 *
 *	| span of strip 3 | span of strip 7 | free | span of strip 3 | ...
 *
 * Algorithm: a batch of records is sorted and split at the record output last.  Records that do not
 * precede it become a strip of the current run, the others a strip of the next run.  A strip is a
 * sorted list of spans of whole records.  When memory is short, the strips of the current run are
 * merged (merge.h) and output until there is space for the next batch.  Each span is freed when its
 * last record has been output.  A new strip rebuilds the tree of the merge, once for thousands of
 * records.  When the current run has no strips left, the next run starts with its strips.
 *
 * Memory: a record in memory M costs its length, and a span of p bytes 24 more.  A strip costs half
 * a span on average, the part already output, and about 400 bytes for its cursor.  Batches of b
 * bytes make up to 2 M / b strips, which lose M / b (p + 800) + b.  So b is sqrt(2048 M), and p is
 * b / 32 within 512 and 4096.  From 1 MiB on, nine tenths of M hold records of any length.
 * Load-sort-store has M / (1 + 32 / length), because of its entries.
 *
 * Stability: let record a precede b in the input, with equal keys.  If a waits for the next run, it
 * preceded the last record when its batch was split.  Since then the last record has only grown, or
 * the run has changed, so b is not in an earlier run.  Within a run, strips are merged in the order
 * of their creation; and if a has already been output, b comes after it.
 *
 * Rejected:
 * - the textbook's heap of all records with memory management for each one.  Each record costs a
 *   cache miss on most levels of a heap as large as the memory.  A batch is sorted by radix within
 *   the cache, and the tree over strips stays there, too; its entries and tags cost 28 bytes per
 *   record;
 * - replacement selection whenever input seems nearly sorted: the single run saves less in the
 *   merge than the selection costs (with 8 MB, for 400 MB of lines with one in a hundred out of
 *   order: 4.3 s of processor time instead of 2.6).
 *
 * Sources: Knuth volume 3, 5.4.1; Larson, External sorting: run formation revisited, 2003.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "sort/tree/merge.h"

/*
 * Declares the memory for spans of records: contiguous blocks of any size.
 *
 *	| tag block | tag free | tag block | ... | end tag |
 *
 * A tag of eight bytes has the size of its block and of the preceding one, so that a released block
 * is immediately merged with free neighbours.  Free blocks are in lists by size, four for each
 * power of two, with a bitmap of the lists that are not empty.
 *
 * The caller names the minimum and the maximum size, fills the block that it gets, and releases the
 * rest (sp__recmem_trim()).  Spans of small records can have any size, so no hole stays too small
 * for long, and fragmentation costs tags and rounding: 16 bytes per span.
 */
#define SP__RECMEM_UNIT 16u
#define SP__RECMEM_BINS 128
#define SP__RECMEM_MAX ((UINT64_C(1) << 35) - SP__RECMEM_UNIT)

struct sp__recmem {
	char *base;
	size_t units;		       /* without the end tag */
	size_t free_bytes;	       /* with the tags of free blocks */
	uint32_t bin[SP__RECMEM_BINS]; /* first free block, in units + 1; 0: none */
	uint64_t map[SP__RECMEM_BINS / 64];
};

/* mem is aligned to 16 bytes; memory beyond SP__RECMEM_MAX is not used. */
void sp__recmem_init(struct sp__recmem *rm, void *mem, size_t bytes);

/*
 * Allocates a block of min to about max bytes, max >= min: of max if there is one, otherwise the
 * largest that is found quickly.  *got: its size.  Returns NULL if no block has min bytes.
 */
void *sp__recmem_take(struct sp__recmem *rm, size_t min, size_t max, size_t *got);
/* Keeps the first bytes of a block and releases the rest. */
void sp__recmem_trim(struct sp__recmem *rm, void *p, size_t bytes);
void sp__recmem_release(struct sp__recmem *rm, void *p);

/* Returns the number of a block, never 0. */
static inline uint32_t sp__recmem_name(const struct sp__recmem *rm, const void *p)
{
	return (uint32_t)((size_t)((const char *)p - rm->base) / SP__RECMEM_UNIT + 1);
}

static inline void *sp__recmem_block(const struct sp__recmem *rm, uint32_t name)
{
	return rm->base + (size_t)(name - 1) * SP__RECMEM_UNIT + 8;
}

/*
 * The destination of runs.  prev is the record put before, at its present address; NULL at the
 * start of a run.  All functions return 0 or an error.
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
	uint64_t held; /* records accepted, and neither output nor dropped */
	struct sp__recmem mem;
	size_t span_bytes;
	struct sp__merge merge, next; /* strips of the current run and the next, oldest first */
	uint32_t *strips;	      /* first span of each; see replace.c */
	size_t nstrips, strips_cap;
	uint32_t free_strip;
	bool writing;	       /* the current run has started */
	struct sp__bytes last; /* while writing: the record output last */
	bool keyed;	       /* last is a giant with a key: */
	struct sp__keybuf last_key;
};

/* Returns the bytes of one batch. */
size_t sp__replace_batch_bytes(size_t memory_bytes);
/* Returns the length of a run of random input: twice the records that fit in memory, see above. */
double sp__replace_run_bytes(size_t memory_bytes);

/* mem is aligned to 16 bytes.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__replace_open(struct sp__replace *r, const struct sp_keyset *keys, void *mem,
				   size_t bytes, struct sp__budget *budget,
				   const struct sp__replace_sink *sink, bool drop_equal);
void sp__replace_close(struct sp__replace *r);

/*
 * Accepts a sorted batch, and outputs as many records as must make space for it.  A record larger
 * than the whole memory is output immediately.  Returns 0 or an error.
 */
SP_MUST_CHECK int sp__replace_add(struct sp__replace *r, const struct sp__runbuf *batch);
/* Outputs all remaining records, and ends the last run. */
SP_MUST_CHECK int sp__replace_drain(struct sp__replace *r);

/* Before any output: the number of strips, which can be inputs of another merge. */
static inline unsigned sp__replace_strips(const struct sp__replace *r)
{
	return r->merge.n;
}

void sp__replace_cursors(const struct sp__replace *r, struct sp__cursor *cursors);
