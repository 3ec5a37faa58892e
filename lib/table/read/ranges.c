/* SPDX-License-Identifier: MIT */
/*
 * Chooses the records of windows (ranges.h).
 *
 * layout/runs.h says how many records a window has.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/directory.h"
#include "table/layout/runs.h"
#include "table/read/ranges.h"

int sp__ranges_open(struct sp__scan_ranges *r, uint64_t rows_bytes)
{
	const struct sp__tablefile *f = r->file;
	const size_t row = sp__directory_row_bytes(f);

	r->rows_needed &= row != 0;
	if (!r->rows_needed)
		return 0;
	r->max_rows = sp__min(rows_bytes / row, sp__layout_rows(&f->layout, f->superblock.records));
	r->max_rows = sp__max(r->max_rows, 1);
	r->rows = malloc(r->max_rows * row);
	return r->rows ? 0 : -ENOMEM;
}

void sp__ranges_close(struct sp__scan_ranges *r)
{
	free(r->rows);
	r->rows = NULL;
}

static uint64_t row_records(const struct sp__table_layout *l)
{
	return (uint64_t)l->row_pages * l->page_records;
}

uint8_t *sp__ranges_row(struct sp__scan_ranges *r, uint64_t record, int *rc, struct sp_errinfo *err)
{
	const uint64_t row = record / row_records(&r->file->layout);
	const uint64_t all = sp__layout_rows(&r->file->layout, r->file->superblock.records);

	*rc = 0;
	if (!r->rows_needed)
		return NULL;
	if (row < r->first_row || row >= r->first_row + r->nrows) {
		r->first_row = row;
		r->nrows = sp__min(all - row, r->max_rows);
		*rc = sp__directory_read_rows(r->file, row, r->nrows, r->rows, err);
		if (*rc) {
			r->nrows = 0;
			return NULL;
		}
	}
	return r->rows + (row - r->first_row) * sp__directory_row_bytes(r->file);
}

int sp__ranges_next(struct sp__scan_ranges *r, struct sp__window *w, struct sp_errinfo *err)
{
	const struct sp__table_layout *l = &r->file->layout;
	int rc;

	while (r->at < r->end) {
		uint64_t end = sp__min(
			r->at + sp__layout_window_records(l, r->groups, r->at, r->window_bytes),
			r->end);

		while (r->at < end) {
			uint64_t n = sp__min(row_records(l) - r->at % row_records(l), end - r->at);
			uint8_t *row = sp__ranges_row(r, r->at, &rc, err);

			if (rc)
				return rc;
			if (row && r->skip && r->skip(r->skip_arg, r->file, row)) {
				r->pages_skipped += sp__layout_pages(l, n);
			} else {
				rc = sp__window_add(w, r->at, n, row);
				if (rc)
					return sp__err(err, rc, "read", r->file->path, -1);
			}
			r->at += n;
		}
		if (w->nranges)
			return SP_READY;
	}
	return SP_END;
}
