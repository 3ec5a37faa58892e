/* SPDX-License-Identifier: MIT */
/* Keeps changed cells in the order of their last change (changed.h). */
#include <stdlib.h>
#include "table/clients/changed.h"

#define BUCKET_BYTES 8192 /* of cells, about */

int sp__changed_open(struct sp__changed *c, uint64_t max_bytes)
{
	*c = (struct sp__changed){ .max_bytes = max_bytes, .nbuckets = 64 };
	TAILQ_INIT(&c->order);
	TAILQ_INIT(&c->leaving);
	while (c->nbuckets < max_bytes / BUCKET_BYTES && c->nbuckets < UINT64_C(1) << 24)
		c->nbuckets *= 2;
	c->buckets = calloc(c->nbuckets, sizeof(*c->buckets));
	return c->buckets ? 0 : -ENOMEM;
}

void sp__changed_close(struct sp__changed *c)
{
	c->max_bytes = 0;
	for (struct sp__changed_cell *e; c->buckets && (e = sp__changed_take(c));)
		free(e);
	free(c->buckets);
	*c = (struct sp__changed){ 0 };
}

/* Returns the link to a cell, or to the end of its bucket. */
static struct sp__changed_cell **find(const struct sp__changed *c, unsigned table, uint64_t cell)
{
	const uint64_t hash = sp__mix64(sp__mix64(table + 1) ^ cell);
	struct sp__changed_cell **e = &c->buckets[hash & (c->nbuckets - 1)];

	while (*e && ((*e)->table != table || (*e)->cell != cell))
		e = &(*e)->next;
	return e;
}

int sp__changed_put(struct sp__changed *c, unsigned table, uint64_t cell, uint32_t bytes)
{
	struct sp__changed_cell **link = find(c, table, cell), *e = *link;

	if (e) {
		TAILQ_REMOVE(&c->order, e, order);
	} else {
		e = calloc(1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		e->table = table;
		e->cell = cell;
		e->bytes = bytes;
		*link = e;
		c->bytes += bytes;
	}
	TAILQ_INSERT_TAIL(&c->order, e, order);
	return 0;
}

/* Moves a cell to those that leave. */
static void leave(struct sp__changed *c, struct sp__changed_cell **link)
{
	struct sp__changed_cell *e = *link;

	*link = e->next;
	c->bytes -= e->bytes;
	TAILQ_REMOVE(&c->order, e, order);
	TAILQ_INSERT_TAIL(&c->leaving, e, order);
}

void sp__changed_leave(struct sp__changed *c, unsigned table, uint64_t cell)
{
	struct sp__changed_cell **link = find(c, table, cell);

	if (*link)
		leave(c, link);
}

struct sp__changed_cell *sp__changed_take(struct sp__changed *c)
{
	struct sp__changed_cell *e = TAILQ_FIRST(&c->order);

	if (e && c->bytes > c->max_bytes)
		leave(c, find(c, e->table, e->cell));
	e = TAILQ_FIRST(&c->leaving);
	if (e)
		TAILQ_REMOVE(&c->leaving, e, order);
	return e;
}
