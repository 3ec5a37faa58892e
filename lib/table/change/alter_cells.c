/* SPDX-License-Identifier: MIT */
/*
 * Writes the cells of a change of columns, and lists them, with those that are kept, in the map.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/change/alter_impl.h"
#include "table/change/copy.h"
#include "table/file/directory.h"

/* Gives free cells, and those at the end of the file, from one map to another. */
static void hand_over(struct sp__table_map *from, struct sp__table_map *to)
{
	free(to->lists[SP__AREA_FREE].extents);
	to->lists[SP__AREA_FREE] = from->lists[SP__AREA_FREE];
	from->lists[SP__AREA_FREE] = (struct sp__table_area_list){ 0 };
	to->end = from->end;
	to->changed = true;
}

static int write_part(struct sp__alter *a)
{
	const struct sp__copy_sources sources = { .columns = a->sources,
						  .constants = a->constants,
						  .deleted = true };
	int rc;

	if (!a->part.schema.n)
		return 0;
	hand_over(&a->file->map, &a->part.map);
	rc = sp__copy_records(a->file, &a->part, &sources, a->stats, a->err);
	if (!rc)
		rc = sp__areastream_flush(&a->part, &a->part.directory, a->err);
	hand_over(&a->part.map, &a->file->map);
	return rc;
}

/* Adds the cells of a column group in a strip to the data area of another map. */
static int add_strip(const struct sp__tablefile *from, uint32_t group, const struct sp__strip *s,
		     struct sp__table_map *to, enum sp__table_area area)
{
	const struct sp__table_map *map = &from->map;
	uint64_t n = sp__layout_strip_cell(&from->layout, s, s->first, group, 0);
	uint64_t end = n + s->pages * from->layout.groups[group].cells;
	int rc = 0;

	end = sp__min(end, sp__map_cells(map, SP__AREA_DATA));
	while (!rc && n < end) {
		uint64_t first, cells = sp__map_run(map, SP__AREA_DATA, n, end - n, &first);

		rc = sp__map_add(to, area, first, cells);
		n += cells;
	}
	return rc;
}

/* Lists the cells of the data area after the change, and those that are released. */
static int list_cells(struct sp__alter *a, struct sp__table_map *map)
{
	const struct sp__table_layout *old = &a->file->layout;
	const uint64_t pages = sp__layout_pages(old, a->file->superblock.records);
	struct sp__strip s;
	int rc = 0;

	for (uint64_t page = 0; !rc && page < pages; page = s.first + s.pages) {
		uint32_t of_part = 0;

		s = sp__layout_strip(old, page);
		for (uint32_t f = 0; !rc && f < a->layout.ngroups; f++) {
			const bool kept = a->kept[f] != SP__ALTER_NEW;

			rc = add_strip(kept ? a->file : &a->part, kept ? a->kept[f] : of_part++, &s,
				       map, SP__AREA_DATA);
		}
		for (uint32_t f = 0; !rc && f < old->ngroups; f++)
			if (!a->stays[f])
				rc = add_strip(a->file, f, &s, map, SP__AREA_RELEASED);
	}
	return rc;
}

/* Adds all cells of an area to another area. */
static int move_area(struct sp__table_map *from, enum sp__table_area area, struct sp__table_map *to,
		     enum sp__table_area to_area)
{
	struct sp__table_area_list *l = &from->lists[area];
	int rc = 0;

	for (size_t i = 0; !rc && i < l->n; i++)
		rc = sp__map_add(to, to_area, l->extents[i].first, l->extents[i].cells);
	l->n = 0;
	l->cells = 0;
	return rc;
}

/* Completes the last strip: the only column group, which is kept, can end inside it. */
static int complete_strip(struct sp__alter *a)
{
	const struct sp__table_layout *old = &a->file->layout;
	const uint64_t pages = sp__layout_pages(old, a->file->superblock.records);
	struct sp__strip s;

	if (!pages || a->layout.ngroups == 1 || !a->stays[0])
		return 0;
	s = sp__layout_strip(old, pages - 1);
	return sp__tablefile_reserve(a->file, (s.first + s.pages) * old->page_cells, a->err);
}

/* Makes the map after the change, except for the directory and texts that are released. */
static int make_map(struct sp__alter *a)
{
	struct sp__table_map *map = &a->file->map, made = { 0 };
	int rc;

	if (sp__tablefile_release(a->file, a->file->superblock.records))
		return sp__alter_no_memory(a);
	rc = complete_strip(a);
	if (rc)
		return rc;
	rc = list_cells(a, &made);
	map->lists[SP__AREA_DATA].n = 0;
	map->lists[SP__AREA_DATA].cells = 0;
	if (!rc)
		rc = move_area(&made, SP__AREA_DATA, map, SP__AREA_DATA);
	if (!rc)
		rc = move_area(&made, SP__AREA_RELEASED, map, SP__AREA_RELEASED);
	if (!rc)
		rc = move_area(&a->part.map, SP__AREA_TEXT, map, SP__AREA_TEXT);
	if (!rc)
		rc = move_area(&a->part.map, SP__AREA_RELEASED, map, SP__AREA_RELEASED);
	sp__map_free(&made);
	return rc ? sp__alter_no_memory(a) : 0;
}

/* Releases the texts of old columns that are not kept. */
static int release_texts(struct sp__alter *a, const uint8_t *row)
{
	const struct sp__tablefile *f = a->file;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < f->schema.n; i++) {
		struct sp__text_place place;

		if (f->schema.columns[i].type.kind != 't' || a->stays[f->layout.places[i].group])
			continue;
		place = sp__directory_text(row + (size_t)f->entries[i] * SP__ENTRY_BYTES);
		rc = sp__map_release_text(&a->file->map, place.first, place.cells);
	}
	if (rc == SP_ECORRUPT)
		return sp__errf(a->err, rc, "read", f->path, -1,
				"row %llu of the directory is damaged", (unsigned long long)a->row);
	return rc ? sp__alter_no_memory(a) : 0;
}

/* Makes and writes a row of the directory: of the old row and that of the part. */
static int write_row(void *arg, uint8_t *row)
{
	struct sp__alter *a = arg;
	int rc = release_texts(a, row);

	if (!rc && a->part.schema.n)
		rc = sp__directory_read_rows(&a->part, a->row, 1, a->part_row, a->err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < a->plan->schema.n; i++) {
		const uint32_t from = a->plan->from[i];

		if (a->next.entries[i] != UINT32_MAX && from != SP__ALTER_NEW &&
		    a->stays[a->file->layout.places[from].group])
			memcpy(sp__directory_entry(&a->next, a->next_row, i),
			       sp__directory_entry(a->file, row, from), SP__ENTRY_BYTES);
	}
	for (uint32_t k = 0; k < a->part.schema.n; k++)
		if (a->part.entries[k] != UINT32_MAX)
			memcpy(sp__directory_entry(&a->next, a->next_row, a->columns[k]),
			       sp__directory_entry(&a->part, a->part_row, k), SP__ENTRY_BYTES);
	return sp__directory_write_rows(&a->next, a->row++, 1, a->next_row, a->err);
}

/* Writes the directory after the change to new cells. */
static int write_directory(struct sp__alter *a)
{
	struct sp__tablefile *f = a->file;
	struct sp__table_map *map = &f->map;
	int rc = sp__alter_open_view(a, &a->next, &a->plan->schema, &a->layout);

	if (rc)
		return sp__alter_no_memory(a);
	a->next_row = calloc(1, sp__directory_row_bytes(&a->next) + 1);
	a->part_row = calloc(1, a->part.row_entries * (size_t)SP__ENTRY_BYTES + 1);
	if (!a->next_row || !a->part_row)
		return sp__alter_no_memory(a);
	hand_over(map, &a->next.map);
	rc = sp__directory_each(f, write_row, a, a->err);
	if (!rc)
		rc = sp__areastream_flush(&a->next, &a->next.directory, a->err);
	hand_over(&a->next.map, map);
	if (rc)
		return rc;
	rc = move_area(map, SP__AREA_DIRECTORY, map, SP__AREA_RELEASED);
	if (!rc)
		rc = move_area(&a->part.map, SP__AREA_DIRECTORY, map, SP__AREA_RELEASED);
	if (!rc)
		rc = move_area(&a->next.map, SP__AREA_DIRECTORY, map, SP__AREA_DIRECTORY);
	return rc ? sp__alter_no_memory(a) : 0;
}

/* Makes layout, schema and directory those of the open file. */
static int take_over(struct sp__alter *a)
{
	struct sp__tablefile *f = a->file;
	const uint32_t n = a->plan->schema.n;
	uint64_t *changed = realloc(f->superblock.changed, n * sizeof(*changed));

	if (!changed)
		return sp__alter_no_memory(a);
	f->superblock.changed = changed;
	f->superblock.ncolumns = n;
	memset(changed, 0, n * sizeof(*changed));
	sp__layout_free(&f->layout);
	f->layout = a->layout;
	a->layout = (struct sp__table_layout){ 0 };
	free(f->directory.cells);
	free(f->entries);
	f->directory = a->next.directory;
	f->entries = a->next.entries;
	f->row_entries = a->next.row_entries;
	a->next.directory.cells = NULL;
	a->next.entries = NULL;
	f->cells_written += a->part.cells_written + a->next.cells_written;
	f->cells_read += a->part.cells_read + a->next.cells_read;
	return 0;
}

int sp__alter_write_cells(struct sp__alter *a)
{
	int rc = write_part(a);

	sp__alter_return_columns(a);
	if (!rc)
		rc = make_map(a);
	if (!rc)
		rc = write_directory(a);
	return rc ? rc : take_over(a);
}
