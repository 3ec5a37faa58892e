/* SPDX-License-Identifier: MIT */
/*
 * What the options of a command say about records and their order: those of xsort(1) that decide
 * where a record ends, what its key is, and how keys are ordered.
 *
 * A program with a command line calls one function for each option as it meets it, then
 * sp_order_finish(), and compiles the key set with sp_order_keyset().  One that has the options of
 * xsort(1) as words calls sp_call_sort() (spindle/call.h) instead.
 *
 * Errors: 0 or a negative code.  An option that is wrong is -EINVAL: err->text is the reason, and
 * *where, if it is not NULL, the part of the text that the reason is about, to be quoted after it.
 * Such messages are those of GNU sort.
 *
 * Ownership: an order has copies of its keys, which sp_order_release() frees; texts are borrowed.
 * Thread rule: an order belongs to one thread while it changes; afterwards any may read it.
 */
#ifndef SPINDLE_ORDER_H
#define SPINDLE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include <spindle/rec.h>
#include <spindle/enum.h>

struct sp_order_key {
	struct sp_key spec;
	const char *name; /* NAME[:OPTS] of a column, until its number is known; or NULL */
	bool obsolescent; /* given as +POS1 */
};

struct sp_order {
	struct sp_key global;	   /* the ordering letters outside keys */
	struct sp_order_key *keys; /* -k */
	size_t nkeys;
	bool global_only;     /* global letters without -k: one key made of them */
	int separator;	      /* -t, a byte; -1: runs of blanks, in CSV a comma */
	struct sp_key *bkeys; /* --bkey */
	size_t nbkeys;
	bool stable, unique;	 /* -s, -u */
	bool csv;		 /* --csv */
	char eol;		 /* of lines: '\n', or '\0' (-z) */
	uint64_t record_bytes;	 /* --record-size; 0: lines or CSV */
	uint64_t header_records; /* --header: at the beginning of each input, or, */
	bool header_first;	 /* of the first one alone */
};

#define SP_ORDER_INIT                                                                              \
	{                                                                                          \
		.global = SP_KEY_INIT, .separator = -1, .eol = '\n'                                \
	}

SP_API void sp_order_release(struct sp_order *order);

/* -k KEYDEF. */
SP_API SP_MUST_CHECK int sp_order_add_key(struct sp_order *order, const char *text,
					  const char **where, struct sp_errinfo *err);
/* -k NAME[:OPTS]: a key that sp_order_set_key() will fill in when its column is known. */
SP_API SP_MUST_CHECK int sp_order_add_name(struct sp_order *order, const char *name,
					   struct sp_errinfo *err);
SP_API SP_MUST_CHECK int sp_order_set_key(struct sp_order_key *key, const char *text,
					  const char **where, struct sp_errinfo *err);
/* +POS1 [-POS2], as sp_key_parse_obsolete(): 1 if plus is no such key. */
SP_API SP_MUST_CHECK int sp_order_add_obsolescent(struct sp_order *order, const char *plus,
						  const char *minus, const char **where,
						  struct sp_errinfo *err);
/* -t SEP: one byte, or \0. */
SP_API SP_MUST_CHECK int sp_order_set_separator(struct sp_order *order, const char *text,
						const char **where, struct sp_errinfo *err);
/* --bkey=SPEC. */
SP_API SP_MUST_CHECK int sp_order_add_bkey(struct sp_order *order, const char *text,
					   struct sp_errinfo *err);
/* --header=TEXT, N or N,first; NULL: one record.  Without a reason in err. */
SP_API SP_MUST_CHECK int sp_order_set_header(struct sp_order *order, const char *text);

/*
 * Keys without letters of their own inherit the global ones.  -EINVAL: letters of a key are
 * incompatible.
 */
SP_API SP_MUST_CHECK int sp_order_finish(struct sp_order *order, struct sp_errinfo *err);
/* The first two options that do not go with each other, as the user knows them; false: all do. */
SP_API bool sp_order_conflict(const struct sp_order *order, const char **a, const char **b);
/* No letters outside keys, or only r. */
SP_API bool sp_order_is_default(const struct sp_key *global);
/* After sp_order_finish(): does a key have this letter, inherited or its own? */
SP_API bool sp_order_has_letter(const struct sp_order *order, char letter);

SP_API struct sp_recfmt sp_order_format(const struct sp_order *order);
/* salt: 16 bytes for -R, or NULL.  Errors are those of sp_keyset_new(). */
SP_API SP_MUST_CHECK int sp_order_keyset(struct sp_keyset **keyset, const struct sp_order *order,
					 const unsigned char *salt, struct sp_errinfo *err);

SP_ENUM(sp_order_sort) /* of --sort: the letter that a word stands for */

#endif
