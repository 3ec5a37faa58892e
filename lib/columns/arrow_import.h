/* SPDX-License-Identifier: MIT */
/*
 * Reads record batches of Arrow as values of columns, as they are stored.
 *
 * Owner: the load.
 */
#pragma once

#include "columns/arrow_formats.h"
#include "columns/vector.h"

/* Record batches must be loaded again, since a column has got a wider type. */
#define SP__IMPORT_WIDER 1

/* A column of a batch, while it is read. */
struct sp__import_column {
	const struct ArrowSchema *schema,
		*source;		       /* source: of the values, perhaps a dictionary's */
	struct sp__arrow_format format, codes; /* codes: numbers of the dictionary's words */
	struct sp__bytes values;	       /* values as stored; for texts struct sp__text_ref */
	struct sp__bytes texts;
	bool any_null;
};

struct sp__import {
	struct ArrowSchema schema;
	uint32_t n;
	struct sp__import_column *columns;
	struct sp__column_values *list;	       /* values of the last portion */
	const struct sp__import_column *wider; /* the last one that has got a wider type */
};

/*
 * Takes the schema of a stream.  Returns 0; -ENOMEM; or SP_EUNSUP for a type that a table does not
 * have, SP_EFORMAT, or an error of the stream, recorded in err.
 */
SP_MUST_CHECK int sp__import_open(struct sp__import *m, struct ArrowArrayStream *stream,
				  struct sp_errinfo *err);
void sp__import_close(struct sp__import *m);
/*
 * Takes the next batch of a stream; one without release() is its end.  Returns 0, or an error of
 * the stream, recorded in err.
 */
SP_MUST_CHECK int sp__import_next(struct ArrowArrayStream *stream, struct ArrowArray *batch,
				  struct sp_errinfo *err);
/* Adds the columns, with the types that they have now, to an empty schema.  Errors as above. */
SP_MUST_CHECK int sp__import_schema(struct sp__import *m, struct sp__schema *s,
				    struct sp_errinfo *err);
/* Checks the arrays of a batch.  Returns 0 or SP_EFORMAT, recorded in err. */
SP_MUST_CHECK int sp__import_check(const struct sp__import *m, const struct ArrowArray *batch,
				   struct sp_errinfo *err);
/*
 * Converts records [from, from + *n) of a batch to m->list, or fewer if their texts are long: then
 * sets *n.  first: the number of record `from` in the table.
 * Returns 0; SP__IMPORT_WIDER; -ENOMEM; SP_EUNSUP for a value that no type of a table has, or that
 * stands for NULL there; or SP_EFORMAT; recorded in err.
 */
SP_MUST_CHECK int sp__import_records(struct sp__import *m, const struct ArrowArray *batch,
				     int64_t from, uint32_t *n, uint64_t first,
				     struct sp_errinfo *err);
/* Returns the bytes of the last portion, of n records. */
uint64_t sp__import_bytes(const struct sp__import *m, uint32_t n);
