/* SPDX-License-Identifier: MIT */
/*
 * Scans a table: the next records fill a window, and a task prints those for which the predicate is
 * true and that were not deleted.  Directory rows that the predicate excludes are not read.
 *
 * An SI-scan has two steps: it finds the records that the columns of the predicate choose, and gets
 * them.  An adaptive scan chooses the way by what the predicate chose before.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/read/choice.h"
#include "table/read/get.h"
#include "table/read/scan.h"

/*
 * Reads the columns of a predicate in windows; a task writes the numbers of the chosen records to
 * the output of its slot.
 */

struct sp__hits {
	struct sp__window_ring ring;
	struct sp__record_choice choice;
	struct sp_table_stats *stats;
	bool *columns;
	const uint64_t
		*numbers; /* n numbers of the slot that was taken last; `next` of them are used */
	uint64_t n, next;
};

/* Adds the numbers of the chosen records of rows to the output. */
static int add_numbers(const struct sp__hits *h, struct sp__window_slot *s,
		       const struct sp__rows *rows)
{
	struct sp__choice_slot *d = s->own;
	uint64_t *to;
	uint32_t n;
	int rc = sp__choice_select(&h->choice, d, rows, &n, &s->err);

	if (rc)
		return rc;
	if (sp__bytes_reserve(&s->out, s->out.bytes + n * sizeof(*to), &h->ring.file->env.budget))
		return sp__err(&s->err, -ENOMEM, "scan", h->ring.file->path, -1);
	to = (uint64_t *)(void *)(s->out.data + s->out.bytes);
	for (uint32_t i = 0; i < n; i++)
		to[i] = rows->first + d->selected[i];
	s->out.bytes += n * sizeof(*to);
	s->records += rows->n;
	return 0;
}

static int find_hits(void *hits, struct sp__window_slot *s)
{
	struct sp__rows rows;
	int rc = 0;

	while (!rc && sp__window_next(&s->window, &rows))
		rc = add_numbers(hits, s, &rows);
	return rc;
}

static int open_ring(struct sp__hits *h)
{
	int rc = sp__ring_open(&h->ring, h->columns, h->choice.slots, sizeof(*h->choice.slots));

	if (rc)
		return rc;
	rc = sp__choice_open(&h->choice, &h->ring);
	return rc ? sp__err(h->ring.err, rc, "scan", h->ring.file->path, -1) : 0;
}

/*
 * Opens the records [lo, hi] for which the predicate is true; it has one of `parts` of the memory.
 * stats receives counters of reading until the hits are closed.  Returns 0, -ENOMEM, or an error of
 * the queue, recorded in err.  After an error, too, they must be closed.
 */
static int hits_open(struct sp__hits *h, struct sp__tablefile *f, const struct sp__predicate *where,
		     uint64_t lo, uint64_t hi, unsigned parts, struct sp_table_stats *stats,
		     struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { sp__choice_fill, find_hits, NULL };
	const uint64_t records = f->superblock.records;

	*h = (struct sp__hits){ .ring = { .file = f,
					  .ops = &ops,
					  .arg = h,
					  .err = err,
					  .parts = parts,
					  .ranges = { .at = lo,
						      .end = hi < records ? hi + 1 : records,
						      .printed_bytes = sizeof(*h->numbers) } },
				.choice = { .where = where },
				.stats = stats,
				.columns = calloc(f->schema.n, sizeof(*h->columns)) };
	if (!h->columns)
		return sp__err(err, -ENOMEM, "scan", f->path, -1);
	sp__predicate_columns(where, h->columns);
	return open_ring(h);
}

static void hits_close(struct sp__hits *h)
{
	sp__ring_close(&h->ring, h->stats);
	sp__choice_close(&h->choice);
	free(h->columns);
}

/* Returns SP_READY and a number; SP_END; or an error, recorded in err. */
static int hits_next(struct sp__hits *h, uint64_t *record)
{
	while (h->next == h->n) {
		struct sp__window_slot *s;
		int rc = sp__ring_next(&h->ring, &s);

		if (rc != SP_READY)
			return rc;
		h->numbers = (const uint64_t *)(const void *)s->out.data;
		h->n = s->out.bytes / sizeof(*h->numbers);
		h->next = 0;
		sp__choice_charge(&h->choice, h->ring.file, s->records);
		h->stats->records_read += s->records;
		h->stats->cells_read += s->window.cells_read;
	}
	*record = h->numbers[h->next++];
	return SP_READY;
}

#define FIRST_RECORDS 65536 /* records of the first part; each other part is larger by a factor */
#define PART_FACTOR 4

struct scattered {
	struct sp__hits hits;
	uint64_t left; /* records that the limit leaves */
};

static int next(void *scattered, uint64_t *record)
{
	struct scattered *s = scattered;
	int rc = s->left ? hits_next(&s->hits, record) : SP_END;

	s->left -= rc == SP_READY;
	return rc;
}

static int absent(void *unused, uint64_t record)
{
	(void)unused;
	(void)record;
	return SP_ESTATE; /* chosen records exist */
}

void sp__tablescan_chosen_columns(const struct sp__tablefile *f, const struct sp__tablescan_opts *o,
				  bool *columns)
{
	if (o->sums)
		sp__aggregates_columns(o->sums->aggregates, columns);
	for (uint32_t k = 0; k < o->output->n; k++)
		columns[o->output->columns[k]] = true;
	if (!memchr(columns, 1, f->schema.n))
		memcpy(columns, o->columns, f->schema.n * sizeof(*columns));
}

int sp__tablescan_chosen(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
			 int (*next_number)(void *, uint64_t *), void *numbers,
			 const struct sp__tableget_check *check, const struct sp__reading *to)
{
	bool *columns = calloc(f->schema.n, sizeof(*columns));
	struct sp__tableget_opts get = { .next = next_number,
					 .absent = absent,
					 .arg = numbers,
					 .exist = true,
					 .parts = SP__SCATTERED_STEPS,
					 .gap_bytes = o->gap_bytes,
					 .columns = columns,
					 .output = o->output,
					 .sums = o->sums,
					 .check = check };
	int rc;

	if (!columns)
		return sp__err(to->err, -ENOMEM, "scan", f->path, -1);
	sp__tablescan_chosen_columns(f, o, columns);
	if (check)
		columns[check->column] = true;
	rc = sp__tableget(f, &get, to);
	to->stats->keys = to->stats->keys_found = 0;
	free(columns);
	return rc;
}

/* Gets the records of the hits. */
static int get(struct scattered *s, struct sp__tablefile *f, const struct sp__tablescan_opts *o,
	       const struct sp__reading *to)
{
	const uint64_t matched = to->stats->records_matched;
	int rc = sp__tablescan_chosen(f, o, next, s, NULL, to);

	/* These records were counted when the predicate was evaluated. */
	to->stats->records_read -= to->stats->records_matched - matched;
	return rc;
}

int sp__tablescan_scattered(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
			    const struct sp__reading *to)
{
	struct scattered s = { .left = o->limit };
	int rc = o->continued || o->sums ? 0 : sp__tablescan_header(f, o->output, to);

	if (rc)
		return rc;
	rc = hits_open(&s.hits, f, o->where, o->lo, o->hi, SP__SCATTERED_STEPS, to->stats, to->err);
	if (!rc)
		rc = get(&s, f, o, to);
	hits_close(&s.hits);
	return rc;
}

uint64_t sp__tablescan_part(const struct sp__table_layout *l, uint64_t at, unsigned i)
{
	const uint64_t page = l->page_records;
	uint64_t n = FIRST_RECORDS;

	for (; i && n < SP__TABLE_RECORDS_MAX; i--)
		n *= PART_FACTOR;
	return ((at + n) / page + 1) * page;
}

int sp__tablescan_adaptive(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
			   double max_share, const struct sp__reading *to)
{
	struct sp__tablescan_opts part = *o;
	bool scattered = false;
	unsigned n = 0;
	int rc = 0;

	do {
		uint64_t read = to->stats->records_read, matched = to->stats->records_matched;

		part.hi = sp__min(sp__tablescan_part(&f->layout, part.lo, n++),
				  f->superblock.records);
		part.hi = sp__min(o->hi, part.hi - 1);
		rc = scattered ? sp__tablescan_scattered(f, &part, to)
			       : sp__tablescan(f, &part, to);
		read = to->stats->records_read - read;
		matched = to->stats->records_matched - matched;
		if (read)
			scattered = (double)matched < max_share * (double)read;
		part.limit -= matched;
		part.lo = part.hi + 1;
		part.continued = true;
	} while (!rc && part.limit && part.lo <= o->hi && part.lo < f->superblock.records);
	return rc;
}

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
		uint32_t n;

		rc = sp__choice_select(&c->choice, d, &rows, &n, &s->err);
		if (rc)
			break;
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
