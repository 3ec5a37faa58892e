/* SPDX-License-Identifier: MIT */
/*
 * Columns by name: the header of an input, read before its records, and where its columns are.
 *
 * A header can be read only once from a pipe.  Then its descriptor stays open, that the writer
 * goes on, and what was read is to be passed on with the input.
 *
 * A program sets the members up to only_regular, the rest to zeros, and calls sp_columns_close()
 * whether sp_columns_read() succeeded or not.  That frees the names, which are the struct's, and
 * `taken`, and closes the descriptor.  Who takes `taken`, for free(), sets it to NULL before: the
 * descriptor is then the program's too.  Texts given are borrowed until sp_columns_close().
 *
 * Errors: 0 or a negative code; what is wrong with the header, or with a name, is -EINVAL, and the
 * text of err the reason.  -errno of op "open" or "read" is the system's.
 * Thread rule: a struct belongs to one thread while it is filled in and while it is closed; between
 * them any number may look for columns.
 */
#ifndef SPINDLE_COLUMNS_H
#define SPINDLE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include <spindle/packed.h>

struct sp_columns {
	const char *input; /* path; "-": standard input */
	bool csv;
	int separator; /* -1: runs of blanks */
	char eol;
	uint64_t header_records; /* the names are in the first of them */
	enum sp_packed decompress;
	/* How a name stands in the text of an error; NULL: in '...'. */
	const char *(*quote)(const char *name);
	/* SP_EUNSUP, before it is opened, for an input that is no regular file, or "-". */
	bool only_regular;
	/* Filled in by sp_columns_read(): */
	char *taken; /* read from an input that is no regular file, as it was, or NULL */
	size_t taken_bytes;
	int taken_fd; /* what it was read from; -1: standard input, or nothing is taken */
	bool empty;   /* there is no header */
	char **names;
	size_t n;
};

/* Does this begin as a name does, and no number? */
SP_API bool sp_columns_is_name(const char *text);

SP_API SP_MUST_CHECK int sp_columns_read(struct sp_columns *c, struct sp_errinfo *err);
SP_API void sp_columns_close(struct sp_columns *c);

/*
 * The number, from 1, of the column whose name the text begins with, in quotes or not; *rest is
 * what follows the name: the end, or one of the bytes of `ends`.
 */
SP_API SP_MUST_CHECK int sp_columns_find(const struct sp_columns *c, const char *text,
					 const char *ends, size_t *number, const char **rest,
					 struct sp_errinfo *err);
/* *key: NAME[:OPTS] as FIELD,FIELDOPTS, for free(); b of OPTS holds at both ends. */
SP_API SP_MUST_CHECK int sp_columns_key(const struct sp_columns *c, const char *text, char **key,
					struct sp_errinfo *err);
/* -EINVAL: there is a header, and it has no column of that number. */
SP_API SP_MUST_CHECK int sp_columns_check(const struct sp_columns *c, size_t number,
					  struct sp_errinfo *err);

#endif
