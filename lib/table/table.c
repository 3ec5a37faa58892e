/* SPDX-License-Identifier: MIT */
/*
 * Opens, closes and describes tables.
 */
#include <stdlib.h>
#include "base/err.h"
#include "table/file/directory.h"
#include "table/state.h"

#define WINDOW_BYTES (1 << 18) /* of directory rows */

int sp_table_open(struct sp_table **table, const char *path, const struct sp_table_opts *opts,
		  struct sp_errinfo *err)
{
	struct sp_table *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return sp__err(err, -ENOMEM, "open", path, -1);
	rc = sp__tablefile_open(&t->file, path, &opts->run, opts->write, err);
	if (rc)
		(void)sp_table_close(t);
	else
		*table = t;
	return rc;
}

static void forget_info(struct sp_table *t)
{
	for (uint32_t f = 0; t->groups && f < t->file.layout.ngroups; f++)
		free((char *)(uintptr_t)t->groups[f].columns);
	free(t->groups);
	free(t->columns);
	t->groups = NULL;
	t->columns = NULL;
}

int sp_table_close(struct sp_table *t)
{
	int rc;

	if (!t)
		return 0;
	forget_info(t);
	free(t->lost);
	rc = sp__tablefile_close(&t->file);
	free(t);
	return rc;
}

int sp__table_begin_reading(struct sp_table *t, struct sp_errinfo *err)
{
	t->file.env.err = err;
	return sp__tablefile_begin_reading(&t->file, err);
}

void sp__table_end_reading(struct sp_table *t)
{
	sp__tablefile_end_reading(&t->file);
	t->file.env.err = &t->file.env.own_err;
}

static void describe_columns(struct sp_table *t)
{
	const struct sp__table_schema *s = &t->file.schema;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct sp__table_column *c = &s->columns[i];
		struct sp_table_column *to = &t->columns[i];

		*to = (struct sp_table_column){ .name = c->name,
						.not_null = c->not_null,
						.bounds = c->bounds,
						.group = t->file.layout.places[i].group,
						.words = c->words.n,
						.changed = c->changed };
		to->type[sp__value_type_print(&c->type, to->type)] = '\0';
	}
}

/* Joins the names of the columns of a column group.  NULL: no memory. */
static char *names_of(const struct sp__table_schema *s, const struct sp__column_group *g)
{
	size_t bytes = 1;
	char *names, *p;

	for (uint32_t i = 0; i < g->ncolumns; i++)
		bytes += strlen(s->columns[g->columns[i]].name) + 1;
	names = p = malloc(bytes);
	if (!names)
		return NULL;
	for (uint32_t i = 0; i < g->ncolumns; i++) {
		if (i)
			*p++ = ',';
		p = stpcpy(p, s->columns[g->columns[i]].name);
	}
	*p = '\0';
	return names;
}

/* Returns 0 or -ENOMEM. */
static int describe_groups(struct sp_table *t)
{
	const struct sp__table_layout *l = &t->file.layout;

	for (uint32_t f = 0; f < l->ngroups; f++) {
		const struct sp__column_group *g = &l->groups[f];

		t->groups[f] = (struct sp_table_group){ .columns = names_of(&t->file.schema, g),
							.ncolumns = g->ncolumns,
							.rows = g->rows,
							.record_bytes = g->record_bytes,
							.cell_records = g->cell_records,
							.cells = g->cells };
		if (!t->groups[f].columns)
			return -ENOMEM;
	}
	return 0;
}

int sp__table_describe(struct sp_table *t)
{
	forget_info(t);
	t->columns = calloc(t->file.schema.n, sizeof(*t->columns));
	t->groups = calloc(t->file.layout.ngroups, sizeof(*t->groups));
	if (!t->columns || !t->groups || describe_groups(t))
		return -ENOMEM;
	describe_columns(t);
	return 0;
}

enum sp_table_layout sp__table_layout_of(const struct sp__table_layout *l)
{
	if (l->ngroups == 1)
		return l->groups[0].rows ? SP_TABLE_NSM : SP_TABLE_PAX;
	return l->strip_max ? SP_TABLE_CSM : SP_TABLE_DSM;
}

int sp__table_add_texts(struct sp__tablefile *f, uint64_t *bytes, uint64_t *cells,
			struct sp_errinfo *err)
{
	const uint64_t rows = sp__layout_rows(&f->layout, f->superblock.records);
	const size_t row_bytes = sp__directory_row_bytes(f);
	const uint64_t window = row_bytes < WINDOW_BYTES ? WINDOW_BYTES / (row_bytes + 1) : 1;
	uint8_t *data = malloc(window * row_bytes + 1);
	int rc = data ? 0 : sp__err(err, -ENOMEM, "read", f->path, -1);

	for (uint64_t e = 0; !rc && e < rows; e += window) {
		uint64_t n = rows - e < window ? rows - e : window;

		rc = sp__directory_read_rows(f, e, n, data, err);
		for (uint64_t i = 0; !rc && i < n * f->schema.n; i++) {
			uint32_t column = (uint32_t)(i % f->schema.n);
			struct sp__text_place text;

			if (f->schema.columns[column].type.kind != 't')
				continue;
			text = sp__directory_text(
				sp__directory_entry(f, data + i / f->schema.n * row_bytes, column));
			bytes[column] += text.bytes;
			*cells += text.cells;
		}
	}
	free(data);
	return rc;
}

static void fill_info(const struct sp_table *t, struct sp_table_info *info)
{
	const struct sp__tablefile *f = &t->file;
	const struct sp__table_style *style = &f->schema.style;

	*info = (struct sp_table_info){
		.layout = sp__table_layout_of(&f->layout),
		.id = f->superblock.id,
		.records = f->superblock.records,
		.deleted = f->superblock.deleted,
		.bytes = f->map.end * f->layout.cell_bytes,
		.cell_bytes = f->layout.cell_bytes,
		.page_records = f->layout.page_records,
		.strip_pages = f->layout.strip_max,
		.pages = sp__layout_pages(&f->layout, f->superblock.records),
		.cells = f->map.end,
		.free_cells = sp__map_cells(&f->map, SP__AREA_FREE),
		.ncolumns = f->schema.n,
		.ngroups = f->layout.ngroups,
		.columns = t->columns,
		.groups = t->groups,
		.format = style->format,
		.separator = style->separator,
		.header = style->header,
		.alone = f->superblock.slots.alone,
		.volume = f->run.volume,
	};
}

int sp_table_info(struct sp_table *t, struct sp_table_info *info, struct sp_errinfo *err)
{
	struct sp__tablefile *f = &t->file;
	uint64_t *bytes = calloc(f->schema.n, sizeof(*bytes)), cells = 0;
	int rc = bytes ? sp__table_describe(t) : -ENOMEM;

	if (rc)
		(void)sp__err(err, rc, "read", f->path, -1);
	if (!rc)
		rc = sp__table_begin_reading(t, err);
	if (!rc) {
		fill_info(t, info);
		rc = sp__table_add_texts(f, bytes, &cells, err);
		sp__table_end_reading(t);
		for (uint32_t i = 0; i < f->schema.n; i++)
			info->text_bytes += bytes[i];
		cells = sp__map_cells(&f->map, SP__AREA_TEXT) - cells;
		info->dead_text_bytes = cells * sp__cell_payload(f->layout.cell_bytes);
	}
	free(bytes);
	return rc;
}
