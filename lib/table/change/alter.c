/* SPDX-License-Identifier: MIT */
/*
 * Gives a table another schema.
 *
 * Algorithm: a column group whose columns are the same before and after is kept, with its cells.
 * All others are columns of a `part`: a table of these column groups alone, with the same records,
 * A-pages and strips, that is written to new cells of the same file.  Then the map lists, strip by
 * strip, the cells of kept column groups and those of the part, which is the order that the layout
 * counts cells in.  The directory gets new cells, too, since its rows have an entry per column.
 * The superblock makes all of it count; cells of the state before are not overwritten until then,
 * so there is no journal.
 *
 * If all columns share cells, all cells are written.  R stays, since the texts and bounds of
 * directory rows belong to A-pages: a longer record can need one more cell per A-page.
 *
 * Invariant: each cell of the file is in one list of the map.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/change/alter_impl.h"
#include "table/change/copy.h"

/* True if new columns share the cells of the only column group. */
static bool is_shared(const struct sp__tablefile *f)
{
	const struct sp__table_layout *l = &f->layout;

	return l->ngroups == 1 && (l->ncolumns > 1 || l->row_pages > 1);
}

/* Returns the number of a column after the change; SP__ALTER_NEW: it is dropped. */
static uint32_t number_after(const struct sp__alter *a, uint32_t column)
{
	for (uint32_t i = 0; i < a->plan->schema.n; i++)
		if (a->plan->from[i] == column)
			return i;
	return SP__ALTER_NEW;
}

/* True if the values of a column are stored in the same way after the change. */
static bool is_same(const struct sp__alter *a, uint32_t column, uint32_t after)
{
	const struct sp__column *x = &a->file->schema.columns[column];
	const struct sp__column *y = &a->plan->schema.columns[after];

	return sp__value_type_same(&x->type, &y->type) && x->not_null == y->not_null;
}

/* Adds a column group with space for so many columns. */
static struct sp__column_group *add_group(struct sp__alter *a, uint32_t columns, bool rows)
{
	struct sp__column_group *g = &a->layout.groups[a->layout.ngroups];

	g->columns = calloc(columns, sizeof(*g->columns));
	if (!g->columns)
		return NULL;
	g->rows = rows;
	a->kept[a->layout.ngroups++] = SP__ALTER_NEW;
	return g;
}

/* Makes what is left of column group f, with new columns if they share its cells. */
static int take_group(struct sp__alter *a, uint32_t f)
{
	const struct sp__column_group *old = &a->file->layout.groups[f];
	const struct sp__schema *s = &a->plan->schema;
	struct sp__column_group *g = add_group(a, old->ncolumns + s->n, old->rows);
	bool stays = true;

	if (!g)
		return -ENOMEM;
	for (uint32_t i = 0; i < old->ncolumns; i++) {
		uint32_t after = number_after(a, old->columns[i]);

		stays &= after != SP__ALTER_NEW && is_same(a, old->columns[i], after);
		if (after != SP__ALTER_NEW)
			g->columns[g->ncolumns++] = after;
	}
	for (uint32_t i = 0; is_shared(a->file) && i < s->n; i++)
		if (a->plan->from[i] == SP__ALTER_NEW) {
			g->columns[g->ncolumns++] = i;
			stays = false;
		}
	a->stays[f] = stays;
	if (stays)
		a->kept[a->layout.ngroups - 1] = f;
	if (!g->ncolumns) {
		free(g->columns);
		g->columns = NULL;
		a->layout.ngroups--;
	}
	return 0;
}

static int take_groups(struct sp__alter *a)
{
	const struct sp__table_layout *old = &a->file->layout;
	const struct sp__schema *s = &a->plan->schema;
	const size_t max = (size_t)old->ngroups + s->n;
	int rc = 0;

	a->layout = (struct sp__table_layout){ .cell_bytes = old->cell_bytes,
					       .page_records = old->page_records,
					       .strip_max = old->strip_max };
	a->layout.groups = calloc(max, sizeof(*a->layout.groups));
	a->kept = calloc(max, sizeof(*a->kept));
	a->stays = calloc(old->ngroups, sizeof(*a->stays));
	if (!a->layout.groups || !a->kept || !a->stays)
		return -ENOMEM;
	for (uint32_t f = 0; !rc && f < old->ngroups; f++)
		rc = take_group(a, f);
	for (uint32_t i = 0; !rc && !is_shared(a->file) && i < s->n; i++) {
		struct sp__column_group *g;

		if (a->plan->from[i] != SP__ALTER_NEW)
			continue;
		g = add_group(a, 1, false);
		if (!g)
			return -ENOMEM;
		g->columns[g->ncolumns++] = i;
	}
	return rc;
}

/* Returns 0, or SP_EUNSUP if the superblock has no space for so many columns. */
static int check_superblock(const struct sp__alter *a)
{
	struct sp__table_superblock s = a->file->superblock;
	uint64_t append = 0;
	size_t bytes = 0;
	uint8_t *data;

	s.layout = a->layout;
	s.ncolumns = a->plan->schema.n;
	s.changed = calloc(s.ncolumns, sizeof(*s.changed));
	s.has_states = true;
	s.appends = &append;
	s.nappends = 1;
	data = s.changed ? sp__table_superblock_encode(&s, &bytes) : NULL;
	free(s.changed);
	free(data);
	if (!data)
		return sp__alter_no_memory(a);
	if (bytes <= s.slots.slot_bytes)
		return 0;
	return sp__errf(a->err, SP_EUNSUP, "alter", a->file->path, -1,
			"its superblock has no space for %u columns: copy the table with xtable "
			"convert, and alter the copy",
			s.ncolumns);
}

/* Makes the layout after the change. */
static int make_layout(struct sp__alter *a)
{
	uint32_t group = 0;
	int rc = take_groups(a);

	if (!rc)
		rc = sp__layout_compute(&a->layout, &a->plan->schema, &group);
	if (rc == -E2BIG)
		return sp__errf(a->err, SP_EUNSUP, "alter", a->file->path, -1,
				"column '%.64s'%s: a record does not fit a cell of %u bytes: "
				"choose the type text, or convert the table to larger cells first",
				a->plan->schema.columns[a->layout.groups[group].columns[0]].name,
				a->layout.groups[group].ncolumns > 1 ? " and those stored with it"
								     : "",
				a->layout.cell_bytes);
	if (rc)
		return sp__err(a->err, rc, "alter", a->file->path, -1);
	if (a->layout.row_pages != a->file->layout.row_pages)
		return sp__errf(a->err, SP_EUNSUP, "alter", a->file->path, -1,
				"one column group would be left, with A-pages of %u records: "
				"convert the table to another layout first",
				a->layout.page_records);
	return check_superblock(a);
}

/* Adds a column of the schema after the change to the part.  Its members stay those of the plan. */
static void add_part_column(struct sp__alter *a, uint32_t column)
{
	struct sp__schema *s = &a->part.schema;
	const uint32_t from = a->plan->from[column];

	s->columns[s->n] = a->plan->schema.columns[column];
	a->columns[s->n] = column;
	a->sources[s->n++] = from == SP__ALTER_NEW ? SP__COPY_CONSTANT : from;
}

/* Makes schema and layout of the part: the column groups that are not kept. */
static int make_part_layout(struct sp__alter *a)
{
	struct sp__table_layout *l = &a->part.layout;
	uint32_t group;
	int rc;

	*l = (struct sp__table_layout){ .cell_bytes = a->layout.cell_bytes,
					.page_records = a->layout.page_records,
					.strip_max = a->layout.strip_max,
					.strips = a->layout.ngroups > 1 };
	l->groups = calloc(a->layout.ngroups, sizeof(*l->groups));
	if (!l->groups)
		return -ENOMEM;
	for (uint32_t f = 0; f < a->layout.ngroups; f++) {
		const struct sp__column_group *g = &a->layout.groups[f];
		struct sp__column_group *own = &l->groups[l->ngroups];

		if (a->kept[f] != SP__ALTER_NEW)
			continue;
		own->columns = calloc(g->ncolumns, sizeof(*own->columns));
		if (!own->columns)
			return -ENOMEM;
		own->rows = g->rows;
		l->ngroups++;
		for (uint32_t i = 0; i < g->ncolumns; i++) {
			own->columns[own->ncolumns++] = a->part.schema.n;
			add_part_column(a, g->columns[i]);
		}
	}
	if (!l->ngroups)
		return 0;
	rc = sp__layout_compute(l, &a->part.schema, &group);
	l->row_pages = a->layout.row_pages;
	return rc;
}

int sp__alter_open_view(struct sp__alter *a, struct sp__tablefile *view,
			const struct sp__schema *schema, const struct sp__table_layout *layout)
{
	*view = *a->file;
	view->schema = *schema;
	view->layout = *layout;
	view->map = (struct sp__table_map){ 0 };
	view->io = (struct sp__io_counters){ 0 };
	view->redo = (struct sp__redo){ 0 };
	view->tombstones = (struct sp__areastream){ 0 };
	view->cells_read = view->cells_written = 0;
	view->queue = NULL;
	view->entries = NULL;
	return sp__directory_open(view);
}

/* Frees what is a view's own. */
static void close_view(struct sp__alter *a, struct sp__tablefile *view)
{
	if (!view->path)
		return;
	sp__queue_close(view->queue);
	sp__env_note_io(&a->stats->run, &view->io);
	sp__map_free(&view->map);
	free(view->directory.cells);
	free(view->entries);
}

/* Makes the part, without records. */
static int open_part(struct sp__alter *a)
{
	struct sp__schema schema = { .style = a->plan->schema.style };
	struct sp__table_layout layout;
	int rc;

	schema.columns = calloc(a->plan->schema.n, sizeof(*schema.columns));
	a->columns = calloc(a->plan->schema.n, sizeof(*a->columns));
	a->sources = calloc(a->plan->schema.n, sizeof(*a->sources));
	if (!schema.columns || !a->columns || !a->sources) {
		free(schema.columns);
		return sp__alter_no_memory(a);
	}
	a->part.schema = schema;
	rc = make_part_layout(a);
	schema = a->part.schema;
	layout = a->part.layout;
	if (!rc)
		rc = sp__alter_open_view(a, &a->part, &schema, &layout);
	if (rc)
		return sp__err(a->err, rc, "alter", a->file->path, -1);
	rc = sp__env_share(&a->part.env, &a->file->run, &a->file->env);
	a->part.env.err = a->err;
	a->part.superblock.records = 0;
	return rc;
}

/* Sets the value that a new column has in all records. */
static int set_constant(struct sp__alter *a, uint32_t i)
{
	const struct sp__column *c = &a->part.schema.columns[i];
	uint8_t *null = a->nulls;
	int rc;

	for (uint32_t k = 0; k < a->values.n; k++)
		if (a->values.columns[k].column == i)
			a->constants[i] = a->values.row + a->values.columns[k].at;
	if (a->constants[i])
		return 0;
	if (c->not_null && a->file->superblock.records)
		return sp__errf(a->err, SP_ESYNTAX, "alter", a->file->path, -1,
				"column '%.64s' is not null: give the value that it has in the "
				"records",
				c->name);
	for (uint32_t k = 0; k < i; k++)
		null += sp__new_value_bytes(&a->part.schema.columns[k]);
	if (c->not_null)
		memset(null, 0, sp__new_value_bytes(c));
	rc = c->not_null ? 0 : sp__new_value(&a->part, i, NULL, 0, null, a->err);
	a->constants[i] = null;
	return rc;
}

/* Finds the values of new columns. */
static int set_constants(struct sp__alter *a)
{
	const struct sp__schema *s = &a->part.schema;
	size_t bytes = 1;
	int rc = 0;

	for (uint32_t i = 0; i < s->n; i++)
		bytes += sp__new_value_bytes(&s->columns[i]);
	a->nulls = malloc(bytes);
	a->constants = calloc(s->n + 1, sizeof(*a->constants));
	if (!a->nulls || !a->constants)
		return sp__alter_no_memory(a);
	if (a->plan->nset)
		rc = sp__new_values_parse(&a->values, &a->part, a->plan->set, a->plan->nset,
					  a->err);
	for (uint32_t k = 0; !rc && k < a->values.n; k++)
		if (a->sources[a->values.columns[k].column] != SP__COPY_CONSTANT)
			rc = sp__errf(a->err, SP_ESYNTAX, "alter", a->file->path, -1,
				      "column '%.64s' is not new: change its values with an update",
				      s->columns[a->values.columns[k].column].name);
	for (uint32_t i = 0; !rc && i < s->n; i++)
		if (a->sources[i] == SP__COPY_CONSTANT)
			rc = set_constant(a, i);
	return rc;
}

void sp__alter_return_columns(struct sp__alter *a)
{
	for (uint32_t k = 0; k < a->part.schema.n; k++)
		a->plan->schema.columns[a->columns[k]] = a->part.schema.columns[k];
}

/* Moves the schema to the file. */
static void take_schema(struct sp__tablefile *f, struct sp__alter_plan *plan)
{
	sp__schema_free(&f->schema);
	f->schema = plan->schema;
	plan->schema = (struct sp__schema){ 0 };
	f->schema_changed = true;
}

static void close_alter(struct sp__alter *a)
{
	sp__new_values_free(&a->values);
	close_view(a, &a->next);
	close_view(a, &a->part);
	free(a->part.schema.columns);
	sp__layout_free(&a->part.layout);
	sp__layout_free(&a->layout);
	free(a->kept);
	free(a->stays);
	free(a->columns);
	free(a->sources);
	free(a->nulls);
	free(a->constants);
	free(a->part_row);
	free(a->next_row);
}

/* Changes the cells.  Until they are written an error changes nothing. */
static int change_cells(struct sp__alter *a)
{
	int rc = make_layout(a);

	if (!rc)
		rc = open_part(a);
	if (!rc)
		rc = set_constants(a);
	sp__alter_return_columns(a);
	if (rc)
		return rc;
	a->file->unfinished = true;
	return sp__alter_write_cells(a);
}

/* True if only names differ. */
static bool only_names(const struct sp__alter *a)
{
	if (a->plan->schema.n != a->file->schema.n)
		return false;
	for (uint32_t i = 0; i < a->plan->schema.n; i++)
		if (a->plan->from[i] != i || !is_same(a, i, i))
			return false;
	return true;
}

int sp__tablealter(struct sp__tablefile *f, struct sp__alter_plan *plan,
		   struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp__alter a = { .file = f, .plan = plan, .stats = stats, .err = err };
	int rc = 0;

	if (!only_names(&a))
		rc = change_cells(&a);
	if (!rc) {
		take_schema(f, plan);
		f->unfinished = true;
		rc = sp__tablefile_commit(f, err);
		f->unfinished = rc;
	}
	close_alter(&a);
	return rc;
}
