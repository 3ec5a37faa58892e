/* SPDX-License-Identifier: MIT */
/*
 * Finds the fields of chunks of JSON lines: the values of their members, decoded in their places.
 */
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "columns/textchunk.h"

/* Takes the value of a member as a field: sp__member_take. */
static int take_member(void *arg, uint32_t member, const struct sp__json_value *value)
{
	struct sp__textchunk *c = arg;
	const struct sp__json_member *m = &c->opts->members->list[member];
	struct sp__text_ref *ref = &c->row[m->column];
	char *p = c->text + (value->p - c->text);
	size_t n = value->n;

	if (value->kind <= SP__JSON_NULL) {
		ref->bytes = SP__TEXT_REF_NULL;
		return 0;
	}
	if (value->kind == SP__JSON_TEXT && m->no_text)
		return sp__member_refuse(&c->reader, SP__MEMBER_IS_TEXT, m->path, m->bytes, value);
	if (value->kind == SP__JSON_TEXT && !m->raw) {
		/* Decoded in its place, which is longer. */
		p++;
		n = value->escaped ? sp__json_text(value, p, n) : n - 2;
	} else if (m->counted && value->kind != SP__JSON_TEXT) {
		c->columns[m->column].mixed = true;
		c->made_texts++;
	}
	*ref = (struct sp__text_ref){ (uint32_t)(p - c->text), (uint32_t)n };
	return 0;
}

uint32_t sp__textchunk_read_members(struct sp__textchunk *c, int *rc)
{
	const uint32_t fields = c->opts->fields.fields;
	const uint32_t max =
		(uint32_t)sp__min(c->ends.max_ends / fields, c->opts->max_records - c->records);
	uint32_t records = 0;

	c->reader.take = take_member;
	c->reader.arg = c;
	*rc = 0;
	while (records < max && c->at < c->bytes) {
		const char *line = c->text + c->at;
		const char *end = memchr(line, '\n', c->bytes - c->at);
		const size_t n = (size_t)(end - line);

		if (sp__member_blank(line, n)) {
			c->blank_lines++;
		} else {
			c->row = c->refs + (size_t)records * fields;
			for (uint32_t i = 0; i < fields; i++)
				c->row[i].bytes = SP__TEXT_REF_NULL;
			*rc = sp__member_read(&c->reader, line, n);
			if (*rc)
				break;
			c->begins[c->records + records++] = (uint32_t)c->line;
		}
		c->line++;
		c->at += (uint32_t)n + 1;
	}
	return records;
}
