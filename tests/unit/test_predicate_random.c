/* SPDX-License-Identifier: MIT */
/*
 * Random predicates over columns of 20 types against a naive three-valued evaluation of their trees
 * on plain copies of the values, and exclusion by bounds.
 */
#include "base/minmax.h"
#include "columns/predicate.h"
#include "plainrows.h"
#include "table/write/bounds.h"

#define LIST_MAX 12 /* values of a list: searched one by one, or by halves */

enum { FALSE, UNKNOWN, TRUE }; /* "and" is the minimum, "or" the maximum */

/* A tree whose text is in `text`. */
struct node {
	char what; /* & | ! c: compare with a literal, o: two columns, i: in, n: null, p: prefix */
	uint32_t a, b;	   /* columns */
	unsigned outcomes; /* bit 0: less, 1: equal, 2: greater */
	bool inverted;
	unsigned n;
	sp__int128 numbers[LIST_MAX];
	char texts[LIST_MAX][TEXT_MAX];
	struct node *children[4];
};

static char text[100000];
static size_t length;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	length += (size_t)vsnprintf(text + length, sizeof(text) - length, format, ap);
	va_end(ap);
}

static int order_of(const struct plain *a, const struct plain *b, bool is_texts)
{
	if (is_texts)
		return strcmp(a->text, b->text);
	return (a->number > b->number) - (a->number < b->number);
}

static unsigned bit_of(int order)
{
	return order < 0 ? 1 : order > 0 ? 4 : 2;
}

static int test_of(const struct node *x, uint32_t i)
{
	const struct plain *a = &plain[x->a][i], *b = &plain[x->b][i];
	const bool is_texts = is_text(&schema.columns[x->a].type);
	bool passed = false;

	if (x->what == 'n')
		return a->null != x->inverted ? TRUE : FALSE;
	if (a->null || (x->what == 'o' && b->null))
		return UNKNOWN;
	if (x->what == 'o')
		return x->outcomes & bit_of(order_of(a, b, is_texts)) ? TRUE : FALSE;
	if (x->what == 'p')
		return strncmp(a->text, x->texts[0], strlen(x->texts[0])) ? FALSE : TRUE;
	for (unsigned k = 0; k < x->n; k++) {
		struct plain literal = { .number = x->numbers[k] };

		strcpy(literal.text, x->texts[k]);
		passed |= (x->what == 'i' ? 2 : x->outcomes) &
			  bit_of(order_of(a, &literal, is_texts));
	}
	return passed != x->inverted ? TRUE : FALSE;
}

static int value_of(const struct node *x, uint32_t i)
{
	int v = x->what == '&' ? TRUE : FALSE;

	if (x->what == '!')
		return TRUE - value_of(x->children[0], i);
	if (x->what != '&' && x->what != '|')
		return test_of(x, i);
	for (unsigned k = 0; k < x->n; k++) {
		int child = value_of(x->children[k], i);

		if (x->what == '&' ? child < v : child > v)
			v = child;
	}
	return v;
}

static void say_quoted(const char *s)
{
	say("'");
	for (; *s; s++)
		say(*s == '\'' ? "''" : "%c", *s);
	say("'");
}

/* A date or a time by its number of half days. */
static void say_time(int half_days, bool is_date)
{
	static const char *const at[] = { "1969-12-30", "1969-12-31", "1970-01-01", "1970-01-02",
					  "1970-01-03" };
	const int day = half_days >> 1;

	say("'%s%s'", at[day + 2], half_days & 1 ? " 12:00:00" : is_date ? "" : " 00:00:00");
}

/* Says a literal for a column, which can lie between its values or outside its type. */
static void say_literal(uint32_t column, sp__int128 *number, char *literal)
{
	const struct sp__value_type *t = &schema.columns[column].type;
	const bool is_real = t->kind == 'f' && below(2);
	const char *const specials[] = { is_real ? "1e309" : "1e30", is_real ? "-1e309" : "-1e30",
					 "inf", "-inf", "nan" };
	static const int signs[] = { 1, -1, 1, -1, 0 };
	long units;

	if (is_text(t)) {
		random_text(literal, 6);
		say_quoted(literal);
	} else if (t->kind == 'D' || t->kind == 'T') {
		int half_days = (int)below(10) - 4;

		half_days -= t->kind == 'D' ? half_days & 1 : 0;

		*number = (sp__int128)half_days * 43200000000;
		say_time(half_days, t->kind == 'D');
	} else if (!below(8)) {
		unsigned k = (unsigned)below(t->kind == 'f' ? 5 : 2);

		*number = signs[k] * (INFINITE - (k < 2)); /* 1e30 is less than inf */
		*number = signs[k] ? *number : NOT_A_NUMBER;
		if (k < 2 && t->kind == 'f') /* floats have 1e30 */
			*number = signs[k] * (INFINITE - 1);
		say("%s", specials[k]);
	} else {
		units = ((long)below(120) - 60) * (long)(below(2) ? UNITS : UNITS / 8);
		*number = units;
		if (!below(4))
			say("%lde-%d", units * 125 / 10, 6);
		else
			say("%s%ld.%05ld", units < 0 ? "-" : "", labs(units) / UNITS,
			    labs(units) % UNITS * 100000 / UNITS);
	}
}

static char family(const struct sp__value_type *t)
{
	return is_text(t) ? 't' : t->kind == 'D' || t->kind == 'T' ? 'd' : 'n';
}

static const char *const signs[] = {
	[1] = "<", [2] = "=", [3] = "<=", [4] = ">", [5] = "!=", [6] = ">="
};

static void make_test(struct node *x)
{
	x->a = (uint32_t)below(COLUMNS);
	x->outcomes = (unsigned)(1 + below(6));
	x->what = "ccoinp"[below(6)];
	if (x->what == 'p' && !is_text(&schema.columns[x->a].type))
		x->what = 'c';
	x->n = x->what == 'i' ? (unsigned)(1 + below(LIST_MAX)) : 1;
	x->inverted = (x->what == 'i' || x->what == 'n') && below(2);
	if (x->what == 'c' && below(2)) { /* the literal on the left */
		unsigned mirrored = (x->outcomes & 2) | (x->outcomes & 1) << 2 | x->outcomes >> 2;

		say_literal(x->a, &x->numbers[0], x->texts[0]);
		say("%sc%u ", signs[mirrored], x->a);
		return;
	}
	say(below(2) ? "c%u " : "\"c%u\"", x->a);
	if (x->what == 'n')
		say(x->inverted ? " IS not NULL" : "is null");
	else if (x->what == 'i')
		say(x->inverted ? " not in (" : " in(");
	else
		say("%s ", x->what == 'p' ? "^=" : signs[x->outcomes]);
	if (x->what == 'o') {
		do
			x->b = (uint32_t)below(COLUMNS);
		while (family(&schema.columns[x->a].type) != family(&schema.columns[x->b].type));
		say("c%u", x->b);
	} else if (x->what != 'n') {
		for (unsigned k = 0; k < x->n; k++) {
			say("%s", k ? "," : "");
			say_literal(x->a, &x->numbers[k], x->texts[k]);
		}
	}
	say(x->what == 'i' ? ") " : " ");
}

static struct node *make_node(unsigned depth)
{
	struct node *x = calloc(1, sizeof(*x));

	if (!x)
		abort();
	if (!depth || !below(4)) {
		make_test(x);
		return x;
	}
	x->what = "&|!"[below(3)];
	x->n = x->what == '!' ? 1 : (unsigned)(2 + below(3));
	say(x->what == '!' ? "not (" : "(");
	for (unsigned k = 0; k < x->n; k++) {
		say("%s", k ? x->what == '&' ? " and " : " or " : "");
		x->children[k] = make_node(depth - 1);
	}
	say(")");
	return x;
}

static void free_node(struct node *x)
{
	for (unsigned k = 0; k < 4 && x->children[k]; k++)
		free_node(x->children[k]);
	free(x);
}

/* The bounds of all columns for the records. */
static void bounds_of(const struct sp__rows *rows, struct sp__bounds *bounds, const uint8_t **at)
{
	for (uint32_t c = 0; c < COLUMNS; c++) {
		const struct sp__value_type *t = &schema.columns[c].type;

		at[c] = sp__column_type_bounded(t) ? (const uint8_t *)&bounds[c] : NULL;
		if (!at[c])
			continue;
		sp__bounds_begin(&bounds[c], t);
		for (uint32_t i = 0; i < rows->n; i++)
			sp__bounds_add(&bounds[c], t, sp__vector_at(&rows->vectors[c], i), 1);
	}
}

/* Records from first on. */
static struct sp__rows rows_from(uint32_t first, uint32_t n, struct sp__vector *v)
{
	for (uint32_t c = 0; c < COLUMNS; c++) {
		v[c] = vectors[c];
		v[c].data = sp__vector_at(&vectors[c], first);
		if (first && schema.columns[c].type.kind == 't')
			memcpy(&v[c].before, sp__vector_at(&vectors[c], first - 1), 4);
	}
	return (struct sp__rows){ first, n, v };
}

static unsigned excluded; /* conditions that bounds excluded */

static bool same(const struct node *x, const struct sp__predicate *w)
{
	static uint32_t selected[RECORDS];
	const uint32_t first = (uint32_t)below(RECORDS);
	const uint32_t n =
		(uint32_t)(below(2) ? below(RECORDS - first) : below(4)) % (RECORDS - first);
	struct sp__vector v[COLUMNS];
	struct sp__rows rows = rows_from(first, n, v);
	struct sp__bounds bounds[COLUMNS];
	const uint8_t *at[COLUMNS];
	struct sp__chosen_rows chosen = { .at = selected };
	uint32_t found = 0, got;
	struct sp__predicate_scratch *scratch = sp__predicate_scratch_new(w);

	if (!scratch || sp__predicate_select(w, scratch, &rows, &chosen))
		abort();
	got = chosen.n;
	sp__predicate_scratch_free(scratch);
	for (uint32_t i = 0; i < n; i++) {
		if (value_of(x, first + i) != TRUE)
			continue;
		if (found == got || selected[found] != i)
			return false;
		found++;
	}
	bounds_of(&rows, bounds, at);
	if (sp__predicate_excludes(w, at)) {
		excluded++;
		return found == 0 && found == got;
	}
	return found == got;
}

static void random_conditions(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	unsigned wrong = 0;

	for (unsigned round = 0; round < 3000 && !wrong; round++) {
		struct sp__predicate *w;
		struct node *x;

		if (round % 100 == 0)
			make_records(round % 300 ? 15 : 0);
		length = 0;
		x = make_node((unsigned)below(4));
		if (sp__predicate_parse(&w, text, &schema, &err)) {
			diag("%.900s: %s", text, err.text);
			wrong++;
		} else if (!same(x, w)) {
			diag("round %u: %.900s", round, text);
			wrong++;
		}
		sp__predicate_free(w);
		free_node(x);
	}
	ok(!wrong, "random conditions select the records that a naive evaluation selects");
	ok(excluded > 100, "bounds exclude only conditions that are true for no record");
}

int main(void)
{
	rng = (struct sp__rng){ 7 };
	make_schema();
	random_conditions();
	sp__schema_free(&schema);
	return done();
}
