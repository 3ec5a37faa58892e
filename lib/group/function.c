/* SPDX-License-Identifier: MIT */
/*
 * Parses the names of functions (operand.h).
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "base/edits.h"
#include "base/err.h"
#include "base/minmax.h"
#include "group/operand.h"

#define MEDIAN "median"
#define SHOWN 40 /* bytes of a user's word in a message */

static const struct {
	const char *name;
	enum sp__group_function function;
	unsigned keep;
} functions[] = {
	{ "count", SP__GROUP_COUNT, SP__KEEP_COUNT },
	{ "sum", SP__GROUP_SUM, SP__KEEP_SUM },
	{ "mean", SP__GROUP_MEAN, SP__KEEP_SUM },
	{ "avg", SP__GROUP_MEAN, SP__KEEP_SUM },
	{ "min", SP__GROUP_MIN, SP__KEEP_MIN },
	{ "max", SP__GROUP_MAX, SP__KEEP_MAX },
	{ "first", SP__GROUP_FIRST, SP__KEEP_FIRST },
	{ "last", SP__GROUP_LAST, SP__KEEP_LAST },
	{ "distinct", SP__GROUP_DISTINCT, SP__KEEP_WORDS },
	{ "var", SP__GROUP_VAR, SP__KEEP_MOMENTS },
	{ "stddev", SP__GROUP_STDDEV, SP__KEEP_MOMENTS },
	{ MEDIAN, SP__GROUP_MEDIAN, SP__KEEP_SUM | SP__KEEP_NUMBERS },
	{ "hist", SP__GROUP_BIN, SP__KEEP_COUNTS },
	{ "mode", SP__GROUP_MODE, SP__KEEP_WORDS },
	{ "list", SP__GROUP_LIST, SP__KEEP_ROWS },
	{ "corr", SP__GROUP_CORR, SP__KEEP_MOMENTS },
	{ "slope", SP__GROUP_SLOPE, SP__KEEP_MOMENTS },
	{ "r2", SP__GROUP_R2, SP__KEEP_MOMENTS },
};
#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

bool sp__group_takes_two(enum sp__group_function f)
{
	return f == SP__GROUP_CORR || f == SP__GROUP_SLOPE || f == SP__GROUP_R2;
}

static size_t function_bytes(const struct sp__group_parser *p)
{
	return strcspn(p->p, " \t\n(),\"");
}

/* Reads pN, a percentile with decimals.  False: it is none. */
static bool take_percentile(struct sp__group_parser *p, size_t n, struct sp__group_aggregate *a)
{
	const char *end = p->p + n, *at = p->p + 1;
	uint32_t part = 0, whole = 100;
	bool point = false;

	if (n < 2 || (*p->p != 'p' && *p->p != 'P') || !isdigit((unsigned char)*at))
		return false;
	for (; at < end; at++) {
		if (*at == '.' && !point) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*at) || part > 100u * 1000000u ||
		    (point && whole >= 100u * 1000000u))
			return false;
		part = part * 10 + (uint32_t)(*at - '0');
		whole = point ? whole * 10 : whole;
	}
	if (part > whole)
		return false;
	*a = (struct sp__group_aggregate){ SP__GROUP_PERCENTILE, UINT32_MAX, part, whole, NULL };
	return true;
}

/* Takes the n bytes of a function, and the parenthesis behind it. */
static int open_parenthesis(struct sp__group_parser *p, size_t n)
{
	p->p += n;
	sp__group_skip_blanks(p);
	if (*p->p != '(')
		return sp__invalid(p->err, p->p, "'(' is expected behind a function");
	p->p++;
	sp__group_skip_blanks(p);
	return 0;
}

/* Takes ~ and a percentile, and the parenthesis. */
static int take_estimate(struct sp__group_parser *p, struct sp__group_aggregate *a, unsigned *keep)
{
	const char *begin = p->p++;
	const size_t n = function_bytes(p);

	if (strlen(MEDIAN) == n && !strncasecmp(MEDIAN, p->p, n))
		*a = (struct sp__group_aggregate){ .part = 1, .whole = 2 };
	else if (!take_percentile(p, n, a))
		return sp__invalid(p->err, begin, "~ must be before median or p0 to p100 at");
	a->function = SP__GROUP_ESTIMATE;
	a->argument = UINT32_MAX;
	*keep = SP__KEEP_COUNTS;
	return open_parenthesis(p, n);
}

int sp__group_take_function(struct sp__group_parser *p, struct sp__group_aggregate *a,
			    unsigned *keep)
{
	const size_t n = function_bytes(p);
	struct sp__near_name nearest = { 0 };
	size_t i = 0;

	if (*p->p == '~')
		return take_estimate(p, a, keep);
	for (; i < FUNCTIONS; i++) {
		if (strlen(functions[i].name) == n && !strncasecmp(functions[i].name, p->p, n))
			break;
		sp__near_name_try(&nearest, p->p, n, functions[i].name, 1);
	}
	if (i < FUNCTIONS) {
		*a = (struct sp__group_aggregate){ functions[i].function, UINT32_MAX, 1, 2, NULL };
		*keep = functions[i].keep;
	} else if (take_percentile(p, n, a)) {
		*keep = SP__KEEP_SUM | SP__KEEP_NUMBERS;
	} else if (!n) {
		return sp__invalid(p->err, p->p, "a function is expected, such as sum(price)");
	} else {
		return sp__invalid(
			p->err, NULL,
			"there is no function '%.*s'%s%s%s; there are count, sum, mean, min, "
			"max, first, last, distinct, median, p0 to p100, ~p0 to ~p100, "
			"var, stddev, hist, mode, list, corr, slope and r2",
			(int)sp__min(n, SHOWN), p->p, nearest.name ? " (the nearest is '" : "",
			nearest.name ? nearest.name : "", nearest.name ? "')" : "");
	}
	return open_parenthesis(p, n);
}
