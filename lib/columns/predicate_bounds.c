/* SPDX-License-Identifier: MIT */
/*
 * Decides from bounds whether a predicate can be true for a record: each step gives the truths
 * that are possible; unknown ones are all possible.
 */
#include "columns/predicate_program.h"
#include "rec/value.h"

#define ALL (SP__TRUE | SP__FALSE)
#define MAX_KEPT 128 /* results; predicates that keep more exclude nothing */

/* Returns a number that orders signed and unsigned ones. */
static sp__int128 widen(const struct sp__value_type *t, uint64_t bits)
{
	return sp__predicate_unsigned(t) ? (sp__int128)bits : (sp__int128)(int64_t)bits;
}

static sp__int128 load_bound(const struct sp__value_type *t, const uint8_t *at)
{
	return widen(t, sp__predicate_load(t, at));
}

static unsigned range_truths(const struct sp__value_type *t, const struct sp__predicate_step *s,
			     const uint8_t *bounds)
{
	const sp__int128 least = load_bound(t, bounds), greatest = load_bound(t, bounds + 8);
	const sp__int128 low = widen(t, s->low), high = widen(t, s->high);
	unsigned in = SP__TRUE, out = SP__FALSE, truths = 0;

	if (s->negated) {
		in = SP__FALSE;
		out = SP__TRUE;
	}
	if (!s->empty && least <= high && greatest >= low)
		truths |= in;
	if (s->empty || least < low || greatest > high)
		truths |= out;
	return truths;
}

static unsigned set_truths(const struct sp__value_type *t, const struct sp__predicate_step *s,
			   const uint8_t *bounds)
{
	const sp__int128 least = load_bound(t, bounds), greatest = load_bound(t, bounds + 8);

	for (size_t i = 0; i < s->n; i++)
		if (widen(t, s->set[i]) >= least && widen(t, s->set[i]) <= greatest)
			return ALL;
	return SP__FALSE;
}

static unsigned float_truths(const struct sp__value_type *t, const struct sp__predicate_step *s,
			     const uint8_t *bounds)
{
	const unsigned least =
		sp__predicate_float_order(sp__predicate_load_float(t, bounds), s->number);
	const unsigned greatest =
		sp__predicate_float_order(sp__predicate_load_float(t, bounds + 8), s->number);
	unsigned orders = least | greatest;

	if (least == SP__ORDER_LESS && greatest == SP__ORDER_MORE)
		orders |= SP__ORDER_EQUAL;
	return (orders & s->orders ? SP__TRUE : 0u) | (orders & ~s->orders ? SP__FALSE : 0u);
}

/* Returns the truths that a comparison can have. */
static unsigned truths_of(const struct sp__predicate *w, const struct sp__predicate_step *s,
			  const uint8_t *const *bounds)
{
	const struct sp__value_type *t = &w->schema->columns[s->column].type;
	const uint8_t *b = bounds[s->column];

	if (!b || s->kind == SP__STEP_NULL || s->kind == SP__STEP_PAIR || s->kind == SP__STEP_TREE)
		return ALL;
	if (sp__value_null(t, b))
		return 0;
	switch (s->kind) {
	case SP__STEP_RANGE:
		return range_truths(t, s, b);
	case SP__STEP_SET:
		return set_truths(t, s, b);
	case SP__STEP_FLOAT:
		return float_truths(t, s, b);
	default:
		return ALL;
	}
}

bool sp__predicate_excludes(const struct sp__predicate *w, const uint8_t *const *bounds)
{
	unsigned kept[MAX_KEPT], n = 0;

	if (w->depth > MAX_KEPT)
		return false;
	for (size_t k = 0; k < w->n; k++) {
		const struct sp__predicate_step *s = &w->steps[k];
		unsigned *a, b;

		if (s->kind > SP__STEP_NOT) {
			kept[n++] = truths_of(w, s, bounds);
		} else if (s->kind == SP__STEP_NOT) {
			kept[n - 1] = kept[n - 1] >> 1 | (kept[n - 1] & 1) << 1;
		} else {
			const unsigned bit = s->kind == SP__STEP_AND ? SP__TRUE : SP__FALSE;

			b = kept[--n];
			a = &kept[n - 1];
			*a = (*a & b & bit) | ((*a | b) & (ALL ^ bit));
		}
	}
	return !(kept[0] & SP__TRUE);
}
