/* SPDX-License-Identifier: MIT */
/*
 * Makes the requests of scans.
 *
 * The A-pages are read in windows; each window has a run of every column group that is needed
 * (layout/layout.h).  If so few records match that single cells are cheaper, only the first part is
 * scanned so; of the rest the columns of the predicate are, and records that match are got by their
 * numbers (read/scan.h).
 *
 * Assumptions: bounds exclude nothing; records that match are at random places.
 */
#include <math.h>
#include "base/minmax.h"
#include "run/memory.h"
#include "table/cost/get.h"
#include "table/cost/ring.h"
#include "table/cost/scan.h"
#include "table/layout/layout.h"
#include "table/read/scan.h"

double sp__cost_switch_share(const struct sp__platform *p, const struct sp__table_layout *l,
			     const bool *groups, const bool *first)
{
	uint32_t records = 0;

	for (uint32_t g = 0; g < l->ngroups; g++)
		if (groups[g] && !first[g])
			records = sp__max(records, l->groups[g].cell_records);
	return records ? sp__share_switch(sp__platform_rho(p, l->cell_bytes), records) : 0;
}

struct scan {
	struct sp__cost_maker *m;
	struct sp__cost_ring ring;
	struct sp__cost_rows rows;
	const bool *columns; /* that are read */
	const bool *groups;
	uint64_t at, to; /* records that are left */
	uint64_t window_bytes;
	double printed_bytes;	    /* of a record, without texts */
	struct sp__cost_draws hits; /* of the records that match */
	uint64_t end;		    /* of the window in which hits are */
};

static bool is_text(const struct scan *s, uint32_t column)
{
	return s->columns[column] && s->m->r.table->schema->columns[column].type.kind == 't';
}

static int fill(void *scan, struct sp__cost_window *w)
{
	struct scan *s = scan;
	const struct sp__cost_table *t = s->m->r.table;
	const uint64_t row = sp__layout_row_records(&t->layout);
	double more = s->printed_bytes;
	uint64_t end;
	int rc = 0;

	if (s->at >= s->to || sp__cost_enough(s->m, s->at, t->records))
		return SP_END;
	for (uint32_t c = 0; !rc && c < t->layout.ncolumns; c++) {
		double mean = 0;

		if (is_text(s, c))
			rc = sp__cost_text_mean(&s->m->r, c, s->at, &mean);
		more += 2 * mean; /* read, and printed */
	}
	end = s->at +
	      sp__layout_window_records(&t->layout, s->groups, s->at, s->window_bytes, more);
	w->at = s->at;
	w->end = s->at = sp__min(end, s->to);
	for (uint64_t i = w->at; !rc && i < w->end; i += row - i % row)
		rc = sp__cost_row(&s->rows, s->m, i);
	if (!rc)
		rc = sp__cost_tombstones(s->m, w->at, w->end);
	if (!rc)
		rc = sp__cost_window(s->m, s->columns, s->groups, w->at, w->end);
	return rc ? rc : SP_READY;
}

/* Issues the texts of a window, those of each column by themselves. */
static int texts(void *scan, const struct sp__cost_window *w)
{
	struct scan *s = scan;
	struct sp__cost_requests *r = &s->m->r;
	int rc = 0;

	for (uint32_t c = 0; !rc && c < r->table->layout.ncolumns; c++) {
		for (uint64_t at = w->at, end; !rc && is_text(s, c) && at < w->end; at = end) {
			end = sp__min(sp__cost_row_end(r->table, at), w->end);
			rc = sp__cost_texts(r, c, at, end);
		}
		if (!rc)
			rc = sp__cost_flush(r);
	}
	return rc;
}

/*
 * columns: that are read, in the column groups; printed_bytes: of a record, without texts; parts:
 * of the memory, of which the scan has one.
 */
static void open_scan(struct scan *s, struct sp__cost_maker *m, const bool *columns,
		      const bool *groups, double printed_bytes, unsigned parts)
{
	const struct sp__cost_table *t = m->r.table;
	const uint32_t ntexts = sp__cost_count_texts(m, columns);
	struct sp_run_opts run = *m->o->platform->run;

	*s = (struct scan){
		.m = m, .columns = columns, .groups = groups, .printed_bytes = printed_bytes
	};
	if (parts > 1)
		run.memory_bytes = sp__working_memory(&run, run.memory_bytes) / parts;
	s->ring = (struct sp__cost_ring){
		.m = m, .fill = fill, .texts = ntexts ? texts : NULL, .arg = s
	};
	s->ring.slots = sp__ring_slots(&run, &t->layout, groups, ntexts, &s->window_bytes);
	if (ntexts || (m->q->where && sp__cost_bounded(m, m->q->where)))
		sp__cost_rows_open(&s->rows, m, SP__RANGES_BYTES);
}

/* Returns the time of testing the predicate on a record. */
static double test_ns(const struct sp__cost_maker *m)
{
	double ns = 0;

	for (uint32_t c = 0; m->q->where && c < m->r.table->layout.ncolumns; c++)
		if (m->q->where[c])
			ns += m->o->platform->drive.facts.value_ns +
			      m->o->platform->drive.facts.compare_ns;
	return ns;
}

/* Scans records [at, to) in one step. */
static int scan_part(struct sp__cost_maker *m, uint64_t at, uint64_t to)
{
	const double each_ns = test_ns(m) + m->q->share * sp__cost_record_ns(m, m->q->where, true);
	const struct sp__cost_window *w;
	struct scan s;
	int rc;

	open_scan(&s, m, m->columns, m->groups,
		  sp__columns_printed_bytes(m->r.table->schema, m->q->columns), 1);
	s.at = at;
	s.to = to;
	while ((rc = sp__cost_ring_next(&s.ring, &w)) == SP_READY)
		sp__timer_compute(&m->r.device, (double)(w->end - w->at) * each_ns);
	return rc < 0 ? rc : 0;
}

/* Supplies the number of the next record that matches. */
static int next_hit(void *scan, uint64_t *record)
{
	struct scan *s = scan;
	const struct sp__cost_window *w;

	for (*record = sp__cost_draw(&s->hits); *record >= s->end; s->end = w->end) {
		int rc = sp__cost_ring_next(&s->ring, &w);

		if (rc != SP_READY)
			return rc;
		sp__timer_compute(&s->m->r.device, (double)(w->end - w->at) * test_ns(s->m));
	}
	return SP_READY;
}

/* Scans records [at, to) in two steps. */
static int scan_scattered(struct sp__cost_maker *m, uint64_t at, uint64_t to)
{
	struct scan s;
	const struct sp__cost_get get = {
		.parts = SP__SCATTERED_STEPS, .exist = true, .next = next_hit, .arg = &s
	};

	open_scan(&s, m, m->q->where, m->first, sizeof(uint64_t), SP__SCATTERED_STEPS);
	s.at = at;
	s.to = to;
	s.hits =
		(struct sp__cost_draws){ .rng = { sp__rng_next(&m->r.rng) },
					 .first = at,
					 .records = to - at,
					 .left = (uint64_t)llround(m->q->share * (double)(to - at)),
					 .last = UINT64_MAX };
	return sp__cost_get(m, &get);
}

/* What the predicate chooses of a part decides how the next one is scanned. */
int sp__cost_scan(struct sp__cost_maker *m, bool *scattered)
{
	const struct sp__table_query *q = m->q;
	const struct sp__table_layout *l = &m->r.table->layout;
	const uint64_t records = m->r.table->records;
	uint64_t at = 0, end;
	double max_share;
	int rc = 0;

	for (uint32_t i = 0; i < l->ncolumns; i++)
		m->columns[i] = q->columns[i] || (q->where && q->where[i]);
	(void)sp__layout_groups(l, m->columns, m->groups);
	(void)sp__layout_groups(l, q->columns, m->output);
	if (q->where)
		(void)sp__layout_groups(l, q->where, m->first);
	sp__timer_depth(&m->r.device, SP__TIMER_DEPTH);
	m->begun = m->r.device.requests;
	max_share = q->where ? sp__cost_switch_share(m->o->platform, l, m->output, m->first) : 0;
	*scattered = q->share < max_share;
	for (unsigned n = 0; !rc && !m->stopped && at < records; at = end) {
		end = max_share > 0 ? sp__min(sp__tablescan_part(l, at, n), records) : records;
		rc = n++ && *scattered ? scan_scattered(m, at, end) : scan_part(m, at, end);
	}
	return rc;
}
