/* SPDX-License-Identifier: MIT */
/*
 * Reads the columns of the predicate ahead, in windows; tasks select records.  Directory rows whose
 * bounds exclude the predicate are not read.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/change/choose.h"
#include "table/file/directory.h"
#include "table/file/tombstones.h"
#include "table/read/ranges.h"
#include "table/read/ring.h"

/* Of a slot. */
struct chosen {
	struct sp__predicate_scratch *scratch;
	uint32_t *selected; /* offsets in rows */
	uint64_t *records;  /* that are chosen, s->matched of them */
	size_t capacity;
};

struct choose {
	struct sp__window_ring ring;
	struct chosen slots[SP__RING_SLOTS];
	struct sp__scan_ranges ranges;
	struct sp__tablefile *file;
	const struct sp__predicate *predicate;
	bool *columns;		/* of the predicate */
	const uint8_t **bounds; /* of each column, in a directory row */
	int (*put)(void *arg, uint64_t record);
	void *arg;
	struct sp_table_stats *stats;
	struct sp_errinfo *err;
};

static bool excluded(const void *choose, struct sp__tablefile *f, uint8_t *row)
{
	const struct choose *c = choose;

	for (uint32_t i = 0; i < f->schema.n; i++)
		c->bounds[i] = f->schema.columns[i].bounds ? sp__directory_entry(f, row, i) : NULL;
	return sp__predicate_excludes(c->predicate, c->bounds);
}

static int fill(void *choose, struct sp__window_slot *s)
{
	struct choose *c = choose;

	return sp__ranges_next(&c->ranges, &s->window, c->err);
}

/* Adds the records of rows for which the predicate is true. */
static int select_rows(const struct choose *c, struct sp__window_slot *s,
		       const struct sp__rows *rows)
{
	struct chosen *own = s->own;
	uint32_t n = sp__predicate_select(c->predicate, own->scratch, rows, own->selected);

	if (n && !SP__ARRAY_GROW(own->records, own->capacity, s->matched + n))
		return sp__err(&s->err, -ENOMEM, "allocate", NULL, -1);
	for (uint32_t i = 0; i < n; i++)
		own->records[s->matched++] = rows->first + own->selected[i];
	return 0;
}

static int work(void *choose, struct sp__window_slot *s)
{
	struct sp__window *w = &s->window;
	int rc = 0;

	sp__window_rewind(w);
	for (size_t i = 0; !rc && i < w->nranges; i++) {
		const uint64_t end = w->ranges[i].first + w->ranges[i].n;

		for (uint64_t at = w->ranges[i].first; !rc && at < end;) {
			struct sp__rows rows = sp__window_rows(w, at);

			rc = select_rows(choose, s, &rows);
			s->records += rows.n;
			at += rows.n;
		}
	}
	return rc;
}

static int give(void *choose, struct sp__window_slot *s)
{
	struct choose *c = choose;
	const struct chosen *own = s->own;
	const bool any = c->file->superblock.deleted;
	uint64_t known = UINT64_MAX; /* byte of the tombstones */
	uint8_t bits = 0;
	int rc = 0;

	for (uint64_t i = 0; !rc && i < s->matched; i++) {
		const uint64_t record = own->records[i];

		if (any && known != record / 8) {
			known = record / 8;
			rc = sp__tombstones_read(c->file, known * 8, 8, &bits, c->err);
		}
		if (!rc && !(bits >> record % 8 & 1)) {
			c->stats->records_matched++;
			rc = c->put(c->arg, record);
		}
	}
	c->stats->records_read += s->records;
	c->stats->cells_read += s->window.cells_read;
	sp__charge_work(&c->file->env, s->records, 0, 0);
	return rc;
}

static int open_memory(struct choose *c)
{
	const uint32_t n = c->file->schema.n;
	bool any = false;

	c->columns = calloc(n, sizeof(*c->columns));
	c->bounds = calloc(n, sizeof(*c->bounds));
	if (!c->columns || !c->bounds)
		return -ENOMEM;
	sp__predicate_columns(c->predicate, c->columns);
	for (uint32_t i = 0; i < n; i++) {
		any |= c->columns[i];
		c->ranges.rows_needed |= c->columns[i] && c->file->schema.columns[i].bounds;
	}
	c->columns[0] |= !any;
	for (unsigned i = 0; i < SP__RING_SLOTS; i++) {
		c->slots[i].scratch = sp__predicate_scratch_new(c->predicate);
		c->slots[i].selected = malloc(SP__ROWS_MAX * sizeof(uint32_t));
		if (!c->slots[i].scratch || !c->slots[i].selected)
			return -ENOMEM;
	}
	return 0;
}

static int run(struct choose *c)
{
	int rc = open_memory(c);

	rc = rc ? sp__err(c->err, rc, "allocate", NULL, -1)
		: sp__ring_open(&c->ring, c->columns, c->slots, sizeof(*c->slots));
	if (rc)
		return rc;
	if (c->ranges.rows_needed) {
		c->ranges.skip = excluded;
		c->ranges.skip_arg = c;
	}
	c->ranges.rows_needed |= c->ring.slots[0].window.ntexts > 0;
	c->ranges.window_bytes = c->ring.slot_bytes / 2; /* changes have memory, too */
	if (sp__ranges_open(&c->ranges, SP__RANGES_BYTES))
		return sp__err(c->err, -ENOMEM, "allocate", NULL, -1);
	return sp__ring_run(&c->ring);
}

int sp__choose_records(struct sp__tablefile *f, const struct sp__predicate *predicate,
		       int (*put)(void *arg, uint64_t record), void *arg,
		       struct sp_table_stats *stats, struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { fill, work, give };
	struct choose c = { .file = f,
			    .predicate = predicate,
			    .put = put,
			    .arg = arg,
			    .stats = stats,
			    .err = err };
	int rc;

	c.ring.file = c.ranges.file = f;
	c.ring.ops = &ops;
	c.ring.arg = &c;
	c.ring.err = err;
	c.ranges.end = f->superblock.records;
	rc = run(&c);
	sp__ring_close(&c.ring, stats);
	sp__ranges_close(&c.ranges);
	stats->pages_skipped = c.ranges.pages_skipped;
	for (unsigned i = 0; i < SP__RING_SLOTS; i++) {
		sp__predicate_scratch_free(c.slots[i].scratch);
		free(c.slots[i].selected);
		free(c.slots[i].records);
	}
	free(c.columns);
	free(c.bounds);
	return rc;
}
