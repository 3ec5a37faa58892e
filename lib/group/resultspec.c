/* SPDX-License-Identifier: MIT */
/*
 * Parses what names columns of the result: its order, and conditions of rows (spec.h).
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/array.h"
#include "base/edits.h"
#include "base/err.h"
#include "base/minmax.h"
#include "expr/token.h"
#include "group/spec.h"

#define SHOWN 40 /* bytes of a user's word in a message */

const char *sp__group_column_name(const struct sp__group_spec *s, uint32_t i)
{
	if (i >= sp__group_named(s))
		return s->running[i - sp__group_named(s)].name;
	return i < s->nkeys ? s->keys[i].name : s->aggregates[i - s->nkeys].name;
}

int sp__group_spec_find(const struct sp__group_spec *s, const char *name, size_t n)
{
	for (uint32_t i = 0; i < sp__group_named(s); i++) {
		const char *own = sp__group_column_name(s, i);

		if (strlen(own) == n && !memcmp(own, name, n))
			return (int)i;
	}
	return -1;
}

static int no_column(const struct sp__group_spec *s, const char *text, size_t n,
		     struct sp_errinfo *err)
{
	struct sp__near_name nearest = { 0 };

	for (uint32_t i = 0; i < sp__group_named(s); i++)
		sp__near_name_try(&nearest, text, n, sp__group_column_name(s, i), 2);
	return sp__invalid(err, NULL, "the result has no column '%.*s'%s%s%s",
			   (int)sp__min(n, SHOWN), text,
			   nearest.name ? "; the nearest one is '" : "",
			   nearest.name ? nearest.name : "", nearest.name ? "'" : "");
}

int sp__group_order_parse(struct sp__group_order *order, const char *text,
			  const struct sp__group_spec *spec, struct sp_errinfo *err)
{
	size_t n = text ? strlen(text) : 0;

	*order = (struct sp__group_order){ .column = -1 };
	if (!text || !strcmp(text, "key"))
		return 0;
	order->first = !strcmp(text, "first");
	if (order->first)
		return 0;
	order->column = sp__group_spec_find(spec, text, n);
	if (order->column < 0 && n > 2 && !strcmp(text + n - 2, ":r")) {
		n -= 2;
		order->reverse = true;
		order->column = sp__group_spec_find(spec, text, n);
	}
	return order->column < 0 ? no_column(spec, text, n, err) : 0;
}

/* Columns that depend on other rows. */

static bool is_total(const struct sp__group_spec *s, uint32_t column)
{
	const enum sp__group_function f =
		column < s->nkeys ? SP__GROUP_LIST : s->aggregates[column - s->nkeys].function;

	return f == SP__GROUP_COUNT || f == SP__GROUP_BIN || f == SP__GROUP_SUM;
}

/* Finds a column, [text, n), whose shares or running totals are asked for. */
static int find_total(const struct sp__group_spec *s, const char *option, const char *text,
		      size_t n, struct sp__group_running *run, struct sp_errinfo *err)
{
	int found = sp__group_spec_find(s, text, n);

	for (uint32_t i = 0; found < 0 && run->cumulative && i < s->nrunning; i++)
		if (strlen(s->running[i].name) == n && !memcmp(s->running[i].name, text, n)) {
			run->percent = s->running[i].percent;
			found = (int)s->running[i].of;
		}
	for (uint32_t i = 0; !n && found < 0 && i < sp__group_named(s); i++)
		if (is_total(s, i))
			found = (int)i;
	if (found < 0)
		return n ? no_column(s, text, n, err)
			 : sp__invalid(err, NULL, "%s: there is no count and no sum", option);
	if (!is_total(s, (uint32_t)found))
		return sp__invalid(err, NULL, "%s: '%.*s' is not a count or a sum", option,
				   (int)sp__min(n, SHOWN), text);
	run->of = (uint32_t)found;
	return 0;
}

/* True if the text is one name in double quotes. */
static bool is_quoted(const char *p, size_t n)
{
	size_t i = 1;

	while (i < n && *p == '"' && (p[i] != '"' || p[i + 1] == '"'))
		i += 1 + (p[i] == '"');
	return n > 1 && *p == '"' && i == n - 1;
}

/* Copies a name without the blanks and double quotes around it.  NULL: no memory. */
static char *copy_name(const char *p, size_t n)
{
	char *name;

	for (; n && isspace((unsigned char)*p); n--)
		p++;
	while (n && isspace((unsigned char)p[n - 1]))
		n--;
	name = strndup(p, n);
	if (name && is_quoted(name, n)) {
		(void)sp__unquote(name, name, &n);
		name[n] = '\0';
	}
	return name;
}

/* Returns the length of the column in "COLUMN [as NAME]"; *name: NULL without it. */
static size_t split_name(const struct sp__group_spec *s, const char *text, const char **name)
{
	const size_t n = strlen(text);
	bool quoted = false;

	*name = NULL;
	for (size_t i = 0; sp__group_spec_find(s, text, n) < 0 && i < n; i++) {
		quoted ^= text[i] == '"';
		if (!quoted && !strncasecmp(text + i, "as ", 3) &&
		    (!i || isspace((unsigned char)text[i - 1])))
			*name = text + i;
	}
	return *name ? (size_t)(*name - text) : n;
}

/* of: "": the first count or sum; name: NULL: that of the option and the column. */
static int add_running(struct sp__group_spec *s, const char *option, const char *of,
		       const char *name, bool cumulative, struct sp_errinfo *err)
{
	struct sp__group_running run = { .percent = !cumulative, .cumulative = cumulative };
	int rc = find_total(s, option, of, strlen(of), &run, err);

	if (rc)
		return rc;
	if (name && !*name)
		return sp__invalid(err, NULL, "%s: a name is expected behind 'as'", option);
	if (name)
		run.name = strdup(name);
	else if (asprintf(&run.name, "%s(%s)", option + 2,
			  *of ? of : sp__group_column_name(s, run.of)) < 0)
		run.name = NULL;
	if (!run.name || !SP__ARRAY_GROW_BY_ONE(s->running, s->nrunning)) {
		free(run.name);
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	s->running[s->nrunning++] = run;
	return 0;
}

static int take_running(struct sp__group_spec *s, const char *option, const char *text,
			bool cumulative, struct sp_errinfo *err)
{
	const char *as;
	const size_t n = split_name(s, text, &as);
	char *of = copy_name(text, n), *name = NULL;
	int rc = 0;

	if (as)
		name = copy_name(as + strlen("as"), strlen(as) - strlen("as"));
	if (!of || (as && !name))
		rc = sp__err(err, -ENOMEM, "allocate", NULL, -1);
	else
		rc = add_running(s, option, of, name, cumulative, err);
	free(of);
	free(name);
	return rc;
}

int sp__group_running_parse(struct sp__group_spec *s, const struct sp__group_words *words,
			    struct sp_errinfo *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < words->npercent; i++)
		rc = take_running(s, "--percent", words->percent[i], false, err);
	for (size_t i = 0; !rc && i < words->ncumulative; i++)
		rc = take_running(s, "--cumulative", words->cumulative[i], true, err);
	return rc;
}

/* What names of a condition of rows are looked up in. */
struct result_names {
	const struct sp__group_spec *spec;
	struct sp_errinfo *err;
};

/* Is a function of sp__expr_names. */
static bool is_result(void *arg, const char *text, size_t bytes)
{
	const struct result_names *names = arg;

	return sp__group_spec_find(names->spec, text, bytes) >= 0;
}

/* Is a function of sp__expr_names. */
static int find_result(void *arg, const char *name, size_t bytes, uint64_t number, uint32_t *column)
{
	const struct result_names *names = arg;
	const struct sp__group_spec *s = names->spec;
	const int found = name ? sp__group_spec_find(s, name, bytes) : -1;

	if (name && found < 0)
		return no_column(s, name, bytes, names->err);
	if (!name && number > sp__group_named(s))
		return sp__invalid(names->err, NULL, "the result has no column $%llu",
				   (unsigned long long)number);
	*column = name ? (uint32_t)found : (uint32_t)number - 1;
	return 0;
}

int sp__group_having_parse(struct sp__expr **having, const char *text,
			   const struct sp__group_spec *spec, struct sp_errinfo *err)
{
	struct result_names in = { spec, err };
	const struct sp__expr_names names = { .find = find_result,
					      .is_name = is_result,
					      .arg = &in };
	const char *at = text;
	int rc = sp__expr_parse(having, &at, &names, err);

	return rc ? rc : sp__expr_condition(*having, "--having", text, at, err);
}

/* The key of a pivot, and its only aggregate, name no column. */
static bool is_shown(const struct sp__group_spec *s, uint32_t column)
{
	return !s->pivot || (column != s->nkeys - 1 && (column < s->nkeys || s->naggregates > 1));
}

/* Members of an object have different names. */
static int check_members(const struct sp__group_spec *s, struct sp_errinfo *err)
{
	const uint32_t n = sp__group_named(s) + s->nrunning;

	for (uint32_t i = 1; i < n; i++) {
		const char *name = sp__group_column_name(s, i);
		uint32_t k = 0;

		while (k < i && (!is_shown(s, k) || strcmp(sp__group_column_name(s, k), name) != 0))
			k++;
		if (k < i && is_shown(s, i))
			return sp__invalid(err, NULL,
					   "two columns of the result have the name '%s': add 'as "
					   "NAME' to one of them",
					   name);
	}
	return 0;
}

int sp__group_names_check(const struct sp__group_spec *s, const struct sp__cut *cut, char eol,
			  bool json, struct sp_errinfo *err)
{
	const char ends[] = { eol, cut->kind == SP__CUT_BLANKS ? ' ' : cut->sep[0],
			      cut->kind == SP__CUT_BLANKS ? '\t' : eol };

	if (json)
		return check_members(s, err);
	for (uint32_t i = 0; cut->kind != SP__CUT_CSV && i < sp__group_named(s) + s->nrunning;
	     i++) {
		const char *name = sp__group_column_name(s, i);

		for (size_t k = 0; k < sizeof(ends); k++)
			if (is_shown(s, i) && memchr(name, ends[k], strlen(name)))
				return sp__invalid(err, NULL,
						   "the name '%s' has a separator of fields in "
						   "it: add 'as NAME' to that %s",
						   name, i < s->nkeys ? "key" : "function");
	}
	return 0;
}
