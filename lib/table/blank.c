/* SPDX-License-Identifier: MIT */
/*
 * Creates a table without data.
 */
#include <spindle/tablerun.h>
#include "base/err.h"
#include "run/volume_spec.h"
#include "table/arrange.h"
#include "table/file/file.h"
#include "table/schema/schema_text.h"

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
				"a table without data is one file: give the number of its volumes");
	if (!sp__volume_spec_simulated(&o->run))
		return sp__errf(
			err, SP_EUNSUP, "create", table, -1,
			"a table without data needs a simulated volume (--volume=sim:MODEL)");
	return 0;
}

static int create(struct sp__tablefile *f, const char *path, struct sp__table_schema *schema,
		  uint64_t records, const struct sp_table_load_opts *o, struct sp_errinfo *err)
{
	struct sp__table_layout layout = { 0 };
	struct sp__lanemap *lanemap = NULL;
	const struct sp__cost_asked asked = { .name = path,
					      .schema = schema,
					      .records = records,
					      .cell_bytes = o->cell_bytes,
					      .page_records = o->page_records };
	int rc = sp__table_arrange(&layout, &lanemap, &asked, o, err);

	if (!rc)
		rc = sp__tablefile_create(f, path, &o->run, schema, &layout, &lanemap, NULL, err);
	sp__table_arranged_free(&layout, lanemap);
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
	struct sp__table_schema schema = { 0 };
	struct sp__tablefile file = { .fd = -1 };
	int rc, closed = 0;

	err = err ? err : &own;
	rc = check_options(table, records, opts, err);
	if (!rc)
		rc = sp__schema_file_read(&schema, opts->schema, err);
	for (uint32_t i = 0; i < schema.n; i++)
		schema.columns[i].bounds = sp__table_type_bounded(&schema.columns[i].type);
	schema.style.separator = '\t';
	if (!rc)
		rc = create(&file, table, &schema, records, opts, err);
	if (file.path)
		closed = sp__tablefile_close(&file);
	sp__table_schema_free(&schema);
	return rc ? rc : closed;
}
