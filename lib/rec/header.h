/* SPDX-License-Identifier: MIT */
/*
 * Reads and compares the names of columns in header records.
 */
#pragma once

#include "rec/fields.h"

/*
 * Returns the names in a header record of this format, given without its terminator.  separator: of
 * lines, -1: runs of blanks.  A byte order mark at the beginning and a carriage return at the end
 * are not part of a name.  Column N is cN if its name is empty.  The names are NUL-terminated and
 * are stored in one block of memory, for free(), with the pointers to them: *names.  Returns 0 or
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__header_names(const struct sp_recfmt *f, int separator,
				   const struct sp_batch *record, char ***names, size_t *n);

#define SP__UNCUT_BYTES 64
/* Returns the end of a message if a header of one column has no separator; else an empty text. */
const char *sp__header_uncut(size_t columns, int separator, char text[SP__UNCUT_BYTES]);

/* One header record of an input. */
struct sp__header_record {
	const char *input;    /* its name */
	struct sp_batch text; /* without terminator */
};

/*
 * Compares the names in two header records; quotes around a name, a mark and a carriage return are
 * ignored.  Returns 0, -ENOMEM, or SP_EFORMAT with the column that differs.
 */
SP_MUST_CHECK int sp__header_compare(const struct sp_recfmt *f, int separator,
				     const struct sp__header_record *own,
				     const struct sp__header_record *first, struct sp_errinfo *err);
