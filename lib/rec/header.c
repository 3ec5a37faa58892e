/* SPDX-License-Identifier: MIT */
/*
 * Reads and compares the names of columns in header records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/utf8mark.h"
#include "rec/header.h"

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
