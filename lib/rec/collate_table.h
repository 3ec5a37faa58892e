/* SPDX-License-Identifier: MIT */
/*
 * Describes the characters of one locale: computed by collate_table.c from the weights that
 * strxfrm() gives single characters, verified by collate_verify.c, used by collate_encode.c.
 * collate.c decides when.
 */
#pragma once

#include "base/array.h"
#include "rec/collate.h"

#define SP__COLLATE_SYMS 384 /* maximum number of characters; number 0 is none */
#define SP__COLLATE_FIRST_RANK 6

/*
 * One encodable character.  A letter counts on the first level and has a rank there (from
 * SP__COLLATE_FIRST_RANK), a rank among letters of equal rank on the second level (from 0), and
 * among those again on the third (0 or 1).  Other characters are ignored until the fourth level,
 * where they have a mark (from 1).
 */
struct sp__collate_sym {
	unsigned char rank, accent, variant, mark;
	bool letter;
	bool alone;  /* a letter that must not occur with a mark in a text */
	bool paired; /* the first of a pair that must not occur */
};

/* Describes each byte that is a character without accent: its rank or mark, and flags. */
enum {
	SP__COLLATE_VARIANT = 0x100, /* a letter with third level 1 */
	SP__COLLATE_MARK = 0x200,    /* not a letter */
	SP__COLLATE_ALONE = 0x400,   /* see struct sp__collate_sym */
	SP__COLLATE_PAIRED = 0x800,
	SP__COLLATE_OTHER = 0x1000, /* any other byte */
};

struct sp__collate_table {
	uint16_t fast[256];
	uint16_t byte[256];   /* character number, if one byte is a character */
	uint16_t two[30][64]; /* UTF-8 from U+0080 to U+07FF, by lead byte C2... */
	uint16_t general[64]; /* UTF-8 U+2000 to U+203F */
	bool utf8;
	unsigned nsyms; /* numbers 1 ... nsyms */
	struct sp__collate_sym sym[SP__COLLATE_SYMS];
	/* Pairs whose weights are not the weights of their characters. */
	uint64_t pair[SP__COLLATE_SYMS][SP__BITS_WORDS(SP__COLLATE_SYMS)]; /* bit sets */
};

static inline bool sp__collate_paired(const struct sp__collate_table *c, unsigned x, unsigned y)
{
	return sp__bits_has(c->pair[x], y);
}

/* Returns the number of the next character, 0 if it has none; moves p past it. */
static inline unsigned sp__collate_next(const struct sp__collate_table *c, const unsigned char **p,
					const unsigned char *end)
{
	const unsigned char *s = *p;
	unsigned id = c->byte[s[0]];

	*p = s + 1;
	if (id || !c->utf8 || s[0] < 0xC2)
		return id;
	if (s[0] < 0xE0 && end - s >= 2 && s[1] >> 6 == 2) {
		*p = s + 2;
		return c->two[s[0] - 0xC2][s[1] & 63];
	}
	if (s[0] == 0xE2 && end - s >= 3 && s[1] == 0x80 && s[2] >> 6 == 2) {
		*p = s + 3;
		return c->general[s[2] & 63];
	}
	return 0;
}

/* One character and its weights from strxfrm(), level by level. */
struct sp__collate_char {
	unsigned char text[4], text_bytes;
	unsigned char at[4], bytes[4]; /* offset and length of each level in raw */
	unsigned char raw[40];
};

/* A table under construction: ch[i] describes sym[i]. */
struct sp__collate_build {
	struct sp__collate_table *table;
	struct sp__collate_char ch[SP__COLLATE_SYMS];
};

/* Returns the table of the present locale; NULL: no table is right. */
struct sp__collate_table *sp__collate_learn(void);

/* Encodes like sp__collate_encode(); for a long text only the first SP__KEY_MAX bytes. */
int sp__collate_encode_by(const struct sp__collate_table *t, const char *s, size_t n,
			  struct sp__keybuf *buf);

/* Appends at most room bytes of the encoding, from its byte `from` on. */
int sp__collate_encode_window(const struct sp__collate_table *t, const char *s, size_t n,
			      size_t from, size_t room, struct sp__keybuf *buf);

/*
 * Compares two texts if letters decide before any character that cannot be encoded; else returns 0.
 */
int sp__collate_order_letters(const struct sp__collate_table *t, const char *a, size_t an,
			      const char *b, size_t bn);

/* Marks the pairs that must not occur.  False: there are too many. */
bool sp__collate_find_pairs(struct sp__collate_build *b);
/* True if encodings of the finished table have the order of strcoll(). */
bool sp__collate_prove_order(const struct sp__collate_build *b);
