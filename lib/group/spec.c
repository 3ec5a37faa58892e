/* SPDX-License-Identifier: MIT */
/*
 * Parses keys and aggregates (spec.h).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "base/array.h"
#include "base/edits.h"
#include "base/err.h"
#include "base/minmax.h"
#include "columns/schema_text.h"
#include "group/amount.h"
#include "group/spec.h"
#include "group/state.h"

#define SHOWN 40	 /* bytes of a user's word in a message */
#define NEAR_COLUMN 2	 /* share of a column's name that can differ */
#define PERCENT_DIGITS 6 /* decimal places of a percentile, at most */
#define ALIGNMENT 16u

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
	{ "median", SP__GROUP_MEDIAN, SP__KEEP_SUM | SP__KEEP_NUMBERS },
	{ "mode", SP__GROUP_MODE, SP__KEEP_WORDS },
	{ "list", SP__GROUP_LIST, SP__KEEP_ROWS },
	{ "corr", SP__GROUP_CORR, SP__KEEP_MOMENTS },
	{ "slope", SP__GROUP_SLOPE, SP__KEEP_MOMENTS },
	{ "r2", SP__GROUP_R2, SP__KEEP_MOMENTS },
};
#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

struct parser {
	struct sp__group_spec *s;
	const struct sp__group_names *names;
	const char *p;
	char *word; /* memory for a name */
	struct sp_errinfo *err;
};

static int no_memory(struct parser *p)
{
	return sp__err(p->err, -ENOMEM, "group", NULL, -1);
}

static bool takes_two(enum sp__group_function f)
{
	return f == SP__GROUP_CORR || f == SP__GROUP_SLOPE || f == SP__GROUP_R2;
}

static void skip_blanks(struct parser *p)
{
	p->p += strspn(p->p, " \t\n");
}

/* Finds a name among the columns.  *field: its number from 0. */
static int find_name(struct parser *p, size_t bytes, size_t *field)
{
	struct sp__near_name nearest = { 0 };
	size_t found = 0;

	*field = SIZE_MAX;
	for (size_t i = 0; i < p->names->n; i++) {
		if (strcmp(p->names->names[i], p->word) != 0) {
			sp__near_name_try(&nearest, p->word, bytes, p->names->names[i],
					  NEAR_COLUMN);
			continue;
		}
		*field = i;
		found++;
	}
	if (found == 1 || p->names->unknown)
		return 0;
	if (found)
		return sp__invalid(p->err, NULL, "several columns have the name '%.*s'", SHOWN,
				   p->word);
	if (!p->names->n)
		return sp__invalid(p->err, NULL, "'%.*s': to name columns, add --header", SHOWN,
				   p->word);
	return sp__invalid(p->err, NULL, "no column has the name '%.*s'%s%.*s%s", SHOWN, p->word,
			   nearest.name ? "; the nearest one is '" : "", SHOWN,
			   nearest.name ? nearest.name : "", nearest.name ? "'" : "");
}

/* Takes a number from 1. */
static int take_number(struct parser *p, size_t *field)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(p->p, &end, 10);
	if (!n || errno || n > SIZE_MAX / 2)
		return sp__invalid(p->err, p->p, "columns count from 1");
	if (p->names->n && n > p->names->n)
		return sp__invalid(p->err, p->p, "the header has only %zu columns", p->names->n);
	p->p = end;
	*field = (size_t)n - 1;
	return 0;
}

/* Takes a column, a number or a name that one of the bytes `ends` ends; p->word is its name. */
static int take_column(struct parser *p, const char *ends, size_t *field)
{
	const char *at = p->p;
	size_t n;
	int rc;

	if (*at == '"') {
		p->p += sp__unquote(at, p->word, &n);
		if (p->p == at)
			return sp__invalid(p->err, at, "the double quote is not closed");
		p->word[n] = '\0';
		return find_name(p, n, field);
	}
	if (isdigit((unsigned char)*at)) {
		rc = take_number(p, field);
		n = (size_t)(p->p - at);
		if (!rc && *field < p->names->n)
			strcpy(p->word, p->names->names[*field]);
		else
			sprintf(p->word, "%.*s", (int)n, at);
		return rc;
	}
	n = strcspn(at, ends);
	p->p += n;
	while (n && isspace((unsigned char)at[n - 1]))
		n--;
	if (!n)
		return sp__invalid(p->err, at, "a column is expected");
	memcpy(p->word, at, n);
	p->word[n] = '\0';
	return find_name(p, n, field);
}

/* Returns the number of a field among the columns that are read; UINT32_MAX: no memory. */
static uint32_t note_column(struct sp__group_spec *s, size_t field)
{
	for (uint32_t i = 0; i < s->ncolumns; i++)
		if (s->columns[i] == field)
			return i;
	if (!SP__ARRAY_GROW_BY_ONE(s->columns, s->ncolumns))
		return UINT32_MAX;
	s->columns[s->ncolumns] = field;
	return s->ncolumns++;
}

/* Compiles the letters of a key, which apply to the whole field. */
static int order_key(struct parser *p, struct sp__group_key *key, const char *text)
{
	struct sp_key letters = SP_KEY_INIT;
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				    .keys = &letters,
				    .nkeys = 1,
				    .separator = '\0',
				    .unique = true,
				    .bytes = true };
	int rc;

	if (!*p->p)
		return 0;
	for (; *p->p; p->p++)
		if (*p->p == 'R' || !sp_key_letter(&letters, *p->p, SP_KEY_BOTH))
			return sp__invalid(p->err, text,
					   "a key is one column, as in 3, 3n, name or name:nr");
	rc = sp_key_check(&letters, p->err);
	return rc ? rc : sp_keyset_new(&key->order, &o, p->err);
}

static int add_key(struct parser *p, const char *text)
{
	struct sp__group_spec *s = p->s;
	struct sp__group_key *key;
	size_t field;
	int rc;

	if (!SP__ARRAY_GROW_BY_ONE(s->keys, s->nkeys))
		return no_memory(p);
	key = &s->keys[s->nkeys++];
	*key = (struct sp__group_key){ 0 };
	p->p = text;
	rc = take_column(p, ":", &field);
	if (rc)
		return rc;
	key->column = note_column(s, field);
	key->name = strdup(p->word);
	if (key->column == UINT32_MAX || !key->name)
		return no_memory(p);
	p->p += *p->p == ':';
	return order_key(p, key, text);
}

/* Reads pN, a percentile with decimals.  False: it is none. */
static bool take_percentile(struct parser *p, size_t n, struct sp__group_aggregate *a)
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

/* Takes a function and the parenthesis behind it. */
static int take_function(struct parser *p, struct sp__group_aggregate *a, unsigned *keep)
{
	const size_t n = strcspn(p->p, " \t\n(),\"");
	struct sp__near_name nearest = { 0 };
	size_t i = 0;

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
			"max, first, last, distinct, median, p0 to p100, var, stddev, mode, "
			"list, corr, slope and r2",
			(int)sp__min(n, SHOWN), p->p, nearest.name ? " (the nearest is '" : "",
			nearest.name ? nearest.name : "", nearest.name ? "')" : "");
	}
	p->p += n;
	skip_blanks(p);
	if (*p->p != '(')
		return sp__invalid(p->err, p->p, "'(' is expected behind a function");
	p->p++;
	skip_blanks(p);
	return 0;
}

static int note_argument(struct parser *p, uint32_t column, uint32_t second, unsigned keep,
			 uint32_t *number)
{
	struct sp__group_spec *s = p->s;
	uint32_t i = 0;

	while (i < s->narguments &&
	       (s->arguments[i].column != column || s->arguments[i].second != second))
		i++;
	if (i == s->narguments) {
		if (!SP__ARRAY_GROW_BY_ONE(s->arguments, s->narguments))
			return no_memory(p);
		s->arguments[s->narguments++] =
			(struct sp__group_argument){ .column = column, .second = second };
	}
	if (!(s->arguments[i].keep & SP__KEEP_OF_NUMBERS))
		s->arguments[i].by = s->naggregates - 1;
	s->arguments[i].keep |= keep | SP__KEEP_COUNT;
	*number = i;
	return 0;
}

/* Takes the columns of a function, and the parenthesis behind them. */
static int take_arguments(struct parser *p, struct sp__group_aggregate *a, unsigned keep)
{
	uint32_t column[2] = { UINT32_MAX, UINT32_MAX };
	const unsigned n = takes_two(a->function) ? 2 : 1;
	size_t field;
	int rc;

	for (unsigned i = 0; i < n && *p->p != ')'; i++) {
		rc = take_column(p, "(),\"", &field);
		if (rc)
			return rc;
		column[i] = note_column(p->s, field);
		if (column[i] == UINT32_MAX)
			return no_memory(p);
		skip_blanks(p);
		if (i + 1 < n && *p->p == ',') {
			p->p++;
			skip_blanks(p);
		}
	}
	if (*p->p != ')')
		return sp__invalid(p->err, *p->p ? p->p : NULL, "')' is expected");
	if (n == 2 && column[1] == UINT32_MAX)
		return sp__invalid(p->err, NULL, "corr, slope and r2 need two columns: corr(x, y)");
	p->p++;
	if (column[0] == UINT32_MAX)
		return a->function == SP__GROUP_COUNT
			       ? 0
			       : sp__invalid(p->err, NULL,
					     "a column is expected between '(' and ')'");
	return note_argument(p, column[0], column[1], keep, &a->argument);
}

/* Copies the text of an aggregate, as it will be named; ends before blanks. */
static char *copy_text(const char *from, const char *to)
{
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	return strndup(from, (size_t)(to - from));
}

/* Takes "as NAME"; *name: replaced, or as it was. */
static int take_name(struct parser *p, char **name)
{
	const char *at;
	size_t n;

	skip_blanks(p);
	if (strncasecmp(p->p, "as", 2) != 0 || !isspace((unsigned char)p->p[2]))
		return 0;
	p->p += 2;
	skip_blanks(p);
	at = p->p;
	if (*at == '"') {
		p->p += sp__unquote(at, p->word, &n);
		if (p->p == at)
			return sp__invalid(p->err, at, "the double quote is not closed");
	} else {
		n = strcspn(at, ",");
		p->p += n;
		while (n && isspace((unsigned char)at[n - 1]))
			n--;
		memcpy(p->word, at, n);
	}
	if (!n)
		return sp__invalid(p->err, NULL, "a name is expected behind 'as'");
	free(*name);
	*name = strndup(p->word, n);
	return *name ? 0 : no_memory(p);
}

static int add_aggregate(struct parser *p)
{
	struct sp__group_spec *s = p->s;
	struct sp__group_aggregate *a;
	const char *from = p->p;
	unsigned keep = 0;
	int rc;

	if (!SP__ARRAY_GROW_BY_ONE(s->aggregates, s->naggregates))
		return no_memory(p);
	a = &s->aggregates[s->naggregates];
	rc = take_function(p, a, &keep);
	if (rc)
		return rc;
	s->naggregates++;
	a->name = copy_text(from, from + strcspn(from, ")") + 1);
	if (!a->name)
		return no_memory(p);
	rc = take_arguments(p, a, keep);
	if (rc)
		return rc;
	free(a->name);
	a->name = copy_text(from, p->p);
	if (!a->name)
		return no_memory(p);
	return take_name(p, &a->name);
}

static int add_aggregates(struct parser *p, const char *text)
{
	int rc;

	p->p = text;
	do {
		skip_blanks(p);
		rc = add_aggregate(p);
		if (rc)
			return rc;
		skip_blanks(p);
	} while (*p->p == ',' && p->p++);
	return *p->p ? sp__invalid(p->err, p->p, "',' is expected between functions") : 0;
}

/* Sorts the columns, so that a record is searched once. */
static int sort_columns(struct parser *p)
{
	struct sp__group_spec *s = p->s;
	uint32_t *to = calloc(s->ncolumns + 1, sizeof(*to));
	size_t *sorted = calloc(s->ncolumns + 1, sizeof(*sorted));

	for (uint32_t i = 0; to && i < s->ncolumns; i++)
		for (uint32_t k = 0; k < s->ncolumns; k++)
			to[i] += s->columns[k] < s->columns[i];
	for (uint32_t i = 0; to && sorted && i < s->ncolumns; i++)
		sorted[to[i]] = s->columns[i];
	for (uint32_t i = 0; to && i < s->nkeys; i++)
		s->keys[i].column = to[s->keys[i].column];
	for (uint32_t i = 0; to && i < s->narguments; i++) {
		struct sp__group_argument *a = &s->arguments[i];

		a->column = to[a->column];
		a->second = a->second == UINT32_MAX ? UINT32_MAX : to[a->second];
	}
	free(to);
	if (!sorted || !to)
		return free(sorted), no_memory(p);
	free(s->columns);
	s->columns = sorted;
	return 0;
}

static uint32_t place(struct sp__group_spec *s, bool wanted, size_t bytes)
{
	const uint32_t at = s->state_bytes;

	if (wanted)
		s->state_bytes += (uint32_t)((bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
	return wanted ? at : 0;
}

/* Gives each part of the state of a group its place, and each list its number. */
static int lay_out(struct parser *p, bool first_positions)
{
	struct sp__group_spec *s = p->s;

	s->state_bytes = sizeof(struct sp__grouped);
	s->position = place(s, first_positions, sizeof(uint64_t));
	for (uint32_t i = 0; i < s->narguments; i++) {
		struct sp__group_argument *a = &s->arguments[i];
		const size_t text = sizeof(struct sp__group_text);

		a->sum = place(s, a->keep & SP__KEEP_SUM, sizeof(struct sp__group_sum));
		a->moments = place(s, a->keep & SP__KEEP_MOMENTS,
				   a->second == UINT32_MAX ? offsetof(struct sp__group_moments, y)
							   : sizeof(struct sp__group_moments));
		a->count = place(s, true, sizeof(uint64_t));
		a->min = place(s, a->keep & SP__KEEP_MIN, text);
		a->max = place(s, a->keep & SP__KEEP_MAX, text);
		a->first = place(s, a->keep & SP__KEEP_FIRST, text);
		a->last = place(s, a->keep & SP__KEEP_LAST, text);
		a->numbers = a->keep & SP__KEEP_NUMBERS ? s->nlists++ : 0;
		a->words = a->keep & SP__KEEP_WORDS ? s->nlists++ : 0;
		a->rows = a->keep & SP__KEEP_ROWS ? s->nlists++ : 0;
	}
	for (uint32_t i = 0; i < s->nkeys; i++) {
		if (!s->keys[i].order)
			continue;
		s->key_texts = s->key_texts ? s->key_texts : s->state_bytes;
		(void)place(s, true, sizeof(struct sp__group_text));
	}
	if (s->nlists > SP__CODE_LISTS)
		return sp__invalid(
			p->err, NULL,
			"at most %d columns can have medians, percentiles, distinct, mode "
			"or list",
			SP__CODE_LISTS);
	return 0;
}

static size_t longest(const char *const *keys, size_t nkeys, const char *aggregates,
		      const struct sp__group_names *names)
{
	size_t n = strlen(aggregates);

	for (size_t i = 0; i < nkeys; i++)
		n = sp__max(n, strlen(keys[i]));
	for (size_t i = 0; i < names->n; i++)
		n = sp__max(n, strlen(names->names[i]));
	return n + 1;
}

int sp__group_spec_parse(struct sp__group_spec *s, const char *const *keys, size_t nkeys,
			 const char *aggregates, bool first_positions,
			 const struct sp__group_names *names, struct sp_errinfo *err)
{
	struct parser p = { .s = s, .names = names, .err = err };
	int rc = 0;

	*s = (struct sp__group_spec){ 0 };
	p.word = malloc(longest(keys, nkeys, aggregates, names));
	if (!p.word)
		return no_memory(&p);
	for (size_t i = 0; !rc && i < nkeys; i++)
		rc = add_key(&p, keys[i]);
	if (!rc)
		rc = add_aggregates(&p, aggregates);
	if (!rc)
		rc = sort_columns(&p);
	if (!rc)
		rc = lay_out(&p, first_positions);
	free(p.word);
	return rc;
}

void sp__group_spec_free(struct sp__group_spec *s)
{
	for (uint32_t i = 0; i < s->nkeys; i++) {
		sp_keyset_free(s->keys[i].order);
		free(s->keys[i].name);
	}
	for (uint32_t i = 0; i < s->naggregates; i++)
		free(s->aggregates[i].name);
	free(s->keys);
	free(s->arguments);
	free(s->aggregates);
	free(s->columns);
	*s = (struct sp__group_spec){ 0 };
}

static const char *name_of(const struct sp__group_spec *s, uint32_t i)
{
	return i < s->nkeys ? s->keys[i].name : s->aggregates[i - s->nkeys].name;
}

int sp__group_spec_find(const struct sp__group_spec *s, const char *name, size_t n)
{
	for (uint32_t i = 0; i < s->nkeys + s->naggregates; i++) {
		const char *own = name_of(s, i);

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
		sp__near_name_try(&nearest, text, n, name_of(s, i), 1);
	return sp__invalid(err, text, "the result has no column of this name%s%s%s",
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

int sp__group_names_check(const struct sp__group_spec *s, const struct sp__cut *cut, char eol,
			  struct sp_errinfo *err)
{
	const char ends[] = { eol, cut->kind == SP__CUT_BLANKS ? ' ' : cut->sep[0],
			      cut->kind == SP__CUT_BLANKS ? '\t' : eol };

	for (uint32_t i = 0; cut->kind != SP__CUT_CSV && i < s->nkeys + s->naggregates; i++) {
		const char *name = name_of(s, i);

		for (size_t k = 0; k < sizeof(ends); k++)
			if (memchr(name, ends[k], strlen(name)))
				return sp__invalid(err, NULL,
						   "the name '%s' has a separator of fields in "
						   "it: add 'as NAME' to that function",
						   name);
	}
	return 0;
}
