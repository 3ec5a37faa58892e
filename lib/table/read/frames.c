/* SPDX-License-Identifier: MIT */
/*
 * Takes the cells of a window from frames (frames.h).
 */
#include "base/array.h"
#include "base/minmax.h"
#include "table/layout/runs.h"
#include "table/read/frames.h"

/* Returns the first A-page of a range, with that of the end before. */
static uint64_t first_page(const struct sp__window *w, const struct sp__window_range *r)
{
	const struct sp__table_layout *l = &w->file->layout;

	return (r->first - (w->ntexts && r->first % sp__layout_row_records(l))) / l->page_records;
}

static uint64_t last_page(const struct sp__window *w, const struct sp__window_range *r)
{
	return (r->first + r->n - 1) / w->file->layout.page_records;
}

uint64_t sp__frames_left(const struct sp__window *w, uint64_t record)
{
	const uint64_t page = record / w->file->layout.page_records;
	uint64_t n, end = w->frames_end;

	if (page >= end && w->frames >= w->max_frames)
		return 0;
	if (page >= end) {
		n = sp__clotho_pages(&w->file->pool->user, &w->set);
		end = (page / n + 1) * n;
	}
	return end * w->file->layout.page_records - record;
}

void sp__frames_count(struct sp__window *w, uint64_t first, uint64_t n)
{
	for (uint64_t left; n; first += left, n -= left) {
		left = sp__frames_left(w, first);
		if (first / w->file->layout.page_records >= w->frames_end) {
			w->frames++;
			w->frames_end = (first + left) / w->file->layout.page_records;
		}
		if (!left)
			return;
		left = sp__min(left, n);
	}
}

/* Pins a frame for A-page `page`, as pin number n. */
static int pin_page(struct sp__window *w, size_t n, uint64_t page)
{
	struct sp__clotho_pin *p;

	if (!SP__ARRAY_GROW(w->pins, w->pins_capacity, n + 1))
		return -ENOMEM;
	p = &w->pins[n];
	if (n == w->npins) {
		*p = (struct sp__clotho_pin){ 0 };
		w->npins++;
	}
	return sp__clotho_pin(&w->file->pool->user, &w->set, page, p);
}

/* Pins a frame for each A-page that the frame before does not have.  Returns as pin_page(). */
static int pin_pages(struct sp__window *w)
{
	int rc, later = SP_READY;
	size_t n = 0;

	for (size_t i = 0; i < w->nranges; i++) {
		uint64_t page = first_page(w, &w->ranges[i]);

		for (; page <= last_page(w, &w->ranges[i]); page++) {
			if (n && sp__clotho_covers(&w->pins[n - 1], page))
				continue;
			rc = pin_page(w, n++, page);
			if (rc != SP_READY && rc != SP_LATER)
				return rc;
			later = rc == SP_LATER ? rc : later;
		}
	}
	while (w->npins > n)
		sp__clotho_unpin(&w->pins[--w->npins]);
	rc = sp__requests_flush(w->file->pool->user.requests);
	return rc ? rc : later;
}

/* Makes segments of a run whose cells are in a frame. */
static int add_run(struct sp__window *w, struct sp__segments *s, struct sp__layout_run run,
		   uint8_t *at)
{
	uint64_t first, n;

	for (uint64_t done = 0; done < run.cells; done += n) {
		n = sp__map_run(&w->file->map, SP__AREA_DATA, run.cell + done, run.cells - done,
				&first);
		if (!SP__ARRAY_GROW(s->list, s->capacity, s->n + 1))
			return -ENOMEM;
		s->list[s->n++] =
			(struct sp__segment){ .cell = run.cell + done,
					      .file_cell = first,
					      .cells = n,
					      .at = at + done * w->file->layout.cell_bytes };
	}
	return 0;
}

/* Makes segments of A-pages [page, end) of line k of a column group; at: where page's cells are. */
static int add_line(struct sp__window *w, uint32_t group, uint32_t k, uint64_t page, uint64_t end,
		    uint8_t *at)
{
	const struct sp__table_layout *l = &w->file->layout;
	const uint64_t cells = l->groups[group].cells / sp__layout_lines_of(l, group);
	int rc = 0;

	for (uint64_t pages; !rc && page < end; page += pages) {
		const struct sp__strip strip = sp__layout_strip(l, page);

		pages = sp__min(strip.first + strip.pages, end) - page;
		rc = add_run(w, &w->values[sp__layout_line(l, group, k)],
			     (struct sp__layout_run){ sp__layout_cell(l, page, group, k),
						      pages * cells },
			     at);
		at += pages * cells * l->cell_bytes;
	}
	return rc;
}

/* Makes segments of a column group of a frame, whose cells begin there, from A-page `page` on. */
static int add_group(struct sp__window *w, uint32_t group, const struct sp__clotho_frame *f,
		     uint64_t page, uint64_t end, uint8_t *at)
{
	const struct sp__table_layout *l = &w->file->layout;
	const uint32_t n = sp__layout_lines_of(l, group);
	const uint64_t bytes = (uint64_t)(l->groups[group].cells / n) * l->cell_bytes;
	int rc = 0;

	for (uint32_t k = 0; !rc && k < n; k++)
		rc = add_line(w, group, k, page, end,
			      at + (k * f->pages + page - f->first) * bytes);
	return rc;
}

/*
 * Makes segments of all frames.  A frame has the A-pages before that of the next one, which may
 * have changed since.
 */
static int add_frames(struct sp__window *w)
{
	const struct sp__table_layout *l = &w->file->layout;
	int rc = 0;

	for (uint32_t i = 0; i < l->nlines; i++)
		w->values[i].n = 0;
	for (size_t i = 0; i < w->npins; i++) {
		const struct sp__clotho_frame *f = w->pins[i].frame;
		const uint64_t page = w->pins[i].page;
		uint64_t end = f->first + f->pages;
		uint8_t *at = f->memory;

		if (i + 1 < w->npins)
			end = sp__min(end, w->pins[i + 1].page);
		for (uint32_t g = 0; !rc && g < l->ngroups; g++) {
			const uint64_t bytes = (uint64_t)l->groups[g].cells * l->cell_bytes;

			if (w->groups[g])
				rc = add_group(w, g, f, page, end, at);
			if (sp__groupset_has(&f->set, g))
				at += f->pages * bytes;
		}
	}
	return rc;
}

int sp__frames_pin(struct sp__window *w)
{
	int rc = SP_END;

	if (w->npins || w->frames <= w->max_frames)
		rc = pin_pages(w);
	if (rc == SP_READY)
		return add_frames(w) ?: SP_READY;
	if (rc == SP_LATER)
		return SP_LATER;
	sp__frames_unpin(w);
	return SP_END;
}

void sp__frames_open(struct sp__window *w)
{
	for (uint32_t g = 0; g < w->file->layout.ngroups; g++)
		if (w->groups[g])
			sp__bits_add(w->set.bits, g);
}

void sp__frames_unpin(struct sp__window *w)
{
	while (w->npins)
		sp__clotho_unpin(&w->pins[--w->npins]);
}

struct sp__requests *sp__frames_requests(const struct sp__window *w)
{
	for (size_t i = w->npins; i; i--)
		if (w->pins[i - 1].frame && w->pins[i - 1].frame->outstanding)
			return w->pins[i - 1].frame->reader->requests;
	return w->requests;
}

void sp__frames_begin(struct sp__window *w)
{
	sp__frames_unpin(w);
	w->frames = w->frames_end = 0;
}
