/* SPDX-License-Identifier: MIT */
/*
 * Finds the columns that share cells, and makes the layout.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "dev/geometry.h"
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

/*
 * Sets what follows from the device: the bytes of a column group in the largest strip; the size of
 * cells of lanes.
 */
static int follow_device(struct sp__layout_opts *lo, const struct sp_run_opts *run,
			 struct sp_errinfo *err)
{
	struct sp__cost_platform p;
	int rc;

	if (!run->volume && !run->geometry)
		return 0;
	rc = sp__cost_platform_open(&p, run, err);
	if (!rc && !lo->lanes)
		lo->strip_bytes = sp__cost_strip_bytes(&p);
	else if (!rc && !lo->cell_bytes && p.geometry)
		lo->cell_bytes = sp__max(SP__TABLE_CELL_MIN, p.geometry->block_bytes);
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

/* Plans the placement of lanes. */
static int place(struct sp__lanemap **lanemap, const struct sp__table_layout *l, const char *path,
		 const struct sp_table_load_opts *o, struct sp_errinfo *err)
{
	const struct sp__lanemap_opts so = { .run = &o->run,
					     .path = path,
					     .placement = o->placement,
					     .volumes = o->volumes,
					     .depth = o->depth_rows,
					     .lanes = (uint32_t)l->page_cells,
					     .cell_bytes = l->cell_bytes,
					     .skip_bytes = o->skip_bytes };

	*lanemap = calloc(1, sizeof(**lanemap));
	return *lanemap ? sp__lanemap_plan(*lanemap, &so, err)
			: sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

/* Checks the placement, and sets what it asks of the layout. */
static int follow_placement(struct sp__layout_opts *lo, enum sp_table_layout layout,
			    const char *path, const struct sp_table_load_opts *o,
			    struct sp_errinfo *err)
{
	const bool semiseq = o->placement == SP_PLACE_SEMISEQ, mems = o->placement == SP_PLACE_MEMS;

	lo->lanes = semiseq || mems;
	lo->empty_lane = o->empty_lane;
	if (!lo->lanes && o->placement != SP_PLACE_CONTIGUOUS)
		return sp__errf(err, SP_ESYNTAX, "create", path, -1,
				"a table is placed contiguous, semiseq or mems");
	if (!semiseq && (o->volumes > 1 || o->depth_rows))
		return sp__errf(err, SP_ESYNTAX, "create", path, -1,
				"several volumes and rows of depth go with the placement semiseq");
	if (!lo->lanes && (o->empty_lane || o->skip_bytes))
		return sp__errf(err, SP_ESYNTAX, "create", path, -1,
				"an empty lane and skipped space go with the placements semiseq "
				"and mems");
	if (lo->lanes && layout != SP_TABLE_CSM)
		return sp__errf(err, SP_EUNSUP, "create", path, -1,
				"the placements semiseq and mems go with the layout csm");
	return 0;
}

int sp__table_arrange(struct sp__table_layout *layout, struct sp__lanemap **lanemap,
		      const struct sp__cost_asked *asked, const struct sp_table_load_opts *o,
		      struct sp_errinfo *err)
{
	struct sp__cost_choice choice = { o->layout, NULL };
	struct sp__layout_opts lo = { .cell_bytes = o->cell_bytes,
				      .page_records = o->page_records };
	int rc = choose(asked, o, &choice, err);

	if (!rc)
		rc = follow_placement(&lo, choice.layout, asked->name, o, err);
	if (!rc)
		rc = follow_device(&lo, &o->run, err);
	if (!rc) {
		lo.form = &sp__layout_forms[choice.layout];
		lo.together = choice.together;
		rc = sp__layout_make(layout, asked->schema, &lo, err);
	}
	if (!rc && lo.lanes)
		rc = place(lanemap, layout, asked->name, o, err);
	free(choice.together);
	return rc;
}

void sp__table_arranged_free(struct sp__table_layout *layout, struct sp__lanemap *lanemap)
{
	sp__layout_free(layout);
	if (lanemap)
		sp__lanemap_free(lanemap);
	free(lanemap);
}
