/* SPDX-License-Identifier: MIT */
/*
 * Records and keys: where a record ends, which bytes of it are the key, and
 * what order that key asks for.
 *
 * A format says how a byte stream falls into records.  A key set is a list of
 * keys compiled for one format; it is immutable after sp_keyset_new() and may
 * be used by any number of threads.  The order is that of GNU sort for line
 * formats (keys one after the other, then, unless told otherwise, the whole
 * record as a last resort).
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

/* Record formats. */

enum sp_recfmt_kind {
	SP_REC_LINE,  /* ends with the byte eol, '\n' or '\0' */
	SP_REC_CSV,   /* RFC 4180: ends with '\n' outside double quotes */
	SP_REC_FIXED, /* fixed_bytes bytes each, no terminator */
};

struct sp_recfmt {
	enum sp_recfmt_kind kind;
	char eol;	    /* SP_REC_LINE: the terminator */
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
 * One key.  Line and CSV formats use the field positions, counted from 0 as
 * GNU sort counts them inside: the key begins schar bytes into field sword;
 * it ends before byte echar of field eword, or, with echar 0, behind the last
 * byte of that field; eword == SP_KEY_NOEND: it goes to the end of the record.
 * Fixed-length records use offset and length.
 */
struct sp_key {
	size_t sword, schar;
	size_t eword, echar;
	bool skip_start_blanks; /* b on the start position */
	bool skip_end_blanks;	/* b on the end position */
	enum sp_key_type type;
	enum sp_key_ignore ignore;
	bool fold;    /* -f */
	bool reverse; /* -r */
	size_t offset, length; /* SP_REC_FIXED */
	bool big_endian;       /* SP_KEY_UINT, _INT, _FLOAT */
};

#define SP_KEY_INIT { .eword = SP_KEY_NOEND }

struct sp_keyset_opts {
	struct sp_recfmt format;
	const struct sp_key *keys; /* in order; copied */
	size_t nkeys; /* 0: the whole record, as one text key */
	int separator; /* field separator byte; -1: runs of blanks (-t unset) */
	bool reverse;  /* direction of the last resort, and of nkeys == 0 */
	bool stable;   /* no last resort: equal keys keep their input order */
	bool unique;   /* equal keys count as equal records: no last resort */
	const unsigned char *random_salt; /* 16 bytes, for SP_KEY_RANDOM */
};

struct sp_keyset;

/*
 * Compiles opts into a new key set.  LC_COLLATE and LC_CTYPE of the process
 * are read now and must not change while the key set lives.
 * Returns 0; -EINVAL (a key outside a fixed record, a type that does not fit
 * the format or the length); -ENOMEM.  err may be NULL.
 * The caller frees the result with sp_keyset_free() (NULL is accepted).
 */
SP_API SP_MUST_CHECK int sp_keyset_new(struct sp_keyset **keyset,
				       const struct sp_keyset_opts *opts,
				       struct sp_errinfo *err);
SP_API void sp_keyset_free(struct sp_keyset *keyset);

/*
 * Compares two records (without their terminators) by keys and last resort:
 * negative, zero, positive.  The independent truth of all faster ways.
 */
SP_API int sp_keyset_compare(const struct sp_keyset *keyset, const char *a,
			     size_t abytes, const char *b, size_t bbytes);

/*
 * Reads TEXT as GNU sort -k does: POS1[,POS2] with its option letters.
 * *inherits tells that no letter was given, so that the global options apply.
 * Returns 0 or -EINVAL with err->text set to GNU's words for the mistake
 * (such as "field number is zero") and *where to the rest of text that GNU
 * quotes with it.
 */
SP_API SP_MUST_CHECK int sp_key_parse(const char *text, struct sp_key *key,
				      bool *inherits, const char **where,
				      struct sp_errinfo *err);

/*
 * Reads TEXT as OFFSET:LENGTH[:TYPE][:r], TYPE one of bytes, u8, u16le ...
 * f64be.  Returns 0 or -EINVAL with err->text filled.
 */
SP_API SP_MUST_CHECK int sp_bkey_parse(const char *text, struct sp_key *key,
				       struct sp_errinfo *err);

/*
 * Which bytes of a record key number k is made of (for --debug): writes begin
 * and end offsets into the record.
 */
SP_API void sp_keyset_extent(const struct sp_keyset *keyset, size_t k,
			     const char *rec, size_t bytes, size_t *begin,
			     size_t *end);

#endif
