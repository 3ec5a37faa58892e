/* SPDX-License-Identifier: MIT */
/* Finds blank lines in batches of records and skips them (blank.h). */
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <string.h>
#include "flow/blank.h"
#include "rec/key.h"

/* Length of a blank line at the beginning of the records; 0 if the first line is not blank. */
static size_t blank_line(const char *at, const char *end)
{
	if (*at == '\n')
		return 1;
	return *at == '\r' && end - at > 1 && at[1] == '\n' ? 2 : 0;
}

/* True if a newline is followed by another newline or by a carriage return, also within quotes. */
static bool has_candidate(const char *p, const char *end)
{
#ifdef __SSE2__
	const __m128i newline = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');

	for (; end - p > 16; p += 16) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
		__m128i second = _mm_or_si128(_mm_cmpeq_epi8(b, newline), _mm_cmpeq_epi8(b, cr));

		if (_mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(a, newline), second)))
			return true;
	}
#endif
	for (; end - p > 1; p++)
		if (p[0] == '\n' && (p[1] == '\n' || p[1] == '\r'))
			return true;
	return false;
}

static void remove_lines(struct sp__blank *b)
{
	const char *end = b->rest.data + b->rest.bytes;
	size_t bytes;

	while (b->rest.bytes && (bytes = blank_line(b->rest.data, end))) {
		b->rest.data += bytes;
		b->rest.bytes -= bytes;
		b->bytes += bytes;
		b->removed++;
	}
}

void sp__blank_put(struct sp__blank *b, const struct sp_recfmt *f, const struct sp_batch *batch)
{
	const char *at = batch->data, *end = at + batch->bytes;
	size_t bytes;

	b->rest = *batch;
	if (b->decided)
		return;
	while (at < end && (bytes = blank_line(at, end)))
		at += bytes;
	if (at == end)
		return;
	b->decided = true;
	end = sp__rec_end(f, at, (size_t)(end - at)) - 1;
	b->remove = f->kind == SP_REC_CSV
			    ? sp__csv_field_end(at, end, f->separator)[0] == f->separator
			    : memchr(at, f->separator, (size_t)(end - at)) != NULL;
}

bool sp__blank_next(struct sp__blank *b, const struct sp_recfmt *f, struct sp_batch *batch)
{
	const char *at, *end;

	if (b->remove)
		remove_lines(b);
	at = b->rest.data;
	end = at + b->rest.bytes;
	if (!b->remove || !has_candidate(at, end))
		at = end;
	while (at < end && !blank_line(at, end))
		at = sp__rec_end(f, at, (size_t)(end - at));
	*batch = (struct sp_batch){ b->rest.data, (size_t)(at - b->rest.data) };
	b->rest = (struct sp_batch){ at, (size_t)(end - at) };
	return batch->bytes;
}
