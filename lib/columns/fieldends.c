/* SPDX-License-Identifier: MIT */
/*
 * Finds field ends, 64 bytes at a time.
 *
 * Algorithm: the bits of the separators and newlines of 64 bytes (rec/csvblock.h) are the ends.  A
 * newline that is not the end whose number is the next multiple of the number of fields ends a
 * record with too few or too many fields.
 */
#include "columns/fieldends.h"
#include "rec/csvblock.h"

struct state {
	uint32_t n;    /* ends found */
	uint32_t next; /* the number that the next newline must have */
	bool wrong;
};

/* Adds the ends of a mask, whose lowest bit is at offset `at`. */
static inline void add(struct sp__fieldends *f, const struct sp__fieldends_opts *o, struct state *s,
		       uint64_t newlines, uint64_t ends, uint32_t at)
{
	uint32_t *to = f->ends + 1 + s->n;

	for (; ends; ends &= ends - 1)
		*to++ = at + (uint32_t)__builtin_ctzll(ends);
	s->n = (uint32_t)(to - f->ends) - 1;
	for (; newlines; newlines &= newlines - 1) {
		const uint32_t end = at + (uint32_t)__builtin_ctzll(newlines);

		if (s->next >= s->n || f->ends[1 + s->next] != end) {
			s->wrong = true;
			while (f->ends[s->n] != end)
				s->n--;
			return;
		}
		s->next += o->fields;
	}
}

void sp__fieldends_find(struct sp__fieldends *f, const struct sp__fieldends_opts *o,
			const char *text, uint32_t at, uint32_t bytes)
{
	const uint32_t records = f->max_ends / o->fields;
	struct state s = { .next = o->fields - 1 };
	unsigned state = SP__CSV_START;

	f->ends[0] = at - 1;
	for (; at < bytes && s.n < records * o->fields && !s.wrong; at += SP__CSV_BLOCK) {
		struct sp__csvblock b;

		b = sp__csv_block(text + at, bytes - at, SP__CSV_BLOCK, o->separator, true, o->csv,
				  &state);
		f->quotes |= b.texts;
		add(f, o, &s, b.newlines, b.newlines | b.separators, at);
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
