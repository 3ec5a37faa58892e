/* SPDX-License-Identifier: MIT */
/*
 * xjoin's command line: parsed, checked and turned into one call of the library.
 *
 *	options.c   parsing: GNU join's options; which table an option belongs to
 *	tuning.c    Spindle's own options
 *	operands.c  files, and the obsolescent arguments among them
 *	fields.c    numbers of fields, lists of them, separators
 *	names.c     names of columns in their place
 *	binary.c    --record-size and the options for it
 *	further.c   --then, files 3 and up
 *	timeline.c  the file of --timeline
 *	run.c       joining; errors as GNU join's messages
 *	help.c      --help
 */
#ifndef XJOIN_H
#define XJOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <spindle/join.h>
#include "common_options.h"

/* An operand may also be the argument of the option before it. */
enum doubt { SURELY_FILE, MAYBE_J1, MAYBE_J2, MAYBE_LIST };

struct operand {
	char *text;
	enum doubt doubt;
};

/* The fields of a key. */
struct key {
	size_t *field; /* counted from 0 */
	struct sp_key *type;
	size_t n; /* 0: not given */
	const char *text;
};

/* The letter l of a key field. */
#define LETTER_COLLATED (1u << 31)

struct settings {
	bool plain_join; /* called join: only GNU join's options */
	struct key key[2];
	unsigned lone_j[2]; /* -j1, -j2 whose argument has not been found */
	struct operand operands[2];
	size_t noperands;
	int separator; /* -1: not given; else its first byte */
	char separator_text[16];
	struct sp_join_column *columns;
	/* Names of columns, until the headers are read: of the key of each file, and of -o. */
	const char *named_key[2], **column_names;
	struct sp_batch ahead[2]; /* what was read for them */
	/* First column of -o that suits only lines, only binary records; NULL: none. */
	const char *line_column, *binary_column;
	bool key_given;	      /* by -1, -2 or -j */
	struct sp_key *parts; /* fields of binary records */
	size_t nparts;
	size_t *bkey[2]; /* of which these are the key */
	size_t nbkeys;
	struct sp_join_then then[SP_JOIN_FILES_MAX - 2];
	char fill[2];
	bool typed; /* a field of the key has letters */
	bool *collated;
	bool disorder;	     /* has been reported */
	char *index_command; /* that makes the index that is missing; NULL: none is */
	const char *output, *timeline;
	struct common_options common;
	struct sp_join_opts opts;
	const char *inputs[2];
};

void options_parse(struct settings *set, int argc, char **argv);

/* doubt: what the argument before it makes of it; returns what it makes of the next. */
enum doubt operand_add(struct settings *set, char *text, enum doubt doubt);
/* Checks that both files were given, and completes the keys. */
void operands_finish(struct settings *set, int argc, char **argv);

/* Parses a field number and returns it counted from 0; ends the program on error. */
size_t field_number(const char *text);
_Noreturn void field_bad_number(const char *text);
void key_set(struct settings *set, int side, const char *text);
/* Splits text into its items, in place. */
void columns_add(struct settings *set, char *text);
void separator_set(struct settings *set, const char *text);

/* names.c: fields that are named as columns of a header. */
bool names_in_key(const char *text);
/* The next item of a list between commas or blanks, as strsep(), but not in quotes. */
char *names_next_item(char **rest);
void names_resolve(struct settings *set);

/* further.c: --then; settings: the struct settings, which gets another file. */
void then_add(void *settings, const char *name, const char *text);

/* binary.c; settings: the struct settings; name: the option with its hyphens. */
void record_size_set(void *settings, const char *name, const char *text);
void bkey_add(void *settings, const char *name, const char *text);
/* Adds a part of binary records, OFFSET:LENGTH; returns its number. */
size_t part_add(struct settings *set, const char *text);
/* Checks that the options suit binary records, or lines. */
void binary_finish(struct settings *set);

/* tuning.c: Spindle's own options, of struct settings. */
extern const struct setting tuning_settings[];
/* Combines and checks the options. */
void tuning_finish(struct settings *set);

int join_run(struct settings *set);

void help_print(bool plain_join);
void usage_print(void);

#endif
