/* SPDX-License-Identifier: MIT */
/*
 * Makes requests of cells.
 *
 * Which cells random records touch is drawn cell by cell, so memory does not grow with the table.
 */
#include <math.h>
#include "base/minmax.h"
#include "table/cost/requests.h"

int sp__cost_flush(struct sp__cost_requests *r)
{
	const uint64_t cell_bytes = r->table->layout.cell_bytes;
	uint64_t cells = r->cells;

	r->cells = 0;
	return cells ? sp__cost_device_issue(&r->device, r->write, r->first * cell_bytes,
					     cells * cell_bytes)
		     : 0;
}

int sp__cost_wait(struct sp__cost_requests *r)
{
	int rc = sp__cost_flush(r);

	return rc ? rc : sp__cost_device_wait(&r->device);
}

static uint64_t max_cells(const struct sp__cost_requests *r)
{
	return r->max_cells ? r->max_cells : SP__TABLE_REQUEST_BYTES / r->table->layout.cell_bytes;
}

/* Adds cells of the file to the request before, or begins another. */
static int join(struct sp__cost_requests *r, bool write, uint64_t first, uint64_t cells)
{
	int rc = 0;

	if (r->write != write || r->first + r->cells != first || r->cells + cells > max_cells(r)) {
		rc = sp__cost_flush(r);
		r->first = first;
		r->write = write;
	}
	r->cells += cells;
	return rc;
}

int sp__cost_cells(struct sp__cost_requests *r, bool write, enum sp__table_area area, uint64_t cell,
		   uint64_t cells)
{
	const uint64_t max = max_cells(r);
	int rc = 0;

	while (!rc && cells) {
		uint64_t first, n = sp__min(cells, max);

		n = sp__map_run(&r->table->map, area, cell, n, &first);
		rc = join(r, write, first, n);
		cell += n;
		cells -= n;
	}
	return rc;
}

int sp__cost_cell(struct sp__cost_requests *r, bool write, uint64_t cell, uint64_t gap_cells)
{
	const uint64_t end = r->first + r->cells;
	uint64_t first;

	(void)sp__map_run(&r->table->map, SP__AREA_DATA, cell, 1, &first);
	if (r->cells && r->write == write && first - end <= gap_cells &&
	    first + 1 - r->first <= max_cells(r)) {
		r->cells = first + 1 - r->first;
		return 0;
	}
	return join(r, write, first, 1);
}

int sp__cost_behind(struct sp__cost_requests *r, uint64_t bytes)
{
	uint64_t at = sp__cost_table_bytes(r->table);
	int rc = sp__cost_flush(r);

	for (uint64_t n; !rc && bytes; at += n, bytes -= n) {
		n = sp__min(bytes, SP__TABLE_REQUEST_BYTES);
		rc = sp__cost_device_issue(&r->device, true, at, n);
	}
	return rc ? rc : sp__cost_wait(r);
}

int sp__cost_commit(struct sp__cost_requests *r)
{
	int rc = sp__cost_flush(r);

	if (!rc)
		rc = sp__cost_device_issue(&r->device, true, 0, r->table->layout.cell_bytes);
	return rc ? rc : sp__cost_wait(r);
}

uint64_t sp__cost_gap(struct sp__cost_requests *r, double chance)
{
	double gap;

	if (chance >= 1)
		return 0;
	gap = log1p(-sp__rng_real(&r->rng)) / log1p(-chance);
	return gap < 1e18 ? (uint64_t)gap : UINT64_C(1) << 60;
}

int sp__cost_touched(struct sp__cost_requests *r, bool write, struct sp__layout_run run,
		     double chance, uint64_t gap_cells)
{
	const uint64_t end = run.cell + run.cells;
	int rc = 0;

	for (uint64_t cell = run.cell + sp__cost_gap(r, chance); !rc && cell < end;
	     cell += 1 + sp__cost_gap(r, chance))
		rc = sp__cost_cell(r, write, cell, gap_cells);
	return rc;
}
