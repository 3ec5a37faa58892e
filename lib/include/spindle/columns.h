/* SPDX-License-Identifier: MIT */
/*
 * Columns by name: reads the header of an input before its records, and finds the columns in it.
 * It does not parse records.
 *
 * A pipe can be read only once.  Therefore its descriptor stays open, so that its writer can
 * continue, and the bytes read must be passed on with the input.
 *
 * The caller sets the members up to sample_max, and the others to zeros.  It calls
 * sp_columns_close() whether sp_columns_read() succeeds or not.
 *
 * Ownership: the struct owns the names, the sample, `taken` and the descriptor; sp_columns_close()
 * frees and closes them.  A caller that takes over `taken` sets it to NULL before; it then frees it
 * with free(), and owns the descriptor.  Texts are borrowed until sp_columns_close().
 * Errors: -EINVAL if the header or a name is wrong, with the reason in err->text. err may be NULL.
 * Thread rule: one thread fills in and closes a struct.  In between, any number of threads may
 * search it.
 */
#ifndef SPINDLE_COLUMNS_H
#define SPINDLE_COLUMNS_H

#include <spindle/packed.h>

struct sp_columns {
	const char *input;	 /* path; "-": standard input */
	bool csv;		 /* fields may be in quotes */
	int separator;		 /* byte between fields; -1: runs of blanks */
	char eol;		 /* byte that ends a line */
	uint64_t header_records; /* records of the header; the first one has the names */
	enum sp_packed decompress;
	/* Returns a name as the text of an error shows it; NULL: in '...'. */
	const char *(*quote)(const char *name);
	/* Refuse an input that is not a regular file, before it is opened. */
	bool only_regular;
	size_t sample_max; /* bytes of the input, unpacked, to read for a sample; 0: none */
	/* Filled in by sp_columns_read(): */
	char *taken; /* bytes read from an input that is not a regular file, or NULL */
	size_t taken_bytes;
	int taken_fd; /* their source; -1: standard input, or nothing is taken */
	bool empty;   /* the input has no header */
	char **names;
	size_t n; /* columns */
	/*
	 * The sample: the records after the header that end within the first sample_max bytes,
	 * terminators included.
	 */
	char *sample;
	size_t sample_bytes;
};

/* Returns true if a text begins like a name and not like a number. */
SP_API bool sp_columns_is_name(const char *text);

/*
 * Opens the input, reads its header and fills in the names.
 * Returns 0 or an error:
 *   -EINVAL: the header is wrong, for example if two columns have one name
 *   SP_EUNSUP: only_regular is set and the input is not a regular file, or this build lacks its
 *       compressed format
 *   SP_EFORMAT: the compressed input is damaged
 *   -errno: the input could not be opened (err->op "open") or read ("read")
 */
SP_API SP_MUST_CHECK int sp_columns_read(struct sp_columns *c, struct sp_errinfo *err);

/* Frees the names, the sample and `taken`, and closes the descriptor. */
SP_API void sp_columns_close(struct sp_columns *c);

/*
 * Finds the column whose name a text begins with, in quotes or not.
 * ends: the bytes that can follow the name.
 * number: the column, counted from 1.
 * rest: the text behind the name: its end, or one of the bytes of `ends`.
 * Returns 0; -EINVAL if no column has this name, several have it, or a quote does not end; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_columns_find(const struct sp_columns *c, const char *text,
					 const char *ends, size_t *number, const char **rest,
					 struct sp_errinfo *err);

/*
 * Translates NAME[:OPTS] into a key by number, FIELD,FIELDOPTS.  The letter b in OPTS holds at both
 * ends.
 * key: the result, to be freed with free(); NULL after an error.
 * Returns 0; -EINVAL as for sp_columns_find(), or if OPTS are not letters; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_columns_key(const struct sp_columns *c, const char *text, char **key,
					struct sp_errinfo *err);

/*
 * Checks a column number, counted from 1, against the header.
 * Returns 0, or -EINVAL if there is a header with fewer columns.
 */
SP_API SP_MUST_CHECK int sp_columns_check(const struct sp_columns *c, size_t number,
					  struct sp_errinfo *err);

#endif
