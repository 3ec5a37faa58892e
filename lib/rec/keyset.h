/* SPDX-License-Identifier: MIT */
/*
 * The compiled form of a key set, shared by the files of lib/rec that encode
 * and compare keys.  All of it is constant once sp_keyset_new() has returned.
 */
#ifndef SP__REC_KEYSET_H
#define SP__REC_KEYSET_H

#include <md5.h>
#include "rec/collate.h"
#include "rec/key.h"

/* Classes of single bytes by LC_CTYPE, as GNU sort uses them. */
struct sp__ctab {
	bool blank[256];    /* isblank(), and newline */
	bool nondict[256];  /* dropped by -d */
	bool nonprint[256]; /* dropped by -i */
	unsigned char fold[256];
};

/* LC_NUMERIC: single bytes, -1 where the locale has none that would do. */
struct sp__numfmt {
	int decimal; /* '.' in place of one that will not do, as GNU sort has it */
	int thousands;
	int strtold_point; /* what strtold() takes for the decimal point */
};

/* LC_TIME: names in upper case without blanks, in the order of their bytes. */
struct sp__month {
	char *name;
	unsigned char number; /* 1 to 12 */
};

/* One key of the set. */
struct sp__comp {
	struct sp_key key;
	const unsigned char *fold; /* NULL: bytes stay as they are */
	const bool *drop;	   /* NULL: no byte is ignored */
	bool rewritten;		   /* by fold or drop, before its type looks at it */
	bool collated;		   /* text in strcoll() order */
	bool whole;		   /* the record itself, even if it is CSV */
	bool last;		   /* nothing follows, so it need not be self-delimiting */
	bool self_ending;	   /* a number that the field separator ends */
	bool line;		   /* a whole line as its type takes it, in its order */
	bool cased;		   /* a line that is folded; its key says all that it has */
	bool ascii;		   /* ... sp__fold_ascii() */
};

struct sp_keyset {
	struct sp__keyset pub; /* first: sp__ks() */
	int (*encode)(const struct sp_keyset *ks, const char *rec, size_t bytes,
		      struct sp__keybuf *buf);
	bool plain;    /* lines begin with their key, a number that ends itself */
	int separator; /* -1: runs of blanks */
	struct sp__numfmt numfmt;
	bool hard;    /* LC_COLLATE is not C, by name: what GNU sort goes by */
	bool strcoll; /* ... and its order is not that of bytes either */
	struct sp__ctab ctab;
	struct sp__month month[12];
	struct sp__collate *collate; /* NULL unless a key or the last resort is collated */
	MD5_CTX salted;		     /* after the salt of -R */
	size_t nkeys;
	struct sp__comp comp[]; /* at least one */
};

static inline const char *sp__skip_blanks(const struct sp_keyset *ks, const char *s,
					  const char *lim)
{
	while (s < lim && ks->ctab.blank[(unsigned char)*s])
		s++;
	return s;
}

/* Field extents (field.c). */

/* Where key k begins in a line. */
const char *sp__field_begin(const struct sp_keyset *ks, const struct sp_key *k, const char *rec,
			    size_t bytes);
/* Both ends; never end < begin. */
void sp__field_extent(const struct sp_keyset *ks, const struct sp_key *k, const char *rec,
		      size_t bytes, const char **begin, const char **end);

/*
 * The text of a key, rewritten if it is to be: in the record, or in own, which may be NULL if
 * neither CSV nor rewriting needs it.  0; -ENOMEM, *s and *n are as far as it got.
 */
int sp__key_text(const struct sp_keyset *ks, const struct sp__comp *c, const char *rec,
		 size_t bytes, struct sp__keybuf *own, const char **s, size_t *n);

/* Choosing sp_keyset.encode (encode.c). */
void sp__encode_choose(struct sp_keyset *ks);

/*
 * Key types as bytes, and the direct comparisons of the same types.
 *
 * Encoders write to room that their caller has reserved (..._MAX of the length
 * of the text) and return the end of what they wrote.  What they write is
 * self-delimiting: of two different encodings neither begins with the other,
 * unless an argument says that this may be spared.  Those of numbers and versions may
 * stop as soon as they have written room bytes, and write at most twice as many and
 * SP__FREE_BEYOND more.
 */

#define SP__LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

static inline bool sp__digit(int c)
{
	return (unsigned)c - '0' < 10;
}

/* text.c */

#define SP__TEXT_MAX(n) (2 * (n) + 1)
#define SP__CASED_MAX(n) (SP__TEXT_MAX(n) + (n) / 8 + 8)

/* The text that is compared: without the dropped bytes, folded. */
unsigned char *sp__text_filter(const struct sp__comp *c, const char *s, size_t n,
			       unsigned char *out);
/* The same, self-delimiting. */
unsigned char *sp__text_delimit(const struct sp__comp *c, const char *s, size_t n,
				unsigned char *out);
/*
 * Delimited, and then which bytes were folded; not if a byte is dropped, or folding not reversible.
 * ascii: sp__fold_ascii(); reach: bytes that may be read from s on, at least n.
 */
unsigned char *sp__text_cased(const struct sp__comp *c, bool ascii, const char *s, size_t n,
			      size_t reach, unsigned char *out);
/* Is a byte known from the folded one and whether it is another, which is then before it? */
bool sp__fold_reversible(const unsigned char fold[256]);
bool sp__fold_ascii(const unsigned char fold[256]);
int sp__text_compare(const struct sp__comp *c, const char *a, size_t an, const char *b, size_t bn);

/* number.c */

#define SP__FREE_BEYOND 64

#define SP__NUMBER_MAX(n) ((n) / 2 + 32)

/*
 * reach: up to there, lim or later, bytes may be read.  last: a positive number not flipped may do
 * without its terminator.
 */
unsigned char *sp__number_encode(const struct sp_keyset *ks, const char *s, const char *lim,
				 const char *reach, bool last, bool reverse, unsigned char *out,
				 size_t room);
unsigned char *sp__human_encode(const struct sp_keyset *ks, const char *s, const char *lim,
				const char *reach, bool last, bool reverse, unsigned char *out,
				size_t room);
int sp__number_compare(const struct sp_keyset *ks, const char *a, const char *alim, const char *b,
		       const char *blim);
int sp__human_compare(const struct sp_keyset *ks, const char *a, const char *alim, const char *b,
		      const char *blim);
/* One past the digits and separators of a number as -h reads it; *largest: digit, or '\0'. */
const char *sp__human_digits(const struct sp_keyset *ks, const char *s, const char *lim,
			     char *largest);
extern const unsigned char sp__human_units[256];

/* 0, or 1 (K) to 10 (Q). */
static inline int sp__human_unit(char c)
{
	return sp__human_units[(unsigned char)c];
}

/* general.c */

#define SP__GENERAL_MAX 24

unsigned char *sp__general_encode(const struct sp_keyset *ks, const char *s, size_t n,
				  unsigned char *out);
int sp__general_compare(const char *a, size_t an, const char *b, size_t bn);
/* By strtold(); returns how many bytes it understands. */
size_t sp__general_value(const char *s, size_t n, long double *value);

/* month.c */

int sp__month_init(struct sp_keyset *ks);
void sp__month_fini(struct sp_keyset *ks);
/* 1 to 12, or 0 if there is no month; *end: one past the name. */
int sp__month_of(const struct sp_keyset *ks, const char *s, const char *lim, const char **end);

/* version.c */

#define SP__VERSION_MAX(n) (2 * (n) + 64)

unsigned char *sp__version_encode(const char *s, size_t n, unsigned char *out, size_t room);
int sp__version_compare(const char *a, size_t an, const char *b, size_t bn);

/* csv.c */

/*
 * The unquoted bytes of key k in a CSV record (without its '\n') replace the
 * contents of text.  Positions count in the unquoted record; a '\r' at the end
 * of the record is no part of it.  Returns 0 or -ENOMEM.
 */
int sp__csv_key(const struct sp_key *k, char sep, const char *rec, size_t bytes,
		struct sp__keybuf *text);
/* The same where it lies, if it is a whole field without quotes inside; else false. */
bool sp__csv_slice(const struct sp_key *k, char sep, const char *rec, size_t bytes,
		   const char **key, size_t *key_bytes);

/* bkey.c */

/*
 * Appends the key k of a fixed-length record as bytes in memcmp order, always
 * equally many, reversal included.  Returns 0 or -ENOMEM.
 */
int sp__bkey_encode(const struct sp_key *k, const char *rec, struct sp__keybuf *out);
/* The same order by loading and comparing the values, reversal included. */
int sp__bkey_compare(const struct sp_key *k, const char *a, const char *b);
/* The word for the type of a key that was parsed. */
const char *sp__bkey_type(const struct sp_key *k);

/* random.c */

int sp__random_digest(const struct sp_keyset *ks, const char *s, size_t n,
		      struct sp__keybuf *scratch, unsigned char digest[16]);

#endif
