/* SPDX-License-Identifier: MIT */
/*
 * Loads a table from a stream of record batches of Arrow.
 *
 * A stream gives its batches once.  Batches that were loaded are held, up to a quarter of the
 * memory: if a value needs a wider type, the load begins again with them.
 */
#include <stdlib.h>
#include <spindle/tablearrow.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "columns/arrow_import.h"
#include "run/memory.h"
#include "table/arrange.h"
#include "table/write/writer.h"

#define UNKNOWN_RECORDS 1000000 /* for the choice of a layout */
#define BATCH_BYTES 1024	/* memory of a batch without records */
#define PORTION 4096		/* records that are converted together */

struct arrow_load {
	const char *path;
	const struct sp_table_load_opts *opts;
	struct sp_table_stats *stats;
	struct sp_errinfo *err;
	struct ArrowArrayStream *stream;
	struct sp__import import;
	struct sp__schema schema;
	struct sp__tablefile file;
	struct sp__tablewriter writer;
	uint64_t records;
	struct ArrowArray *held; /* all batches so far, nheld, or none */
	size_t nheld, capacity;
	uint64_t held_bytes, max_held_bytes; /* bytes of the held batches, as converted */
	bool released;			     /* a batch is no longer held */
};

static int create(struct arrow_load *l)
{
	const struct sp_run_opts *run = &l->opts->run;
	const struct sp__cost_asked asked = { .name = l->path,
					      .schema = &l->schema,
					      .records = UNKNOWN_RECORDS,
					      .cell_bytes = l->opts->cell_bytes,
					      .page_records = l->opts->page_records };
	int rc = sp__import_schema(&l->import, &l->schema, l->err);

	if (!rc && sp__schema_repeated(&l->schema) >= 0)
		rc = sp__errf(l->err, SP_ESYNTAX, "load", l->path, -1,
			      "two columns have the name '%.64s'",
			      l->schema.columns[sp__schema_repeated(&l->schema)].name);
	if (rc)
		return rc;
	l->schema.style = (struct sp__columns_style){ .format = SP_REC_CSV,
						      .separator = ',',
						      .header = true };
	rc = sp__table_arrange(&l->file, &asked, &l->schema, run, l->opts, l->err);
	return rc ? rc
		  : sp__tablewriter_open(&l->writer, &l->file,
					 sp__working_memory(run, run->memory_bytes) / 3, l->err);
}

/* Discards what was written. */
static int discard(struct arrow_load *l)
{
	int rc = 0;

	sp__tablewriter_close(&l->writer);
	if (l->file.creating)
		rc = sp__tablefile_close(&l->file);
	sp__schema_free(&l->schema);
	l->file = (struct sp__tablefile){ 0 };
	l->writer = (struct sp__tablewriter){ 0 };
	l->records = 0;
	return rc;
}

static void release_held(struct arrow_load *l)
{
	for (size_t i = 0; i < l->nheld; i++)
		l->held[i].release(&l->held[i]);
	free(l->held);
	l->held = NULL;
	l->nheld = l->capacity = 0;
}

static int put_batch(struct arrow_load *l, const struct ArrowArray *batch)
{
	int rc = 0;

	for (int64_t at = 0; !rc && at < batch->length;) {
		uint32_t n = (uint32_t)sp__min((uint64_t)(batch->length - at), PORTION);

		rc = sp__import_records(&l->import, batch, at, &n, l->records, l->err);
		if (rc)
			return rc;
		rc = sp__tablewriter_put(&l->writer, n, l->import.list);
		l->records += n;
		at += n;
		l->held_bytes += sp__import_bytes(&l->import, n);
	}
	return rc;
}

/* Loads the held batches again, with wider types. */
static int again(struct arrow_load *l)
{
	int rc = SP__IMPORT_WIDER;

	while (rc == SP__IMPORT_WIDER) {
		rc = discard(l);
		if (!rc)
			rc = create(l);
		for (size_t i = 0; !rc && i < l->nheld; i++)
			rc = put_batch(l, &l->held[i]);
	}
	return rc;
}

static int too_late(const struct arrow_load *l)
{
	const struct sp__import_column *c = l->import.wider;

	return sp__errf(
		l->err, SP_EUNSUP, "load", l->path, -1,
		"column %.64s, near record %llu: a value needs a wider type, and earlier "
		"batches are no longer in memory; load with more memory, or cast the column",
		c->schema->name, (unsigned long long)l->records);
}

/* Puts a batch, and holds or releases it. */
static int take_batch(struct arrow_load *l, struct ArrowArray *batch)
{
	int rc = sp__import_check(&l->import, batch, l->err);

	if (!rc && l->held_bytes > l->max_held_bytes) {
		release_held(l);
		l->released = true;
	}
	if (rc || l->released) {
		rc = rc ? rc : put_batch(l, batch);
		batch->release(batch);
		return rc == SP__IMPORT_WIDER ? too_late(l) : rc;
	}
	if (!SP__ARRAY_GROW(l->held, l->capacity, l->nheld + 1)) {
		batch->release(batch);
		return sp__err(l->err, -ENOMEM, "load", NULL, -1);
	}
	l->held[l->nheld++] = *batch;
	l->held_bytes += BATCH_BYTES;
	rc = put_batch(l, batch);
	return rc == SP__IMPORT_WIDER ? again(l) : rc;
}

/* Loads all batches; one that is released ends the stream. */
static int take_batches(struct arrow_load *l)
{
	int rc = 0;

	while (!rc) {
		struct ArrowArray batch = { 0 };

		rc = sp__import_next(l->stream, &batch, l->err);
		if (rc || !batch.release)
			break;
		rc = take_batch(l, &batch);
	}
	return rc;
}

static int load(struct arrow_load *l)
{
	int rc = sp__import_open(&l->import, l->stream, l->err);

	if (!rc)
		rc = create(l);
	if (!rc)
		rc = take_batches(l);
	if (!rc)
		rc = sp__tablewriter_finish(&l->writer);
	for (uint32_t i = 0; !rc && i < l->import.n; i++)
		l->file.schema.columns[i].not_null = !l->import.columns[i].any_null;
	if (!rc)
		rc = sp__tablefile_commit(&l->file, l->err);
	if (rc)
		return rc;
	l->stats->records_written = l->file.superblock.records;
	l->stats->cells_written = l->file.cells_written;
	l->stats->output_bytes = l->file.map.end * l->file.layout.cell_bytes;
	sp__tablewriter_note(&l->writer, &l->stats->run);
	sp__tablefile_note(&l->file, &l->stats->run);
	return sp__tablefile_publish(&l->file, l->err);
}

int sp_table_load_arrow(const char *path, struct ArrowArrayStream *stream,
			const struct sp_table_load_opts *opts, struct sp_table_stats *stats,
			struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	struct arrow_load l = { .path = path,
				.opts = opts,
				.stats = stats ? stats : &unused,
				.err = err ? err : &own,
				.stream = stream,
				.max_held_bytes = opts->run.memory_bytes / 4 };
	int rc, closed;

	*l.stats = (struct sp_table_stats){ 0 };
	rc = load(&l);
	closed = discard(&l);
	release_held(&l);
	sp__import_close(&l.import);
	stream->release(stream);
	return rc ? rc : closed;
}
