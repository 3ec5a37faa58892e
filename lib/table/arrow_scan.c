/* SPDX-License-Identifier: MIT */
/*
 * Gives the records of a scan as a stream of record batches of Arrow: a batch for each window.
 *
 * A stream has its own open table, so streams do not depend on each other or on their caller.
 */
#include <stdio.h>
#include <stdlib.h>
#include <spindle/tablearrow.h>
#include "base/err.h"
#include "table/arrow/batch.h"
#include "table/pull.h"

struct arrow_scan {
	struct sp__tablepull pull;
	struct sp_errinfo err;
	char text[SP_ERRINFO_PATH_MAX + SP_ERRINFO_TEXT_MAX + 64]; /* of the last error */
	int status; /* SP_READY, SP_END, or the first error */
	struct sp__arrow_batch batches[SP__RING_SLOTS];
	struct sp__rows_user user;
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
	sp__tablepull_close(&a->pull);
	for (unsigned i = 0; i < SP__RING_SLOTS; i++)
		sp__arrow_batch_close(&a->batches[i]);
	free(a);
}

static int open_scan(struct arrow_scan *a, const char *path, const struct sp_run_opts *run,
		     const struct sp_table_query *query)
{
	struct sp__tablepull *p = &a->pull;
	int rc = sp__tablepull_open(p, path, run, NULL, query, &a->err);
	const struct sp__table_schema *s = &p->file.schema;

	for (unsigned i = 0; !rc && i < SP__RING_SLOTS; i++)
		if (sp__arrow_batch_open(&a->batches[i], s, p->columns, p->n))
			rc = sp__err(&a->err, -ENOMEM, "scan", NULL, -1);
	if (rc)
		return rc;
	a->user = (struct sp__rows_user){ begin, put, a,
					  sp__arrow_record_bytes(s, p->columns, p->n) };
	p->opts.user = &a->user;
	return sp__rowscan_open(&p->scan, &p->file, &p->opts, &p->stats, &a->err);
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
	int rc = sp__arrow_schema(out, &a->pull.file.schema, a->pull.columns, a->pull.n);

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
			a->status = sp__rowscan_next(&a->pull.scan, &s);
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
	a->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	a->status = SP_READY;
	rc = open_scan(a, table, &opts->run, query);
	if (rc) {
		if (err)
			*err = a->err;
		close_scan(a);
		return rc;
	}
	*stream = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release, a };
	return 0;
}
