/* SPDX-License-Identifier: MIT */
/*
 * Finds the ends of records.
 */
#pragma once

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <spindle/batch.h>
#include <spindle/rec.h>
#include "base/mem.h"

/*
 * Returns the end of the CSV record that begins at data: one past its '\n', or NULL if it does not
 * end before data + bytes. *scanned saves rescanning very long records: it is 0 at first; a call
 * that returned NULL sets it, so that the next call, with the same record and more bytes, continues
 * there.
 */
const char *sp__rec_end_csv(const char *data, size_t bytes, char separator, uint64_t *scanned);

/*
 * Returns the end of the line that begins at data, or NULL.  Short lines are searched inline: a
 * call of memchr() costs more than the search.
 */
static inline const char *sp__line_end(const char *data, size_t bytes, char eol)
{
	const char *p;

#ifdef __SSE2__
	if (bytes >= 16) {
		__m128i chunk = _mm_loadu_si128((const __m128i *)(const void *)data);
		unsigned hits =
			(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(chunk, _mm_set1_epi8(eol)));

		if (hits)
			return data + __builtin_ctz(hits) + 1;
	}
#endif
	p = memchr(data, eol, bytes);
	return p ? p + 1 : NULL;
}

/*
 * Returns the end of the record that begins at data: one past its terminator (or its last byte), or
 * NULL if it does not end before data + bytes.
 */
static inline const char *sp__rec_end(const struct sp_recfmt *f, const char *data, size_t bytes)
{
	uint64_t scanned = 0;

	switch (f->kind) {
	case SP_REC_LINE:
		return sp__line_end(data, bytes, f->eol);
	case SP_REC_FIXED:
		return bytes >= f->fixed_bytes ? data + f->fixed_bytes : NULL;
	case SP_REC_CSV:
		return sp__rec_end_csv(data, bytes, f->separator, &scanned);
	}
	return NULL;
}

/* Returns the number of terminator bytes at the end of a record: 1 or 0. */
static inline size_t sp__rec_term(const struct sp_recfmt *f)
{
	return f->kind != SP_REC_FIXED;
}

/* Returns how many of these bytes, which are whole records, fit into this capacity. */
size_t sp__rec_fitting(const struct sp_recfmt *f, const char *data, size_t bytes, size_t capacity);

/* Counts the bytes c. */
uint64_t sp__count_bytes(const char *data, size_t bytes, char c);

static inline uint64_t sp__count_lines(const char *data, size_t bytes)
{
	return sp__count_bytes(data, bytes, '\n');
}

/*
 * Records the error of a last record that ends inside quotes: rec, without terminator, of input
 * name, which contains that many newlines.  Names the line in which the quotes were opened.
 */
int sp__rec_unclosed(const struct sp_recfmt *f, const char *rec, size_t bytes, const char *name,
		     uint64_t newlines, struct sp_errinfo *err);

/* Records the error of a file that ends within a fixed-length record. */
int sp__rec_partial(const struct sp_recfmt *f, const char *name, struct sp_errinfo *err);

/* A part of a file. */
struct sp__file_piece {
	const char *data;
	size_t bytes;
	bool first, last; /* a record begins with it; the file ends with it */
};

/*
 * Lines and CSV: finds the record, with its terminator, that contains the byte at this offset.
 * False: the record is not entirely inside the part.  A part of CSV other than the first does not
 * show for certain if it begins inside quotes.  The state that fits its quotes better is assumed,
 * so the result might not be a record.
 */
bool sp__rec_around(const struct sp_recfmt *f, const struct sp__file_piece *piece, size_t at,
		    size_t *begin, size_t *end);

/*
 * Splits a stream into batches of whole records.  The caller feeds chunk after chunk, and takes all
 * batches of each.  Batches are stored in the chunk; only a record that crosses two chunks is
 * copied, into a batch of its own.
 */
struct sp__splitter {
	struct sp_recfmt format;
	uint64_t phase;		      /* fixed: bytes into the record; CSV: see recfmt.c */
	uint64_t before;	      /* phase at the start of the chunk */
	const char *at, *whole, *end; /* chunk: returned up to at, whole records up to whole */
	struct sp__bytes carry; /* the beginning of a record that continues in the next chunk */
	bool carry_out;		/* the carry is the batch returned last */
};

void sp__splitter_init(struct sp__splitter *s, const struct sp_recfmt *f);
void sp__splitter_release(struct sp__splitter *s); /* accepts one all zero */

/*
 * Feeds the next bytes of the stream, which stay valid until the next call.  Returns the number of
 * them that belong to records that end in this chunk (the rest begins or continues an unfinished
 * record).
 */
size_t sp__splitter_feed(struct sp__splitter *s, const char *data, size_t bytes);
/* Returns the next batch: SP_READY, valid until the next call; SP_END: feed more; -ENOMEM. */
SP_MUST_CHECK int sp__splitter_next(struct sp__splitter *s, struct sp_batch *batch);
/* At the end of the stream, returns the unfinished record, in the carry, as a batch. */
int sp__splitter_give_carry(struct sp__splitter *s, struct sp_batch *batch);
