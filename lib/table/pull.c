/* SPDX-License-Identifier: MIT */
/*
 * Makes streams of record batches of Arrow, and operators of a plan, from queries whose records are
 * taken step by step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <spindle/table.h>
#include <spindle/tablearrow.h>
#include "base/err.h"
#include "base/minmax.h"
#include "columns/arrow_batch.h"
#include "columns/arrow_formats.h"
#include "columns/schema_text.h"
#include "flow/operator.h"
#include "table/pull.h"
#include "table/read/choice.h"

/*
 * Gives the records of a scan as a stream of record batches of Arrow: a batch for each window.
 *
 * A stream has its own open table, so streams do not depend on each other or on their caller.
 */

struct arrow_scan {
	struct sp__tablepull pull;
	struct sp_errinfo err;
	char text[SP_ERRINFO_PATH_MAX + SP_ERRINFO_TEXT_MAX + 64]; /* text of the last error */
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

static void close_batches(struct arrow_scan *a)
{
	sp__tablepull_close(&a->pull);
	for (unsigned i = 0; i < SP__RING_SLOTS; i++)
		sp__arrow_batch_close(&a->batches[i]);
	free(a);
}

static int open_batches(struct arrow_scan *a, const char *path, const struct sp_run_opts *run,
			const struct sp_table_query *query)
{
	struct sp__tablepull *p = &a->pull;
	int rc = sp__tablepull_open(p, path, run, NULL, query, &a->err);
	const struct sp__schema *s = &p->file.schema;

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

static void release_stream(struct ArrowArrayStream *stream)
{
	close_batches(stream->private_data);
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
	rc = open_batches(a, table, &opts->run, query);
	if (rc) {
		if (err)
			*err = a->err;
		close_batches(a);
		return rc;
	}
	*stream = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release_stream,
					     a };
	return 0;
}

/* Functions of Python that capsules of a stream of Arrow need. */
static struct {
	void *(*get)(void *capsule, const char *name);
	void (*release)(void *memory);
} functions;

void sp_table_capsule_functions(void *(*get)(void *capsule, const char *name),
				void (*release)(void *memory))
{
	functions.get = get;
	functions.release = release;
}

void sp_table_capsule_free(void *capsule)
{
	struct ArrowArrayStream *stream = functions.get(capsule, "arrow_array_stream");

	if (stream->release)
		stream->release(stream);
	functions.release(stream);
}

/*
 * Makes an operator of a plan from the records of a table.
 *
 * A batch has the records of a window, printed in the style of the table; its memory is that of the
 * window's slot, which is free again at the next call.
 */

#define SHARE 4 /* the scan has this share of the memory of the plan */

struct scan_operator {
	struct sp_operator op;
	struct sp__tablepull pull;
	struct sp__table_output output;
};

static int next(void *operator, struct sp_batch * batch)
{
	struct scan_operator *o = operator;
	struct sp__window_slot *s;
	int rc;

	do {
		rc = sp__rowscan_next(&o->pull.scan, &s);
	} while (rc == SP_READY && !s->out.bytes);
	if (rc == SP_READY)
		*batch = (struct sp_batch){ s->out.data, s->out.bytes };
	return rc;
}

static void note(const void *operator, struct sp_run_stats * st)
{
	const struct scan_operator *o = operator;
	const struct sp__queue *q = o->pull.scan.ring.requests.queue;
	const struct sp__queue *pool = o->pull.pool.requests.queue;

	if (!q)
		return;
	sp__env_note_io(st, sp__queue_counters(q));
	if (pool)
		sp__env_note_io(st, sp__queue_counters(pool));
	snprintf(st->input_engine, sizeof(st->input_engine), "%s", sp__queue_engine(q));
}

static void close_scan(void *operator)
{
	struct scan_operator *o = operator;

	sp__tablepull_close(&o->pull);
	sp__output_close(&o->output);
}

/* Sets the form of the records: without a header, and without bytes after the last field. */
static void set_form(struct scan_operator *o)
{
	struct sp__table_output *out = &o->output;
	const struct sp__schema *s = &o->pull.file.schema;

	out->header = out->cr = out->trailing_separator = false;
	o->op.format =
		(struct sp_recfmt){ .kind = out->format, .eol = '\n', .separator = out->separator };
	for (uint32_t k = 0; k < out->n && out->format == SP_REC_FIXED; k++)
		o->op.format.fixed_bytes += s->columns[out->columns[k]].type.bytes;
	sp__cut_init(&o->op.cut, &out->separator, out->format != SP_REC_FIXED,
		     out->format == SP_REC_CSV);
}

static int open_table(struct scan_operator *o, const char *table, const struct sp_table_opts *opts,
		      const struct sp_run_opts *run, const struct sp_table_query *query)
{
	const struct sp_flow *flow = o->op.flow;
	struct sp__tablepull *p = &o->pull;
	int rc = sp__tablepull_open(p, table, run, &flow->env, query, flow->env.err);

	if (rc || !opts)
		return rc;
	p->file.depth = opts->depth;
	rc = sp__columnjoin_set(&p->file, opts->dsm_join, flow->env.err);
	return rc || !opts->pool
		       ? rc
		       : sp__clotho_attach_file(&p->pool, &p->file, opts->pool, flow->env.err);
}

static int open_scan(struct scan_operator *o, const char *table, const struct sp_table_opts *opts,
		     const struct sp_table_query *query)
{
	struct sp_flow *flow = o->op.flow;
	struct sp__tablepull *p = &o->pull;
	struct sp_run_opts run = flow->run;
	int rc;

	run.memory_bytes = flow->env.budget.limit_bytes / SHARE;
	rc = sp__flow_charge(flow, run.memory_bytes);
	if (!rc)
		rc = open_table(o, table, opts, &run, query);
	if (rc)
		return rc;
	rc = sp__output_open(&o->output, &p->file.schema, query->format, p->columns, p->n,
			     flow->env.err);
	p->columns = NULL; /* taken over */
	if (rc)
		return rc;
	set_form(o);
	p->opts.output = &o->output;
	rc = sp__rowscan_open(&p->scan, &p->file, &p->opts, &p->stats, flow->env.err);
	p->scan.ring.waits = &flow->waits;
	return rc;
}

int sp_table_operator(struct sp_operator **op, struct sp_flow *flow, const char *table,
		      const struct sp_table_opts *opts, const struct sp_table_query *query)
{
	int rc;
	struct scan_operator *o = sp__operator_new(flow, sizeof(*o), NULL, 0, &rc);

	if (!o)
		return rc;
	o->op.next = next;
	o->op.close = close_scan;
	o->op.note = note;
	*op = &o->op;
	return open_scan(o, table, opts, query);
}

/* Finds the columns of the query and of its predicate. */
static int find_columns(struct sp__tablepull *p, const struct sp_table_query *query,
			struct sp_errinfo *err)
{
	const struct sp__schema *s = &p->file.schema;
	int rc = sp__names_find(s, query->columns, &p->columns, &p->n, err);

	if (rc)
		return rc;
	p->read = calloc(s->n, sizeof(*p->read));
	if (!p->read)
		return sp__err(err, -ENOMEM, "scan", NULL, -1);
	for (uint32_t i = 0; i < p->n; i++)
		p->read[p->columns[i]] = true;
	rc = query->where ? sp__predicate_parse(&p->where, query->where, s, err) : 0;
	if (!rc && p->where)
		sp__predicate_columns(p->where, p->read);
	return rc;
}

int sp__tablepull_open(struct sp__tablepull *p, const char *path, const struct sp_run_opts *run,
		       const struct sp__env *plan, const struct sp_table_query *query,
		       struct sp_errinfo *err)
{
	int rc;

	*p = (struct sp__tablepull){ 0 };
	if (query->agg ||
	    (query->access != SP_TABLE_ACCESS_AUTO && query->access != SP_TABLE_S_SCAN))
		return sp__errf(
			err, SP_EUNSUP, "scan", path, -1,
			"a stream of records has no aggregates, and is read by S-scan alone");
	rc = sp__tablefile_open_in(&p->file, path, run, plan, false, err);
	if (rc)
		return rc;
	p->file.env.err = err;
	rc = sp__tablefile_blank(&p->file, err);
	if (!rc)
		rc = sp__tablefile_begin_reading(&p->file, err);
	p->reading = !rc;
	if (!rc)
		rc = find_columns(p, query, err);
	p->opts = (struct sp__tablescan_opts){ .lo = query->lo,
					       .hi = query->hi,
					       .limit = query->limit,
					       .continued = true,
					       .columns = p->read,
					       .where = p->where };
	return rc;
}

void sp__tablepull_close(struct sp__tablepull *p)
{
	if (p->scan.ring.file)
		sp__rowscan_close(&p->scan);
	sp__clotho_detach_file(&p->pool);
	if (p->reading)
		sp__tablefile_end_reading(&p->file);
	(void)sp__tablefile_close(&p->file);
	sp__predicate_free(p->where);
	free(p->columns);
	free(p->read);
}
