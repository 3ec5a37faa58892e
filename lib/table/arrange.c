/* SPDX-License-Identifier: MIT */
/*
 * Makes the layout that a user chooses, and creates tables without data.
 */
#include <stdlib.h>
#include <spindle/tablerun.h>
#include "base/err.h"
#include "columns/schema_text.h"
#include "run/volume_spec.h"
#include "table/arrange.h"

/* Finds the columns of the lists that share cells. */
static int find_together(const struct sp__schema *schema, const struct sp_table_load_opts *o,
			 const char *path, uint32_t *together, struct sp_errinfo *err)
{
	int rc = 0;

	for (size_t k = 0; !rc && k < o->ntogether; k++) {
		uint32_t *columns = NULL, n = 0;

		rc = sp__names_find(schema, o->together[k], &columns, &n, err);
		for (uint32_t i = 0; !rc && i < n; i++) {
			if (together[columns[i]])
				rc = sp__errf(err, SP_ESYNTAX, "load", path, -1,
					      "column '%.64s' is in two lists of columns that "
					      "share cells",
					      schema->columns[columns[i]].name);
			together[columns[i]] = (uint32_t)k + 1;
		}
		free(columns);
	}
	return rc;
}

static int choose(const struct sp__cost_asked *asked, const struct sp_table_load_opts *o,
		  struct sp__cost_choice *choice, struct sp_errinfo *err)
{
	int rc;

	if (o->layout > SP_TABLE_AUTO)
		return sp__errf(err, SP_ESYNTAX, "create", asked->name, -1,
				"the layout is not one of those that a table can have");
	if (o->layout == SP_TABLE_AUTO && (!o->workload || o->ntogether))
		return sp__errf(
			err, SP_ESYNTAX, "create", asked->name, -1,
			"the layout auto needs a workload, and chooses itself which columns "
			"share cells");
	rc = sp__cost_check_placing(&o->placing, o->layout, asked->name, err);
	if (!rc && o->layout == SP_TABLE_AUTO)
		return sp__cost_ask_layout(asked, o->workload, &o->placing, &o->run, choice, err);
	if (rc || !o->ntogether)
		return rc;
	choice->together = calloc(asked->schema->n, sizeof(*choice->together));
	return choice->together
		       ? find_together(asked->schema, o, asked->name, choice->together, err)
		       : sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

int sp__table_arrange(struct sp__tablefile *f, const struct sp__cost_asked *asked,
		      struct sp__schema *schema, const struct sp_run_opts *run,
		      const struct sp_table_load_opts *o, struct sp_errinfo *err)
{
	const bool lanes = o->placing.how == SP_PLACE_SEMISEQ || o->placing.how == SP_PLACE_MEMS;
	struct sp__cost_choice choice = { o->layout, NULL, lanes };
	struct sp__platform p = { 0 };
	const struct sp__cost_question q = { .schema = schema,
					     .platform = &p,
					     .cell_bytes = o->cell_bytes,
					     .page_records = o->page_records,
					     .placing = o->placing,
					     .name = asked->name };
	struct sp__table_layout layout = { 0 };
	struct sp__lanemap *lanemap = NULL;
	int rc = choose(asked, o, &choice, err);

	if (!rc)
		rc = sp__platform_open(&p, &o->run, err);
	if (!rc)
		rc = sp__cost_make_layout(&layout, &lanemap, &q, &choice, err);
	sp__platform_close(&p);
	free(choice.together);
	if (!rc)
		rc = sp__tablefile_create(f, asked->name, run, schema, &layout, &lanemap,
					  o->placing.volume_names, err);
	sp__layout_free(&layout);
	if (lanemap)
		sp__lanemap_free(lanemap);
	free(lanemap);
	return rc;
}

static int check_options(const char *table, uint64_t records, const struct sp_table_load_opts *o,
			 struct sp_errinfo *err)
{
	if (!o->schema)
		return sp__errf(err, SP_ESYNTAX, "create", table, -1,
				"a table without data needs a schema");
	if (records > SP__TABLE_RECORDS_MAX)
		return sp__errf(err, SP_ESYNTAX, "create", table, -1,
				"a table has at most %llu records",
				(unsigned long long)SP__TABLE_RECORDS_MAX);
	if (o->placing.volume_names)
		return sp__errf(err, SP_EUNSUP, "create", table, -1,
				"a table without data is one file: give the number of volumes, not "
				"their names");
	if (!sp__volume_spec_simulated(&o->run))
		return sp__errf(
			err, SP_EUNSUP, "create", table, -1,
			"a table without data needs a simulated volume (--volume=sim:MODEL)");
	return 0;
}

static int create(struct sp__tablefile *f, const char *path, struct sp__schema *schema,
		  uint64_t records, const struct sp_table_load_opts *o, struct sp_errinfo *err)
{
	const struct sp__cost_asked asked = { .name = path,
					      .schema = schema,
					      .records = records,
					      .cell_bytes = o->cell_bytes,
					      .page_records = o->page_records };
	int rc = sp__table_arrange(f, &asked, schema, &o->run, o, err);

	if (!rc)
		rc = sp__tablefile_leave_blank(f, records, err);
	if (!rc)
		rc = sp__tablefile_commit(f, err);
	return rc ? rc : sp__tablefile_publish(f, err);
}

int sp_table_create(const char *table, uint64_t records, const struct sp_table_load_opts *opts,
		    struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp__schema schema = { 0 };
	struct sp__tablefile file = { 0 };
	int rc, closed = 0;

	err = err ? err : &own;
	rc = check_options(table, records, opts, err);
	if (!rc)
		rc = sp__schema_file_read(&schema, opts->schema, err);
	if (!rc)
		rc = sp__schema_refuse_json(&schema, opts->schema, err);
	for (uint32_t i = 0; i < schema.n; i++)
		schema.columns[i].bounds = sp__column_type_bounded(&schema.columns[i].type);
	schema.style.separator = '\t';
	if (!rc)
		rc = create(&file, table, &schema, records, opts, err);
	if (file.path)
		closed = sp__tablefile_close(&file);
	sp__schema_free(&schema);
	return rc ? rc : closed;
}
