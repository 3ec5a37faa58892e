/* SPDX-License-Identifier: MIT */
/*
 * Reads --then=FILE,left=N.F,key=F[,index=FILE]: files 3 and up.
 */
#include <stdlib.h>
#include <string.h>
#include "xjoin.h"

static _Noreturn void bad(const char *name, const char *text)
{
	die("%s %s: valid is FILE,left=N.F,key=F[,index=FILE]", name, quote(text));
}

/* Sets F: a field number, or the name of a column. */
static void set_field(const char *text, size_t *field, const char **name)
{
	*name = sp_columns_is_name(text) ? text : NULL;
	*field = *name ? 0 : field_number(text);
}

/* Sets N.F. */
static bool set_left(struct sp_join_then *t, const char *text, const char **name)
{
	char *end;
	unsigned long file = strtoul(text, &end, 10);

	if (end == text || *end != '.' || !file || file > SP_JOIN_FILES_MAX)
		return false;
	t->left = (unsigned)file;
	set_field(end + 1, &t->left_field, name);
	return true;
}

static bool set_item(struct sp_join_then *t, const char *item, const char **left_name,
		     const char **key_name)
{
	if (!strncmp(item, "left=", 5))
		return set_left(t, item + 5, left_name);
	if (!strncmp(item, "key=", 4)) {
		set_field(item + 4, &t->key, key_name);
		return true;
	}
	if (strncmp(item, "index=", 6) != 0 || !item[6])
		return false;
	t->index = item + 6;
	return true;
}

/* Cuts the next item between commas, which can be in quotes; NULL: no more items. */
static char *next_item(char **rest)
{
	char *item = *rest, *p = item;
	bool quoted = false;

	for (; p && *p && (quoted || *p != ','); p++)
		quoted ^= *p == '"';
	*rest = p && *p ? p + 1 : NULL;
	if (p)
		*p = '\0';
	return item;
}

void then_add(void *settings, const char *name, const char *text)
{
	struct settings *set = settings;
	struct sp_join_opts *o = &set->opts;
	char *rest = must_copy(text), *item;
	struct sp_join_then t = { .key = SIZE_MAX };
	const size_t n = o->nthen;

	if (n == SP_JOIN_FILES_MAX - 2)
		die("%s: at most %d files are joined", name, SP_JOIN_FILES_MAX);
	t.input = strsep(&rest, ",");
	while ((item = next_item(&rest)))
		if (!set_item(&t, item, &set->form.left_name[n], &set->form.key_name[n]))
			bad(name, text);
	if (!*t.input || !t.left || t.key == SIZE_MAX)
		bad(name, text);
	if (t.index && !strcmp(t.index, "-"))
		die("%s: index=- is accessed at any offset, so it is not a standard stream: give "
		    "a name, or ./- for a file called -",
		    name);
	set->then[o->nthen++] = t;
	o->then = set->form.then = set->then;
}
