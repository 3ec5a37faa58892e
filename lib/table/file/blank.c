/* SPDX-License-Identifier: MIT */
/*
 * Makes a table without data: takes the cells of its records and directory rows, as a load does.
 */
#include "base/err.h"
#include "table/file/directory.h"

/* Takes the cells of all records and directory rows, in the order in which a load takes them. */
static int take_all(struct sp__tablefile *f, uint64_t records, struct sp_errinfo *err)
{
	const struct sp__table_layout *l = &f->layout;
	const uint64_t pages = sp__layout_pages(l, records);
	int rc = f->map.lanemap && pages ? sp__tablefile_reserve_page(f, pages - 1, err) : 0;

	for (uint64_t page = 0; !rc && page < pages; page++) {
		rc = sp__tablefile_reserve_page(f, page, err);
		if (!rc && ((page + 1) % l->row_pages == 0 || page + 1 == pages))
			rc = sp__areastream_reserve(f, &f->directory,
						    sp__directory_cells(f, page / l->row_pages + 1),
						    err);
	}
	return rc;
}

int sp__tablefile_leave_blank(struct sp__tablefile *f, uint64_t records, struct sp_errinfo *err)
{
	int rc;

	for (uint32_t i = 0; i < f->schema.n; i++)
		if (f->schema.columns[i].type.kind == 't')
			return sp__errf(err, SP_EUNSUP, "create", f->path, -1,
					"column '%.64s': the length of a text is not known without "
					"data: choose char(N)",
					f->schema.columns[i].name);
	f->superblock.no_data = f->volume->hollow = true;
	rc = take_all(f, records, err);
	if (!rc && sp__tablefile_release(f, records))
		rc = sp__err(err, -ENOMEM, "create", f->path, -1);
	f->superblock.records = records;
	return rc;
}

int sp__tablefile_blank(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	return f->superblock.no_data ? sp__errf(err, SP_EUNSUP, "read", f->path, -1,
						"the table has no data: scan, get and update of "
						"record numbers run "
						"on it, with --discard")
				     : 0;
}
