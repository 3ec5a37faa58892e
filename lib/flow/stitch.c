/* SPDX-License-Identifier: MIT */
/*
 * A chunk is cut into the whole records in its middle, which are a batch as they are, its head up
 * to the first end of a record, and its tail from the last one on.  A head and a tail are pieces of
 * records; so is a whole chunk in which no record ends.  A piece is copied, since its chunk goes.
 *
 * At the border between two chunks one piece is open (the tail before it) and one is wanted (the
 * head after it).  When both are there they become one piece, and when that begins and ends with
 * its record it is a batch of its own.  Where a record ends with its chunk the tail is an empty
 * piece: so it is known at every border whether the chunk before it has come.
 *
 * Invariants: each byte put is in exactly one batch or piece; a piece that is not begun is the
 * wanted one of its first border, one that is not ended the open one of its last, and no other is
 * kept.  In order at most one piece is kept.
 *
 * Memory: two pointers for each border of the window, and the pieces, which the caller limits: he
 * asks for chunks in order while they are too many bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "flow/stitch.h"

struct piece {
	struct sp__bytes text;
	uint64_t from, to; /* the borders at which it is wanted, and open */
	bool begun, ended;
};

struct border {
	struct piece *open, *wanted;
};

/* The batches of a chunk: the record that ends at its head, its middle, the one of its tail. */
enum part { HEAD, MIDDLE, TAIL, PARTS };

struct sp__stitch {
	struct sp_recfmt format;
	uint64_t chunk_bytes;
	struct border *borders; /* window + 1 */
	unsigned window;
	uint64_t kept_bytes;
	enum part at;
	struct piece *whole[PARTS]; /* of MIDDLE none */
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

/* Takes a piece, or NULL, from the borders on which it hangs. */
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
 * Adds a piece, joined with those at its borders.  *whole: the record, if it is complete with them;
 * else NULL.  0 or -ENOMEM.
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

/* Where the first record ends that ends in the chunk, and the last; false: none does. */
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
		/* Between fixed-length records that end with their chunk there is nothing. */
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
	/* A file begins where a record does. */
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
