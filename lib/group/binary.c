/* SPDX-License-Identifier: MIT */
/*
 * Fields of records of a fixed length (binary.h).
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/edits.h"
#include "base/err.h"
#include "expr/token.h"
#include "group/binary.h"
#include "rec/value.h"

#define SHOWN 40 /* bytes of a text in a message */
#define FIELD_BYTES "0123456789abcdefghijklmnopqrstuvwxyz:"

static bool is_same(const struct sp_key *a, const struct sp_key *b)
{
	return a->offset == b->offset && a->length == b->length && a->type == b->type &&
	       a->big_endian == b->big_endian;
}

int sp__group_binary_find(struct sp__group_parser *p, const char *text, size_t bytes, size_t *field)
{
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	struct sp__group_spec *s = p->s;
	struct sp_key key;
	int rc;

	memmove(p->word, text, bytes);
	p->word[bytes] = '\0';
	rc = sp_bkey_parse(p->word, &key, &cause);
	if (rc)
		return sp__invalid(p->err, NULL, "the field '%.*s': %s; an example is 8:4:u32",
				   SHOWN, p->word, cause.text);
	if (key.reverse)
		return sp__invalid(p->err, NULL, "only a key can have ':r', not the field '%.*s'",
				   SHOWN, p->word);
	if (key.length > s->record_bytes || key.offset > s->record_bytes - key.length)
		return sp__invalid(p->err, NULL,
				   "the field '%.*s' ends behind the %zu bytes of a record", SHOWN,
				   p->word, s->record_bytes);
	for (*field = 0; *field < s->nfields; ++*field)
		if (is_same(&s->fields[*field], &key))
			return 0;
	if (!SP__ARRAY_GROW_BY_ONE(s->fields, s->nfields))
		return sp__err(p->err, -ENOMEM, "group", NULL, -1);
	s->fields[s->nfields++] = key;
	return 0;
}

int sp__group_binary_take(struct sp__group_parser *p, size_t *field)
{
	const char *at = p->p;
	size_t n;

	if (*at == '"') {
		p->p += sp__unquote(at, p->word, &n);
		return p->p == at ? sp__invalid(p->err, at, "the double quote is not closed")
				  : sp__group_binary_find(p, p->word, n, field);
	}
	n = strspn(at, FIELD_BYTES);
	if (!n)
		return sp__invalid(p->err, at,
				   "a field of a record of a fixed length is OFFSET:LENGTH[:TYPE], "
				   "as in 8:4:u32, instead of");
	n -= n > 2 && at[n - 2] == ':' && at[n - 1] == 'r' ? 2 : 0;
	p->p += n;
	return sp__group_binary_find(p, at, n, field);
}

int sp__group_binary_order(struct sp__group_parser *p, struct sp__group_key *key)
{
	struct sp_key field = p->s->fields[p->s->columns[key->column]];
	const struct sp_keyset_opts o = { .format = { .kind = SP_REC_FIXED,
						      .fixed_bytes = p->s->record_bytes },
					  .keys = &field,
					  .nkeys = 1,
					  .unique = true,
					  .bytes = true };

	if (*p->p && strcmp(p->p, "r") != 0)
		return sp__invalid(p->err, p->p,
				   "a key of a record of a fixed length has no letter but r: not");
	field.reverse = *p->p == 'r';
	key->number = field.type != SP_KEY_BYTES;
	/* The order of bytes is that of texts. */
	key->binary = key->number || field.reverse;
	return key->binary ? sp_keyset_new(&key->order, &o, p->err) : 0;
}

/* Writes a number; returns its length. */
static size_t put_number(const struct sp_key *field, const char *record, char *text)
{
	const struct sp__value_type type = { .kind = field->type == SP_KEY_UINT	 ? 'u'
						     : field->type == SP_KEY_INT ? 'i'
										 : 'f',
					     .bytes = (uint32_t)field->length };
	char value[sizeof(uint64_t)];

	for (size_t i = 0; i < field->length; i++)
		value[i] = record[field->offset + (field->big_endian ? field->length - 1 - i : i)];
	return sp__value_write(&type, value, text);
}

int sp__group_binary_columns(const struct sp__group_spec *s, const char *record,
			     struct sp__bytes *texts, struct sp__slice *columns)
{
	char *to;

	if (sp__bytes_reserve(texts, (size_t)s->ncolumns * SP__VALUE_SPACE, NULL))
		return -ENOMEM;
	to = texts->data;
	for (uint32_t i = 0; i < s->ncolumns; i++) {
		const struct sp_key *field = &s->fields[s->columns[i]];

		columns[i] = (struct sp__slice){ record + field->offset, field->length };
		if (field->type == SP_KEY_BYTES)
			continue;
		columns[i] = (struct sp__slice){ to, put_number(field, record, to) };
		to += columns[i].n;
	}
	return 0;
}
