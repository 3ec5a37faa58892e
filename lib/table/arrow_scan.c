/* SPDX-License-Identifier: MIT */
/*
 * Gives the records of a scan as a stream of record batches of Arrow: a batch for each window.
 *
 * A stream has its own open table, so streams do not depend on each other or on their caller.
 */
#include <stdio.h>
#include <stdlib.h>
#include <spindle/table.h>
#include "base/err.h"
#include "table/arrow/batch.h"
#include "table/read/scan.h"
#include "table/schema/names.h"

struct arrow_scan {
	struct sp__tablefile file;
	bool reading; /* under a shared lock */
	struct sp_errinfo err;
	char text[SP_ERRINFO_PATH_MAX + SP_ERRINFO_TEXT_MAX + 64]; /* of the last error */
	int status; /* SP_READY, SP_END, or the first error */
	struct sp_table_stats stats;
	uint32_t *columns, n; /* of the batches, in their order */
	bool *read;	      /* columns that are read, by number */
	struct sp__predicate *where;
	struct sp__arrow_batch batches[SP__RING_SLOTS];
	struct sp__rows_user user;
	struct sp__tablescan_opts opts;
	struct sp__rowscan scan;
};

static struct sp__arrow_batch *batch_of(struct arrow_scan *a, const struct sp__window_slot *s)
{
	return &a->batches[s - s->ring->slots];
}

static void begin(void *arg, struct sp__window_slot *s)
{
	sp__arrow_batch_empty(batch_of(arg, s));
}

static int put(void *arg, struct sp__window_slot *s, const struct sp__rows *rows,
	       const uint32_t *selected, uint32_t n)
{
	return sp__arrow_append(batch_of(arg, s), rows, selected, n, &s->err);
}

static void close_scan(struct arrow_scan *a)
{
	if (a->scan.ring.file)
		sp__rowscan_close(&a->scan);
	for (unsigned i = 0; i < SP__RING_SLOTS; i++)
		sp__arrow_batch_close(&a->batches[i]);
	if (a->reading)
		sp__tablefile_end_reading(&a->file);
	(void)sp__tablefile_close(&a->file);
	sp__predicate_free(a->where);
	free(a->columns);
	free(a->read);
	free(a);
}

/* Finds the columns of the query and of its predicate. */
static int find_columns(struct arrow_scan *a, const struct sp_table_query *query)
{
	const struct sp__table_schema *s = &a->file.schema;
	int rc = sp__names_find(s, query->columns, &a->columns, &a->n, &a->err);

	if (rc)
		return rc;
	a->read = calloc(s->n, sizeof(*a->read));
	if (!a->read)
		return sp__err(&a->err, -ENOMEM, "scan", NULL, -1);
	for (uint32_t i = 0; i < a->n; i++)
		a->read[a->columns[i]] = true;
	rc = query->where ? sp__predicate_parse(&a->where, query->where, s, &a->err) : 0;
	if (!rc && a->where)
		sp__predicate_columns(a->where, a->read);
	return rc;
}

static int start(struct arrow_scan *a, const struct sp_table_query *query)
{
	struct sp__tablefile *f = &a->file;
	int rc = find_columns(a, query);

	for (unsigned i = 0; !rc && i < SP__RING_SLOTS; i++)
		if (sp__arrow_batch_open(&a->batches[i], &f->schema, a->columns, a->n))
			rc = sp__err(&a->err, -ENOMEM, "scan", NULL, -1);
	if (rc)
		return rc;
	a->user = (struct sp__rows_user){ begin, put, a,
					  sp__arrow_record_bytes(&f->schema, a->columns, a->n) };
	a->opts = (struct sp__tablescan_opts){ .lo = query->lo,
					       .hi = query->hi,
					       .limit = query->limit,
					       .columns = a->read,
					       .where = a->where,
					       .user = &a->user };
	return sp__rowscan_open(&a->scan, f, &a->opts, &a->stats, &a->err);
}

static int open_scan(struct arrow_scan *a, const char *path, const struct sp_table_opts *opts,
		     const struct sp_table_query *query)
{
	int rc;

	if (query->agg ||
	    (query->access != SP_TABLE_ACCESS_AUTO && query->access != SP_TABLE_S_SCAN))
		return sp__errf(&a->err, SP_EUNSUP, "scan", path, -1,
				"record batches have no aggregates, and are read by S-scan alone");
	rc = sp__tablefile_open(&a->file, path, &opts->run, false, &a->err);
	if (rc)
		return rc;
	a->file.env.err = &a->err;
	rc = sp__tablefile_begin_reading(&a->file, &a->err);
	a->reading = !rc;
	return rc ? rc : start(a, query);
}

/* Returns an error as Arrow wants it, an errno; its text is kept. */
static int as_errno(struct arrow_scan *a, int rc)
{
	snprintf(a->text, sizeof(a->text), "%s%s%s", a->err.path, a->err.path[0] ? ": " : "",
		 a->err.text[0] ? a->err.text : sp_strerror(rc));
	return rc > SP_EFORMAT ? -rc : EIO;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct arrow_scan *a = stream->private_data;
	int rc = sp__arrow_schema(out, &a->file.schema, a->columns, a->n);

	return rc ? as_errno(a, sp__err(&a->err, rc, "scan", NULL, -1)) : 0;
}

/* An array that is released ends the stream. */
static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct arrow_scan *a = stream->private_data;
	struct sp__window_slot *s = NULL;

	*out = (struct ArrowArray){ 0 };
	do {
		if (a->status == SP_READY)
			a->status = sp__rowscan_next(&a->scan, &s);
	} while (a->status == SP_READY && !s->matched);
	if (a->status == SP_READY && sp__arrow_take(batch_of(a, s), out))
		a->status = sp__err(&a->err, -ENOMEM, "scan", NULL, -1);
	return a->status < 0 ? as_errno(a, a->status) : 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	const struct arrow_scan *a = stream->private_data;

	return a->text[0] ? a->text : NULL;
}

static void release(struct ArrowArrayStream *stream)
{
	close_scan(stream->private_data);
	stream->release = NULL;
}

int sp_table_arrow(const char *table, const struct sp_table_opts *opts,
		   const struct sp_table_query *query, struct ArrowArrayStream *stream,
		   struct sp_errinfo *err)
{
	struct arrow_scan *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return sp__err(err, -ENOMEM, "scan", table, -1);
	a->file.fd = -1;
	a->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	a->status = SP_READY;
	rc = open_scan(a, table, opts, query);
	if (rc) {
		if (err)
			*err = a->err;
		close_scan(a);
		return rc;
	}
	*stream = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release, a };
	return 0;
}
