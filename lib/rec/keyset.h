/* SPDX-License-Identifier: MIT */
/*
 * Defines the compiled form of a key set, shared by the files of lib/rec that encode and compare
 * keys.  All of it is constant once sp_keyset_new() has returned.
 */
#pragma once

#include <md5.h>
#include "rec/collate.h"
#include "rec/jsonread.h"
#include "rec/key.h"

/* Classes of single bytes by LC_CTYPE, as GNU sort uses them. */
struct sp__ctab {
	bool blank[256];    /* isblank(), and newline */
	bool nondict[256];  /* dropped by -d */
	bool nonprint[256]; /* dropped by -i */
	unsigned char fold[256];
};

/* LC_NUMERIC: single bytes, -1 if the locale has no suitable one. */
struct sp__numfmt {
	int decimal; /* '.' if the locale has none of one byte, as in GNU sort */
	int thousands;
	int strtold_point; /* the decimal point of strtold() */
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
	bool rewritten;		   /* by fold or drop, before its type reads it */
	bool collated;		   /* text in strcoll() order */
	bool whole;		   /* the record itself, even if it is CSV */
	bool last;		   /* the last key, so it need not be self-delimiting */
	bool self_ending;	   /* a number that the field separator ends */
	bool line;		   /* a whole unchanged line, in the order of its type */
	bool cased;		   /* a folded line; its key determines the line */
	bool ascii;		   /* ... sp__fold_ascii() */
	bool typed;		   /* JSON: in the order of its values */
	size_t path;		   /* JSON: number of its path in sp_keyset.json */
};

struct sp_keyset {
	struct sp__keyset pub; /* first: sp__ks() */
	int (*encode)(const struct sp_keyset *ks, const char *rec, size_t bytes,
		      struct sp__keybuf *buf);
	bool plain;    /* lines begin with their key, a number that ends itself */
	int separator; /* -1: runs of blanks */
	struct sp__numfmt numfmt;
	bool hard;    /* LC_COLLATE is not C, by name, as GNU sort decides */
	bool strcoll; /* ... and its order is not the order of bytes */
	struct sp__ctab ctab;
	struct sp__month month[12];
	struct sp__collate *collate; /* NULL unless a key or the last resort is collated */
	MD5_CTX salted;		     /* after the salt of -R */
	struct sp__json_paths *json; /* NULL unless records are JSON */
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

/* Removes blanks around a text, and carriage returns at its end; returns the length left. */
static inline size_t sp__trim(const char **s, size_t n)
{
	while (n && ((*s)[n - 1] == ' ' || (*s)[n - 1] == '\t' || (*s)[n - 1] == '\r'))
		n--;
	while (n && (**s == ' ' || **s == '\t')) {
		++*s;
		n--;
	}
	return n;
}

/* Finds both ends; never end < begin. */
void sp__field_extent(const struct sp_keyset *ks, const struct sp_key *k, const char *rec,
		      size_t bytes, const char **begin, const char **end);

/* True if the key of a line would end before it begins. */
bool sp__field_crosses(const struct sp_keyset *ks, const struct sp_key *k, const char *rec,
		       size_t bytes);

/*
 * Finds the text of a key, rewritten if necessary: in the record, or in own, which can be NULL if
 * neither CSV nor rewriting needs it.  Returns 0; -ENOMEM: *s and *n are incomplete.
 */
int sp__key_text(const struct sp_keyset *ks, const struct sp__comp *c, const char *rec,
		 size_t bytes, struct sp__keybuf *own, const char **s, size_t *n);

/* Chooses sp_keyset.encode (encode.c). */
void sp__encode_choose(struct sp_keyset *ks);

/*
 * Encoders of key types, and direct comparisons of the same types.
 *
 * Encoders write to memory that their caller has reserved (..._MAX of the length of the text) and
 * return the end of the output.  Output is self-delimiting: of two different encodings neither is a
 * prefix of the other, unless an argument permits that.  Encoders of numbers and versions can stop
 * as soon as they have written room bytes, and write at most twice as many and SP__FREE_BEYOND
 * more.
 */

#define SP__LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

static inline bool sp__digit(int c)
{
	return (unsigned)c - '0' < 10;
}

/* text.c */

#define SP__TEXT_MAX(n) (2 * (n) + 1)
#define SP__CASED_MAX(n) (SP__TEXT_MAX(n) + (n) / 8 + 8)

/* Writes the text that is compared: without the dropped bytes, folded. */
unsigned char *sp__text_filter(const struct sp__comp *c, const char *s, size_t n,
			       unsigned char *out);
/* Writes the output of sp__text_filter(), self-delimiting. */
unsigned char *sp__text_delimit(const struct sp__comp *c, const char *s, size_t n,
				unsigned char *out);
/*
 * Writes delimited text, and then a bit per byte: folded or not.  Not for dropped bytes or
 * irreversible folding.  ascii: sp__fold_ascii(); reach: bytes that can be read from s on, at least
 * n.
 */
unsigned char *sp__text_cased(const struct sp__comp *c, bool ascii, const char *s, size_t n,
			      size_t reach, unsigned char *out);
/* True if a byte follows from its folded byte, which is lower, and a bit that shows folding. */
bool sp__fold_reversible(const unsigned char fold[256]);
bool sp__fold_ascii(const unsigned char fold[256]);
int sp__text_compare(const struct sp__comp *c, const char *a, size_t an, const char *b, size_t bn);

/* number.c */

#define SP__FREE_BEYOND 64

#define SP__NUMBER_MAX(n) ((n) / 2 + 32)

/*
 * Encodes a number.  reach: bytes up to there, lim or later, can be read.  last: a positive number
 * that is not flipped can omit its terminator.
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
/* True if the encoder finds a digit in the text. */
bool sp__number_found(const struct sp_keyset *ks, const char *s, const char *lim);
/* Returns the end of the digits and separators of a number of -h; *largest: digit, or '\0'. */
const char *sp__human_digits(const struct sp_keyset *ks, const char *s, const char *lim,
			     char *largest);
extern const unsigned char sp__human_units[256];

/* Returns 0, or 1 (K) to 10 (Q). */
static inline int sp__human_unit(char c)
{
	return sp__human_units[(unsigned char)c];
}

#define SP__GENERAL_MAX 24

unsigned char *sp__general_encode(const struct sp_keyset *ks, const char *s, size_t n,
				  unsigned char *out);
int sp__general_compare(const char *a, size_t an, const char *b, size_t bn);
/* Reads a number by strtold(); returns the number of bytes that it accepts. */
size_t sp__general_value(const char *s, size_t n, long double *value);

/* text.c: months, times, random order */

int sp__month_init(struct sp_keyset *ks);
void sp__month_fini(struct sp_keyset *ks);
/* Returns 1 to 12, or 0 if the text does not begin with a month; *end: end of the name. */
int sp__month_of(const struct sp_keyset *ks, const char *s, const char *lim, const char **end);

#define SP__MOMENT_BYTES 8

/*
 * Reads YYYY-MM-DD, or such a date, a T or a blank, HH:MM:SS, optionally a point and 1 to 6
 * decimals, optionally a Z.  Bytes that sp__trim() removes do not count.  *us: microseconds since
 * 1970-01-01.
 */
bool sp__moment_read(const char *s, size_t n, int64_t *us);
unsigned char *sp__moment_encode(const char *s, size_t n, unsigned char *out);
int sp__moment_compare(const char *a, size_t an, const char *b, size_t bn);

int sp__random_digest(const struct sp_keyset *ks, const char *s, size_t n,
		      struct sp__keybuf *scratch, unsigned char digest[16]);

/* version.c */

#define SP__VERSION_MAX(n) (2 * (n) + 64)

unsigned char *sp__version_encode(const char *s, size_t n, unsigned char *out, size_t room);
int sp__version_compare(const char *a, size_t an, const char *b, size_t bn);

/* csv.c */

/*
 * Replaces the contents of text by the unquoted bytes of key k in a CSV record (without its '\n').
 * Positions count in the unquoted record; a '\r' at the end of the record is not part of it.
 * Returns 0 or -ENOMEM.
 */
int sp__csv_key(const struct sp_key *k, char sep, const char *rec, size_t bytes,
		struct sp__keybuf *text);
/* Finds the key in the record if it is a whole field without quotes inside; else returns false. */
bool sp__csv_slice(const struct sp_key *k, char sep, const char *rec, size_t bytes,
		   const char **key, size_t *key_bytes);

/* jsonkey.c */

/*
 * Finds the values of all keys of a record, and checks it as the format says.  Returns 0, or
 * SP_EFORMAT with *error.
 */
int sp__json_values(const struct sp_keyset *ks, const char *rec, size_t bytes,
		    const struct sp__keybuf *buf, struct sp__json_value *values,
		    struct sp__json_error *error);
/* Appends a value in the order of kinds and values. */
int sp__json_encode(const struct sp__json_value *v, struct sp__keybuf *buf);
/* Compare without memory; a number as sp__json_numeric() finds it. */
int sp__json_compare_numbers(const char *a, size_t an, const char *b, size_t bn);
/* Finds the number that a text is, or that it begins with; returns its length, 0: none. */
size_t sp__json_numeric(const char **text, size_t n);
/* Appends a text as the number that it is, or that it begins with. */
int sp__json_encode_numeric(const char *s, size_t n, struct sp__keybuf *buf);

/* bkey.c */

/*
 * Appends the key k of a fixed-length record as bytes in memcmp order, always the same number,
 * reversal included.  Returns 0 or -ENOMEM.
 */
int sp__bkey_encode(const struct sp_key *k, const char *rec, struct sp__keybuf *out);
/* Compares in the same order by loading the values, reversal included. */
int sp__bkey_compare(const struct sp_key *k, const char *a, const char *b);
/* Returns the name of the type of a parsed key. */
const char *sp__bkey_type(const struct sp_key *k);
