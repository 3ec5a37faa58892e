/* SPDX-License-Identifier: MIT */
/*
 * Finds the columns that share cells, and makes the layout.
 */
#include <stdlib.h>
#include "base/err.h"
#include "table/arrange.h"
#include "table/schema/names.h"

/* Finds the columns of the lists that share cells. */
static int find_together(const struct sp__table_schema *schema, const struct sp_table_load_opts *o,
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

/* Finds the bytes of a column group in the largest strip for the device; 0: the usual ones. */
static int find_strips(const struct sp_run_opts *run, uint64_t *bytes, struct sp_errinfo *err)
{
	struct sp__cost_platform p;
	int rc;

	*bytes = 0;
	if (!run->volume && !run->geometry)
		return 0;
	rc = sp__cost_platform_open(&p, run, err);
	if (!rc)
		*bytes = sp__cost_strip_bytes(&p);
	sp__cost_platform_close(&p);
	return rc;
}

static int choose(const struct sp__cost_asked *asked, const struct sp_table_load_opts *o,
		  struct sp__cost_choice *choice, struct sp_errinfo *err)
{
	if (o->layout > SP_TABLE_AUTO)
		return sp__errf(err, SP_ESYNTAX, "create", asked->name, -1,
				"the layout is not one of those that a table can have");
	if (o->layout == SP_TABLE_AUTO && (!o->workload || o->ntogether))
		return sp__errf(
			err, SP_ESYNTAX, "create", asked->name, -1,
			"the layout auto needs a workload, and chooses itself which columns "
			"share cells");
	if (o->layout == SP_TABLE_AUTO)
		return sp__cost_ask_layout(asked, o->workload, &o->run, choice, err);
	if (!o->ntogether)
		return 0;
	choice->together = calloc(asked->schema->n, sizeof(*choice->together));
	return choice->together
		       ? find_together(asked->schema, o, asked->name, choice->together, err)
		       : sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

int sp__table_arrange(struct sp__table_layout *layout, const struct sp__cost_asked *asked,
		      const struct sp_table_load_opts *o, struct sp_errinfo *err)
{
	struct sp__cost_choice choice = { o->layout, NULL };
	struct sp__layout_opts lo = { .cell_bytes = o->cell_bytes,
				      .page_records = o->page_records };
	int rc = choose(asked, o, &choice, err);

	if (!rc)
		rc = find_strips(&o->run, &lo.strip_bytes, err);
	if (!rc) {
		lo.form = &sp__layout_forms[choice.layout];
		lo.together = choice.together;
		rc = sp__layout_make(layout, asked->schema, &lo, err);
	}
	free(choice.together);
	return rc;
}
