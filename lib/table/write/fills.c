/* SPDX-License-Identifier: MIT */
/*
 * Copies values to cells (fills.h).
 */
#include <stdlib.h>
#include "base/delay.h"
#include "table/values/strided.h"
#include "table/write/fills.h"

/* The ends of texts are where the writer has put them: in the references. */
static const uint8_t *values_of(const struct sp__column_values *c, const struct sp__value_type *t,
				uint32_t at, size_t *stride)
{
	*stride = t->kind == 't' ? sizeof(*c->refs) : t->bytes;
	return (t->kind == 't' ? (const uint8_t *)&c->refs->at : c->values) + at * *stride;
}

void sp__fill_copy(const struct sp__tablefile *file, const struct sp__column_values *columns,
		   const struct sp__fill *f)
{
	const struct sp__table_layout *l = &file->layout;
	const struct sp__column_group *group = &l->groups[f->group];
	uint8_t *cell = f->slab->data + (size_t)f->cell * l->cell_bytes;

	for (uint32_t i = 0; i < group->ncolumns; i++) {
		const uint32_t column = group->columns[i];
		const struct sp__column_place *p = &l->places[column];
		size_t stride;
		const uint8_t *from = values_of(&columns[column],
						&file->schema.columns[column].type, f->at, &stride);

		sp__strided_copy(cell + p->base + (size_t)f->record * p->stride, p->stride, from,
				 stride, p->bytes, f->n);
	}
}

/* Extends bounds by others. */
static void extend(struct sp__bounds *b, const struct sp__value_type *t,
		   const struct sp__bounds *more)
{
	sp__bounds_add(b, t, more->min, 1);
	sp__bounds_add(b, t, more->max, 1);
}

static void add_bounds(const struct sp__fills *f, const struct sp__fill_part *part)
{
	const struct sp__table_schema *s = &f->file->schema;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct sp__value_type *t = &s->columns[i].type;
		struct sp__bounds own;

		if (!s->columns[i].bounds)
			continue;
		sp__bounds_begin(&own, t);
		sp__bounds_add(&own, t, f->columns[i].values + (size_t)part->at * t->bytes,
			       part->n);
		pthread_mutex_lock(&part->row->lock);
		extend(&part->row->bounds[i], t, &own);
		pthread_mutex_unlock(&part->row->lock);
	}
	sp__delay(SP__DELAY_BUFFER);
	atomic_fetch_sub(&part->row->uses, 1);
}

void sp__fills_run(struct sp__fills *f)
{
	if (f->prepare)
		f->prepare(f->prepare_arg);
	f->prepare = NULL;
	for (size_t i = 0; i < f->nparts; i++)
		add_bounds(f, &f->parts[i]);
	for (size_t i = 0; i < f->n; i++) {
		if (f->list[i].group != UINT32_MAX)
			sp__fill_copy(f->file, f->columns, &f->list[i]);
		sp__delay(SP__DELAY_BUFFER);
		sp__slab_end_use(f->list[i].slab);
	}
	f->n = f->nparts = 0;
}

void sp__fills_free(struct sp__fills *f)
{
	free(f->list);
	free(f->parts);
	*f = (struct sp__fills){ 0 };
}
