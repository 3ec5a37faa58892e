/* SPDX-License-Identifier: MIT */
/*
 * Splits lines into fields by the rules of join; reads and compares the names of columns in header
 * records.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/utf8mark.h"
#include "rec/csvblock.h"
#include "rec/fields.h"

/* Maximum bytes of a name in a message. */
#define SHOWN_BYTES 64
/* Maximum bytes of the name cN of a column without a name, with the end of the text. */
#define NUMBERED_BYTES 22

static void init_cut(struct sp__cut *cut, const struct sp_recfmt *f, int separator)
{
	const bool csv = f->kind == SP_REC_CSV;
	const char byte = csv ? f->separator : (char)separator;

	sp__cut_init(cut, csv || separator >= 0 ? &byte : NULL, 1, csv);
}

/* Splits a record into fields, without an empty one after trailing blanks. */
static int split(const struct sp__cut *cut, const struct sp_batch *record,
		 struct sp__fields *fields)
{
	size_t mark = sp__utf8_mark(record->data, record->bytes), bytes = record->bytes - mark;
	const char *text = record->data + mark;
	int rc = sp__fields_split(cut, text, bytes - (bytes && text[bytes - 1] == '\r'), fields);

	if (!rc && cut->kind == SP__CUT_BLANKS && fields->n && !fields->at[fields->n - 1].n)
		fields->n--;
	return rc;
}

/* Copies the names and their addresses to memory that is large enough. */
static void copy_names(const struct sp__cut *cut, const struct sp__fields *fields, char **names)
{
	char *text = (char *)(names + fields->n);

	for (size_t i = 0; i < fields->n; i++) {
		const char *p = fields->at[i].p, *end = p + fields->at[i].n;

		names[i] = text;
		if (cut->kind == SP__CUT_CSV)
			text = (char *)sp__csv_unquote(p, end, (unsigned char *)text);
		else
			text = mempcpy(text, p, fields->at[i].n);
		if (text == names[i])
			text += sprintf(text, "c%zu", i + 1);
		*text++ = '\0';
	}
}

int sp__header_names(const struct sp_recfmt *f, int separator, const struct sp_batch *record,
		     char ***names, size_t *n)
{
	struct sp__fields fields = { 0 };
	struct sp__cut cut;
	int rc;

	init_cut(&cut, f, separator);
	rc = split(&cut, record, &fields);
	*n = fields.n;
	*names = rc ? NULL
		    : malloc(fields.n * (sizeof(**names) + NUMBERED_BYTES) + record->bytes + 1);
	if (*names)
		copy_names(&cut, &fields, *names);
	free(fields.at);
	return *names ? 0 : -ENOMEM;
}

const char *sp__header_uncut(size_t columns, int separator, char text[SP__UNCUT_BYTES])
{
	text[0] = '\0';
	if (columns != 1)
		return text;
	if (separator < 0) {
		snprintf(text, SP__UNCUT_BYTES, "; without -t or --csv, blanks separate columns");
		return text;
	}
	snprintf(text, SP__UNCUT_BYTES,
		 separator == '\t'		      ? "; it does not have the separator '\\t'"
		 : separator < ' ' || separator > '~' ? "; it does not have the separator '\\%03o'"
						      : "; it does not have the separator '%c'",
		 separator);
	return text;
}

/* Makes a name printable: names are untrusted, and control characters could reach a terminal. */
static const char *shown(const char *name, char text[SHOWN_BYTES + 3])
{
	size_t n = 1;

	text[0] = '\'';
	for (; *name && n <= SHOWN_BYTES; name++, n++)
		text[n] = (unsigned char)*name < ' ' || *name == '\x7f' ? '?' : *name;
	text[n] = '\'';
	text[n + 1] = '\0';
	return text;
}

struct names {
	char **at;
	size_t n;
};

static int differ(const struct names *own, const struct names *first,
		  const struct sp__header_record *of[2], struct sp_errinfo *err)
{
	char text[2][SHOWN_BYTES + 3];

	for (size_t i = 0; i < own->n && i < first->n; i++)
		if (strcmp(own->at[i], first->at[i]) != 0)
			return sp__errf(err, SP_EFORMAT, "read", of[0]->input, -1,
					"header differs from that of %s: column %zu is %s, not %s",
					of[1]->input, i + 1, shown(own->at[i], text[0]),
					shown(first->at[i], text[1]));
	if (own->n == first->n)
		return 0;
	return sp__errf(err, SP_EFORMAT, "read", of[0]->input, -1,
			"header differs from that of %s: it has %zu columns, not %zu", of[1]->input,
			own->n, first->n);
}

int sp__header_compare(const struct sp_recfmt *f, int separator,
		       const struct sp__header_record *own, const struct sp__header_record *first,
		       struct sp_errinfo *err)
{
	struct names a = { 0 }, b = { 0 };
	int rc;

	if (own->text.bytes == first->text.bytes &&
	    !memcmp(own->text.data, first->text.data, own->text.bytes))
		return 0;
	rc = sp__header_names(f, separator, &own->text, &a.at, &a.n);
	if (!rc)
		rc = sp__header_names(f, separator, &first->text, &b.at, &b.n);
	if (rc)
		rc = sp__err(err, rc, "allocate", NULL, -1);
	else
		rc = differ(&a, &b, (const struct sp__header_record *[2]){ own, first }, err);
	free(a.at);
	free(b.at);
	return rc;
}

const char sp__no_field[1] = "";

/* The position of a walk over a line's fields. */
struct walk {
	const struct sp__cut *cut;
	const char *at, *end;
	bool over;
};

void sp__cut_init(struct sp__cut *cut, const char *sep, size_t sep_bytes, bool csv)
{
	*cut = (struct sp__cut){ .kind = SP__CUT_BLANKS, .sep = " ", .sep_bytes = 1 };
	for (int c = 0; c < 256; c++) {
		cut->blank[c] = isblank(c) || c == '\n';
		cut->upper[c] = (unsigned char)toupper(c);
	}
	if (!sep)
		return;
	memcpy(cut->sep, sep, sep_bytes);
	cut->sep_bytes = sep_bytes;
	if (csv)
		cut->kind = SP__CUT_CSV;
	else if (sep_bytes > 1)
		cut->kind = SP__CUT_TEXT;
	else
		cut->kind = *sep == '\n' ? SP__CUT_WHOLE : SP__CUT_BYTE;
}

static const char *skip(const struct sp__cut *cut, const char *p, const char *end, bool blanks)
{
	while (p < end && cut->blank[(unsigned char)*p] == blanks)
		p++;
	return p;
}

static struct walk begin(const struct sp__cut *cut, const char *line, size_t bytes)
{
	struct walk w = { cut, line, line + sp__line_trim(cut, line, bytes), false };

	w.over = w.at == w.end;
	if (cut->kind == SP__CUT_BLANKS) {
		w.at = skip(cut, w.at, w.end, true);
		w.over = w.at == w.end;
	}
	return w;
}

/* Finds the next field, if separators are not one byte each; false: there is none. */
static bool step(struct walk *w, struct sp__slice *field)
{
	const struct sp__cut *cut = w->cut;
	const char *stop = w->end;

	if (w->over)
		return false;
	if (cut->kind == SP__CUT_BLANKS)
		stop = skip(cut, w->at, w->end, false);
	else if (cut->kind == SP__CUT_TEXT)
		stop = memmem(w->at, (size_t)(w->end - w->at), cut->sep, cut->sep_bytes);
	if (!stop)
		stop = w->end;
	*field = (struct sp__slice){ w->at, (size_t)(stop - w->at) };
	w->over = stop == w->end;
	if (!w->over)
		w->at = cut->kind == SP__CUT_BLANKS ? skip(cut, stop, w->end, true)
						    : stop + cut->sep_bytes;
	return true;
}

/* Splits a line at separators of one byte. */
static int split_at_bytes(const struct sp__cut *cut, const char *p, const char *end,
			  struct sp__fields *fields)
{
	const char *begin = p;
	unsigned state = SP__CSV_START, bytes;
	struct sp__slice *to;
	uint64_t found;

	for (; p < end; p += bytes) {
		bytes = sp__csv_separators(p, end, true, cut->sep[0], cut->kind == SP__CUT_CSV,
					   &state, &found);
		if (!SP__ARRAY_GROW(fields->at, fields->capacity, fields->n + SP__CSV_BLOCK + 1))
			return -ENOMEM;
		for (to = fields->at + fields->n; found; found &= found - 1) {
			const char *stop = p + __builtin_ctzll(found);

			*to++ = (struct sp__slice){ begin, (size_t)(stop - begin) };
			begin = stop + 1;
		}
		fields->n = (size_t)(to - fields->at);
	}
	if (begin < end || fields->n)
		fields->at[fields->n++] = (struct sp__slice){ begin, (size_t)(end - begin) };
	return 0;
}

int sp__fields_split(const struct sp__cut *cut, const char *line, size_t bytes,
		     struct sp__fields *fields)
{
	struct walk w = begin(cut, line, bytes);
	struct sp__slice field;

	fields->n = 0;
	if (cut->kind == SP__CUT_CSV || cut->kind == SP__CUT_BYTE)
		return split_at_bytes(cut, w.at, w.end, fields);
	for (; step(&w, &field); fields->at[fields->n++] = field)
		if (!SP__ARRAY_GROW(fields->at, fields->capacity, fields->n + 1))
			return -ENOMEM;
	return 0;
}

/* Finds field k of a line that is not empty, if separators are one byte each. */
static bool find_at_bytes(const struct sp__cut *cut, const char *p, const char *end, size_t k,
			  struct sp__slice *field)
{
	const bool csv = cut->kind == SP__CUT_CSV;
	const char sep = cut->sep[0], *stop;

	if (csv) {
		p = sp__csv_field(p, end, sep, k);
	} else if (k) {
		p = sp__find_nth(p, end, sep, k);
		p = p == end ? NULL : p + 1;
	}
	if (!p)
		return false;
	stop = csv ? sp__csv_field_end(p, end, sep) : sp__find_byte(p, end, sep);
	*field = (struct sp__slice){ p, (size_t)(stop - p) };
	return true;
}

bool sp__field_find_slow(const struct sp__cut *cut, const char *line, size_t bytes, size_t k,
			 struct sp__slice *field)
{
	struct walk w;

	if (cut->kind == SP__CUT_FIXED) {
		*field = (struct sp__slice){ line + cut->fixed[k].offset, cut->fixed[k].length };
		return true;
	}
	*field = (struct sp__slice){ sp__no_field, 0 };
	w = begin(cut, line, bytes);
	if (cut->kind == SP__CUT_CSV || cut->kind == SP__CUT_BYTE)
		return !w.over && find_at_bytes(cut, w.at, w.end, k, field);
	do {
		if (!step(&w, field)) {
			*field = (struct sp__slice){ sp__no_field, 0 };
			return false;
		}
	} while (k--);
	return true;
}
