/* SPDX-License-Identifier: MIT */
/*
 * Chooses the records of rows (choice.h).
 */
#include <stdlib.h>
#include "base/err.h"
#include "run/charge.h"
#include "table/file/directory.h"
#include "table/file/tombstones.h"
#include "table/read/choice.h"
#include "table/read/columnjoin.h"

/* True if the predicate is true for no record of a directory row. */
static bool excluded(const void *choice, struct sp__tablefile *f, uint8_t *row)
{
	const struct sp__record_choice *c = choice;

	for (uint32_t i = 0; i < f->schema.n; i++)
		if (f->schema.columns[i].bounds)
			c->bounds[i] = sp__directory_entry(f, row, i);
	return sp__predicate_excludes(c->where, c->bounds);
}

/*
 * Counts the columns of the predicate, and makes the ranges skip directory rows if one of them has
 * bounds.  Returns 0 or -ENOMEM.
 */
static int take_columns(struct sp__record_choice *c, struct sp__scan_ranges *ranges)
{
	const struct sp__table_schema *s = &ranges->file->schema;
	bool *columns = calloc(s->n, sizeof(*columns));

	if (!columns)
		return -ENOMEM;
	sp__predicate_columns(c->where, columns);
	for (uint32_t i = 0; i < s->n; i++) {
		c->columns += columns[i];
		if (!columns[i] || !s->columns[i].bounds)
			continue;
		ranges->rows_needed = true;
		ranges->skip = excluded;
		ranges->skip_arg = c;
	}
	free(columns);
	return 0;
}

void sp__choice_charge(const struct sp__record_choice *c, const struct sp__tablefile *f,
		       uint64_t records)
{
	if (!c->where)
		return;
	sp__charge_values(&f->env, records * c->columns, records * sp__predicate_tests(c->where));
	if (c->columns)
		sp__columnjoin_charge(f, records, c->columns - 1);
}

struct counter {
	struct sp__tablefile *file;
	struct sp__record_choice choice;
	uint64_t rows, kept, runs;
	bool last; /* row was kept */
};

static int count_row(void *arg, uint8_t *row)
{
	struct counter *c = arg;
	const bool keep = !excluded(&c->choice, c->file, row);

	c->rows++;
	c->kept += keep;
	c->runs += keep && !c->last;
	c->last = keep;
	return 0;
}

int sp__choice_count_kept(struct sp__tablefile *f, const struct sp__predicate *where,
			  struct sp__rows_kept *kept, struct sp_errinfo *err)
{
	struct counter c = { .file = f, .choice = { .where = where } };
	struct sp__scan_ranges ranges = { .file = f };
	int rc = take_columns(&c.choice, &ranges);

	c.choice.bounds = calloc(f->schema.n, sizeof(*c.choice.bounds));
	if (!c.choice.bounds)
		rc = -ENOMEM;
	if (!rc && ranges.skip)
		rc = sp__directory_each(f, count_row, &c, err);
	*kept = (struct sp__rows_kept){ .share = 1 };
	if (c.rows && c.kept < c.rows)
		*kept = (struct sp__rows_kept){ (double)c.kept / (double)c.rows, c.runs };
	free(c.choice.bounds);
	return rc ? sp__err(err, rc, "scan", f->path, -1) : 0;
}

static int open_slots(struct sp__record_choice *c, struct sp__window_ring *ring)
{
	c->bounds = calloc(ring->file->schema.n, sizeof(*c->bounds));
	if (!c->bounds)
		return -ENOMEM;
	for (unsigned i = 0; i < ring->nslots; i++) {
		struct sp__choice_slot *d = &c->slots[i];

		d->selected = malloc(SP__ROWS_MAX * sizeof(*d->selected));
		if (c->where)
			d->scratch = sp__predicate_scratch_new(c->where);
		if (!d->selected || (c->where && !d->scratch))
			return -ENOMEM;
	}
	return c->where ? take_columns(c, &ring->ranges) : 0;
}

int sp__choice_open(struct sp__record_choice *c, struct sp__window_ring *ring)
{
	int rc = c->where || ring->file->superblock.deleted ? open_slots(c, ring) : 0;

	return rc ? rc : sp__ranges_open(&ring->ranges, SP__RANGES_BYTES);
}

void sp__choice_close(struct sp__record_choice *c)
{
	for (unsigned i = 0; i < SP__RING_SLOTS; i++) {
		free(c->slots[i].bits);
		free(c->slots[i].selected);
		sp__predicate_scratch_free(c->slots[i].scratch);
	}
	free(c->bounds);
}

/* Reads the tombstones of a window. */
static int read_bits(struct sp__choice_slot *d, const struct sp__window *w, struct sp_errinfo *err)
{
	const struct sp__window_range *last = &w->ranges[w->nranges - 1];
	uint64_t n;
	size_t bytes;

	if (!w->file->superblock.deleted)
		return 0;
	d->first = w->ranges[0].first / 8 * 8;
	n = last->first + last->n - d->first;
	bytes = (size_t)(n + 7) / 8;
	if (bytes > d->bytes) {
		free(d->bits);
		d->bits = malloc(bytes);
		d->bytes = d->bits ? bytes : 0;
	}
	if (!d->bits)
		return sp__err(err, -ENOMEM, "scan", w->file->path, -1);
	return sp__tombstones_read(w->file, d->first, n, d->bits, err);
}

int sp__choice_fill(void *unused, struct sp__window_slot *s)
{
	int rc = sp__ring_fill(unused, s), deleted;

	deleted = rc == SP_READY ? read_bits(s->own, &s->window, s->ring->err) : 0;
	return deleted ? deleted : rc;
}

/* Keeps those of n selected records that are not deleted.  Returns their number. */
static uint32_t drop_deleted(struct sp__choice_slot *d, const struct sp__rows *rows, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bit = rows->first + d->selected[i] - d->first;

		if (!(d->bits[bit / 8] >> bit % 8 & 1))
			d->selected[left++] = d->selected[i];
	}
	return left;
}

uint32_t sp__choice_select(const struct sp__record_choice *c, struct sp__choice_slot *d,
			   const struct sp__rows *rows)
{
	uint32_t n = rows->n;

	if (!d->selected)
		return n;
	if (d->scratch)
		n = sp__predicate_select(c->where, d->scratch, rows, d->selected);
	else
		for (uint32_t i = 0; i < n; i++)
			d->selected[i] = i;
	return d->bits ? drop_deleted(d, rows, n) : n;
}
