/* SPDX-License-Identifier: MIT */
/*
 * Resolves keys that name a column of the header: NAME[:OPTS] becomes the key FIELD,FIELD with
 * these options.
 */
#include <stdlib.h>
#include <string.h>
#include "columns.h"
#include "xsort.h"

static void set_key(struct sp_order_key *key, const struct sp_columns *columns)
{
	char *text = columns_key(columns, key->name);

	order_set_key(key, text, key->name);
	free(text);
}

/* Reads the first header; removes the empty inputs before it, which have been read. */
static void read_header(struct settings *set, struct sp_columns *columns)
{
	size_t i = 0;

	columns_read(columns);
	while (columns->empty && !set->order.header_first && ++i < set->nfiles) {
		sp_columns_close(columns);
		columns->input = set->files[i];
		columns_read(columns);
	}
	if (columns->empty)
		columns->input = set->files[0];
	else
		memmove(set->files, set->files + i, (set->nfiles -= i) * sizeof(*set->files));
}

void names_resolve(struct settings *set)
{
	struct sp_columns *columns = &set->columns;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	/* lines can begin with a comment; the header of CSV has all columns */
	bool looked_at = set->infer || (set->order.csv && set->order.header_records);

	*columns = (struct sp_columns){
		.input = set->files[0],
		.csv = set->order.csv,
		.separator =
			set->order.csv && set->order.separator == -1 ? ',' : set->order.separator,
		.eol = set->order.eol,
		.header_records = set->order.header_records,
		.decompress = set->opts.run.decompress,
		.sample_max = set->infer ? INFER_BYTES : 0,
	};
	for (size_t i = 0; i < set->order.nkeys; i++)
		looked_at |= set->order.keys[i].name != NULL;
	if (!set->order.nkeys || !looked_at)
		return;
	for (size_t i = 0; !set->order.header_records && i < set->order.nkeys; i++)
		if (set->order.keys[i].name)
			die("-k %s: to name columns, add --header", quote(set->order.keys[i].name));
	if (set->order.record_bytes)
		die("records of a fixed length have no columns with names");
	files_check_inputs(set);
	read_header(set, columns);
	for (size_t i = 0; i < set->order.nkeys; i++) {
		if (set->order.keys[i].name)
			set_key(&set->order.keys[i], columns);
		else if (sp_columns_check(columns, set->order.keys[i].spec.sword + 1, &err))
			columns_failed(&err);
	}
	set->header_taken =
		(struct sp_batch){ .data = columns->taken, .bytes = columns->taken_bytes };
	columns->taken = NULL;
	if (!set->infer)
		sp_columns_close(columns);
}
