/* SPDX-License-Identifier: MIT */
/*
 * Learns a locale's order of characters from strxfrm() of single characters.
 *
 * strxfrm() of glibc returns, for each level, the weights of the characters one after the other,
 * and a byte 1 between levels.  Here a letter is a character with a weight on all levels (digits
 * too); a mark is one that the first three levels ignore (blanks and punctuation in most locales).
 *
 * Algorithm: if no weight of a letter begins with the weight of another, comparing concatenated
 * weights is comparing character by character, and a rank of one byte can replace a weight.  A
 * second-level weight matters only between letters of the same first-level rank, because strings
 * reach that level with equal first levels.  So its rank is counted among those alone and starts at
 * 0: the plain letter.  There a weight can begin with another one (accents are weights behind the
 * letter's) if the rest is greater than the first byte of any letter's weight, since it is compared
 * with that.  Likewise the third level is a rank among letters equal on the first two, and must be
 * a single bit: lower case or capital.  Letters equal on all three levels cannot be distinguished
 * here; the first of them is kept.
 *
 * Characters that break a rule (ligatures and other expansions) are skipped, and texts with them
 * are not encoded.  collate_verify.c finds effects that the rules do not cover (contractions,
 * levels compared backwards, other rules of a locale).  If they concern more than PAIRS_MAX pairs
 * of characters, the table is made again from fewer characters, and finally given up.
 */
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rec/collate_table.h"

/* Sets of characters to try, the largest first. */
enum range { LATIN, ASCII, ALNUM, RANGES };

struct piece {
	const unsigned char *data;
	size_t bytes;
};

static struct piece level(const struct sp__collate_char *ch, int l)
{
	return (struct piece){ ch->raw + ch->at[l], ch->bytes[l] };
}

static int compare_pieces(struct piece a, struct piece b)
{
	return sp__order_bytes(a.data, a.bytes, b.data, b.bytes);
}

static bool begins(struct piece whole, struct piece with)
{
	return whole.bytes >= with.bytes && !memcmp(whole.data, with.data, with.bytes);
}

/* Splits the weights of ch->text by level.  False if they do not fit. */
static bool weigh(struct sp__collate_char *ch)
{
	char text[sizeof(ch->text) + 1] = "", raw[sizeof(ch->raw)];
	size_t n, at = 0;

	memcpy(text, ch->text, ch->text_bytes);
	n = strxfrm(raw, text, sizeof(raw));
	if (!n || n >= sizeof(raw))
		return false;
	memcpy(ch->raw, raw, n);
	for (int l = 0; l < 4; l++) {
		const unsigned char *sep = l < 3 ? memchr(ch->raw + at, 1, n - at) : NULL;
		size_t end = sep ? (size_t)(sep - ch->raw) : n;

		ch->at[l] = (unsigned char)at;
		ch->bytes[l] = (unsigned char)(end - at);
		at = end + !!sep;
	}
	return true;
}

static bool is_letter(const struct sp__collate_char *ch)
{
	return ch->bytes[0] > 0;
}

/*
 * True if the first three levels are empty and the fourth has a position, which is 1, and a weight.
 */
static bool is_mark(const struct sp__collate_char *ch)
{
	return !ch->bytes[0] && !ch->bytes[1] && !ch->bytes[2] && ch->bytes[3] > 1 &&
	       ch->raw[ch->at[3]] == 1;
}

static int by_weight(const void *pa, const void *pb)
{
	const struct sp__collate_char *a = pa, *b = pb;

	for (int l = 0; l < 4; l++) {
		int diff = compare_pieces(level(a, l), level(b, l));

		if (diff)
			return diff;
	}
	return memcmp(a->text, b->text, sizeof(a->text));
}

/*
 * Ranks letter ch, whose predecessor in order of weight is prev (NULL: none).  plain: the first
 * byte of each second level.  False: skipped.
 */
static bool rank_letter(const struct sp__collate_char *ch, const struct sp__collate_char *prev,
			const struct sp__collate_sym *before, int plain,
			struct sp__collate_sym *sym)
{
	*sym = (struct sp__collate_sym){ .letter = true, .alone = !ch->bytes[3] };
	if ((ch->bytes[1] ? ch->raw[ch->at[1]] : -1) != plain)
		return false;
	sym->rank = SP__COLLATE_FIRST_RANK;
	if (!prev)
		return true;
	sym->rank = before->rank;
	if (compare_pieces(level(ch, 0), level(prev, 0)) != 0) {
		if (begins(level(ch, 0), level(prev, 0)) || sym->rank == 255)
			return false;
		sym->rank++;
		return true;
	}
	sym->accent = before->accent;
	if (compare_pieces(level(ch, 1), level(prev, 1)) != 0) {
		if (begins(level(ch, 1), level(prev, 1)) &&
		    level(ch, 1).data[prev->bytes[1]] <= plain)
			return false;
		sym->accent++;
		return sym->accent < 255 - SP__COLLATE_FIRST_RANK;
	}
	sym->variant = 1;
	return !before->variant && !begins(level(ch, 2), level(prev, 2));
}

static bool rank_mark(const struct sp__collate_char *ch, const struct sp__collate_char *prev,
		      const struct sp__collate_sym *before, struct sp__collate_sym *sym)
{
	*sym = (struct sp__collate_sym){ .mark = 1 };
	if (!prev)
		return true;
	sym->mark = (unsigned char)(before->mark + 1);
	return sym->mark < 255 && !begins(level(ch, 3), level(prev, 3));
}

/* Ranks the n characters in b->ch[1...], keeping those that follow the rules. */
static void rank(struct sp__collate_build *b, unsigned n, int plain)
{
	struct sp__collate_table *t = b->table;
	unsigned kept = 0, letter = 0, mark = 0;

	qsort(b->ch + 1, n, sizeof(b->ch[0]), by_weight);
	for (unsigned i = 1; i <= n; i++) {
		struct sp__collate_char *ch = &b->ch[i];
		struct sp__collate_sym sym;
		bool good;

		if (is_letter(ch))
			good = rank_letter(ch, letter ? &b->ch[letter] : NULL, &t->sym[letter],
					   plain, &sym);
		else
			good = rank_mark(ch, mark ? &b->ch[mark] : NULL, &t->sym[mark], &sym);
		if (!good)
			continue;
		b->ch[++kept] = *ch;
		t->sym[kept] = sym;
		*(is_letter(ch) ? &letter : &mark) = kept;
	}
	t->nsyms = kept;
}

/* Enters the characters into the tables of sp__collate_next(). */
static void index_chars(const struct sp__collate_build *b)
{
	struct sp__collate_table *t = b->table;

	for (unsigned id = 1; id <= t->nsyms; id++) {
		const unsigned char *s = b->ch[id].text;

		if (b->ch[id].text_bytes == 1)
			t->byte[s[0]] = (uint16_t)id;
		else if (b->ch[id].text_bytes == 2)
			t->two[s[0] - 0xC2][s[1] & 63] = (uint16_t)id;
		else
			t->general[s[2] & 63] = (uint16_t)id;
	}
}

/*
 * glibc 2.28 and later compare digits and currency signs backwards on the second level, and
 * misplace marks among them: $-a sorts before -$a.  Such letters must not occur with marks.
 */
static void find_loners(struct sp__collate_build *b)
{
	struct sp__collate_table *t = b->table;
	unsigned mark = t->byte['-'];

	if (!mark || t->sym[mark].letter)
		return;
	for (unsigned id = 1; id <= t->nsyms; id++) {
		const char *ch = (const char *)b->ch[id].text;
		int n = b->ch[id].text_bytes;
		char before[8], behind[8];

		if (!t->sym[id].letter)
			continue;
		snprintf(before, sizeof(before), "-%.*sa", n, ch);
		snprintf(behind, sizeof(behind), "%.*s-a", n, ch);
		t->sym[id].alone |= strcoll(before, behind) >= 0;
	}
}

/* Finds the characters that are encoded byte by byte, once pairs and loners are known. */
static void index_bytes(struct sp__collate_table *t)
{
	for (unsigned c = 0; c < 256; c++) {
		const struct sp__collate_sym *sym = &t->sym[t->byte[c]];
		unsigned known = sym->letter ? sym->rank : sym->mark | SP__COLLATE_MARK;

		if (sym->variant)
			known |= SP__COLLATE_VARIANT;
		if (sym->alone)
			known |= SP__COLLATE_ALONE;
		if (sym->paired)
			known |= SP__COLLATE_PAIRED;
		t->fast[c] = (uint16_t)(!t->byte[c] || sym->accent ? SP__COLLATE_OTHER : known);
	}
}

static void put_char(struct sp__collate_char *ch, unsigned code, bool utf8)
{
	*ch = (struct sp__collate_char){ .text_bytes = 1 };
	if (code < 0x80 || !utf8) {
		ch->text[0] = (unsigned char)code;
	} else if (code < 0x800) {
		ch->text[0] = (unsigned char)(0xC0 | code >> 6);
		ch->text[1] = (unsigned char)(0x80 | (code & 63));
		ch->text_bytes = 2;
	} else {
		ch->text[0] = (unsigned char)(0xE0 | code >> 12);
		ch->text[1] = (unsigned char)(0x80 | (code >> 6 & 63));
		ch->text[2] = (unsigned char)(0x80 | (code & 63));
		ch->text_bytes = 3;
	}
}

static bool wanted(unsigned code, enum range range, bool utf8)
{
	bool alnum = (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
		     (code >= 'a' && code <= 'z');

	if (range == ALNUM || alnum)
		return alnum;
	if (code < 0x80)
		return code == '\t' || (code >= ' ' && code <= '~');
	if (range == ASCII)
		return false;
	return code >= 0xA0 && (!utf8 || code < 0x180 || (code >= 0x2010 && code <= 0x2026));
}

/* Collects the characters of a set.  Returns their number. */
static unsigned collect(struct sp__collate_build *b, enum range range, bool utf8)
{
	unsigned n = 0, limit = utf8 ? 0x2040 : 0x100;

	for (unsigned code = 1; code < limit && n < SP__COLLATE_SYMS - 1; code++) {
		struct sp__collate_char *ch = &b->ch[n + 1];

		if (!wanted(code, range, utf8))
			continue;
		put_char(ch, code, utf8);
		if (weigh(ch) && (is_letter(ch) || is_mark(ch)))
			n++;
	}
	return n;
}

static bool build(struct sp__collate_build *b, enum range range, bool utf8)
{
	struct sp__collate_char a;

	memset(b->table, 0, sizeof(*b->table));
	b->table->utf8 = utf8;
	put_char(&a, 'a', utf8);
	if (!weigh(&a) || !is_letter(&a))
		return false;
	rank(b, collect(b, range, utf8), a.bytes[1] ? a.raw[a.at[1]] : -1);
	index_chars(b);
	if (!b->table->nsyms || !sp__collate_find_pairs(b))
		return false;
	find_loners(b);
	index_bytes(b->table);
	return sp__collate_prove_order(b);
}

struct sp__collate_table *sp__collate_learn(void)
{
	struct sp__collate_build *b = malloc(sizeof(*b));
	struct sp__collate_table *t = malloc(sizeof(*t));
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"), good = false;

	/* In other multibyte character sets a byte can have another meaning inside a character. */
	if (b && t && (utf8 || MB_CUR_MAX == 1)) {
		b->table = t;
		for (enum range r = LATIN; !good && r < RANGES; r++)
			good = build(b, r, utf8);
	}
	free(b);
	if (!good) {
		free(t);
		t = NULL;
	}
	return t;
}
