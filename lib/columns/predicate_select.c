/* SPDX-License-Identifier: MIT */
/*
 * Selects rows: runs the steps of a predicate over blocks of rows.
 *
 * Each step has a loop over the values of one column, so that the type is decided once per block.
 * Results of a block stay in the cache of the processor.
 */
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "columns/predicate_program.h"
#include "rec/calendar.h"
#include "rec/value.h"

#define SHOWN 40 /* bytes of a value in a message */

/*
 * Orders numbers of different types exactly: integers and decimals in 128 bits, and a float, which
 * is a number m * 2^e, against a decimal without rounding either.
 */

static unsigned places_of(const struct sp__value_type *t)
{
	return t->kind == 'd' ? t->decimals : 0;
}

/* Returns an integer or a decimal in its units; dates and times in microseconds. */
static sp__int128 load(const struct sp__value_type *t, const uint8_t *at)
{
	const uint64_t bits = sp__predicate_load(t, at);

	if (sp__predicate_unsigned(t))
		return bits;
	return (sp__int128)(int64_t)bits * (t->kind == 'D' ? SP__DAY_US : 1);
}

static unsigned order_of(sp__int128 a, sp__int128 b)
{
	return a < b ? SP__ORDER_LESS : a > b ? SP__ORDER_MORE : SP__ORDER_EQUAL;
}

static unsigned reversed(unsigned order)
{
	return order == SP__ORDER_EQUAL ? order : order ^ (SP__ORDER_LESS | SP__ORDER_MORE);
}

/* Orders a number in units of 10^-places, less than 2^64 of them, and a float. */
static unsigned order_mixed(sp__int128 units, unsigned places, double x)
{
	sp__int128 scaled, floor;
	int exponent, shift;

	if (isnan(x) || x >= 0x1p64)
		return SP__ORDER_LESS;
	if (x <= -0x1p64)
		return SP__ORDER_MORE;
	/* x = m * 2^-shift, and scaled = m * 10^places has less than 53 + 60 bits. */
	scaled = (sp__int128)ldexp(frexp(x, &exponent), 53) * (sp__int128)sp__value_power(places);
	shift = 53 - exponent;
	if (shift <= 0)
		return order_of(units, scaled * ((sp__int128)1 << -shift));
	if (shift > 120) /* |x| is less than a unit */
		return order_of(2 * units, (x > 0) - (x < 0));
	floor = scaled >> shift;
	if (units == floor && scaled != floor * ((sp__int128)1 << shift))
		return SP__ORDER_LESS;
	return order_of(units, floor);
}

/* Returns the exact order of the numbers, dates or times of two columns, neither NULL. */
static unsigned number_order(const struct sp__value_type *x, const uint8_t *a,
			     const struct sp__value_type *y, const uint8_t *b)
{
	const unsigned x_places = places_of(x), y_places = places_of(y);
	sp__int128 v, w;

	if (x->kind == 'f' && y->kind == 'f')
		return sp__predicate_float_order(sp__predicate_load_float(x, a),
						 sp__predicate_load_float(y, b));
	if (y->kind == 'f')
		return order_mixed(load(x, a), x_places, sp__predicate_load_float(y, b));
	if (x->kind == 'f')
		return reversed(order_mixed(load(y, b), y_places, sp__predicate_load_float(x, a)));
	v = load(x, a);
	w = load(y, b);
	if (x_places < y_places)
		v *= (sp__int128)sp__value_power(y_places - x_places);
	else
		w *= (sp__int128)sp__value_power(x_places - y_places);
	return order_of(v, w);
}

#define BLOCK 1024u /* rows */

struct sp__predicate_scratch {
	struct sp__predicate_values *values; /* NULL: no step is a tree */
	uint8_t (*truths)[BLOCK];	     /* results that are kept */
};

struct sp__predicate_scratch *sp__predicate_scratch_new(const struct sp__predicate *w)
{
	struct sp__predicate_scratch *s = malloc(sizeof(*s) + (size_t)w->depth * BLOCK);
	bool trees = false;

	if (!s)
		return NULL;
	*s = (struct sp__predicate_scratch){ .truths = (void *)(s + 1) };
	for (size_t k = 0; k < w->n; k++)
		trees |= w->steps[k].kind == SP__STEP_TREE;
	if (!trees)
		return s;
	s->values = sp__predicate_values_new(w);
	if (!s->values) {
		free(s);
		return NULL;
	}
	return s;
}

void sp__predicate_scratch_free(struct sp__predicate_scratch *s)
{
	if (s)
		sp__predicate_values_free(s->values);
	free(s);
}

/* A part of the rows. */
struct block {
	const struct sp__schema *schema;
	const struct sp__rows *rows;
	const struct sp__chosen_rows *chosen;
	uint32_t first, n;
	/* Of the step that is run: where `before` has the value `decided`, it has no effect. */
	const uint8_t *before; /* NULL: it has one everywhere */
	uint8_t decided;
};

static bool is_decided(const struct block *b, uint32_t i)
{
	return b->before && b->before[i] == b->decided;
}

static const uint8_t *data_of(const struct block *b, uint32_t column)
{
	return sp__vector_at(&b->rows->vectors[column], b->first);
}

/* Returns the bits of NULL of a type of up to 8 bytes. */
static uint64_t null_of(const struct sp__value_type *t)
{
	uint64_t bits = 0;

	sp__value_set_null(t, &bits);
	return bits;
}

#define RANGE(name, type)                                                                          \
	static void name(const uint8_t *at, uint32_t stride, uint32_t n, uint64_t null_bits,       \
			 const struct sp__predicate_step *s, uint8_t *truth)                       \
	{                                                                                          \
		const type null = (type)null_bits, low = (type)s->low, high = (type)s->high;       \
		const uint8_t in = s->negated ? SP__FALSE : SP__TRUE;                              \
                                                                                                   \
		for (uint32_t i = 0; i < n; i++, at += stride) {                                   \
			type v;                                                                    \
                                                                                                   \
			memcpy(&v, at, sizeof(v));                                                 \
			truth[i] = v >= low && v <= high ? in : (uint8_t)(in ^ 3);                 \
			truth[i] = v == null ? 0 : truth[i];                                       \
		}                                                                                  \
	}
RANGE(range_i8, int8_t)
RANGE(range_i16, int16_t)
RANGE(range_i32, int32_t)
RANGE(range_i64, int64_t)
RANGE(range_u8, uint8_t)
RANGE(range_u16, uint16_t)
RANGE(range_u32, uint32_t)
RANGE(range_u64, uint64_t)

/* An empty range has 1 and 0 as its ends. */
static void run_range(const struct block *b, const struct sp__predicate_step *step, uint8_t *truth)
{
	static void (*const range[2][4])(const uint8_t *, uint32_t, uint32_t, uint64_t,
					 const struct sp__predicate_step *, uint8_t *) = {
		{ range_i8, range_i16, range_i32, range_i64 },
		{ range_u8, range_u16, range_u32, range_u64 },
	};
	const struct sp__value_type *t = &b->schema->columns[step->column].type;
	const uint32_t stride = b->rows->vectors[step->column].stride;
	const uint8_t *at = data_of(b, step->column);
	struct sp__predicate_step s = *step;

	if (s.empty) {
		s.low = 1;
		s.high = 0;
	}
	range[sp__predicate_unsigned(t)][__builtin_ctz(t->bytes)](at, stride, b->n, null_of(t), &s,
								  truth);
}

#define SHORT_SET 8

/* True if the set has v.  flip: for signed numbers the sign's bit. */
static bool has(const struct sp__predicate_step *s, uint64_t flip, uint64_t v)
{
	const uint64_t *base = s->set;
	bool found = false;

	if (s->n <= SHORT_SET) { /* without a branch that depends on values */
		for (size_t i = 0; i < s->n; i++)
			found |= base[i] == v;
		return found;
	}
	for (size_t n = s->n, half; n > 1; n -= half) {
		half = n / 2;
		base += (base[half] ^ flip) <= (v ^ flip) ? half : 0;
	}
	return *base == v;
}

#define SET(name, type)                                                                            \
	static void name(const uint8_t *at, uint32_t stride, uint32_t n, uint64_t null_bits,       \
			 uint64_t flip, const struct sp__predicate_step *s, uint8_t *truth)        \
	{                                                                                          \
		const type null = (type)null_bits;                                                 \
                                                                                                   \
		for (uint32_t i = 0; i < n; i++, at += stride) {                                   \
			type v;                                                                    \
                                                                                                   \
			memcpy(&v, at, sizeof(v));                                                 \
			truth[i] = (uint8_t)(SP__FALSE - has(s, flip, (uint64_t)v));               \
			truth[i] = v == null ? 0 : truth[i];                                       \
		}                                                                                  \
	}
SET(set_i8, int8_t)
SET(set_i16, int16_t)
SET(set_i32, int32_t)
SET(set_u8, uint8_t)
SET(set_u16, uint16_t)
SET(set_u32, uint32_t)
SET(set_64, uint64_t)

static void run_set(const struct block *b, const struct sp__predicate_step *s, uint8_t *truth)
{
	static void (*const set[2][4])(const uint8_t *, uint32_t, uint32_t, uint64_t, uint64_t,
				       const struct sp__predicate_step *, uint8_t *) = {
		{ set_i8, set_i16, set_i32, set_64 },
		{ set_u8, set_u16, set_u32, set_64 },
	};
	const struct sp__value_type *t = &b->schema->columns[s->column].type;
	const uint64_t flip = sp__predicate_unsigned(t) ? 0 : UINT64_C(1) << 63;
	const uint32_t stride = b->rows->vectors[s->column].stride;
	const uint8_t *at = data_of(b, s->column);

	set[sp__predicate_unsigned(t)][__builtin_ctz(t->bytes)](at, stride, b->n, null_of(t), flip,
								s, truth);
}

static uint8_t truth_of(unsigned orders, unsigned order)
{
	return orders & order ? SP__TRUE : SP__FALSE;
}

/*
 * A loop over floats, without a branch per value.  A NaN is neither less than a number nor equal to
 * it, so it is greater.  NULL is compared by its bits.
 */
#define FLOATS(name, type, bits_type)                                                              \
	static void name(const uint8_t *at, uint32_t stride, uint32_t n, bits_type null,           \
			 type number, unsigned orders, uint8_t *truth)                             \
	{                                                                                          \
		const unsigned less = !!(orders & SP__ORDER_LESS);                                 \
		const unsigned equal = !!(orders & SP__ORDER_EQUAL);                               \
		const unsigned more = !!(orders & SP__ORDER_MORE);                                 \
                                                                                                   \
		for (uint32_t i = 0; i < n; i++, at += stride) {                                   \
			bits_type bits;                                                            \
			type v;                                                                    \
			unsigned below, same;                                                      \
                                                                                                   \
			memcpy(&v, at, sizeof(v));                                                 \
			memcpy(&bits, at, sizeof(bits));                                           \
			below = v < number;                                                        \
			same = v == number;                                                        \
			below = (below & less) | (same & equal) | (((below | same) ^ 1) & more);   \
			truth[i] = (uint8_t)((SP__FALSE - below) & -(unsigned)(bits != null));     \
		}                                                                                  \
	}
FLOATS(float_f32, float, uint32_t)
FLOATS(float_f64, double, uint64_t)

/* Compares with NaN, which is equal to itself and greater than all numbers. */
static void run_nan(const struct block *b, const struct sp__predicate_step *s, uint8_t *truth)
{
	const struct sp__value_type *t = &b->schema->columns[s->column].type;
	const struct sp__vector *v = &b->rows->vectors[s->column];

	for (uint32_t i = 0; i < b->n; i++) {
		const uint8_t *at = sp__vector_at(v, b->first + i);
		const double x = sp__predicate_load_float(t, at);

		truth[i] = truth_of(s->orders, sp__predicate_float_order(x, s->number));
		if (__builtin_isnan(x) && sp__value_null(t, at))
			truth[i] = 0;
	}
}

static void run_float(const struct block *b, const struct sp__predicate_step *s, uint8_t *truth)
{
	const struct sp__value_type *t = &b->schema->columns[s->column].type;
	const uint32_t stride = b->rows->vectors[s->column].stride;
	const uint64_t null = null_of(t);

	if (__builtin_isnan(s->number))
		run_nan(b, s, truth);
	else if (t->bytes == 4)
		float_f32(data_of(b, s->column), stride, b->n, (uint32_t)null, (float)s->number,
			  s->orders, truth);
	else
		float_f64(data_of(b, s->column), stride, b->n, null, s->number, s->orders, truth);
}

/* Returns a text of a column; its p is NULL if it is NULL. */
static struct sp__slice text_at(const struct block *b, uint32_t column, uint32_t row)
{
	return sp__column_text(&b->schema->columns[column], &b->rows->vectors[column], row);
}

static uint8_t text_truth(const struct sp__predicate_step *s, const struct sp__slice *a,
			  const struct sp__slice *b)
{
	if (!a->p || !b->p)
		return 0;
	if (s->kind == SP__STEP_LIKE)
		return sp__expr_like(a, b) ? SP__TRUE : SP__FALSE;
	if (s->orders & SP__ORDER_PREFIX)
		return a->n >= b->n && !memcmp(a->p, b->p, b->n) ? SP__TRUE : SP__FALSE;
	return truth_of(s->orders, sp__predicate_text_order(a->p, a->n, b->p, b->n));
}

static void run_text(const struct block *b, const struct sp__predicate_step *s, uint8_t *truth)
{
	const struct sp__slice literal = { s->text, s->text_bytes };

	for (uint32_t i = 0; i < b->n; i++) {
		struct sp__slice text;

		truth[i] = b->decided;
		if (is_decided(b, i))
			continue;
		text = text_at(b, s->column, b->first + i);
		truth[i] = text_truth(s, &text, &literal);
	}
}

static void run_word(const struct block *b, const struct sp__predicate_step *s, uint8_t *truth)
{
	const struct sp__vector *v = &b->rows->vectors[s->column];
	const bool narrow = b->schema->columns[s->column].type.bytes == 1;

	for (uint32_t i = 0; i < b->n; i++) {
		const uint8_t *at = sp__vector_at(v, b->first + i);
		uint32_t code = narrow ? at[0] : at[0] | (uint32_t)at[1] << 8;

		truth[i] = code < s->n ? s->words[code] : 0;
	}
}

static void run_null(const struct block *b, const struct sp__predicate_step *s, uint8_t *truth)
{
	const struct sp__value_type *t = &b->schema->columns[s->column].type;
	const struct sp__vector *v = &b->rows->vectors[s->column];

	for (uint32_t i = 0; i < b->n; i++) {
		bool null;

		if (t->kind == 't')
			null = !text_at(b, s->column, b->first + i).p;
		else
			null = sp__value_null(t, sp__vector_at(v, b->first + i));
		truth[i] = null ? SP__TRUE : SP__FALSE;
	}
}

static void run_pair(const struct block *b, const struct sp__predicate_step *s, uint8_t *truth)
{
	const struct sp__value_type *x = &b->schema->columns[s->column].type;
	const struct sp__value_type *y = &b->schema->columns[s->other].type;

	for (uint32_t i = 0; i < b->n; i++) {
		const uint32_t row = b->first + i;
		const uint8_t *u, *v;

		truth[i] = b->decided;
		if (is_decided(b, i))
			continue;
		if (sp__type_is_text(x)) {
			const struct sp__slice p = text_at(b, s->column, row);
			const struct sp__slice q = text_at(b, s->other, row);

			truth[i] = text_truth(s, &p, &q);
			continue;
		}
		u = sp__vector_at(&b->rows->vectors[s->column], row);
		v = sp__vector_at(&b->rows->vectors[s->other], row);
		truth[i] = sp__value_null(x, u) || sp__value_null(y, v)
				   ? 0
				   : truth_of(s->orders, number_order(x, u, y, v));
	}
}

/* True if the step has no effect for row i of the block. */
static bool is_guarded(const struct sp__predicate_step *s, uint8_t (*truths)[BLOCK], uint32_t i)
{
	for (unsigned k = 0; k < s->nguards; k++)
		if (truths[s->guards[k].kept][i] == s->guards[k].truth)
			return true;
	return false;
}

static int run_tree(const struct sp__predicate *w, struct sp__predicate_scratch *scratch,
		    const struct block *b, const struct sp__predicate_step *s, uint8_t *truth)
{
	const struct sp__chosen_rows *c = b->chosen;
	struct sp__expr_bad bad;

	for (uint32_t i = 0; i < b->n; i++) {
		const uint64_t record = b->rows->first + b->first + i;
		int rc;

		truth[i] = 0;
		if (is_guarded(s, scratch->truths, i) || (c->ignored && c->ignored(c->arg, record)))
			continue;
		rc = sp__step_tree_truth(w, s, scratch->values, b->rows, b->first + i, &truth[i],
					 &bad);
		if (rc == SP_EFORMAT)
			return sp__errf(c->err, rc, "where", NULL, -1,
					"record %llu: '%.*s' is not %s", (unsigned long long)record,
					(int)sp__min(bad.text.n, SHOWN), bad.text.p, bad.wanted);
		if (rc)
			return sp__err(c->err, rc, "where", NULL, -1);
	}
	return 0;
}

static void run_leaf(const struct block *b, const struct sp__predicate_step *s, uint8_t *truth)
{
	switch (s->kind) {
	case SP__STEP_RANGE:
		return run_range(b, s, truth);
	case SP__STEP_SET:
		return run_set(b, s, truth);
	case SP__STEP_FLOAT:
		return run_float(b, s, truth);
	case SP__STEP_TEXT:
	case SP__STEP_LIKE:
		return run_text(b, s, truth);
	case SP__STEP_WORD:
		return run_word(b, s, truth);
	case SP__STEP_PAIR:
		return run_pair(b, s, truth);
	default:
		return run_null(b, s, truth);
	}
}

/* Combines two results; bit: the truth that both must have for the result to have it. */
static void combine(uint8_t *a, const uint8_t *b, uint32_t n, uint8_t bit)
{
	for (uint32_t i = 0; i < n; i++)
		a[i] = (uint8_t)((a[i] & b[i] & bit) | ((a[i] | b[i]) & (bit ^ 3)));
}

/* Runs all steps; the result is scratch->truths[0]. */
static int run(const struct sp__predicate *w, struct sp__predicate_scratch *scratch,
	       struct block *b)
{
	uint8_t(*top)[BLOCK] = scratch->truths;
	int rc = 0;

	for (size_t k = 0; !rc && k < w->n; k++) {
		const struct sp__predicate_step *s = &w->steps[k];

		if (s->kind == SP__STEP_TREE) {
			rc = run_tree(w, scratch, b, s, *top++);
		} else if (s->kind > SP__STEP_NOT) {
			b->before = s->nguards ? scratch->truths[s->guards->kept] : NULL;
			b->decided = s->nguards ? s->guards->truth : 0;
			run_leaf(b, s, *top++);
		} else if (s->kind == SP__STEP_NOT) {
			for (uint32_t i = 0; i < b->n; i++)
				top[-1][i] = (uint8_t)(top[-1][i] >> 1 | (top[-1][i] & 1) << 1);
		} else {
			top--;
			combine(top[-1], top[0], b->n,
				s->kind == SP__STEP_AND ? SP__TRUE : SP__FALSE);
		}
	}
	return rc;
}

int sp__predicate_select(const struct sp__predicate *w, struct sp__predicate_scratch *s,
			 const struct sp__rows *rows, struct sp__chosen_rows *chosen)
{
	uint32_t n = 0;
	int rc = 0;

	for (uint32_t first = 0; !rc && first < rows->n; first += BLOCK) {
		const uint32_t left = rows->n - first;
		struct block b = { .schema = w->schema,
				   .rows = rows,
				   .chosen = chosen,
				   .first = first,
				   .n = left < BLOCK ? left : BLOCK };

		rc = run(w, s, &b);
		for (uint32_t i = 0; !rc && i < b.n; i++) {
			chosen->at[n] = first + i;
			n += s->truths[0][i] & SP__TRUE;
		}
	}
	chosen->n = n;
	return rc;
}
