/* SPDX-License-Identifier: MIT */
/*
 * Converts a table: writes its records to a new one, perhaps in another layout.
 *
 * Deleted records, texts that were replaced and free cells stay behind.
 */
#include <stdlib.h>
#include "base/err.h"
#include "table/arrange.h"
#include "table/change/copy.h"
#include "table/state.h"

/* Creates the new table. */
static int create(struct sp__tablefile *to, struct sp__tablefile *from, const char *path,
		  const struct sp_table_load_opts *o, struct sp_errinfo *err)
{
	struct sp__table_schema schema;
	struct sp__table_layout layout = { 0 };
	struct sp__lanemap *lanemap = NULL;
	double *means = calloc(from->schema.n, sizeof(*means));
	struct sp__cost_asked asked = { .name = path,
					.schema = &schema,
					.records = from->superblock.records,
					.text_bytes = means,
					.cell_bytes = o->cell_bytes,
					.page_records = o->page_records };
	int rc = sp__copy_schema(from, &schema);

	if (!rc && !means)
		rc = -ENOMEM;
	if (rc)
		(void)sp__err(err, rc, "convert", from->path, -1);
	else if (o->layout == SP_TABLE_AUTO)
		rc = sp__table_mean_texts(from, means, err);
	if (!rc)
		rc = sp__table_arrange(&layout, &lanemap, &asked, o, err);
	free(means);
	if (!rc)
		rc = sp__tablefile_create(to, path, &o->run, &schema, &layout, &lanemap,
					  o->placing.volume_names, err);
	to->depth = o->depth;
	sp__table_schema_free(&schema);
	sp__table_arranged_free(&layout, lanemap);
	return rc;
}

static int copy(struct sp__tablefile *from, struct sp__tablefile *to, struct sp_table_stats *stats,
		struct sp_errinfo *err)
{
	int rc = sp__copy_records(from, to, stats, err);

	if (!rc)
		rc = sp__tablefile_commit(to, err);
	stats->records_matched = stats->records_written = to->superblock.records;
	stats->cells_written = to->cells_written;
	stats->output_bytes = to->map.end * to->layout.cell_bytes;
	stats->exact = !from->superblock.deleted;
	return rc ? rc : sp__tablefile_publish(to, err);
}

int sp_table_convert(struct sp_table *t, const char *output, const struct sp_table_load_opts *opts,
		     struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp__tablefile to = { .fd = -1 };
	struct sp_table_stats unused;
	int rc, closed = 0;

	err = err ? err : &own;
	stats = stats ? stats : &unused;
	*stats = (struct sp_table_stats){ 0 };
	if (opts->layout > SP_TABLE_AUTO)
		return sp__errf(err, SP_ESYNTAX, "convert", output, -1,
				"layout is not one that a table is stored in");
	rc = sp__table_begin_reading(t, true, err);
	if (rc)
		return rc;
	rc = create(&to, &t->file, output, opts, err);
	if (!rc)
		rc = copy(&t->file, &to, stats, err);
	sp__env_note_io(&stats->run, &to.io);
	sp__tablefile_note(&t->file, &stats->run);
	if (to.path)
		closed = sp__tablefile_close(&to);
	sp__table_end_reading(t);
	return rc ? rc : closed;
}
