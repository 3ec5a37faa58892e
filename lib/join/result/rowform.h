/* SPDX-License-Identifier: MIT */
/*
 * Assembles records of the result from columns that have names: objects of JSON, or CSV of the
 * members of JSON.
 *
 * A column is a member of a record of JSON, by its path, or a field of another record.  A column of
 * the key is from the first file that has a record.  A value of JSON is an object's as it is
 * written, and its text in CSV.  A field is a text in an object, or a number if its key is compared
 * as one; an empty one is null.
 *
 * Thread rule: a form is immutable once all columns are added; each emit has its own memory.
 */
#pragma once

#include <spindle/join.h>
#include "base/mem.h"
#include "rec/fields.h"

struct sp__emit;
struct sp__line;

struct sp__rowcolumn {
	unsigned file;	 /* from 0 */
	bool key;	 /* in the first file that has a record */
	bool number;	 /* a field that is a number, if it can be one */
	size_t field[2]; /* field or number of the path; of a key in file 1 and 2 */
	char *name;	 /* owned: as it is written, in an object with the bytes around it */
	size_t name_bytes;
};

struct sp__rowform {
	bool csv; /* else objects */
	struct sp__rowcolumn *at;
	size_t n;
};

/* Adds a column with a copy of its name.  Returns 0; -EINVAL with the reason; or -ENOMEM. */
SP_MUST_CHECK int sp__rowform_add(struct sp__rowform *f, const struct sp__rowcolumn *c,
				  const char *name, struct sp_errinfo *err);
/*
 * Makes the columns opts->columns of records of JSON: adds their paths to e->own_paths.  Returns 0;
 * -EINVAL with the reason; or -ENOMEM.
 */
SP_MUST_CHECK int sp__rowform_members(struct sp__rowform *f, struct sp__emit *e);
void sp__rowform_release(struct sp__rowform *f);

/* Writes the names of the columns, as the first record of CSV; the caller counts it. */
void sp__rowform_header(struct sp__emit *e);
/*
 * Writes a record of the result without its end, from the members or fields that have been found in
 * the records of all files.  Returns 0 or an error, recorded in e->err.
 */
SP_MUST_CHECK int sp__rowform_put(struct sp__emit *e, const struct sp__line *const *of);
