/* SPDX-License-Identifier: MIT */
/*
 * Loads a table from a stream of record batches of Arrow.
 */
#include <stdlib.h>
#include <spindle/tablearrow.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/memory.h"
#include "table/arrange.h"
#include "table/arrow/import.h"
#include "table/write/writer.h"

#define UNKNOWN_RECORDS 1000000 /* for the choice of a layout */
#define PORTION 4096		/* records that are converted together */

struct arrow_load {
	const char *path;
	const struct sp_table_load_opts *opts;
	struct sp_table_stats *stats;
	struct sp_errinfo *err;
	struct ArrowArrayStream *stream;
	struct sp__import import;
	struct sp__table_schema schema;
	struct sp__tablefile file;
	struct sp__tablewriter writer;
	uint64_t records;
};

static int create(struct arrow_load *l)
{
	const struct sp_run_opts *run = &l->opts->run;
	struct sp__table_layout layout = { 0 };
	struct sp__lanemap *lanemap = NULL;
	const struct sp__cost_asked asked = { .name = l->path,
					      .schema = &l->schema,
					      .records = UNKNOWN_RECORDS,
					      .cell_bytes = l->opts->cell_bytes,
					      .page_records = l->opts->page_records };
	int rc = sp__import_open(&l->import, l->stream, &l->schema, l->err);

	if (!rc && sp__table_schema_repeated(&l->schema) >= 0)
		rc = sp__errf(l->err, SP_ESYNTAX, "load", l->path, -1,
			      "two columns have the name '%.64s'",
			      l->schema.columns[sp__table_schema_repeated(&l->schema)].name);
	if (rc)
		return rc;
	l->schema.style = (struct sp__table_style){ .format = SP_TABLE_CSV,
						    .separator = ',',
						    .header = true };
	rc = sp__table_arrange(&layout, &lanemap, &asked, l->opts, l->err);
	if (rc) {
		sp__table_arranged_free(&layout, lanemap);
		return rc;
	}
	rc = sp__tablefile_create(&l->file, l->path, run, &l->schema, &layout, &lanemap,
				  l->opts->placing.volume_names, l->err);
	return rc ? rc
		  : sp__tablewriter_open(&l->writer, &l->file,
					 sp__working_memory(run, run->memory_bytes) / 3, l->err);
}

static int put_batch(struct arrow_load *l, const struct ArrowArray *batch)
{
	int rc = 0;

	for (int64_t at = 0; !rc && at < batch->length;) {
		uint32_t n = (uint32_t)sp__min(batch->length - at, PORTION);

		rc = sp__import_records(&l->import, batch, at, n, l->records, l->err);
		if (!rc)
			rc = sp__tablewriter_put(&l->writer, n, l->import.list);
		l->records += n;
		at += n;
	}
	return rc;
}

/* Loads all batches; one that is released ends the stream. */
static int put_batches(struct arrow_load *l)
{
	int rc = 0;

	while (!rc) {
		struct ArrowArray batch = { 0 };

		rc = l->stream->get_next(l->stream, &batch);
		if (rc) {
			const char *reason = l->stream->get_last_error(l->stream);

			return sp__errf(l->err, -rc, "read", NULL, -1, "the stream failed: %.200s",
					reason ? reason : "no reason is known");
		}
		if (!batch.release)
			break;
		rc = put_batch(l, &batch);
		batch.release(&batch);
	}
	return rc;
}

static int load(struct arrow_load *l)
{
	int rc = create(l);

	if (!rc)
		rc = put_batches(l);
	if (!rc)
		rc = sp__tablewriter_finish(&l->writer);
	for (uint32_t i = 0; !rc && i < l->import.n; i++)
		l->file.schema.columns[i].not_null = !l->import.columns[i].nulls;
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
				.file = { .fd = -1 } };
	int rc, closed = 0;

	*l.stats = (struct sp_table_stats){ 0 };
	rc = load(&l);
	sp__tablewriter_close(&l.writer);
	if (l.file.creating)
		closed = sp__tablefile_close(&l.file);
	sp__table_schema_free(&l.schema);
	sp__import_close(&l.import);
	stream->release(stream);
	return rc ? rc : closed;
}
