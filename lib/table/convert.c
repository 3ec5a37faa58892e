/* SPDX-License-Identifier: MIT */
/*
 * Converts a table: writes its records to a new one, perhaps in another layout or with other types.
 *
 * Deleted records, texts that were replaced and free cells stay behind.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "columns/schema_text.h"
#include "table/arrange.h"
#include "table/change/copy.h"
#include "table/state.h"

int sp__table_set_types(struct sp__schema *s, const char *types, const char *path,
			struct sp_errinfo *err)
{
	struct sp__schema wanted = { 0 };
	int rc = sp__schema_list_parse(&wanted, types, err);

	if (!rc && !s->style.json)
		rc = sp__schema_refuse_json(&wanted, path, err);
	for (uint32_t i = 0; !rc && i < wanted.n; i++) {
		const struct sp__column *w = &wanted.columns[i];
		int at = sp__schema_find(s, w->name, strlen(w->name));
		struct sp__column *c = &s->columns[at < 0 ? 0 : at];

		if (at < 0) {
			rc = sp__errf(err, SP_ESYNTAX, "convert", path, -1,
				      "there is no column '%.64s': '%.64s' is the nearest name",
				      w->name, sp__schema_nearest(s, w->name, strlen(w->name)));
			continue;
		}
		if (s->style.format == SP_REC_FIXED && (w->type.kind == 't' || w->type.kind == 'w'))
			rc = sp__errf(err, SP_ESYNTAX, "convert", path, -1,
				      "column '%.64s': a text has no fixed length: choose char(N)",
				      w->name);
		if (w->json && !c->json)
			rc = sp__errf(err, SP_ESYNTAX, "convert", path, -1,
				      "column '%.64s': its texts are not values of JSON", w->name);
		c->json = w->json;
		c->not_null = c->not_null || w->not_null;
		if (sp__value_type_same(&c->type, &w->type))
			continue;
		sp__dictionary_free(&c->words);
		free(c->arrow);
		c->arrow = NULL;
		c->type = w->type;
		c->bounds = sp__column_type_bounded(&c->type);
		c->words.budget = s->budget;
	}
	sp__schema_free(&wanted);
	return rc;
}

/* Creates the new table. */
static int create(struct sp__tablefile *to, struct sp__tablefile *from, const char *path,
		  const struct sp_table_load_opts *o, struct sp_errinfo *err)
{
	struct sp__schema schema;
	double *means = calloc(from->schema.n, sizeof(*means));
	struct sp__cost_asked asked = { .name = path,
					.schema = &schema,
					.records = from->superblock.records,
					.text_bytes = means,
					.cell_bytes = o->cell_bytes,
					.page_records = o->page_records };
	int rc = sp__copy_schema(from, &schema, true);

	if (!rc && !means)
		rc = -ENOMEM;
	if (rc)
		(void)sp__err(err, rc, "convert", from->path, -1);
	else if (o->types)
		rc = sp__table_set_types(&schema, o->types, from->path, err);
	if (!rc && o->layout == SP_TABLE_AUTO)
		rc = sp__table_mean_texts(from, means, err);
	if (!rc)
		rc = sp__table_arrange(to, &asked, &schema, &o->run, o, err);
	free(means);
	to->depth = o->depth;
	sp__schema_free(&schema);
	return rc;
}

static int copy(struct sp__tablefile *from, struct sp__tablefile *to, struct sp_table_stats *stats,
		const char *types, struct sp_errinfo *err)
{
	int rc = sp__copy_records(from, to, NULL, stats, err);

	if (!rc)
		rc = sp__tablefile_commit(to, err);
	stats->records_matched = stats->records_written = to->superblock.records;
	stats->cells_written = to->cells_written;
	stats->output_bytes = to->map.end * to->layout.cell_bytes;
	stats->exact = !from->superblock.deleted && !types;
	return rc ? rc : sp__tablefile_publish(to, err);
}

int sp_table_convert(struct sp_table *t, const char *output, const struct sp_table_load_opts *opts,
		     struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp__tablefile to = { 0 };
	struct sp_table_stats unused;
	int rc, closed = 0;

	err = err ? err : &own;
	stats = stats ? stats : &unused;
	*stats = (struct sp_table_stats){ 0 };
	if (opts->layout > SP_TABLE_AUTO)
		return sp__errf(err, SP_ESYNTAX, "convert", output, -1,
				"a table cannot be stored in this layout");
	rc = sp__table_begin_reading(t, true, err);
	if (rc)
		return rc;
	rc = create(&to, &t->file, output, opts, err);
	if (!rc)
		rc = copy(&t->file, &to, stats, opts->types, err);
	sp__env_note_io(&stats->run, &to.io);
	sp__tablefile_note(&t->file, &stats->run);
	if (to.path)
		closed = sp__tablefile_close(&to);
	sp__table_end_reading(t);
	return rc ? rc : closed;
}
