/* SPDX-License-Identifier: MIT */
/*
 * Scans a table: the next records fill a window, and a task prints those for which the predicate is
 * true and that were not deleted.  Directory rows that the predicate excludes are not read.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/read/columnjoin.h"
#include "table/read/scan.h"

/* Prints, aggregates or passes on the n chosen records of rows. */
static int put_rows(struct sp__rowscan *c, struct sp__window_slot *s, const struct sp__rows *rows,
		    uint32_t n)
{
	const struct sp__choice_slot *d = s->own;
	const struct sp__rows_user *user = c->opts->user;
	int rc;

	if (user)
		return user->put(user->arg, s, rows, d->selected, n);
	rc = c->opts->sums ? sp__scan_sums_add(c->opts->sums, s, rows, d->selected, n)
			   : sp__output_rows(c->opts->output, rows, d->selected, n, &s->out,
					     &s->window.file->env.budget, &s->err);
	return rc ? sp__err(&s->err, rc, "scan", s->window.file->path, -1) : 0;
}

/* Prints the records of a window, at most `limit`. */
static int print(struct sp__rowscan *c, struct sp__window_slot *s, uint64_t limit)
{
	struct sp__window *w = &s->window;
	struct sp__choice_slot *d = s->own;
	struct sp__rows rows;
	int rc = 0;

	s->out.bytes = 0;
	s->matched = s->records = 0;
	if (c->opts->user)
		c->opts->user->begin(c->opts->user->arg, s);
	sp__window_rewind(w);
	while (!rc && s->matched < limit && sp__window_next(w, &rows)) {
		uint32_t n = sp__choice_select(&c->choice, d, &rows);

		n = (uint32_t)sp__min(n, limit - s->matched);
		rc = put_rows(c, s, &rows, n);
		s->matched += n;
		s->records += rows.n;
	}
	return rc;
}

static int work(void *scan, struct sp__window_slot *s)
{
	return print(scan, s, UINT64_MAX);
}

int sp__rowscan_open(struct sp__rowscan *c, struct sp__tablefile *f,
		     const struct sp__tablescan_opts *o, struct sp_table_stats *stats,
		     struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { sp__choice_fill, work, NULL };
	const uint64_t records = f->superblock.records;
	struct sp__scan_ranges *r = &c->ring.ranges;
	int rc;

	*c = (struct sp__rowscan){ .ring = { .file = f,
					     .ops = &ops,
					     .arg = c,
					     .err = err,
					     .ahead_bytes = o->ahead_bytes },
				   .choice = { .where = o->where },
				   .opts = o,
				   .stats = stats,
				   .left = o->limit };
	r->at = o->lo;
	r->end = o->hi < records ? o->hi + 1 : records;
	r->printed_bytes = o->user ? o->user->record_bytes : sp__output_record_bytes(o->output);
	if (!f->superblock.deleted && !o->where && r->at < r->end)
		r->end = r->at + sp__min(o->limit, r->end - r->at);
	rc = sp__ring_open(&c->ring, o->columns, c->choice.slots, sizeof(*c->choice.slots));
	if (rc)
		return rc;
	rc = sp__choice_open(&c->choice, &c->ring);
	if (rc)
		return sp__err(err, rc, "scan", f->path, -1);
	for (uint32_t i = 0; i < f->schema.n; i++)
		c->nothers += o->columns[i];
	c->nothers -= c->choice.columns;
	return 0;
}

static void charge(const struct sp__rowscan *c, const struct sp__window_slot *s)
{
	const struct sp__tablefile *f = c->ring.file;

	sp__choice_charge(&c->choice, f, s->records);
	sp__charge_values(&f->env, s->matched * c->nothers, 0);
	sp__charge_work(&f->env, s->matched, 0, s->out.bytes);
	if (c->nothers)
		sp__columnjoin_charge(f, s->matched, c->nothers - !c->choice.columns);
}

int sp__rowscan_next(struct sp__rowscan *c, struct sp__window_slot **slot)
{
	struct sp__window_slot *s;
	int rc = c->left ? sp__ring_next(&c->ring, &s) : SP_END;

	if (rc != SP_READY)
		return rc;
	rc = s->matched > c->left ? print(c, s, c->left) : 0;
	if (rc) {
		*c->ring.err = s->err;
		return rc;
	}
	c->left -= s->matched;
	c->stats->records_read += s->records;
	c->stats->records_matched += s->matched;
	c->stats->cells_read += s->window.cells_read;
	c->stats->output_bytes += s->out.bytes;
	charge(c, s);
	*slot = s;
	return SP_READY;
}

void sp__rowscan_close(struct sp__rowscan *c)
{
	sp__ring_close(&c->ring, c->stats);
	sp__choice_close(&c->choice);
}

int sp__tablescan_header(const struct sp__tablefile *f, const struct sp__table_output *output,
			 const struct sp__reading *to)
{
	struct sp__bytes header = { 0 };
	int rc = sp__output_header(output, &header, NULL);

	/* The input was this line, without an end. */
	if (!f->superblock.records && output->unterminated != UINT64_MAX && header.bytes)
		header.bytes -= 1 + output->cr;
	if (rc)
		rc = sp__err(to->err, rc, "scan", f->path, -1);
	else if (header.bytes)
		rc = to->sink(to->arg, header.data, header.bytes);
	to->stats->output_bytes += header.bytes;
	sp__bytes_release(&header, NULL);
	return rc;
}

/* Gives the output of a slot away.  The end of a file is written last. */
static int give(struct sp__rowscan *c, struct sp__window_slot *s, const struct sp__reading *to)
{
	int rc = 0;

	if (!s->out.bytes)
		return 0;
	if (!to->file)
		return to->sink(to->arg, s->out.data, s->out.bytes);
	if (c->ring.ended && !c->ring.used)
		rc = sp__ring_written(&c->ring);
	if (!rc)
		sp__ring_write(s, to->file);
	return rc;
}

/* Waits for the output, whose error comes before those of later records. */
static int end_output(struct sp__rowscan *c, const struct sp__reading *to, int rc)
{
	int written = to->file ? sp__ring_written(&c->ring) : 0;

	return written ? written : rc;
}

int sp__tablescan(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
		  const struct sp__reading *to)
{
	struct sp__window_slot *s;
	struct sp__rowscan c;
	int rc = sp__rowscan_open(&c, f, o, to->stats, to->err);

	if (!rc && !o->continued && !o->sums)
		rc = sp__tablescan_header(f, o->output, to);
	while (!rc) {
		rc = sp__rowscan_next(&c, &s);
		if (rc != SP_READY)
			break;
		rc = give(&c, s, to);
	}
	rc = end_output(&c, to, rc);
	sp__rowscan_close(&c);
	return rc;
}
