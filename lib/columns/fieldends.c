/* SPDX-License-Identifier: MIT */
/*
 * Finds field ends, 64 bytes at a time.
 *
 * Algorithm: comparisons of 64 bytes give a mask of separators and newlines, and one of newlines.
 * The bits of the first are the ends.  A newline whose number among the ends is not the next
 * multiple of the number of fields ends a record with too few or too many fields.  In CSV a mask of
 * quotes ends the step at the first quote: if it begins a field, the search continues after the
 * closing quote.
 */
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "columns/fieldends.h"

struct masks {
	uint64_t ends, newlines, quotes;
};

#ifdef __SSE2__
static inline uint64_t equal(const __m128i *v, char c)
{
	const __m128i want = _mm_set1_epi8(c);
	uint64_t mask = 0;

	for (unsigned i = 0; i < 4; i++)
		mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v[i], want)) << 16 * i;
	return mask;
}

static inline struct masks compare(const char *p, const struct sp__fieldends_opts *o)
{
	struct masks m = { 0 };
	__m128i v[4];

	for (unsigned i = 0; i < 4; i++)
		v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
	m.newlines = equal(v, '\n');
	m.ends = m.newlines | equal(v, o->separator);
	if (o->csv)
		m.quotes = equal(v, '"');
	return m;
}
#else
static inline struct masks compare(const char *p, const struct sp__fieldends_opts *o)
{
	struct masks m = { 0 };

	for (unsigned i = 0; i < 64; i++) {
		m.newlines |= (uint64_t)(p[i] == '\n') << i;
		m.ends |= (uint64_t)(p[i] == '\n' || p[i] == o->separator) << i;
		m.quotes |= (uint64_t)(o->csv && p[i] == '"') << i;
	}
	return m;
}
#endif

struct state {
	uint32_t n;    /* ends found */
	uint32_t next; /* the number that the next newline must have */
	bool wrong;
};

/* Adds the ends of a mask, whose lowest bit is at offset `at`. */
static inline void add(struct sp__fieldends *f, const struct sp__fieldends_opts *o, struct state *s,
		       struct masks m, uint32_t at)
{
	uint32_t *to = f->ends + 1 + s->n;

	for (uint64_t left = m.newlines; left; left &= left - 1) {
		uint64_t before = m.ends & ((left & -left) - 1);

		if (s->n + (uint32_t)__builtin_popcountll(before) != s->next) {
			s->wrong = true;
			m.ends = before | (left & -left);
			break;
		}
		s->next += o->fields;
	}
	s->n += (uint32_t)__builtin_popcountll(m.ends);
	for (uint64_t left = m.ends; left; left &= left - 1)
		*to++ = at + (uint32_t)__builtin_ctzll(left);
}

/* Moves over a quote of CSV.  Returns the offset at which the search continues. */
static uint32_t pass_quote(struct sp__fieldends *f, const struct state *s, const char *text,
			   uint32_t at, uint32_t bytes)
{
	const char *q = text + at + 1, *end = text + bytes;

	if (at != f->ends[s->n] + 1) {
		f->quotes = true;
		return at + 1;
	}
	while ((q = memchr(q, '"', (size_t)(end - q))) && q + 1 < end && q[1] == '"')
		q += 2;
	return q ? (uint32_t)(q + 1 - text) : bytes;
}

void sp__fieldends_find(struct sp__fieldends *f, const struct sp__fieldends_opts *o,
			const char *text, uint32_t at, uint32_t bytes)
{
	const uint32_t records = f->max_ends / o->fields;
	struct state s = { .next = o->fields - 1 };

	f->ends[0] = at - 1;
	while (at < bytes && s.n < records * o->fields && !s.wrong) {
		struct masks m = compare(text + at, o);
		uint64_t used = bytes - at < 64 ? (UINT64_C(1) << (bytes - at)) - 1 : UINT64_MAX;
		uint64_t quote = m.quotes & used;

		if (quote)
			used = (quote & -quote) - 1;
		m.ends &= used;
		m.newlines &= used;
		add(f, o, &s, m, at);
		if (quote && !s.wrong)
			at = pass_quote(f, &s, text, at + (uint32_t)__builtin_ctzll(quote), bytes);
		else
			at += 64;
	}
	f->records = s.next / o->fields;
	f->wrong = s.wrong ? s.n - f->records * o->fields : 0;
	if (!s.wrong && s.n > s.next) /* the record goes on where it had to end */
		f->wrong = o->fields + 1;
	if (f->records >= records) {
		f->records = records;
		f->wrong = 0;
	}
}
