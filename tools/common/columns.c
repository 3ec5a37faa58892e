/* SPDX-License-Identifier: MIT */
/*
 * Reads columns by name; errors end the program.
 */
#include <string.h>
#include "columns.h"
#include "msg.h"

void columns_failed(const struct sp_errinfo *err)
{
	const char *path = err->path[0] ? quote_file(err->path) : NULL;

	if (err->code == -ENOMEM)
		die("memory exhausted");
	if (err->text[0] || err->code <= SP_EFORMAT)
		die("%s%s%s", path ? path : "", path ? ": " : "",
		    err->text[0] ? err->text : sp_strerror(err->code));
	if (!strcmp(err->op, "read"))
		die_sys(-err->code, "read failed: %s", path);
	die_sys(-err->code, "%s", path);
}

void columns_read(struct sp_columns *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	c->quote = quote;
	if (sp_columns_read(c, &err))
		columns_failed(&err);
}

char *columns_key(const struct sp_columns *c, const char *text)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	char *key;

	if (sp_columns_key(c, text, &key, &err))
		columns_failed(&err);
	return key;
}
