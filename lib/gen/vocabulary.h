/* SPDX-License-Identifier: MIT */
/*
 * Holds the fixed vocabularies of the TPC-H tables and makes the text pool from which comments are
 * cut.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SP__WORD_SLOT 32 /* bytes that may be copied from any word */

struct sp__word {
	char text[SP__WORD_SLOT - 1];
	uint8_t bytes;
};

#define SP__COLORS 92

extern const struct sp__word sp__word_color[SP__COLORS];
extern const struct sp__word sp__word_segment[5];
extern const struct sp__word sp__word_priority[5];
extern const struct sp__word sp__word_instruct[4];
extern const struct sp__word sp__word_mode[7];
extern const struct sp__word sp__word_type1[6], sp__word_type2[5], sp__word_type3[5];
extern const struct sp__word sp__word_box1[5], sp__word_box2[8];

static inline char *sp__put_name(char *p, const struct sp__word *w)
{
	memcpy(p, w->text, SP__WORD_SLOT - 1);
	return p + w->bytes;
}

/* Fills the pool with bytes of pseudo-text, sentence after sentence, the same for every seed. */
void sp__text_pool(char *pool, size_t bytes);
