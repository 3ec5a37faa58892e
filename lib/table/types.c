/* SPDX-License-Identifier: MIT */
/*
 * Reads all records of inputs for the types of their columns.
 */
#include <inttypes.h>
#include "base/err.h"
#include "rec/recfmt.h"
#include "table/load.h"
#include "table/schema/schema_text.h"

/* Adds records, which are copied: a sample reads bytes behind them. */
static int add(struct sp__tableload *l, const struct sp_batch *batch)
{
	struct sp__budget *budget = &l->env.budget;
	int rc = sp__bytes_set(&l->kept, batch->data, batch->bytes, budget);

	if (!rc)
		rc = sp__bytes_reserve(&l->kept, l->kept.bytes + SP__FIELDENDS_SLACK, budget);
	if (rc)
		return sp__err(l->err, rc, "allocate", NULL, -1);
	return sp__sample_add(&l->sample, l->kept.data, (uint32_t)l->kept.bytes);
}

static int wrong_fields(const struct sp__tableload *l)
{
	const struct sp__sample *a = &l->sample;
	const uint32_t n = a->wrong > a->fields ? a->fields : a->wrong;
	uint64_t line = l->lines + l->opts->header + 1;

	line += sp__count_lines(l->kept.data, a->wrong_at);
	return sp__errf(l->err, SP_EFORMAT, "load", l->source.opts.inputs[l->source.input], -1,
			a->wrong > n ? "line %" PRIu64 ": more than %" PRIu32 " field%s"
				     : "line %" PRIu64 ": %" PRIu32 " field%s, too few",
			line, n, n == 1 ? "" : "s");
}

int sp__tableload_types(struct sp__tableload *l)
{
	struct sp_batch batch;
	size_t input = 0;
	int rc = 0;

	sp__tableload_begin_sample(l);
	l->lines = 0;
	while (!rc && (rc = sp__tablesource_next(&l->source, &batch)) == SP_READY) {
		if (l->source.input != input)
			l->lines = 0;
		input = l->source.input;
		rc = add(l, &batch);
		if (!rc && l->sample.wrong)
			rc = wrong_fields(l);
		l->lines += sp__count_lines(l->kept.data, l->kept.bytes);
	}
	sp__tableload_drop_kept(l);
	return rc ? rc : sp__tableload_resolve(l, true);
}

int sp_table_schema_text(const char *const *inputs, size_t ninputs,
			 const struct sp_table_load_opts *opts, sp_table_sink sink, void *arg,
			 struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused = { 0 };
	struct sp__bytes text = { 0 };
	struct sp__tableload l = { .path = ninputs ? inputs[0] : "",
				   .opts = opts,
				   .stats = &unused,
				   .err = err ? err : &own };
	int rc, closed;

	if (opts->format == SP_TABLE_FIXED)
		return sp__errf(l.err, SP_ESYNTAX, "schema", l.path, -1,
				"records of fixed length do not show their types");
	rc = sp__tableload_open(&l, inputs, ninputs);
	if (!rc)
		rc = sp__tableload_types(&l);
	if (!rc && sp__schema_lines_print(&l.resolved.schema, &text))
		rc = sp__err(l.err, -ENOMEM, "allocate", NULL, -1);
	if (!rc)
		rc = sink(arg, text.data, text.bytes);
	if (!rc)
		sp__tableload_tell_types(&l);
	sp__bytes_release(&text, NULL);
	closed = sp__tableload_close(&l);
	return rc ? rc : closed;
}
