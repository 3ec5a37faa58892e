/* SPDX-License-Identifier: MIT */
/*
 * Prints errors of the library.
 */
#include <stdlib.h>
#include <string.h>
#include "msg.h"

void say_error(int rc, const struct sp_errinfo *err)
{
	const char *reason = err->text[0] ? err->text : sp_strerror(err->code ? err->code : rc);

	if (err->path[0] && err->offset >= 0 && !err->text[0])
		msg("%s: %s at byte %lld: %s", quote_file(err->path), err->op, err->offset, reason);
	else if (err->path[0])
		msg("%s: %s", quote_file(err->path), reason);
	else
		msg("%s", reason);
}

void say_no_effects(const struct sp_no_effects *list)
{
	for (size_t i = 0; i < list->n; i++)
		msg("warning: %s had no effect: %s", list->list[i].option, list->list[i].reason);
}

void die_of(int rc, const struct sp_errinfo *err)
{
	say_error(rc, err);
	exit(2);
}

void die_next(const struct sp_errinfo *err, int rc, const char *file, const char *next)
{
	if (err->code == rc && !err->text[0] && !strcmp(err->path, file))
		die("%s: %s; %s", quote_file(file), sp_strerror(rc), next);
}

void die_argument(const struct sp_errinfo *err)
{
	if (err->code == -ENOMEM)
		die("memory exhausted");
	if (err->where)
		die("%s %s", err->text, quote(err->where));
	die("%s", err->text);
}
