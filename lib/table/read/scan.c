/* SPDX-License-Identifier: MIT */
/*
 * Scans a table: the next records fill a window, and a task prints those for which the predicate is
 * true and that were not deleted.  Directory rows that the predicate excludes are not read.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/read/choice.h"
#include "table/read/scan.h"

struct scan {
	struct sp__window_ring ring;
	struct sp__record_choice choice;
	const struct sp__tablescan_opts *opts;
	struct sp_table_stats *stats;
	sp_table_sink sink;
	void *arg;
	struct sp__scan_ranges ranges;
	uint64_t left; /* of the limit */
};

/* Prints or aggregates the n chosen records of rows. */
static int put_rows(struct scan *c, struct sp__window_slot *s, const struct sp__rows *rows,
		    uint32_t n)
{
	const struct sp__choice_slot *d = s->own;

	if (c->opts->sums)
		return sp__scan_sums_add(c->opts->sums, s, rows, d->selected, n);
	return sp__output_rows(c->opts->output, rows, d->selected, n, &s->out,
			       &s->window.file->env.budget);
}

/* Prints the records of a window, at most `limit`. */
static int print(struct scan *c, struct sp__window_slot *s, uint64_t limit)
{
	struct sp__window *w = &s->window;
	struct sp__choice_slot *d = s->own;

	s->out.bytes = 0;
	s->matched = s->records = 0;
	sp__window_rewind(w);
	for (size_t i = 0; i < w->nranges; i++) {
		const uint64_t end = w->ranges[i].first + w->ranges[i].n;

		for (uint64_t at = w->ranges[i].first; at < end && s->matched < limit;) {
			struct sp__rows rows = sp__window_rows(w, at);
			uint32_t n = sp__choice_select(&c->choice, d, &rows);

			n = (uint32_t)sp__min(n, limit - s->matched);
			if (put_rows(c, s, &rows, n))
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

static int fill(void *scan, struct sp__window_slot *s)
{
	struct scan *c = scan;
	int rc = sp__ranges_next(&c->ranges, &s->window, c->ring.err), deleted;

	deleted = rc == SP_READY ? sp__choice_read(s->own, &s->window, c->ring.err) : 0;
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

int sp__tablescan_header(const struct sp__tablefile *f, const struct sp__table_output *output,
			 sp_table_sink sink, void *arg, struct sp_table_stats *stats,
			 struct sp_errinfo *err)
{
	struct sp__bytes header = { 0 };
	int rc = sp__output_header(output, &header, NULL);

	if (rc)
		rc = sp__err(err, rc, "scan", f->path, -1);
	else if (header.bytes)
		rc = sink(arg, header.data, header.bytes);
	stats->output_bytes += header.bytes;
	sp__bytes_release(&header, NULL);
	return rc;
}

static int run(struct scan *c)
{
	int rc = sp__ring_open(&c->ring, c->opts->columns, c->choice.slots,
			       sizeof(*c->choice.slots));

	if (rc)
		return rc;
	c->ranges.rows_needed = c->ring.slots[0].window.ntexts;
	c->ranges.window_bytes = c->ring.slot_bytes;
	c->ranges.printed_bytes = sp__output_record_bytes(c->opts->output);
	if (sp__choice_open(&c->choice, &c->ranges, c->ring.nslots) ||
	    sp__ranges_open(&c->ranges, SP__RANGES_BYTES))
		return sp__err(c->ring.err, -ENOMEM, "scan", c->ring.file->path, -1);
	if (!c->opts->continued && !c->opts->sums)
		rc = sp__tablescan_header(c->ring.file, c->opts->output, c->sink, c->arg, c->stats,
					  c->ring.err);
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
			  .choice = { .where = o->where },
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
	sp__choice_close(&c.choice);
	stats->pages_skipped += c.ranges.pages_skipped;
	return rc;
}
