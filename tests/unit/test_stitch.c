/* SPDX-License-Identifier: MIT */
/*
 * Chunks in all orders, and in random ones: each record comes once and whole, at the earliest when
 * the last of its bytes is there, and then immediately.
 */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "flow/stitch.h"
#include "tap.h"

#define TEXT_MAX 4096
#define CHUNKS_MAX 512

static char text[TEXT_MAX];
static size_t text_bytes, chunk_bytes;
static bool have[TEXT_MAX]; /* the byte has been put */
static bool seen[TEXT_MAX]; /* the record that begins there has come */
static size_t come;	    /* bytes of the records that have */

/* One batch of whole records, all of whose bytes have been put. */
static bool take(const struct sp_recfmt *f, const struct sp_batch *b)
{
	const char *at = b->data, *end = at + b->bytes, *next;

	for (; at < end; at = next) {
		size_t bytes;
		char *found = NULL;

		next = sp__rec_end(f, at, (size_t)(end - at));
		if (!next)
			return false;
		bytes = (size_t)(next - at);
		/* Records are all different. */
		for (size_t from = 0; from + bytes <= text_bytes && !found; from++)
			if (!memcmp(text + from, at, bytes) && have[from] && !seen[from] &&
			    (f->kind == SP_REC_FIXED ? from % f->fixed_bytes == 0
						     : !from || text[from - 1] == f->eol))
				found = text + from;
		if (!found)
			return false;
		for (size_t i = 0; i < bytes; i++)
			if (!have[(size_t)(found - text) + i])
				return false;
		seen[found - text] = true;
		come += bytes;
	}
	return b->bytes > 0;
}

/* The bytes of all records that have been put; that a line begins is seen in what precedes it. */
static size_t due(const struct sp_recfmt *f)
{
	size_t sum = 0;
	const char *at = text, *next;

	for (; (next = sp__rec_end(f, at, text_bytes - (size_t)(at - text))); at = next) {
		bool all = at == text || f->kind == SP_REC_FIXED || have[at - text - 1];

		for (const char *p = at; p < next; p++)
			all &= have[p - text];
		sum += all ? (size_t)(next - at) : 0;
		if (next == text + text_bytes)
			break;
	}
	return sum;
}

/* Gives the chunks in this order; what is left at the end must be `rest`. */
static bool gives(const struct sp_recfmt *f, const unsigned *order, unsigned chunks,
		  unsigned window, const char *rest)
{
	struct sp__stitch *s;
	struct sp_batch b;
	struct sp__bytes left;
	bool good = true;

	if (sp__stitch_open(&s, f, chunk_bytes, window))
		abort();
	memset(have, 0, sizeof(have));
	memset(seen, 0, sizeof(seen));
	come = 0;
	for (unsigned i = 0; i < chunks && good; i++) {
		size_t at = order[i] * chunk_bytes;
		size_t bytes = text_bytes - at < chunk_bytes ? text_bytes - at : chunk_bytes;
		char *pinned = malloc(bytes); /* so that a late look at it is seen */
		struct sp__file_chunk c = { order[i], pinned, bytes };

		memcpy(pinned, text + at, bytes);
		memset(have + at, 1, bytes);
		if (sp__stitch_put(s, &c))
			abort();
		while (good && sp__stitch_next(s, &b) == SP_READY)
			good = take(f, &b);
		memset(pinned, '#', bytes);
		free(pinned);
		good &= come == due(f);
	}
	if (good) {
		good = sp__stitch_kept_bytes(s) == strlen(rest);
		sp__stitch_rest(s, chunks, &left);
		good &= left.bytes == strlen(rest) &&
			(!left.bytes || !memcmp(left.data, rest, left.bytes)) &&
			sp__stitch_kept_bytes(s) == 0;
		sp__bytes_release(&left, NULL);
	}
	sp__stitch_close(s);
	return good;
}

static bool next_order(unsigned *order, unsigned n)
{
	unsigned i = n - 1, k = n - 1, t;

	while (i && order[i - 1] > order[i])
		i--;
	if (!i)
		return false;
	while (order[k] < order[i - 1])
		k--;
	t = order[k];
	order[k] = order[i - 1];
	order[i - 1] = t;
	for (k = n - 1; i < k; i++, k--) {
		t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
	return true;
}

static void all_orders(const struct sp_recfmt *f, const char *what, const char *rest, size_t bytes)
{
	unsigned chunks, order[CHUNKS_MAX];
	long n = 0, wrong = 0;

	chunk_bytes = bytes;
	text_bytes = strlen(text);
	chunks = (unsigned)((text_bytes + bytes - 1) / bytes);
	for (unsigned i = 0; i < chunks; i++)
		order[i] = i;
	do {
		wrong += !gives(f, order, chunks, chunks, rest);
		n++;
	} while (next_order(order, chunks));
	ok(!wrong && n >= 24, "%s: all %ld orders of chunks of %zu bytes", what, n, bytes);
}

static const struct sp_recfmt lines = { .kind = SP_REC_LINE, .eol = '\n' };

/* Records of random lengths: lines with a number, so that they differ. */
static void random_text(struct sp__rng *rng, const struct sp_recfmt *f)
{
	text_bytes = 0;
	for (unsigned i = 0; text_bytes < TEXT_MAX - 400; i++) {
		unsigned pad = (unsigned)sp__rng_below(rng, sp__rng_below(rng, 8) ? 9 : 200);

		if (f->kind == SP_REC_FIXED)
			pad = (unsigned)f->fixed_bytes - 5;
		text_bytes += (size_t)sprintf(text + text_bytes, "%04u%*s\n", i, (int)pad, "");
	}
}

/* A random order in which no chunk comes a window before another. */
static void random_orders(const struct sp_recfmt *f, const char *what)
{
	struct sp__rng rng = { 11 };
	unsigned order[CHUNKS_MAX], window, lowest;
	long wrong = 0;

	for (int round = 0; round < 300; round++) {
		bool given[CHUNKS_MAX] = { 0 };
		unsigned chunks;

		random_text(&rng, f);
		chunk_bytes = 8 + sp__rng_below(&rng, 100);
		chunks = (unsigned)((text_bytes + chunk_bytes - 1) / chunk_bytes);
		window = 1 + (unsigned)sp__rng_below(&rng, 2 * chunks);
		lowest = 0;
		for (unsigned i = 0; i < chunks; i++) {
			unsigned at;

			do {
				at = lowest + (unsigned)sp__rng_below(&rng, window);
			} while (at >= chunks || given[at]);
			order[i] = at;
			given[at] = true;
			while (lowest < chunks && given[lowest])
				lowest++;
		}
		wrong += !gives(f, order, chunks, window, "");
	}
	ok(!wrong, "%s: 300 random orders within a window", what);
}

int main(void)
{
	static const struct sp_recfmt three = { .kind = SP_REC_FIXED, .fixed_bytes = 3 };
	static const struct sp_recfmt seven = { .kind = SP_REC_FIXED, .fixed_bytes = 7 };
	static const struct sp_recfmt forty = { .kind = SP_REC_FIXED, .fixed_bytes = 40 };

	strcpy(text, "a\nbb\nccccccccc\n\nd\nee\n");
	all_orders(&lines, "lines", "", 3);
	all_orders(&lines, "lines", "", 4);
	strcpy(text, "abcdefghijklmnopqrs\n");
	all_orders(&lines, "one line", "", 3);
	strcpy(text, "\n\n\nx\ny\nzzzz\n12345");
	all_orders(&lines, "a last line without terminator", "12345", 3);
	strcpy(text, "no terminator at all");
	all_orders(&lines, "no terminator", "no terminator at all", 4);
	strcpy(text, "aaabbbcccdddeeefff");
	all_orders(&three, "fixed records", "", 3);
	all_orders(&three, "fixed records", "", 4);
	strcpy(text, "aaaaaaabbbbbbbcccccccdd");
	all_orders(&seven, "fixed records and a part of one", "dd", 3);
	all_orders(&seven, "fixed records and a part of one", "dd", 4);
	random_orders(&lines, "lines");
	random_orders(&forty, "fixed records");
	return done();
}
