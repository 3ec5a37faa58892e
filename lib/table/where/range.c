/* SPDX-License-Identifier: MIT */
/*
 * Finds the range of values that a predicate chooses.
 */
#include "table/where/program.h"

static bool less(const struct sp__value_type *t, uint64_t a, uint64_t b)
{
	return sp__predicate_unsigned(t) ? a < b : (int64_t)a < (int64_t)b;
}

bool sp__predicate_range(const struct sp__predicate *w, struct sp__predicate_range *r)
{
	const struct sp__value_type *t;

	*r = (struct sp__predicate_range){ .column = w->steps[0].column,
					   .low = w->steps[0].low,
					   .high = w->steps[0].high };
	t = &w->schema->columns[r->column].type;
	for (size_t i = 0; i < w->n; i++) {
		const struct sp__predicate_step *s = &w->steps[i];

		if (s->kind == SP__STEP_AND)
			continue;
		if (s->kind != SP__STEP_RANGE || s->negated || s->column != r->column)
			return false;
		r->empty |= s->empty;
		r->low = less(t, r->low, s->low) ? s->low : r->low;
		r->high = less(t, s->high, r->high) ? s->high : r->high;
	}
	r->empty |= less(t, r->high, r->low);
	return true;
}
