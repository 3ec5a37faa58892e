/* SPDX-License-Identifier: MIT */
/*
 * Finds the ends of records.
 *
 * Lines and fixed-length records need no state except offsets.
 *
 * States: a CSV record ends at a '\n' that is not inside quotes; csvblock.h has the states of its
 * scanner.
 */
#include <inttypes.h>
#include <string.h>
#include "base/err.h"
#include "base/enum.h"
#include "rec/csvblock.h"
#include "rec/key.h"
#include "rec/recfmt.h"

/*
 * Returns the first newline or quote, or end.  Many records are short, and two calls of memchr()
 * cost more than the search.  *newline: none at first, then the first newline after an earlier p.
 */
static const char *newline_or_quote(const char *p, const char *end, const char **newline)
{
	const char *quote;

	for (unsigned i = 0; i < 3; i++, p += 16) {
		struct sp__csvbytes bytes;
		uint64_t hits;

		if (p >= end)
			return end;
		bytes = sp__csv_load(p, (size_t)(end - p), 16);
		hits = sp__csv_equal(&bytes, 16, '\n') | sp__csv_equal(&bytes, 16, '"');
		if (hits)
			return p + __builtin_ctzll(hits);
	}
	if (p >= end)
		return end;
	if (!*newline || *newline < p)
		*newline = memchr(p, '\n', (size_t)(end - p));
	if (!*newline)
		*newline = end;
	quote = memchr(p, '"', (size_t)(*newline - p));
	return quote ? quote : *newline;
}

const char *sp__rec_end_csv(const char *data, size_t bytes, char separator, uint64_t *scanned)
{
	const char *p = data + (*scanned >> 2), *end = data + bytes, *newline = NULL, *stop;
	unsigned state = *scanned & 3;
	struct sp__csvblock b = { 0 };

	for (; p < end; p += SP__CSV_BLOCK) {
		if (!b.quotes && state != SP__CSV_INSIDE) {
			stop = newline_or_quote(p, end, &newline);
			if (stop > p)
				state = sp__csv_state_after(stop - 1, separator, true);
			if (stop == end)
				break;
			if (*stop == '\n')
				return stop + 1;
			p = stop;
		}
		b = sp__csv_block(p, (size_t)(end - p), SP__CSV_BLOCK, separator, true, true,
				  &state);
		if (b.newlines)
			return p + __builtin_ctzll(b.newlines) + 1;
	}
	*scanned = (uint64_t)bytes << 2 | state;
	return NULL;
}

uint64_t sp__count_bytes(const char *data, size_t bytes, char c)
{
	const char *end = data + bytes;
	uint64_t n = 0;

	while (data < end && (data = memchr(data, c, (size_t)(end - data)))) {
		n++;
		data++;
	}
	return n;
}

int sp__rec_unclosed(const struct sp_recfmt *f, const char *rec, size_t bytes, const char *name,
		     uint64_t newlines, struct sp_errinfo *err)
{
	const char *end = rec + bytes, *field = rec, *stop;
	uint64_t line;

	/* The quotes begin the last field. */
	while ((stop = sp__csv_field_end(field, end, f->separator)) < end)
		field = stop + 1;
	line = newlines + 1 - sp__count_lines(field, (size_t)(end - field));
	return sp__errf(err, SP_EFORMAT, "read", name, -1,
			"line %" PRIu64 ": a quoted field is not closed", line);
}

int sp__rec_partial(const struct sp_recfmt *f, const char *name, struct sp_errinfo *err)
{
	return sp__errf(err, SP_EFORMAT, "read", name, -1,
			"length is not a multiple of the record size %zu", f->fixed_bytes);
}

/* Counts quotes that a writer would not have written if the scanner begins in this state. */
static size_t odd_quotes(const struct sp__file_piece *p, char separator, unsigned state)
{
	size_t odd = 0;

	for (size_t at = 0; at < p->bytes; at += SP__CSV_BLOCK) {
		struct sp__csvblock b;

		b = sp__csv_block(p->data + at, p->bytes - at, SP__CSV_BLOCK, separator, true, true,
				  &state);
		for (; b.texts; b.texts &= b.texts - 1)
			odd++;
		for (; b.closes; b.closes &= b.closes - 1) {
			size_t next = at + (unsigned)__builtin_ctzll(b.closes) + 1;

			odd += next < p->bytes && p->data[next] != separator &&
			       !memchr("\n\r\"", p->data[next], 3);
		}
	}
	return odd;
}

static bool around_csv(char separator, const struct sp__file_piece *p, size_t at, size_t *begin,
		       size_t *end)
{
	uint64_t scanned = SP__CSV_START;
	bool known = p->first;
	const char *e;

	if (!known)
		scanned = odd_quotes(p, separator, SP__CSV_INSIDE) <
					  odd_quotes(p, separator, SP__CSV_PLAIN)
				  ? SP__CSV_INSIDE
				  : SP__CSV_PLAIN;
	for (*begin = 0;; *begin = *end, known = true, scanned = SP__CSV_START) {
		e = sp__rec_end_csv(p->data + *begin, p->bytes - *begin, separator, &scanned);
		*end = e ? (size_t)(e - p->data) : p->bytes;
		if (!e || *end > at)
			break;
	}
	return known && (e || p->last);
}

bool sp__rec_around(const struct sp_recfmt *f, const struct sp__file_piece *p, size_t at,
		    size_t *begin, size_t *end)
{
	const char *before, *after;

	if (f->kind == SP_REC_CSV)
		return around_csv(f->separator, p, at, begin, end);
	before = memrchr(p->data, f->eol, at);
	after = memchr(p->data + at, f->eol, p->bytes - at);
	*begin = before ? (size_t)(before - p->data) + 1 : 0;
	*end = after ? (size_t)(after - p->data) + 1 : p->bytes;
	return (before || p->first) && (after || p->last);
}

size_t sp__rec_fitting(const struct sp_recfmt *f, const char *data, size_t bytes, size_t capacity)
{
	const char *p = data, *end = data + capacity, *next;

	if (bytes <= capacity)
		return bytes;
	if (f->kind == SP_REC_FIXED)
		return capacity / f->fixed_bytes * f->fixed_bytes;
	if (f->kind == SP_REC_LINE) {
		next = memrchr(data, f->eol, capacity);
		return next ? (size_t)(next + 1 - data) : 0;
	}
	while ((next = sp__rec_end(f, p, (size_t)(end - p))))
		p = next;
	return (size_t)(p - data);
}

void sp__splitter_init(struct sp__splitter *s, const struct sp_recfmt *f)
{
	*s = (struct sp__splitter){ .format = *f };
}

void sp__splitter_release(struct sp__splitter *s)
{
	sp__bytes_release(&s->carry, NULL);
}

static size_t feed_lines(char eol, const char *data, size_t bytes)
{
	const char *last = memrchr(data, eol, bytes);

	return last ? (size_t)(last - data) + 1 : 0;
}

static size_t feed_fixed(struct sp__splitter *s, size_t bytes)
{
	uint64_t total = s->phase + bytes;

	s->phase = total % s->format.fixed_bytes;
	return total < s->format.fixed_bytes ? 0 : bytes - (size_t)s->phase;
}

static size_t feed_csv(struct sp__splitter *s, const char *data, size_t bytes)
{
	const char separator = s->format.separator, *p = data, *end = data + bytes, *ended = data;
	struct sp__csvblock b = { 0 };
	unsigned state = (unsigned)s->phase;

	for (; p < end; p += SP__CSV_BLOCK) {
		if (!b.quotes && state != SP__CSV_INSIDE) {
			const char *quote = memchr(p, '"', (size_t)(end - p)), *newline;
			const char *stop = quote ? quote : end;

			newline = memrchr(p, '\n', (size_t)(stop - p));
			if (newline)
				ended = newline + 1;
			if (stop > p)
				state = sp__csv_state_after(stop - 1, separator, true);
			if (!quote)
				break;
			p = quote;
		}
		b = sp__csv_block(p, (size_t)(end - p), SP__CSV_BLOCK, separator, true, true,
				  &state);
		if (b.newlines)
			ended = p + 64 - __builtin_clzll(b.newlines);
	}
	s->phase = state;
	return (size_t)(ended - data);
}

size_t sp__splitter_feed(struct sp__splitter *s, const char *data, size_t bytes)
{
	size_t whole;

	s->before = s->phase;
	if (s->format.kind == SP_REC_LINE)
		whole = feed_lines(s->format.eol, data, bytes);
	else if (s->format.kind == SP_REC_FIXED)
		whole = feed_fixed(s, bytes);
	else
		whole = feed_csv(s, data, bytes);
	s->at = data;
	s->whole = data + whole;
	s->end = data + bytes;
	return whole;
}

/* Returns the end, in this chunk, of the record that begins in the carry. */
static const char *carried_end(const struct sp__splitter *s)
{
	const struct sp_recfmt *f = &s->format;
	uint64_t scanned = s->before;

	if (f->kind == SP_REC_FIXED)
		return s->at + (f->fixed_bytes - s->carry.bytes);
	if (f->kind == SP_REC_CSV)
		return sp__rec_end_csv(s->at, (size_t)(s->whole - s->at), f->separator, &scanned);
	return (const char *)memchr(s->at, f->eol, (size_t)(s->whole - s->at)) + 1;
}

int sp__splitter_give_carry(struct sp__splitter *s, struct sp_batch *batch)
{
	*batch = (struct sp_batch){ s->carry.data, s->carry.bytes };
	s->carry_out = true;
	return SP_READY;
}

int sp__splitter_next(struct sp__splitter *s, struct sp_batch *batch)
{
	const char *from, *to;

	if (s->carry_out)
		sp__bytes_empty(&s->carry, NULL);
	s->carry_out = false;
	from = s->at;
	if (from < s->whole && !s->carry.bytes) {
		*batch = (struct sp_batch){ from, (size_t)(s->whole - from) };
		s->at = s->whole;
		return SP_READY;
	}
	if (from == s->end)
		return SP_END;
	to = from < s->whole ? carried_end(s) : s->end;
	if (sp__bytes_append(&s->carry, from, (size_t)(to - from), NULL) < 0)
		return -ENOMEM;
	s->at = to;
	return from < s->whole ? sp__splitter_give_carry(s, batch) : SP_END;
}

SP__ENUM_TABLE(sp_recfmt, { "line", SP_REC_LINE }, { "csv", SP_REC_CSV }, { "fixed", SP_REC_FIXED })
