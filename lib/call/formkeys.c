/* SPDX-License-Identifier: MIT */
/*
 * Reads keys of lines: lists of FIELD[LETTERS].
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "call/form.h"

/* The letter of collated text, which sp_key_letter() does not know. */
#define COLLATED (1u << 31)

int sp__form_no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

const char *sp__form_keep(struct sp_join_form *form, const char *item, size_t bytes)
{
	free(form->item);
	form->item = strndup(item, bytes);
	return form->item;
}

const char *sp__form_item_end(const char *p, const char *separators)
{
	bool quoted = false;

	for (; *p && (quoted || !strchr(separators, *p)); p++)
		quoted ^= *p == '"';
	return p;
}

int sp_join_form_field(const char *text, size_t *field, struct sp_errinfo *err)
{
	const char *p = text;
	char *end = NULL;
	uintmax_t n;

	while (isspace((unsigned char)*p))
		p++;
	n = *p == '-' ? 0 : strtoumax(p, &end, 10);
	if (!n || *end)
		return sp__invalid(err, text, "invalid field number:");
	*field = (size_t)(n - 1);
	return 0;
}

static int take_letters(const struct sp_join_form *form, const char *item, size_t digits,
			struct sp_key *type, struct sp_errinfo *err)
{
	struct sp_errinfo reason = SP_ERRINFO_INIT;

	for (const char *c = item + digits; digits && *c && !form->plain; c++) {
		if (*c == 'l')
			type->letters |= COLLATED;
		else if (!strchr("nghMVf", *c) || !sp_key_letter(type, *c, SP_KEY_BOTH))
			return sp__invalid(err, item, "invalid field number:");
	}
	if (sp_key_check(type, &reason))
		return sp__invalid(err, NULL, "%s: %s", item, reason.text);
	if (type->letters & COLLATED && type->type != SP_KEY_TEXT)
		return sp__invalid(err, NULL, "%s: 'l' applies to text only", item);
	return 0;
}

/* Adds an item of a key, FIELD[LETTERS]; the form owns item, which is split. */
static int add_field(struct sp_join_form *form, struct sp_join_form_key *key, char *item,
		     struct sp_errinfo *err)
{
	size_t digits = strspn(item, "0123456789"), field;
	struct sp_key type = SP_KEY_INIT;
	int rc = take_letters(form, item, digits, &type, err);

	if (rc)
		return rc;
	if (digits && !form->plain) {
		form->typed |= item[digits] != '\0';
		item[digits] = '\0';
	}
	rc = sp_join_form_field(item, &field, err);
	if (rc)
		return rc;
	if (!SP__ARRAY_RESIZE(key->field, key->n + 1) || !SP__ARRAY_RESIZE(key->type, key->n + 1))
		return sp__form_no_memory(err);
	key->field[key->n] = field;
	key->type[key->n++] = type;
	return 0;
}

/* Parses one field or, unless only POSIX join's options are known, a list of fields. */
static int parse_key(struct sp_join_form *form, struct sp_join_form_key *key, const char *text,
		     struct sp_errinfo *err)
{
	*key = (struct sp_join_form_key){ .text = text };
	for (const char *p = text;; p++) {
		size_t bytes = form->plain ? strlen(p) : strcspn(p, ",");
		int rc;

		if (!sp__form_keep(form, p, bytes))
			return sp__form_no_memory(err);
		rc = add_field(form, key, form->item, err);
		p += bytes;
		if (rc || !*p)
			return rc;
	}
}

static bool has_names(const char *text)
{
	for (const char *p = text;; p++) {
		if (sp_columns_is_name(p))
			return true;
		p = sp__form_item_end(p, ",");
		if (!*p)
			return false;
	}
}

static int set_name(struct sp_join_form_key *key, const char *text, struct sp_errinfo *err)
{
	if (key->name && strcmp(key->name, text) != 0)
		return sp__invalid(err, NULL, "incompatible join fields %s, %s", key->name, text);
	key->name = text;
	return 0;
}

/* Checks that a key given twice is the same. */
static int compare_keys(const struct sp_join_form_key *old, const struct sp_join_form_key *key,
			struct sp_errinfo *err)
{
	if (!old->n ||
	    (old->n == key->n && !memcmp(old->field, key->field, old->n * sizeof(*old->field))))
		return 0;
	if (old->n == 1 && key->n == 1)
		return sp__invalid(err, NULL, "incompatible join fields %zu, %zu",
				   old->field[0] + 1, key->field[0] + 1);
	return sp__invalid(err, NULL, "incompatible join fields %s, %s", old->text, key->text);
}

int sp_join_form_set_key(struct sp_join_form *form, int side, const char *text,
			 struct sp_errinfo *err)
{
	struct sp_join_form_key *key = &form->key[side], old = *key;
	int rc;

	if (!form->plain && text[0] == '.')
		return sp__form_set_paths(key, text, err);
	if (!form->plain && has_names(text))
		return set_name(key, text, err);
	rc = parse_key(form, key, text, err);
	key->name = old.name;
	key->path = old.path;
	key->npaths = old.npaths;
	key->paths = old.paths;
	if (!rc)
		rc = compare_keys(&old, key, err);
	free(old.field);
	free(old.type);
	return rc;
}

int sp_join_form_keys(struct sp_join_form *form, struct sp_errinfo *err)
{
	struct sp_join_form_key *key = form->key;
	int rc = sp__form_paths(form, err);

	if (rc || form->opts->json)
		return rc;
	form->key_given = key[0].n || key[1].n;
	for (int i = 0; i < 2; i++) {
		rc = key[i].n ? 0 : sp_join_form_set_key(form, i, "1", err);

		if (rc)
			return rc;
		form->opts->keys[i] = key[i].field;
	}
	if (key[0].n != key[1].n)
		return sp__invalid(err, NULL, "keys have different numbers of fields: %zu, %zu",
				   key[0].n, key[1].n);
	form->opts->nkeys = key[0].n;
	return 0;
}

int sp__form_match_types(struct sp_join_form *form, struct sp_errinfo *err)
{
	struct sp_join_opts *o = form->opts;
	struct sp_key *a = form->key[0].type, *b = form->key[1].type;

	if (o->json)
		return 0;
	form->collated = calloc(o->nkeys, sizeof(*form->collated));
	if (!form->collated)
		return sp__form_no_memory(err);
	for (size_t i = 0; i < form->key[0].n; i++) {
		if (!b[i].letters)
			b[i] = a[i];
		if (!a[i].letters)
			a[i] = b[i];
		if (a[i].letters != b[i].letters)
			return sp__invalid(err, NULL,
					   "fields of the keys have different types: %s, %s",
					   form->key[0].text, form->key[1].text);
		form->collated[i] = a[i].letters & COLLATED;
		if (form->collated[i])
			o->collated = form->collated;
	}
	o->types = form->typed ? a : NULL;
	return 0;
}
