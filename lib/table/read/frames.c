/* SPDX-License-Identifier: MIT */
/*
 * Takes the cells of a window from frames (frames.h).
 */
#include "base/array.h"
#include "base/minmax.h"
#include "table/read/frames.h"
#include "table/read/window.h"

/* Returns the first record of a range; with texts the one before it, whose end is needed. */
static uint64_t first_record(const struct sp__window *w, const struct sp__window_range *r)
{
	return r->first - (w->ntexts && sp__window_has_before(&w->file->layout, r->first));
}

static bool covers(const struct sp__window *w, uint64_t page)
{
	return w->npins && sp__clotho_covers(&w->pins[w->npins - 1], page);
}

uint64_t sp__frames_left(const struct sp__window *w, uint64_t record)
{
	const uint64_t records = w->file->layout.page_records;
	const uint64_t n = sp__clotho_pages(&w->file->pool->user, &w->set) * records;

	return (record / n + w->max_frames) * n - record;
}

/* Returns the bytes of the records from range i on that are in an A-page. */
static uint64_t few_bytes(const struct sp__window *w, size_t i, uint64_t page)
{
	const struct sp__table_layout *l = &w->file->layout;
	const uint64_t end = (page + 1) * l->page_records;
	uint64_t bytes = 0;

	for (; i < w->nranges && w->ranges[i].first < end; i++)
		bytes += w->record_bytes;
	return bytes;
}

/*
 * Pins a frame for an A-page, after all others.  Returns 0 or -ENOMEM; then covers() is true if it
 * has one.
 */
static int pin_page(struct sp__window *w, size_t range, uint64_t page)
{
	struct sp__clotho_user *u = &w->file->pool->user;
	struct sp__clotho_pin *p;
	int rc;

	if (!SP__ARRAY_GROW(w->pins, w->pins_capacity, w->npins + 1))
		return -ENOMEM;
	p = &w->pins[w->npins];
	*p = (struct sp__clotho_pin){ .passes = w->passes };
	if (!w->few && w->npins < w->max_frames)
		rc = sp__clotho_pin(u, &w->set, page, p);
	else
		rc = sp__clotho_pin_few(u, &w->set, page, w->few ? few_bytes(w, range, page) : 0,
					p);
	w->npins += rc == SP_READY || rc == SP_LATER;
	return 0;
}

/* Makes segments of a run whose cells are in a frame, except those that are there. */
static int add_run(struct sp__window *w, struct sp__segments *s, struct sp__layout_run run,
		   uint8_t *at)
{
	const struct sp__segment *last = s->n ? &s->list[s->n - 1] : NULL;
	const uint64_t done = last ? sp__max(last->cell + last->cells, run.cell) - run.cell : 0;
	uint64_t first, n;

	for (uint64_t i = done; i < run.cells; i += n) {
		n = sp__map_run(&w->file->map, SP__AREA_DATA, run.cell + i, run.cells - i, &first);
		if (!SP__ARRAY_GROW(s->list, s->capacity, s->n + 1))
			return -ENOMEM;
		s->list[s->n++] = (struct sp__segment){ .in_frame = true,
							.cell = run.cell + i,
							.file_cell = first,
							.cells = n,
							.at = at + i * w->file->layout.cell_bytes };
	}
	return 0;
}

/*
 * Makes segments of a column group of a frame, whose cells begin at memory, with records
 * [first, end).
 */
static int add_group(struct sp__window *w, const struct sp__clotho_frame *f, uint32_t group,
		     uint8_t *memory, uint64_t first, uint64_t end)
{
	const struct sp__table_layout *l = &w->file->layout;
	const uint32_t n = sp__layout_lines_of(l, group);
	const uint64_t page = first / l->page_records, cells = l->groups[group].cells / n;
	int rc = 0;

	for (uint32_t k = 0; !rc && k < n; k++) {
		const struct sp__layout_run run = sp__layout_run(l, group, k, first, end - 1);
		/* Of the A-page in the frame, and of the run in the A-page. */
		const uint64_t cell = (k * f->pages + page - f->first) * cells +
				      (run.cell - sp__layout_cell(l, page, group, k));

		if (run.cells)
			rc = add_run(w, &w->values[sp__layout_line(l, group, k)], run,
				     memory + cell * l->cell_bytes);
	}
	return rc;
}

/* Makes segments of records [first, end), which are in the frame pinned last. */
static int add_frame(struct sp__window *w, uint64_t first, uint64_t end)
{
	const struct sp__table_layout *l = &w->file->layout;
	const struct sp__clotho_frame *f = w->pins[w->npins - 1].frame;
	uint8_t *memory = f->memory;
	int rc = 0;

	for (uint32_t g = 0; !rc && g < l->ngroups; g++) {
		if (w->groups[g])
			rc = add_group(w, f, g, memory, first, end);
		if (sp__groupset_has(&f->set, g))
			memory += f->pages * l->groups[g].cells * l->cell_bytes;
	}
	return rc;
}

/* Makes segments that are requested, of a column group with records [first, end). */
static int request_group(struct sp__window *w, uint32_t group, uint64_t first, uint64_t end)
{
	const struct sp__table_layout *l = &w->file->layout;
	int rc = 0;

	for (uint32_t k = 0; !rc && k < sp__layout_lines_of(l, group); k++)
		rc = sp__window_add_run(w, &w->values[sp__layout_line(l, group, k)],
					sp__layout_run(l, group, k, first, end - 1));
	return rc;
}

/*
 * Makes segments that are requested, of records [first, end).  Those before `from` are needed for
 * the ends of texts alone.
 */
static int request(struct sp__window *w, uint64_t first, uint64_t from, uint64_t end)
{
	int rc = 0;

	for (uint32_t g = 0; !rc && g < w->file->layout.ngroups; g++) {
		const uint64_t at = sp__window_has_text(w, g) ? first : sp__max(first, from);

		if (w->groups[g] && at < end)
			rc = request_group(w, g, at, end);
	}
	return rc;
}

/*
 * Makes segments of the records of a range from `at` on: those of its A-page, and of the A-pages
 * after it that the same frame has.  *page: the A-page looked up last; *end: the record behind the
 * last one.  Returns 0 or an error.
 */
static int take(struct sp__window *w, size_t range, uint64_t at, uint64_t *page, uint64_t *end)
{
	const struct sp__window_range *r = &w->ranges[range];
	const uint64_t records = w->file->layout.page_records;
	uint64_t next = at / records;
	int rc = 0;

	if (next != *page && !covers(w, next))
		rc = pin_page(w, range, next);
	*page = next;
	while (next * records < r->first + r->n && covers(w, next))
		next++;
	*end = sp__min(sp__max(next, *page + 1) * records, r->first + r->n);
	if (rc)
		return rc;
	return next > *page ? add_frame(w, at, *end) : request(w, at, r->first, *end);
}

int sp__frames_take(struct sp__window *w)
{
	uint64_t page = UINT64_MAX, end;
	int rc = 0;

	for (size_t i = 0; i < w->nranges; i++)
		for (uint64_t at = first_record(w, &w->ranges[i]);
		     !rc && at < w->ranges[i].first + w->ranges[i].n; at = end)
			rc = take(w, i, at, &page, &end);
	return rc ? rc : sp__requests_flush(w->file->pool->user.requests);
}

/* True if no change has removed an A-page from the frames that are pinned. */
static bool are_complete(const struct sp__window *w)
{
	const uint64_t records = w->file->layout.page_records;
	const struct sp__clotho_pin *p = w->pins, *end = p + w->npins;

	for (size_t i = 0; i < w->nranges; i++) {
		const struct sp__window_range *r = &w->ranges[i];

		for (uint64_t page = first_record(w, r) / records; page * records < r->first + r->n;
		     page++) {
			while (p + 1 < end && p[1].page <= page)
				p++;
			if (page >= p->page && page - p->frame->first < p->frame->pages &&
			    !sp__clotho_covers(p, page))
				return false;
		}
	}
	return true;
}

/*
 * Waits for the frames that are pinned.  Returns SP_READY, SP_LATER, or SP_END: one was removed, or
 * read again, perhaps with other column groups at other places.
 */
static int wait_pins(struct sp__window *w)
{
	for (size_t i = 0; i < w->npins; i++) {
		const struct sp__clotho_frame *frame = w->pins[i].frame;
		const uint64_t fetches = frame->fetches;
		const int rc =
			sp__clotho_pin(&w->file->pool->user, &w->set, w->pins[i].page, &w->pins[i]);

		if (w->pins[i].frame != frame || frame->fetches != fetches)
			return SP_END;
		if (rc == SP_LATER)
			return rc;
	}
	return are_complete(w) ? SP_READY : SP_END;
}

int sp__frames_ready(struct sp__window *w)
{
	int rc = wait_pins(w);

	if (rc != SP_END)
		return rc;
	sp__frames_unpin(w);
	rc = sp__requests_flush(w->file->pool->user.requests);
	for (uint32_t i = 0; i < w->file->layout.nlines; i++)
		w->values[i].n = 0;
	for (size_t i = 0; !rc && i < w->nranges; i++) {
		const struct sp__window_range *r = &w->ranges[i];

		rc = request(w, first_record(w, r), r->first, r->first + r->n);
	}
	return rc ? rc : SP_END;
}

void sp__frames_open(struct sp__window *w)
{
	const struct sp__table_layout *l = &w->file->layout;

	for (uint32_t g = 0; g < l->ngroups; g++)
		if (w->groups[g]) {
			sp__bits_add(w->set.bits, g);
			w->record_bytes += l->cell_bytes;
		}
}

void sp__frames_unpin(struct sp__window *w)
{
	while (w->npins)
		sp__clotho_unpin(&w->pins[--w->npins]);
}

struct sp__requests *sp__frames_requests(const struct sp__window *w)
{
	for (size_t i = w->npins; i; i--)
		if (w->pins[i - 1].frame->outstanding)
			return w->pins[i - 1].frame->reader->requests;
	return w->requests;
}
