/* SPDX-License-Identifier: MIT */
/*
 * Scans a table: the next records fill a window, and a task prints those for which the predicate is
 * true and that were not deleted.  Directory rows that the predicate excludes are not read.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/file/directory.h"
#include "table/file/tombstones.h"
#include "table/read/ring.h"
#include "table/read/scan.h"

/* Of a slot: what chooses its records. */
struct chooser {
	struct sp__predicate_scratch *scratch; /* NULL: no predicate */
	uint8_t *bits; /* tombstones; NULL: no record of the table is deleted */
	size_t bytes;
	uint64_t first;	    /* record of bit 0, a multiple of 8 */
	uint32_t *selected; /* offsets in rows; NULL: all records are chosen */
};

struct scan {
	struct sp__window_ring ring;
	struct chooser choosers[SP__RING_SLOTS];
	const struct sp__tablescan_opts *opts;
	struct sp_table_stats *stats;
	sp_table_sink sink;
	void *arg;
	struct sp__scan_ranges ranges;
	uint64_t left;		/* of the limit */
	const uint8_t **bounds; /* of each column, in a directory row */
};

/* Keeps those of n selected records that are not deleted.  Returns their number. */
static uint32_t drop_deleted(struct chooser *d, const struct sp__rows *rows, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bit = rows->first + d->selected[i] - d->first;

		if (!(d->bits[bit / 8] >> bit % 8 & 1))
			d->selected[left++] = d->selected[i];
	}
	return left;
}

/* Sets d->selected to the records of rows that are in the output.  Returns their number. */
static uint32_t choose(const struct scan *c, struct chooser *d, const struct sp__rows *rows)
{
	uint32_t n = rows->n;

	if (!d->selected)
		return n;
	if (d->scratch)
		n = sp__predicate_select(c->opts->where, d->scratch, rows, d->selected);
	else
		for (uint32_t i = 0; i < n; i++)
			d->selected[i] = i;
	return d->bits ? drop_deleted(d, rows, n) : n;
}

/* Prints the records of a window, at most `limit`. */
static int print(struct scan *c, struct sp__window_slot *s, uint64_t limit)
{
	struct sp__window *w = &s->window;
	struct chooser *d = s->own;

	s->out.bytes = 0;
	s->matched = s->records = 0;
	sp__window_rewind(w);
	for (size_t i = 0; i < w->nranges; i++) {
		const uint64_t end = w->ranges[i].first + w->ranges[i].n;

		for (uint64_t at = w->ranges[i].first; at < end && s->matched < limit;) {
			struct sp__rows rows = sp__window_rows(w, at);
			uint32_t n = choose(c, d, &rows);

			n = (uint32_t)sp__min(n, limit - s->matched);
			if (sp__output_rows(c->opts->output, &rows, d->selected, n, &s->out,
					    &w->file->env.budget))
				return sp__err(&s->err, -ENOMEM, "scan", w->file->path, -1);
			s->matched += n;
			s->records += rows.n;
			at += rows.n;
		}
	}
	return 0;
}

static int work(void *scan, struct sp__window_slot *s)
{
	return print(scan, s, UINT64_MAX);
}

/* Reads the tombstones of a window. */
static int read_deleted(struct scan *c, struct sp__window_slot *s)
{
	const struct sp__window *w = &s->window;
	const struct sp__window_range *last = &w->ranges[w->nranges - 1];
	struct chooser *d = s->own;
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
		return sp__err(c->ring.err, -ENOMEM, "scan", w->file->path, -1);
	return sp__tombstones_read(w->file, d->first, n, d->bits, c->ring.err);
}

static int fill(void *scan, struct sp__window_slot *s)
{
	struct scan *c = scan;
	int rc = sp__ranges_next(&c->ranges, &s->window, c->ring.err), deleted;

	deleted = rc == SP_READY ? read_deleted(c, s) : 0;
	return deleted ? deleted : rc;
}

static int give(void *scan, struct sp__window_slot *s)
{
	struct scan *c = scan;
	int rc = s->matched > c->left ? print(c, s, c->left) : 0;

	if (rc) {
		*c->ring.err = s->err;
		return rc;
	}
	c->left -= s->matched;
	c->stats->records_read += s->records;
	c->stats->records_matched += s->matched;
	c->stats->cells_read += s->window.cells_read;
	c->stats->output_bytes += s->out.bytes;
	sp__charge_work(&c->ring.file->env, s->matched, 0, s->out.bytes);
	if (s->out.bytes)
		rc = c->sink(c->arg, s->out.data, s->out.bytes);
	return rc ? rc : c->left ? 0 : SP_READY;
}

static int give_header(struct scan *c)
{
	struct sp__bytes header = { 0 };
	int rc = sp__output_header(c->opts->output, &header, NULL);

	if (rc)
		rc = sp__err(c->ring.err, rc, "scan", c->ring.file->path, -1);
	else if (header.bytes)
		rc = c->sink(c->arg, header.data, header.bytes);
	c->stats->output_bytes += header.bytes;
	sp__bytes_release(&header, NULL);
	return rc;
}

/* True if the predicate is true for no record of a directory row. */
static bool excluded(const void *scan, struct sp__tablefile *f, uint8_t *row)
{
	const struct scan *c = scan;

	for (uint32_t i = 0; i < f->schema.n; i++)
		if (f->schema.columns[i].bounds)
			c->bounds[i] = sp__directory_entry(f, row, i);
	return sp__predicate_excludes(c->opts->where, c->bounds);
}

/* Allocates what the choice of records needs.  Returns 0 or -ENOMEM. */
static int open_choice(struct scan *c)
{
	const struct sp__tablefile *f = c->ring.file;

	if (!c->opts->where && !f->superblock.deleted)
		return 0;
	c->bounds = calloc(f->schema.n, sizeof(*c->bounds));
	if (!c->bounds)
		return -ENOMEM;
	for (unsigned i = 0; i < c->ring.nslots; i++) {
		struct chooser *d = &c->choosers[i];

		d->selected = malloc(SP__ROWS_MAX * sizeof(*d->selected));
		if (c->opts->where)
			d->scratch = sp__predicate_scratch_new(c->opts->where);
		if (!d->selected || (c->opts->where && !d->scratch))
			return -ENOMEM;
	}
	if (c->opts->where) {
		c->ranges.rows_needed = true;
		c->ranges.skip = excluded;
		c->ranges.skip_arg = c;
	}
	return 0;
}

static void close_choice(struct scan *c)
{
	for (unsigned i = 0; i < SP__RING_SLOTS; i++) {
		free(c->choosers[i].bits);
		free(c->choosers[i].selected);
		sp__predicate_scratch_free(c->choosers[i].scratch);
	}
	free(c->bounds);
}

static int run(struct scan *c)
{
	int rc = sp__ring_open(&c->ring, c->opts->columns, c->choosers, sizeof(*c->choosers));

	if (rc)
		return rc;
	c->ranges.rows_needed = c->ring.slots[0].window.ntexts;
	c->ranges.window_bytes = c->ring.slot_bytes;
	c->ranges.printed_bytes = sp__output_record_bytes(c->opts->output);
	if (open_choice(c) || sp__ranges_open(&c->ranges, SP__RANGES_BYTES))
		return sp__err(c->ring.err, -ENOMEM, "scan", c->ring.file->path, -1);
	rc = give_header(c);
	return rc || !c->left ? rc : sp__ring_run(&c->ring);
}

int sp__tablescan(struct sp__tablefile *f, const struct sp__tablescan_opts *o, sp_table_sink sink,
		  void *arg, struct sp_table_stats *stats, struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { fill, work, give };
	struct scan c = { .opts = o,
			  .stats = stats,
			  .sink = sink,
			  .arg = arg,
			  .left = o->limit,
			  .ranges = { .file = f, .at = o->lo } };
	int rc;

	c.ring.file = f;
	c.ring.ops = &ops;
	c.ring.arg = &c;
	c.ring.err = err;
	c.ranges.end = o->hi < f->superblock.records ? o->hi + 1 : f->superblock.records;
	if (!f->superblock.deleted && !o->where && o->lo < c.ranges.end)
		c.ranges.end = o->lo + sp__min(o->limit, c.ranges.end - o->lo);
	rc = run(&c);
	sp__ring_close(&c.ring, stats);
	sp__ranges_close(&c.ranges);
	close_choice(&c);
	stats->pages_skipped = c.ranges.pages_skipped;
	return rc;
}
