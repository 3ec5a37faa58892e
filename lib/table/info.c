/* SPDX-License-Identifier: MIT */
/*
 * Describes tables: what superblock, schema and map say, and sums over the rows of the directory.
 */
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "columns/schema_text.h"
#include "table/file/directory.h"
#include "table/state.h"

void sp__table_forget(struct sp_table *t)
{
	for (uint32_t f = 0; t->groups && f < t->file.layout.ngroups; f++)
		free((char *)(uintptr_t)t->groups[f].columns);
	free(t->groups);
	free(t->columns);
	t->groups = NULL;
	t->columns = NULL;
}

static void describe_columns(struct sp_table *t)
{
	const struct sp__schema *s = &t->file.schema;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct sp__column *c = &s->columns[i];
		struct sp_table_column *to = &t->columns[i];

		*to = (struct sp_table_column){ .name = c->name,
						.bounds_width = NAN,
						.not_null = c->not_null,
						.bounds = c->bounds,
						.group = t->file.layout.places[i].group,
						.words = c->words.n,
						.changed = c->changed };
		to->type[sp__schema_type_print(c, to->type)] = '\0';
	}
}

/* Joins the names of the columns of a column group.  NULL: no memory. */
static char *names_of(const struct sp__schema *s, const struct sp__column_group *g)
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
	sp__table_forget(t);
	t->columns = calloc(t->file.schema.n, sizeof(*t->columns));
	t->groups = calloc(t->file.layout.ngroups, sizeof(*t->groups));
	if (!t->columns || !t->groups || describe_groups(t))
		return -ENOMEM;
	describe_columns(t);
	return 0;
}

enum sp_table_layout sp__table_layout_of(const struct sp__table_layout *l)
{
	/* A column alone is the same in PAX and CSM, except for the size of its cells. */
	const bool alone =
		l->ncolumns == 1 && l->cell_bytes == sp__layout_forms[SP_TABLE_CSM].cell_bytes;

	if (!l->strip_max && !l->lanes)
		return SP_TABLE_DSM;
	if (l->ngroups == 1 && !(alone && !l->groups[0].rows))
		return l->groups[0].rows ? SP_TABLE_NSM : SP_TABLE_PAX;
	return SP_TABLE_CSM;
}

static void fill_placement(const struct sp__lanemap *s, struct sp_table_info *info)
{
	struct sp__lanemap_info i;

	if (!s)
		return;
	i = sp__lanemap_info(s);
	info->placement = i.placement;
	info->volumes = s->volumes;
	info->depth_rows = s->depth;
	info->hop_blocks = i.hop_blocks;
	info->track_blocks = i.track_blocks;
	info->location_pages = i.location_pages;
	info->waste = sp__lanemap_waste(s);
}

static void fill_info(const struct sp_table *t, struct sp_table_info *info)
{
	const struct sp__tablefile *f = &t->file;
	const struct sp__columns_style *style = &f->schema.style;

	*info = (struct sp_table_info){
		.fill = NAN,
		.layout = sp__table_layout_of(&f->layout),
		.id = f->superblock.id,
		.records = f->superblock.records,
		.deleted = f->superblock.deleted,
		.bytes = sp__map_space(&f->map) * f->layout.cell_bytes,
		.cell_bytes = f->layout.cell_bytes,
		.page_records = f->layout.page_records,
		.strip_pages = f->layout.strip_max,
		.pages = sp__layout_pages(&f->layout, f->superblock.records),
		.cells = sp__map_space(&f->map) * f->layout.cell_bytes / f->layout.cell_bytes,
		.free_cells = sp__map_cells(&f->map, SP__AREA_FREE),
		.ncolumns = f->schema.n,
		.ngroups = f->layout.ngroups,
		.columns = t->columns,
		.groups = t->groups,
		.format = style->json ? SP_TABLE_JSON : (enum sp_table_format)style->format,
		.separator = style->separator,
		.header = style->header,
		.null_text = style->null_text ? style->null_text : "",
		.no_data = f->superblock.no_data,
		.alone = f->superblock.slots.alone,
		.volume_names = (const char *const *)f->superblock.volumes + 1,
		.nvolume_names = f->cells.n - 1,
		.volume = f->superblock.volume ? f->superblock.volume : f->run.volume,
	};
	fill_placement(f->map.lanemap, info);
}

/* The bounds of a column in all rows. */
struct range {
	double least, greatest;
	double widths; /* the sum of those of rows, */
	uint64_t rows; /* this many */
};

struct sums {
	struct sp__tablefile *file;
	uint64_t *text_bytes; /* text bytes of each column */
	uint64_t text_cells;
	struct range *ranges; /* range of each column; NULL: not needed */
};

static void add_bounds(struct range *r, const struct sp__value_type *type, const uint8_t *entry)
{
	double least, greatest;

	if (type->kind == 'c' || sp__value_null(type, entry))
		return;
	least = sp__value_number(type, entry);
	greatest = sp__value_number(type, entry + 8);
	r->least = r->rows ? fmin(r->least, least) : least;
	r->greatest = r->rows ? fmax(r->greatest, greatest) : greatest;
	r->widths += greatest - least;
	r->rows++;
}

/* Returns the mean width of bounds as a share of the whole range; NaN: unknown. */
static double width_of(const struct range *r)
{
	double range = r->greatest - r->least;

	if (!r->rows)
		return NAN;
	return range > 0 ? r->widths / (double)r->rows / range : isnan(range) ? NAN : 0;
}

static int add_row(void *arg, uint8_t *row)
{
	struct sums *s = arg;
	const struct sp__schema *schema = &s->file->schema;

	for (uint32_t i = 0; i < schema->n; i++) {
		const struct sp__column *c = &schema->columns[i];

		if (c->type.kind == 't') {
			struct sp__text_place text =
				sp__directory_text(sp__directory_entry(s->file, row, i));

			s->text_bytes[i] += text.bytes;
			s->text_cells += text.cells;
		} else if (s->ranges && c->bounds) {
			add_bounds(&s->ranges[i], &c->type, sp__directory_entry(s->file, row, i));
		}
	}
	return 0;
}

int sp__table_add_texts(struct sp__tablefile *f, uint64_t *bytes, uint64_t *cells,
			struct sp_errinfo *err)
{
	struct sums sums = { .file = f, .text_bytes = bytes };
	int rc = sp__directory_each(f, add_row, &sums, err);

	*cells += sums.text_cells;
	return rc;
}

/* Returns the cells that have values. */
static uint64_t used_cells(const struct sp__table_layout *l, uint64_t records)
{
	const uint64_t rest = records % l->page_records;
	uint64_t cells = records / l->page_records * l->page_cells;

	for (uint32_t f = 0; f < l->ngroups; f++)
		cells += (rest + l->groups[f].cell_records - 1) / l->groups[f].cell_records;
	return cells;
}

/* Sets the members that follow from sums over the directory. */
static void fill_sums(const struct sums *s, struct sp_table_info *info)
{
	const struct sp__tablefile *f = s->file;
	const uint64_t records = f->superblock.records,
		       texts = sp__map_cells(&f->map, SP__AREA_TEXT);
	uint64_t bytes = 0, cells = used_cells(&f->layout, records) + s->text_cells;

	for (uint32_t i = 0; i < f->layout.ngroups; i++)
		bytes += records * f->layout.groups[i].record_bytes;
	for (uint32_t i = 0; i < f->schema.n; i++)
		info->text_bytes += s->text_bytes[i];
	bytes += info->text_bytes;
	info->dead_text_bytes =
		(texts - sp__min(texts, s->text_cells)) * sp__cell_payload(f->layout.cell_bytes);
	info->fill = cells ? (double)bytes / (double)(cells * f->layout.cell_bytes) : NAN;
}

/* Adds up what the directory says of texts and bounds. */
static int add_sums(struct sp_table *t, struct sp_table_info *info, struct sp_errinfo *err)
{
	struct sp__tablefile *f = &t->file;
	struct sums sums = { .file = f,
			     .text_bytes = calloc(f->schema.n, sizeof(*sums.text_bytes)),
			     .ranges = calloc(f->schema.n, sizeof(*sums.ranges)) };
	int rc = sums.text_bytes && sums.ranges ? 0 : sp__err(err, -ENOMEM, "read", f->path, -1);

	if (!rc)
		rc = sp__table_begin_reading(t, true, err);
	if (!rc) {
		rc = sp__directory_each(f, add_row, &sums, err);
		sp__table_end_reading(t);
	}
	if (!rc) {
		for (uint32_t i = 0; i < f->schema.n; i++)
			t->columns[i].bounds_width = width_of(&sums.ranges[i]);
		fill_sums(&sums, info);
	}
	free(sums.text_bytes);
	free(sums.ranges);
	return rc;
}

int sp_table_info(struct sp_table *t, bool sums, struct sp_table_info *info, struct sp_errinfo *err)
{
	int rc = sp__table_describe(t);

	if (rc)
		return sp__err(err, rc, "read", t->file.path, -1);
	fill_info(t, info);
	return sums && !info->no_data ? add_sums(t, info, err) : 0;
}
