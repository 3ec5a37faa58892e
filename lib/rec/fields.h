/* SPDX-License-Identifier: MIT */
/*
 * Finds fields of a line, by the rules of join, and records of a batch.
 *
 * With a separator, fields lie between separators, empty ones included; an empty line has no field.
 * Otherwise blanks (and in NUL-terminated records also newlines) separate fields.  Leading blanks
 * are ignored, and trailing blanks make one more, empty field.  A line can also be a single field.
 *
 * "line, bytes" is a line without its terminator.  In CSV a carriage return at its end belongs to
 * the terminator.
 */
#pragma once

#include "base/mem.h"
#include "rec/jsonread.h"
#include "rec/key.h"
#include "rec/recfmt.h"

enum sp__cut_kind {
	SP__CUT_BYTE,	/* a separator of one byte */
	SP__CUT_TEXT,	/* ... of several: a character of the locale */
	SP__CUT_BLANKS, /* runs of blanks */
	SP__CUT_WHOLE,	/* not at all */
	SP__CUT_CSV,	/* RFC 4180: a separator of one byte outside quotes */
	SP__CUT_FIXED,	/* binary records: at given offsets, and only found one by one */
};

#define SP__SEPARATOR_MAX 16

struct sp__cut {
	enum sp__cut_kind kind;
	char sep[SP__SEPARATOR_MAX]; /* separator, also written between fields */
	size_t sep_bytes;
	bool blank[256];
	unsigned char upper[256];   /* for folded keys */
	const struct sp_key *fixed; /* SP__CUT_FIXED: fields, of both files */
};

struct sp__slice {
	const char *p;
	size_t n;
};

/* A growing list of fields; zero at the beginning, its owner frees at. */
struct sp__fields {
	struct sp__slice *at;
	size_t n, capacity;
};

/*
 * Initialises a cut.  sep NULL: runs of blanks, by the current LC_CTYPE.  With a newline as
 * separator, lines are not cut.
 */
void sp__cut_init(struct sp__cut *cut, const char *sep, size_t sep_bytes, bool csv);

/* Returns a line's length without a carriage return that is not part of its fields. */
static inline size_t sp__line_trim(const struct sp__cut *cut, const char *line, size_t bytes)
{
	return bytes - (cut->kind == SP__CUT_CSV && bytes && line[bytes - 1] == '\r');
}

/* Finds all fields of a line.  Returns 0 or -ENOMEM. */
int sp__fields_split(const struct sp__cut *cut, const char *line, size_t bytes,
		     struct sp__fields *fields);

/*
 * JSON: sets fields to the texts of values that were found, by their numbers.  Those with escapes
 * are written to `text` without them.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__json_fields(const struct sp__json_value *found, const size_t *numbers,
				  size_t n, size_t record_bytes, struct sp__bytes *text,
				  struct sp__slice *fields);

/* The address of a missing field. */
extern const char sp__no_field[1];

/* Finds field k, from 0; false, and an empty field at sp__no_field, if there is none. */
bool sp__field_find_slow(const struct sp__cut *cut, const char *line, size_t bytes, size_t k,
			 struct sp__slice *field);

/* Returns the first byte c, or end. */
static inline const char *sp__find_byte(const char *p, const char *end, char c)
{
	return sp__find_nth(p, end, c, 1);
}

/*
 * Returns the end of the record at "at" of a batch that extends to end, terminator included;
 * *bytes: its length without terminator.
 */
static inline const char *sp__record_next(const struct sp_recfmt *f, const char *at,
					  const char *end, size_t *bytes)
{
	const char *stop;

	if (__builtin_expect(f->kind == SP_REC_LINE, 1)) {
		stop = sp__find_byte(at, end, f->eol);
		*bytes = (size_t)(stop - at);
		return stop + 1;
	}
	stop = sp__rec_end(f, at, (size_t)(end - at));
	*bytes = (size_t)(stop - at) - sp__rec_term(f);
	return stop;
}

static inline bool sp__field_find(const struct sp__cut *cut, const char *line, size_t bytes,
				  size_t k, struct sp__slice *field)
{
	if (__builtin_expect(k == 0 && cut->kind == SP__CUT_BYTE && bytes, 1)) {
		field->p = line;
		field->n = (size_t)(sp__find_byte(line, line + bytes, cut->sep[0]) - line);
		return true;
	}
	return sp__field_find_slow(cut, line, bytes, k, field);
}

#define SP__UNCUT_BYTES 64

/* One header record of an input. */
struct sp__header_record {
	const char *input;    /* its name */
	struct sp_batch text; /* without terminator */
};
/*
 * Returns the names in a header record of this format, given without its terminator.  separator: of
 * lines, -1: runs of blanks.  A byte order mark at the beginning and a carriage return at the end
 * are not part of a name.  Column N is cN if its name is empty.  The names are NUL-terminated and
 * are stored in one block of memory, for free(), with the pointers to them: *names.  Returns 0 or
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__header_names(const struct sp_recfmt *f, int separator,
				   const struct sp_batch *record, char ***names, size_t *n);
/* Returns the end of a message if a header of one column has no separator; else an empty text. */
const char *sp__header_uncut(size_t columns, int separator, char text[SP__UNCUT_BYTES]);
/*
 * Compares the names in two header records; quotes around a name, a mark and a carriage return are
 * ignored.  Returns 0, -ENOMEM, or SP_EFORMAT with the column that differs.
 */
SP_MUST_CHECK int sp__header_compare(const struct sp_recfmt *f, int separator,
				     const struct sp__header_record *own,
				     const struct sp__header_record *first, struct sp_errinfo *err);
