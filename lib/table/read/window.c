/* SPDX-License-Identifier: MIT */
/*
 * Reads the cells of ranges of records.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "io/volume.h"
#include "io/queue.h"
#include "table/file/directory.h"
#include "table/layout/layout.h"
#include "table/read/frames.h"
#include "table/read/window.h"

#define MIN_ALIGNMENT 64 /* alignment of cells in memory */

static void completed(struct sp__io_owner *owner, struct sp__request *r)
{
	(void)r; /* its result is checked when all requests are completed */
	((struct sp__window *)owner)->outstanding--;
}

static uint32_t count_texts(struct sp__window *w, const bool *columns)
{
	const struct sp__schema *s = &w->file->schema;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (columns[i] && s->columns[i].type.kind == 't')
			w->texts[n++] = i;
	return n;
}

int sp__window_open(struct sp__window *w, struct sp__tablefile *f, struct sp__requests *requests,
		    const bool *columns)
{
	const struct sp__table_layout *l = &f->layout;

	*w = (struct sp__window){ .owner = { completed }, .file = f, .requests = requests };
	w->groups = calloc(l->ngroups, sizeof(*w->groups));
	w->texts = calloc(l->ncolumns, sizeof(*w->texts));
	w->values = calloc(l->nlines, sizeof(*w->values));
	w->text_segments = calloc(l->ncolumns, sizeof(*w->text_segments));
	w->joined = calloc(l->ncolumns, sizeof(*w->joined));
	w->vectors = calloc(l->ncolumns, sizeof(*w->vectors));
	w->cursors = calloc(l->ngroups, sizeof(*w->cursors));
	if (!w->groups || !w->texts || !w->values || !w->text_segments || !w->joined ||
	    !w->vectors || !w->cursors)
		return -ENOMEM;
	(void)sp__layout_groups(l, columns, w->groups);
	sp__frames_open(w);
	w->ntexts = count_texts(w, columns);
	return 0;
}

void sp__window_close(struct sp__window *w)
{
	struct sp__budget *budget = w->file ? &w->file->env.budget : NULL;

	sp__frames_unpin(w);
	free(w->pins);
	for (uint32_t i = 0; w->values && i < w->file->layout.nlines; i++)
		free(w->values[i].list);
	for (uint32_t k = 0; k < w->ntexts; k++)
		free(w->text_segments[k].list);
	for (unsigned i = 0; i < 2; i++)
		if (w->memory[i]) {
			sp__pages_free(w->memory[i], w->memory_bytes[i]);
			sp__budget_credit(budget, w->memory_bytes[i]);
		}
	free(w->groups);
	free(w->texts);
	free(w->values);
	free(w->text_segments);
	free(w->joined);
	free(w->vectors);
	free(w->cursors);
	free(w->ranges);
	free(w->range_texts);
	*w = (struct sp__window){ 0 };
}

void sp__window_begin(struct sp__window *w)
{
	sp__frames_unpin(w);
	for (uint32_t i = 0; i < w->file->layout.nlines; i++)
		w->values[i].n = 0;
	for (uint32_t k = 0; k < w->ntexts; k++)
		w->text_segments[k].n = 0;
	w->nranges = 0;
	w->round = 0;
	w->submitted = false;
	w->cells_read = w->bytes = 0;
	sp__window_rewind(w);
}

void sp__window_rewind(struct sp__window *w)
{
	w->range = w->taken = 0;
	for (uint32_t f = 0; f < w->file->layout.ngroups; f++)
		w->cursors[f] = 0;
}

/* Adds the cells of a column group with records [first, first + n). */
static int add_group(struct sp__window *w, uint32_t group, uint64_t first, uint64_t n)
{
	const struct sp__table_layout *l = &w->file->layout;
	int rc = 0;

	for (uint32_t k = 0; !rc && k < sp__layout_lines_of(l, group); k++)
		rc = sp__window_add_run(w, &w->values[sp__layout_line(l, group, k)],
					sp__window_run(w, group, k, first, n));
	return rc;
}

int sp__window_add(struct sp__window *w, uint64_t first, uint64_t n, uint8_t *row)
{
	const struct sp__table_layout *l = &w->file->layout;
	struct sp__range_text *texts;
	int rc = 0;

	if (!SP__ARRAY_GROW(w->ranges, w->ranges_capacity, w->nranges + 1) ||
	    (w->ntexts && !SP__ARRAY_GROW(w->range_texts, w->range_texts_capacity,
					  (w->nranges + 1) * w->ntexts)))
		return -ENOMEM;
	/* With a pool sp__frames_take() adds them. */
	for (uint32_t f = 0; !rc && !w->file->pool && f < l->ngroups; f++)
		if (w->groups[f])
			rc = add_group(w, f, first, n);
	texts = w->range_texts + w->nranges * w->ntexts;
	for (uint32_t k = 0; !rc && k < w->ntexts; k++) {
		struct sp__text_place p =
			sp__directory_text(sp__directory_entry(w->file, row, w->texts[k]));

		texts[k] = (struct sp__range_text){ .first = p.first, .bytes = p.bytes };
		if (!sp__directory_text_possible(w->file, &p))
			rc = SP_ECORRUPT;
	}
	w->ranges[w->nranges++] = (struct sp__window_range){ first, n };
	return rc;
}

/* Returns the memory of a request of so many cells: larger than these if they are not aligned. */
static size_t request_bytes(const struct sp__tablefile *f, uint64_t cells)
{
	const size_t unit = sp__max(f->cells.first.volume->align_bytes, MIN_ALIGNMENT);
	size_t bytes = (size_t)(cells * f->layout.cell_bytes);

	if (f->layout.cell_bytes % f->cells.first.volume->align_bytes)
		bytes = sp__request_capacity(f->cells.first.volume, bytes);
	return (bytes + unit - 1) / unit * unit;
}

/* Returns the memory that the segments need. */
static size_t need(const struct sp__window *w, const struct sp__segments *s)
{
	const struct sp__tablefile *f = w->file;
	size_t bytes = 0;

	for (size_t i = 0; i < s->n; i++)
		if (!s->list[i].in_frame)
			bytes += request_bytes(f, s->list[i].cells);
	return bytes;
}

/* Makes the memory of a round at least that large.  Its contents are lost. */
static int reserve(struct sp__window *w, unsigned round, size_t bytes)
{
	struct sp__budget *budget = &w->file->env.budget;

	if (bytes <= w->memory_bytes[round])
		return 0;
	if (w->memory[round]) {
		sp__pages_free(w->memory[round], w->memory_bytes[round]);
		sp__budget_credit(budget, w->memory_bytes[round]);
		w->memory_bytes[round] = 0;
	}
	w->memory[round] = sp__pages_alloc(bytes, true);
	if (!w->memory[round])
		return -ENOMEM;
	w->memory_bytes[round] = bytes;
	sp__budget_charge(budget, bytes);
	return 0;
}

/*
 * Aims the request of segment i, and of the next one if it lies before it on the same track; but
 * texts are in memory in the order of their segments.
 */
static uint64_t aim(struct sp__window *w, unsigned round, struct sp__segments *s, size_t i,
		    uint8_t *memory)
{
	struct sp__segment *g = &s->list[i], *next = i + 1 < s->n ? g + 1 : NULL;

	g->request = (struct sp__request){ 0 };
	if (round || !w->file->layout.lanes || !next || next->in_frame ||
	    next->file_cell + next->cells != g->file_cell) {
		g->at = sp__tablefile_aim(w->file, &g->request, &w->owner, g->file_cell, g->cells,
					  memory);
		return g->cells;
	}
	next->shares = true;
	next->at = sp__tablefile_aim(w->file, &g->request, &w->owner, next->file_cell,
				     next->cells + g->cells, memory);
	g->at = next->at + next->cells * w->file->layout.cell_bytes;
	return next->cells + g->cells;
}

/* Reads the bytes of a request from the page cache. */
static void copy(struct sp__window *w, struct sp__request *r)
{
	const ssize_t n = sp__read_whole(r->volume->fd, r->data, r->bytes, r->offset);

	r->result = (int32_t)n;
	w->io.read_requests++;
	w->io.read_bytes += n > 0 ? (uint64_t)n : 0;
}

static int add(struct sp__window *w, struct sp__request *r)
{
	int rc;

	if (w->copies) {
		copy(w, r);
		return 0;
	}
	rc = sp__requests_add(w->requests, r);
	w->outstanding += !rc;
	if (!rc && w->requests->nadded == SP__WINDOW_TOGETHER)
		rc = sp__requests_flush(w->requests);
	return rc;
}

static int submit(struct sp__window *w, unsigned round, struct sp__segments *s, uint8_t **memory)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->n; i++) {
		uint64_t cells;

		if (s->list[i].shares || s->list[i].in_frame)
			continue;
		cells = aim(w, round, s, i, *memory);
		*memory += request_bytes(w->file, cells);
		rc = add(w, &s->list[i].request);
		w->cells_read += cells;
	}
	return rc;
}

/* Submits the requests of a round: the segments of `n` lists. */
static int submit_round(struct sp__window *w, unsigned round, struct sp__segments *lists,
			uint32_t n)
{
	size_t bytes = 0;
	uint8_t *memory;
	int rc;

	for (uint32_t i = 0; i < n; i++)
		bytes += need(w, &lists[i]);
	w->bytes += bytes;
	rc = reserve(w, round, bytes);
	memory = w->memory[round];
	for (uint32_t i = 0; !rc && i < n; i++)
		rc = submit(w, round, &lists[i], &memory);
	return rc || w->copies ? rc : sp__requests_flush(w->requests);
}

/* True if the cells of these lists are in the page cache. */
static bool cached(const struct sp__window *w, const struct sp__segments *lists, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		for (size_t i = 0; i < lists[k].n; i++) {
			const struct sp__segment *g = &lists[k].list[i];
			const struct sp__cell_location at =
				sp__tablefile_locate(w->file, g->file_cell);

			if (!sp__volume_cached(at.volume, at.offset,
					       g->cells * w->file->layout.cell_bytes))
				return false;
		}
	return true;
}

bool sp__window_cached(const struct sp__window *w)
{
	return cached(w, w->values, w->file->layout.nlines);
}

int sp__window_submit(struct sp__window *w)
{
	int rc = 0;

	w->submitted = true;
	if (w->round)
		return submit_round(w, 1, w->text_segments, w->ntexts);
	if (w->file->pool)
		rc = sp__frames_take(w);
	return rc ? rc : submit_round(w, 0, w->values, w->file->layout.nlines);
}

/* Finds the texts of a column in a range, from the ends around it.  False: they contradict. */
static bool find_texts(const struct sp__window *w, uint32_t k, size_t range, size_t *cursor)
{
	const struct sp__window_range *r = &w->ranges[range];
	struct sp__range_text *t = &w->range_texts[range * w->ntexts + k];

	t->before = 0;
	if (sp__window_has_before(&w->file->layout, r->first))
		t->before = sp__window_end_at(w, w->texts[k], r->first - 1, cursor);
	t->end = sp__window_end_at(w, w->texts[k], r->first + r->n - 1, cursor);
	return t->before <= t->end && t->end <= t->bytes;
}

/* Adds the cells with bytes [before, end) of a directory row's texts, except those there. */
static int add_text(struct sp__window *w, uint32_t k, const struct sp__range_text *t)
{
	const uint32_t payload = sp__cell_payload(w->file->layout.cell_bytes);
	struct sp__segments *s = &w->text_segments[k];
	uint64_t from = t->first + t->before / payload, to;

	if (t->before == t->end)
		return 0;
	to = t->first + (t->end - 1) / payload;
	if (s->n && s->list[s->n - 1].file_cell + s->list[s->n - 1].cells == from + 1 &&
	    s->list[s->n - 1].file_cell <= from)
		from++;
	return from > to
		       ? 0
		       : sp__segments_add(s, sp__window_max_cells(w), from, from, to + 1 - from, 0);
}

static int add_texts(struct sp__window *w, struct sp_errinfo *err)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k < w->ntexts; k++) {
		size_t cursor = 0;

		for (size_t i = 0; !rc && i < w->nranges; i++) {
			if (!find_texts(w, k, i, &cursor))
				return sp__errf(err, SP_ECORRUPT, "read", w->file->path, -1,
						"the ends of the texts of column %s from record "
						"%llu on contradict the directory; run check",
						w->file->schema.columns[w->texts[k]].name,
						(unsigned long long)w->ranges[i].first);
			rc = add_text(w, k, &w->range_texts[i * w->ntexts + k]);
		}
	}
	return rc ? sp__err(err, rc, "read", w->file->path, -1) : 0;
}

/* Records the error of the first request that failed or was short. */
static int failed(struct sp__window *w, const struct sp__segments *s, struct sp_errinfo *err)
{
	const uint32_t cell_bytes = w->file->layout.cell_bytes;

	for (size_t i = 0; i < s->n; i++) {
		const struct sp__segment *g = &s->list[i];
		const struct sp__cell_location at = sp__tablefile_locate(w->file, g->file_cell);
		int rc = 0;

		if (!g->in_frame)
			rc = sp__request_result(g->shares ? &g[-1].request : &g->request,
						(const char *)g->at,
						(size_t)(g->cells * cell_bytes));
		if (rc == SP_ECORRUPT)
			return sp__errf(err, rc, "read", at.name, -1,
					"it was truncated: the file ends before cell %llu",
					(unsigned long long)(g->file_cell + g->cells));
		if (rc)
			return sp__err(err, rc, "read", at.name, (long long)at.offset);
	}
	return 0;
}

/* Ends the first round: the places of the texts are known.  Returns 0 or an error. */
static int end_values(struct sp__window *w, struct sp_errinfo *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < w->file->layout.nlines; i++)
		rc = failed(w, &w->values[i], err);
	if (!rc && w->ntexts)
		rc = add_texts(w, err);
	w->round += w->ntexts ? 1 : 2;
	w->submitted = false;
	return rc;
}

static int end_texts(struct sp__window *w, struct sp_errinfo *err)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k < w->ntexts; k++)
		rc = failed(w, &w->text_segments[k], err);
	w->round++;
	return rc;
}

/* Continues with frames of a pool.  Returns SP_READY, SP_LATER, or an error. */
static int frames_ready(struct sp__window *w)
{
	int rc = w->round || !w->npins ? SP_READY : sp__frames_ready(w);

	if (rc == SP_END)
		rc = submit_round(w, 0, w->values, w->file->layout.nlines);
	if (rc < 0)
		return rc;
	return rc == SP_LATER || w->outstanding ? SP_LATER : SP_READY;
}

int sp__window_ready(struct sp__window *w, struct sp_errinfo *err)
{
	while (w->round < 2) {
		int rc = w->submitted ? 0 : sp__window_submit(w);

		if (!rc && w->outstanding)
			return SP_LATER;
		if (!rc)
			rc = frames_ready(w);
		if (rc < 0)
			return sp__err(err, rc, "read", w->file->path, -1);
		if (rc == SP_LATER)
			return rc;
		rc = w->round ? end_texts(w, err) : end_values(w, err);
		if (rc)
			return rc;
	}
	return SP_READY;
}

int sp__window_copy(struct sp__window *w, struct sp_errinfo *err)
{
	int rc;

	w->copies = true;
	do {
		rc = sp__window_submit(w);
		if (rc)
			rc = sp__err(err, rc, "read", w->file->path, -1);
		else
			rc = w->round ? end_texts(w, err) : end_values(w, err);
	} while (!rc && w->round == 1 && cached(w, w->text_segments, w->ntexts));
	w->copies = false;
	return rc ? rc : w->round < 2 ? SP_LATER : SP_READY;
}
