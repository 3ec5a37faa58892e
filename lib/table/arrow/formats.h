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
 * A column keeps a format (sp__table_column.arrow) if its type alone would make another one: b, Z,
 * Zx, times with a zone, times of a day, durations, and dates and times that are integers here.
 */
#pragma once

#define SP__ARROW_ESCAPE 0xFE

#include "table/arrow/abi.h"
#include "table/schema/schema.h"

enum sp__arrow_form {
	SP__ARROW_PLAIN, /* integers and floats of the table's kind, perhaps of fewer bytes */
	SP__ARROW_BITS,
	SP__ARROW_HALF,
	SP__ARROW_DECIMAL,
	SP__ARROW_DAYS_MS, /* milliseconds of whole days */
	SP__ARROW_TIME,	   /* units of a second */
	SP__ARROW_TEXT,	   /* found by offsets, */
	SP__ARROW_VIEW,	   /* or by views, */
	SP__ARROW_FIXED,   /* or of one length */
	SP__ARROW_NULLS,   /* no values */
};

struct sp__arrow_format {
	enum sp__arrow_form form;
	bool is_utf8;
	bool escaped;	/* bytes that begin with 0xFE or 0xFF have 0xFE before them */
	uint32_t bytes; /* of a value, an offset or a view in Arrow; 0: bits or no values */
	int power;	/* of decimals: their digits are shifted left by it */
	uint64_t multiply, divide;  /* of times: makes microseconds */
	struct sp__value_type type; /* of the table's column */
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
