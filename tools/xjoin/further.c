/* SPDX-License-Identifier: MIT */
/*
 * --then=FILE,left=N.F,key=F[,index=FILE]: files 3 and up.
 */
#include <stdlib.h>
#include <string.h>
#include "msg.h"
#include "number.h"
#include "quote.h"
#include "xjoin.h"

static _Noreturn void bad(const char *name, const char *text)
{
	die("%s %s: valid is FILE,left=N.F,key=F[,index=FILE]", name, quote(text));
}

/* N.F */
static bool set_left(struct sp_join_then *t, const char *text)
{
	char *end;
	unsigned long file = strtoul(text, &end, 10);

	if (end == text || *end != '.' || !file || file > SP_JOIN_FILES_MAX)
		return false;
	t->left = (unsigned)file;
	t->left_field = field_number(end + 1);
	return true;
}

static bool set_item(struct sp_join_then *t, const char *item)
{
	if (!strncmp(item, "left=", 5))
		return set_left(t, item + 5);
	if (!strncmp(item, "key=", 4)) {
		t->key = field_number(item + 4);
		return true;
	}
	if (strncmp(item, "index=", 6) != 0 || !item[6])
		return false;
	t->index = item + 6;
	return true;
}

void then_add(void *settings, const char *name, const char *text)
{
	struct settings *set = settings;
	struct sp_join_opts *o = &set->opts;
	char *rest = must_copy(text), *item;
	struct sp_join_then t = { .key = SIZE_MAX };

	t.input = strsep(&rest, ",");
	while ((item = strsep(&rest, ",")))
		if (!set_item(&t, item))
			bad(name, text);
	if (!*t.input || !t.left || t.key == SIZE_MAX)
		bad(name, text);
	if (o->nthen == SP_JOIN_FILES_MAX - 2)
		die("%s: at most %d files are joined", name, SP_JOIN_FILES_MAX);
	set->then[o->nthen++] = t;
	o->then = set->then;
}
