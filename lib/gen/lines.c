/* SPDX-License-Identifier: MIT */
/*
 * Generates text lines.
 *
 * A line is a point of the key space decoded into words of a vocabulary.  So the order of keys is
 * the order of lines in the C locale, for lines of any length.  A line has at least three words;
 * after the third and each later word it ends with probability 1/6.
 *
 * The vocabulary is the same for every seed: words by rule, shorter ones more frequent, the r-th
 * with weight 1/r.  Lines of one word spell it letter by letter instead: their vocabulary is
 * unlimited.
 */
#include <stdlib.h>
#include "base/err.h"
#include "gen/gen.h"
#include "gen/keys.h"
#include "gen/spelling.h"

#define VOCABULARY 4096
#define VOCABULARY_BITS 16
#define WORD_BYTES (SP__SYMBOL_MAX - 1) /* with the blank after it */
#define FIRST_WORDS 3
#define MAX_WORDS 64
#define END_ODDS 5 /* to one: the odds of another word */

struct lines {
	struct sp__keys keys;
	uint32_t least, most; /* words of a line */
	struct sp__spelling spelling;
	struct sp__alphabet first, other; /* without and with END */
};

struct word {
	char text[SP__SYMBOL_MAX];
	uint32_t bytes, born;
};

static int by_text(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	int c = strcmp(x->text, y->text);

	return c ? c : (x->born > y->born) - (x->born < y->born);
}

static int by_length(const void *a, const void *b)
{
	const struct word *const *x = a, *const *y = b;

	/* Not strictly ordered by length: a language has long words that are common. */
	uint32_t m = (*x)->bytes + (*x)->born / 16 % 8, n = (*y)->bytes + (*y)->born / 16 % 8;

	if (m != n)
		return m < n ? -1 : 1;
	return (*x)->born < (*y)->born ? -1 : 1;
}

static void coin(const struct sp__spelling *spelling, struct word *w, uint32_t born)
{
	char text[SP__WORD_MAX + 8];
	size_t n;

	do {
		struct sp__key key = sp__key_named(SP__GOLDEN, born++);

		n = (size_t)(sp__spell(spelling, text, key.x, key.more) - text);
	} while (n + 1 > WORD_BYTES);
	for (size_t i = 0; n < 5 && i < n; i++)
		text[i] |= 0x20; /* names and acronyms would be too common */
	memcpy(w->text, text, n);
	w->text[n] = '\0';
	w->bytes = (uint32_t)n;
	w->born = born;
}

/* Coins words and sorts them in byte order; returns the number of different ones. */
static uint32_t coin_all(const struct sp__spelling *spelling, struct word *w, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		coin(spelling, &w[i], i * 16);
	qsort(w, n, sizeof(*w), by_text);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || strcmp(w[kept - 1].text, w[i].text) != 0)
			w[kept++] = w[i];
	return kept;
}

/* Sets weights[1 + i] for the i-th word in byte order, and weights[0] for END. */
static void weigh(struct word *w, const struct word **rank, uint64_t *weights, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		rank[i] = &w[i];
	qsort(rank, n, sizeof(*rank), by_length);
	for (uint32_t r = 0; r < n; r++) {
		uint64_t weight = ((uint64_t)1 << 40) / (r + 1);

		weights[1 + (rank[r] - w)] = weight;
		sum += weight;
	}
	weights[0] = sum / END_ODDS;
}

static struct sp__symbol *symbols(const struct word *w, uint32_t n, bool end)
{
	struct sp__symbol *s = calloc(n + end, sizeof(*s));

	if (s && end)
		s[0].next = SP__ALPHABET_END;
	for (uint32_t i = 0; s && i < n; i++) {
		struct sp__symbol *to = &s[i + end];

		memcpy(to->text, w[i].text, w[i].bytes);
		to->text[w[i].bytes] = ' ';
		to->bytes = (uint8_t)(w[i].bytes + 1);
	}
	return s;
}

static int learn(struct lines *s, struct word *w, const struct word **rank, uint64_t *weights)
{
	uint32_t n = coin_all(&s->spelling, w, VOCABULARY);
	struct sp__symbol *first = symbols(w, n, false), *other = symbols(w, n, true);
	int rc = -ENOMEM;

	if (first && other) {
		weigh(w, rank, weights, n);
		rc = sp__alphabet_init(&s->first, VOCABULARY_BITS, first, weights + 1, n);
		first = NULL;
	}
	if (rc == 0) {
		rc = sp__alphabet_init(&s->other, VOCABULARY_BITS, other, weights, n + 1);
		other = NULL;
	}
	free(first);
	free(other);
	return rc;
}

static int vocabulary(struct lines *s)
{
	struct word *w = calloc(VOCABULARY, sizeof(*w));
	const struct word **rank = calloc(VOCABULARY, sizeof(*rank));
	uint64_t *weights = calloc(VOCABULARY + 1, sizeof(*weights));
	int rc = -ENOMEM;

	if (w && rank && weights)
		rc = learn(s, w, rank, weights);
	free(w);
	free(rank);
	free(weights);
	return rc;
}

static struct sp__key key_of(const struct sp_gen *g, const struct lines *s)
{
	/* If bytes are the limit, the number of lines is not known in advance. */
	return sp__key_at(&s->keys, g->row, g->opts.records ? g->row : g->bytes);
}

static char *emit_word(struct sp_gen *g, char *p)
{
	struct lines *s = g->state;
	struct sp__key key = key_of(g, s);

	p = sp__spell(&s->spelling, p, key.x, key.more);
	*p = '\n';
	return p + 1;
}

static char *emit_ordered(struct sp_gen *g, char *p)
{
	struct lines *s = g->state;
	struct sp__key key = key_of(g, s);
	const struct sp__symbol *symbol;

	for (uint32_t i = 0; i < s->most; i++) {
		symbol = sp__alphabet_next(i < s->least ? &s->first : &s->other, &key.x, &key.more);
		if (symbol->next == SP__ALPHABET_END)
			break;
		memcpy(p, symbol->text, SP__SYMBOL_MAX);
		p += symbol->bytes;
	}
	p[-1] = '\n';
	return p;
}

/* Writes a line of an unordered kind: words are drawn independently, four per random number. */
static char *emit_free(struct sp_gen *g, char *p)
{
	struct lines *s = g->state;
	struct sp__key key = key_of(g, s);
	struct sp__rng r = { key.more };
	const struct sp__symbol *symbol;
	uint64_t u = key.x;

	for (uint32_t i = 0; i < s->most; i++) {
		symbol = sp__alphabet_slot(i < s->least ? &s->first : &s->other,
					   u >> (64 - VOCABULARY_BITS));
		if (symbol->next == SP__ALPHABET_END)
			break;
		u = i % 4 == 3 ? sp__rng_next(&r) : u << VOCABULARY_BITS;
		memcpy(p, symbol->text, SP__SYMBOL_MAX);
		p += symbol->bytes;
	}
	p[-1] = '\n';
	return p;
}

static void release(void *state)
{
	struct lines *s = state;

	sp__spelling_release(&s->spelling);
	sp__alphabet_release(&s->first);
	sp__alphabet_release(&s->other);
	free(s);
}

int sp__gen_lines(struct sp_gen *g, struct sp_errinfo *err)
{
	struct lines *s = calloc(1, sizeof(*s));
	uint32_t words = g->opts.words;
	int rc = -ENOMEM;

	g->state = s;
	g->release = release;
	if (s)
		rc = sp__spelling_init(&s->spelling);
	if (rc == 0 && words != 1)
		rc = vocabulary(s);
	if (rc < 0)
		return sp__err(err, rc, "generate", "", -1);
	s->least = words ? words : FIRST_WORDS;
	s->most = words ? words : MAX_WORDS;
	sp__keys_init(&s->keys, &g->opts, sp__gen_seed(g->opts.seed, SP_GEN_LINES),
		      g->opts.records ? g->opts.records : g->opts.bytes);
	g->emit = words == 1			   ? emit_word
		  : g->opts.order >= SP_GEN_SORTED ? emit_ordered
						   : emit_free;
	g->max_bytes = words == 1 ? SP__WORD_MAX + 8 : (size_t)SP__SYMBOL_MAX * (1 + s->most);
	return 0;
}
