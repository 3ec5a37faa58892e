/* SPDX-License-Identifier: MIT */
/*
 * The options of a join command: the options of xjoin(1) that determine the format of both files,
 * their keys, and the records of the result.  It does not join.
 *
 * The caller initialises a form with { .opts = ..., }, plain and only_regular if needed, and zeros
 * for the rest.  It calls one function for each option in the order of the command line, and sets
 * flags such as csv, header, eol and ignore_case in the options.  At the end it calls
 * sp_join_form_resolve() if columns were named, then sp_join_form_keys() and sp_join_form_finish().
 * The form fills in the struct sp_join_opts, which borrows from the form.
 *
 * Ownership: texts are borrowed until the form is released.  err->where may belong to the form,
 * until the next call.  sp_join_form_release() frees what the form owns; the options then have
 * dangling pointers and must not be used.  With new options the form can be used again.
 * Errors: -EINVAL if an option is wrong. err->text is the reason, and err->where, if it is not
 * NULL, is the text to quote after it.  The messages are those of GNU join.
 * Thread rule: a form belongs to one thread while it changes; afterwards any thread may read it.
 */
#ifndef SPINDLE_JOINFORM_H
#define SPINDLE_JOINFORM_H

#include <spindle/columns.h>
#include <spindle/join.h>

/* The key of one file. */
struct sp_join_form_key {
	size_t *field; /* counted from 0 */
	struct sp_key *type;
	size_t n;	   /* 0: no key was given */
	const char *text;  /* argument of the option; after names are resolved, with numbers */
	const char *name;  /* argument with column names whose numbers are unknown, or NULL */
	char **path;	   /* JSON lines: paths */
	size_t npaths;	   /* 0: no path was given */
	const char *paths; /* argument of the option with paths */
};

struct sp_join_form {
	struct sp_join_opts *opts;
	bool plain;	   /* only keys of POSIX join: one field without letters, no names */
	bool only_regular; /* read names only from regular files: see struct sp_columns */
	/* The form owns the other members. */
	struct sp_join_form_key key[2];
	bool key_given, typed; /* a key was given by an option; a key has letters */
	bool *collated;
	struct sp_join_column *columns;
	const char **column_names; /* for each column without a number its name, or NULL */
	/*
	 * Files 3 and up, which the caller sets and opts->then points to, and the names of their
	 * columns while the numbers are unknown; or NULL.
	 */
	struct sp_join_then *then;
	const char *left_name[SP_JOIN_FILES_MAX - 2], *key_name[SP_JOIN_FILES_MAX - 2];
	/* The first column that is valid for lines only, for binary records only; or NULL. */
	const char *line_column, *binary_column;
	struct sp_key *parts; /* fields of binary records: keys and columns */
	size_t nparts;
	size_t *bkey[2]; /* for each file the indexes of its keys in parts */
	size_t nbkeys;
	char separator[16], fill[2];
	char *list[2], *item; /* copies of texts */
	char *nested_text;
	const char *nested[2]; /* names of members, in nested_text */
};

/* Frees what a form owns and leaves opts, plain and only_regular. */
SP_API void sp_join_form_release(struct sp_join_form *form);

/*
 * Sets the key of file 0 or 1 (-1, -2): FIELD[LETTERS][,...], or column names instead of fields; of
 * JSON lines PATH[,...].
 * Returns 0; -EINVAL if the text is not a key or contradicts an earlier one; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_join_form_set_key(struct sp_join_form *form, int side, const char *text,
					      struct sp_errinfo *err);

/*
 * Parses a text as a field number.
 * field: receives the field, counted from 0.
 * Returns 0, or -EINVAL if the text is not a number from 1 on.
 */
SP_API SP_MUST_CHECK int sp_join_form_field(const char *text, size_t *field,
					    struct sp_errinfo *err);

/*
 * Adds output columns (-o): items between commas or blanks.
 * text: is cut into items, which are borrowed.
 * Returns 0; -EINVAL if an item is not a column; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_join_form_add_columns(struct sp_join_form *form, char *text,
						  struct sp_errinfo *err);

/*
 * Sets the separator (-t): one character, nothing, or \0.
 * Returns 0, or -EINVAL if the text has more characters or contradicts an earlier separator.
 */
SP_API SP_MUST_CHECK int sp_join_form_set_separator(struct sp_join_form *form, const char *text,
						    struct sp_errinfo *err);

/*
 * Selects unpaired records of a file (-a), and without pairs nothing else (-v).
 * text: number of the file, "1" or "2".
 * Returns 0, or -EINVAL if the text is not such a number.
 */
SP_API SP_MUST_CHECK int sp_join_form_set_unpaired(struct sp_join_form *form, const char *text,
						   bool pairs, struct sp_errinfo *err);

/*
 * Sets the text that replaces empty fields (-e).
 * Returns 0, or -EINVAL if the text contradicts an earlier one.
 */
SP_API SP_MUST_CHECK int sp_join_form_set_filler(struct sp_join_form *form, const char *text,
						 struct sp_errinfo *err);

/* Selects the records of the result (--type). type: enum sp_join_type. */
SP_API void sp_join_form_set_type(struct sp_join_form *form, int type);

/*
 * Sets the names of the members of a result of JSON lines that is not merged (--nested): NAME,NAME.
 * text: NULL: left and right.
 * Returns 0; -EINVAL if the text is not two different names; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_join_form_set_nested(struct sp_join_form *form, const char *text,
						 struct sp_errinfo *err);

/*
 * Sets the lengths of binary records (--record-size): SIZE or SIZE,SIZE, in bytes.
 * Returns 0; -EINVAL if the text is not one or two sizes above 0; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_join_form_set_sizes(struct sp_join_form *form, const char *text,
						struct sp_errinfo *err);

/*
 * Adds a key of binary records (--bkey): SPEC or SPEC,SPEC.
 * err->where is text, unless one SPEC is wrong by itself.
 * Returns 0; -EINVAL if a SPEC is wrong or has a direction, or there are more than two; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_join_form_add_bkey(struct sp_join_form *form, const char *text,
					       struct sp_errinfo *err);

/* Returns the first column name whose number is unknown, or NULL.  The form owns the text. */
SP_API const char *sp_join_form_name(const struct sp_join_form *form);

/*
 * Replaces column names by numbers from the headers of the inputs.
 * ahead: two batches of zeros.  Each receives the bytes read of an input that can be read only
 * once, to be freed with free(), after an error, too.  The descriptor of the input stays open.
 * quote: see struct sp_columns.
 * Returns 0 or an error of sp_columns_read() or sp_columns_find().  With a NULL err->where, err may
 * have the path of an input.
 */
SP_API SP_MUST_CHECK int sp_join_form_resolve(struct sp_join_form *form,
					      const char *const inputs[2],
					      const char *(*quote)(const char *),
					      struct sp_batch ahead[2], struct sp_errinfo *err);

/*
 * Completes the keys: a file without a key has its first field as key.
 * Returns 0; -EINVAL if the keys have different numbers of fields, or are paths in other records
 * than JSON lines, or no paths in those; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_join_form_keys(struct sp_join_form *form, struct sp_errinfo *err);

/*
 * Returns true if two options exclude each other.
 * a, b: receive their names as the user knows them, such as "--csv"; static.
 */
SP_API bool sp_join_form_conflict(const struct sp_join_form *form, const char **a, const char **b);

/*
 * Checks that the options agree with each other and with the format, and completes opts.
 * err->where may be opts->filler.
 * Returns 0; -EINVAL if two options or an option and the format do not agree; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_join_form_finish(struct sp_join_form *form, struct sp_errinfo *err);

#endif
