/* SPDX-License-Identifier: MIT */
/*
 * Words of a command line that are all options, read one after the other.  Short options may be
 * joined in one word, long ones abbreviated as long as they are unique.  Unlike getopt() it has
 * no state outside the reader, and it neither prints nor changes the words.
 */
#ifndef SP__BASE_OPTWORDS_H
#define SP__BASE_OPTWORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <spindle/error.h>

enum sp__optarg { SP__OPT_NONE, SP__OPT_ARG, SP__OPT_MAYBE };

/* name, without hyphens, may be NULL; code is the letter, if it is below 256. */
struct sp__optname {
	const char *name;
	int code;
	enum sp__optarg arg;
};

struct sp__optwords {
	const struct sp__optname *table; /* { 0 } ends it */
	const char *const *words;
	size_t nwords, next;
	const char *letters; /* what is left of a word with short options; or NULL */
};

/*
 * The next option: 1, its code, its argument or NULL; 0 at the end.  -EINVAL: no such option, or a
 * wrong number of arguments; *where is to be quoted after err->text.
 */
int sp__optwords_next(struct sp__optwords *o, int *code, const char **arg, const char **where,
		      struct sp_errinfo *err);

/*
 * The option as one word, for free(); NULL is short memory.  *apart: the argument has to follow as
 * a word of its own, since a letter cannot have an empty one in the same word.
 */
char *sp__optwords_spell(const struct sp__optname *table, int code, const char *arg, bool *apart);

#endif
