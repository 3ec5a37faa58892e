/* SPDX-License-Identifier: MIT */
/*
 * A condition of the records of a result, on the fields of the records that they are made of.
 *
 * Thread rule: a condition is immutable once parsed; each emit has its own memory to evaluate it.
 */
#pragma once

#include <spindle/join.h>
#include "base/mem.h"
#include "expr/expr.h"
#include "rec/fields.h"

/* Returns the name of a field of a header, for free(); NULL: no memory. */
char *sp__header_name(const struct sp__cut *cut, const struct sp__slice *f);

struct sp__emit;
struct sp__line;
struct sp__joincondition;

/*
 * Parses e->opts->where.  headers: the headers of all files without byte order marks, data NULL for
 * a file without one; NULL: records have no header.  Overwrites e->fields.  Returns 0; SP_EFORMAT
 * or -EINVAL with the reason; or -ENOMEM.
 */
SP_MUST_CHECK int sp__joincondition_parse(struct sp__joincondition **w, struct sp__emit *e,
					  const struct sp__line *headers, struct sp_errinfo *err);
void sp__joincondition_free(struct sp__joincondition *w); /* accepts NULL */

/* What an emit has of it; zeroed at first. */
struct sp__joinfiltering {
	struct sp__expr_scratch *scratch;
	struct sp__slice *columns;
	struct sp__bytes unquoted;
	uint64_t records; /* left out */
};

/*
 * Sets *chosen: true if the condition e->where is true for the record that is made of a record of
 * each file; NULL: no record.  Sets e->fields.  Returns 0 or an error, recorded in e->err.
 */
SP_MUST_CHECK int sp__joincondition_choose(struct sp__emit *e, const struct sp__line *const *of,
					   bool *chosen);
void sp__joinfiltering_release(struct sp__joinfiltering *f);
