/* SPDX-License-Identifier: MIT */
/*
 * Writes the fields of a row: as those of the input, or as members of a JSON object (result.h).
 */
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "group/result.h"
#include "rec/json.h"

#define NO_VALUE "-" /* where fields are separated by blanks */
#define SHOWN 40     /* bytes of a text in a message */

static int no_memory(struct sp__group_results *r)
{
	return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
}

/* Grows the row by n bytes that are still to be written.  Returns their place; NULL: no memory. */
static char *grow(struct sp__group_results *r, size_t n)
{
	struct sp__bytes *row = &r->row;

	if (row->capacity - row->bytes < n && sp__bytes_reserve(row, 2 * (row->bytes + n), NULL))
		return NULL;
	return row->data + row->bytes;
}

/* True if lines cannot have this field: a calculated one can have any byte. */
static bool divides(const struct sp__group_results *r, const char *p, size_t n)
{
	const struct sp__cut *cut = &r->in->cut;

	if (!n || cut->kind == SP__CUT_CSV)
		return false;
	if (memchr(p, r->in->format.eol, n))
		return true;
	return cut->kind == SP__CUT_BLANKS ? memchr(p, ' ', n) || memchr(p, '\t', n)
					   : memchr(p, cut->sep[0], n) != NULL;
}

/* Appends a field between separators, in quotes if it needs them. */
static int put_separated(struct sp__group_results *r, uint32_t number, const char *p, size_t n)
{
	const struct sp__cut *cut = &r->in->cut;
	const bool only = r->ncolumns == 1;
	char *to;

	if (!n && cut->kind == SP__CUT_BLANKS) {
		/* Two separators are as one. */
		p = r->in->null_bytes ? r->in->null_text : NO_VALUE;
		n = strlen(p);
	}
	if (divides(r, p, n))
		return sp__errf(r->err, SP_EFORMAT, "group", NULL, -1,
				"'%.*s' has a separator of fields or lines in it, so the result "
				"would not have the same fields; use --csv, or another -t",
				(int)sp__min(n, SHOWN), p);
	to = grow(r, 2 * n + SP__SEPARATOR_MAX + 2);
	if (!to)
		return no_memory(r);
	if (number) {
		memcpy(to, cut->sep, cut->sep_bytes);
		to += cut->sep_bytes;
	}
	if (cut->kind == SP__CUT_CSV && n) {
		to += sp__csv_quote(p, n, cut->sep[0], to);
	} else if (cut->kind == SP__CUT_CSV && only) {
		/* A line without any byte could be no record. */
		memcpy(to, "\"\"", 2);
		to += 2;
	} else if (n) {
		memcpy(to, p, n);
		to += n;
	}
	r->row.bytes = (size_t)(to - r->row.data);
	return 0;
}

static int not_utf8(struct sp__group_results *r, const char *what, const char *p, size_t n)
{
	return sp__errf(r->err, SP_EFORMAT, "group", NULL, -1,
			"%s '%.*s' is not UTF-8, so JSON cannot have it; leave out --format=json",
			what, (int)sp__min(n, SHOWN), p);
}

const char *sp__group_result_name(const struct sp__group_results *r, uint32_t number)
{
	const uint32_t keys = r->spec->nkeys - r->spec->pivot;

	return r->names && number >= keys ? r->names[number - keys]
					  : sp__group_column_name(r->spec, number);
}

/* Appends a member of an object. */
static int put_member(struct sp__group_results *r, uint32_t number, const char *p, size_t n,
		      bool is_number)
{
	const char *name = sp__group_result_name(r, number);
	const size_t name_bytes = strlen(name);
	const size_t value = r->value.p ? r->value.n : SP__JSON_TEXT(n);
	char *to = grow(r, SP__JSON_TEXT(name_bytes) + value + sizeof("{: null}"));

	if (!to)
		return no_memory(r);
	*to++ = number ? ',' : '{';
	to = sp__json_put_text(to, name, name_bytes);
	if (!to)
		return not_utf8(r, "the name", name, name_bytes);
	*to++ = ':';
	if (r->value.p) {
		memcpy(to, r->value.p, r->value.n);
		to += r->value.n;
	} else if (!n) {
		memcpy(to, "null", 4);
		to += 4;
	} else if (is_number && sp__json_is_number(p, n)) {
		memcpy(to, p, n);
		to += n;
	} else {
		to = sp__json_put_text(to, p, n);
		if (!to)
			return not_utf8(r, "the value", p, n);
	}
	r->row.bytes = (size_t)(to - r->row.data);
	return 0;
}

/* Notes the value by which rows are ordered; the text of --null is no value. */
static int set_ordered(struct sp__group_results *r, uint32_t number, const char *p, size_t n)
{
	const struct sp__group_spec *s = r->spec;
	const struct sp__slice text = { p, n };
	const bool none =
		number < s->nkeys && sp__group_is_null(r->in, s->keys[number].column, &text);

	return sp__bytes_set(&r->ordered, p, none ? 0 : n, NULL);
}

int sp__group_field_put(struct sp__group_results *r, uint32_t number, const char *p, size_t n,
			bool is_number)
{
	if (r->take)
		return r->take(r, number, p, n, is_number);
	if ((r->having || r->runs) && number < sp__group_named(r->spec)) {
		if (sp__bytes_append(&r->values, p, n, NULL))
			return no_memory(r);
		r->columns[number].n = n;
	}
	if (r->sorter && r->order.column == (int)number && set_ordered(r, number, p, n))
		return no_memory(r);
	return r->json ? put_member(r, number, p, n, is_number) : put_separated(r, number, p, n);
}
