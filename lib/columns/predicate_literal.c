/* SPDX-License-Identifier: MIT */
/*
 * Compares columns with literals: converts a literal to the type of the column, exactly.
 *
 * A number with more decimals than a column has, or beyond its range, still has values below and
 * above it, so each comparison of integers and decimals becomes a range of them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/decimal.h"
#include "base/floats.h"
#include "columns/predicate_program.h"
#include "rec/calendar.h"

#define MAX_NUMBER ((sp__int128)1 << 100) /* greater than any number of a column */
#define MAX_EXPONENT 10000

static const char texts_reason[] = "is compared with a column of texts: write texts in single "
				   "quotes; numbers need a column of "
				   "numbers, which convert --types=COL:f64 TABLE OUT makes";

/* A decimal number times 10^places: the greatest integer that is not above it. */
struct number {
	sp__int128 floor;
	bool exact; /* it is this integer */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads the digits of a number, with one point.  False: there are none, or other characters. */
static bool read_digits(const char **at, const char *end, int *point)
{
	const char *p = *at;
	bool digits = false, seen = false;

	*point = 0;
	for (; p < end && (is_digit(*p) || (*p == '.' && !seen)); p++) {
		digits |= *p != '.';
		seen |= *p == '.';
		*point -= seen && *p != '.';
	}
	*at = p;
	return digits;
}

static bool read_exponent(const char *p, const char *end, int *exponent)
{
	bool minus = false;

	*exponent = 0;
	if (p == end)
		return true;
	if ((*p | 32) != 'e' || ++p == end)
		return false;
	if (*p == '-' || *p == '+')
		minus = *p++ == '-';
	if (p == end)
		return false;
	for (; p < end && is_digit(*p); p++)
		if (*exponent < MAX_EXPONENT)
			*exponent = 10 * *exponent + (*p - '0');
	*exponent = minus ? -*exponent : *exponent;
	return p == end;
}

/* Adds a digit; numbers beyond all columns stay at MAX_NUMBER. */
static sp__int128 add_digit(sp__int128 v, unsigned digit)
{
	return v >= MAX_NUMBER / 10 ? MAX_NUMBER : 10 * v + (int)digit;
}

/* Reads an infinity; NaN is greater than every number. */
static bool read_infinity(const struct sp__predicate_literal *l, struct number *n)
{
	double x;

	if (sp__read_f64(l->text, l->bytes, &x) || isfinite(x))
		return false;
	*n = (struct number){ x < 0 ? -MAX_NUMBER : MAX_NUMBER, true };
	return true;
}

static bool read_number(const struct sp__predicate_literal *l, unsigned places, struct number *n)
{
	const char *p = l->text, *end = p + l->bytes, *digits;
	bool minus = false;
	int point, exponent;

	*n = (struct number){ .exact = true };
	if (p < end && (*p == '-' || *p == '+'))
		minus = *p++ == '-';
	digits = p;
	if (!read_digits(&p, end, &point) || !read_exponent(p, end, &exponent))
		return read_infinity(l, n);
	exponent += point + (int)places; /* exponent of the number that all digits make */
	end = p;
	for (p = digits; p < end; p++) {
		int behind = 0; /* digits from this one on that are below 1 */

		if (*p == '.')
			continue;
		for (const char *q = p; q < end && exponent < 0 && behind <= -exponent; q++)
			behind += *q != '.';
		if (exponent < 0 && behind <= -exponent)
			n->exact &= *p == '0';
		else
			n->floor = add_digit(n->floor, (unsigned)(*p - '0'));
	}
	for (; exponent > 0 && n->floor && n->floor < MAX_NUMBER; exponent--)
		n->floor = add_digit(n->floor, 0);
	if (minus)
		n->floor = -n->floor - !n->exact;
	return true;
}

/* Reads a date with a time of day, in days. */
static bool read_moment(const struct sp__predicate_literal *l, struct number *n)
{
	const struct sp__value_type time = { 'T', SP__TIME_DECIMALS, 8 };
	int64_t us;

	if (sp__value_read(&time, l->text, l->bytes, &us) != SP__VALUE_OK)
		return false;
	*n = (struct number){ us / SP__DAY_US - (us % SP__DAY_US < 0), us % SP__DAY_US == 0 };
	return true;
}

/* Converts a date or time, a whole number of the column; a time has all decimals of the second. */
static bool read_day(const struct sp__value_type *t, const struct sp__predicate_literal *l,
		     struct number *n)
{
	struct sp__value_type exact = *t;
	uint8_t value[8] = { 0 };
	int64_t wide;
	int32_t narrow;

	exact.decimals = t->kind == 'T' ? SP__TIME_DECIMALS : t->decimals;
	if (sp__value_read(&exact, l->text, l->bytes, value) != SP__VALUE_OK)
		return t->kind == 'D' && read_moment(l, n);
	memcpy(&narrow, value, sizeof(narrow));
	memcpy(&wide, value, sizeof(wide));
	*n = (struct number){ t->bytes == 4 ? narrow : wide, true };
	return true;
}

/* Sets the range of values that have one of the orders to the number. */
static void set_range(struct sp__predicate_step *s, const struct sp__value_type *t, unsigned orders,
		      const struct number *n)
{
	const bool is_unsigned = sp__predicate_unsigned(t);
	const unsigned bits = 8 * t->bytes - !is_unsigned;
	const sp__int128 max = ((sp__int128)1 << bits) - 1, min = is_unsigned ? 0 : -max - 1;
	sp__int128 low = min, high = max;

	s->kind = SP__STEP_RANGE;
	s->negated = orders == (SP__ORDER_LESS | SP__ORDER_MORE);
	if (s->negated)
		orders = SP__ORDER_EQUAL;
	if (!(orders & SP__ORDER_LESS))
		low = n->floor + !(n->exact && orders & SP__ORDER_EQUAL);
	if (!(orders & SP__ORDER_MORE))
		high = n->floor - (n->exact && !(orders & SP__ORDER_EQUAL));
	s->empty = low > high || low > max || high < min;
	s->low = (uint64_t)(low < min ? min : low);
	s->high = (uint64_t)(high > max ? max : high);
}

static bool to_number(const struct sp__value_type *t, const struct sp__predicate_literal *l,
		      struct number *n, const char **reason)
{
	if (t->kind == 'D' || t->kind == 'T') {
		*reason = t->kind == 'D' ? "is not a date, such as '2026-11-27'"
					 : "is not a time, such as '2026-11-27 13:05:00'";
		return read_day(t, l, n);
	}
	*reason = "is not a number";
	return read_number(l, t->kind == 'd' ? t->decimals : 0, n);
}

/*
 * Compares with a number beyond all finite numbers of the type, which only infinity of its sign
 * exceeds.
 */
static void compare_large(struct sp__predicate_step *s, unsigned orders, bool minus)
{
	const unsigned less = orders & SP__ORDER_LESS, more = orders & SP__ORDER_MORE;

	s->number = minus ? -(double)INFINITY : (double)INFINITY;
	s->orders = less | more;
	if (minus ? less : more)
		s->orders |= SP__ORDER_EQUAL;
}

static int compare_float(struct sp__predicate_step *s, const struct sp__value_type *t,
			 unsigned orders, const struct sp__predicate_literal *l,
			 const char **reason)
{
	float narrow = 0;
	int rc = t->bytes == 4 ? sp__read_f32(l->text, l->bytes, &narrow)
			       : sp__read_f64(l->text, l->bytes, &s->number);

	if (t->bytes == 4)
		s->number = (double)narrow;
	s->kind = SP__STEP_FLOAT;
	s->orders = orders;
	*reason = "is not a number";
	if (rc == -ERANGE)
		compare_large(s, orders, *l->text == '-');
	return rc && rc != -ERANGE ? SP_ESYNTAX : 0;
}

#define LIKE 0 /* instead of orders: the literal is a pattern */

static bool word_matches(unsigned orders, const struct sp__slice *word,
			 const struct sp__predicate_literal *l)
{
	const struct sp__slice text = { l->text, l->bytes };

	if (orders == LIKE)
		return sp__expr_like(word, &text);
	if (orders & SP__ORDER_PREFIX)
		return word->n >= l->bytes && !memcmp(word->p, l->text, l->bytes);
	return (sp__predicate_text_order(word->p, word->n, l->text, l->bytes) & orders) != 0;
}

/* Sets the truth of each code: whether its word matches one of n literals. */
static int compare_words(struct sp__predicate_step *s, const struct sp__dictionary *d,
			 unsigned orders, const struct sp__predicate_literal *l, size_t n)
{
	s->kind = SP__STEP_WORD;
	s->n = (size_t)d->n + 1;
	s->words = calloc(s->n, 1);
	if (!s->words)
		return -ENOMEM;
	for (uint32_t code = 1; code < s->n; code++) {
		const struct sp__slice word = sp__dictionary_word(d, code);
		bool matches = false;

		for (size_t i = 0; i < n && !matches; i++)
			matches = word_matches(orders, &word, &l[i]);
		s->words[code] = matches ? SP__TRUE : SP__FALSE;
	}
	return 0;
}

static int compare_text(struct sp__predicate_step *s, unsigned orders, const char *text, size_t n)
{
	s->kind = SP__STEP_TEXT;
	s->orders = orders;
	s->text_bytes = n;
	s->text = malloc(n + 1);
	if (!s->text)
		return -ENOMEM;
	memcpy(s->text, text, n);
	return 0;
}

int sp__step_compare(struct sp__predicate_step *s, const struct sp__schema *schema, unsigned orders,
		     const struct sp__predicate_literal *l, const char **reason)
{
	const struct sp__column *c = &schema->columns[s->column];
	const struct sp__value_type *t = &c->type;
	struct number n;

	*reason = texts_reason;
	if (sp__type_is_text(t) && !l->quoted)
		return SP_ESYNTAX;
	if (t->kind == 'w')
		return compare_words(s, &c->words, orders, l, 1);
	if (sp__type_is_text(t))
		return compare_text(s, orders, l->text, l->bytes);
	if (t->kind == 'f')
		return compare_float(s, t, orders, l, reason);
	if (!to_number(t, l, &n, reason))
		return SP_ESYNTAX;
	set_range(s, t, orders, &n);
	return 0;
}

int sp__step_like(struct sp__predicate_step *s, const struct sp__schema *schema,
		  const struct sp__slice *pattern)
{
	const struct sp__column *c = &schema->columns[s->column];
	const struct sp__predicate_literal l = { true, pattern->p, pattern->n, 0 };
	size_t plain = 0; /* bytes before the first one with a meaning */
	int rc;

	if (c->type.kind == 'w')
		return compare_words(s, &c->words, LIKE, &l, 1);
	while (plain < l.bytes && !strchr("%_\\", l.text[plain]))
		plain++;
	/* An index and a search know the order of texts, and no pattern. */
	if (plain == l.bytes)
		return compare_text(s, SP__ORDER_EQUAL, l.text, plain);
	if (plain + 1 == l.bytes && l.text[plain] == '%')
		return compare_text(s, SP__ORDER_PREFIX, l.text, plain);
	rc = compare_text(s, LIKE, l.text, l.bytes);
	s->kind = SP__STEP_LIKE;
	return rc;
}

static int by_signed(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int by_unsigned(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int sp__step_in(struct sp__predicate_step *s, const struct sp__schema *schema,
		const struct sp__predicate_literal *l, size_t n, size_t *bad, const char **reason)
{
	const struct sp__column *c = &schema->columns[s->column];
	int rc = 0;

	if (c->type.kind == 'w') {
		*reason = texts_reason;
		for (*bad = 0; *bad < n; ++*bad)
			if (!l[*bad].quoted)
				return SP_ESYNTAX;
		return compare_words(s, &c->words, SP__ORDER_EQUAL, l, n);
	}
	s->set = malloc(n * sizeof(*s->set));
	for (size_t i = 0; s->set && !rc && i < n; i++) {
		struct sp__predicate_step one = { .column = s->column };

		*bad = i;
		rc = sp__step_compare(&one, schema, SP__ORDER_EQUAL, &l[i], reason);
		if (!rc && !one.empty)
			s->set[s->n++] = one.low;
	}
	s->kind = SP__STEP_SET;
	if (s->set)
		qsort(s->set, s->n, sizeof(*s->set),
		      sp__predicate_unsigned(&c->type) ? by_unsigned : by_signed);
	return s->set ? rc : -ENOMEM;
}
