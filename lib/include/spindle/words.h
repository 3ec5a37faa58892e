/* SPDX-License-Identifier: MIT */
/*
 * The words that stand for values: in options, in reports, in messages.
 *
 * SP_WORDS(sp_x) in a header declares, for the values of one option or enum,
 *
 *	sp_x_words()		the table, which is constant;
 *	sp_x_name(value)	the word, or NULL for a value that has none;
 *	sp_x_parse(text, &value) the reverse, as sp_word_parse().
 *
 * All of it is thread-safe.
 */
#ifndef SPINDLE_WORDS_H
#define SPINDLE_WORDS_H

#include <stddef.h>
#include <spindle/api.h>

/* A table ends with a NULL.  Of neighbours with one value the first is the name. */
struct sp_word {
	const char *word;
	int value;
};

/* The word for value, or NULL. */
SP_API const char *sp_word_name(const struct sp_word *words, int value);

/*
 * The value of a word, which may be abbreviated as long as it stays unique.  Returns 0, -EINVAL
 * (no such word) or -ENOTUNIQ (ambiguous); *value is written on success alone.
 */
SP_API SP_MUST_CHECK int sp_word_parse(const struct sp_word *words, const char *text, int *value);

#define SP_WORDS(name)                                                                             \
	SP_API const struct sp_word *name##_words(void);                                           \
	static inline const char *name##_name(int value)                                           \
	{                                                                                          \
		return sp_word_name(name##_words(), value);                                        \
	}                                                                                          \
	static inline SP_MUST_CHECK int name##_parse(const char *text, int *value)                 \
	{                                                                                          \
		return sp_word_parse(name##_words(), text, value);                                 \
	}

SP_WORDS(sp_engine) /* I/O engines; the values number them, in no particular way */
SP_WORDS(sp_direct) /* direct I/O: auto (-1), never (0), always (1) */

#endif
