/* SPDX-License-Identifier: MIT */
/*
 * Scans one column (columnscan.h).  A task makes of each value of its window the length of the key,
 * NO_KEY for NULL, and the key.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/index/columnscan.h"
#include "table/read/ring.h"

#define NO_KEY UINT32_MAX

struct columnscan {
	struct sp__window_ring ring;
	const struct sp__columnscan_opts *opts;
	struct sp_table_stats *stats;
};

static const struct sp__table_column *column_of(const struct columnscan *c)
{
	return &c->ring.file->schema.columns[c->opts->column];
}

static int put(struct sp__bytes *out, struct sp__slice key, struct sp__budget *budget)
{
	const uint32_t n = key.p ? (uint32_t)key.n : NO_KEY;
	const size_t need = out->bytes + sizeof(n) + key.n;

	if (need > out->capacity && sp__bytes_reserve(out, need, budget))
		return -ENOMEM;
	memcpy(out->data + out->bytes, &n, sizeof(n));
	if (key.n)
		memcpy(out->data + out->bytes + sizeof(n), key.p, key.n);
	out->bytes = need;
	return 0;
}

static int work(void *scan, struct sp__window_slot *s)
{
	struct columnscan *c = scan;
	const uint32_t column = c->opts->column;
	struct sp__budget *budget = &c->ring.file->env.budget;
	uint8_t space[SP__COLUMNKEY_SPACE];
	struct sp__rows rows;
	int rc = 0;

	while (!rc && sp__window_next(&s->window, &rows))
		for (uint32_t i = 0; !rc && i < rows.n; i++)
			rc = put(&s->out,
				 sp__columnkey(column_of(c), &rows.vectors[column], i, space),
				 budget);
	return rc ? sp__err(&s->err, rc, "read", c->ring.file->path, -1) : 0;
}

static int give(void *scan, struct sp__window_slot *s)
{
	struct columnscan *c = scan;
	const struct sp__window *w = &s->window;
	const char *at = s->out.data;
	uint64_t records = 0;
	int rc = 0;

	for (size_t k = 0; k < w->nranges; k++) {
		for (uint64_t i = 0; !rc && i < w->ranges[k].n; i++) {
			uint32_t n;

			memcpy(&n, at, sizeof(n));
			at += sizeof(n);
			if (n == NO_KEY)
				continue;
			rc = c->opts->each(c->opts->arg, w->ranges[k].first + i, at, n);
			at += n;
		}
		records += w->ranges[k].n;
	}
	c->stats->records_read += records;
	c->stats->cells_read += w->cells_read;
	sp__charge_work(&c->ring.file->env, records, 0, s->out.bytes);
	sp__charge_values(&c->ring.file->env, records, 0);
	return rc;
}

static int run(struct columnscan *c, bool *columns)
{
	int rc;

	columns[c->opts->column] = true;
	rc = sp__ring_open(&c->ring, columns, NULL, 0);
	if (rc)
		return rc;
	c->ring.ranges.window_bytes /= c->opts->memory_share;
	c->ring.ranges.printed_bytes =
		sizeof(uint32_t) + sp__max(column_of(c)->type.bytes, SP__COLUMNKEY_SPACE);
	if (sp__ranges_open(&c->ring.ranges, SP__RANGES_BYTES))
		return sp__err(c->ring.err, -ENOMEM, "read", c->ring.file->path, -1);
	return sp__ring_run(&c->ring);
}

int sp__columnscan(struct sp__tablefile *f, const struct sp__columnscan_opts *o,
		   struct sp_table_stats *stats, struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { sp__ring_fill, work, give };
	struct columnscan c = { .ring = { .file = f,
					  .ops = &ops,
					  .arg = &c,
					  .err = err,
					  .ranges = { .at = o->first,
						      .end = f->superblock.records } },
				.opts = o,
				.stats = stats };
	bool *columns = calloc(f->schema.n, sizeof(*columns));
	int rc;

	if (!columns)
		return sp__err(err, -ENOMEM, "read", f->path, -1);
	rc = run(&c, columns);
	sp__ring_close(&c.ring, stats);
	free(columns);
	return rc;
}
