/* SPDX-License-Identifier: MIT */
/*
 * What the options of a command say about a join: those of xjoin(1) that decide the format of both
 * files, their keys, and the records of the result.
 *
 * A form starts out as { .opts = ..., }, with plain and only_regular if wanted, and zeros beside
 * them.  It fills in the struct sp_join_opts that it is given, which borrows from it.  A program
 * calls one function for each option as it meets it; flags, such as csv, header, eol and
 * ignore_case, it sets in the options itself.  After all of them it calls sp_join_form_resolve() if
 * columns were named, sp_join_form_keys(), and sp_join_form_finish().
 *
 * Errors: 0 or a negative code.  An option that is wrong is -EINVAL: err->text is the reason, and
 * *where, if it is not NULL, what is to be quoted after it; `where` itself must not be NULL.  Such
 * messages are those of GNU join.
 * Ownership: texts are borrowed until the form is released, but what *where points to may be the
 * form's, until its next call.  sp_join_form_release() frees what is the form's and leaves opts,
 * plain and only_regular: the options point to memory that is gone, and are not to be used; with
 * new options the form can be used again.
 * Thread rule: a form belongs to one thread while it changes; afterwards any may read it.
 */
#ifndef SPINDLE_JOINFORM_H
#define SPINDLE_JOINFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <spindle/api.h>
#include <spindle/columns.h>
#include <spindle/error.h>
#include <spindle/join.h>

/* The key of one file. */
struct sp_join_form_key {
	size_t *field; /* counted from 0 */
	struct sp_key *type;
	size_t n;	  /* 0: not given */
	const char *text; /* as it was given, or, once names are resolved, with numbers */
	const char *name; /* with names of columns, until their numbers are known; or NULL */
};

struct sp_join_form {
	struct sp_join_opts *opts;
	bool plain;	   /* only what POSIX join has: one field without letters, no names */
	bool only_regular; /* names only from regular files: see struct sp_columns */
	/* The rest is the form's. */
	struct sp_join_form_key key[2];
	bool key_given, typed; /* by an option; with letters */
	bool *collated;
	struct sp_join_column *columns;
	const char **column_names; /* of each column, until its number is known; or NULL */
	/*
	 * Further files, which opts->then are: set by the program, with the names of their columns
	 * in the place of numbers, until these are known; or NULL.
	 */
	struct sp_join_then *then;
	const char *left_name[SP_JOIN_FILES_MAX - 2], *key_name[SP_JOIN_FILES_MAX - 2];
	/* The first column that suits only lines, only binary records; or NULL. */
	const char *line_column, *binary_column;
	struct sp_key *parts; /* of binary records: their keys and columns */
	size_t nparts;
	size_t *bkey[2]; /* of which these are the key */
	size_t nbkeys;
	char separator[16], fill[2];
	char *list[2], *item; /* copies of texts */
};

SP_API void sp_join_form_release(struct sp_join_form *form);

/* -1 and -2 (side 0 and 1): FIELD[LETTERS][,...], or names in the place of numbers. */
SP_API SP_MUST_CHECK int sp_join_form_set_key(struct sp_join_form *form, int side, const char *text,
					      const char **where, struct sp_errinfo *err);
/* A whole text as a field number, counted from 0 in *field. */
SP_API SP_MUST_CHECK int sp_join_form_field(const char *text, size_t *field, const char **where,
					    struct sp_errinfo *err);
/* -o: items between commas or blanks; text is cut up, and its items are borrowed. */
SP_API SP_MUST_CHECK int sp_join_form_add_columns(struct sp_join_form *form, char *text,
						  const char **where, struct sp_errinfo *err);
/* -t: one character, nothing, or \0. */
SP_API SP_MUST_CHECK int sp_join_form_set_separator(struct sp_join_form *form, const char *text,
						    const char **where, struct sp_errinfo *err);
/* -a, or without pairs -v. */
SP_API SP_MUST_CHECK int sp_join_form_set_unpaired(struct sp_join_form *form, const char *text,
						   bool pairs, const char **where,
						   struct sp_errinfo *err);
/* -e. */
SP_API SP_MUST_CHECK int sp_join_form_set_filler(struct sp_join_form *form, const char *text,
						 struct sp_errinfo *err);
/* --type: enum sp_join_type. */
SP_API void sp_join_form_set_type(struct sp_join_form *form, int type);
/* --record-size: SIZE or SIZE,SIZE. */
SP_API SP_MUST_CHECK int sp_join_form_set_sizes(struct sp_join_form *form, const char *text,
						const char **where, struct sp_errinfo *err);
/* --bkey: SPEC or SPEC,SPEC; *where is text unless one SPEC is no part of a record. */
SP_API SP_MUST_CHECK int sp_join_form_add_bkey(struct sp_join_form *form, const char *text,
					       const char **where, struct sp_errinfo *err);

/* The first name of a column whose number is not known; NULL: there is none. */
SP_API const char *sp_join_form_name(const struct sp_join_form *form);
/*
 * Gives columns with names their numbers, from the headers of the inputs.  ahead, of zeros: what
 * was read of each, if it can be read only once, for free(), after an error too; its descriptor
 * stays open.  quote: as in struct sp_columns.  Errors without *where may have the path of an
 * input.
 */
SP_API SP_MUST_CHECK int sp_join_form_resolve(struct sp_join_form *form,
					      const char *const inputs[2],
					      const char *(*quote)(const char *),
					      struct sp_batch ahead[2], const char **where,
					      struct sp_errinfo *err);
/* Completes the keys: the first field of a file without one. */
SP_API SP_MUST_CHECK int sp_join_form_keys(struct sp_join_form *form, struct sp_errinfo *err);
/* The first two options that do not go with each other, as the user knows them; false: all do. */
SP_API bool sp_join_form_conflict(const struct sp_join_form *form, const char **a, const char **b);
/* Checks that the options suit each other and the format; *where may be opts->filler. */
SP_API SP_MUST_CHECK int sp_join_form_finish(struct sp_join_form *form, const char **where,
					     struct sp_errinfo *err);

#endif
