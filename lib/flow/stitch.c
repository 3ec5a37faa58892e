/* SPDX-License-Identifier: MIT */
/*
 * Assembles whole records from chunks of a file that come in any order.
 *
 * Algorithm: a chunk has three parts.  The middle is whole records and a batch as it is.  The head
 * ends at the first end of a record, the tail starts at the last one.  Heads and tails are partial
 * records (struct piece); so is a whole chunk in which no record ends.  A partial record is copied,
 * since its chunk is released.
 *
 * At the border between two chunks one partial record is open (the tail before it) and one is
 * wanted (the head after it).  When both are present they are joined.  When the result begins and
 * ends with its record, it is a batch.  If a record ends with its chunk, the tail is an empty
 * partial record, so every border shows whether the chunk before it has arrived.
 *
 * Invariants: each byte put is in exactly one batch or partial record.  A partial record that is
 * not begun is the wanted one of its first border; one that is not ended is the open one of its
 * last border; no other is kept.  In order, at most one is kept.
 *
 * Memory: two pointers per border of the window, and the partial records.  The caller limits them:
 * it requests chunks in order while sp__stitch_kept_bytes() is too large.
 */
#include <stdlib.h>
#include <string.h>
#include "flow/stitch.h"

struct piece {
	struct sp__bytes text;
	uint64_t from, to; /* borders at which it is wanted and open */
	bool begun, ended;
};

struct border {
	struct piece *open, *wanted;
};

/* Batches of a chunk: the record that ends in its head, its middle, the record of its tail. */
enum part { HEAD, MIDDLE, TAIL, PARTS };

struct sp__stitch {
	struct sp_recfmt format;
	uint64_t chunk_bytes;
	struct border *borders; /* window + 1 */
	unsigned window;
	uint64_t kept_bytes;
	enum part at;
	struct piece *whole[PARTS]; /* MIDDLE is unused */
	struct piece *pinned;
	struct sp_batch middle;
};

static struct border *border(struct sp__stitch *s, uint64_t number)
{
	return &s->borders[number % (s->window + 1)];
}

static void free_piece(struct piece *p)
{
	if (!p)
		return;
	sp__bytes_release(&p->text, NULL);
	free(p);
}

static struct piece *take(struct piece **from)
{
	struct piece *p = *from;

	*from = NULL;
	return p;
}

/* Removes a partial record, or NULL, from its borders. */
static struct piece *unhook(struct sp__stitch *s, struct piece *p)
{
	if (p && !p->begun)
		border(s, p->from)->wanted = NULL;
	if (p && !p->ended)
		border(s, p->to)->open = NULL;
	return p;
}

static void hook(struct sp__stitch *s, struct piece *p)
{
	if (!p->begun)
		border(s, p->from)->wanted = p;
	if (!p->ended)
		border(s, p->to)->open = p;
}

static int extend(struct piece *p, const char *data, size_t bytes, uint64_t to, bool ended)
{
	p->to = to;
	p->ended = ended;
	return bytes ? sp__bytes_append(&p->text, data, bytes, NULL) : 0;
}

/*
 * Adds a partial record and joins it with those at its borders.  *whole: the record, if it is now
 * complete; else NULL.  0 or -ENOMEM.
 */
static int add(struct sp__stitch *s, const struct piece *as, const char *data, size_t bytes,
	       struct piece **whole)
{
	struct piece *after = as->ended ? NULL : unhook(s, border(s, as->to)->wanted);
	struct piece *p = as->begun ? NULL : unhook(s, border(s, as->from)->open);
	int rc;

	*whole = NULL;
	if (!p) {
		p = malloc(sizeof(*p));
		if (p)
			*p = *as;
	}
	rc = p ? extend(p, data, bytes, as->to, as->ended) : -ENOMEM;
	if (!rc && after)
		rc = extend(p, after->text.data, after->text.bytes, after->to, after->ended);
	free_piece(after);
	if (rc) {
		free_piece(p);
		return rc;
	}
	s->kept_bytes += bytes;
	hook(s, p);
	if (!p->begun || !p->ended)
		return 0;
	s->kept_bytes -= p->text.bytes;
	*whole = p;
	return 0;
}

/* Finds the first and the last end of a record in the chunk; false: none ends there. */
static bool cut(const struct sp__stitch *s, const struct sp__file_chunk *c, size_t *first,
		size_t *last)
{
	size_t fixed = s->format.fixed_bytes;
	const char *end;

	if (s->format.kind == SP_REC_FIXED) {
		*first = (fixed - c->number * s->chunk_bytes % fixed) % fixed;
		if (*first > c->bytes)
			return false;
		*last = c->bytes - (c->bytes - *first) % fixed;
		return true;
	}
	end = memchr(c->data, s->format.eol, c->bytes);
	if (!end)
		return false;
	*first = (size_t)(end - c->data) + 1;
	end = memrchr(c->data, s->format.eol, c->bytes);
	*last = (size_t)(end - c->data) + 1;
	return true;
}

int sp__stitch_put(struct sp__stitch *s, const struct sp__file_chunk *c)
{
	struct piece head = { .from = c->number, .to = c->number, .ended = true };
	struct piece tail = { .from = c->number + 1, .to = c->number + 1, .begun = true };
	struct piece all = { .from = c->number, .to = c->number + 1 };
	size_t first, last;
	int rc;

	s->at = HEAD;
	s->middle.bytes = 0;
	if (!cut(s, c, &first, &last))
		return add(s, &all, c->data, c->bytes, &s->whole[HEAD]);
	s->middle = (struct sp_batch){ c->data + first, last - first };
	rc = add(s, &head, c->data, first, &s->whole[HEAD]);
	if (!rc)
		rc = add(s, &tail, c->data + last, c->bytes - last, &s->whole[TAIL]);
	return rc;
}

int sp__stitch_next(struct sp__stitch *s, struct sp_batch *batch)
{
	free_piece(take(&s->pinned));
	for (; s->at < PARTS; s->at++) {
		*batch = s->middle;
		if (s->at != MIDDLE) {
			s->pinned = take(&s->whole[s->at]);
			if (!s->pinned)
				continue;
			*batch = (struct sp_batch){ s->pinned->text.data, s->pinned->text.bytes };
		}
		/* A fixed-length record that ends with its chunk leaves an empty tail. */
		if (batch->bytes) {
			s->at++;
			return SP_READY;
		}
		free_piece(take(&s->pinned));
	}
	return SP_END;
}

uint64_t sp__stitch_kept_bytes(const struct sp__stitch *s)
{
	return s->kept_bytes;
}

void sp__stitch_rest(struct sp__stitch *s, uint64_t chunks, struct sp__bytes *rest)
{
	struct piece *p = unhook(s, border(s, chunks)->open);

	s->kept_bytes -= p->text.bytes;
	*rest = p->text;
	free(p);
}

int sp__stitch_open(struct sp__stitch **out, const struct sp_recfmt *format, uint64_t chunk_bytes,
		    unsigned window)
{
	struct sp__stitch *s = calloc(1, sizeof(*s));
	struct piece *first = malloc(sizeof(*first));

	if (s)
		s->borders = calloc(window + 1, sizeof(*s->borders));
	if (!s || !s->borders || !first) {
		sp__stitch_close(s);
		free(first);
		return -ENOMEM;
	}
	s->format = *format;
	s->chunk_bytes = chunk_bytes;
	s->window = window;
	s->at = PARTS;
	/* A file begins with a record. */
	*first = (struct piece){ .begun = true };
	s->borders[0].open = first;
	*out = s;
	return 0;
}

void sp__stitch_close(struct sp__stitch *s)
{
	if (!s)
		return;
	for (unsigned i = 0; s->borders && i <= s->window; i++) {
		free_piece(unhook(s, s->borders[i].wanted));
		free_piece(unhook(s, s->borders[i].open));
	}
	free_piece(s->whole[HEAD]);
	free_piece(s->whole[TAIL]);
	free_piece(s->pinned);
	free(s->borders);
	free(s);
}
