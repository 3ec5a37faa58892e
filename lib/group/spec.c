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
#include "expr/token.h"
#include "expr/amount.h"
#include "group/bins.h"
#include "group/binary.h"
#include "group/state.h"

#define SHOWN 40 /* bytes of a user's word in a message */
#define ALIGNMENT 16u

/* Compiles the letters of a key, which apply to the whole field. */
static int order_key(struct sp__group_parser *p, struct sp__group_key *key, const char *text)
{
	struct sp_key letters = SP_KEY_INIT;
	struct sp_keyset_opts o = {
		.format = { .kind = SP_REC_LINE, .eol = '\n', .json = key->member },
		.keys = &letters,
		.nkeys = 1,
		.separator = '\0',
		.unique = true,
		.bytes = true
	};
	int rc;

	key->by_value = key->number && strspn(p->p, "ngr") == strlen(p->p);
	key->reverse = key->by_value && strchr(p->p, 'r');
	if (!key->member && (!*p->p || key->by_value))
		return 0;
	letters.path = key->member ? "." : NULL;
	for (; *p->p; p->p++) {
		key->number |= *p->p == 'n' || *p->p == 'g';
		if (*p->p == 'R' || !sp_key_letter(&letters, *p->p, SP_KEY_BOTH))
			return sp__invalid(p->err, text,
					   "a key is one column, as in 3, 3n, name or name:nr");
	}
	rc = sp_key_check(&letters, p->err);
	return rc ? rc : sp_keyset_new(&key->order, &o, p->err);
}

/* Takes "as NAME", which one of the bytes `ends` ends; *name: replaced, or as it was. */
static int take_name(struct sp__group_parser *p, const char *ends, char **name)
{
	const char *at;
	size_t n;

	sp__group_skip_blanks(p);
	if (strncasecmp(p->p, "as", 2) != 0 || !isspace((unsigned char)p->p[2]))
		return 0;
	p->p += 2;
	sp__group_skip_blanks(p);
	at = p->p;
	if (*at == '"') {
		p->p += sp__unquote(at, p->word, &n);
		if (p->p == at)
			return sp__invalid(p->err, at, "the double quote is not closed");
	} else {
		n = strcspn(at, ends);
		p->p += n;
		while (n && isspace((unsigned char)at[n - 1]))
			n--;
		memcpy(p->word, at, n);
	}
	if (!n)
		return sp__invalid(p->err, NULL, "a name is expected behind 'as'");
	free(*name);
	*name = strndup(p->word, n);
	return *name ? 0 : sp__group_no_memory(p);
}

/* Adds a key to a list. */
static int add_key(struct sp__group_parser *p, const char *text, struct sp__group_key **keys,
		   uint32_t *nkeys)
{
	struct sp__group_key *key;
	int rc;

	if (!SP__ARRAY_GROW_BY_ONE(*keys, *nkeys))
		return sp__group_no_memory(p);
	key = &(*keys)[(*nkeys)++];
	*key = (struct sp__group_key){ 0 };
	p->p = text;
	rc = sp__group_take_operand(p, ":", &key->column);
	if (rc)
		return rc;
	key->number = sp__group_is_number(p->s, key->column);
	key->name = strdup(p->word);
	if (!key->name)
		return sp__group_no_memory(p);
	if (p->names->paths && *key->name == '.')
		sp__json_path_name(p->word, key->name);
	rc = take_name(p, ":", &key->name);
	if (rc)
		return rc;
	/* Only a number and its letters need no colon between them. */
	if (*p->p && *p->p != ':' &&
	    !(!p->s->record_bytes && isdigit((unsigned char)*text) &&
	      isdigit((unsigned char)p->p[-1])))
		return sp__invalid(
			p->err, p->p,
			"':' and letters, 'as NAME' or the end of a key is expected instead of");
	p->p += *p->p == ':';
	/* Names of files and columns are made of texts. */
	key->member = p->names->paths && sp__group_is_plain(key->column) && !p->s->split &&
		      !p->names_columns;
	if (p->s->record_bytes && sp__group_is_plain(key->column))
		return sp__group_binary_order(p, key);
	return order_key(p, key, text);
}

/* Bins have an argument of their own. */
static int note_argument(struct sp__group_parser *p, uint32_t column, uint32_t second,
			 unsigned keep, bool bins, uint32_t *number)
{
	struct sp__group_spec *s = p->s;
	uint32_t i = 0;

	while (i < s->narguments &&
	       (bins || s->arguments[i].nbounds || s->arguments[i].column != column ||
		s->arguments[i].second != second))
		i++;
	if (i == s->narguments) {
		if (!SP__ARRAY_GROW_BY_ONE(s->arguments, s->narguments))
			return sp__group_no_memory(p);
		s->arguments[s->narguments++] =
			(struct sp__group_argument){ .column = column, .second = second };
	}
	if (!(s->arguments[i].keep & SP__KEEP_OF_NUMBERS))
		s->arguments[i].by = s->naggregates - 1;
	s->arguments[i].keep |= keep | SP__KEEP_COUNT;
	*number = i;
	return 0;
}

/* Takes the bounds behind a column, and the parenthesis; a->name: the column. */
static int take_bins(struct sp__group_parser *p, struct sp__group_aggregate *a, uint32_t column)
{
	/* The number of a column without a name. */
	const bool number = p->word[strspn(p->word, "0123456789")] == '\0' && !p->names->n;
	int rc = note_argument(p, column, UINT32_MAX, SP__KEEP_COUNTS, true, &a->argument);

	free(a->name);
	a->name = NULL;
	if (!rc && asprintf(&a->name, "%s%s", number ? "$" : "", p->word) < 0)
		rc = sp__group_no_memory(p);
	if (!rc)
		rc = sp__bins_take(p, &p->s->arguments[a->argument]);
	if (!rc && *p->p != ')')
		rc = sp__invalid(p->err, *p->p ? p->p : NULL, "')' is expected");
	p->p += !rc;
	return rc;
}

/* Takes the columns of a function, and the parenthesis behind them. */
static int take_arguments(struct sp__group_parser *p, struct sp__group_aggregate *a, unsigned keep)
{
	uint32_t column[2] = { UINT32_MAX, UINT32_MAX };
	const unsigned n = sp__group_takes_two(a->function) ? 2 : 1;
	const bool bins = a->function == SP__GROUP_BIN;
	int rc;

	for (unsigned i = 0; i < n && *p->p != ')'; i++) {
		const char *begin = p->p;

		rc = sp__group_take_operand(p, "(),\"", &column[i]);
		if (rc)
			return rc;
		if (keep & SP__KEEP_OF_NUMBERS && sp__group_is_truth(p->s, column[i]))
			return sp__invalid(p->err, begin,
					   "a condition is not a number: write if(CONDITION, 1, 0) "
					   "instead of it at");
		sp__group_skip_blanks(p);
		if (i + 1 < n && *p->p == ',') {
			p->p++;
			sp__group_skip_blanks(p);
		}
	}
	if (bins && column[0] != UINT32_MAX)
		return take_bins(p, a, column[0]);
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
	return note_argument(p, column[0], column[1], keep, false, &a->argument);
}

/* Copies the text of an aggregate, as it will be named; ends before blanks. */
static char *copy_text(const char *from, const char *to)
{
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	return strndup(from, (size_t)(to - from));
}

static int add_aggregate(struct sp__group_parser *p)
{
	struct sp__group_spec *s = p->s;
	struct sp__group_aggregate *a;
	const char *from = p->p;
	unsigned keep = 0;
	int rc;

	if (!SP__ARRAY_GROW_BY_ONE(s->aggregates, s->naggregates))
		return sp__group_no_memory(p);
	a = &s->aggregates[s->naggregates];
	rc = sp__group_take_function(p, a, &keep);
	if (rc)
		return rc;
	s->naggregates++;
	a->name = copy_text(from, from + strcspn(from, ")") + 1);
	if (!a->name)
		return sp__group_no_memory(p);
	rc = take_arguments(p, a, keep);
	if (rc)
		return rc;
	if (a->function != SP__GROUP_BIN) {
		free(a->name);
		a->name = copy_text(from, p->p);
		if (!a->name)
			return sp__group_no_memory(p);
	}
	rc = take_name(p, ",", &a->name);
	return rc || a->function != SP__GROUP_BIN ? rc : sp__bins_expand(p);
}

static int add_aggregates(struct sp__group_parser *p, const char *text)
{
	int rc;

	p->p = text;
	do {
		sp__group_skip_blanks(p);
		rc = add_aggregate(p);
		if (rc)
			return rc;
		sp__group_skip_blanks(p);
	} while (*p->p == ',' && p->p++);
	return *p->p ? sp__invalid(p->err, p->p, "',' is expected between functions") : 0;
}

static uint32_t place(struct sp__group_spec *s, bool wanted, size_t bytes)
{
	const uint32_t at = s->state_bytes;

	if (wanted)
		s->state_bytes += (uint32_t)((bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
	return wanted ? at : 0;
}

/* Gives each part of the state of a group its place, and each list its number. */
static int lay_out(struct sp__group_parser *p, bool first_positions)
{
	struct sp__group_spec *s = p->s;

	s->state_bytes = 0;
	(void)place(s, true, sizeof(struct sp__grouped));
	s->nlists = s->largest > 0;
	s->firsts = place(s, s->largest && s->largest <= SP__GROUP_FIRSTS,
			  sizeof(struct sp__group_firsts) +
				  s->largest * sizeof(((struct sp__group_firsts *)0)->codes[0]));
	s->position = place(s, first_positions, sizeof(uint64_t));
	for (uint32_t i = 0; i < s->narguments; i++) {
		struct sp__group_argument *a = &s->arguments[i];
		const size_t text = sizeof(struct sp__group_text);

		a->sum = place(s, a->keep & SP__KEEP_SUM, sizeof(struct sp__group_sum));
		a->moments = place(s, a->keep & SP__KEEP_MOMENTS,
				   a->second == UINT32_MAX ? offsetof(struct sp__group_moments, y)
							   : sizeof(struct sp__group_moments));
		a->counts = place(s, a->keep & SP__KEEP_COUNTS, sizeof(struct sp__group_counts));
		s->grows |= a->counts != 0;
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
		if (!sp__group_keeps_text(s, i))
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

static size_t longest(const struct sp__group_words *words, const struct sp__column_names *names)
{
	size_t n = strlen(words->aggregates);

	if (words->where)
		n = sp__max(n, strlen(words->where));
	if (words->pivot)
		n = sp__max(n, strlen(words->pivot));
	for (size_t i = 0; i < words->nkeys; i++)
		n = sp__max(n, strlen(words->keys[i]));
	for (size_t i = 0; i < words->nby; i++)
		n = sp__max(n, strlen(words->by[i]));
	for (size_t i = 0; i < names->n; i++)
		n = sp__max(n, strlen(names->names[i]));
	return n + 1;
}

static int set_where(struct sp__group_parser *p, const char *text)
{
	int rc;

	p->p = text;
	rc = sp__group_take_expression(p, &p->s->where);
	return rc ? rc : sp__expr_condition(p->s->where, "--where", text, p->p, p->err);
}

/* Returns what whole records have no use for; NULL: nothing. */
static const char *excluded_by_records(const struct sp_group_opts *o)
{
	return o->aggregates	? "aggregates"
	       : o->json	? "JSON"
	       : o->having	? "a condition of rows"
	       : o->order	? "another order of rows"
	       : o->pivot	? "a pivot"
	       : o->npercent	? "percentages"
	       : o->ncumulative ? "running totals"
				: NULL;
}

static const char *excluded_by_pivot(const struct sp_group_opts *o)
{
	return o->having	? "a condition of rows"
	       : o->npercent	? "percentages"
	       : o->ncumulative ? "running totals"
	       : o->order && strcmp(o->order, "key") != 0 && strcmp(o->order, "first") != 0
		       ? "an order by a column"
		       : NULL;
}

static const char *excluded_by_files(const struct sp_group_opts *o)
{
	return o->limited				  ? "a limit"
	       : o->run.compress_output != SP_PACKED_NONE ? "a compressed output"
							  : NULL;
}

int sp__group_options_check(const struct sp_group_opts *o, struct sp_errinfo *err)
{
	const struct {
		const char *option, *other;
	} pairs[] = {
		{ "the largest records of each group", o->largest ? excluded_by_records(o) : NULL },
		{ "a file for each group", o->split ? excluded_by_records(o) : NULL },
		{ "a file for each group", o->split ? excluded_by_files(o) : NULL },
		{ "a pivot", o->pivot ? excluded_by_pivot(o) : NULL },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i].other)
			return sp__invalid(err, NULL, "%s and %s exclude each other",
					   pairs[i].option, pairs[i].other);
	return 0;
}

int sp__group_spec_parse(struct sp__group_spec *s, const struct sp__group_words *words,
			 const struct sp__column_names *names, struct sp_errinfo *err)
{
	struct sp__group_parser p = { .s = s, .names = names, .err = err };
	int rc = 0;

	*s = (struct sp__group_spec){ .paths = names->paths, .record_bytes = words->record_bytes };
	p.word = malloc(longest(words, names));
	if (!p.word)
		return sp__group_no_memory(&p);
	s->pivot = words->pivot;
	s->split = words->split;
	for (size_t i = 0; !rc && i < words->nkeys; i++)
		rc = add_key(&p, words->keys[i], &s->keys, &s->nkeys);
	p.names_columns = words->pivot;
	if (!rc && words->pivot)
		rc = add_key(&p, words->pivot, &s->keys, &s->nkeys);
	p.names_columns = false;
	s->largest = words->split && !words->largest ? UINT64_MAX : words->largest;
	for (size_t i = 0; !rc && i < words->nby; i++)
		rc = add_key(&p, words->by[i], &s->by, &s->nby);
	if (!rc && !s->largest)
		rc = add_aggregates(&p, words->aggregates);
	if (!rc && words->where)
		rc = set_where(&p, words->where);
	if (!rc)
		rc = sp__group_sort_columns(&p);
	if (!rc)
		rc = lay_out(&p, words->first_positions);
	if (!rc)
		rc = sp__group_running_parse(s, words, err);
	free(p.word);
	return rc;
}

static void free_keys(struct sp__group_key *keys, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		sp_keyset_free(keys[i].order);
		free(keys[i].name);
	}
	free(keys);
}

void sp__group_spec_free(struct sp__group_spec *s)
{
	free_keys(s->keys, s->nkeys);
	free_keys(s->by, s->nby);
	for (uint32_t i = 0; i < s->naggregates; i++)
		free(s->aggregates[i].name);
	for (uint32_t i = 0; i < s->nderived; i++) {
		sp__expr_free(s->derived[i].expr);
		free(s->derived[i].text);
	}
	for (uint32_t i = 0; i < s->nrunning; i++)
		free(s->running[i].name);
	for (uint32_t i = 0; i < s->narguments; i++)
		free(s->arguments[i].bounds);
	sp__expr_free(s->where);
	sp__json_paths_free(s->paths);
	free(s->running);
	free(s->derived);
	free(s->members);
	free(s->arguments);
	free(s->aggregates);
	free(s->columns);
	free(s->fields);
	*s = (struct sp__group_spec){ 0 };
}
