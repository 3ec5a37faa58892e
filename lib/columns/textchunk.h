/* SPDX-License-Identifier: MIT */
/*
 * A portion of the input: the text of consecutive records, and the values of their columns.  Tasks
 * parse several chunks at a time.
 *
 * Codes of dictionaries are those of the chunk's own words until sp__textchunk_map_words() has
 * exchanged them for the table's, which sp__textchunk_add_words() gives them chunk by chunk in the
 * order of the input.
 *
 * Thread rule: a chunk belongs to one thread at a time; the options are immutable.
 */
#pragma once

#include "base/mem.h"
#include "columns/vector.h"
#include "columns/fieldends.h"
#include "columns/members.h"
#include "columns/schema.h"

/* Values that a column refuses although its type holds them. */
enum sp__textchunk_check {
	SP__CHECK_NONE,
	SP__CHECK_UNSEEN,    /* all: the type was inferred before there was a value */
	SP__CHECK_VALUE,     /* numbers that f64 rounds */
	SP__CHECK_CANONICAL, /* values in another spelling than the column's */
	SP__CHECK_EXACT,     /* also NULL in another spelling */
};

struct sp__textchunk_opts {
	const struct sp__schema *schema;
	const enum sp__textchunk_check *checks; /* checks of each column; NULL: none */
	struct sp__fieldends_opts fields;
	uint32_t record_bytes;	     /* bytes of a record of fixed length; 0: the text has fields */
	struct sp__members *members; /* of lines of JSON; NULL: the text has fields */
	uint32_t max_records;
	uint32_t text_bytes; /* capacity */
	struct sp__budget *budget;
};

/* Why the text cannot be loaded. */
enum sp__textchunk_fault {
	SP__TEXTCHUNK_SOUND,
	SP__TEXTCHUNK_FIELDS,	/* a record has too few or too many */
	SP__TEXTCHUNK_VALUE,	/* a value does not fit its column; fit has the reason */
	SP__TEXTCHUNK_NULL,	/* ... is NULL, and the column's must not be */
	SP__TEXTCHUNK_WORDS,	/* ... is a word too many for the dictionary */
	SP__TEXTCHUNK_UNSEEN,	/* ... is the first one of its column, */
	SP__TEXTCHUNK_SPELLING, /* ... is spelled in another way than its column writes it, */
	SP__TEXTCHUNK_ROUNDED,	/* ... would be rounded */
	SP__TEXTCHUNK_MEMBER,	/* a record of JSON cannot be read; member has the reason */
};

struct sp__textchunk_error {
	enum sp__textchunk_fault fault;
	enum sp__value_fit fit;
	int rc;		  /* -ENOMEM or SP_EBUDGET */
	uint32_t record;  /* number of the record in the chunk's text, from 0 */
	uint32_t column;  /* or, with wrong fields, ... */
	uint32_t fields;  /* ... their number, or one that is exceeded */
	const char *text; /* the field, ... */
	uint32_t bytes;	  /* ... its length, ... */
	uint64_t line;	  /* ... and lines of the chunk's text before it */
	struct sp__member_error member;
};

struct sp__textchunk_column {
	uint8_t *values;
	struct sp__text_ref *refs;
	struct sp__dictionary words;
	uint16_t *codes; /* in the table's dictionary, of each code here; NULL: none is mapped */
	uint32_t mapped; /* words, those that were added first */
	bool respelled;	 /* a value, or NULL, was spelled in another way than it is written */
	bool mixed;	 /* of JSON: a value that is not a text has become one */
};

struct sp__textchunk {
	const struct sp__textchunk_opts *opts;
	char *text;	    /* changed by parsing: texts lose their quotes */
	uint32_t bytes, at; /* bytes of the text; bytes that are parsed */
	struct sp__fieldends ends;
	/* Offsets of the records, NULL: no dictionary; of JSON, the lines before each. */
	uint32_t *begins;
	/* Of JSON: the fields of records, one record after the other. */
	struct sp__text_ref *refs, *row;
	struct sp__member_reader reader;
	uint64_t made_texts;	    /* values of other kinds that have become texts */
	uint64_t line, blank_lines; /* lines of the text that are parsed, blank ones among them */
	uint32_t first, records;    /* records of the text whose values are there */
	struct sp__textchunk_column *columns;
	struct sp__column_values *values; /* values of the columns, for the writer */
	uint64_t lines;			  /* lines of the whole text, once it is parsed */
	/*
	 * Records that end with CR LF although the style's do not, or the reverse; and the last
	 * one.
	 */
	uint32_t other_ends;
	bool last_other;
	bool inexact; /* the style of the schema does not give the text back */
	struct sp__textchunk_error error;
	void *memory;
	uint64_t memory_bytes;
};

/* Returns the memory of a chunk, without words. */
uint64_t sp__textchunk_memory(const struct sp__textchunk_opts *o);
/* Allocates a chunk.  Returns 0 or -ENOMEM; after an error, too, it must be closed. */
SP_MUST_CHECK int sp__textchunk_open(struct sp__textchunk *c, const struct sp__textchunk_opts *o);
void sp__textchunk_close(struct sp__textchunk *c);

/* Begins a text of so many bytes, whole records, which are in c->text. */
void sp__textchunk_begin(struct sp__textchunk *c, uint32_t bytes);
/*
 * textchunk_json.c: finds the fields of further records of JSON.  Returns the number of these
 * records; *rc: the error of the next one, or 0.
 */
uint32_t sp__textchunk_read_members(struct sp__textchunk *c, int *rc);
/*
 * Parses further records, as many as the chunk has memory for.  True: there are more.  An error is
 * the first one of the text.
 */
bool sp__textchunk_parse(struct sp__textchunk *c);
/*
 * Adds new words of the chunk to the table's dictionaries.  Returns 0; or SP_EBUDGET, -ENOMEM or
 * -ENOSPC with c->error set.
 */
SP_MUST_CHECK int sp__textchunk_add_words(struct sp__textchunk *c, struct sp__schema *table);
/* Exchanges the codes of the chunk's words, which were added, for those of the table's. */
void sp__textchunk_map_words(struct sp__textchunk *c);
