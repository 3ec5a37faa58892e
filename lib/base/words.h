/* SPDX-License-Identifier: MIT */
/*
 * SP__WORD_TABLE(sp_x, { "word", VALUE }, ...) defines the table that SP_WORDS(sp_x) declares.
 */
#ifndef SP__BASE_WORDS_H
#define SP__BASE_WORDS_H

#include <spindle/words.h>

#define SP__WORD_TABLE(name, ...)                                                                  \
	const struct sp_word *name##_words(void)                                                   \
	{                                                                                          \
		static const struct sp_word words[] = { __VA_ARGS__, { NULL, 0 } };                \
                                                                                                   \
		return words;                                                                      \
	}

#endif
