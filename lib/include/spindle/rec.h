/* SPDX-License-Identifier: MIT */
/*
 * Records and keys: where a record ends, which of its bytes are the key, and
 * how keys are ordered.
 *
 * A format says how a byte stream divides into records.  A key set is a list of
 * keys compiled for one format; it is immutable after sp_keyset_new() and may
 * be used by any number of threads.  The order is that of GNU sort for line
 * formats (keys one after the other, then, unless disabled, the whole record as
 * a last resort).
 *
 * Lengths and offsets are bytes throughout.
 */
#ifndef SPINDLE_REC_H
#define SPINDLE_REC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
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
	size_t fixed_bytes; /* SP_REC_FIXED: length of a record, > 0 */
};

/* Keys. */

enum sp_key_type {
	SP_KEY_TEXT,	/* bytes, or the locale's collation */
	SP_KEY_NUMERIC, /* -n: decimal number of any length */
	SP_KEY_GENERAL, /* -g: long double */
	SP_KEY_HUMAN,	/* -h: number with SI suffix */
	SP_KEY_MONTH,	/* -M */
	SP_KEY_VERSION, /* -V */
	SP_KEY_RANDOM,	/* -R: hash of the key */
	SP_KEY_BYTES,	/* binary records from here on: unsigned bytes */
	SP_KEY_UINT,	/* 1, 2, 4 or 8 bytes */
	SP_KEY_INT,	/* two's complement, 1, 2, 4 or 8 bytes */
	SP_KEY_FLOAT,	/* IEEE 754, 4 or 8 bytes; total order, -NaN first */
};

enum sp_key_ignore {
	SP_IGNORE_NONE,
	SP_IGNORE_NONDICT, /* -d: all but blanks and alphanumerics */
	SP_IGNORE_NONPRINT /* -i */
};

#define SP_KEY_NOEND ((size_t)-1)

/*
 * One key.  Line and CSV formats use the field positions, counted from 0: the
 * key begins schar bytes into field sword; it ends before byte echar of field
 * eword, or, with echar 0, after the last byte of that field; eword ==
 * SP_KEY_NOEND: it extends to the end of the record.
 * Fixed-length records use offset and length.
 */
struct sp_key {
	size_t sword, schar;
	size_t eword, echar;
	bool skip_start_blanks; /* b on the start position */
	bool skip_end_blanks;	/* b on the end position */
	enum sp_key_type type;
	enum sp_key_ignore ignore;
	bool fold;	       /* -f */
	bool reverse;	       /* -r */
	unsigned letters;      /* option letters given: see sp_key_letter() */
	size_t offset, length; /* SP_REC_FIXED */
	bool big_endian;       /* SP_KEY_UINT, _INT, _FLOAT */
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
	bool bytes;		   /* texts are bytes, whatever LC_COLLATE is */
	const unsigned char *random_salt; /* 16 bytes, for SP_KEY_RANDOM */
};

struct sp_keyset;

/*
 * Compiles opts into a new key set.  LC_COLLATE and LC_CTYPE of the process
 * are read now and must not change during the key set's life.
 * Returns 0; -EINVAL (a key outside a fixed record, a type that does not suit
 * the format or the length); -ENOMEM.  err may be NULL.
 * The caller frees the result with sp_keyset_free() (NULL is accepted).
 */
SP_API SP_MUST_CHECK int sp_keyset_new(struct sp_keyset **keyset, const struct sp_keyset_opts *opts,
				       struct sp_errinfo *err);
SP_API void sp_keyset_free(struct sp_keyset *keyset);

/*
 * Compares two records (without their terminators) by keys and last resort:
 * negative, zero, positive.  The reference for all faster comparisons.
 */
SP_API int sp_keyset_compare(const struct sp_keyset *keyset, const char *a, size_t abytes,
			     const char *b, size_t bbytes);

/* The end of a key that an option letter applies to; matters only for b. */
enum sp_key_end { SP_KEY_START, SP_KEY_END, SP_KEY_BOTH };

/*
 * Applies one ordering letter of GNU sort (bdfghiMnRrV) to a key; global
 * options are kept in a separate sp_key with SP_KEY_BOTH.  False for any other
 * letter.  Of incompatible letters the first in the order n, g, h, M, R, V
 * decides the type; sp_key_check() refuses most such keys.
 */
SP_API bool sp_key_letter(struct sp_key *key, char letter, enum sp_key_end end);

/* Was this letter given?  ('i' does not count if 'd', which implies it, was.) */
SP_API bool sp_key_has_letter(const struct sp_key *key, char letter);

/* A key without its own letters inherits the global ones. */
SP_API void sp_key_inherit(struct sp_key *key, const struct sp_key *global);

/*
 * Refuses incompatible letters: -EINVAL with GNU sort's message in err->text,
 * "options '-gn' are incompatible".
 */
SP_API SP_MUST_CHECK int sp_key_check(const struct sp_key *key, struct sp_errinfo *err);

/*
 * Parses TEXT as GNU sort -k does: POS1[,POS2] with its option letters.
 * *inherits: no letter was given, so that the global options apply.
 * Returns 0, or -EINVAL with err->text set to GNU's message and *where to the part
 * of text that GNU quotes after it: "character offset is zero: invalid field
 * specification" and ‘1.0’.  Numbers that are too large count as the largest.
 */
SP_API SP_MUST_CHECK int sp_key_parse(const char *text, struct sp_key *key, bool *inherits,
				      const char **where, struct sp_errinfo *err);

/*
 * The same for the obsolescent +POS1 [-POS2], positions counted from 0: plus
 * begins with '+'; minus, NULL if absent, with '-' and a digit.  Returns 1 if
 * plus is not such a key but a file name.
 */
SP_API SP_MUST_CHECK int sp_key_parse_obsolete(const char *plus, const char *minus,
					       struct sp_key *key, bool *inherits,
					       const char **where, struct sp_errinfo *err);

/*
 * Parses TEXT as OFFSET:LENGTH[:TYPE][:r], TYPE one of bytes, u8, u16le ...
 * f64be.  Returns 0 or -EINVAL with err->text filled.
 */
SP_API SP_MUST_CHECK int sp_bkey_parse(const char *text, struct sp_key *key,
				       struct sp_errinfo *err);

/*
 * Finds the bytes of a record that key number k consists of: writes begin and end
 * offsets into the record, begin <= end.  As --debug shows them: without leading
 * blanks, and for numbers and months only the part that was parsed.  In CSV
 * records: the whole record.
 */
SP_API void sp_keyset_extent(const struct sp_keyset *keyset, size_t k, const char *rec,
			     size_t bytes, size_t *begin, size_t *end);

SP_ENUM(sp_recfmt)

#endif
