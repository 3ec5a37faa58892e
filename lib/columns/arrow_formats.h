/* SPDX-License-Identifier: MIT */
/*
 * Formats of Arrow: how the values of a column are read, and the type of the table that holds them.
 *
 *	c s i l C S I L f g	i8 ... u64, f32, f64
 *	b			u8
 *	e			f32: numbers of 2 bytes
 *	d:P,S[,BITS]		dec(S), of the width that P digits need; S from 0 to 18
 *	tdD tdm			date: days, or milliseconds of whole days
 *	ts{s,m,u,n}:ZONE	time(0), time(3), time(6); nanoseconds are whole microseconds
 *	tt{s,m,u,n} tD{s,m,u,n}	i32 or i64: a time of day, a duration
 *	u U vu z Z vz w:N	text
 *	n			text, all NULL
 *
 * and dictionaries of these.  A wider type holds values that the type does not have, or that stand
 * for NULL there: integers and decimals of twice the bytes; integers for dates and times; Zx for Z.
 *
 * A column keeps a format (sp__column.arrow) if its type alone would make another one: b, Z,
 * Zx, times with a zone, times of a day, durations, and dates and times that are integers here.
 */
#pragma once

#include <stdint.h>
#include "columns/schema.h"

#define SP__ARROW_ESCAPE 0xFE

/*
 * The Arrow C data and C stream interfaces: three structs with fixed members, by which libraries
 * exchange columns without a copy and without a common library.
 *
 * The macros are those of the interface's specification, so that another header with the same
 * structs can be included, too.
 */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *schema); /* NULL: released */
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	/* Each returns 0 or an errno. */
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};

#endif

enum sp__arrow_form {
	SP__ARROW_PLAIN, /* integers and floats of the table's kind, perhaps of fewer bytes */
	SP__ARROW_BITS,
	SP__ARROW_HALF,
	SP__ARROW_DECIMAL,
	SP__ARROW_DAYS_MS, /* milliseconds of whole days */
	SP__ARROW_TIME,	   /* units of a second */
	SP__ARROW_TEXT,	   /* texts that offsets find */
	SP__ARROW_VIEW,	   /* texts that views find */
	SP__ARROW_FIXED,   /* texts of one length */
	SP__ARROW_NULLS,   /* no values */
};

struct sp__arrow_format {
	enum sp__arrow_form form;
	bool is_utf8;
	bool escaped;		   /* bytes that begin with 0xFE or 0xFF have 0xFE before them */
	uint32_t bytes;		   /* bytes of a value, an offset or a view; 0: bits or no values */
	int power;		   /* digits by which decimals are shifted left */
	uint64_t multiply, divide; /* factors that make microseconds of times */
	struct sp__value_type type; /* type of the table's column */
	const char *kept;	    /* the format that the column keeps, borrowed; NULL: none */
};

/* Finds how values of a format are read.  False: a table has no such type. */
bool sp__arrow_format(const char *format, struct sp__arrow_format *f);
/* Finds the format of the numbers of a dictionary.  False: they are not integers. */
bool sp__arrow_codes(const char *format, struct sp__arrow_format *f);
/* Makes f->type the next type that has more values.  False: there is none. */
bool sp__arrow_wider(const char *format, struct sp__arrow_format *f);
/* Returns the noun for a format, such as "list"; "": it is not known. */
const char *sp__arrow_noun(const char *format);

/*
 * The schema of a record batch of Arrow that is made of columns.
 *
 *	i8 ... u64, f32, f64	c s i l C S I L f g
 *	dec(S)			d:P,S: decimal128, with the digits P that the width can have
 *	date, time(D)		tdD; tss:, tsm: or tsu:, the coarsest that holds D decimals
 *	texts			U: UTF-8 with offsets of 8 bytes
 *
 * or the format that the column keeps, if its type can still be that one.
 */
#define SP__ARROW_FORMAT_TEXT (SP__COLUMN_ARROW_MAX + 1)
/* Returns the units of a time with so many decimals in microseconds: 1000000, 1000 or 1. */
int64_t sp__arrow_time_unit(unsigned decimals);
/*
 * Finds the format of Arrow of a column, and how its values are written; f->type is the column's.
 */
void sp__arrow_column_format(const struct sp__column *c, char text[SP__ARROW_FORMAT_TEXT],
			     struct sp__arrow_format *f);
/*
 * Makes the schema of a record batch of these columns, which the consumer releases.  Returns 0 or
 * -ENOMEM, and then nothing is to be released.
 */
SP_MUST_CHECK int sp__arrow_schema(struct ArrowSchema *out, const struct sp__schema *s,
				   const uint32_t *columns, uint32_t n);
