/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "columns.h"
#include "msg.h"
#include "number.h"
#include "quote.h"
#include "xjoin.h"

_Noreturn void field_bad_number(const char *text)
{
	die("invalid field number: %s", quote(text));
}

/* A number that is too large counts as the largest one. */
size_t field_number(const char *text)
{
	const char *rest;
	uintmax_t n = 0;

	if (!number_prefix(text, &rest, &n) || *rest || !n)
		field_bad_number(text);
	return (size_t)(n - 1);
}

/* One item of a key, FIELD[LETTERS]. */
static void key_add(struct settings *set, struct key *key, char *item)
{
	size_t digits = strspn(item, "0123456789"), n = key->n;
	struct sp_key type = SP_KEY_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	for (const char *c = item + digits; digits && *c && !set->plain_join; c++) {
		if (*c == 'l')
			type.letters |= LETTER_COLLATED;
		else if (!strchr("nghMVf", *c) || !sp_key_letter(&type, *c, SP_KEY_BOTH))
			field_bad_number(item);
		set->typed = true;
	}
	if (sp_key_check(&type, &err))
		die("%s: %s", item, err.text);
	if (type.letters & LETTER_COLLATED && type.type != SP_KEY_TEXT)
		die("%s: 'l' applies to text only", item);
	if (digits && !set->plain_join)
		item[digits] = '\0';
	key->field = must_alloc(key->field, n + 1, sizeof(*key->field));
	key->type = must_alloc(key->type, n + 1, sizeof(*key->type));
	key->field[n] = field_number(item);
	key->type[n] = type;
	key->n++;
}

/* One field, or, unless called join, a list of fields. */
static struct key key_parse(struct settings *set, const char *text)
{
	struct key key = { .text = text };
	char *copy = must_copy(text), *rest = copy, *item;

	if (set->plain_join)
		key_add(set, &key, copy);
	else
		while ((item = strsep(&rest, ",")))
			key_add(set, &key, item);
	free(copy);
	return key;
}

void key_set(struct settings *set, int side, const char *text)
{
	struct key *key = &set->key[side], old = *key;
	size_t first = old.n ? old.field[0] : 0;
	bool same;

	if (!set->plain_join && names_in_key(text)) {
		if (set->named_key[side] && strcmp(set->named_key[side], text) != 0)
			die("incompatible join fields %s, %s", set->named_key[side], text);
		set->named_key[side] = text;
		return;
	}
	*key = key_parse(set, text);
	same = !old.n ||
	       (old.n == key->n && !memcmp(old.field, key->field, old.n * sizeof(*old.field)));
	free(old.field);
	free(old.type);
	if (!same && old.n == 1 && key->n == 1)
		die("incompatible join fields %zu, %zu", first + 1, key->field[0] + 1);
	if (!same)
		die("incompatible join fields %s, %s", old.text, text);
}

static struct sp_join_column column(struct settings *set, const char *text)
{
	struct sp_join_column c = { 0, 0 };

	if (text[0] < '0' || text[0] > (set->plain_join ? '2' : '0' + SP_JOIN_FILES_MAX))
		die("invalid file number in field spec: %s", quote(text));
	c.file = (unsigned)(text[0] - '0');
	if (text[1] != (c.file ? '.' : '\0'))
		die("invalid field specifier: %s", quote(text));
	if (c.file && !set->plain_join && columns_is_name(text + 2))
		return c;
	if (c.file && !set->plain_join && strchr(text, ':')) {
		set->binary_column = text;
		c.field = part_add(set, text + 2);
	} else if (c.file) {
		set->line_column = text;
		c.field = field_number(text + 2);
	}
	return c;
}

void columns_add(struct settings *set, char *text)
{
	size_t n = set->opts.ncolumns;
	char *item;

	while ((item = names_next_item(&text))) {
		struct sp_join_column c = column(set, item);
		bool named = c.file && columns_is_name(item + 2);

		set->columns = must_alloc(set->columns, n + 1, sizeof(c));
		set->column_names = must_alloc(set->column_names, n + 1, sizeof(item));
		set->column_names[n] = named ? item + 2 : NULL;
		set->columns[n++] = c;
	}
	set->opts.columns = set->columns;
	set->opts.ncolumns = n;
}

/* Length in bytes of the separator text: one character, or the notation for NUL or none. */
static size_t separator_bytes(const char *text)
{
	mbstate_t state = { 0 };
	size_t n = strlen(text), first;

	if (n < 2 || !strcmp(text, "\\0"))
		return 1;
	first = mbrtowc(NULL, text, n, &state);
	if (first != n || n > sizeof(((struct settings *)NULL)->separator_text))
		die("multi-character tab %s", quote(text));
	return n;
}

void separator_set(struct settings *set, const char *text)
{
	size_t n = separator_bytes(text);
	char sep[sizeof(set->separator_text)] = "\n"; /* '': the line is one field */

	if (!strcmp(text, "\\0"))
		sep[0] = '\0';
	else if (*text)
		memcpy(sep, text, n);
	if (set->separator >= 0 &&
	    (set->opts.separator_bytes != n || memcmp(set->separator_text, sep, n) != 0))
		die("incompatible tabs");
	memcpy(set->separator_text, sep, n);
	set->separator = (unsigned char)sep[0];
	set->opts.separator = set->separator_text;
	set->opts.separator_bytes = n;
}
