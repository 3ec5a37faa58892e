/* SPDX-License-Identifier: MIT */
/*
 * Prints records: as lines with separators, as CSV, as lines of JSON, or as records of fixed
 * length.
 *
 * Thread rule: immutable once opened; any number of threads print with it.
 */
#pragma once

#include <spindle/table.h>
#include "columns/schema.h"
#include "columns/vector.h"

struct sp__table_output {
	const struct sp__schema *schema;
	enum sp_recfmt_kind format;
	bool json;		/* SP_REC_LINE: an object for each record */
	struct sp__bytes names; /* with json: the names of the columns, as members begin, */
	size_t *name_ends;	/* and where each ends */
	char separator;
	const char *null_text;
	size_t null_bytes;
	bool trailing_separator, cr, header;
	bool discard;	/* nothing is printed */
	bool fits_line; /* no text has to be checked for separators and newlines */
	enum sp__columns_quoting quoting;
	uint32_t n, *columns;  /* numbers, in the order of the output */
	uint64_t unterminated; /* number of the record that gets no newline; UINT64_MAX: none */
	size_t fixed_bytes;    /* maximum of a record's values that are no texts, with separators */
};

/*
 * Opens an output of columns, whose numbers it takes over.  format: SP_TABLE_AS_LOADED for that of
 * the schema.  Returns 0; or SP_EUNSUP if a column of text or of a dictionary cannot be printed
 * with a fixed length, or a name as JSON; or -ENOMEM.
 */
SP_MUST_CHECK int sp__output_open(struct sp__table_output *o, const struct sp__schema *schema,
				  enum sp_table_format format, uint32_t *columns, uint32_t n,
				  struct sp_errinfo *err);
void sp__output_close(struct sp__table_output *o);
/* Estimates the bytes of a record, without texts. */
double sp__output_record_bytes(const struct sp__table_output *o);
/* Append to b.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__output_header(const struct sp__table_output *o, struct sp__bytes *b,
				    struct sp__budget *budget);
/*
 * selected: offsets of n records in rows; NULL: the first n.  Returns 0; -ENOMEM; or SP_EUNSUP if a
 * text cannot be in a line or in JSON, which err says.
 */
SP_MUST_CHECK int sp__output_rows(const struct sp__table_output *o, const struct sp__rows *rows,
				  const uint32_t *selected, uint32_t n, struct sp__bytes *b,
				  struct sp__budget *budget, struct sp_errinfo *err);
