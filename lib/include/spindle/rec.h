/* SPDX-License-Identifier: MIT */
/*
 * Records and keys: where a record ends, which of its bytes are the key, and how keys are ordered.
 * It reads no files.
 *
 * A format says how a byte stream divides into records.  A key set is a list of keys compiled for
 * one format.  For line formats the order is that of GNU sort: keys one after the other, then,
 * unless disabled, the whole record as a last resort.
 *
 * Lengths and offsets are bytes.
 *
 * Thread rule: a key set is immutable; any number of threads may use it.  Keys belong to one thread
 * while they change.
 */
#ifndef SPINDLE_REC_H
#define SPINDLE_REC_H

#include <spindle/error.h>
#include <spindle/enum.h>

/* Record formats. */

enum sp_recfmt_kind {
	SP_REC_LINE,  /* ends with the byte eol, '\n' or '\0' */
	SP_REC_CSV,   /* RFC 4180: ends with '\n' outside a quoted field */
	SP_REC_FIXED, /* fixed_bytes bytes each, no terminator */
};

struct sp_recfmt {
	enum sp_recfmt_kind kind;
	char eol;	    /* SP_REC_LINE: the terminator */
	char separator;	    /* SP_REC_CSV: between fields, not '"' or '\n' */
	size_t fixed_bytes; /* SP_REC_FIXED: length of a record in bytes, at least 1 */
	bool json;	    /* SP_REC_LINE: each line is a value of JSON */
	bool array;	    /* ... inputs are arrays of values, which become lines */
	bool strict;	    /* ... of which all characters are checked, not only those of keys */
	bool objects;	    /* ... and that must be an object, since objects are merged */
};

/* Keys. */

enum sp_key_type {
	SP_KEY_TEXT,	/* compares bytes, or by the locale's collation */
	SP_KEY_NUMERIC, /* -n: decimal number of any length */
	SP_KEY_GENERAL, /* -g: long double */
	SP_KEY_HUMAN,	/* -h: number with SI suffix */
	SP_KEY_MONTH,	/* -M */
	SP_KEY_VERSION, /* -V */
	SP_KEY_RANDOM,	/* -R: hash of the key */
	SP_KEY_TIME,	/* date or time of ISO 8601; other texts come first */
	SP_KEY_BYTES,	/* from here on binary records: unsigned bytes */
	SP_KEY_UINT,	/* 1, 2, 4 or 8 bytes */
	SP_KEY_INT,	/* two's complement, 1, 2, 4 or 8 bytes */
	SP_KEY_FLOAT,	/* IEEE 754, 4 or 8 bytes; -NaN first, -0 equals 0 */
};

enum sp_key_ignore {
	SP_IGNORE_NONE,
	SP_IGNORE_NONDICT, /* -d: ignore all except blanks and alphanumerics */
	SP_IGNORE_NONPRINT /* -i: ignore nonprinting characters */
};

/* Where records with an empty key come, reversed or not. */
enum sp_key_empty {
	SP_EMPTY_ORDERED, /* by the type: before other texts, as the number 0 */
	SP_EMPTY_FIRST,	  /* e: before all others */
	SP_EMPTY_LAST,	  /* E: after all others */
};

#define SP_KEY_NOEND ((size_t)-1)

/*
 * One key.  Line and CSV formats use the field positions, counted from 0.  The key begins schar
 * bytes into field sword.  It ends before byte echar of field eword or, if echar is 0, after the
 * last byte of that field.  If eword is SP_KEY_NOEND, it extends to the end of the record.
 * Fixed-length records use offset and length.
 */
struct sp_key {
	size_t sword, schar;
	size_t eword, echar;
	bool skip_start_blanks; /* b on the start position */
	bool skip_end_blanks;	/* b on the end position */
	enum sp_key_type type;
	enum sp_key_ignore ignore;
	enum sp_key_empty empty;
	bool fold;	       /* -f */
	bool reverse;	       /* -r */
	unsigned letters;      /* letters of the key: see sp_key_letter() */
	size_t offset, length; /* SP_REC_FIXED: bytes */
	bool big_endian;       /* SP_KEY_UINT, _INT, _FLOAT */
	/*
	 * JSON lines: the path of the member, such as ".user.id", borrowed while key sets are made
	 * of the key.  Without letters except r, e and E, values are ordered as jq does: missing
	 * and null, false, true, numbers by value, texts by character, arrays, objects.
	 */
	const char *path;
	/*
	 * Name of a column, borrowed while key sets with the key live, or NULL.  With a name,
	 * sp_sort_run() and sp_sort_check() refuse a text that is not empty and not entirely of
	 * the type SP_KEY_NUMERIC, _GENERAL or _TIME.  Other functions do not check texts.
	 */
	const char *checked;
};

#define SP_KEY_INIT                                                                                \
	{                                                                                          \
		.eword = SP_KEY_NOEND                                                              \
	}

struct sp_keyset_opts {
	struct sp_recfmt format;
	const struct sp_key *keys; /* in order; copied */
	size_t nkeys;		   /* 0: the whole record, as one text key */
	int separator;		   /* lines: field separator byte; -1: runs of blanks (-t unset) */
	bool reverse;		   /* direction of the last resort, and of nkeys == 0 */
	bool stable;		   /* no last resort: equal keys keep their input order */
	bool unique;		   /* equal keys count as equal records: no last resort */
	bool bytes;		   /* texts compare as bytes in every locale, as those of JSON do */
	const unsigned char
		*random_salt; /* 16 bytes, for SP_KEY_RANDOM; borrowed during the call */
};

struct sp_keyset;

/*
 * Compiles opts into a new key set.  LC_COLLATE and LC_CTYPE of the process are read now and must
 * not change while the key set lives.  Free it with sp_keyset_free().
 * Returns 0; -EINVAL if a key is outside a fixed-length record, its type does not suit the format
 * or length, or its path is not one of JSON; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_keyset_new(struct sp_keyset **keyset, const struct sp_keyset_opts *opts,
				       struct sp_errinfo *err);

/* Frees a key set; NULL is accepted. */
SP_API void sp_keyset_free(struct sp_keyset *keyset);

/*
 * Compares two records, without their terminators, by keys and last resort.  All faster comparisons
 * agree with this one.
 * Returns a negative number, 0, or a positive number if a is less than, equal to, or greater than
 * b.
 */
SP_API int sp_keyset_compare(const struct sp_keyset *keyset, const char *a, size_t abytes,
			     const char *b, size_t bbytes);

/* The end of a key that an option letter applies to; only b distinguishes them. */
enum sp_key_end { SP_KEY_START, SP_KEY_END, SP_KEY_BOTH };

/*
 * Applies an ordering letter of GNU sort (bdfghiMnRrV), or e or E of enum sp_key_empty, to a key.
 * Global letters are kept in a key of their own, with SP_KEY_BOTH.  The first of incompatible
 * letters, in the order n, g, h, M, R, V, determines the type; sp_key_check() refuses most such
 * keys.
 * Returns false for any other letter.
 */
SP_API bool sp_key_letter(struct sp_key *key, char letter, enum sp_key_end end);

/*
 * Returns true if a key has a letter.  The letter i does not count if d, which implies it, was
 * given.
 */
SP_API bool sp_key_has_letter(const struct sp_key *key, char letter);

/* Copies the global letters to a key that has no letters of its own. */
SP_API void sp_key_inherit(struct sp_key *key, const struct sp_key *global);

/*
 * Refuses incompatible letters.
 * Returns 0, or -EINVAL with GNU sort's message in err->text: "options '-gn' are incompatible".
 */
SP_API SP_MUST_CHECK int sp_key_check(const struct sp_key *key, struct sp_errinfo *err);

/*
 * Parses a text as GNU sort -k does: POS1[,POS2] with option letters.  A number that is too large
 * counts as the largest one.
 * key: receives letters 0 if the text has no letter, so that the global letters apply.
 * Returns 0, or -EINVAL with GNU sort's message in err->text, such as "character offset is zero:
 * invalid field specification", and the part of the text that GNU sort quotes behind it in
 * err->where, such as "1.0".
 */
SP_API SP_MUST_CHECK int sp_key_parse(const char *text, struct sp_key *key, struct sp_errinfo *err);

/*
 * Parses a key of JSON lines: PATH[:LETTERS], such as .user.id:nr.
 * key: its path is the text, of which bytes behind the path do not count.
 * Returns 0, or -EINVAL with the reason in err->text and the text in err->where.
 */
SP_API SP_MUST_CHECK int sp_key_parse_path(const char *text, struct sp_key *key,
					   struct sp_errinfo *err);

/*
 * Parses the obsolescent form +POS1 [-POS2], with positions counted from 0.
 * plus: begins with '+'.
 * minus: begins with '-' and a digit; NULL: there is no end.
 * key: see sp_key_parse().
 * Returns 0; 1 if plus is not such a key but a file name; -EINVAL if minus is wrong.
 */
SP_API SP_MUST_CHECK int sp_key_parse_obsolete(const char *plus, const char *minus,
					       struct sp_key *key, struct sp_errinfo *err);

/*
 * Parses a key of binary records: OFFSET:LENGTH[:TYPE][:r], with TYPE bytes, u8, u16le ... f64be.
 * Returns 0, or -EINVAL with the reason in err->text.
 */
SP_API SP_MUST_CHECK int sp_bkey_parse(const char *text, struct sp_key *key,
				       struct sp_errinfo *err);

/*
 * Finds the bytes of a record that key number k consists of, as --debug shows them: without leading
 * blanks, and for numbers and months only the parsed part.  In a CSV record it is the whole record.
 * begin, end: receive offsets into rec, begin <= end.
 */
SP_API void sp_keyset_extent(const struct sp_keyset *keyset, size_t k, const char *rec,
			     size_t bytes, size_t *begin, size_t *end);

SP_ENUM(sp_recfmt)

#endif
