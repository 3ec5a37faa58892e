/* SPDX-License-Identifier: MIT */
/*
 * Makes the requests of updates and appends.
 *
 * Update.  The cells are read, those of each column group in their order, written behind the end of
 * the file, and written in place one by one; after each write, and after each of the two
 * superblocks, the device is synchronized.  Bounds that change are in the directory.
 * Append.  The last A-page goes the same way; further cells are written behind the end.
 */
#include <math.h>
#include "base/minmax.h"
#include "table/cost/maker.h"
#include "table/layout/shares.h"

#define UPDATE_DEPTH 32	    /* of reads before an update, */
#define UPDATE_BYTES 131072 /* and their maximum */
#define JOURNAL_ENTRY 32    /* bytes of a record of the journal besides the cell */
#define SCAN_DEPTH 4

/* Reads, or writes in place, the cells of column groups that are touched, and waits. */
static int pass_touched(struct sp__cost_maker *m, bool write, double share, uint64_t seed)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	const uint64_t end = sp__layout_pages(l, m->r.table->records);
	int rc = 0;

	m->r.rng.state = seed;
	for (uint32_t f = 0; f < l->ngroups; f++) {
		double chance = sp__cells_touched(share, l->groups[f].cell_records);
		uint64_t pages;

		m->begun = m->r.device.requests;
		for (uint64_t page = 0;
		     m->groups[f] && !rc && page < end && !sp__cost_enough(m, page, end);
		     page += pages) {
			struct sp__strip s = sp__layout_strip(l, page);

			pages = sp__min(s.first + s.pages, end) - page;
			rc = sp__cost_touched(
				&m->r, write,
				sp__layout_run(l, f, m->r.table->records, page, pages), chance, 0);
		}
		if (!rc)
			rc = sp__cost_wait(&m->r);
	}
	return rc;
}

/* Reads the cells of the directory in which the bounds of changed records are, one by one. */
static int read_bounds(struct sp__cost_maker *m, double share)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	const uint64_t cells = sp__map_cells(&m->r.table->map, SP__AREA_DIRECTORY);
	double records = (double)m->r.table->records / (double)sp__max(cells, 1);
	bool bounds = false;

	for (uint32_t i = 0; i < l->ncolumns; i++)
		bounds |= m->q->columns[i] && m->r.table->schema->columns[i].bounds;
	if (!bounds || !cells)
		return 0;
	sp__cost_device_depth(&m->r.device, 1);
	m->r.max_cells = 1;
	for (uint64_t i = 0, n; i < cells; i += n) {
		int rc = 0;

		n = sp__cost_gap(&m->r, sp__cells_touched(share, records));
		if (i + n < cells)
			rc = sp__cost_cells(&m->r, false, SP__AREA_DIRECTORY, i + n, 1);
		if (rc)
			return rc;
		n++;
	}
	return sp__cost_wait(&m->r);
}

int sp__cost_update(struct sp__cost_maker *m)
{
	const uint64_t seed = sp__rng_next(&m->r.rng);
	const uint64_t cell_bytes = m->r.table->layout.cell_bytes;
	double share = -expm1((double)m->q->records * log1p(-1 / (double)m->r.table->records));
	uint64_t before, cells;
	int rc;

	(void)sp__layout_groups(&m->r.table->layout, m->q->columns, m->groups);
	rc = read_bounds(m, share);
	before = m->r.device.bytes;
	sp__cost_device_depth(&m->r.device, UPDATE_DEPTH);
	m->r.max_cells = sp__max(UPDATE_BYTES / cell_bytes, 1);
	if (!rc)
		rc = pass_touched(m, false, share, seed);
	cells = (m->r.device.bytes - before) / cell_bytes;
	sp__cost_device_depth(&m->r.device, 1);
	m->r.max_cells = 1;
	if (!rc)
		rc = sp__cost_behind(&m->r, cells * (cell_bytes + JOURNAL_ENTRY));
	if (!rc)
		rc = sp__cost_commit(&m->r);
	if (!rc)
		rc = pass_touched(m, true, share, seed);
	return rc ? rc : sp__cost_commit(&m->r);
}

int sp__cost_append(struct sp__cost_maker *m)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	uint64_t before = m->r.table->records, after = before + m->q->records;
	uint64_t pages = sp__layout_pages(l, before), page = before / l->page_records;
	uint64_t fresh = (sp__layout_pages(l, after) - pages) * l->page_cells;
	bool journal = pages > page;
	int rc = 0;

	sp__cost_device_depth(&m->r.device, SCAN_DEPTH);
	for (uint32_t f = 0; f < l->ngroups; f++)
		m->groups[f] = true;
	if (journal)
		rc = sp__cost_window(m, m->groups, page * l->page_records, before);
	if (!rc)
		rc = sp__cost_behind(&m->r, fresh * l->cell_bytes);
	if (!rc && journal)
		rc = sp__cost_behind(&m->r, l->page_cells * (l->cell_bytes + JOURNAL_ENTRY));
	if (!rc)
		rc = sp__cost_commit(&m->r);
	for (uint32_t f = 0; !rc && journal && f < l->ngroups; f++)
		rc = sp__cost_cells(&m->r, true, SP__AREA_DATA, sp__layout_cell(l, page, f, 0),
				    l->groups[f].cells);
	if (!rc && journal)
		rc = sp__cost_wait(&m->r);
	return rc || !journal ? rc : sp__cost_commit(&m->r);
}
