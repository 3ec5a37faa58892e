/* SPDX-License-Identifier: MIT */
/*
 * Encodes text as bytes in the order of strcoll().
 *
 * An encoding has up to four levels, each compared only if the levels before it are equal:
 *
 *	letters   their ranks, 6 to 255
 *	accents   6 + rank, without the plain letters at the end
 *	variants  7 letters in a byte, 6 + bits, without the zeros at the end
 *	marks     pairs: the number of letters between the mark before and this one, then
 *	          the mark; at the end the number of letters left, then 0
 *
 * A level ends with a byte lower than any of its own, which announces the next level, in the order
 * of the strings:
 *
 *	BEFORE    marks, the first in front of a letter
 *	NOTHING
 *	BEHIND    marks, all after the last letter
 *	VARIANTS  variants (capitals), then one of the three above
 *	ACCENTS   accents, then one of the four above
 *
 * Two strings are compared on a level only with equal numbers of letters.  So the lowest values at
 * the end of a level can be omitted, and a level that has only the lowest value is omitted
 * entirely.  A word in lower case takes a byte per letter and one more, and most words are decided
 * in their first eight bytes.
 *
 * On the level of marks glibc weighs all characters, marks below letters, and a string that ends
 * below one that continues.  With equal letters this is the order of the pairs: the earlier a mark
 * comes, the lower the string, unless it comes after the last letter, where the other string has
 * ended.
 */
#include <string.h>
#include "rec/collate_table.h"

enum { BEFORE = 1, NOTHING, BEHIND, VARIANTS, ACCENTS, FIRST };

_Static_assert(FIRST == SP__COLLATE_FIRST_RANK, "ranks lie above the ends of levels");

/* Maximum gap in one byte; 255 continues in the next byte. */
#define GAP_MAX 255

struct text {
	const struct sp__collate_table *c;
	const unsigned char *s, *end;
};

static const struct sp__collate_sym *next_sym(const struct text *t, const unsigned char **p)
{
	return &t->c->sym[sp__collate_next(t->c, p, t->end)];
}

/* Contents of the levels, found while writing the first. */
struct extent {
	size_t letters;
	size_t accents;	 /* up to the last accent */
	size_t variants; /* up to the last variant */
	size_t before;	 /* letters in front of the first mark */
	bool marks, alone;
};

/*
 * Destination of an encoding: all of it goes to out or, WINDOWED, the bytes between skip and skip +
 * room.  The level writers are compiled once for each.
 */
struct sink {
	unsigned char *out;
	size_t skip, room;
};

enum { ALL, WINDOWED };

#define ONCE_FOR_EACH static inline __attribute__((always_inline))

ONCE_FOR_EACH void put(struct sink *to, int how, unsigned byte)
{
	if (how == WINDOWED) {
		if (to->skip) {
			to->skip--;
			return;
		}
		if (!to->room)
			return;
		to->room--;
	}
	*to->out++ = (unsigned char)byte;
}

/*
 * Writes the first level.  False if the text cannot be encoded.  Stops at a full window: the first
 * letters that differ decide, whatever follows them.
 */
ONCE_FOR_EACH bool put_letters(const struct text *t, struct extent *e, struct sink *to, int how)
{
	const struct sp__collate_table *c = t->c;
	unsigned id, last = 0;

	*e = (struct extent){ 0 };
	for (const unsigned char *p = t->s; p < t->end; last = id) {
		const struct sp__collate_sym *sym;

		if (how == WINDOWED && !to->room)
			return true;
		id = sp__collate_next(c, &p, t->end);
		sym = &c->sym[id];
		if (!id || (c->sym[last].paired && sp__collate_paired(c, last, id)))
			return false;
		if (!sym->letter) {
			if (!e->marks)
				e->before = e->letters;
			e->marks = true;
			continue;
		}
		put(to, how, sym->rank);
		e->letters++;
		e->alone |= sym->alone;
		if (sym->accent)
			e->accents = e->letters;
		if (sym->variant)
			e->variants = e->letters;
	}
	return !e->marks || !e->alone;
}

ONCE_FOR_EACH void put_accents(const struct text *t, size_t letters, struct sink *to, int how)
{
	for (const unsigned char *p = t->s; letters;) {
		const struct sp__collate_sym *sym = next_sym(t, &p);

		if (!sym->letter)
			continue;
		put(to, how, FIRST + sym->accent);
		letters--;
	}
}

ONCE_FOR_EACH void put_variants(const struct text *t, size_t letters, struct sink *to, int how)
{
	const unsigned char *p = t->s;
	unsigned bits = 0;
	size_t n = 0;

	while (n < letters) {
		const struct sp__collate_sym *sym = next_sym(t, &p);

		if (!sym->letter)
			continue;
		bits = bits << 1 | sym->variant;
		if (++n % 7 == 0) {
			put(to, how, FIRST + bits);
			bits = 0;
		}
	}
	if (n % 7)
		put(to, how, FIRST + (bits << (7 - n % 7)));
}

ONCE_FOR_EACH void put_gap(size_t gap, struct sink *to, int how)
{
	for (; gap >= GAP_MAX; gap -= GAP_MAX)
		put(to, how, GAP_MAX);
	put(to, how, (unsigned)gap);
}

ONCE_FOR_EACH void put_marks(const struct text *t, struct sink *to, int how)
{
	size_t gap = 0;

	for (const unsigned char *p = t->s; p < t->end;) {
		const struct sp__collate_sym *sym = next_sym(t, &p);

		if (sym->letter) {
			gap++;
			continue;
		}
		put_gap(gap, to, how);
		put(to, how, sym->mark);
		gap = 0;
	}
	put_gap(gap, to, how);
	put(to, how, 0);
}

/* Encodes any text; out has enough space.  False if it cannot be encoded. */
ONCE_FOR_EACH bool encode_text(const struct text *t, struct sink *to, int how)
{
	struct extent e;

	if (!put_letters(t, &e, to, how))
		return false;
	if (how == WINDOWED && !to->room)
		return true;
	if (e.accents) {
		put(to, how, ACCENTS);
		put_accents(t, e.accents, to, how);
	}
	if (e.variants) {
		put(to, how, VARIANTS);
		put_variants(t, e.variants, to, how);
	}
	if (!e.marks) {
		put(to, how, NOTHING);
		return true;
	}
	put(to, how, e.before < e.letters ? BEFORE : BEHIND);
	put_marks(t, to, how);
	return true;
}

static int encode_slowly(const struct text *t, struct sp__keybuf *buf)
{
	struct sink to = { .out = buf->data + buf->bytes };

	if (!encode_text(t, &to, ALL))
		return 1;
	buf->bytes = (size_t)(to.out - buf->data);
	return 0;
}

int sp__collate_encode_window(const struct sp__collate_table *c, const char *s, size_t n,
			      size_t from, size_t room, struct sp__keybuf *buf)
{
	struct text t = { c, (const unsigned char *)s, (const unsigned char *)s + n };
	struct sink to = { .skip = from, .room = room };

	if (sp__keybuf_reserve(buf, room))
		return -ENOMEM;
	to.out = buf->data + buf->bytes;
	if (!encode_text(&t, &to, WINDOWED))
		return 1;
	buf->bytes = (size_t)(to.out - buf->data);
	return 0;
}

/* Characters after one that can share a weight with it (three in Hungarian). */
#define AHEAD 3

struct walk {
	struct text t;
	const unsigned char *p;
	unsigned last; /* the character before p, 0: none */
};

/* Returns the next character; 0: the text has ended, or the character cannot be encoded. */
static unsigned step(struct walk *w)
{
	const struct sp__collate_table *c = w->t.c;
	unsigned before = w->last;

	w->last = w->p < w->t.end ? sp__collate_next(c, &w->p, w->t.end) : 0;
	if (w->last && c->sym[before].paired && sp__collate_paired(c, before, w->last))
		w->last = 0;
	return w->last;
}

/*
 * Returns the rank of the next letter; 0: the text has ended; -1: a character before it has none.
 */
static int next_rank(struct walk *w)
{
	while (w->p < w->t.end) {
		const struct sp__collate_sym *sym = &w->t.c->sym[step(w)];

		if (!w->last)
			return -1;
		if (sym->letter)
			return sym->rank;
	}
	return 0;
}

/* True if no character after the last letter can change its weight. */
static bool stands_alone(struct walk w)
{
	for (int i = 0; i < AHEAD && w.p < w.t.end; i++)
		if (!step(&w))
			return false;
	return true;
}

int sp__collate_order_letters(const struct sp__collate_table *c, const char *a, size_t an,
			      const char *b, size_t bn)
{
	const unsigned char *as = (const unsigned char *)a, *bs = (const unsigned char *)b;
	struct walk x = { .t = { c, as, as + an }, .p = as },
		    y = { .t = { c, bs, bs + bn }, .p = bs };
	int ra, rb;

	do {
		ra = next_rank(&x);
		rb = next_rank(&y);
		if (ra < 0 || rb < 0)
			return 0;
	} while (ra == rb && ra);
	if (!stands_alone(x) || !stands_alone(y))
		return 0;
	return ra - rb;
}

/* Fast versions for texts of single bytes that all have an entry in fast. */

static bool has_bad_pair(const struct text *t)
{
	const struct sp__collate_table *c = t->c;

	for (const unsigned char *p = t->s; p + 1 < t->end; p++)
		if (c->fast[p[0]] & SP__COLLATE_PAIRED &&
		    sp__collate_paired(c, c->byte[p[0]], c->byte[p[1]]))
			return true;
	return false;
}

static unsigned char *put_byte_variants(const struct text *t, unsigned char *out)
{
	const uint16_t *fast = t->c->fast;
	const unsigned char *last = t->end - 1;
	unsigned bits = 0, n = 0;

	while (!(fast[*last] & SP__COLLATE_VARIANT))
		last--;
	*out++ = VARIANTS;
	for (const unsigned char *p = t->s; p <= last; p++) {
		if (fast[*p] & SP__COLLATE_MARK)
			continue;
		bits = bits << 1 | (fast[*p] & SP__COLLATE_VARIANT) / SP__COLLATE_VARIANT;
		if (++n == 7) {
			*out++ = (unsigned char)(FIRST + bits);
			bits = n = 0;
		}
	}
	if (n)
		*out++ = (unsigned char)(FIRST + (bits << (7 - n)));
	return out;
}

static unsigned char *put_byte_marks(const struct text *t, size_t letters, unsigned char *out)
{
	const uint16_t *fast = t->c->fast;
	const unsigned char *from = t->s, *p = t->s;
	unsigned char *kind = out;
	struct sink to = { .out = out + 1 };

	for (; p < t->end; p++) {
		if (!(fast[*p] & SP__COLLATE_MARK))
			continue;
		put_gap((size_t)(p - from), &to, ALL);
		put(&to, ALL, fast[*p] & 0xFF);
		from = p + 1;
	}
	put_gap((size_t)(p - from), &to, ALL);
	put(&to, ALL, 0);
	p = t->s;
	while (!(fast[*p] & SP__COLLATE_MARK))
		p++;
	*kind = (size_t)(p - t->s) < letters ? BEFORE : BEHIND;
	return to.out;
}

/* Writes the rank of each byte that is not a mark.  Returns the union of all flags. */
static unsigned put_bytes(const struct text *t, unsigned char **out)
{
	const uint16_t *fast = t->c->fast;
	unsigned char *to = *out;
	unsigned seen = 0;

	for (const unsigned char *p = t->s; p < t->end; p++) {
		unsigned known = fast[*p];

		*to = (unsigned char)known;
		to += !(known & SP__COLLATE_MARK);
		seen |= known;
	}
	*out = to;
	return seen;
}

int sp__collate_encode_by(const struct sp__collate_table *c, const char *s, size_t n,
			  struct sp__keybuf *buf)
{
	struct text t = { c, (const unsigned char *)s, (const unsigned char *)s + n };
	unsigned char *out;
	unsigned seen;
	size_t most;

	if (__builtin_expect(n > SP__KEY_MAX, 0))
		return sp__collate_encode_window(c, s, n, 0, SP__KEY_MAX, buf);
	/* Two bytes for each letter or mark, variants, continued gaps, ends of levels. */
	if (__builtin_mul_overflow(n, 2, &most) || sp__keybuf_reserve(buf, most + n / 6 + 16))
		return -ENOMEM;
	out = buf->data + buf->bytes;
	seen = put_bytes(&t, &out);
	if (seen & SP__COLLATE_OTHER)
		return encode_slowly(&t, buf);
	if (seen & SP__COLLATE_PAIRED && has_bad_pair(&t))
		return 1;
	if (seen & SP__COLLATE_MARK && seen & SP__COLLATE_ALONE)
		return 1;
	most = (size_t)(out - buf->data) - buf->bytes;
	if (seen & SP__COLLATE_VARIANT)
		out = put_byte_variants(&t, out);
	if (seen & SP__COLLATE_MARK)
		out = put_byte_marks(&t, most, out);
	else
		*out++ = NOTHING;
	buf->bytes = (size_t)(out - buf->data);
	return 0;
}
