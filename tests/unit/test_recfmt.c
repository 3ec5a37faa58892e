/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include "base/rng.h"
#include "rec/recfmt.h"
#include "tap.h"

static const struct sp_recfmt csv = { .kind = SP_REC_CSV, .separator = ',' };

/* The slow truth: one byte after the other. Returns the end of a record or 0. */
static size_t slow_csv_end(const char *s, size_t n)
{
	bool start = true, quoted = false;

	for (size_t i = 0; i < n; i++) {
		if (quoted) {
			if (s[i] == '"' && i + 1 < n && s[i + 1] == '"')
				i++;
			else if (s[i] == '"')
				quoted = false;
			start = false;
		} else if (s[i] == '"' && start) {
			quoted = true;
		} else if (s[i] == '\n') {
			return i + 1;
		} else {
			start = s[i] == ',';
		}
	}
	return 0;
}

static void csv_end(const char *text, size_t want)
{
	const char *end = sp__rec_end(&csv, text, strlen(text));
	size_t got = end ? (size_t)(end - text) : 0;

	ok(got == want, "the first record of a CSV text of %zu bytes has %zu, not %zu",
	   strlen(text), want, got);
}

static void random_text(struct sp__rng *rng, char *s, size_t n)
{
	static const char bytes[] = "\"\"\"\"\n\n,,ab\r";

	for (size_t i = 0; i < n; i++)
		s[i] = bytes[sp__rng_below(rng, sizeof(bytes) - 1)];
}

/* Are the batches of a chunk the next whole records, up to want? */
static bool batches_agree(struct sp__splitter *split, const char *s, size_t *taken, size_t want,
			  const size_t *ends)
{
	struct sp_batch batch;
	int rc;

	while ((rc = sp__splitter_next(split, &batch)) == SP_READY) {
		if (batch.bytes > want - *taken || memcmp(batch.data, s + *taken, batch.bytes))
			return false;
		*taken += batch.bytes;
		while (*ends < *taken)
			ends++;
		if (*ends != *taken)
			return false;
	}
	return rc == SP_END && *taken == want;
}

/* Splitting in chunks must find the records that the slow way finds in the whole text. */
static bool chunks_agree(struct sp__rng *rng, const struct sp_recfmt *f, const char *s, size_t n)
{
	size_t ends[256], count = 0, at = 0, next, taken = 0, whole = 0;
	struct sp__splitter split;
	char chunk[40];
	bool good = true;

	for (;;) {
		if (f->kind == SP_REC_CSV)
			next = slow_csv_end(s + at, n - at);
		else
			next = at + f->fixed_bytes <= n ? f->fixed_bytes : 0;
		if (!next)
			break;
		at += next;
		ends[count++] = at;
	}
	sp__splitter_init(&split, f);
	for (size_t from = 0; from < n && good;) {
		size_t len = 1 + sp__rng_below(rng, n - from < 40 ? n - from : 40), want = 0;

		for (size_t i = 0; i < count; i++)
			if (ends[i] > from && ends[i] <= from + len)
				want = ends[i] - from;
		memcpy(chunk, s + from, len);
		whole = want ? from + want : whole;
		good = sp__splitter_feed(&split, chunk, len) == want &&
		       batches_agree(&split, s, &taken, whole, ends);
		from += len;
	}
	sp__splitter_release(&split);
	return good;
}

/* A record seen in growing parts must end where the whole one ends. */
static bool growing_agrees(struct sp__rng *rng, const char *s, size_t n)
{
	size_t want = slow_csv_end(s, n);
	const char *end = NULL;
	uint64_t scanned = 0;

	for (size_t len = 0; !end && len < n;) {
		len += 1 + sp__rng_below(rng, n - len);
		end = sp__rec_end_csv(s, len, ',', &scanned);
	}
	return want ? end == s + want : !end;
}

static void random_csv(void)
{
	struct sp__rng rng = { 1 };
	bool chunks = true, growing = true;
	char s[256];

	for (int i = 0; i < 50000; i++) {
		size_t n = 1 + sp__rng_below(&rng, sizeof(s));

		random_text(&rng, s, n);
		chunks &= chunks_agree(&rng, &csv, s, n);
		growing &= growing_agrees(&rng, s, n);
	}
	ok(chunks, "CSV split in chunks of any length ends records where the whole text does");
	ok(growing, "a CSV record seen in growing parts ends where the whole one does");
}

static void fixed(void)
{
	struct sp_recfmt f = { .kind = SP_REC_FIXED };
	struct sp__rng rng = { 2 };
	char s[200] = { 0 };
	bool good = true;

	for (f.fixed_bytes = 1; f.fixed_bytes < 150; f.fixed_bytes++)
		for (int i = 0; i < 20; i++)
			good &= chunks_agree(&rng, &f, s, sizeof(s));
	ok(good, "fixed records longer and shorter than a chunk are split by arithmetic");
}

static void lines(void)
{
	struct sp_recfmt f = { .kind = SP_REC_LINE, .eol = '\0' };
	struct sp__splitter split;

	sp__splitter_init(&split, &f);
	ok(sp__splitter_feed(&split, "a\nb\0c\0de", 8) == 6, "lines may end with NUL");
	ok(sp__splitter_feed(&split, "\n\n\n", 3) == 0, "a chunk may hold no end at all");
	f.eol = '\n';
	sp__splitter_init(&split, &f);
	ok(sp__splitter_feed(&split, "\"a\nb\0c\nd", 8) == 7, "quotes mean nothing in lines");
}

/* The record at a byte of parts of a text, of a minimum length, against the records there. */
static void around(const struct sp_recfmt *f, const char *s, size_t n, size_t min, const char *name)
{
	struct sp__rng rng = { 3 };
	bool good = true, all = true, cut = true;
	size_t begin, end;

	for (int i = 0; i < 3000; i++) {
		size_t from = sp__rng_below(&rng, n / 2),
		       to = from + min + sp__rng_below(&rng, n - from - min);
		struct sp__file_piece p = { s + from, to - from, from == 0, to == n };
		size_t at = sp__rng_below(&rng, p.bytes), left = 0, right = 0;

		for (; right <= from + at;
		     right = (size_t)(sp__rec_end(f, s + right, n - right) - s))
			left = right;
		if (sp__rec_around(f, &p, at, &begin, &end))
			good &= from + begin == left && from + end == right;
		else
			cut &= left <= from || right > to;
		p = (struct sp__file_piece){ s, n, true, true };
		all &= sp__rec_around(f, &p, from + at, &begin, &end) && begin == left &&
		       end == right;
	}
	ok(good, "%s: a record found in a part of a file is the one at that byte", name);
	ok(cut, "%s: one that is not found is cut by the end of the part", name);
	ok(all, "%s: in the whole file each is found", name);
}

static void around_a_byte(void)
{
	struct sp_recfmt line = { .kind = SP_REC_LINE, .eol = '\n' };
	static const char format[] = "%u,\"text,\n\"\"%.*s\"\"\n\",\"%u\"\n";
	static char s[40000];
	struct sp__file_piece p = { "a\nbc", 4, true, true };
	size_t n = 0, begin, end;

	for (unsigned i = 0; n < sizeof(s) - 100; i++)
		n += (size_t)sprintf(s + n, format, i, (int)(i % 20), "xxxxxxxxxxxxxxxxxxxx", i);
	around(&line, s, n, 1, "lines");
	around(&csv, s, n, 300, "CSV with quotes in each record");
	ok(sp__rec_around(&line, &p, 3, &begin, &end) && begin == 2 && end == 4,
	   "the end of the file ends a record");
	p.last = false;
	ok(!sp__rec_around(&line, &p, 3, &begin, &end), "the end of a part does not");
}

int main(void)
{
	csv_end("a,b\nc\n", 4);
	csv_end("a,\"b\nb\"\nc\n", 8);
	csv_end("\"\"\"\n\"\n\n", 6);
	csv_end("5\" disk,\"x\n\"\n", 13);
	csv_end("a,\"b\"\"\"\nc", 8);
	csv_end("\"a\"b\"\nc\"\n", 6);
	csv_end("\"open\n", 0);
	csv_end("\"a\"\r\nb\n", 5);
	csv_end("\n", 1);
	random_csv();
	fixed();
	lines();
	around_a_byte();
	return done();
}
