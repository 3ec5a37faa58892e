/* SPDX-License-Identifier: MIT */
/*
 * Finds the ends of records.
 *
 * Lines and fixed-length records need no state except offsets.
 *
 * States: a CSV record ends at a '\n' that is not inside a quoted field, so its scanner has four
 * states:
 *
 *	FIELD_START  the next byte begins a field (also the start of a record)
 *	PLAIN        inside a field, not inside quotes
 *	QUOTED       inside quotes
 *	QUOTE_SEEN   after a quote inside quotes: a second one makes it text,
 *	             anything else means that it closed the quotes
 *
 * A quote opens quotes only at FIELD_START; in PLAIN it is text, also after a closing quote ("a"b
 * is the text ab, as for other readers). '\r' has no meaning here.
 *
 * Algorithm: between two quotes the scanner cannot leave PLAIN.  So memchr() and memrchr() move
 * from quote to quote, and the byte before a quote shows if the quote is at the start of a field.
 *
 * Rejected: bit masks of quotes with a prefix XOR (the usual vector method).  It treats every quote
 * as a delimiter, which is wrong for a quote in the middle of an unquoted field.
 */
#include <inttypes.h>
#include <string.h>
#include "base/err.h"
#include "base/enum.h"
#include "rec/recfmt.h"

enum { FIELD_START, PLAIN, QUOTED, QUOTE_SEEN };

/*
 * Moves over bytes in state QUOTED or QUOTE_SEEN.  Returns the offset after the closing quote, in
 * state PLAIN, or bytes, in the state found there.
 */
static size_t skip_quoted(const char *data, size_t at, size_t bytes, unsigned *state)
{
	const char *q;

	if (at < bytes && *state == QUOTE_SEEN) {
		if (data[at] != '"') {
			*state = PLAIN;
			return at;
		}
		*state = QUOTED;
		at++;
	}
	while (at < bytes && *state == QUOTED) {
		q = memchr(data + at, '"', bytes - at);
		if (!q)
			return bytes;
		at = (size_t)(q - data) + 1;
		if (at == bytes)
			*state = QUOTE_SEEN;
		else if (data[at] != '"')
			*state = PLAIN;
		else
			at++;
	}
	return at;
}

/* True if a field starts at offset `at`, if the scanner was in `state` at from. */
static bool starts_field(const char *data, size_t from, size_t at, char separator, unsigned state)
{
	if (at == from)
		return state == FIELD_START;
	return data[at - 1] == separator || data[at - 1] == '\n';
}

const char *sp__rec_end_csv(const char *data, size_t bytes, char separator, uint64_t *scanned)
{
	size_t at = *scanned >> 2, stop;
	unsigned state = *scanned & 3;
	const char *q, *nl = NULL;

	while (at < bytes) {
		if (state >= QUOTED) {
			at = skip_quoted(data, at, bytes, &state);
			continue;
		}
		if (!nl || nl < data + at)
			nl = memchr(data + at, '\n', bytes - at);
		stop = nl ? (size_t)(nl - data) : bytes;
		q = memchr(data + at, '"', stop - at);
		if (!q) {
			if (nl)
				return nl + 1;
			state = starts_field(data, at, bytes, separator, state) ? FIELD_START
										: PLAIN;
			at = bytes;
			continue;
		}
		stop = (size_t)(q - data);
		state = starts_field(data, at, stop, separator, state) ? QUOTED : PLAIN;
		at = stop + 1;
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

/*
 * Moves from quote to quote over all bytes.  Returns the length of the records that end in them;
 * *opened: the last quote that opened quotes, if one did.
 */
static size_t walk_quotes(const char *data, size_t bytes, char separator, unsigned *state,
			  const char **opened)
{
	size_t at = 0, stop, ended = 0;
	const char *q, *nl;

	while (at < bytes) {
		if (*state >= QUOTED) {
			at = skip_quoted(data, at, bytes, state);
			continue;
		}
		q = memchr(data + at, '"', bytes - at);
		stop = q ? (size_t)(q - data) : bytes;
		nl = memrchr(data + at, '\n', stop - at);
		if (nl)
			ended = (size_t)(nl - data) + 1;
		*state = !starts_field(data, at, stop, separator, *state) ? PLAIN
			 : q						  ? QUOTED
									  : FIELD_START;
		if (*state == QUOTED)
			*opened = q;
		at = q ? stop + 1 : bytes;
	}
	return ended;
}

int sp__rec_unclosed(const struct sp_recfmt *f, const char *rec, size_t bytes, const char *name,
		     uint64_t newlines, struct sp_errinfo *err)
{
	unsigned state = FIELD_START;
	const char *q = rec;
	uint64_t line;

	(void)walk_quotes(rec, bytes, f->separator, &state, &q);
	line = newlines + 1 - sp__count_lines(q, (size_t)(rec + bytes - q));
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
	size_t at = 0, stop, odd = 0;
	const char *q;

	while (at < p->bytes) {
		if (state == QUOTED) {
			at = skip_quoted(p->data, at, p->bytes, &state);
			odd += at < p->bytes && p->data[at] != separator && p->data[at] != '\n' &&
			       p->data[at] != '\r';
			continue;
		}
		q = memchr(p->data + at, '"', p->bytes - at);
		if (!q)
			break;
		stop = (size_t)(q - p->data);
		state = starts_field(p->data, at, stop, separator, state) ? QUOTED : PLAIN;
		odd += state == PLAIN;
		at = stop + 1;
	}
	return odd;
}

static bool around_csv(char separator, const struct sp__file_piece *p, size_t at, size_t *begin,
		       size_t *end)
{
	uint64_t scanned = FIELD_START;
	bool known = p->first;
	const char *e;

	if (!known)
		scanned = odd_quotes(p, separator, QUOTED) < odd_quotes(p, separator, PLAIN)
				  ? QUOTED
				  : PLAIN;
	for (*begin = 0;; *begin = *end, known = true, scanned = FIELD_START) {
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
	unsigned state = (unsigned)s->phase;
	const char *opened;
	size_t ended = walk_quotes(data, bytes, s->format.separator, &state, &opened);

	s->phase = state;
	return ended;
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
