/* SPDX-License-Identifier: MIT */
/*
 * Adds the values of one column to its aggregates, by a loop for each width of integers and floats.
 *
 * Sums do not depend on the order of the values: integers have 128 bits, floats an exact sum.
 */
#include <math.h>
#include <string.h>
#include "columns/aggregates_impl.h"

#define AT(i) (values->data + (size_t)(selected ? selected[i] : (i)) * values->stride)

/* total: holds the sum of SP__ROWS_MAX values. */
#define INTEGERS(name, type, total, null)                                                          \
	static void name(struct sp__column_sum *s, const struct sp__vector *values,                \
			 const uint32_t *selected, uint32_t n)                                     \
	{                                                                                          \
		type min = (type)s->min, max = (type)s->max, x;                                    \
		total sum = 0;                                                                     \
		uint32_t counted = 0;                                                              \
		for (uint32_t i = 0; i < n; i++) {                                                 \
			memcpy(&x, AT(i), sizeof(x));                                              \
			const bool is_null = x == (null);                                          \
			sum += is_null ? 0 : x;                                                    \
			counted += !is_null;                                                       \
			min = !is_null && x < min ? x : min;                                       \
			max = !is_null && x > max ? x : max;                                       \
		}                                                                                  \
		s->min = (uint64_t)min;                                                            \
		s->max = (uint64_t)max;                                                            \
		s->sum += sum;                                                                     \
		s->n += counted;                                                                   \
	}
INTEGERS(add_i8, int8_t, int64_t, INT8_MIN)
INTEGERS(add_i16, int16_t, int64_t, INT16_MIN)
INTEGERS(add_i32, int32_t, int64_t, INT32_MIN)
INTEGERS(add_i64, int64_t, sp__int128, INT64_MIN)
INTEGERS(add_u8, uint8_t, uint64_t, UINT8_MAX)
INTEGERS(add_u16, uint16_t, uint64_t, UINT16_MAX)
INTEGERS(add_u32, uint32_t, uint64_t, UINT32_MAX)
INTEGERS(add_u64, uint64_t, sp__int128, UINT64_MAX)

static void begin_integers(struct sp__column_sum *s, const struct sp__value_type *t)
{
	const unsigned unused = 64 - 8 * t->bytes;

	s->min = t->kind == 'u' ? UINT64_MAX : (uint64_t)(INT64_MAX >> unused);
	s->max = t->kind == 'u' ? 0 : (uint64_t)(INT64_MIN >> unused);
}

static void add_integers(struct sp__column_sum *s, const struct sp__value_type *t,
			 const struct sp__vector *values, const uint32_t *selected, uint32_t n)
{
	static void (*const add[2][4])(struct sp__column_sum *, const struct sp__vector *,
				       const uint32_t *,
				       uint32_t) = { { add_i8, add_i16, add_i32, add_i64 },
						     { add_u8, add_u16, add_u32, add_u64 } };

	if (!s->n)
		begin_integers(s, t);
	add[t->kind == 'u'][__builtin_ctz(t->bytes)](s, values, selected, n);
}

/* -0 becomes 0. */
static void add_end(struct sp__column_sum *s, double x)
{
	x += 0.0;
	s->min_real = x < s->min_real ? x : s->min_real;
	s->max_real = x > s->max_real ? x : s->max_real;
}

static void begin_floats(struct sp__column_sum *s)
{
	s->min_real = (double)INFINITY;
	s->max_real = -(double)INFINITY;
}

static void add_floats(struct sp__column_sum *s, const struct sp__aggregate_column *c,
		       const struct sp__value_type *t, const struct sp__vector *values,
		       const uint32_t *selected, uint32_t n)
{
	if (!s->n)
		begin_floats(s);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *at = AT(i);
		const double x = sp__predicate_load_float(t, at);
		const bool nan = isnan(x);

		if (__builtin_expect(nan, 0) && sp__value_null(t, at))
			continue;
		s->n++;
		s->nans += nan;
		if (c->sum)
			sp__exactsum_add(s->reals, x);
		if (c->ends && !nan)
			add_end(s, x);
	}
}

static struct sp__slice slice_of(const struct sp__bytes *b)
{
	return (struct sp__slice){ b->data ? b->data : "", b->bytes };
}

static int extend(struct sp__bytes *end, unsigned order, bool first, const struct sp__slice *text,
		  struct sp__budget *budget)
{
	const struct sp__slice now = slice_of(end);

	if (first || sp__predicate_text_order(text->p, text->n, now.p, now.n) == order)
		return sp__bytes_set(end, text->p, text->n, budget);
	return 0;
}

static int extend_both(struct sp__column_sum *s, const struct sp__slice *min,
		       const struct sp__slice *max, struct sp__budget *budget)
{
	int rc = extend(&s->min_text, SP__ORDER_LESS, !s->n, min, budget);

	return rc ? rc : extend(&s->max_text, SP__ORDER_MORE, !s->n, max, budget);
}

static int add_texts(struct sp__column_sum *s, const struct sp__aggregate_column *c,
		     const struct sp__column *column, const struct sp__vector *values,
		     const uint32_t *selected, uint32_t n, struct sp__budget *budget)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct sp__slice text =
			sp__column_text(column, values, selected ? selected[i] : i);
		int rc;

		if (!text.p)
			continue;
		rc = c->ends ? extend_both(s, &text, &text, budget) : 0;
		if (rc)
			return rc;
		s->n++;
	}
	return 0;
}

/* A code without a word is printed as NULL, and counts as NULL. */
static void add_codes(struct sp__column_sum *s, const struct sp__value_type *t, uint32_t codes,
		      const struct sp__vector *values, const uint32_t *selected, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *at = AT(i);
		const uint32_t code = at[0] | (t->bytes == 2 ? (uint32_t)at[1] << 8 : 0);

		if (!code || code > codes)
			continue;
		s->n++;
		if (s->codes)
			s->codes[code / 64] |= UINT64_C(1) << code % 64;
	}
}

int sp__column_sum_add(struct sp__column_sum *s, const struct sp__aggregate_column *c,
		       const struct sp__column *column, const struct sp__vector *values,
		       const uint32_t *selected, uint32_t n, struct sp__budget *budget)
{
	const struct sp__value_type *type = &column->type;

	if (type->kind == 'c' || type->kind == 't')
		return add_texts(s, c, column, values, selected, n, budget);
	if (type->kind == 'w')
		add_codes(s, type, column->words.n, values, selected, n);
	else if (type->kind == 'f')
		add_floats(s, c, type, values, selected, n);
	else
		add_integers(s, type, values, selected, n);
	return 0;
}

static void merge_integers(struct sp__column_sum *s, const struct sp__column_sum *more,
			   const struct sp__value_type *t)
{
	const bool is_unsigned = t->kind == 'u';
	bool less, greater;

	if (!s->n)
		begin_integers(s, t);
	less = is_unsigned ? more->min < s->min : (int64_t)more->min < (int64_t)s->min;
	greater = is_unsigned ? more->max > s->max : (int64_t)more->max > (int64_t)s->max;
	s->min = less ? more->min : s->min;
	s->max = greater ? more->max : s->max;
	s->sum += more->sum;
}

static void merge_floats(struct sp__column_sum *s, const struct sp__column_sum *more)
{
	if (!s->n)
		begin_floats(s);
	s->min_real = more->min_real < s->min_real ? more->min_real : s->min_real;
	s->max_real = more->max_real > s->max_real ? more->max_real : s->max_real;
	s->nans += more->nans;
	if (s->reals)
		sp__exactsum_merge(s->reals, more->reals);
}

int sp__column_sum_merge(struct sp__column_sum *s, const struct sp__aggregate_column *c,
			 const struct sp__column_sum *more, const struct sp__column *column,
			 struct sp__budget *budget)
{
	const struct sp__value_type *type = &column->type;
	const bool is_text = type->kind == 'c' || type->kind == 't';
	const struct sp__slice min = slice_of(&more->min_text), max = slice_of(&more->max_text);
	int rc = 0;

	if (!more->n)
		return 0;
	if (is_text && c->ends)
		rc = extend_both(s, &min, &max, budget);
	else if (type->kind == 'w')
		for (size_t i = 0; s->codes && i < sp__code_words(column->words.n); i++)
			s->codes[i] |= more->codes[i];
	else if (type->kind == 'f')
		merge_floats(s, more);
	else if (!is_text)
		merge_integers(s, more, type);
	s->n += more->n;
	return rc;
}
