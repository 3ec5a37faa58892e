/* SPDX-License-Identifier: MIT */
/*
 * Reads record batches of Arrow as values of columns, as they are stored.
 *
 * Owner: the load.
 */
#pragma once

#include "table/arrow/schema.h"
#include "table/values/columns.h"

/* A column of a batch, while it is read. */
struct sp__import_column {
	const struct ArrowSchema *schema;
	struct sp__value_type type;
	int64_t unit;		 /* of a time, in microseconds */
	struct sp__bytes values; /* as stored; of texts: struct sp__text_ref */
	struct sp__bytes texts;
	uint64_t nulls;
};

struct sp__import {
	struct ArrowSchema schema;
	uint32_t n;
	struct sp__import_column *columns;
	struct sp__column_values *list; /* of the last portion */
};

/*
 * Takes the schema of a stream and adds its columns to an empty schema.  Returns 0; -ENOMEM; or
 * SP_EUNSUP for a type that a table does not have, or an error of the stream, recorded in err.
 */
SP_MUST_CHECK int sp__import_open(struct sp__import *m, struct ArrowArrayStream *stream,
				  struct sp__table_schema *s, struct sp_errinfo *err);
void sp__import_close(struct sp__import *m);
/*
 * Converts records [from, from + n) of a batch to m->list; first: the number of record `from` in
 * the table.  Returns 0; -ENOMEM; or SP_EUNSUP for a value that the column's type does not have, or
 * that stands for NULL there, recorded in err.
 */
SP_MUST_CHECK int sp__import_records(struct sp__import *m, const struct ArrowArray *batch,
				     int64_t from, uint32_t n, uint64_t first,
				     struct sp_errinfo *err);
