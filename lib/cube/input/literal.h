/* SPDX-License-Identifier: MIT */
/*
 * Parses literals of Python as text, as far as headers of .npy files need them: dictionaries with
 * strings as keys, strings, integers, True and False, and tuples of integers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP__LITERAL_TEXT_MAX 64 /* bytes of a string that are kept; longer ones are cut */
#define SP__LITERAL_ITEMS_MAX 16

enum sp__literal_kind {
	SP__LITERAL_STRING,
	SP__LITERAL_INTEGER,
	SP__LITERAL_BOOL,
	SP__LITERAL_TUPLE,
};

struct sp__literal {
	enum sp__literal_kind kind;
	char text[SP__LITERAL_TEXT_MAX];
	size_t bytes;	 /* bytes of the string, cut ones included */
	uint64_t number; /* an integer or bool; UINT64_MAX: negative, or larger */
	size_t nitems;	 /* items of a tuple, cut ones included */
	uint64_t items[SP__LITERAL_ITEMS_MAX]; /* items as numbers */
};

/* Takes an entry of a dictionary.  Returns false to refuse it. */
typedef bool (*sp__literal_entry)(void *arg, const struct sp__literal *key,
				  const struct sp__literal *value);

/*
 * Reads text that is one dictionary and nothing else, in the syntax of Python.  long_suffix: an
 * integer can have the suffix L of Python 2.  Returns true if all entries were taken.
 */
bool sp__literal_dict(const char *text, size_t bytes, bool long_suffix, sp__literal_entry entry,
		      void *arg);
