/* SPDX-License-Identifier: MIT */
/*
 * Changes tables for clients: at once through the journal, as the commands do, or in memory, where
 * changed cells stay in the order of their last change.
 */
#include <stdlib.h>
#include "base/err.h"
#include "run/memory.h"
#include "table/change/update.h"
#include "table/clients/change.h"
#include "table/clients/client.h"

/* Columns that are changed, and their values. */
struct values {
	struct sp__update_column *columns;
	uint32_t n;
	uint8_t *row;
};

static void free_values(struct values *v)
{
	free(v->columns);
	free(v->row);
}

/* Makes new values of the columns of a step. */
static int make_values(struct values *v, struct sp__client_table *t, const bool *columns)
{
	const struct sp__schema *s = &t->file.schema;
	size_t bytes = 1;

	for (uint32_t i = 0; i < s->n; i++)
		bytes += s->columns[i].type.bytes;
	v->columns = calloc(s->n, sizeof(*v->columns));
	v->row = malloc(bytes);
	if (!v->columns || !v->row)
		return -ENOMEM;
	bytes = 0;
	t->written++;
	for (uint32_t i = 0; i < s->n; i++) {
		if (!columns[i])
			continue;
		v->columns[v->n++] = (struct sp__update_column){ i, (uint32_t)bytes };
		sp__client_value(&s->columns[i], t->written, v->row + bytes);
		bytes += s->columns[i].type.bytes;
	}
	return 0;
}

static int update(struct sp__client *c, struct sp__client_table *t,
		  const struct sp__client_step *step)
{
	struct sp__tableupdate u = { 0 };
	struct values v = { 0 };
	int rc = make_values(&v, t, step->columns);

	rc = rc ? sp__err(c->all->err, rc, "update", t->file.path, -1)
		: sp__tableupdate_open(&u, &t->file, v.columns, v.n, c->nrows, 0, c->all->err);
	for (size_t i = 0; !rc && i < c->nrows; i++)
		rc = sp__tableupdate_put(&u, c->rows[i], v.row);
	if (!rc)
		rc = sp__tableupdate_finish(&u);
	sp__tableupdate_note(&u, &c->all->stats);
	sp__tableupdate_close(&u);
	free_values(&v);
	return rc;
}

/* Makes n records, whose values follow from their numbers.  Returns 0 or -ENOMEM. */
static int make_records(const struct sp__tablefile *f, uint64_t n,
			struct sp__column_values *columns)
{
	for (uint32_t i = 0; i < f->schema.n; i++) {
		const struct sp__column *c = &f->schema.columns[i];
		uint8_t *values = malloc(n * c->type.bytes);

		if (!values)
			return -ENOMEM;
		for (uint64_t k = 0; k < n; k++)
			sp__client_value(c, f->superblock.records + k, values + k * c->type.bytes);
		columns[i].values = values;
	}
	return 0;
}

static int insert(struct sp__client *c, struct sp__client_table *t,
		  const struct sp__client_step *step)
{
	struct sp__tablefile *f = &t->file;
	const uint64_t memory = sp__working_memory(&f->run, f->run.memory_bytes) / 3;
	struct sp__column_values *columns = calloc(f->schema.n, sizeof(*columns));
	struct sp__tableappend a = { 0 };
	int rc = columns ? make_records(f, step->records, columns) : -ENOMEM;

	rc = rc ? sp__err(c->all->err, rc, "append", f->path, -1)
		: sp__tableappend_open(&a, f, memory, c->all->err);
	if (!rc)
		rc = sp__tablewriter_put(&a.writer, step->records, columns);
	if (!rc)
		rc = sp__tableappend_finish(&a);
	sp__tablewriter_note(&a.writer, &c->all->stats.run);
	sp__tableappend_close(&a);
	for (uint32_t i = 0; columns && i < f->schema.n; i++)
		free((uint8_t *)(uintptr_t)columns[i].values);
	free(columns);
	return rc;
}

static int remove_records(struct sp__client *c, struct sp__client_table *t)
{
	struct sp__tabledelete d;
	int rc = sp__tabledelete_open(&d, &t->file, c->all->err);

	for (size_t i = 0; !rc && i < c->nrows; i++)
		rc = sp__tabledelete_put(&d, c->rows[i]);
	if (!rc)
		rc = sp__tabledelete_finish(&d);
	sp__tabledelete_close(&d);
	return rc;
}

int sp__client_change(struct sp__client *c, const struct sp__client_step *step)
{
	struct sp__client_table *t = &c->all->tables[step->table];
	int rc;

	c->all->stats.records_written += step->records;
	if (step->kind == SP__STEP_UPDATE)
		rc = update(c, t, step);
	else
		rc = step->kind == SP__STEP_INSERT ? insert(c, t, step) : remove_records(c, t);
	if (!rc && t->file.pool)
		sp__clotho_commit(&t->pool);
	return rc;
}

#define BUCKET_BYTES 8192 /* bytes of cells per bucket, about */

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
