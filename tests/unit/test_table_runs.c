/* SPDX-License-Identifier: MIT */
/*
 * The runs of a scan: they have exactly the cells of the columns that hold records, each one once,
 * in random layouts.
 */
#include <string.h>
#include <spindle/table.h>
#include "base/minmax.h"
#include "base/rng.h"
#include "table/layout/layout.h"
#include "tap.h"

#define COLUMNS_MAX 9

static struct sp__table_layout random_layout(struct sp__rng *rng)
{
	struct sp__schema s = { 0 };
	struct sp__layout_opts o = { .form = &sp__layout_forms[sp__rng_below(rng, 4)],
				     .cell_bytes = 512u << sp__rng_below(rng, 3),
				     .strip_bytes = 512u << sp__rng_below(rng, 6) };
	uint32_t n = 1 + (uint32_t)sp__rng_below(rng, COLUMNS_MAX), together[COLUMNS_MAX];
	struct sp__table_layout l;

	for (uint32_t i = 0; i < n; i++) {
		struct sp__value_type t = { .kind = 'c' };
		char name[] = { 'a', (char)('a' + i) };

		t.bytes = 1 + (uint32_t)sp__rng_below(rng, 20);
		together[i] = (uint32_t)sp__rng_below(rng, 3);
		if (sp__schema_add(&s, name, sizeof(name), &t))
			exit(1);
	}
	if (!o.form->one_group)
		o.together = together;
	o.lanes = o.form == &sp__layout_forms[SP_TABLE_CSM] && sp__rng_below(rng, 2);
	o.empty_lane = o.lanes && sp__rng_below(rng, 2);
	if (sp__rng_below(rng, 2))
		o.page_records = 1 + (uint32_t)sp__rng_below(rng, 300);
	if (sp__layout_make(&l, &s, &o, NULL))
		exit(1);
	sp__schema_free(&s);
	l.stripe_pages = 1 + sp__rng_below(rng, 9);
	return l;
}

/* Returns the mark of a cell: those of lanes are far apart. */
static uint64_t mark_of(const struct sp__table_layout *l, uint64_t records, uint64_t cell)
{
	return l->lanes ? cell / SP__LANE_PAGES * sp__layout_pages(l, records) +
				  cell % SP__LANE_PAGES
			: cell;
}

/* Marks the cells of a run.  False: one is marked twice, or the run exceeds the limit. */
static bool mark_run(const struct sp__table_layout *l, uint64_t records,
		     const struct sp__layout_run *run, uint64_t max, uint8_t *marks)
{
	if ((!run->cells && !l->lanes) || (run->cells > max && !l->lanes))
		return false;
	for (uint64_t i = 0; i < run->cells; i++)
		if (marks[mark_of(l, records, run->cell + i)]++)
			return false;
	return true;
}

/* Marks the cells of the runs.  False: one is marked twice, or a run exceeds the limit. */
static bool mark(const struct sp__table_layout *l, const bool *groups, uint64_t records,
		 uint64_t bytes, uint8_t *marks)
{
	uint64_t end = sp__layout_pages(l, records), pages;

	for (uint64_t page = 0; page < end; page += pages) {
		pages = sp__layout_window(l, groups, page, end - page, bytes);
		for (uint32_t f = 0; f < l->ngroups; f++)
			for (uint32_t k = 0; groups[f] && k < sp__layout_lines_of(l, f); k++) {
				struct sp__layout_run run = sp__layout_run(
					l, f, k, page * l->page_records,
					sp__min((page + pages) * l->page_records, records) - 1);

				if (!mark_run(l, records, &run,
					      pages > 1 ? bytes / l->cell_bytes : UINT64_MAX,
					      marks))
					return false;
			}
	}
	return true;
}

static bool scan(struct sp__rng *rng)
{
	struct sp__table_layout l = random_layout(rng);
	uint64_t records = 1 + sp__rng_below(rng, 3000);
	uint64_t cells = l.lanes ? l.nlines * sp__layout_pages(&l, records)
				 : sp__layout_data_cells(&l, records);
	uint8_t *marks = calloc(cells, 1);
	bool columns[COLUMNS_MAX], groups[COLUMNS_MAX], good;
	uint32_t n = 0, used;

	for (uint32_t i = 0; i < l.ncolumns; i++)
		columns[i] = sp__rng_below(rng, 2);
	used = sp__layout_groups(&l, columns, groups);
	for (uint32_t f = 0; f < l.ngroups; f++)
		n += groups[f];
	good = marks && n == used && mark(&l, groups, records, sp__rng_below(rng, 20000), marks);
	for (uint64_t r = 0; good && r < records; r++)
		for (uint32_t f = 0; f < l.ngroups; f++)
			if (groups[f])
				marks[mark_of(&l, records, sp__layout_record_cell(&l, f, r))] |= 2;
	for (uint64_t i = 0; good && i < cells; i++)
		good = marks[i] == 0 || marks[i] == 3;
	free(marks);
	sp__layout_free(&l);
	return good;
}

int main(void)
{
	struct sp__rng rng = { 34 };
	unsigned good = 0;

	for (unsigned i = 0; i < 2000; i++)
		good += scan(&rng);
	ok(good == 2000, "the runs of %u scans have the cells of their records, each once", good);
	return done();
}
