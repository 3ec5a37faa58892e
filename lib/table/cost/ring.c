/* SPDX-License-Identifier: MIT */
/*
 * Follows windows that are read ahead (ring.h).
 *
 * A directory row or a tombstone is read by itself, and waited for, before the cells of the window
 * that needs it are asked for.
 */
#include "base/minmax.h"
#include "table/cost/ring.h"
#include "table/file/directory.h"

static unsigned number(const struct sp__cost_ring *r, uint64_t i)
{
	return (unsigned)(r->number + i % r->slots);
}

/* Issues requests of window i by fn(). */
static int issue(struct sp__cost_ring *r, uint64_t i,
		 int (*fn)(struct sp__cost_ring *r, struct sp__cost_window *w))
{
	struct sp__cost_requests *q = &r->m->r;
	int rc, flushed;

	sp__timer_window(&q->device, number(r, i), SP__WINDOW_TOGETHER);
	q->align = true;
	rc = fn(r, &r->windows[i % r->slots]);
	flushed = rc < 0 ? rc : sp__cost_flush(q);
	if (!flushed)
		flushed = sp__timer_submit(&q->device);
	q->align = false;
	return flushed ? flushed : rc;
}

static int fill(struct sp__cost_ring *r, struct sp__cost_window *w)
{
	w->complete = !r->texts;
	return r->fill(r->arg, w);
}

static int fill_texts(struct sp__cost_ring *r, struct sp__cost_window *w)
{
	w->complete = true;
	return r->texts(r->arg, w);
}

static int fill_all(struct sp__cost_ring *r)
{
	int rc = SP_READY;

	r->ahead = sp__max(r->ahead, 1);
	while (rc == SP_READY && r->made - r->done < r->ahead) {
		rc = issue(r, r->made, fill);
		r->made += rc == SP_READY;
	}
	return rc < 0 ? rc : 0;
}

static bool is_done(const struct sp__cost_ring *r, uint64_t i)
{
	return sp__timer_is_done(&r->m->r.device, number(r, i));
}

/* Asks for the texts of windows whose values have arrived. */
static int ask_texts(struct sp__cost_ring *r)
{
	int rc = 0;

	for (uint64_t i = r->done; !rc && i < r->made; i++)
		if (!r->windows[i % r->slots].complete && is_done(r, i))
			rc = issue(r, i, fill_texts);
	return rc;
}

int sp__cost_ring_next(struct sp__cost_ring *r, const struct sp__cost_window **w)
{
	struct sp__timer *d = &r->m->r.device;
	int rc = fill_all(r);

	if (rc || r->made == r->done)
		return rc ? rc : SP_END;
	*w = &r->windows[r->done % r->slots];
	for (rc = ask_texts(r); !rc && !is_done(r, r->done);) {
		rc = sp__timer_wait_some(d, number(r, r->done));
		if (!rc)
			rc = ask_texts(r);
	}
	r->done++;
	r->ahead = sp__min(2 * r->ahead, r->slots);
	return rc ? rc : SP_READY;
}

static uint64_t row_bytes(const struct sp__cost_maker *m)
{
	return (uint64_t)sp__directory_entries(m->r.table->schema) * SP__ENTRY_BYTES;
}

void sp__cost_rows_open(struct sp__cost_rows *rows, const struct sp__cost_maker *m, uint64_t bytes)
{
	const uint64_t row = row_bytes(m);

	*rows = (struct sp__cost_rows){ .max = row ? sp__max(bytes / row, 1) : 0 };
}

int sp__cost_row(struct sp__cost_rows *rows, struct sp__cost_maker *m, uint64_t record)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	const uint64_t row = record / sp__layout_row_records(l);
	const uint64_t bytes = row_bytes(m);

	if (!rows->max || (row >= rows->first && row < rows->first + rows->n))
		return 0;
	rows->first = row;
	rows->n = sp__min(sp__layout_rows(l, m->r.table->records) - row, rows->max);
	return sp__cost_now(&m->r, SP__AREA_DIRECTORY, sp__directory_usable(l->cell_bytes),
			    row * bytes, rows->n * bytes);
}

int sp__cost_tombstones(struct sp__cost_maker *m, uint64_t at, uint64_t end)
{
	const struct sp__cost_table *t = m->r.table;
	const uint32_t payload = sp__cell_payload(t->layout.cell_bytes);
	const uint64_t written = t->tombstones * payload;

	if (at / 8 >= written)
		return 0;
	return sp__cost_now(&m->r, SP__AREA_TOMBSTONES, payload, at / 8,
			    sp__min((end + 7) / 8, written) - at / 8);
}
