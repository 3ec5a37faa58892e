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

int sp__table_arrange(struct sp__table_layout *layout, const struct sp__table_schema *schema,
		      const struct sp_table_load_opts *o, const char *path, struct sp_errinfo *err)
{
	uint32_t *together = calloc(schema->n, sizeof(*together));
	struct sp__layout_opts lo = { .form = &sp__layout_forms[o->layout],
				      .together = o->ntogether ? together : NULL,
				      .cell_bytes = o->cell_bytes,
				      .page_records = o->page_records };
	int rc = together ? find_together(schema, o, path, together, err)
			  : sp__err(err, -ENOMEM, "allocate", NULL, -1);

	if (!rc)
		rc = sp__layout_make(layout, schema, &lo, err);
	free(together);
	return rc;
}
