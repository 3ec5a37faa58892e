/* SPDX-License-Identifier: MIT */
/*
 * CSV records: three ways of finding their ends agree, and no key reaches
 * outside its record.  The first three bytes of the input choose the key and
 * the length of the chunks.
 */
#include <stdlib.h>
#include <string.h>
#include "rec/keyset.h"
#include "rec/recfmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

/* One record in memory of its own, so that a sanitizer sees its ends. */
static void one_key(const struct sp_key *k, const char *rec, size_t bytes, struct sp__keybuf *text)
{
	char *copy = malloc(bytes + !bytes);

	require(copy != NULL);
	memcpy(copy, rec, bytes);
	require(sp__csv_key(k, ',', copy, bytes, text) == 0);
	require(text->bytes <= bytes);
	free(copy);
}

/* Whole records in [s, s + n); the last may lack its end. Returns their bytes. */
static size_t walk(const struct sp_key *k, const char *s, size_t n)
{
	static const struct sp_recfmt csv = { .kind = SP_REC_CSV, .separator = ',' };
	struct sp__keybuf text = { 0 };
	const char *at = s, *end;

	while ((end = sp__rec_end(&csv, at, n - (size_t)(at - s)))) {
		require(end > at && end[-1] == '\n');
		one_key(k, at, (size_t)(end - at) - 1, &text);
		at = end;
	}
	one_key(k, at, n - (size_t)(at - s), &text);
	free(text.data);
	return (size_t)(at - s);
}

/* The end of the last whole record by chunks. */
static size_t feed(const char *s, size_t n, size_t chunk)
{
	static const struct sp_recfmt csv = { .kind = SP_REC_CSV, .separator = ',' };
	struct sp__splitter split;
	size_t last = 0, len, got;

	sp__splitter_init(&split, &csv);
	for (size_t at = 0; at < n; at += len) {
		len = n - at < chunk ? n - at : chunk;
		got = sp__splitter_feed(&split, s + at, len);
		require(got <= len);
		if (got)
			last = at + got;
	}
	return last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const char *s = (const char *)data + 3;
	struct sp_key k;
	size_t last;

	if (bytes < 3)
		return 0;
	k = (struct sp_key){ .sword = data[0] & 3,
			     .schar = data[0] >> 2 & 3,
			     .eword = data[1] & 4 ? SP_KEY_NOEND : data[1] & 3,
			     .echar = data[1] >> 3 & 3,
			     .skip_start_blanks = data[0] >> 7,
			     .skip_end_blanks = data[1] >> 7 };
	last = walk(&k, s, bytes - 3);
	require(feed(s, bytes - 3, bytes) == last);
	require(feed(s, bytes - 3, 1 + data[2] % 32u) == last);
	return 0;
}
