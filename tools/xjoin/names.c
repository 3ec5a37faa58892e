/* SPDX-License-Identifier: MIT */
/*
 * Fields that are named as the columns of a header: lists of keys, NAME[:LETTERS], and columns of
 * the result, FILE.NAME.  They wait for the headers to be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "columns.h"
#include "msg.h"
#include "quote.h"
#include "xjoin.h"

#define DIGITS 21 /* of the largest number, and a byte */

/* The end of an item, a separator outside quotes. */
static const char *item_end(const char *p, const char *separators)
{
	bool quoted = false;

	for (; *p && (quoted || !strchr(separators, *p)); p++)
		quoted ^= *p == '"';
	return p;
}

bool names_in_key(const char *text)
{
	for (const char *p = text;; p++) {
		if (columns_is_name(p))
			return true;
		p = item_end(p, ",");
		if (!*p)
			return false;
	}
}

char *names_next_item(char **rest)
{
	char *item = *rest, *end;

	if (!item)
		return NULL;
	end = item + (item_end(item, ", \t") - item);
	*rest = *end ? end + 1 : NULL;
	*end = '\0';
	return item;
}

/* The list with numbers. */
static char *numbered(const struct columns *c, const char *text)
{
	/* Each name has a byte at least, and is followed by one. */
	char *list = must_alloc(NULL, strlen(text) + 1, DIGITS), *to = list;

	for (const char *p = text, *end;; p = end + 1) {
		if (columns_is_name(p)) {
			to += sprintf(to, "%zu", columns_find(c, p, ":,", &p));
			p += *p == ':';
		}
		end = item_end(p, ",");
		to += sprintf(to, "%.*s", (int)(end - p), p);
		if (!*end)
			return list;
		*to++ = ',';
	}
}

static bool is_wanted(const struct settings *set, unsigned file)
{
	bool wanted = set->named_key[file] != NULL;

	for (size_t i = 0; i < set->opts.ncolumns; i++)
		wanted |= set->column_names[i] && set->columns[i].file == file + 1;
	return wanted;
}

static void resolve(struct settings *set, unsigned file)
{
	struct columns c = {
		.input = set->inputs[file],
		.csv = set->opts.csv,
		.separator = set->opts.csv && set->separator < 0 ? ',' : set->separator,
		.eol = set->opts.eol,
		.header_records = 1,
		.decompress = set->opts.run.decompress,
	};
	const char *rest;
	char *list;

	columns_read(&c);
	if (set->named_key[file]) {
		list = numbered(&c, set->named_key[file]);
		key_set(set, (int)file, list);
	}
	for (size_t i = 0; i < set->key[file].n; i++)
		columns_check(&c, set->key[file].field[i] + 1);
	for (size_t i = 0; i < set->opts.ncolumns; i++) {
		if (set->columns[i].file != file + 1)
			continue;
		if (set->column_names[i])
			set->columns[i].field =
				columns_find(&c, set->column_names[i], "", &rest) - 1;
		columns_check(&c, set->columns[i].field + 1);
	}
	set->ahead[file] = (struct sp_batch){ .data = c.taken, .bytes = c.taken_bytes };
	c.taken = NULL;
	columns_close(&c);
}

static const char *first_name(const struct settings *set)
{
	for (int i = 0; i < 2; i++)
		if (set->named_key[i])
			return set->named_key[i];
	for (size_t i = 0; i < set->opts.ncolumns; i++)
		if (set->column_names[i])
			return set->column_names[i];
	return NULL;
}

void names_resolve(struct settings *set)
{
	if (!first_name(set))
		return;
	if (!set->opts.header)
		field_bad_number(first_name(set));
	if (set->opts.fixed_bytes[0] || set->opts.separator_bytes > 1)
		die("columns have names in lines and CSV with separators of one byte only");
	for (size_t i = 0; i < set->opts.ncolumns; i++)
		if (set->column_names[i] && set->columns[i].file > 2)
			die("columns of files 3 and up go by number: %u.%s", set->columns[i].file,
			    set->column_names[i]);
	for (unsigned i = 0; i < 2; i++)
		if (is_wanted(set, i))
			resolve(set, i);
}
