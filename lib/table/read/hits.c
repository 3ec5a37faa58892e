/* SPDX-License-Identifier: MIT */
/*
 * Reads the columns of a predicate in windows; a task writes the numbers of the chosen records to
 * the output of its slot.
 */
#include <stdlib.h>
#include "base/err.h"
#include "table/read/hits.h"

/* Adds the numbers of the chosen records of rows to the output. */
static int add_numbers(const struct sp__hits *h, struct sp__window_slot *s,
		       const struct sp__rows *rows)
{
	struct sp__choice_slot *d = s->own;
	uint32_t n = sp__choice_select(&h->choice, d, rows);
	uint64_t *to;

	if (sp__bytes_reserve(&s->out, s->out.bytes + n * sizeof(*to), &h->ring.file->env.budget))
		return sp__err(&s->err, -ENOMEM, "scan", h->ring.file->path, -1);
	to = (uint64_t *)(void *)(s->out.data + s->out.bytes);
	for (uint32_t i = 0; i < n; i++)
		to[i] = rows->first + d->selected[i];
	s->out.bytes += n * sizeof(*to);
	s->records += rows->n;
	return 0;
}

static int work(void *hits, struct sp__window_slot *s)
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

int sp__hits_open(struct sp__hits *h, struct sp__tablefile *f, const struct sp__predicate *where,
		  uint64_t lo, uint64_t hi, unsigned parts, struct sp_table_stats *stats,
		  struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { sp__choice_fill, work, NULL };
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

void sp__hits_close(struct sp__hits *h)
{
	sp__ring_close(&h->ring, h->stats);
	sp__choice_close(&h->choice);
	free(h->columns);
}

int sp__hits_next(struct sp__hits *h, uint64_t *record)
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
