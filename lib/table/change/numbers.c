/* SPDX-License-Identifier: MIT */
/*
 * Keeps record numbers in memory, and sorts them.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/change/numbers.h"

#define FIRST 1024 /* numbers */

int sp__chosen_add(struct sp__chosen_records *c, uint64_t record, struct sp_errinfo *err)
{
	size_t capacity = c->capacity ? 2 * c->capacity : FIRST;
	struct sp__chosen *list;

	if (c->n == c->capacity) {
		if (capacity > FIRST && capacity * sizeof(*list) > c->budget->limit_bytes / 2)
			return sp__errf(err, SP_EBUDGET, "choose", NULL, -1,
					"more than %zu keys: give more memory", c->n);
		list = reallocarray(c->list, capacity, sizeof(*list));
		if (!list)
			return sp__err(err, -ENOMEM, "allocate", NULL, -1);
		sp__budget_charge(c->budget, (capacity - c->capacity) * sizeof(*list));
		c->list = list;
		c->capacity = capacity;
	}
	c->list[c->n] = (struct sp__chosen){ record, c->n };
	c->n++;
	return 0;
}

static int by_record(const void *a, const void *b)
{
	const struct sp__chosen *x = a, *y = b;

	return SP__ORDER(x->record, y->record) ?: SP__ORDER(x->position, y->position);
}

void sp__chosen_sort(struct sp__chosen_records *c)
{
	if (c->n)
		qsort(c->list, c->n, sizeof(*c->list), by_record);
}

void sp__chosen_free(struct sp__chosen_records *c)
{
	if (c->list)
		sp__budget_credit(c->budget, c->capacity * sizeof(*c->list));
	free(c->list);
	*c = (struct sp__chosen_records){ 0 };
}
