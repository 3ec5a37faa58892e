/* SPDX-License-Identifier: MIT */
/*
 * Facts on records from which schema and style of a table follow: the first ones of an input, or
 * all.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "base/mem.h"
#include "table/input/fieldends.h"
#include "table/input/infer.h"
#include "table/schema/schema.h"

/* Fields of a column of CSV that are not NULL, and were ... */
struct sp__sample_quotes {
	uint64_t quoted;   /* in quotes */
	uint64_t needless; /* in quotes, without need */
	uint64_t none;
};

struct sp__sample {
	char separator;
	bool csv;
	bool exact;	       /* as of an inference */
	const char *null_text; /* the spelling of NULL */
	uint64_t words_bytes;  /* maximum memory of all words */
	struct sp__budget *budget;
	struct sp_errinfo *err;
	uint32_t fields; /* of the first record; 0: none yet */
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
	struct sp__sample_quotes *quotes; /* of each field */
	struct sp__bytes unquoted;
};

/* Initialises; the caller has set the members up to err. */
SP_MUST_CHECK int sp__sample_add(struct sp__sample *s, const char *text, uint32_t bytes);
void sp__sample_free(struct sp__sample *s);
/*
 * True if all fields of a column are in quotes, but not all of the file: no style would write
 * numbers or dates so, and they are texts.
 */
bool sp__sample_is_text(const struct sp__sample *s, uint32_t column);
/* Returns the style of quotes of the first n columns, whose types are known. */
enum sp__table_quoting sp__sample_quoting(const struct sp__sample *s,
					  const struct sp__table_schema *schema);
