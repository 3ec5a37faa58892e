/* SPDX-License-Identifier: MIT */
/*
 * A condition of the records of a scan.
 *
 * Thread rule: a condition is immutable; each scan has its own memory to evaluate it.
 */
#pragma once

#include "expr/expr.h"
#include "rec/jsonread.h"
#include "rec/recfmt.h"

/* The names of columns; n is 0 if records have none. */
struct sp__column_names {
	char *const *names;
	size_t n;
	bool unknown; /* the input is empty: every name is a column that no record has */
	struct sp__json_paths *paths; /* records are JSON: names are paths, which are added */
};

/*
 * Finds a name.  *field: its number from 0, of a path its number in the set; SIZE_MAX if it is
 * unknown.  Returns 0, -EINVAL with the reason, or -ENOMEM.
 */
SP_MUST_CHECK int sp__column_names_find(const struct sp__column_names *in, const char *name,
					size_t bytes, size_t *field, struct sp_errinfo *err);

struct sp__condition_opts {
	struct sp_recfmt format;
	int separator; /* between fields of lines; -1: runs of blanks */
	struct sp__column_names names;
};

struct sp__condition;

/*
 * Parses a condition.  Returns 0; -EINVAL with the reason; SP_EUNSUP: records have no fields; or
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__condition_new(struct sp__condition **where, const char *text,
				    const struct sp__condition_opts *opts, struct sp_errinfo *err);
void sp__condition_free(struct sp__condition *w); /* accepts NULL */

/* What a scan has of it; zeroed at first. */
struct sp__filtering {
	struct sp_batch rest; /* records of the batch that have not been decided */
	struct sp__json_value *values;
	struct sp__json_reader json;
	struct sp__json_error not_json; /* wanted: NULL unless a record is not JSON */
	uint64_t records, bytes;	/* left out */
	struct sp__fields fields;
	struct sp__slice *columns;
	struct sp__bytes unquoted;
	struct sp__expr_scratch *scratch;
	struct sp__expr_bad bad;
};

void sp__filtering_release(struct sp__filtering *c);
/*
 * Takes the next records for which the condition is true from c->rest: *batch, which can be empty.
 * Returns 0; SP_EFORMAT: the first record of the rest has no value (c->bad); or -ENOMEM.
 */
SP_MUST_CHECK int sp__filtering_next(struct sp__filtering *c, const struct sp__condition *w,
				     struct sp_batch *batch);
/* Records the error of a value that is not what the condition needs.  Returns SP_EFORMAT. */
int sp__filtering_error(const struct sp__filtering *c, const char *input, uint64_t line,
			struct sp_errinfo *err);
