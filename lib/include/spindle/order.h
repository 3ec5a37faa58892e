/* SPDX-License-Identifier: MIT */
/*
 * The options of a sort command: the options of xsort(1) that determine where a record ends, what
 * its key is, and how keys are ordered.  It does not sort.
 *
 * A program with a command line calls one function for each option, then sp_order_finish(), and
 * compiles the key set with sp_order_keyset().  A program that has the options of xsort(1) as
 * arguments calls sp_call_sort() (spindle/call.h) instead.
 *
 * Ownership: an order has copies of its keys, which sp_order_release() frees; texts are borrowed.
 * Errors: -EINVAL if an option is wrong. err->text is the reason, and err->where, if it is not
 * NULL, is the part of the text to quote after it.  The messages are those of GNU sort.
 * Thread rule: an order belongs to one thread while it changes; afterwards any thread may read it.
 */
#ifndef SPINDLE_ORDER_H
#define SPINDLE_ORDER_H

#include <spindle/columns.h>
#include <spindle/rec.h>
#include <spindle/enum.h>

struct sp_order_key {
	struct sp_key spec;
	const char *name; /* NAME[:OPTS] of a column whose number is unknown, or NULL */
	bool obsolescent; /* given as +POS1 */
	bool inferred;	  /* sp_order_infer() has chosen the type */
	/* Facts about the samples of sp_order_infer(): */
	struct sp_key given; /* the spec before them */
	bool valued;	     /* they have a value of the column */
	bool other_dates;    /* it is text: dates, of which some are not as 2026-11-26 */
	bool no_date;	     /* a value does not look like a date */
	unsigned excluded;   /* set of types */
};

struct sp_order {
	struct sp_key global;	   /* ordering letters outside keys */
	struct sp_order_key *keys; /* -k */
	size_t nkeys;
	bool global_only;     /* global letters without -k: keys[0] is made of them */
	int separator;	      /* -t, a byte; -1: runs of blanks, in CSV a comma */
	struct sp_key *bkeys; /* --bkey */
	size_t nbkeys;
	bool stable, unique;	 /* -s, -u */
	bool csv;		 /* --csv */
	bool json;		 /* --json: keys are paths */
	bool array;		 /* --json=array: of inputs that are arrays */
	bool strict;		 /* --strict: all of a record of JSON is checked */
	char eol;		 /* byte that ends a line: '\n', or '\0' (-z) */
	uint64_t record_bytes;	 /* --record-size; 0: lines or CSV */
	uint64_t header_records; /* --header: at the beginning of each input */
	bool header_first;	 /* only the first input has a header */
};

#define SP_ORDER_INIT                                                                              \
	{                                                                                          \
		.global = SP_KEY_INIT, .separator = -1, .eol = '\n'                                \
	}

/* Frees the keys of an order. */
SP_API void sp_order_release(struct sp_order *order);

/* Adds a key, -k KEYDEF.  Returns 0; -EINVAL as for sp_key_parse(); -ENOMEM. */
SP_API SP_MUST_CHECK int sp_order_add_key(struct sp_order *order, const char *text,
					  struct sp_errinfo *err);

/*
 * Adds a key by column name, -k NAME[:OPTS]. sp_order_set_key() completes it when the number of the
 * column is known.
 * Returns 0 or -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_order_add_name(struct sp_order *order, const char *name,
					   struct sp_errinfo *err);

/* Replaces a key by the key of a KEYDEF.  Returns 0, or -EINVAL as for sp_key_parse(). */
SP_API SP_MUST_CHECK int sp_order_set_key(struct sp_order_key *key, const char *text,
					  struct sp_errinfo *err);

/*
 * Adds an obsolescent key, +POS1 [-POS2]: see sp_key_parse_obsolete().
 * Returns 0; 1 if plus is not such a key; -EINVAL if minus is wrong; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_order_add_obsolescent(struct sp_order *order, const char *plus,
						  const char *minus, struct sp_errinfo *err);

/*
 * Sets the field separator, -t SEP: one byte, or \0.
 * Returns 0, or -EINVAL if the text is empty, has more bytes, or contradicts an earlier separator.
 */
SP_API SP_MUST_CHECK int sp_order_set_separator(struct sp_order *order, const char *text,
						struct sp_errinfo *err);

/*
 * Adds a key of binary records, --bkey=SPEC.
 * Returns 0; -EINVAL as for sp_bkey_parse(); -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_order_add_bkey(struct sp_order *order, const char *text,
					   struct sp_errinfo *err);

/*
 * Sets the header, --header=TEXT: N or N,first.
 * text: NULL: one record.
 * Returns 0, or -EINVAL, without a reason, if the text is not such a value.
 */
SP_API SP_MUST_CHECK int sp_order_set_header(struct sp_order *order, const char *text);

/*
 * Completes the keys: a key without letters inherits the global letters.
 * Returns 0; -EINVAL if letters of a key are incompatible; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_order_finish(struct sp_order *order, struct sp_errinfo *err);

/*
 * Infers the type of each key that is one whole column and has no letter except b, r, e and E: the
 * first one of SP_KEY_NUMERIC, SP_KEY_GENERAL and SP_KEY_TIME that all texts of the column in a
 * sample have, except for empty ones and blanks.  It becomes the type of the key, which is then
 * checked (sp_key.checked).  Without such a type the key stays a text.  A column without a text
 * stays one, too, and a later text fails the check unless it is blank.
 * Call it after sp_order_finish(), and again for each further sample.
 * columns: read with sample_max; borrowed while key sets of the order live.
 * records: receives the number of records of the sample.
 * Returns 0; or an error of sp_order_keyset().
 */
SP_API SP_MUST_CHECK int sp_order_infer(struct sp_order *order, const struct sp_columns *columns,
					uint64_t *records, struct sp_errinfo *err);

/*
 * Returns true if two options exclude each other.
 * a, b: receive their names as the user knows them, such as "--csv"; static.
 */
SP_API bool sp_order_conflict(const struct sp_order *order, const char **a, const char **b);

/* Returns true if there is no letter outside keys, or only r. */
SP_API bool sp_order_is_default(const struct sp_key *global);

/* Returns true if a key has this letter, inherited or its own.  Call it after sp_order_finish(). */
SP_API bool sp_order_has_letter(const struct sp_order *order, char letter);

/* Returns the record format. */
SP_API struct sp_recfmt sp_order_format(const struct sp_order *order);

/*
 * Compiles the keys.  Free the key set with sp_keyset_free().
 * salt: 16 bytes for -R, or NULL; borrowed while the key set lives.
 * Returns 0 or an error of sp_keyset_new(): -EINVAL or -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_order_keyset(struct sp_keyset **keyset, const struct sp_order *order,
					 const unsigned char *salt, struct sp_errinfo *err);

SP_ENUM(sp_order_sort) /* the letter for each name of --sort */

#endif
