/* SPDX-License-Identifier: MIT */
/*
 * Compares the time of scans (indexscan.h).
 *
 * Both ways read the cells of the output that have a chosen record, singly or, if there are many,
 * all of them.  A scan reads all cells of the columns of the predicate as well, and a scan through
 * the index those that have a chosen record.  The index costs its leaves, the sort of the numbers,
 * and the scan of the records that were appended since.
 *
 * Assumptions: chosen records are at random places of the records that bounds do not exclude.
 */
#include <math.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "table/cost/indexscan.h"
#include "table/layout/layout.h"
#include "table/read/scan.h"

#define MIB (1 << 20)
#define SORT_RECORDS 4 /* sorting a number takes the time of so many records */
#define BOUNDS 2       /* are looked up, for the estimate and for the scan */

struct times {
	const struct sp__indexscan *scan;
	double share;  /* of chosen records, of those that bounds do not exclude */
	double cell_s; /* of a sequential read */
	double rho;    /* as sp__platform_rho() */
	bool *where;   /* column groups of the predicate, */
	bool *scanned; /* all that a scan reads, */
	bool *got;     /* and those of the output and, through the index, of the predicate */
	bool *columns;
};

static double cells_of(const struct times *t, uint32_t group)
{
	const struct sp__tablefile *f = t->scan->file;

	return t->scan->kept.share * (double)f->superblock.records /
		       f->layout.groups[group].cell_records +
	       1;
}

/* Returns the time of reading the cells of column groups that have a chosen record. */
static double touched_s(const struct times *t, const bool *groups, const bool *except)
{
	const struct sp__table_layout *l = &t->scan->file->layout;
	double s = 0;

	for (uint32_t g = 0; g < l->ngroups; g++)
		if (groups[g] && !(except && except[g]))
			s += cells_of(t, g) * t->cell_s *
			     fmin(1,
				  sp__cells_touched(t->share, l->groups[g].cell_records) / t->rho);
	return s;
}

/*
 * Returns the time of reading the cells of the predicate that bounds do not exclude: each run
 * begins with a single read, unless reading all cells takes less time.  Each text column has an
 * equal share of the cells of texts.
 */
static double predicate_s(const struct times *t)
{
	const struct sp__tablefile *f = t->scan->file;
	const double texts = (double)sp__map_cells(&f->map, SP__AREA_TEXT);
	const double runs = (double)t->scan->kept.runs, single_s = t->cell_s / t->rho;
	unsigned all = 0, read = 0;
	double s = 0;

	for (uint32_t g = 0; g < f->layout.ngroups; g++)
		if (t->where[g])
			s += fmin(cells_of(t, g) * t->cell_s + runs * single_s,
				  cells_of(t, g) / t->scan->kept.share * t->cell_s);
	for (uint32_t i = 0; i < f->schema.n; i++) {
		all += f->schema.columns[i].type.kind == 't';
		read += f->schema.columns[i].type.kind == 't' && t->columns[i];
	}
	return all ? s + t->scan->kept.share * texts * t->cell_s * read / all : s;
}

static double index_s(const struct times *t, const struct sp__keyrange_estimate *e)
{
	const struct sp__platform *p = t->scan->platform;
	const double page_s = (double)e->page_bytes / MIB * p->costs.transfer_s_per_mib;

	return e->pages * page_s +
	       BOUNDS * e->levels * page_s / sp__platform_rho(p, e->page_bytes) +
	       e->records * SORT_RECORDS * p->drive.facts.record_ns * 1e-9;
}

static bool is_cheaper(const struct times *t, const struct sp__keyrange_estimate *e)
{
	const struct sp__tablescan_opts *o = t->scan->opts;
	const double records = (double)t->scan->file->superblock.records;
	const double hi = fmin((double)o->hi, records - 1);
	const double part = fmax(hi - (double)o->lo + 1, 0) / records;
	const double chosen = part * t->share * t->scan->kept.share * records;
	const double given = chosen > (double)o->limit ? (double)o->limit / chosen : 1;
	const double appended = (records - (double)e->table_records) / records;
	const double scan_s = part * (predicate_s(t) + touched_s(t, t->scanned, t->where));

	return index_s(t, e) + part * given * touched_s(t, t->got, NULL) + appended * scan_s <
	       given * scan_s;
}

bool sp__indexscan_is_cheaper(const struct sp__indexscan *s, const struct sp__keyrange_estimate *e)
{
	const struct sp__tablefile *f = s->file;
	const uint32_t ngroups = f->layout.ngroups, cell_bytes = f->layout.cell_bytes;
	const double indexed = fmax((double)e->table_records, 1);
	struct times t = { .scan = s,
			   .share = fmin(fmax(e->records / indexed / s->kept.share, 0), 1),
			   .cell_s =
				   (double)cell_bytes / MIB * s->platform->costs.transfer_s_per_mib,
			   .rho = sp__platform_rho(s->platform, cell_bytes),
			   .where = calloc(3 * (size_t)ngroups, sizeof(bool)),
			   .columns = calloc(2 * (size_t)f->schema.n, sizeof(bool)) };
	bool cheaper = false;

	if (t.where && t.columns && s->kept.share > 0) {
		t.scanned = t.where + ngroups;
		t.got = t.scanned + ngroups;
		sp__predicate_columns(s->opts->where, t.columns);
		sp__tablescan_chosen_columns(f, s->opts, t.columns + f->schema.n);
		sp__predicate_columns(s->opts->where, t.columns + f->schema.n);
		(void)sp__layout_groups(&f->layout, t.columns, t.where);
		(void)sp__layout_groups(&f->layout, s->opts->columns, t.scanned);
		(void)sp__layout_groups(&f->layout, t.columns + f->schema.n, t.got);
		cheaper = is_cheaper(&t, e);
	}
	free(t.where);
	free(t.columns);
	return cheaper;
}
