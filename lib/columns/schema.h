/* SPDX-License-Identifier: MIT */
/*
 * The schema of a table: names and types of its columns, and the style of the text that it was
 * loaded from, which makes the same bytes of its values again.
 *
 * Thread rule: immutable while several threads use it.
 */
#pragma once

#include <spindle/rec.h>
#include "base/coder.h"
#include "columns/dictionary.h"
#include "rec/value.h"

#define SP__COLUMNS_MAX 4096
#define SP__COLUMN_NAME_MAX 255 /* bytes */
#define SP__COLUMN_ARROW_MAX 255
#define SP__NULL_QUOTED "\"\"" /* a spelling of NULL: the empty field of CSV in quotes */

struct sp__column {
	char *name;
	struct sp__value_type type;
	bool not_null; /* the input has no NULL, and later values must not be NULL */
	bool bounds;   /* the directory keeps bounds of it */
	bool json; /* of a table of JSON lines: its texts are values of JSON as they are written */
	struct sp__dictionary words; /* words of dict8 and dict16 */
	char *arrow; /* its format of Arrow (columns/arrow_formats.h); NULL: by type */
	/* The random number of its last change in place; 0: none since the load. */
	uint64_t changed;
	bool changing; /* by the change that is committed next */
};

/* These numbers are in the file. */
enum sp__columns_quoting {
	SP__QUOTES_NEEDED, /* fields of CSV that would be misread without quotes */
	SP__QUOTES_TEXT,   /* all fields of columns of text */
	SP__QUOTES_ALL,
};

struct sp__columns_style {
	enum sp_recfmt_kind format; /* these numbers are in the file, too */
	bool json;		    /* SP_REC_LINE: lines of JSON */
	enum sp__columns_quoting quoting;
	char separator;
	bool header;		 /* the first record has the names */
	bool trailing_separator; /* each record ends with a separator */
	bool cr;		 /* records end with CR LF */
	bool no_final_newline;	 /* the last record ends without a newline */
	char *null_text;	 /* the spelling of NULL; NULL: the empty unquoted field */
};

struct sp__schema {
	uint32_t n;
	struct sp__column *columns;
	struct sp__columns_style style;
	struct sp__budget *budget; /* budget of the dictionaries that are read; NULL: not charged */
	bool budget_exceeded;	   /* it is too small for them */
	bool arrow;		   /* a column can have a format of Arrow */
};

/* Frees all members; zeroes the schema. */
void sp__schema_free(struct sp__schema *s);
/*
 * Copies a column's name and type to the end.  Returns 0; -ENOMEM; or -E2BIG if there are
 * SP__COLUMNS_MAX columns, or the name has more than SP__COLUMN_NAME_MAX bytes.
 */
SP_MUST_CHECK int sp__schema_add(struct sp__schema *s, const char *name, size_t n,
				 const struct sp__value_type *type);
/* Returns the number of the column of that name; -1: none. */
int sp__schema_find(const struct sp__schema *s, const char *name, size_t n);
/* Returns the column name that needs the fewest edits to become this name; NULL: no columns. */
const char *sp__schema_nearest(const struct sp__schema *s, const char *name, size_t n);
/* Returns the number of the first column whose name an earlier column has, too; -1: none. */
int sp__schema_repeated(const struct sp__schema *s);
/*
 * Estimates the bytes of a printed value with a separator, without those of a text; and the sum of
 * such values of the columns for which columns[] is true.
 */
double sp__column_printed_bytes(const struct sp__column *c);
double sp__columns_printed_bytes(const struct sp__schema *s, const bool *columns);
/* True if the values of the column have bounds: at most 8 bytes, with an order, not a text. */
bool sp__column_type_bounded(const struct sp__value_type *type);
/*
 * Codes a schema as bytes (spindle-table(5)): all members but `changed` of the columns, which is in
 * the superblock, as `arrow` is.  A schema that is read is zero before, except budget and arrow;
 * the caller frees it, after a failure, too.
 */
void sp__schema_code(struct sp__coder *c, struct sp__schema *s);
