/* SPDX-License-Identifier: MIT */
/*
 * Chooses the records of windows (ranges.h).
 *
 * layout/layout.h says how many records a window has.  Texts are counted from the directory row:
 * they have the same length on average in all parts of a row.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/directory.h"
#include "table/layout/layout.h"
#include "table/read/frames.h"
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

uint8_t *sp__ranges_row(struct sp__scan_ranges *r, uint64_t record, int *rc, struct sp_errinfo *err)
{
	const uint64_t row = record / sp__layout_row_records(&r->file->layout);
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

double sp__ranges_text_bytes(const struct sp__scan_ranges *r, const struct sp__window *w,
			     uint64_t record, uint8_t *row)
{
	const uint64_t all = sp__layout_row_records(&r->file->layout);
	const uint64_t first = record / all * all;
	double texts = 0;

	for (uint32_t k = 0; row && k < w->ntexts; k++)
		texts += sp__directory_text(sp__directory_entry(r->file, row, w->texts[k])).bytes;
	return texts / (double)sp__min(all, r->file->superblock.records - first);
}

/* Returns the memory that record r->at needs besides cells, on average; row: NULL: no texts. */
static double more_bytes(const struct sp__scan_ranges *r, const struct sp__window *w, uint8_t *row)
{
	/* Read, and printed. */
	return r->printed_bytes + 2 * sp__ranges_text_bytes(r, w, r->at, row);
}

/*
 * Adds records [r->at, end) to a window, without directory rows that are skipped, until the memory
 * that they need besides cells exceeds that of a window.
 */
static int add_records(struct sp__scan_ranges *r, struct sp__window *w, uint64_t end,
		       struct sp_errinfo *err)
{
	const struct sp__table_layout *l = &r->file->layout;
	const uint64_t all = sp__layout_row_records(l);
	double bytes = 0;
	int rc;

	while (r->at < end) {
		uint64_t n = sp__min(all - r->at % all, end - r->at);
		uint8_t *row = sp__ranges_row(r, r->at, &rc, err);

		if (rc)
			return rc;
		if (row && r->skip && r->skip(r->skip_arg, r->file, row)) {
			r->pages_skipped += sp__layout_pages(l, n);
		} else {
			bytes += (double)n * more_bytes(r, w, row);
			if (w->nranges && bytes > (double)r->window_bytes)
				return 0;
			rc = sp__window_add(w, r->at, n, row);
			if (rc)
				return sp__err(err, rc, "read", r->file->path, -1);
		}
		r->at += n;
	}
	return 0;
}

int sp__ranges_next(struct sp__scan_ranges *r, struct sp__window *w, struct sp_errinfo *err)
{
	while (r->at < r->end) {
		int rc;
		uint8_t *row = sp__ranges_row(r, r->at, &rc, err);
		uint64_t n = sp__layout_window_records(&r->file->layout, w->groups, r->at,
						       r->window_bytes, more_bytes(r, w, row));

		if (r->file->pool)
			n = sp__min(n, sp__frames_left(w, r->at));
		if (!rc)
			rc = add_records(r, w, sp__min(r->at + n, r->end), err);
		sp__tablefile_tell(r->file, r->at);
		if (rc || w->nranges)
			return rc ? rc : SP_READY;
	}
	return SP_END;
}
