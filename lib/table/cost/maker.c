/* SPDX-License-Identifier: MIT */
/*
 * What all kinds of queries share.
 */
#include "base/minmax.h"
#include "table/cost/maker.h"

uint64_t sp__cost_first(const struct sp__cost_maker *m, const bool *columns, uint32_t group,
			uint64_t record)
{
	const struct sp__table_layout *l = &m->r.table->layout;

	if (record % sp__layout_row_records(l) == 0)
		return record;
	for (uint32_t i = 0; i < l->ncolumns; i++)
		if (columns[i] && l->places[i].group == group &&
		    m->r.table->schema->columns[i].type.kind == 't')
			return record - 1;
	return record;
}

int sp__cost_window(struct sp__cost_maker *m, const bool *columns, const bool *groups, uint64_t at,
		    uint64_t end)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	int rc = sp__cost_flush(&m->r);

	for (uint32_t f = 0; f < l->ngroups; f++) {
		const uint64_t first = sp__cost_first(m, columns, f, at);

		for (uint32_t k = 0; !rc && groups[f] && k < sp__layout_lines_of(l, f); k++) {
			struct sp__layout_run run = sp__layout_run(l, f, k, first, end - 1);

			rc = sp__cost_cells(&m->r, false, SP__AREA_DATA, run.cell, run.cells);
			if (!rc)
				rc = sp__cost_flush(&m->r);
		}
	}
	return rc;
}

bool sp__cost_enough(struct sp__cost_maker *m, uint64_t at, uint64_t end)
{
	if (!at || m->r.device.requests - m->begun < m->requests_max)
		return false;
	m->scale = (double)end / (double)at;
	m->stopped = true;
	return true;
}

bool sp__cost_bounded(const struct sp__cost_maker *m, const bool *columns)
{
	const struct sp__table_schema *s = m->r.table->schema;

	for (uint32_t i = 0; i < s->n; i++)
		if (columns[i] && s->columns[i].bounds)
			return true;
	return false;
}

int sp__cost_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return SP__ORDER(*x, *y);
}

uint32_t sp__cost_count_texts(const struct sp__cost_maker *m, const bool *columns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->r.table->layout.ncolumns; i++)
		n += columns[i] && m->r.table->schema->columns[i].type.kind == 't';
	return n;
}

double sp__cost_record_ns(const struct sp__cost_maker *m, const bool *except, bool printed)
{
	const struct sp__cost_platform *p = m->o->platform;
	const struct sp__tablefile *f = m->r.table->file;
	double ns = p->record_ns;

	printed &= !(f && f->superblock.no_data); /* its commands print nothing */

	for (uint32_t i = 0; i < m->r.table->layout.ncolumns; i++) {
		if (m->q->columns && !m->q->columns[i])
			continue;
		ns += except && except[i] ? 0 : p->value_ns;
		ns += printed ? sp__cost_printed_bytes(m->r.table, i) * p->copy_ns : 0;
	}
	return ns;
}
