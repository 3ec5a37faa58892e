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
#include "table/read/choice.h"

/* Of a slot. */
struct chosen {
	struct record {
		uint64_t number;
		uint32_t key;
	} * records; /* that are chosen, s->matched of them */
	size_t capacity;
};

struct choose {
	struct sp__window_ring ring;
	struct chosen slots[SP__RING_SLOTS];
	struct sp__record_choice rows; /* by the predicate, if there is one */
	const struct sp__chosen_by *choice;
	bool *columns; /* that are read */
	struct sp_table_stats *stats;
};

/* True if no record of a directory row has a key. */
static bool excluded(const void *choose, struct sp__tablefile *f, uint8_t *row)
{
	const struct choose *c = choose;

	return sp__key_set_excludes(c->choice->keys,
				    sp__directory_entry(f, row, c->choice->column));
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
static bool select_rows(struct choose *c, struct sp__window_slot *s, const struct sp__rows *rows)
{
	struct sp__choice_slot *d = &c->rows.slots[s - c->ring.slots];
	struct chosen *own = s->own;
	uint32_t n;

	if (c->choice->keys)
		return select_keys(c, s, rows);
	n = sp__choice_select(&c->rows, d, rows);
	if (n && !SP__ARRAY_GROW(own->records, own->capacity, s->matched + n))
		return true;
	for (uint32_t i = 0; i < n; i++)
		own->records[s->matched++] =
			(struct record){ rows->first + d->selected[i], SP__NO_KEY };
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
	const bool any = c->ring.file->superblock.deleted;
	uint64_t known = UINT64_MAX; /* byte of the tombstones */
	uint8_t bits = 0;
	int rc = 0;

	for (uint64_t i = 0; !rc && i < s->matched; i++) {
		const uint64_t record = own->records[i].number;
		const uint32_t key = own->records[i].key;

		if (any && known != record / 8) {
			known = record / 8;
			rc = sp__tombstones_read(c->ring.file, known * 8, 8, &bits, c->ring.err);
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
	sp__charge_work(&c->ring.file->env, s->records, 0, 0);
	return rc;
}

/* Chooses the columns to read. */
static void choose_columns(struct choose *c)
{
	if (c->choice->keys)
		c->columns[c->choice->column] = true;
	else
		sp__predicate_columns(c->choice->predicate, c->columns);
	if (!memchr(c->columns, 1, c->ring.file->schema.n))
		c->columns[0] = true;
}

/* Makes the ranges skip directory rows if bounds can exclude them, and opens them. */
static int open_ranges(struct choose *c)
{
	struct sp__scan_ranges *r = &c->ring.ranges;

	r->window_bytes /= 2; /* changes have memory, too */
	if (!c->choice->keys)
		return sp__choice_open(&c->rows, &c->ring);
	if (c->ring.file->schema.columns[c->choice->column].bounds) {
		r->rows_needed = true;
		r->skip = excluded;
		r->skip_arg = c;
	}
	return sp__ranges_open(r, SP__RANGES_BYTES);
}

static int run(struct choose *c)
{
	int rc;

	c->columns = calloc(c->ring.file->schema.n, sizeof(*c->columns));
	if (!c->columns)
		return sp__err(c->ring.err, -ENOMEM, "allocate", NULL, -1);
	choose_columns(c);
	rc = sp__ring_open(&c->ring, c->columns, c->slots, sizeof(*c->slots));
	if (rc)
		return rc;
	rc = open_ranges(c);
	return rc ? sp__err(c->ring.err, rc, "allocate", NULL, -1) : sp__ring_run(&c->ring);
}

int sp__choose_records(struct sp__tablefile *f, const struct sp__chosen_by *choice,
		       struct sp_table_stats *stats, struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { sp__ring_fill, work, give };
	struct choose c = { .ring = { .file = f,
				      .ops = &ops,
				      .arg = &c,
				      .err = err,
				      .ranges = { .end = f->superblock.records } },
			    .rows = { .where = choice->predicate },
			    .choice = choice,
			    .stats = stats };
	int rc;

	if (sp__choose_has_index(f, choice))
		return sp__choose_by_index(f, choice, stats, err);
	rc = run(&c);
	sp__ring_close(&c.ring, stats);
	sp__choice_close(&c.rows);
	for (unsigned i = 0; i < SP__RING_SLOTS; i++)
		free(c.slots[i].records);
	free(c.columns);
	return rc;
}
