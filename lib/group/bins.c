/* SPDX-License-Identifier: MIT */
/* Bins of histograms (bins.h). */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/array.h"
#include "base/err.h"
#include "group/bins.h"

#define BOUNDS_MAX 1000u
#define EXPECTED "bounds are expected, as in hist(x, 0, 10, 100) or hist(x, 0 to 100 by 10),"

static int take_number(struct sp__group_parser *p, struct sp__amount *x)
{
	const size_t n = strcspn(p->p, " \t\n,()\"");

	if (!n || !sp__amount_parse(p->p, n, x) || (x->is_real && !isfinite(x->real)))
		return sp__invalid(p->err, *p->p ? p->p : NULL, EXPECTED " not");
	p->p += n;
	sp__group_skip_blanks(p);
	return 0;
}

static int add_bound(struct sp__group_parser *p, struct sp__group_argument *a,
		     const struct sp__amount *x)
{
	char text[2][SP__AMOUNT_TEXT];

	if (a->nbounds && sp__amount_order(&a->bounds[a->nbounds - 1], x) >= 0) {
		text[0][sp__amount_print(&a->bounds[a->nbounds - 1], text[0])] = '\0';
		text[1][sp__amount_print(x, text[1])] = '\0';
		return sp__invalid(p->err, NULL, "bounds of hist() must ascend: %s is not above %s",
				   text[1], text[0]);
	}
	if (a->nbounds == BOUNDS_MAX)
		return sp__invalid(p->err, NULL, "hist() has at most %u bounds", BOUNDS_MAX);
	if (!SP__ARRAY_GROW_BY_ONE(a->bounds, a->nbounds))
		return sp__group_no_memory(p);
	a->bounds[a->nbounds++] = *x;
	return 0;
}

static bool take_word(struct sp__group_parser *p, const char *word)
{
	const size_t n = strlen(word);

	if (strncasecmp(p->p, word, n) != 0 || !isspace((unsigned char)p->p[n]))
		return false;
	p->p += n;
	sp__group_skip_blanks(p);
	return true;
}

/* Adds the bounds from one up to another, in steps. */
static int add_range(struct sp__group_parser *p, struct sp__group_argument *a,
		     const struct sp__amount *from, const struct sp__amount *to,
		     const struct sp__amount *by)
{
	struct sp__amount x = *from;
	int rc = 0;

	if (from->is_real || to->is_real || by->is_real)
		return sp__invalid(p->err, NULL,
				   "'to' and 'by' need numbers without an exponent and of at most "
				   "9 decimal places");
	if (by->units <= 0 || to->units <= from->units || (to->units - from->units) % by->units)
		return sp__invalid(p->err, NULL,
				   "'by' must divide the distance from the first bound up to the "
				   "last one into equal bins");
	for (; !rc && x.units <= to->units; x.units += by->units) {
		x.places = sp__amount_places(&x);
		rc = add_bound(p, a, &x);
	}
	return rc;
}

int sp__bins_take(struct sp__group_parser *p, struct sp__group_argument *a)
{
	struct sp__amount x, to, by;
	int rc = 0;

	if (*p->p != ',')
		return sp__invalid(p->err, *p->p ? p->p : NULL, EXPECTED " not");
	while (!rc && *p->p == ',') {
		p->p++;
		sp__group_skip_blanks(p);
		rc = take_number(p, &x);
		if (!rc && !take_word(p, "to")) {
			rc = add_bound(p, a, &x);
			continue;
		}
		rc = rc ? rc : take_number(p, &to);
		if (!rc && !take_word(p, "by"))
			rc = sp__invalid(p->err, *p->p ? p->p : NULL,
					 "'by' is expected, as in 0 to 100 by 10,");
		rc = rc ? rc : take_number(p, &by);
		rc = rc ? rc : add_range(p, a, &x, &to, &by);
	}
	return rc;
}

/* Returns the name of a bin: x<0, 0<=x<10, x>=10; NULL: no memory. */
static char *name_of(const struct sp__group_argument *a, uint32_t bin, const char *x)
{
	char low[SP__AMOUNT_TEXT] = "", high[SP__AMOUNT_TEXT] = "", *name;

	if (bin)
		low[sp__amount_print(&a->bounds[bin - 1], low)] = '\0';
	if (bin < a->nbounds)
		high[sp__amount_print(&a->bounds[bin], high)] = '\0';
	if (bin == a->nbounds)
		return asprintf(&name, "%s>=%s", x, low) < 0 ? NULL : name;
	return asprintf(&name, "%s%s%s<%s", low, bin ? "<=" : "", x, high) < 0 ? NULL : name;
}

int sp__bins_expand(struct sp__group_parser *p)
{
	struct sp__group_spec *s = p->s;
	const struct sp__group_aggregate first = s->aggregates[s->naggregates - 1];
	const struct sp__group_argument *a = &s->arguments[first.argument];
	int rc = 0;

	s->naggregates--;
	for (uint32_t bin = 0; !rc && bin <= a->nbounds; bin++) {
		struct sp__group_aggregate one = first;

		one.part = bin;
		one.name = name_of(a, bin, first.name);
		if (one.name && SP__ARRAY_GROW_BY_ONE(s->aggregates, s->naggregates)) {
			s->aggregates[s->naggregates++] = one;
			continue;
		}
		free(one.name);
		rc = sp__group_no_memory(p);
	}
	free(first.name);
	return rc;
}

int32_t sp__bins_find(const struct sp__group_argument *a, const struct sp__amount *x)
{
	uint32_t low = 0, high = a->nbounds;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (sp__amount_order(&a->bounds[middle], x) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (int32_t)low;
}
