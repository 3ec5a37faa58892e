/* SPDX-License-Identifier: MIT */
/*
 * Texts of settings, KEY=VALUE and separators between them, read by a table.
 *
 * The table says for each key what its value looks like, within which limits, and which member
 * of a struct it sets.  A setting that is refused is named with its key and the reason:
 *
 *	SUBJECT: 'requests=many': requests is a number, at most 65536; 0 for no limit
 *	SUBJECT: 'cash=1M' is not known; known are fs, cache, policy
 */
#ifndef SP__BASE_KEYVAL_H
#define SP__BASE_KEYVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/error.h>
#include <spindle/enum.h>

/* What follows a number, in either case, and what that multiplies it by.  Ends with a NULL. */
struct sp__unit {
	const char *name;
	uint64_t scale;
};

extern const struct sp__unit sp__unit_none[];
extern const struct sp__unit sp__unit_time[]; /* ns us ms s; none: s; scaled to ns */
/* Scaled to billionths; what is finer is cut off. */
extern const struct sp__unit sp__unit_real[];	 /* none */
extern const struct sp__unit sp__unit_percent[]; /* % or none */

enum sp__keykind {
	SP__KEY_NUMBER, /* with one of units; min to max, both in the unit that is stored */
	SP__KEY_REAL,	/* a double; units, min and max count billionths */
	SP__KEY_SIZE,	/* as sp_size_parse(), in bytes; no share of the memory */
	SP__KEY_FLAG,	/* 0 or 1; a key alone: 1 */
	SP__KEY_WORD,	/* one of words, in full */
	SP__KEY_TEXT,	/* not empty, and no longer than the array has room for */
	SP__KEY_SET,	/* what set() makes of it */
	SP__KEY_IGNORED,
};

struct sp__setting {
	const char *name; /* NULL: the end of the table */
	const char *form; /* what the value is, to complete "KEY is ..." */
	enum sp__keykind kind;
	size_t at, bytes;	      /* SP__KEY_AT() */
	uint64_t min, max;	      /* of numbers and sizes; max 0: no limit */
	const struct sp__unit *units; /* NULL: none */
	const struct sp_enum_value *words;
	bool (*set)(void *out, const char *value);
	bool alone; /* may stand without a value: set() gets NULL */
	bool list;  /* what separates settings also separates values of this one */
};

/* Place and size of the member that a key sets: an integer, a double or an array. */
#define SP__KEY_AT(type, member) offsetof(type, member), sizeof(((type *)0)->member)

struct sp__keytext {
	const char *subject;	/* begins the messages */
	const char *separators; /* between settings: any of these */
	const struct sp__setting *keys;
	const char
		*only; /* names of keys, separated by blanks: the others are not known; or NULL */
};

/*
 * Sets the members of *out that text, which has at least one setting, names.  0 or SP_ESYNTAX,
 * when members may have been set.  A setting has less than SP__KEYVAL_MAX bytes.
 */
#define SP__KEYVAL_MAX 320
SP_MUST_CHECK int sp__keyval_parse(const struct sp__keytext *t, void *out, const char *text,
				   struct sp_errinfo *err);

/* The parts of it. */
const struct sp__setting *sp__keyval_find(const struct sp__keytext *t, const char *name,
					  size_t len);
/* False: value (NULL: none) is refused; *out is unchanged, unless set() has changed it. */
SP_MUST_CHECK bool sp__keyval_set(const struct sp__setting *key, void *out, const char *value);

/*
 * The number at the start of *text, with decimals as far as its unit can be divided, in the unit
 * of the scale; *text then points behind the unit.  False: there is none, or it is too large.
 */
SP_MUST_CHECK bool sp__number_take(const char **text, const struct sp__unit *units, uint64_t *n);
/* The same of all of text, between min and max. */
SP_MUST_CHECK bool sp__number_parse(const char *text, const struct sp__unit *units, uint64_t min,
				    uint64_t max, uint64_t *n);
/*
 * The word, in full, at the start of *text, which ends before any of these bytes; *text then
 * points behind it.  False: it is none of words.
 */
SP_MUST_CHECK bool sp__word_take(const char **text, const char *end,
				 const struct sp_enum_value *words, int *value);

#endif
