/* SPDX-License-Identifier: MIT */
/*
 * Takes space of the file for cells.
 *
 * If all columns share cells there are no strips: then so many A-pages get cells together that a
 * large table has few extents.
 */
#include <stdio.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/commit.h"

#define EXTENT_BYTES (UINT64_C(1) << 26) /* maximum, if all columns share cells */

int sp__tablefile_check_end(const struct sp__volume *v, const char *path, uint64_t need,
			    struct sp_errinfo *err)
{
	const uint64_t has = sp__volume_capacity(v);

	if (need <= has)
		return 0;
	return sp__errf(err, -ENOSPC, "write", path, -1,
			"the table needs at least %llu bytes, the device has %llu: choose a larger "
			"one",
			(unsigned long long)need, (unsigned long long)has);
}

int sp__tablefile_check_space(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	const uint64_t need = sp__tablefile_length(f, f->map.end);
	int rc = 0;

	for (unsigned i = 0; !rc && i < f->cells.n; i++)
		rc = sp__tablefile_check_end(f->cells.volumes[i].volume, f->cells.volumes[i].name,
					     need, err);
	return rc;
}

int sp__tablefile_no_place(const struct sp__tablefile *f, int rc, const char *what,
			   struct sp_errinfo *err)
{
	const struct sp__lanemap *m = f->map.lanemap;

	if (rc != -ENOSPC || !m)
		return sp__err(err, rc, "write", f->path, -1);
	return sp__errf(
		err, rc, "write", f->path, -1,
		"the volume (of %u x %llu bytes) has no space for %s: choose %s", m->volumes,
		(unsigned long long)(m->volume_cells * f->layout.cell_bytes), what,
		sp__lanemap_info(m).placement == SP_PLACE_SEMISEQ ? "larger drives, or more of them"
								  : "a larger device");
}

/* Doubles the A-pages that have a place. */
static int reserve_pages(struct sp__tablefile *f, uint64_t page, struct sp_errinfo *err)
{
	char what[64];
	uint64_t have;
	int rc = 0;

	while (!rc && (have = sp__lanemap_pages(f->map.lanemap)) <= page)
		rc = sp__map_add_pages(&f->map, sp__max(page + 1 - have, have));
	snprintf(what, sizeof(what), "record %llu and those after it",
		 (unsigned long long)(page * f->layout.page_records));
	return rc ? sp__tablefile_no_place(f, rc, what, err) : sp__tablefile_check_space(f, err);
}

int sp__tablefile_reserve(struct sp__tablefile *f, uint64_t data_cells, struct sp_errinfo *err)
{
	uint64_t has = sp__map_cells(&f->map, SP__AREA_DATA), first = 0;
	int rc;

	if (data_cells <= has)
		return 0;
	rc = sp__map_take(&f->map, data_cells - has, &first);
	if (!rc)
		rc = sp__map_add(&f->map, SP__AREA_DATA, first, data_cells - has);
	return rc ? sp__err(err, rc, "write", f->path, -1) : sp__tablefile_check_space(f, err);
}

int sp__tablefile_reserve_page(struct sp__tablefile *f, uint64_t page, struct sp_errinfo *err)
{
	const struct sp__table_layout *l = &f->layout;
	uint64_t have = sp__map_cells(&f->map, SP__AREA_DATA), pages;

	if (f->map.lanemap)
		return reserve_pages(f, page, err);
	if (page * l->page_cells < have)
		return 0;
	if (l->ngroups > 1 || l->strips)
		pages = sp__layout_strip(l, page).pages;
	else
		pages = sp__min(page + 1, EXTENT_BYTES / l->cell_bytes / l->page_cells + 1);
	return sp__tablefile_reserve(f, (page + pages) * l->page_cells, err);
}

int sp__tablefile_release(struct sp__tablefile *f, uint64_t records)
{
	if (f->map.lanemap)
		return sp__map_shorten_pages(&f->map, sp__layout_pages(&f->layout, records));
	return sp__map_shorten(&f->map, SP__AREA_DATA, sp__layout_data_cells(&f->layout, records));
}
