/* SPDX-License-Identifier: MIT */
/* Makes the transactions of a client, and lets its steps use the frames of a pool. */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/clients/client.h"
#include "table/file/directory.h"
#include "table/layout/layout.h"
#include "table/read/choice.h"

/*
 * Begin and end a step in the pool of its table, if there is one; change: of whole
 * A-pages, else windows that are open.  Returns 0 or -ENOMEM.
 */
static int begin_pooled(struct sp__client *c, struct sp__client_table *t, bool change)
{
	struct sp__clotho_user *u = &t->pool.user;
	const bool few = c->line->steps[c->step].kind != SP__STEP_SCAN;

	if (!t->file.pool || (!change && !c->nwindows))
		return 0;
	for (unsigned i = 0; i < c->nwindows; i++) {
		c->windows[i].max_frames =
			sp__max(sp__clotho_share(u) / c->all->nclients / c->nwindows, 1);
		c->windows[i].few = few;
		c->windows[i].passes =
			!few && sp__clotho_exceeds(u, &c->windows[0].set, c->ranges.end);
	}
	/* Gets have no part in the column groups of frames. */
	if (few && !change)
		return 0;
	c->set = change ? sp__clotho_all(&t->file.layout) : c->windows[0].set;
	c->begun = !sp__clotho_begin(u, &c->set);
	return c->begun ? 0 : -ENOMEM;
}

static void end_pooled(struct sp__client *c, struct sp__client_table *t)
{
	if (c->pin.frame)
		sp__clotho_unpin(&c->pin);
	if (c->begun)
		sp__clotho_end(&t->pool.user, &c->set);
	c->begun = false;
}

/* Pins the A-page of a record to change it.  Returns SP_READY, SP_LATER, or an error, recorded. */
static int pin(struct sp__client *c, struct sp__client_table *t, uint64_t record)
{
	int rc = sp__clotho_pin_write(&t->pool.user, record / t->file.layout.page_records, &c->pin);

	if (rc < 0)
		return sp__err(c->all->err, rc, "read", t->file.path, -1);
	if (rc == SP_READY)
		return rc;
	/* SP_END: all frames are pinned, by clients that read. */
	rc = sp__requests_flush(&c->all->requests);
	return rc ? rc : SP_LATER;
}

/* Lets the changed cells of column group g of an A-page leave. */
static void leave_page(struct sp__clients *all, const struct sp__client_table *t, uint64_t page,
		       uint32_t g)
{
	const struct sp__table_layout *l = &t->file.layout;
	const uint64_t cell = sp__layout_cell(l, page, g, 0);

	for (uint32_t j = 0; j < l->groups[g].cells; j++)
		sp__changed_leave(&all->changed, t->number,
				  sp__map_cell(&t->file.map, SP__AREA_DATA, cell + j));
}

void sp__clients_leave(void *all, const struct sp__clotho_frame *f)
{
	struct sp__clients *a = all;
	const struct sp__client_table *t = a->tables;

	while (t->pool.user.table != f->table)
		if (++t == a->tables + a->ntables)
			return;
	for (uint64_t i = 0; i < f->pages; i++)
		for (uint32_t g = 0; f->entries[i].frame && g < t->file.layout.ngroups; g++)
			if (sp__groupset_has(&f->set, g))
				leave_page(a, t, f->first + i, g);
}

#define NODE_ALIGNMENT 4096
#define WINDOW_RECORDS 256 /* records of a window of a get */

static const struct sp__client_step *step_of(const struct sp__client *c)
{
	return &c->line->steps[c->step];
}

static struct sp__client_table *table_of(const struct sp__client *c)
{
	return &c->all->tables[step_of(c)->table];
}

static int no_memory(const struct sp__client *c)
{
	return sp__err(c->all->err, -ENOMEM, "run", NULL, -1);
}

static void completed(struct sp__io_owner *owner, struct sp__request *r)
{
	struct sp__client *c = (struct sp__client *)owner;

	c->outstanding--;
	if (r->result < 0)
		c->error = r->result;
}

void sp__client_open(struct sp__client *c, struct sp__clients *all,
		     const struct sp__client_kind *kind, uint64_t seed)
{
	*c = (struct sp__client){
		.owner = { completed }, .all = all, .kind = kind, .rng = { sp__mix64(seed) }
	};
}

static void close_windows(struct sp__client *c)
{
	if (c->line && c->step < c->line->n)
		end_pooled(c, table_of(c));
	for (unsigned i = 0; i < c->nwindows; i++)
		if (c->windows[i].file)
			sp__window_close(&c->windows[i]);
	c->nwindows = c->head = c->used = 0;
}

void sp__client_close(struct sp__client *c)
{
	close_windows(c);
	free(c->rows);
	free(c->node);
	free(c->requests);
	*c = (struct sp__client){ 0 };
}

/* Draws a transaction by its weight. */
static void begin(struct sp__client *c)
{
	const struct sp__client_kind *k = c->kind;
	double at = sp__rng_real(&c->rng) * k->weights;
	size_t i = 0;

	while (i + 1 < k->n && at >= k->lines[i].weight)
		at -= k->lines[i++].weight;
	c->line = &k->lines[i];
	c->step = 0;
	c->begin_ns = sp__env_now_ns(&c->all->tables[0].file.env);
}

/* True if the step changes A-pages in frames of a pool. */
static bool changes_pages(const struct sp__client *c)
{
	return step_of(c)->kind == SP__STEP_UPDATE && !c->all->journal && table_of(c)->file.pool;
}

/* Opens the windows of a step, if it reads cells in windows. */
static int open_windows(struct sp__client *c, const struct sp__client_step *s)
{
	struct sp__tablefile *f = &table_of(c)->file;
	const bool scan = s->kind == SP__STEP_SCAN, pages = changes_pages(c);
	unsigned n = 0;

	if (scan || s->kind == SP__STEP_GET ||
	    (s->kind == SP__STEP_UPDATE && !c->all->journal && !pages))
		n = scan || c->nrows > WINDOW_RECORDS ? SP__CLIENT_AHEAD : 1;
	for (c->filled = !n; c->nwindows < n; c->nwindows++)
		if (sp__window_open(&c->windows[c->nwindows], f, &c->all->requests, s->columns)) {
			c->nwindows++;
			return no_memory(c);
		}
	c->ranges = (struct sp__scan_ranges){ .file = f,
					      .window_bytes = c->all->window_bytes,
					      .end = f->superblock.records };
	return begin_pooled(c, table_of(c), pages) ? no_memory(c) : 0;
}

static int begin_step(struct sp__client *c)
{
	const struct sp__client_step *s = step_of(c);
	const uint64_t records = table_of(c)->file.superblock.records;

	c->state = SP__CLIENT_INDEX;
	c->index_left = s->index_reads;
	c->at = 0;
	if (s->kind != SP__STEP_SCAN && s->kind != SP__STEP_INSERT &&
	    s->rows.kind != SP__ROWS_SAME) {
		if (!SP__ARRAY_GROW(c->rows, c->rows_capacity, s->records))
			return no_memory(c);
		c->nrows = sp__client_rows_draw(s, records, &c->rng, c->rows);
	}
	return open_windows(c, s);
}

/* Waits for the requests of the client itself. */
static int wait_own(struct sp__client *c)
{
	if (c->outstanding)
		return SP_LATER;
	return c->error ? sp__err(c->all->err, c->error, "run", table_of(c)->file.path, -1) : 0;
}

/* Returns the number of cells of the data area. */
static uint64_t data_cells(const struct sp__tablefile *f)
{
	if (!f->map.lanemap)
		return sp__map_cells(&f->map, SP__AREA_DATA);
	return sp__layout_pages(&f->layout, f->superblock.records) * f->map.lanemap->lanes;
}

/* Returns where cell n of the data area is in the file. */
static uint64_t data_cell(const struct sp__tablefile *f, uint64_t n)
{
	/* Numbers of a lane do not continue those of the lane before. */
	if (f->map.lanemap)
		n = n % f->map.lanemap->lanes * SP__LANE_PAGES + n / f->map.lanemap->lanes;
	return sp__map_cell(&f->map, SP__AREA_DATA, n);
}

/* Reads a random cell of the table, as a node of an index. */
static int read_node(struct sp__client *c)
{
	struct sp__tablefile *f = &table_of(c)->file;
	const uint64_t cells = data_cells(f);
	const size_t bytes = sp__request_capacity(f->cells.first.volume, f->layout.cell_bytes);
	int rc;

	c->index_left--;
	if (!cells)
		return 0;
	if (bytes > c->node_bytes) {
		free(c->node);
		c->node_bytes = (bytes + NODE_ALIGNMENT - 1) / NODE_ALIGNMENT * NODE_ALIGNMENT;
		c->node = aligned_alloc(NODE_ALIGNMENT, c->node_bytes);
	}
	if (!c->node || !SP__ARRAY_GROW(c->requests, c->requests_capacity, 1))
		return no_memory(c);
	(void)sp__tablefile_aim(f, &c->requests[0], &c->owner,
				data_cell(f, sp__rng_below(&c->rng, cells)), 1, c->node);
	rc = sp__requests_add(&c->all->requests, &c->requests[0]);
	c->outstanding += !rc;
	return rc ? rc : sp__requests_flush(&c->all->requests);
}

/* Adds the next records of the step to a window.  Returns SP_READY, SP_END, or an error. */
static int fill(struct sp__client *c, struct sp__window *w)
{
	size_t end = sp__min(c->nrows, c->at + WINDOW_RECORDS);

	sp__window_begin(w);
	if (step_of(c)->kind == SP__STEP_SCAN)
		return sp__ranges_next(&c->ranges, w, c->all->err);
	if (c->at == c->nrows)
		return SP_END;
	for (; c->at < end; c->at++)
		if (sp__window_add(w, c->rows[c->at], 1, NULL))
			return no_memory(c);
	return SP_READY;
}

/* Begins to read the next window. */
static int submit(struct sp__client *c)
{
	struct sp__window *w = &c->windows[(c->head + c->used) % c->nwindows];
	int rc = fill(c, w);

	if (rc != SP_READY) {
		c->filled = true;
		return rc < 0 ? rc : 0;
	}
	c->used++;
	table_of(c)->reading++;
	rc = sp__window_submit(w);
	return rc ? sp__err(c->all->err, rc, "read", w->file->path, -1) : 0;
}

/* Charges the values of the records of a window, and checks its cells. */
static int use(struct sp__client *c, struct sp__window *w)
{
	uint64_t records = 0;
	uint32_t columns = 0;

	for (size_t i = 0; i < w->nranges; i++)
		records += w->ranges[i].n;
	for (uint32_t i = 0; i < w->file->schema.n; i++)
		columns += step_of(c)->columns[i];
	sp__charge_values(&w->file->env, records * columns, 0);
	sp__charge_work(&w->file->env, records, 0, 0);
	sp__columnjoin_charge(w->file, records, columns - 1);
	c->all->stats.records_read += records;
	c->all->stats.cells_read += w->cells_read;
	return sp__window_check(w, c->all->err);
}

/*
 * Takes the cells of a step.  Returns 0 when it has them all, SP_LATER, or an error.  A step whose
 * cells are in frames need not wait, so other clients continue when all of its windows were used.
 */
static int take_cells(struct sp__client *c)
{
	struct sp__client_table *t = table_of(c);
	int rc = 0;

	for (;;) {
		struct sp__window *w = &c->windows[c->head];
		bool in_frames;

		while (!rc && !c->filled && c->used < c->nwindows && !t->changers)
			rc = submit(c);
		if (rc || !c->used)
			return rc ? rc : c->filled ? 0 : SP_LATER;
		rc = sp__window_ready(w, c->all->err);
		if (rc != SP_READY)
			return rc;
		in_frames = w->npins;
		rc = use(c, w);
		c->head = (c->head + 1) % c->nwindows;
		c->used--;
		t->reading--;
		c->all->progress |= t->changers;
		if (!rc && in_frames && !c->head && c->used) {
			c->all->progress = true;
			return SP_LATER;
		}
	}
}

/* Makes a change through the journal, when the table is not being read. */
static int change_alone(struct sp__client *c)
{
	struct sp__client_table *t = table_of(c);

	t->changers += !c->waits;
	c->waits = true;
	if (t->reading)
		return SP_LATER;
	t->changers--;
	c->waits = false;
	c->all->progress = true;
	return sp__client_change(c, step_of(c));
}

static int mark(struct sp__client *c, enum sp__table_area area, uint64_t cell)
{
	struct sp__client_table *t = table_of(c);

	return sp__changed_put(&c->all->changed, t->number, sp__map_cell(&t->file.map, area, cell),
			       t->file.layout.cell_bytes);
}

/* Marks the cells of a record in the column groups of the step, or in all of them. */
static int mark_record(struct sp__client *c, uint64_t record, const bool *columns)
{
	const struct sp__table_layout *l = &table_of(c)->file.layout;
	int rc = 0;

	for (uint32_t f = 0; !rc && f < l->ngroups; f++) {
		bool has = !columns;

		for (uint32_t i = 0; !has && i < l->groups[f].ncolumns; i++)
			has = columns[l->groups[f].columns[i]];
		if (has)
			rc = mark(c, SP__AREA_DATA, sp__layout_record_cell(l, f, record));
	}
	return rc;
}

/* Appends a record in memory: the last cells of a table are there. */
static int insert(struct sp__client *c)
{
	struct sp__tablefile *f = &table_of(c)->file;
	const uint64_t record = f->superblock.records;
	int rc = sp__tablefile_reserve_page(f, record / f->layout.page_records, c->all->err);

	if (rc)
		return rc;
	f->superblock.records++;
	return mark_record(c, record, NULL) ? no_memory(c) : 0;
}

static int remove_record(struct sp__client *c, uint64_t record)
{
	struct sp__tablefile *f = &table_of(c)->file;
	const uint64_t cell = record / 8 / f->tombstones.usable;
	int rc = sp__areastream_reserve(f, &f->tombstones, cell + 1, c->all->err);

	return rc ? rc : mark(c, SP__AREA_TOMBSTONES, cell) ? no_memory(c) : 0;
}

/*
 * Changes the A-pages of the records in frames of the pool, one after the other.  Others that have
 * pinned a frame see the change: it takes no time.
 */
static int change_pages(struct sp__client *c)
{
	struct sp__client_table *t = table_of(c);

	for (; c->at < c->nrows; c->at++) {
		int rc = pin(c, t, c->rows[c->at]);

		if (rc != SP_READY)
			return rc;
		if (mark_record(c, c->rows[c->at], step_of(c)->columns))
			return no_memory(c);
		sp__clotho_unpin(&c->pin);
	}
	return 0;
}

/* Makes a change in memory. */
static int change_in_memory(struct sp__client *c)
{
	const struct sp__client_step *s = step_of(c);
	int rc = 0;

	for (uint64_t i = 0; !rc && s->kind == SP__STEP_INSERT && i < s->records; i++)
		rc = insert(c);
	for (size_t i = 0; !rc && s->kind == SP__STEP_UPDATE && i < c->nrows && !changes_pages(c);
	     i++)
		rc = mark_record(c, c->rows[i], s->columns) ? no_memory(c) : 0;
	for (size_t i = 0; !rc && s->kind == SP__STEP_DELETE && i < c->nrows; i++)
		rc = remove_record(c, c->rows[i]);
	sp__charge_work(&table_of(c)->file.env, s->records, 0, 0);
	c->all->stats.records_written += s->records;
	return rc;
}

/* Writes the cells that leave memory. */
static int write_leaving(struct sp__client *c)
{
	struct sp__changed_cell *e;
	size_t n = 0;
	int rc = 0;

	/* An array that grows must not move while the queue has requests. */
	while (!rc && (e = sp__changed_take(&c->all->changed))) {
		struct sp__tablefile *f = &c->all->tables[e->table].file;

		if (SP__ARRAY_GROW(c->requests, c->requests_capacity, n + 1)) {
			(void)sp__tablefile_aim(f, &c->requests[n], &c->owner, e->cell, 1, NULL);
			c->requests[n++].op = SP__OP_WRITE;
		} else {
			rc = no_memory(c);
		}
		free(e);
	}
	for (size_t i = 0; !rc && i < n; i++) {
		rc = sp__requests_add(&c->all->requests, &c->requests[i]);
		c->outstanding += !rc;
	}
	c->all->stats.cells_written += n;
	return rc ? rc : sp__requests_flush(&c->all->requests);
}

static int change(struct sp__client *c)
{
	const bool changes = step_of(c)->kind > SP__STEP_GET;
	int rc = 0;

	if (c->all->journal)
		return changes ? change_alone(c) : 0;
	if (changes)
		rc = change_in_memory(c);
	return rc ? rc : write_leaving(c);
}

/* Ends a step.  Returns SP_READY after the last one. */
static int end_step(struct sp__client *c)
{
	close_windows(c);
	c->step++;
	if (c->step < c->line->n)
		return begin_step(c);
	return SP_READY;
}

/* Makes progress within a step.  Returns 0, SP_READY, SP_LATER, or an error. */
static int advance(struct sp__client *c)
{
	int rc = wait_own(c);

	if (rc)
		return rc;
	switch (c->state) {
	case SP__CLIENT_INDEX:
		if (c->index_left)
			return read_node(c);
		c->state = SP__CLIENT_CELLS;
		return 0;
	case SP__CLIENT_CELLS:
		rc = changes_pages(c) ? change_pages(c) : take_cells(c);
		c->state = rc ? SP__CLIENT_CELLS : SP__CLIENT_CHANGE;
		return rc;
	case SP__CLIENT_CHANGE:
		rc = change(c);
		c->state = rc ? SP__CLIENT_CHANGE : SP__CLIENT_WRITE;
		return rc;
	default:
		return end_step(c);
	}
}

int sp__client_run(struct sp__client *c)
{
	int rc = 0;

	if (!c->line) {
		begin(c);
		rc = begin_step(c);
	}
	while (!rc)
		rc = advance(c);
	return rc;
}
