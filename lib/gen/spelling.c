/* SPDX-License-Identifier: MIT */
/*
 * Spells words, three letters per look-up.
 *
 * Algorithm.  The letters that follow each letter are listed from frequent to rare; the r-th has
 * weight 1/r.  All continuations of up to three letters are precomputed as alphabets, so three
 * letters of a word cost one look-up.  The state between two look-ups is only: one or several
 * vowels or consonants last, and the case.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "gen/spelling.h"

/* Computes widths in slots; the rest of rounding goes to the widest symbol. */
static int share_out(uint32_t *width, uint32_t slots, const uint64_t *weights, uint32_t n)
{
	uint64_t sum = 0, used = 0;
	uint32_t widest = 0, kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += weights[i];
		kept += weights[i] != 0;
	}
	if (!sum || kept > slots)
		return -EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		width[i] = (uint32_t)((unsigned __int128)weights[i] * (slots - kept) / sum);
		width[i] += weights[i] != 0;
		used += width[i];
		if (width[i] > width[widest])
			widest = i;
	}
	width[widest] += slots - (uint32_t)used;
	return 0;
}

static void place(struct sp__alphabet *a, const uint32_t *width)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < a->symbols; i++) {
		struct sp__symbol *s = &a->symbol[i];

		if (!width[i])
			continue;
		s->start = (uint16_t)at;
		s->scale = ((uint64_t)1 << (a->bits + 16)) / width[i];
		s->fill = (uint8_t)(63 - __builtin_clzll(s->scale >> 16));
		for (uint32_t w = 0; w < width[i]; w++)
			a->slot[at++] = (uint16_t)i;
	}
}

int sp__alphabet_init(struct sp__alphabet *a, unsigned int bits, struct sp__symbol *symbol,
		      const uint64_t *weights, uint32_t n)
{
	uint32_t slots = (uint32_t)1 << bits;
	uint32_t *width = calloc(n, sizeof(*width));
	int rc = -ENOMEM;

	*a = (struct sp__alphabet){ .bits = bits, .symbols = n, .symbol = symbol };
	a->slot = calloc(slots, sizeof(*a->slot));
	if (width && a->slot && n <= UINT16_MAX) {
		rc = share_out(width, slots, weights, n);
		if (rc == 0)
			place(a, width);
	}
	free(width);
	return rc;
}

void sp__alphabet_release(struct sp__alphabet *a)
{
	free(a->symbol);
	free(a->slot);
	*a = (struct sp__alphabet){ 0 };
}

#define UNIT 3 /* letters per symbol */
#define SLOTS ((uint32_t)1 << SP__SPELLING_BITS)
#define CERTAIN ((uint64_t)1 << 48)
#define SLOT_WEIGHT (CERTAIN / SLOTS) /* rarer ones are omitted */

enum last { V1, V2, C1, C2, NONE };
enum letter_case { LOWER, UPPER, FIRST_UPPER, UNDECIDED };

static const char *const after_letter[26] = {
	"ntlrsdcmbpgivkuyw",
	"leoraiuybs",
	"oehatkriluy",
	"eiaorusyl",
	"rnsdlatcmvexpyigwf",
	"oiearuflty",
	"eahriolungsy",
	"eaiotyru",
	"nstcoleadvrgmfpbk",
	"uoae",
	"eiansyl",
	"elaioydutsvmkf",
	"eaoipbmuys",
	"dgteaisocukny",
	"nurfmtlwsvpodkcbgi",
	"eraolihptuys",
	"u",
	"eaoistydnmukrlcg",
	"tehioausplckmwny",
	"heioarstuylw",
	"rnstlmpcgdbieaf",
	"eiaou",
	"aheiontrls",
	"tpieac",
	"sleotapm",
	"eaoizy",
};

static const char *const after_last[] = {
	[V1] = "ntrslmdcvpbgkfwhzxyjqieauo",   [V2] = "ntrsldmcpvgbkf",
	[C1] = "eaioutlryhsndkmpgcbf",	       [C2] = "eaiouy",
	[NONE] = "tasiowchbpfmdrelgnuvkjyqzx",
};

struct builder {
	struct sp__symbol *symbol;
	uint64_t *weight;
	uint32_t n;
	bool begins; /* begins a word, or continues it */
};

struct prefix {
	char text[UNIT];
	unsigned int bytes;
	enum last last;
	enum letter_case letter_case;
	uint64_t weight;
};

static bool is_vowel(char c)
{
	return strchr("aeiouy", c) != NULL;
}

static enum last after(enum last last, char c)
{
	if (is_vowel(c))
		return last == V1 || last == V2 ? V2 : V1;
	return last == C1 || last == C2 ? C2 : C1;
}

static bool fits(enum last last, char c)
{
	return !(last == V2 && is_vowel(c)) && !(last == C2 && !is_vowel(c));
}

static void add(struct builder *b, const struct prefix *p, unsigned int next, uint64_t weight)
{
	if (weight < SLOT_WEIGHT || b->n == SLOTS)
		return;
	memcpy(b->symbol[b->n].text, p->text, p->bytes);
	b->symbol[b->n].bytes = (uint8_t)p->bytes;
	b->symbol[b->n].next = (uint8_t)next;
	b->weight[b->n++] = weight;
}

/* Returns the weight of letter c after p, or 0; *sum: of all letters. */
static uint64_t weight_of(const struct prefix *p, char c, uint64_t *sum)
{
	const char *list = after_last[p->last];
	uint64_t weight = 0, rank = 1;

	if (p->bytes)
		list = after_letter[(p->text[p->bytes - 1] | 0x20) - 'a'];
	*sum = 0;
	for (; *list; list++) {
		if (!fits(p->last, *list))
			continue;
		*sum += 5040 / rank;
		if (*list == c)
			weight = 5040 / rank;
		rank++;
	}
	return weight;
}

static void extend(struct builder *b, const struct prefix *p);

static void extend_by(struct builder *b, const struct prefix *p, char c, enum letter_case now,
		      uint64_t case_weight)
{
	struct prefix q = *p;
	uint64_t sum, weight = weight_of(p, c, &sum);

	q.text[q.bytes++] = now == LOWER ? c : (char)(c - 0x20);
	q.last = after(p->last, c);
	q.letter_case = now;
	if (p->letter_case == UNDECIDED && now == UPPER)
		q.letter_case = FIRST_UPPER;
	q.weight = weight ? case_weight / sum * weight : 0;
	extend(b, &q);
}

/* Returns the chance, in 1/256, that a word ends after p. */
static unsigned int end_chance(const struct prefix *p, bool begins)
{
	if (!begins)
		return p->last == C1 || p->last == V1 ? 44 : 32;
	return p->bytes < 2 ? 0 : p->bytes == 2 ? 6 : 28;
}

static void extend(struct builder *b, const struct prefix *p)
{
	static const unsigned int upper_chance[] = { 0, 256, 48, 32 }; /* in 1/256 */
	uint64_t end = p->weight / 256 * end_chance(p, b->begins);
	uint64_t upper = (p->weight - end) / 256 * upper_chance[p->letter_case];

	if (p->weight < SLOT_WEIGHT)
		return;
	if (p->bytes == UNIT) {
		add(b, p, 1 + p->last + 4 * (p->letter_case == UPPER), p->weight);
		return;
	}
	add(b, p, SP__ALPHABET_END, end);
	for (char c = 'a'; c <= 'z'; c++)
		extend_by(b, p, c, UPPER, upper);
	for (char c = 'a'; c <= 'z'; c++)
		extend_by(b, p, c, LOWER, p->weight - end - upper);
}

static int build(struct sp__alphabet *a, enum last last, enum letter_case letter_case)
{
	struct prefix p = { .last = last, .letter_case = letter_case, .weight = CERTAIN };
	struct builder b = { .begins = last == NONE };
	struct sp__symbol *fit;
	int rc = -ENOMEM;

	b.symbol = calloc(SLOTS, sizeof(*b.symbol));
	b.weight = calloc(SLOTS, sizeof(*b.weight));
	if (b.symbol && b.weight) {
		extend(&b, &p);
		fit = realloc(b.symbol, b.n * sizeof(*fit));
		rc = sp__alphabet_init(a, SP__SPELLING_BITS, fit ? fit : b.symbol, b.weight, b.n);
	} else {
		free(b.symbol);
	}
	free(b.weight);
	return rc;
}

int sp__spelling_init(struct sp__spelling *s)
{
	int rc;

	memset(s, 0, sizeof(*s));
	rc = build(&s->of[0], NONE, UNDECIDED);
	for (enum last last = V1; rc == 0 && last <= C2; last++) {
		rc = build(&s->of[1 + last], last, LOWER);
		if (rc == 0)
			rc = build(&s->of[5 + last], last, UPPER);
	}
	return rc;
}

void sp__spelling_release(struct sp__spelling *s)
{
	for (int i = 0; i < SP__SPELLING_STATES; i++)
		sp__alphabet_release(&s->of[i]);
}

char *sp__spell(const struct sp__spelling *s, char *p, uint64_t x, uint64_t more)
{
	const char *full = p + SP__WORD_MAX;
	const struct sp__symbol *symbol;
	unsigned int state = 0;

	do {
		symbol = sp__alphabet_next(&s->of[state], &x, &more);
		memcpy(p, symbol->text, 4);
		p += symbol->bytes;
		state = symbol->next;
	} while (state != SP__ALPHABET_END && p < full);
	return p;
}
