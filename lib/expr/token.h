/* SPDX-License-Identifier: MIT */
/*
 * Divides the text of an expression into words, numbers, texts and signs.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <spindle/error.h>

#define SP__TOKEN_BLANKS " \t\n\r" /* between tokens */

enum sp__token_kind {
	SP__TOKEN_END,
	SP__TOKEN_WORD,
	SP__TOKEN_NAME, /* in double quotes */
	SP__TOKEN_NUMBER,
	SP__TOKEN_TEXT,	  /* in single quotes; a date */
	SP__TOKEN_COLUMN, /* $3 */
	SP__TOKEN_SIGN,
};

struct sp__tokens {
	const char *begin, *at; /* of the text; the end of the token */
	enum sp__token_kind kind;
	const char *token;
	size_t bytes;
	char *word;	   /* memory for a name or text without quotes, as long as the text */
	size_t word_bytes; /* NAME, TEXT */
	struct sp_errinfo *err;
};

/*
 * Copies the word in quotes at from, whose first byte is the quote, to `to`, which can be from;
 * quotes that are doubled in it are copied once.  *n: its bytes.  Returns the bytes up to the
 * closing quote, and with it; 0: it is not closed, and the rest was copied.
 */
size_t sp__unquote(const char *from, char *to, size_t *n);

/* Takes the next token.  Returns 0, or -EINVAL with the reason. */
SP_MUST_CHECK int sp__token_next(struct sp__tokens *t);
bool sp__token_is_sign(const struct sp__tokens *t, const char *sign);
/* Compares with a word in any case. */
bool sp__token_is_word(const struct sp__tokens *t, const char *word);
/* Returns -EINVAL with the reason, and where it is: at this offset, or at the token. */
int sp__token_fail_at(const struct sp__tokens *t, size_t at, const char *reason);
int sp__token_fail(const struct sp__tokens *t, const char *reason);
