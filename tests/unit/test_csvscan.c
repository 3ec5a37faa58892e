/* SPDX-License-Identifier: MIT */
/*
 * Records and fields of CSV, as each function finds them, against a walk from byte to byte, in
 * random texts of quotes, separators, ends of lines and zero bytes.  Each text has memory of its
 * own length, so that a sanitizer sees reads behind it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "columns/fieldends.h"
#include "rec/fields.h"
#include "tap.h"

#define TEXT_MAX 400

enum { START, PLAIN, INSIDE, QUOTE };

/* What the walk finds. */
struct truth {
	size_t ends[TEXT_MAX], nends;	    /* offsets of separators and newlines outside quotes */
	size_t records[TEXT_MAX], nrecords; /* offsets of the ends of records */
	size_t odd;			    /* quotes that a writer would not have written */
	size_t texts;			    /* ... those of them in fields that are not in quotes */
	size_t opened;			    /* offset of the last quote that opened quotes */
	int state;
};

static void walk(struct truth *t, const char *s, size_t n, char sep, int state)
{
	*t = (struct truth){ .state = state };
	for (size_t i = 0; i < n; i++) {
		const char c = s[i];

		if (t->state == INSIDE) {
			t->state = c == '"' ? QUOTE : INSIDE;
			continue;
		}
		if (t->state == QUOTE && c != '"')
			t->odd += c != sep && c != '\n' && c != '\r';
		if (c == sep || c == '\n') {
			t->ends[t->nends++] = i;
			t->state = START;
			if (c == '\n')
				t->records[t->nrecords++] = i + 1;
		} else if (c == '"' && t->state != PLAIN) {
			t->opened = t->state == START ? i : t->opened;
			t->state = INSIDE;
		} else {
			t->odd += c == '"';
			t->texts += c == '"';
			t->state = PLAIN;
		}
	}
}

/* Makes a text, in memory of its length. */
static char *text_of(struct sp__rng *rng, char sep, size_t *n)
{
	static const char *const bytes[] = { "\"\"\"\"\n,,ab\r", "\"\"\"\",\n", "abcdefghijkl,\n",
					     "abcdefghijklmnopqrst,\"\n", "\"\"\"a" };
	const char *from = bytes[sp__rng_below(rng, 5)];
	const size_t max = 1 + sp__rng_below(rng, TEXT_MAX);
	char *s = malloc(*n = 1 + sp__rng_below(rng, max));

	for (size_t i = 0; i < *n; i++) {
		s[i] = from[sp__rng_below(rng, strlen(from))];
		s[i] = s[i] == ',' ? sep : s[i];
		if (!sp__rng_below(rng, 200))
			s[i] = '\0';
		if (!sp__rng_below(rng, 100))
			from = bytes[sp__rng_below(rng, 5)];
	}
	return s;
}

static bool records_agree(struct sp__rng *rng, const struct sp_recfmt *f, const struct truth *t,
			  const char *s, size_t n)
{
	const char *at = s, *end;
	size_t count = 0;
	uint64_t scanned;

	for (;; at = end, count++) {
		size_t seen = 0;

		end = sp__rec_end(f, at, (size_t)(s + n - at));
		if (end != (count < t->nrecords ? s + t->records[count] : NULL))
			return false;
		if (!end)
			return true;
		/* The same in growing parts. */
		scanned = 0;
		do {
			seen += 1 + sp__rng_below(rng, (size_t)(s + n - at) - seen);
		} while (!sp__rec_end_csv(at, seen, f->separator, &scanned) &&
			 seen < (size_t)(s + n - at));
		scanned = 0;
		if (sp__rec_end_csv(at, (size_t)(end - at) - 1, f->separator, &scanned) ||
		    sp__rec_end_csv(at, (size_t)(end - at), f->separator, &scanned) != end)
			return false;
	}
}

/* Feeds a splitter with parts of the text. */
static bool parts_agree(struct sp__rng *rng, const struct sp_recfmt *f, const struct truth *t,
			const char *s, size_t n)
{
	struct sp__splitter split;
	size_t taken = 0, record = 0;
	struct sp_batch batch;
	bool good = true;

	sp__splitter_init(&split, f);
	for (size_t from = 0, len; from < n && good; from += len) {
		char *part = malloc(len = 1 + sp__rng_below(rng, n - from));
		size_t want = 0;

		memcpy(part, s + from, len);
		for (size_t i = 0; i < t->nrecords; i++)
			if (t->records[i] > from && t->records[i] <= from + len)
				want = t->records[i] - from;
		good = sp__splitter_feed(&split, part, len) == want;
		while (good && sp__splitter_next(&split, &batch) == SP_READY) {
			good = !memcmp(batch.data, s + taken, batch.bytes);
			taken += batch.bytes;
			while (record < t->nrecords && t->records[record] < taken)
				record++;
			good &= record < t->nrecords && t->records[record] == taken;
		}
		free(part);
	}
	good &= taken == (t->nrecords ? t->records[t->nrecords - 1] : 0);
	sp__splitter_release(&split);
	return good;
}

/* Removes quotes byte by byte. */
static size_t unquote(const char *s, size_t n, char *to)
{
	bool inside = n && *s == '"';
	size_t bytes = 0;

	for (size_t i = inside; i < n; i++) {
		if (inside && s[i] == '"' && (i + 1 == n || s[i + 1] != '"')) {
			inside = false;
			continue;
		}
		i += inside && s[i] == '"';
		to[bytes++] = s[i];
	}
	return bytes;
}

static bool unquoted_agrees(const char *p, size_t n)
{
	char want[TEXT_MAX], *own = malloc(n + !n), *to = malloc(n + !n);
	size_t bytes = unquote(p, n, want);
	bool good;

	memcpy(own, p, n);
	good = (size_t)((char *)sp__csv_unquote(own, own + n, (unsigned char *)to) - to) == bytes &&
	       !memcmp(to, want, bytes);
	good &= (size_t)((char *)sp__csv_unquote(own, own + n, (unsigned char *)own) - own) ==
			bytes &&
		!memcmp(own, want, bytes);
	free(own);
	free(to);
	return good;
}

/* Compares the fields of a record, which has memory of its own. */
static bool fields_agree(const struct sp__cut *cut, const struct truth *t, const char *s, size_t n,
			 struct sp__fields *fields)
{
	const size_t end = n - (cut->kind == SP__CUT_CSV && n && s[n - 1] == '\r');
	const char sep = cut->sep[0];
	struct sp__slice field;
	size_t begin = 0, count = 0;
	bool good = !sp__fields_split(cut, s, n, fields);

	for (size_t i = 0; end && i <= t->nends; i++, count++) {
		size_t stop = i < t->nends ? t->ends[i] : end;

		good &= fields->n > count && fields->at[count].p == s + begin &&
			fields->at[count].n == stop - begin;
		good &= sp__field_find(cut, s, n, i, &field) && field.p == s + begin &&
			field.n == stop - begin;
		if (cut->kind == SP__CUT_CSV) {
			good &= sp__csv_field(s, s + end, sep, i) == s + begin;
			good &= sp__csv_field_end(s + begin, s + end, sep) == s + stop;
			good &= unquoted_agrees(s + begin, stop - begin);
		}
		begin = stop + 1;
	}
	good &= fields->n == count && !sp__field_find(cut, s, n, count, &field) && !field.n &&
		field.p == sp__no_field;
	return good &&
	       (!count || !sp__csv_field(s, s + end, sep, count) || cut->kind != SP__CUT_CSV);
}

static bool cuts_agree(const char *s, size_t n, char sep, bool csv, struct sp__fields *fields)
{
	static struct truth t;
	static struct sp__cut cut;
	char *own = malloc(n + !n);
	bool good;

	sp__cut_init(&cut, &sep, 1, csv);
	memcpy(own, s, n);
	if (csv) {
		walk(&t, own, n - (n && own[n - 1] == '\r'), sep, START);
	} else {
		t.nends = 0;
		for (size_t i = 0; i < n; i++)
			if (own[i] == sep)
				t.ends[t.nends++] = i;
	}
	good = fields_agree(&cut, &t, own, n, fields);
	free(own);
	return good;
}

/* Compares ends of fields with those of all records up to one with another number of fields. */
static bool ends_agree(struct sp__rng *rng, const struct truth *t, const char *s, char sep)
{
	const size_t bytes = t->nrecords ? t->records[t->nrecords - 1] : 0;
	const uint32_t fields = 1 + (uint32_t)sp__rng_below(rng, 4);
	struct sp__fieldends f = { .max_ends = fields * (1 + (uint32_t)sp__rng_below(rng, 100)) };
	const struct sp__fieldends_opts o = { sep, true, fields };
	uint32_t records = 0, n = 0, wrong = 0;
	char *own = malloc(bytes + !bytes);
	bool good = true;

	for (size_t i = 0; i < t->nends && t->ends[i] < bytes; i++) {
		n++;
		if (t->records[records] != t->ends[i] + 1)
			continue;
		wrong = n == fields ? 0 : n;
		if (wrong || (records + 1) * fields == f.max_ends) {
			records += !wrong;
			break;
		}
		records++;
		n = 0;
	}
	memcpy(own, s, bytes);
	f.ends = malloc((f.max_ends + 1 + SP__FIELDENDS_SLACK) * sizeof(*f.ends));
	if (bytes) {
		sp__fieldends_find(&f, &o, own, 0, (uint32_t)bytes);
		good = f.records == records &&
		       (wrong > fields ? f.wrong > fields : f.wrong == wrong);
		for (uint32_t i = 0; i < records * fields; i++)
			good &= f.ends[i + 1] == t->ends[i];
		good &= f.ends[0] == UINT32_MAX;
		if (records == t->nrecords) {
			static struct truth whole;

			walk(&whole, s, bytes, sep, START);
			good &= f.quotes == (whole.texts > 0);
		}
	}
	free(f.ends);
	free(own);
	return good;
}

/* Finds the record at a byte of a text that may begin inside quotes. */
static bool around_agrees(struct sp__rng *rng, const struct sp_recfmt *f, const char *s, size_t n)
{
	static struct truth plain, inside, t;
	const struct sp__file_piece p = { s, n, !sp__rng_below(rng, 2), !sp__rng_below(rng, 2) };
	size_t at = sp__rng_below(rng, n), begin, end, from = 0, record = 0;
	int state = START;
	bool found;

	walk(&plain, s, n, f->separator, PLAIN);
	walk(&inside, s, n, f->separator, INSIDE);
	if (!p.first)
		state = inside.odd < plain.odd ? INSIDE : PLAIN;
	walk(&t, s, n, f->separator, state);
	for (; record < t.nrecords && t.records[record] <= at; record++)
		from = t.records[record];
	found = (p.first || record) && (record < t.nrecords || p.last);
	if (sp__rec_around(f, &p, at, &begin, &end) != found)
		return false;
	return !found || (begin == from && end == (record < t.nrecords ? t.records[record] : n));
}

/* Compares the line of quotes that are not closed. */
static bool unclosed_agrees(const struct sp_recfmt *f, const struct truth *t, const char *s,
			    size_t n)
{
	const size_t from = t->nrecords ? t->records[t->nrecords - 1] : 0;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	char want[40];

	if (t->state != INSIDE)
		return true;
	snprintf(want, sizeof(want), "line %" PRIu64 ": ", 1 + sp__count_lines(s, t->opened));
	return sp__rec_unclosed(f, s + from, n - from, "x", sp__count_lines(s, n), &err) < 0 &&
	       !strncmp(err.text, want, strlen(want));
}

int main(void)
{
	bool records = true, parts = true, fields = true, lines = true, ends = true, around = true,
	     unclosed = true;
	struct sp__fields list = { 0 };
	struct sp__rng rng = { 7 };
	static struct truth t;

	for (int i = 0; i < 40000; i++) {
		const char sep = ",;\t \0"[i % 5];
		const struct sp_recfmt f = { .kind = SP_REC_CSV, .separator = sep };
		size_t n, from = 0;
		char *s = text_of(&rng, sep, &n);

		walk(&t, s, n, sep, START);
		records &= records_agree(&rng, &f, &t, s, n);
		parts &= parts_agree(&rng, &f, &t, s, n);
		ends &= ends_agree(&rng, &t, s, sep);
		unclosed &= unclosed_agrees(&f, &t, s, n);
		around &= around_agrees(&rng, &f, s, n);
		for (size_t r = 0; r < t.nrecords; from = t.records[r++])
			fields &= cuts_agree(s + from, t.records[r] - 1 - from, sep, true, &list);
		lines &= cuts_agree(s, n, sep, false, &list);
		free(s);
	}
	ok(records, "records end where a walk from byte to byte ends them");
	ok(parts, "also if the text comes in parts");
	ok(fields, "fields are found, and unquoted, as by a walk from byte to byte");
	ok(lines, "fields of lines are found so, too");
	ok(ends, "the ends of the fields of many records are those of a walk");
	ok(around, "the record at a byte is that of a walk from the more likely state");
	ok(unclosed, "the line of quotes that are not closed is that of a walk");
	free(list.at);
	return done();
}
