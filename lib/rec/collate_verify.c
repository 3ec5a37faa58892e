/* SPDX-License-Identifier: MIT */
/*
 * Verifies a table of characters against the C library.
 *
 * Algorithm: the first step checks that characters keep their weights next to others.  Sequences
 * contain every pair of ASCII characters and of a small letter with another character, a selection
 * of other pairs (the tests try all), and every three of the small letters, apostrophe and hyphen
 * (the longer contractions of glibc's locales are like c'h).  Each level of their strxfrm() must be
 * the weights of the single characters in a row.  A pair that differs becomes forbidden, with all
 * pairs that are equal to it except for accents and capitals; texts with it are not encoded.  This
 * excludes ch, dzs, aa and similar ones.  Too many such pairs mean another cause (a level that is
 * compared backwards).
 *
 * The second step checks that encodings have the order of strcoll().  Several thousand random
 * strings, similar enough to differ on every level, are sorted by their encodings.  strcoll() must
 * find each lower than the next, and no two equal.
 *
 * All pairs fit into one sequence in which each occurs once (de Bruijn).  The greedy rule makes it:
 * from each character, continue with the highest successor that has not followed it yet.
 */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "rec/collate_table.h"

#define SEGMENT 256 /* characters in one call of strxfrm() */
#define PAIRS_MAX 48
#define SAMPLED_PAIRS 4
#define SMALL_CHARS 28
#define SMALL "abcdefghijklmnopqrstuvwxyz'-"
#define SAMPLES 1200
#define SAMPLE_CHARS 14

struct checker {
	struct sp__collate_build *b;
	unsigned found; /* pairs that had to be forbidden */
	unsigned segment[SEGMENT], used;
	char text[4 * SEGMENT + 1];
	unsigned char want[sizeof(((struct sp__collate_char *)0)->raw) * SEGMENT];
	char got[2 * sizeof(((struct sp__collate_char *)0)->raw) * SEGMENT];
};

/* Spells n characters as a string.  Returns its length. */
static size_t spell(const struct sp__collate_build *b, const unsigned *ids, size_t n, char *text)
{
	char *end = text;

	for (size_t i = 0; i < n; i++) {
		const struct sp__collate_char *ch = &b->ch[ids[i]];

		for (unsigned j = 0; j < ch->text_bytes; j++)
			*end++ = (char)ch->text[j];
	}
	*end = '\0';
	return (size_t)(end - text);
}

/* True if the first three levels of a string are the levels of its characters. */
static bool composed(struct checker *k, const unsigned *ids, size_t n)
{
	size_t end = 0, got, full = 0;

	spell(k->b, ids, n, k->text);
	got = strxfrm(k->got, k->text, sizeof(k->got));
	if (got >= sizeof(k->got))
		return false;
	for (int l = 0; l < 3; l++) {
		if (l)
			k->want[end++] = 1;
		for (size_t i = 0; i < n; i++) {
			const struct sp__collate_char *ch = &k->b->ch[ids[i]];

			for (unsigned j = 0; j < ch->bytes[l]; j++)
				k->want[end++] = ch->raw[ch->at[l] + j];
			if (ch->bytes[l])
				full = end;
		}
	}
	return got >= full && !memcmp(k->got, k->want, full) && (got == full || k->got[full] == 1);
}

static bool equal_but_for_case(const struct sp__collate_sym *x, const struct sp__collate_sym *y)
{
	return x->letter == y->letter && (x->letter ? x->rank == y->rank : x->mark == y->mark);
}

static void forbid(struct checker *k, unsigned x, unsigned y)
{
	struct sp__collate_table *t = k->b->table;

	k->found++;
	for (unsigned i = 1; i <= t->nsyms; i++) {
		if (!equal_but_for_case(&t->sym[i], &t->sym[x]))
			continue;
		for (unsigned j = 1; j <= t->nsyms; j++)
			if (equal_but_for_case(&t->sym[j], &t->sym[y]))
				sp__bits_add(t->pair[i], j);
		t->sym[i].paired = true;
	}
}

/*
 * Forbids a pair of a sequence that is wrong although each of its pairs is right: finds the
 * shortest wrong part, and forbids its first pair.
 */
static void forbid_longer(struct checker *k, const unsigned *ids, size_t n)
{
	size_t good = 1, bad = n, from = 0, step;

	while (bad - good > 1) {
		size_t end = (good + bad) / 2;

		*(composed(k, ids, end) ? &good : &bad) = end;
	}
	for (step = bad; step; step /= 2)
		while (from + step + 2 < bad && !composed(k, ids + from + step, bad - from - step))
			from += step;
	forbid(k, ids[from], ids[from + 1]);
}

/* Forbids all wrong pairs of a sequence.  False: there are too many in all sequences. */
static bool check(struct checker *k, const unsigned *ids, size_t n)
{
	const struct sp__collate_table *t = k->b->table;
	unsigned found = k->found;

	for (size_t i = 1; i < n; i++)
		if (sp__collate_paired(t, ids[i - 1], ids[i]))
			return check(k, ids, i) && check(k, ids + i, n - i);
	if (n < 2 || composed(k, ids, n))
		return true;
	for (size_t i = 1; i < n && k->found < PAIRS_MAX; i++)
		if (!sp__collate_paired(t, ids[i - 1], ids[i]) && !composed(k, ids + i - 1, 2))
			forbid(k, ids[i - 1], ids[i]);
	if (k->found == found)
		forbid_longer(k, ids, n);
	return k->found < PAIRS_MAX && check(k, ids, n);
}

static bool flush(struct checker *k)
{
	size_t n = k->used;

	k->used = 0;
	return check(k, k->segment, n);
}

/* Adds the next character of a sequence whose runs of `order` characters count. */
static bool feed(struct checker *k, unsigned id, unsigned order)
{
	unsigned keep = order - 1;

	if (k->used && sp__collate_paired(k->b->table, k->segment[k->used - 1], id) && !flush(k))
		return false;
	if (k->used == SEGMENT) {
		unsigned tail[2];

		memcpy(tail, k->segment + SEGMENT - keep, keep * sizeof(*tail));
		if (!flush(k))
			return false;
		memcpy(k->segment, tail, keep * sizeof(*tail));
		k->used = keep;
	}
	k->segment[k->used++] = id;
	return true;
}

/* Feeds every pair, or every three in a row (order 3), of n characters. */
static bool all_runs(struct checker *k, const unsigned *ids, unsigned n, unsigned order)
{
	unsigned states = order == 2 ? n : n * n, state = 0;
	uint16_t *left = malloc(states * sizeof(*left));
	bool good = n > 0 && left;

	for (unsigned i = 0; left && i < states; i++)
		left[i] = (uint16_t)n;
	for (unsigned i = 1; good && i < order; i++)
		good = feed(k, ids[0], order);
	while (good && left[state]) {
		unsigned next = --left[state];

		good = feed(k, ids[next], order);
		state = order == 2 ? next : state % n * n + next;
	}
	free(left);
	return good && flush(k);
}

/* Feeds every character that is not ASCII next to every letter, and to a selection of others. */
static bool mixed_pairs(struct checker *k, const unsigned *ids, unsigned n, const unsigned *few,
			unsigned nfew)
{
	struct sp__rng rng = { 0x9a125 };

	for (unsigned i = 0; i < n; i++) {
		for (unsigned j = 0; j < nfew; j++)
			if (!feed(k, ids[i], 2) || !feed(k, few[j], 2))
				return false;
		for (unsigned j = 0; j < SAMPLED_PAIRS; j++)
			if (!feed(k, ids[i], 2) || !feed(k, ids[sp__rng_below(&rng, n)], 2))
				return false;
	}
	return flush(k);
}

static unsigned known(const struct sp__collate_table *t, const char *chars, unsigned *ids)
{
	unsigned n = 0;

	for (; *chars; chars++)
		if (t->byte[(unsigned char)*chars])
			ids[n++] = t->byte[(unsigned char)*chars];
	return n;
}

bool sp__collate_find_pairs(struct sp__collate_build *b)
{
	struct checker *k = malloc(sizeof(*k));
	unsigned ascii[128], others[SP__COLLATE_SYMS], few[SMALL_CHARS], n = 0, nothers = 0, nfew;
	bool good;

	if (!k)
		return false;
	k->b = b;
	k->found = k->used = 0;
	for (unsigned id = 1; id <= b->table->nsyms; id++) {
		if (b->ch[id].text[0] < 0x80)
			ascii[n++] = id;
		else
			others[nothers++] = id;
	}
	nfew = known(b->table, SMALL, few);
	good = all_runs(k, ascii, n, 2) && mixed_pairs(k, others, nothers, few, nfew);
	good = good && all_runs(k, few, nfew, 3);
	free(k);
	return good;
}

struct sample {
	char text[3 * SAMPLE_CHARS + 1];
	struct sp__keybuf key;
};

static int by_key(const void *pa, const void *pb)
{
	const struct sp__keybuf *a = &((const struct sample *)pa)->key;
	const struct sp__keybuf *b = &((const struct sample *)pb)->key;

	return sp__order_bytes(a->data, a->bytes, b->data, b->bytes);
}

/* Returns a character similar to a given one: of its own letter, or a mark, or any. */
static unsigned vary(const struct sp__collate_table *t, struct sp__rng *rng, unsigned id)
{
	unsigned other = 1 + (unsigned)sp__rng_below(rng, t->nsyms);

	/* Characters are numbered by weight: a letter's variants are neighbours. */
	switch (sp__rng_below(rng, 4)) {
	case 0:
		return other;
	case 1:
		return id < t->nsyms ? id + 1 : id;
	case 2:
		return id > 1 ? id - 1 : id;
	}
	return id;
}

/* Fills ids with a string similar to its former contents.  Returns its length. */
static size_t next_sample(const struct sp__collate_table *t, struct sp__rng *rng, unsigned *ids,
			  size_t n)
{
	size_t len = sp__rng_below(rng, 8) ? n : 1 + sp__rng_below(rng, SAMPLE_CHARS);

	for (size_t i = 0; i < len; i++)
		if (i >= n)
			ids[i] = 1 + (unsigned)sp__rng_below(rng, t->nsyms);
		else if (!sp__rng_below(rng, 4))
			ids[i] = vary(t, rng, ids[i]);
	/* Swaps two neighbours, which can move a mark. */
	if (len > 1 && sp__rng_below(rng, 2)) {
		size_t at = sp__rng_below(rng, len - 1);
		unsigned id = ids[at];

		ids[at] = ids[at + 1];
		ids[at + 1] = id;
	}
	return len;
}

/* Encodes up to SAMPLES strings.  Returns their number, 0 if memory is short. */
static size_t make_samples(const struct sp__collate_build *b, struct sample *s)
{
	struct sp__rng rng = { 0x5b1d1e };
	unsigned ids[SAMPLE_CHARS];
	size_t n = 0, made = 0, bytes;

	for (int i = 0; i < SAMPLES; i++) {
		n = next_sample(b->table, &rng, ids, n);
		bytes = spell(b, ids, n, s[made].text);
		s[made].key.bytes = 0;
		switch (sp__collate_encode_by(b->table, s[made].text, bytes, &s[made].key)) {
		case 0:
			made++;
			break;
		case 1:
			break;
		default:
			return 0;
		}
	}
	return made;
}

bool sp__collate_prove_order(const struct sp__collate_build *b)
{
	struct sample *s = calloc(SAMPLES, sizeof(*s));
	size_t n = s ? make_samples(b, s) : 0;
	bool good = n > 0;

	if (n)
		qsort(s, n, sizeof(*s), by_key);
	for (size_t i = 0; good && i + 1 < n; i++)
		good = !strcmp(s[i].text, s[i + 1].text) || strcoll(s[i].text, s[i + 1].text) < 0;
	for (size_t i = 0; s && i < SAMPLES; i++)
		free(s[i].key.data);
	free(s);
	return good;
}
