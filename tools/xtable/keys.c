/* SPDX-License-Identifier: MIT */
/*
 * Opens the keys of records, and names those that no record has.
 */
#include <stdlib.h>
#include <string.h>
#include "xtable.h"

void open_wanted(struct config *c)
{
	keys_open(&c->wanted, &c->operands, 1, c->keys);
	c->wanted.mark = true;
	c->wanted.cr = !c->by || c->info.format == SP_TABLE_CSV;
}

int name_absent(void *config, const char *key, size_t bytes)
{
	struct config *c = config;
	char *text = strndup(key, bytes);

	if (!text)
		die("memory exhausted");
	c->absent++;
	if (c->by)
		msg("%s: no record has the %s %s", quote_file(c->operands.text[0]),
		    quote_bare(c->by), quote(text));
	else
		msg("%s: there is no record %s", quote_file(c->operands.text[0]), quote(text));
	free(text);
	return 0;
}
