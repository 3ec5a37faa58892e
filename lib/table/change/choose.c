/* SPDX-License-Identifier: MIT */
/*
 * Reads the columns of the predicate, or that of the keys, ahead in windows; tasks select records.
 * Directory rows whose bounds exclude all records are not read.
 *
 * Few keys are found through an index, if there is one (chooseby.h).
 *
 * Rejected: table/read/hits.h for predicates.  It reads tombstones ahead, with the windows, and a
 * delete writes them meanwhile: a cell that was passed would be changed twice by one journal.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/change/choose.h"
#include "table/change/chooseby.h"
#include "table/file/directory.h"
#include "table/file/tombstones.h"
#include "table/read/ranges.h"
#include "table/read/ring.h"

/* Of a slot. */
struct chosen {
	struct sp__predicate_scratch *scratch;
	uint32_t *selected; /* offsets in rows */
	struct record {
		uint64_t number;
		uint32_t key;
	} * records; /* that are chosen, s->matched of them */
	size_t capacity;
};

struct choose {
	struct sp__window_ring ring;
	struct chosen slots[SP__RING_SLOTS];
	struct sp__scan_ranges ranges;
	struct sp__tablefile *file;
	const struct sp__chosen_by *choice;
	bool *columns;		/* that are read */
	const uint8_t **bounds; /* of each column, in a directory row */
	struct sp_table_stats *stats;
	struct sp_errinfo *err;
};

static bool excluded(const void *choose, struct sp__tablefile *f, uint8_t *row)
{
	const struct choose *c = choose;

	if (c->choice->keys)
		return sp__key_set_excludes(c->choice->keys,
					    sp__directory_entry(f, row, c->choice->column));
	for (uint32_t i = 0; i < f->schema.n; i++)
		c->bounds[i] = f->schema.columns[i].bounds ? sp__directory_entry(f, row, i) : NULL;
	return sp__predicate_excludes(c->choice->predicate, c->bounds);
}

static int fill(void *choose, struct sp__window_slot *s)
{
	struct choose *c = choose;

	return sp__ranges_next(&c->ranges, &s->window, c->err);
}

/* Adds the records of rows whose value is a key.  True: there is no memory. */
static bool select_keys(const struct choose *c, struct sp__window_slot *s,
			const struct sp__rows *rows)
{
	const struct sp__vector *v = &rows->vectors[c->choice->column];
	struct chosen *own = s->own;

	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t key = sp__key_set_find(c->choice->keys, v, i);

		if (key == SP__NO_KEY)
			continue;
		if (!SP__ARRAY_GROW(own->records, own->capacity, s->matched + 1))
			return true;
		own->records[s->matched++] = (struct record){ rows->first + i, key };
	}
	return false;
}

/* Adds the records of rows for which the predicate is true.  True: there is no memory. */
static bool select_rows(const struct choose *c, struct sp__window_slot *s,
			const struct sp__rows *rows)
{
	struct chosen *own = s->own;
	uint32_t n;

	if (c->choice->keys)
		return select_keys(c, s, rows);
	n = sp__predicate_select(c->choice->predicate, own->scratch, rows, own->selected);
	if (n && !SP__ARRAY_GROW(own->records, own->capacity, s->matched + n))
		return true;
	for (uint32_t i = 0; i < n; i++)
		own->records[s->matched++] =
			(struct record){ rows->first + own->selected[i], SP__NO_KEY };
	return false;
}

static int work(void *choose, struct sp__window_slot *s)
{
	struct sp__rows rows;

	while (sp__window_next(&s->window, &rows)) {
		s->records += rows.n;
		if (select_rows(choose, s, &rows))
			return sp__err(&s->err, -ENOMEM, "allocate", NULL, -1);
	}
	return 0;
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
		const uint64_t record = own->records[i].number;
		const uint32_t key = own->records[i].key;

		if (any && known != record / 8) {
			known = record / 8;
			rc = sp__tombstones_read(c->file, known * 8, 8, &bits, c->err);
		}
		if (!rc && !(bits >> record % 8 & 1)) {
			c->stats->records_matched++;
			if (key != SP__NO_KEY)
				c->choice->keys->keys[key].found = true;
			rc = c->choice->put(c->choice->arg, record, key);
		}
	}
	c->stats->records_read += s->records;
	c->stats->cells_read += s->window.cells_read;
	sp__charge_work(&c->file->env, s->records, 0, 0);
	return rc;
}

/* Chooses the columns to read, and whether bounds can exclude directory rows. */
static void choose_columns(struct choose *c)
{
	const struct sp__table_schema *schema = &c->file->schema;
	bool any = false;

	if (c->choice->keys)
		c->columns[c->choice->column] = true;
	else
		sp__predicate_columns(c->choice->predicate, c->columns);
	for (uint32_t i = 0; i < schema->n; i++) {
		any |= c->columns[i];
		c->ranges.rows_needed |= c->columns[i] && schema->columns[i].bounds;
	}
	c->columns[0] |= !any;
}

static int open_memory(struct choose *c)
{
	const uint32_t n = c->file->schema.n;

	c->columns = calloc(n, sizeof(*c->columns));
	c->bounds = calloc(n, sizeof(*c->bounds));
	if (!c->columns || !c->bounds)
		return -ENOMEM;
	choose_columns(c);
	for (unsigned i = 0; c->choice->predicate && i < SP__RING_SLOTS; i++) {
		c->slots[i].scratch = sp__predicate_scratch_new(c->choice->predicate);
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

int sp__choose_records(struct sp__tablefile *f, const struct sp__chosen_by *choice,
		       struct sp_table_stats *stats, struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { fill, work, give };
	struct choose c = { .file = f, .choice = choice, .stats = stats, .err = err };
	int rc;

	if (sp__choose_has_index(f, choice))
		return sp__choose_by_index(f, choice, stats, err);
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
