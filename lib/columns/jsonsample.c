/* SPDX-License-Identifier: MIT */
/*
 * Collects facts on the members of lines of JSON, and makes columns of them (resolve.h).
 *
 * Columns have the order in which their members were seen first.
 */
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "columns/resolve.h"

#define SHARES_MIN 16 /* so that the first members do not take all memory for words */

/* Makes the inference as long as the list of members, also with those that have no values. */
static int grow(struct sp__sample *s)
{
	const uint32_t n = s->members.n;

	s->fields = n;
	if (s->inference.n >= n)
		return 0;
	return sp__inference_grow(&s->inference, n,
				  s->words_bytes / SHARES_MIN * sp__min(n, (uint32_t)SHARES_MIN),
				  s->budget);
}

/* Adds a value of a member to its inference. */
static int take(void *arg, uint32_t member, const struct sp__json_value *value)
{
	struct sp__sample *s = arg;
	struct sp__slice text;
	bool decode;

	if (value->kind <= SP__JSON_NULL)
		return 0;
	s->members.list[member].kinds |= 1U << value->kind;
	text.p = sp__json_slice(value, &text.n, &decode);
	if (decode) {
		if (sp__bytes_reserve(&s->unquoted, text.n, NULL))
			return -ENOMEM;
		text.n = sp__json_text(value, s->unquoted.data, text.n);
		text.p = s->unquoted.data;
	}
	if (grow(s))
		return -ENOMEM;
	return value->kind == SP__JSON_TEXT ? sp__inference_add_text(&s->inference, member, &text)
					    : sp__inference_add(&s->inference, member, &text);
}

int sp__sample_add_json(struct sp__sample *s, const char *text, uint32_t bytes)
{
	int rc = 0;

	s->members.described = s->described;
	s->inference.exact = s->exact;
	s->reader.members = &s->members;
	s->reader.learn = true;
	s->reader.take = take;
	s->reader.arg = s;
	for (uint32_t at = 0; !rc && at < bytes && !s->wrong;) {
		const char *line = text + at, *end = memchr(line, '\n', bytes - at);
		const size_t n = end ? (size_t)(end - line) : bytes - at;

		s->wrong_at = at;
		at += (uint32_t)(n + (end != NULL));
		if (sp__member_blank(line, n))
			continue;
		rc = sp__member_read(&s->reader, line, n);
		s->wrong = rc == SP_EFORMAT;
		if (s->wrong) {
			rc = 0;
			continue;
		}
		s->records++;
		s->bytes += n + 1;
	}
	rc = rc ? rc : grow(s);
	return rc ? sp__err(s->err, rc, "allocate", NULL, -1) : 0;
}

bool sp__sample_lacks_values(const struct sp__sample *s)
{
	for (uint32_t i = 0; i < s->fields && !s->wrong; i++)
		if (!s->inference.columns[i].values &&
		    !(s->json && s->members.list[i].form == SP__MEMBER_OBJECT))
			return true;
	return false;
}

/* Adds the columns that the user described and that no member of the sample has. */
static int add_described(struct sp__schema *s, const struct sp__resolve_opts *o,
			 struct sp_errinfo *err)
{
	const struct sp__schema *d = o->described;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < d->n; i++) {
		const struct sp__column *c = &d->columns[i];
		const size_t n = strlen(c->name);
		int at = sp__schema_find(s, c->name, n);

		if (at < 0 && !o->all && o->whole && s->n)
			return sp__errf(err, SP_ESYNTAX, "load", o->input, -1,
					"there is no member '%.64s' with a value of its own: "
					"'%.64s' is the nearest name",
					c->name, sp__schema_nearest(s, c->name, n));
		if (at < 0) {
			rc = sp__schema_add(s, c->name, n, &c->type);
			at = (int)s->n - 1;
		}
		if (rc)
			break;
		s->columns[at].type = c->type;
		s->columns[at].json = c->json;
		s->columns[at].not_null = c->not_null;
	}
	return rc;
}

int sp__sample_columns(struct sp__schema *s, const struct sp__resolve_opts *o,
		       struct sp_errinfo *err)
{
	static const struct sp__value_type none = { 0 }, text = { 't', 0, 4 };
	const struct sp__members *m = &o->sample->members;
	int rc = 0;

	for (uint32_t i = 0; !rc && !o->all && i < m->n; i++)
		if (m->list[i].form != SP__MEMBER_OBJECT)
			rc = sp__schema_add(s, m->list[i].path, m->list[i].bytes, &none);
	if (!rc)
		rc = add_described(s, o, err);
	/* The first record is wrong: reading it once more says why. */
	if (!rc && !s->n && o->sample->wrong)
		rc = sp__schema_add(s, "c1", 2, &text);
	if (!rc && !s->n && o->sample->records)
		rc = sp__errf(err, SP_ESYNTAX, "load", o->input, -1,
			      "no record has a member, so there are no columns: name them and "
			      "their types (--types, --schema)");
	return rc;
}
