/* SPDX-License-Identifier: MIT */
/*
 * Makes keys of values, also those of all records of a column.
 *
 * A number is stored with its highest byte first.  Its highest bit is inverted if the type has a
 * sign; all bits of a negative floating point number are.  Values that are equal have equal keys:
 * -0 becomes 0, and each NaN becomes the one that follows all numbers.
 */
#include <endian.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/few.h"
#include "base/minmax.h"
#include "columns/vector.h"
#include "run/charge.h"
#include "table/index/columnkey.h"
#include "table/read/ring.h"

/*
 * Scans one column.  A task makes of each value of its window the length of the key,
 * NO_KEY for NULL, and the key.
 */

#define NO_KEY UINT32_MAX

struct columnscan {
	struct sp__window_ring ring;
	const struct sp__columnscan_opts *opts;
	struct sp_table_stats *stats;
};

static const struct sp__column *column_of(const struct columnscan *c)
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

#define F32_INFINITE 0x7F800000
#define F64_INFINITE 0x7FF0000000000000

static uint64_t float_key(uint64_t bits, uint32_t bytes)
{
	const uint64_t sign = UINT64_C(1) << (8 * bytes - 1), size = bits & (sign - 1);

	if (size > (bytes == 4 ? F32_INFINITE : F64_INFINITE))
		return UINT64_MAX;
	return bits & sign && size ? ~bits : size | sign;
}

static struct sp__slice number_key(const struct sp__value_type *t, const uint8_t *value,
				   uint8_t space[SP__COLUMNKEY_SPACE])
{
	uint64_t bits = sp__load_few(value, t->bytes);

	if (t->kind == 'f')
		bits = float_key(bits, t->bytes);
	else if (t->kind != 'u')
		bits ^= UINT64_C(1) << (8 * t->bytes - 1);
	bits = htobe64(bits << (64 - 8 * t->bytes));
	memcpy(space, &bits, sizeof(bits));
	return (struct sp__slice){ (const char *)space, t->bytes };
}

struct sp__slice sp__columnkey(const struct sp__column *c, const struct sp__vector *v, uint32_t i,
			       uint8_t space[SP__COLUMNKEY_SPACE])
{
	static const struct sp__slice null = { NULL, 0 };
	const uint8_t *at = sp__vector_at(v, i);
	struct sp__slice s;

	if (!sp__type_is_text(&c->type))
		return sp__value_null(&c->type, at) ? null : number_key(&c->type, at, space);
	s = sp__column_text(c, v, i);
	return s.p ? s : null;
}

int sp__columnkey_of_text(const struct sp__column *c, const char *text, size_t n,
			  struct sp__bytes *b)
{
	const bool words = c->type.kind == 't' || c->type.kind == 'w';
	struct sp__slice key;
	uint8_t space[SP__COLUMNKEY_SPACE];

	if (words)
		return sp__text_null(text, n) ? 1 : sp__bytes_set(b, text, n, NULL);
	if (sp__bytes_reserve(b, c->type.bytes, NULL))
		return -ENOMEM;
	memset(b->data, 0, c->type.bytes);
	if (sp__value_read(&c->type, text, n, b->data) != SP__VALUE_OK)
		return 1;
	key = sp__columnkey(c, &(struct sp__vector){ .data = (uint8_t *)b->data }, 0, space);
	b->bytes = key.n;
	if (key.p == (const char *)space)
		memcpy(b->data, space, key.n);
	return key.p ? 0 : 1;
}
