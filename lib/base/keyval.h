/* SPDX-License-Identifier: MIT */
/*
 * Parses settings, KEY=VALUE with separators between them, by a table.
 *
 * The table has for each key the form and the limits of its value, and the member of a struct that
 * it sets.  A message about a refused setting has its key and the reason:
 *
 *	SUBJECT: 'requests=many': requests is a number, at most 65536; 0 for no limit
 *	SUBJECT: 'cash=1M' is not known; known are fs, cache, policy
 */
#pragma once

#include <spindle/error.h>
#include <spindle/enum.h>

/* A unit after a number, in either case, and its factor.  A table ends with NULL. */
struct sp__unit {
	const char *name;
	uint64_t scale;
};

extern const struct sp__unit sp__unit_none[];
extern const struct sp__unit sp__unit_time[]; /* ns us ms s; none: s; scaled to ns */
/* Scaled to billionths; further decimals are cut off. */
extern const struct sp__unit sp__unit_real[];	 /* none */
extern const struct sp__unit sp__unit_percent[]; /* % or none */

enum sp__keykind {
	SP__KEY_NUMBER, /* a number with one of units; min to max in the stored unit */
	SP__KEY_REAL,	/* a double; units, min and max count billionths */
	SP__KEY_SIZE,	/* a size for sp_size_parse(), in bytes; not a share of the memory */
	SP__KEY_FLAG,	/* 0 or 1; a key alone: 1 */
	SP__KEY_WORD,	/* one of words, in full */
	SP__KEY_TEXT,	/* not empty, and not longer than the array */
	SP__KEY_SET,	/* parsed by set() */
};

struct sp__setting {
	const char *name; /* NULL: the end of the table */
	const char *form; /* the form of the value, completes "KEY is ..." */
	enum sp__keykind kind;
	size_t at, bytes;	      /* SP__KEY_AT() */
	uint64_t min, max;	      /* range of numbers and sizes; max 0: no limit */
	const struct sp__unit *units; /* NULL: none */
	const struct sp_enum_value *words;
	bool (*set)(void *out, const char *value);
	bool alone; /* allowed without a value: set() gets NULL */
	bool list;  /* the separators of settings also separate values of this one */
};

/* Offset and size of the member that a key sets: an integer, a double or an array. */
#define SP__KEY_AT(type, member) .at = offsetof(type, member), .bytes = sizeof(((type *)0)->member)

struct sp__keytext {
	const char *subject;	/* begins the messages */
	const char *separators; /* between settings: any of these */
	const struct sp__setting *keys;
	const char *only; /* the keys that are known, separated by blanks; NULL: all */
};

/*
 * Sets the members of *out that text names; text has at least one setting.  Returns 0, or
 * SP_ESYNTAX, and members might have been set.  A setting has less than SP__KEYVAL_MAX bytes.
 */
#define SP__KEYVAL_MAX 320
SP_MUST_CHECK int sp__keyval_parse(const struct sp__keytext *t, void *out, const char *text,
				   struct sp_errinfo *err);

/* The steps of sp__keyval_parse(), for other callers. */
const struct sp__setting *sp__keyval_find(const struct sp__keytext *t, const char *name,
					  size_t len);
/*
 * Sets a member from value (NULL: none).  Returns false if the value is refused; *out is then
 * unchanged, unless set() has changed it.
 */
SP_MUST_CHECK bool sp__keyval_set(const struct sp__setting *key, void *out, const char *value);

/*
 * Takes the number at the start of *text, with decimals as far as its unit can be divided, in the
 * unit of the scale. *text then points behind the unit.  Returns false if a number is missing
 * or too large.
 */
SP_MUST_CHECK bool sp__number_take(const char **text, const struct sp__unit *units, uint64_t *n);
/* Parses a text that is one number, between min and max. */
SP_MUST_CHECK bool sp__number_parse(const char *text, const struct sp__unit *units, uint64_t min,
				    uint64_t max, uint64_t *n);
/*
 * Takes the word at the start of *text, which ends before any of the bytes of end. *text then
 * points behind it.  Returns false if it is not one of words, in full.
 */
SP_MUST_CHECK bool sp__word_take(const char **text, const char *end,
				 const struct sp_enum_value *words, int *value);
/* True if a list, separated by blanks or commas, has the word. */
bool sp__word_among(const char *word, size_t len, const char *list);
