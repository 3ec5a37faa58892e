/* SPDX-License-Identifier: MIT */
/*
 * The functions of expressions.  A function with an argument without a value has none, except for
 * if(), coalesce() and replace().
 */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include "base/edits.h"
#include "base/minmax.h"
#include "expr/node.h"
#include "rec/calendar.h"

static uint32_t arg(const struct sp__expr_run *r, const struct sp__expr_node *n, uint32_t i)
{
	return sp__node_arg(r->expr, n, i);
}

/* Returns the memory of a node for its text. */
static struct sp__bytes *memory(const struct sp__expr_run *r, const struct sp__expr_node *n)
{
	return &r->scratch->texts[n - r->expr->nodes];
}

static void set_integer(struct sp__expr_value *v, int64_t n)
{
	v->kind = SP__EXPR_NUMBER;
	v->number = sp__amount_of(n);
}

/* Reads argument i as an integer, rounded down; *none: it has no value. */
static int take_integer(struct sp__expr_run *r, const struct sp__expr_node *n, uint32_t i,
			int64_t *integer, bool *none)
{
	struct sp__expr_value v;
	int rc = sp__node_number(r, arg(r, n, i), &v);
	double x;

	*none = rc || v.kind == SP__EXPR_NULL;
	if (*none)
		return rc;
	v.number = sp__amount_round(&v.number, 0, SP__ROUND_DOWN);
	x = sp__amount_f64(&v.number);
	*integer = x < -1e18 ? INT64_MIN / 4 : x > 1e18 ? INT64_MAX / 4 : (int64_t)x;
	return 0;
}

/* Texts. */

static int64_t characters(const struct sp__slice *text)
{
	int64_t n = 0;

	for (const char *p = text->p, *end = p + text->n; p < end; n++)
		p += sp__expr_character(p, end);
	return n;
}

static int call_length(struct sp__expr_run *r, const struct sp__expr_node *n,
		       struct sp__expr_value *v)
{
	int rc = sp__node_text(r, arg(r, n, 0), v);

	if (!rc && v->kind == SP__EXPR_TEXT)
		set_integer(v, characters(&v->text));
	return rc;
}

/* what: 'a' for small letters, 'A' for capitals, of ASCII. */
static int call_case(struct sp__expr_run *r, const struct sp__expr_node *n,
		     struct sp__expr_value *v)
{
	const char from = (char)(n->function->what ^ ('a' ^ 'A')), to = (char)n->function->what;
	struct sp__bytes *b = memory(r, n);
	int rc = sp__node_text(r, arg(r, n, 0), v);

	if (rc || v->kind != SP__EXPR_TEXT)
		return rc;
	if (sp__bytes_set(b, v->text.p, v->text.n, NULL))
		return -ENOMEM;
	for (size_t i = 0; i < b->bytes; i++)
		if (b->data[i] >= from && b->data[i] < from + 26)
			b->data[i] = (char)(b->data[i] - from + to);
	v->text.p = b->data;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int call_trim(struct sp__expr_run *r, const struct sp__expr_node *n,
		     struct sp__expr_value *v)
{
	int rc = sp__node_text(r, arg(r, n, 0), v);

	if (rc || v->kind != SP__EXPR_TEXT)
		return rc;
	for (; v->text.n && is_blank(*v->text.p); v->text.n--)
		v->text.p++;
	while (v->text.n && is_blank(v->text.p[v->text.n - 1]))
		v->text.n--;
	return 0;
}

/* Cuts a text to the characters from number `from` on and before number `to`, from 1. */
static void cut(struct sp__slice *text, int64_t from, int64_t to)
{
	const char *p = text->p, *end = p + text->n, *begin;
	int64_t i = 1;

	for (; p < end && i < from; i++)
		p += sp__expr_character(p, end);
	for (begin = p; p < end && i < to; i++)
		p += sp__expr_character(p, end);
	*text = (struct sp__slice){ begin, (size_t)(p - begin) };
}

static int call_substr(struct sp__expr_run *r, const struct sp__expr_node *n,
		       struct sp__expr_value *v)
{
	int64_t from = 0, length = INT64_MAX / 2; /* the end, from any position */
	bool none, no_length = false;
	int rc = sp__node_text(r, arg(r, n, 0), v);

	if (!rc)
		rc = take_integer(r, n, 1, &from, &none);
	if (!rc && n->nargs > 2)
		rc = take_integer(r, n, 2, &length, &no_length);
	if (rc || v->kind != SP__EXPR_TEXT)
		return rc;
	if (none || no_length) {
		v->kind = SP__EXPR_NULL;
		return 0;
	}
	if (from < 0)
		from += characters(&v->text) + 1;
	/* Characters before the first one count for the length. */
	cut(&v->text, from, from + length);
	return 0;
}

static int call_replace(struct sp__expr_run *r, const struct sp__expr_node *n,
			struct sp__expr_value *v)
{
	struct sp__bytes *b = memory(r, n);
	struct sp__expr_value from = { .kind = SP__EXPR_NULL }, to = from;
	int rc = sp__node_text(r, arg(r, n, 0), v);
	struct sp__slice rest, before;
	const char *found = "";
	size_t done;

	if (!rc)
		rc = sp__node_text(r, arg(r, n, 1), &from);
	if (!rc)
		rc = sp__node_text(r, arg(r, n, 2), &to);
	if (rc || v->kind != SP__EXPR_TEXT || from.kind != SP__EXPR_TEXT || !from.text.n)
		return rc;
	/* Replaced by no value: removed. */
	to.text.n = to.kind == SP__EXPR_TEXT ? to.text.n : 0;
	b->bytes = 0;
	for (rest = v->text; !rc && found;) {
		found = memmem(rest.p, rest.n, from.text.p, from.text.n);
		before = (struct sp__slice){ rest.p, found ? (size_t)(found - rest.p) : rest.n };
		rc = sp__expr_append_text(r, b, &before);
		if (!rc && found && to.text.n)
			rc = sp__expr_append_text(r, b, &to.text);
		done = before.n + (found ? from.text.n : 0);
		rest = (struct sp__slice){ rest.p + done, rest.n - done };
	}
	v->text = (struct sp__slice){ b->data, b->bytes };
	return rc;
}

/* Numbers. */

static int call_number(struct sp__expr_run *r, const struct sp__expr_node *n,
		       struct sp__expr_value *v)
{
	return sp__node_number(r, arg(r, n, 0), v);
}

static int call_abs(struct sp__expr_run *r, const struct sp__expr_node *n, struct sp__expr_value *v)
{
	const struct sp__amount zero = { .units = 0 };
	int rc = sp__node_number(r, arg(r, n, 0), v);

	if (!rc && v->kind == SP__EXPR_NUMBER && sp__amount_order(&v->number, &zero) < 0)
		v->number = sp__amount_negate(v->number);
	return rc;
}

static int64_t clamp(int64_t n, int64_t low, int64_t high)
{
	return n < low ? low : n > high ? high : n;
}

/* what: how it is rounded. */
static int call_round(struct sp__expr_run *r, const struct sp__expr_node *n,
		      struct sp__expr_value *v)
{
	int64_t places = 0;
	bool none = false;
	int rc = sp__node_number(r, arg(r, n, 0), v);

	if (!rc && n->nargs > 1)
		rc = take_integer(r, n, 1, &places, &none);
	if (rc || v->kind != SP__EXPR_NUMBER)
		return rc;
	if (none)
		v->kind = SP__EXPR_NULL;
	else
		v->number =
			sp__amount_round(&v->number, (int)clamp(places, -18, SP__DECIMAL_PLACES),
					 (enum sp__rounding)n->function->what);
	return 0;
}

/* Choices. */

static int call_if(struct sp__expr_run *r, const struct sp__expr_node *n, struct sp__expr_value *v)
{
	int rc = sp__node_value(r, arg(r, n, 0), v);
	uint32_t chosen;

	if (rc)
		return rc;
	chosen = v->kind == SP__EXPR_TRUTH && v->truth ? 1 : 2;
	if (chosen < n->nargs)
		return sp__node_value(r, arg(r, n, chosen), v);
	v->kind = SP__EXPR_NULL;
	return 0;
}

static int call_coalesce(struct sp__expr_run *r, const struct sp__expr_node *n,
			 struct sp__expr_value *v)
{
	int rc = 0;

	v->kind = SP__EXPR_NULL;
	for (uint32_t i = 0; !rc && v->kind == SP__EXPR_NULL && i < n->nargs; i++)
		rc = sp__node_value(r, arg(r, n, i), v);
	return rc;
}

/* Dates. */

struct moment {
	int32_t days;
	int hour, minute;
	struct sp__slice second; /* with its decimals; or nothing */
	struct sp__slice date;
};

static bool two_digits(const char *p, int below, int *n)
{
	if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9')
		return false;
	*n = (p[0] - '0') * 10 + (p[1] - '0');
	return *n < below;
}

/* Takes a zone: nothing, Z, +02:00, +0200 or +02, with a blank before it or none. */
static bool is_zone(const char *p, size_t n)
{
	int hours, minutes = 0;

	if (n && *p == ' ')
		p++, n--;
	if (!n || (n == 1 && (*p == 'Z' || *p == 'z')))
		return true;
	if (*p != '+' && *p != '-')
		return false;
	if (n < 3 || !two_digits(p + 1, 24, &hours))
		return false;
	if (n == 3)
		return true;
	return two_digits(p + n - 2, 60, &minutes) && (n == 5 || (n == 6 && p[3] == ':'));
}

/* Reads a time behind the date: T12:30, 12:30:59.5. */
static bool read_time(struct moment *m, const char *p, size_t n)
{
	int second;

	if (n < 6 || (*p != 'T' && *p != 't' && *p != ' ') || !two_digits(p + 1, 24, &m->hour) ||
	    p[3] != ':' || !two_digits(p + 4, 60, &m->minute))
		return false;
	p += 6;
	n -= 6;
	if (n >= 3 && *p == ':') {
		if (!two_digits(p + 1, 61, &second)) /* 60: a leap second */
			return false;
		m->second = (struct sp__slice){ p + 1, 2 };
		p += 3;
		n -= 3;
		if (n > 1 && *p == '.' && p[1] >= '0' && p[1] <= '9')
			for (m->second.n++, p++, n--; n && *p >= '0' && *p <= '9'; p++, n--)
				m->second.n++;
	}
	return is_zone(p, n);
}

static bool read_moment(struct moment *m, const struct sp__slice *text)
{
	const size_t date = 10;
	const char *p = text->p;
	size_t n = text->n;

	*m = (struct moment){ 0 };
	for (; n && is_blank(*p); n--)
		p++;
	while (n && is_blank(p[n - 1]))
		n--;
	if (n < date || !sp__date_parse(p, date, &m->days))
		return false;
	m->date = (struct sp__slice){ p, date };
	return n == date || read_time(m, p + date, n - date);
}

static int date_number(const struct moment *m, size_t at, size_t digits)
{
	int n = 0;

	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (m->date.p[at + i] - '0');
	return n;
}

enum part { YEAR, QUARTER, MONTH, DAY, WEEKDAY, HOUR, MINUTE, SECOND, DATE };

/* Returns 1 for Monday to 7: 1970-01-01 was a Thursday. */
static int weekday(int32_t days)
{
	const int from_monday = (int)((days + 3) % 7);

	return 1 + (from_monday < 0 ? from_monday + 7 : from_monday);
}

static void set_second(struct sp__expr_value *v, const struct sp__slice *second)
{
	if (!second->n || !sp__amount_parse(second->p, second->n, &v->number))
		v->number = sp__amount_of(0);
	v->kind = SP__EXPR_NUMBER;
}

/* what: the part. */
static int call_part(struct sp__expr_run *r, const struct sp__expr_node *n,
		     struct sp__expr_value *v)
{
	struct moment m;
	int rc = sp__node_text(r, arg(r, n, 0), v);

	if (rc || v->kind != SP__EXPR_TEXT)
		return rc;
	if (!read_moment(&m, &v->text))
		return sp__expr_fail(r, &v->text,
				     "a date, such as 2024-05-31 or 2024-05-31 12:30:00");
	switch ((enum part)n->function->what) {
	case YEAR:
		set_integer(v, date_number(&m, 0, 4));
		break;
	case QUARTER:
		set_integer(v, (date_number(&m, 5, 2) + 2) / 3);
		break;
	case MONTH:
		set_integer(v, date_number(&m, 5, 2));
		break;
	case DAY:
		set_integer(v, date_number(&m, 8, 2));
		break;
	case WEEKDAY:
		set_integer(v, weekday(m.days));
		break;
	case HOUR:
		set_integer(v, m.hour);
		break;
	case MINUTE:
		set_integer(v, m.minute);
		break;
	case SECOND:
		set_second(v, &m.second);
		break;
	case DATE:
		v->text = m.date;
	}
	return 0;
}

static const struct sp__expr_function functions[] = {
	{ "length", "t", SP__TYPE_NUMBER, call_length, 0 },
	{ "lower", "t", SP__TYPE_TEXT, call_case, 'a' },
	{ "upper", "t", SP__TYPE_TEXT, call_case, 'A' },
	{ "trim", "t", SP__TYPE_TEXT, call_trim, 0 },
	{ "substr", "tn?n", SP__TYPE_TEXT, call_substr, 0 },
	{ "replace", "ttt", SP__TYPE_TEXT, call_replace, 0 },
	{ "number", "n", SP__TYPE_NUMBER, call_number, 0 },
	{ "abs", "n", SP__TYPE_NUMBER, call_abs, 0 },
	{ "round", "n?n", SP__TYPE_NUMBER, call_round, SP__ROUND_NEAREST },
	{ "floor", "n", SP__TYPE_NUMBER, call_round, SP__ROUND_DOWN },
	{ "ceil", "n", SP__TYPE_NUMBER, call_round, SP__ROUND_UP },
	{ "if", "cv?v", SP__TYPE_FIELD, call_if, 0 },
	{ "coalesce", "v*", SP__TYPE_FIELD, call_coalesce, 0 },
	{ "year", "d", SP__TYPE_NUMBER, call_part, YEAR },
	{ "quarter", "d", SP__TYPE_NUMBER, call_part, QUARTER },
	{ "month", "d", SP__TYPE_NUMBER, call_part, MONTH },
	{ "day", "d", SP__TYPE_NUMBER, call_part, DAY },
	{ "weekday", "d", SP__TYPE_NUMBER, call_part, WEEKDAY },
	{ "hour", "d", SP__TYPE_NUMBER, call_part, HOUR },
	{ "minute", "d", SP__TYPE_NUMBER, call_part, MINUTE },
	{ "second", "d", SP__TYPE_NUMBER, call_part, SECOND },
	{ "date", "d", SP__TYPE_TEXT, call_part, DATE },
};

const struct sp__expr_function *sp__expr_function_find(const char *name, size_t bytes,
						       const char **nearest)
{
	struct sp__near_name near = { 0 };

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (strlen(functions[i].name) == bytes &&
		    !strncasecmp(functions[i].name, name, bytes))
			return &functions[i];
		sp__near_name_try(&near, name, bytes, functions[i].name, 2);
	}
	*nearest = near.name;
	return NULL;
}
