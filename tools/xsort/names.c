/* SPDX-License-Identifier: MIT */
/*
 * Keys that name a column of the header: NAME[:OPTS] is the key FIELD,FIELD with these options.
 */
#include <stdlib.h>
#include "columns.h"
#include "msg.h"
#include "xsort.h"

static void set_key(struct key *key, const struct columns *columns)
{
	char *text = columns_key(columns, key->name);

	order_set_key(key, text, key->name);
	free(text);
}

void names_resolve(struct settings *set)
{
	struct columns columns = {
		.input = set->files[0],
		.csv = set->csv,
		.separator = set->csv && set->separator == -1 ? ',' : set->separator,
		.eol = set->eol,
		.header_records = set->header,
		.decompress = set->opts.run.decompress,
	};
	/* Lines may begin with a comment, the header of CSV has all columns. */
	bool looked_at = set->csv && set->header;

	for (size_t i = 0; i < set->nkeys; i++)
		looked_at |= set->keys[i].name != NULL;
	if (!set->nkeys || !looked_at)
		return;
	for (size_t i = 0; !set->header && i < set->nkeys; i++)
		if (set->keys[i].name)
			order_set_key(&set->keys[i], set->keys[i].name, NULL);
	if (set->record_bytes)
		die("records of a fixed length have no columns with names");
	files_check_inputs(set);
	columns_read(&columns);
	for (size_t i = 0; i < set->nkeys; i++) {
		if (set->keys[i].name)
			set_key(&set->keys[i], &columns);
		else
			columns_check(&columns, set->keys[i].spec.sword + 1);
	}
	set->header_taken =
		(struct sp_batch){ .data = columns.taken, .bytes = columns.taken_bytes };
	columns.taken = NULL;
	columns_close(&columns);
}
