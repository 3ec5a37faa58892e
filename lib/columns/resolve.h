/* SPDX-License-Identifier: MIT */
/*
 * Makes the schema of a table from what the user says, the header and a sample of the records.
 *
 * Thread rule: one thread.
 */
#pragma once

#include <spindle/batch.h>
#include "base/mem.h"
#include "columns/fieldends.h"
#include "columns/infer.h"
#include "columns/members.h"
#include "columns/schema.h"
#include "columns/textchunk.h"

/* Fields of a column of CSV that are not NULL, and were ... */
struct sp__sample_quotes {
	uint64_t quoted;   /* in quotes */
	uint64_t needless; /* in quotes, without need */
	uint64_t none;
};

/* Facts on records from which schema and style follow: the first ones of an input, or all. */
struct sp__sample {
	char separator;
	bool csv;
	bool json;			    /* lines of JSON, whose fields are the members */
	bool exact;			    /* as in struct sp__inference */
	const struct sp__schema *described; /* with json: columns that the user described */
	const char *null_text;		    /* the spelling of NULL */
	uint64_t words_bytes;		    /* maximum memory of all words */
	struct sp__budget *budget;
	struct sp_errinfo *err;
	uint32_t fields; /* fields of the first record; 0: none yet */
	bool cr;	 /* the first record ends with CR LF */
	bool last_empty; /* the last field of the first record is empty, and not in quotes */
	/*
	 * Fields of a record that has another number of them, or one that is exceeded; 0: none.
	 * Records after it do not count.
	 */
	uint32_t wrong;
	uint32_t wrong_at; /* its offset in the text that was added last */
	uint64_t records, bytes;
	struct sp__fieldends ends;
	struct sp__inference inference;
	struct sp__sample_quotes *quotes; /* quotes of each field */
	struct sp__bytes unquoted;
	struct sp__members members; /* of JSON; a field has the number of its member */
	struct sp__member_reader reader;
};
/*
 * Adds the records of a text.  Before the first call the caller sets the members up to err, and
 * zeroes the others.  Returns 0; or an error, recorded in err.
 */
SP_MUST_CHECK int sp__sample_add(struct sp__sample *s, const char *text, uint32_t bytes);
void sp__sample_free(struct sp__sample *s);
/* jsonsample.c: adds the records of lines of JSON. */
SP_MUST_CHECK int sp__sample_add_json(struct sp__sample *s, const char *text, uint32_t bytes);
/* True if a field that is a column has no value. */
bool sp__sample_lacks_values(const struct sp__sample *s);

struct sp__resolve_opts {
	enum sp_recfmt_kind format;
	char separator;
	/*
	 * Columns that the user describes: all of them (`all`), in their order; or types of some,
	 * by name; or, without a header, all names and types.
	 */
	const struct sp__schema *described;
	bool all;
	const char *null_text; /* the spelling of NULL; NULL: the empty field */
	bool has_header;
	struct sp_batch header;		 /* header as it was read; no bytes: the input is empty */
	const char *input;		 /* for messages */
	const struct sp__sample *sample; /* NULL: none */
	bool whole;			 /* the sample has all records */
	bool again;			 /* the records can be read again, for other types */
	bool exact;			 /* fields must come back as they are */
};

/* The schema, and how its records are read. */
struct sp__resolved {
	struct sp__schema schema;
	uint32_t fields; /* fields of a record; with a trailing separator one more than columns */
	/* Of each column: which values contradict the inference from a part of the records. */
	enum sp__textchunk_check *checks;
	enum sp__infer_note *notes;
	bool *inferred;	 /* of each column: its type is inferred */
	bool last_named; /* the last column has values, and an empty name in the header */
};

/*
 * jsonsample.c: makes the columns of lines of JSON.  Returns 0; -E2BIG; -ENOMEM; or SP_ESYNTAX with
 * the reason.
 */
SP_MUST_CHECK int sp__sample_columns(struct sp__schema *s, const struct sp__resolve_opts *o,
				     struct sp_errinfo *err);
/* Returns 0; SP_ESYNTAX with the reason; or -ENOMEM.  The caller frees r in any case. */
SP_MUST_CHECK int sp__resolve(struct sp__resolved *r, const struct sp__resolve_opts *o,
			      struct sp_errinfo *err);
/* Frees all members; zeroes r. */
void sp__resolved_free(struct sp__resolved *r);
