/* SPDX-License-Identifier: MIT */
/*
 * Makes the requests of queries.
 *
 * Scan.  The A-pages are read in windows; each window has a run of every column group that is
 * needed (layout/runs.h).  If so few records match that single cells are cheaper, only the first
 * part is scanned so; then the columns of the predicate are read so, and of the output the cells
 * that have a match.
 * Get.  Records are taken in batches (read/get.h) and sorted; each batch is read in windows, some
 * of which are in memory; each distinct cell of a window is read once, and then the cells of texts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/memory.h"
#include "table/cost/maker.h"
#include "table/layout/shares.h"
#include "table/read/access.h"
#include "table/read/get.h"
#include "table/read/ring.h"

#define REPEATED 256	      /* records of a get, repetitions included, */
#define REPEATED_UPDATES 2048 /* and of an update */

int sp__cost_window(struct sp__cost_maker *m, const bool *groups, uint64_t at, uint64_t end)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	int rc = 0;

	for (uint32_t f = 0; !rc && f < l->ngroups; f++) {
		uint64_t first, last;

		if (!groups[f])
			continue;
		first = sp__layout_record_cell(l, f, at);
		last = sp__layout_record_cell(l, f, end - 1);
		rc = sp__cost_flush(&m->r);
		if (!rc)
			rc = sp__cost_cells(&m->r, false, SP__AREA_DATA, first, last - first + 1);
	}
	return rc ? rc : sp__cost_flush(&m->r);
}

bool sp__cost_enough(struct sp__cost_maker *m, uint64_t at, uint64_t end)
{
	if (!at || m->r.device.requests - m->begun < m->requests_max)
		return false;
	m->scale = (double)end / (double)at;
	return true;
}

/*
 * Issues the texts of records [at, end): an even share of the text area, which each column reads by
 * itself.
 */
static int issue_texts(struct sp__cost_maker *m, uint64_t at, uint64_t end)
{
	const struct sp__cost_table *t = m->r.table;
	double all = (double)sp__map_cells(&t->map, SP__AREA_TEXT), total = 0;
	double from = all * ((double)at / (double)t->records);
	double share = all * ((double)(end - at) / (double)t->records);
	int rc = 0;

	for (uint32_t i = 0; i < t->layout.ncolumns; i++)
		total += t->text_bytes[i];
	for (uint32_t i = 0; !rc && i < t->layout.ncolumns; i++) {
		double cells = share * t->text_bytes[i] / total;

		if (m->q->columns[i] && t->text_bytes[i] > 0) {
			rc = sp__cost_flush(&m->r);
			if (!rc)
				rc = sp__cost_cells(&m->r, false, SP__AREA_TEXT, (uint64_t)from,
						    (uint64_t)ceil(fmin(cells, all - from)));
		}
		from += cells;
	}
	return rc;
}

static uint32_t count_texts(const struct sp__cost_maker *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->r.table->layout.ncolumns; i++)
		n += m->q->columns[i] && m->r.table->text_bytes[i] > 0;
	return n;
}

/* Plans gets of the columns of the output. */
static void plan_get(const struct sp__cost_maker *m, const bool *groups, unsigned parts,
		     struct sp__tableget_plan *plan)
{
	const struct sp__cost_platform *p = m->o->platform;

	sp__tableget_plan(plan, p->run, parts, &m->r.table->layout, groups, count_texts(m),
			  sp__table_printed_bytes(m->r.table->schema, m->q->columns),
			  sp__cost_gap_bytes(p));
}

/* Issues the cells of the output that matching records of A-pages [page, end) are in. */
static int issue_matches(struct sp__cost_maker *m, uint64_t page, uint64_t end)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	struct sp__tableget_plan plan;
	int rc = 0;

	plan_get(m, m->output, SP__SCATTERED_STEPS, &plan);
	for (uint32_t f = 0; !rc && f < l->ngroups; f++) {
		if (!m->output[f])
			continue;
		rc = sp__cost_flush(&m->r);
		if (!rc)
			rc = sp__cost_touched(
				&m->r, false,
				sp__layout_run(l, f, m->r.table->records, page, end - page),
				sp__cells_touched(m->q->share, l->groups[f].cell_records),
				plan.gap_cells);
	}
	return rc;
}

/* A window of a scan whose requests were issued. */
struct issued {
	unsigned number; /* of the device */
	uint64_t records;
};

/* Returns the time to compute the predicate of a record; *others: columns that it does not need. */
static double predicate_ns(const struct sp__cost_maker *m, uint32_t *others)
{
	const struct sp__cost_platform *p = m->o->platform;
	const struct sp__table_query *q = m->q;
	uint32_t n = 0;

	*others = 0;
	for (uint32_t i = 0; i < m->r.table->layout.ncolumns; i++) {
		bool tested = q->kind == SP__QUERY_SCAN && q->where && q->where[i];

		n += tested;
		*others += q->columns[i] && !tested;
	}
	return n * (p->value_ns + p->compare_ns);
}

/* Waits for the oldest window, evaluates the predicate, and prints the chosen records. */
static int finish_window(struct sp__cost_maker *m, const struct issued *w)
{
	const struct sp__cost_platform *p = m->o->platform;
	const double share = m->q->kind == SP__QUERY_SCAN ? m->q->share : 1;
	double bytes = 0, each_ns, predicate;
	uint32_t others;
	int rc;

	for (uint32_t i = 0; i < m->r.table->layout.ncolumns; i++)
		if (m->q->columns[i])
			bytes += sp__cost_printed_bytes(m->r.table, i);
	predicate = predicate_ns(m, &others);
	each_ns = others * p->value_ns + p->record_ns + bytes * p->copy_ns;
	rc = sp__cost_device_wait_window(&m->r.device, w->number);
	sp__cost_device_compute(&m->r.device, (double)w->records * (predicate + share * each_ns));
	return rc;
}

/* Issues the requests of records [at, end). */
static int begin_window(struct sp__cost_maker *m, uint64_t at, uint64_t end, bool scattered)
{
	const uint32_t page_records = m->r.table->layout.page_records;
	int rc = sp__cost_window(m, scattered ? m->first : m->groups, at, end);

	if (!rc && scattered)
		rc = issue_matches(m, at / page_records, (end - 1) / page_records + 1);
	if (!rc && m->r.table->text && !scattered)
		rc = issue_texts(m, at, end);
	return rc ? rc : sp__cost_flush(&m->r);
}

/* Returns the memory of a record besides cells: its output, and texts, read and printed. */
static double window_more(const struct sp__cost_maker *m)
{
	const struct sp__cost_table *t = m->r.table;
	double bytes = sp__table_printed_bytes(t->schema, m->q->columns);

	for (uint32_t i = 0; i < t->layout.ncolumns; i++)
		bytes += m->q->columns[i] ? 2 * t->text_bytes[i] : 0;
	return bytes;
}

/*
 * Scans records [at, to) in one step or in two.  The ring has a number of windows in memory; the
 * oldest makes place for the next.
 */
static int scan(struct sp__cost_maker *m, uint64_t at, uint64_t to, bool scattered)
{
	const bool *groups = scattered ? m->first : m->groups;
	struct sp_run_opts run = *m->o->platform->run;
	struct issued ring[SP__RING_SLOTS];
	uint64_t bytes, end, n = 0, done = 0;
	double more = scattered ? sizeof(uint64_t) : window_more(m);
	unsigned slots;
	int rc = 0;

	if (scattered)
		run.memory_bytes = sp__working_memory(&run, run.memory_bytes) / SP__SCATTERED_STEPS;
	slots = sp__ring_slots(&run, &m->r.table->layout, groups, scattered ? 0 : count_texts(m),
			       &bytes);
	sp__cost_device_depth(&m->r.device, SP__COST_DEPTH);
	for (; !rc && at < to && !sp__cost_enough(m, at, to); at = end) {
		end = sp__layout_window_records(&m->r.table->layout, groups, at, bytes, more);
		end = sp__min(at + end, to);
		if (n - done == slots)
			rc = finish_window(m, &ring[done++ % slots]);
		ring[n++ % slots] =
			(struct issued){ sp__cost_device_window(&m->r.device, 1), end - at };
		if (!rc)
			rc = begin_window(m, at, end, scattered);
	}
	while (!rc && done < n)
		rc = finish_window(m, &ring[done++ % slots]);
	return rc ? rc : sp__cost_wait(&m->r);
}

/* What the predicate chooses of the first part decides how the rest is scanned. */
static int make_scan(struct sp__cost_maker *m, struct sp__table_cost *cost)
{
	const struct sp__table_query *q = m->q;
	const struct sp__table_layout *l = &m->r.table->layout;
	const uint64_t records = m->r.table->records;
	uint64_t part;
	int rc;

	(void)sp__layout_groups(l, q->columns, m->output);
	memcpy(m->groups, m->output, l->ngroups * sizeof(*m->groups));
	if (q->where)
		(void)sp__layout_groups(l, q->where, m->first);
	for (uint32_t f = 0; f < l->ngroups; f++)
		m->groups[f] |= m->first[f];
	m->begun = m->r.device.requests;
	cost->scattered = q->where &&
			  q->share < sp__cost_switch_share(m->o->platform, l, m->output, m->first);
	if (!cost->scattered)
		return scan(m, 0, records, false);
	part = sp__min(sp__tablescan_part(l, 0, 0), records);
	rc = scan(m, 0, part, false);
	return rc ? rc : scan(m, part, records, true);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Issues the distinct cells of records, and short gaps between them, column group by column group.
 */
static int issue_records(struct sp__cost_maker *m, const uint64_t *numbers, uint64_t n,
			 uint64_t gap_cells)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	int rc = 0;

	for (uint32_t f = 0; !rc && f < l->ngroups; f++) {
		uint64_t last = UINT64_MAX;

		for (uint64_t i = 0; !rc && m->groups[f] && i < n; i++) {
			uint64_t cell = sp__layout_record_cell(l, f, numbers[i]);

			if (cell != last)
				rc = sp__cost_cell(&m->r, false, cell, gap_cells);
			last = cell;
		}
		if (!rc)
			rc = sp__cost_flush(&m->r);
	}
	return rc;
}

/* Reads a cell of text of each text column of a batch, when the ends have been read. */
static int read_batch_texts(struct sp__cost_maker *m, uint64_t records, unsigned window)
{
	uint64_t cells = sp__map_cells(&m->r.table->map, SP__AREA_TEXT);
	int rc = cells ? sp__cost_device_wait_window(&m->r.device, window) : 0;

	for (uint64_t i = 0; cells && !rc && i < records; i++)
		for (uint32_t c = 0; !rc && c < m->r.table->layout.ncolumns; c++)
			if (m->q->columns[c] && m->r.table->text_bytes[c] > 0)
				rc = sp__cost_cells(&m->r, false, SP__AREA_TEXT,
						    sp__rng_below(&m->r.rng, cells), 1);
	return rc ? rc : sp__cost_flush(&m->r);
}

/* Returns how many of the first of n records, in ascending order, are read together. */
static uint64_t count_together(struct sp__layout_gather *g, const struct sp__tableget_plan *plan,
			       const uint64_t *numbers, uint64_t n)
{
	uint64_t i = 0;

	for (sp__layout_gather_begin(g); i < n; i++) {
		if (i && numbers[i] == numbers[i - 1])
			continue;
		if (i && sp__tableget_full(plan, g, i))
			break;
		sp__layout_gather_add(g, numbers[i]);
	}
	return i;
}

/*
 * Reads n random records as one batch.  Stops if enough requests have been made; notes the scale.
 */
static int get_batch(struct sp__cost_maker *m, const struct sp__tableget_plan *plan,
		     struct sp__layout_gather *g, uint64_t n, uint64_t read)
{
	struct issued ring[SP__RING_SLOTS];
	uint64_t made = 0, done = 0, together;
	int rc = 0;

	for (uint64_t i = 0; i < n; i++)
		m->numbers[i] = sp__rng_below(&m->r.rng, m->r.table->records);
	qsort(m->numbers, n, sizeof(*m->numbers), compare_numbers);
	for (uint64_t i = 0; !rc && i < n; i += together) {
		unsigned window = sp__cost_device_window(&m->r.device, SP__WINDOW_TOGETHER);

		if (sp__cost_enough(m, read + i, m->q->records))
			break;
		together = count_together(g, plan, m->numbers + i, n - i);
		if (made - done == plan->slots)
			rc = finish_window(m, &ring[done++ % plan->slots]);
		ring[made++ % plan->slots] = (struct issued){ window, together };
		if (!rc)
			rc = issue_records(m, m->numbers + i, together, plan->gap_cells);
		if (!rc)
			rc = sp__cost_device_submit(&m->r.device);
		if (!rc)
			rc = read_batch_texts(m, together, window);
	}
	while (!rc && done < made)
		rc = finish_window(m, &ring[done++ % plan->slots]);
	return rc;
}

static int make_get(struct sp__cost_maker *m)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	struct sp__tableget_plan plan;
	struct sp__layout_gather gather;
	uint32_t batch;
	int rc;

	(void)sp__layout_groups(l, m->q->columns, m->groups);
	plan_get(m, m->groups, 1, &plan);
	batch = sp__tableget_next(&plan, 0);
	rc = sp__layout_gather_open(&gather, l, m->groups, plan.gap_cells);
	if (!m->numbers)
		m->numbers = calloc(sp__min(plan.batch, m->q->records), sizeof(*m->numbers));
	if (!m->numbers)
		rc = -ENOMEM;
	m->begun = m->r.device.requests;
	m->scale = 1;
	sp__cost_device_depth(&m->r.device, SP__COST_DEPTH);
	for (uint64_t n = 0; !rc && n < m->q->records && !sp__cost_enough(m, n, m->q->records);
	     n += batch, batch = sp__tableget_next(&plan, batch))
		rc = get_batch(m, &plan, &gather, sp__min(batch, m->q->records - n), n);
	sp__layout_gather_close(&gather);
	return rc;
}

static int make_once(struct sp__cost_maker *m, struct sp__table_cost *cost)
{
	switch (m->q->kind) {
	case SP__QUERY_SCAN:
		return make_scan(m, cost);
	case SP__QUERY_GET:
		return make_get(m);
	case SP__QUERY_UPDATE:
		return sp__cost_update(m);
	default:
		return sp__cost_append(m);
	}
}

/* Repeats a query of few random records, for a mean. */
static int make(struct sp__cost_maker *m, struct sp__table_cost *cost)
{
	uint64_t min = m->q->kind == SP__QUERY_UPDATE ? REPEATED_UPDATES : REPEATED;
	uint64_t times = m->q->records ? (min - 1) / m->q->records + 1 : 1;
	int rc = 0;

	if (m->q->kind == SP__QUERY_APPEND)
		times = 1;
	for (uint64_t i = 0; !rc && i < times; i++)
		rc = make_once(m, cost);
	m->scale /= (double)times;
	return rc;
}

/* The bytes of the file after the query: those that it writes behind the end included. */
static uint64_t file_bytes(const struct sp__cost_table *t, const struct sp__table_query *q)
{
	uint64_t bytes = sp__cost_table_bytes(t), records = t->records + q->records;

	if (q->kind == SP__QUERY_UPDATE)
		bytes *= 2;
	if (q->kind == SP__QUERY_APPEND)
		bytes += (sp__layout_pages(&t->layout, records) + 2) * t->layout.page_cells *
			 t->layout.cell_bytes;
	return bytes + SP__TABLE_REQUEST_BYTES;
}

int sp__table_query_cost(const struct sp__cost_table *t, const struct sp__table_query *q,
			 const struct sp__cost_opts *o, struct sp__table_cost *cost,
			 struct sp_errinfo *err)
{
	const uint32_t ngroups = t->layout.ngroups;
	struct sp__cost_maker m = { .r = { .table = t, .rng = { o->seed } },
				    .q = q,
				    .o = o,
				    .scale = 1,
				    .requests_max =
					    o->requests_max ? o->requests_max : UINT64_MAX / 2 };
	int rc;

	*cost = (struct sp__table_cost){ 0 };
	if (!t->records && q->kind != SP__QUERY_APPEND)
		return 0;
	m.groups = calloc(3 * (size_t)ngroups, sizeof(*m.groups));
	if (!m.groups)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	m.first = m.groups + ngroups;
	m.output = m.first + ngroups;
	rc = sp__cost_device_open(&m.r.device, o->platform, file_bytes(t, q), o->measure, err);
	if (!rc)
		rc = make(&m, cost);
	if (!rc) {
		cost->requests = (double)m.r.device.requests * m.scale;
		cost->seeks = (double)m.r.device.seeks * m.scale;
		cost->bytes = (double)m.r.device.bytes * m.scale;
		cost->seconds = sp__cost_device_s(&m.r.device) * m.scale;
	}
	sp__cost_device_close(&m.r.device);
	free(m.numbers);
	free(m.groups);
	return rc;
}
