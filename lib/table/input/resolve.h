/* SPDX-License-Identifier: MIT */
/*
 * Makes the schema of a table from what the user says, the header and a sample of the records.
 */
#pragma once

#include <spindle/batch.h>
#include "table/input/sample.h"
#include "table/input/textchunk.h"

struct sp__resolve_opts {
	enum sp_table_format format;
	char separator;
	/*
	 * Columns that the user describes: all of them (`all`), in their order; or types of some,
	 * by name; or, without a header, all names and types.
	 */
	const struct sp__table_schema *described;
	bool all;
	const char *null_text; /* the spelling of NULL; NULL: the empty field */
	bool has_header;
	struct sp_batch header;		 /* as it was read; no bytes: the input is empty */
	const char *input;		 /* for messages */
	const struct sp__sample *sample; /* NULL: none */
	bool whole;			 /* the sample has all records */
	bool again;			 /* the records can be read again, for other types */
	bool exact;			 /* fields must come back as they are */
};

/* The schema, and how its records are read. */
struct sp__resolved {
	struct sp__table_schema schema;
	uint32_t fields; /* of a record; with a trailing separator one more than columns */
	/* Of each column: which values contradict the inference from a part of the records. */
	enum sp__textchunk_check *checks;
	enum sp__infer_note *notes;
	bool last_named; /* the last column has values, and an empty name in the header */
};

/* Returns 0; SP_ESYNTAX with the reason; or -ENOMEM.  The caller frees r in any case. */
SP_MUST_CHECK int sp__resolve(struct sp__resolved *r, const struct sp__resolve_opts *o,
			      struct sp_errinfo *err);
/* Frees all members; zeroes r. */
void sp__resolved_free(struct sp__resolved *r);
