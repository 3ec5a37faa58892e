/* SPDX-License-Identifier: MIT */
/*
 * Collects the values of a pivot, and writes a field for each (pivot.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "group/pivot.h"

#define COLUMNS_MAX 10000u	    /* of the result */
#define TEXTS_MAX ((size_t)1 << 20) /* of all values and names together */
#define NO_VALUE_NAME "NULL"
/* Before the text of a field. */
#define NUMBER 'n'
#define MEMBER 'm' /* a value of JSON as it is written */
#define TEXT 't'

struct value {
	char *code, *name; /* code: a part of the key; in its order */
	size_t bytes;	   /* of code */
	uint32_t number;   /* in the order in which they were seen */
};

struct sp__group_pivot {
	uint32_t nkeys, naggregates; /* without the last key */
	struct value *values;	     /* ascending */
	uint32_t nvalues;
	size_t texts;
	struct sp__bytes prefix; /* keys of the open row */
	bool open;
	uint64_t position;     /* first one of the open row */
	struct sp__bytes body; /* its fields */
	struct sp__bytes name; /* of the value of the open group */
	char **names;	       /* of columns behind the keys */
	/* Of the row that is written, by column: a field, escaped; NULL: no group. */
	struct sp__slice *fields;
	uint32_t *places; /* of the value of each number among all */
};

static int no_memory(struct sp__group_results *r)
{
	return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
}

struct sp__group_pivot *sp__group_pivot_new(const struct sp__group_spec *s)
{
	struct sp__group_pivot *p = calloc(1, sizeof(*p));

	if (p) {
		p->nkeys = s->nkeys - 1;
		p->naggregates = s->naggregates;
	}
	return p;
}

void sp__group_pivot_free(struct sp__group_pivot *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nvalues; i++) {
		free(p->values[i].code);
		free(p->values[i].name);
	}
	for (uint32_t i = 0; p->names && i < p->nvalues * p->naggregates; i++)
		free(p->names[i]);
	free(p->values);
	free(p->names);
	free(p->fields);
	free(p->places);
	sp__bytes_release(&p->prefix, NULL);
	sp__bytes_release(&p->body, NULL);
	sp__bytes_release(&p->name, NULL);
	free(p);
}

/* Values. */

static int order(const struct value *v, const char *code, size_t bytes)
{
	const int rc = memcmp(v->code, code, sp__min(v->bytes, bytes));

	return rc ? rc : (v->bytes > bytes) - (v->bytes < bytes);
}

/* Returns the place of the first value that is not less. */
static uint32_t find(const struct sp__group_pivot *p, const char *code, size_t bytes)
{
	uint32_t from = 0, to = p->nvalues;

	while (from < to) {
		const uint32_t middle = (from + to) / 2;

		if (order(&p->values[middle], code, bytes) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static int add_value(struct sp__group_results *r, uint32_t at, const char *code, size_t bytes)
{
	struct sp__group_pivot *p = r->pivot;
	struct value v = { .bytes = bytes, .number = p->nvalues };

	p->texts += bytes + p->name.bytes;
	if ((p->nvalues + 1) * (uint64_t)p->naggregates > COLUMNS_MAX || p->texts > TEXTS_MAX)
		return sp__errf(
			r->err, SP_EFORMAT, "group", NULL, -1,
			"--pivot: the result would have more than %s; --where leaves values "
			"out, substr() or floor() makes fewer of them",
			p->texts > TEXTS_MAX ? "1 MiB of names of columns" : "10000 columns");
	if (!SP__ARRAY_GROW_BY_ONE(p->values, p->nvalues))
		return no_memory(r);
	v.code = malloc(bytes + 1);
	v.name = p->name.bytes ? strndup(p->name.data, p->name.bytes) : strdup(NO_VALUE_NAME);
	if (!v.code || !v.name) {
		free(v.code);
		free(v.name);
		return no_memory(r);
	}
	memcpy(v.code, code, bytes);
	memmove(&p->values[at + 1], &p->values[at], (p->nvalues - at) * sizeof(v));
	p->values[at] = v;
	p->nvalues++;
	return 0;
}

/* Rows. */

static int put_part(struct sp__group_results *r, char kind, const char *p, size_t n)
{
	struct sp__bytes *body = &r->pivot->body;

	return sp__bytes_append(body, &kind, 1, NULL) || sp__code_put_part(body, p, n)
		       ? no_memory(r)
		       : 0;
}

/* Is a function sp__group_field_fn: fields of keys begin a row. */
static int take_key(struct sp__group_results *r, uint32_t number, const char *p, size_t n,
		    bool is_number)
{
	struct sp__group_pivot *v = r->pivot;

	if (number == v->nkeys)
		return sp__bytes_set(&v->name, p, n, NULL) ? no_memory(r) : 0;
	if (v->open)
		return 0;
	return r->value.p ? put_part(r, MEMBER, r->value.p, r->value.n)
			  : put_part(r, is_number ? NUMBER : TEXT, p, n);
}

/* Is a function sp__group_field_fn. */
static int take_value(struct sp__group_results *r, uint32_t number, const char *p, size_t n,
		      bool is_number)
{
	(void)number;
	return put_part(r, is_number ? NUMBER : TEXT, p, n);
}

static int end_row(struct sp__group_results *r)
{
	r->pivot->open = false;
	return sp__group_row_sort(r, r->pivot->position, &r->pivot->body);
}

/* Returns the bytes of the parts of a row's keys in the key of the open group. */
static size_t prefix_bytes(const struct sp__group_results *r)
{
	const char *at = r->prefix.data, *end = at + r->prefix.bytes;

	for (uint32_t i = 0; i < r->pivot->nkeys; i++)
		at = (const char *)memchr(at, SP__CODE_END, (size_t)(end - at)) + 1;
	return (size_t)(at - r->prefix.data);
}

int sp__group_pivot_add(struct sp__group_results *r)
{
	struct sp__group_pivot *p = r->pivot;
	const size_t bytes = prefix_bytes(r), code_bytes = r->prefix.bytes - bytes;
	const char *code = r->prefix.data + bytes;
	char number[SP__CODE_VARINT];
	uint32_t at = find(p, code, code_bytes);
	int rc = 0;

	/* Without other keys there is one row, and the prefix can be NULL. */
	if (p->open && bytes &&
	    (p->prefix.bytes != bytes || memcmp(p->prefix.data, r->prefix.data, bytes)))
		rc = end_row(r);
	if (rc)
		return rc;
	if (!p->open) {
		p->body.bytes = 0;
		p->position = sp__group_result_position(r);
		if (sp__bytes_set(&p->prefix, r->prefix.data, bytes, NULL))
			return no_memory(r);
	}
	p->position = sp__min(p->position, sp__group_result_position(r));
	p->name.bytes = 0;
	r->take = take_key;
	rc = sp__group_row_key(r);
	p->open = true;
	if (!rc && (at == p->nvalues || order(&p->values[at], code, code_bytes) != 0))
		rc = add_value(r, at, code, code_bytes);
	if (!rc)
		rc = put_part(r, TEXT, number,
			      (size_t)(sp__code_put(number, p->values[at].number) - number));
	r->take = take_value;
	if (!rc)
		rc = sp__group_row_values(r);
	r->take = NULL;
	return rc;
}

/* The columns. */

/* The name of a value alone, if there is one aggregate. */
static char *make_name(const struct sp__group_results *r, const struct value *v, uint32_t aggregate)
{
	char *name;

	if (r->pivot->naggregates == 1)
		return strdup(v->name);
	return asprintf(&name, "%s_%s", v->name, r->spec->aggregates[aggregate].name) < 0 ? NULL
											  : name;
}

static int order_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Members of an object have different names. */
static int check_names(struct sp__group_results *r)
{
	const char **names = calloc(r->ncolumns + 1, sizeof(*names));
	const char *same = NULL;

	if (!names)
		return no_memory(r);
	for (uint32_t i = 0; i < r->ncolumns; i++)
		names[i] = sp__group_result_name(r, i);
	qsort(names, r->ncolumns, sizeof(*names), order_names);
	for (uint32_t i = 1; i < r->ncolumns && !same; i++)
		same = strcmp(names[i - 1], names[i]) ? NULL : names[i];
	free(names);
	return same ? sp__errf(r->err, SP_EFORMAT, "group", NULL, -1,
			       "two columns of the result have the name '%s': JSON cannot have "
			       "that; "
			       "leave out --format=json, or name the key by 'as NAME'",
			       same)
		    : 0;
}

int sp__group_pivot_end(struct sp__group_results *r)
{
	struct sp__group_pivot *p = r->pivot;
	const uint32_t n = p->nvalues * p->naggregates;
	int rc = p->open ? end_row(r) : 0;

	if (rc)
		return rc;
	p->names = calloc(n + 1, sizeof(*p->names));
	p->fields = calloc(n + 1, sizeof(*p->fields));
	p->places = calloc(p->nvalues + 1, sizeof(*p->places));
	if (!p->names || !p->fields || !p->places)
		return no_memory(r);
	for (uint32_t i = 0; i < n; i++) {
		p->names[i] = make_name(r, &p->values[i / p->naggregates], i % p->naggregates);
		if (!p->names[i])
			return no_memory(r);
	}
	for (uint32_t i = 0; i < p->nvalues; i++)
		p->places[p->values[i].number] = i;
	r->names = p->names;
	r->ncolumns = p->nkeys + n;
	return r->json ? check_names(r) : 0;
}

/* Writes a field of a sorted row. */
static int write_field(struct sp__group_results *r, uint32_t number, const struct sp__slice *field)
{
	size_t n;

	if (sp__bytes_reserve(&r->text, field->n, NULL))
		return no_memory(r);
	n = (size_t)(sp__code_unescape(r->text.data, field->p + 1, field->n - 1) - r->text.data);
	if (*field->p == MEMBER) {
		/* Its text is made in r->text. */
		if (sp__bytes_set(&r->pivot->name, r->text.data, n, NULL))
			return no_memory(r);
		return sp__group_member_put(r, number, r->pivot->name.data, n);
	}
	return sp__group_field_put(r, number, r->text.data, n, *field->p == NUMBER);
}

/* Writes an aggregate of no records. */
static int write_none(struct sp__group_results *r, uint32_t number)
{
	const uint32_t aggregate = (number - r->pivot->nkeys) % r->pivot->naggregates;
	const enum sp__group_function f = r->spec->aggregates[aggregate].function;
	const bool zero = f == SP__GROUP_COUNT || f == SP__GROUP_DISTINCT || f == SP__GROUP_BIN;

	return sp__group_field_put(r, number, "0", zero, zero);
}

static struct sp__slice take_part(const char **at, const char *stop)
{
	const char *begin = *at, *end = memchr(begin, SP__CODE_END, (size_t)(stop - begin));

	*at = end + 1;
	return (struct sp__slice){ begin, (size_t)(end - begin) };
}

/* Finds the fields of each value that the row has. */
static void find_fields(struct sp__group_pivot *p, const char *at, const char *stop)
{
	char number[SP__CODE_VARINT];

	memset(p->fields, 0, p->nvalues * p->naggregates * sizeof(*p->fields));
	while (at < stop) {
		const struct sp__slice part = take_part(&at, stop);
		struct sp__codes codes = { .p = number };
		struct sp__slice *to;

		codes.end = sp__code_unescape(number, part.p + 1, part.n - 1);
		to = &p->fields[p->places[(uint32_t)sp__code_take(&codes)] * p->naggregates];
		for (uint32_t i = 0; i < p->naggregates; i++)
			to[i] = take_part(&at, stop);
	}
}

int sp__group_pivot_write(struct sp__group_results *r, const char *at, const char *stop)
{
	struct sp__group_pivot *p = r->pivot;
	int rc = 0;

	r->row.bytes = 0;
	for (uint32_t i = 0; !rc && i < p->nkeys; i++) {
		const struct sp__slice part = take_part(&at, stop);

		rc = write_field(r, i, &part);
	}
	find_fields(p, at, stop);
	for (uint32_t i = p->nkeys; !rc && i < r->ncolumns; i++) {
		const struct sp__slice *field = &p->fields[i - p->nkeys];

		rc = field->p ? write_field(r, i, field) : write_none(r, i);
	}
	return rc ? rc : sp__group_row_finish(r);
}
