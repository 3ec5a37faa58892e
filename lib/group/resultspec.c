/* SPDX-License-Identifier: MIT */
/*
 * Parses what names columns of the result: its order, and conditions of rows (spec.h).
 */
#include "base/edits.h"
#include "base/err.h"
#include "base/minmax.h"
#include "group/spec.h"

#define SHOWN 40 /* bytes of a user's word in a message */

const char *sp__group_column_name(const struct sp__group_spec *s, uint32_t i)
{
	return i < s->nkeys ? s->keys[i].name : s->aggregates[i - s->nkeys].name;
}

int sp__group_spec_find(const struct sp__group_spec *s, const char *name, size_t n)
{
	for (uint32_t i = 0; i < s->nkeys + s->naggregates; i++) {
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

	for (uint32_t i = 0; i < s->nkeys + s->naggregates; i++)
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
	if (!name && number > s->nkeys + s->naggregates)
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

/* Members of an object have different names. */
static int check_members(const struct sp__group_spec *s, struct sp_errinfo *err)
{
	for (uint32_t i = 0; i < s->nkeys + s->naggregates; i++) {
		const char *name = sp__group_column_name(s, i);

		if (sp__group_spec_find(s, name, strlen(name)) != (int)i)
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
	for (uint32_t i = 0; cut->kind != SP__CUT_CSV && i < s->nkeys + s->naggregates; i++) {
		const char *name = sp__group_column_name(s, i);

		for (size_t k = 0; k < sizeof(ends); k++)
			if (memchr(name, ends[k], strlen(name)))
				return sp__invalid(err, NULL,
						   "the name '%s' has a separator of fields in "
						   "it: add 'as NAME' to that %s",
						   name, i < s->nkeys ? "key" : "function");
	}
	return 0;
}
