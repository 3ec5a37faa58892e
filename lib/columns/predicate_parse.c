/* SPDX-License-Identifier: MIT */
/*
 * Parses predicates by recursive descent; steps are written in the order of evaluation.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "columns/schema_text.h"
#include "expr/token.h"
#include "columns/predicate_program.h"

#define MAX_DEPTH 100 /* maximum depth of parentheses and "not" */
#define SHOWN 40      /* bytes of the user's text in a message */

enum token_kind { END, WORD, NAME, NUMBER, TEXT, SIGN };

struct token {
	enum token_kind kind;
	const char *begin;
	char *text; /* NAME and TEXT without quotes; other tokens point into the predicate */
	size_t bytes;
};

struct parser {
	struct sp__predicate *predicate;
	const char *begin, *at; /* begin of the text; end of the token */
	struct token token;
	char *copies; /* copies of names and texts; */
	size_t copied;
	unsigned depth, kept; /* depth of parentheses; number of results */
	struct sp_errinfo *err;
};

static int fail(const struct parser *p, const char *reason)
{
	const char *at = p->token.begin;
	size_t rest = strlen(at);

	if (!rest)
		return sp__errf(p->err, SP_ESYNTAX, "where", NULL, -1, "%s at the end", reason);
	return sp__errf(p->err, SP_ESYNTAX, "where", NULL, -1, "%s at '%.*s%s', character %zu",
			reason, (int)sp__min(rest, SHOWN), at, rest > SHOWN ? "..." : "",
			(size_t)(at - p->begin) + 1);
}

static int fail_literal(const struct parser *p, const struct sp__predicate_literal *l,
			const char *reason)
{
	return sp__errf(p->err, SP_ESYNTAX, "where", NULL, -1, "'%.*s', character %zu, %s",
			(int)sp__min(l->bytes, SHOWN), l->text, l->at, reason);
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

/* True for characters of numbers, dates without quotes, and names after the first character. */
static bool continues(char c)
{
	return is_name(c) || (c >= '0' && c <= '9') || c == '.';
}

/* Takes a text in quotes, in which they are doubled. */
static int take_quoted(struct parser *p)
{
	size_t bytes;

	p->token.text = p->copies + p->copied;
	p->token.kind = *p->at == '"' ? NAME : TEXT;
	bytes = sp__unquote(p->at, p->token.text, &p->token.bytes);
	p->at += bytes;
	p->copied += p->token.bytes;
	return bytes ? 0 : fail(p, "a quote is not closed");
}

/* Takes a number, with signs inside: 1e-5, or a date. */
static void take_number(struct parser *p)
{
	p->token.kind = NUMBER;
	for (p->at++; continues(*p->at) || *p->at == '-' || *p->at == '+' || *p->at == ':'; p->at++)
		;
}

static void take_sign(struct parser *p)
{
	static const char *const signs[] = { "!=", "<>", "<=", ">=", "^=" };

	p->token.kind = SIGN;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (!strncmp(p->at, signs[i], 2)) {
			p->at += 2;
			return;
		}
	p->at++;
}

/* Takes the next token. */
static int next(struct parser *p)
{
	p->at += strspn(p->at, " \t\n\r");
	p->token = (struct token){ .begin = p->at, .text = (char *)(uintptr_t)p->at };
	if (!*p->at)
		return 0;
	if (*p->at == '"' || *p->at == '\'')
		return take_quoted(p);
	if ((*p->at >= '0' && *p->at <= '9') || *p->at == '-' || *p->at == '+' || *p->at == '.') {
		take_number(p);
	} else if (is_name(*p->at)) {
		p->token.kind = WORD;
		while (continues(*p->at))
			p->at++;
	} else {
		take_sign(p);
	}
	p->token.bytes = (size_t)(p->at - p->token.begin);
	return 0;
}

static bool is_sign(const struct parser *p, const char *sign)
{
	return p->token.kind == SIGN && p->token.bytes == strlen(sign) &&
	       !memcmp(p->token.begin, sign, p->token.bytes);
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->token.kind == WORD && p->token.bytes == strlen(word) &&
	       !strncasecmp(p->token.begin, word, p->token.bytes);
}

/* Adds a step; results: by how many the kept results grow. */
static int add(struct parser *p, const struct sp__predicate_step *step, int results)
{
	struct sp__predicate *w = p->predicate;

	if (!SP__ARRAY_GROW(w->steps, w->capacity, w->n + 1))
		return sp__err(p->err, -ENOMEM, "where", NULL, -1);
	w->steps[w->n++] = *step;
	p->kept += (unsigned)results;
	w->depth = (unsigned)sp__max(w->depth, p->kept);
	return 0;
}

static int add_operator(struct parser *p, enum sp__step_kind kind)
{
	return add(p, &(struct sp__predicate_step){ .kind = kind }, kind == SP__STEP_NOT ? 0 : -1);
}

struct operand {
	bool is_column;
	uint32_t column;
	struct sp__predicate_literal literal;
};

static bool is_special(const struct parser *p)
{
	return is_word(p, "nan") || is_word(p, "inf") || is_word(p, "infinity");
}

static int take_operand(struct parser *p, struct operand *o)
{
	const struct token *t = &p->token;
	const struct sp__schema *schema = p->predicate->schema;
	int column;

	*o = (struct operand){ .literal = { t->kind == TEXT, t->text, t->bytes,
					    (size_t)(t->begin - p->begin) + 1 } };
	if (t->kind == END || t->kind == SIGN || is_word(p, "and") || is_word(p, "or") ||
	    is_word(p, "in") || is_word(p, "is") || is_word(p, "not") || is_word(p, "null"))
		return fail(p, "a column, a number or a text in single quotes is missing");
	if (t->kind == NAME || t->kind == WORD) {
		column = sp__schema_find(schema, t->text, t->bytes);
		if (column < 0 && (t->kind == NAME || !is_special(p)))
			return sp__names_column(schema, t->text, t->bytes, p->err);
		o->is_column = column >= 0;
		o->column = (uint32_t)column;
	}
	return next(p);
}

/* Takes a comparison sign.  Returns the orders for which it is true; 0: there is none. */
static unsigned orders_of(const struct parser *p)
{
	static const struct {
		const char *sign;
		unsigned orders;
	} signs[] = {
		{ "=", SP__ORDER_EQUAL },
		{ "^=", SP__ORDER_EQUAL },
		{ "!=", SP__ORDER_LESS | SP__ORDER_MORE },
		{ "<>", SP__ORDER_LESS | SP__ORDER_MORE },
		{ "<", SP__ORDER_LESS },
		{ "<=", SP__ORDER_LESS | SP__ORDER_EQUAL },
		{ ">", SP__ORDER_MORE },
		{ ">=", SP__ORDER_MORE | SP__ORDER_EQUAL },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (is_sign(p, signs[i].sign))
			return signs[i].orders;
	return 0;
}

/* Returns the orders of b and a for those of a and b. */
static unsigned swapped(unsigned orders)
{
	return (orders & SP__ORDER_EQUAL) | (orders & SP__ORDER_LESS ? SP__ORDER_MORE : 0) |
	       (orders & SP__ORDER_MORE ? SP__ORDER_LESS : 0);
}

/* True if two columns can be compared. */
static bool go_together(const struct sp__value_type *a, const struct sp__value_type *b)
{
	const bool a_time = a->kind == 'D' || a->kind == 'T';
	const bool b_time = b->kind == 'D' || b->kind == 'T';

	return sp__type_is_text(a) == sp__type_is_text(b) && a_time == b_time;
}

static int compare_columns(struct parser *p, uint32_t a, uint32_t b, unsigned orders, bool prefix)
{
	const struct sp__column *columns = p->predicate->schema->columns;
	const struct sp__predicate_step step = {
		.kind = SP__STEP_PAIR, .column = a, .other = b, .orders = orders, .prefix = prefix
	};

	if (!go_together(&columns[a].type, &columns[b].type) ||
	    (prefix && !sp__type_is_text(&columns[a].type)))
		return sp__errf(
			p->err, SP_ESYNTAX, "where", NULL, -1,
			"columns '%.40s' and '%.40s' cannot be compared: their types differ",
			columns[a].name, columns[b].name);
	return add(p, &step, 1);
}

static void free_step(struct sp__predicate_step *s)
{
	free(s->set);
	free(s->words);
	free(s->text);
}

/* Adds a step that has been made, or reports why it could not be. */
static int add_made(struct parser *p, struct sp__predicate_step *s, int rc,
		    const struct sp__predicate_literal *l, const char *reason)
{
	if (rc == SP_ESYNTAX)
		rc = fail_literal(p, l, reason);
	else if (rc)
		rc = sp__err(p->err, rc, "where", NULL, -1);
	else
		rc = add(p, s, 1);
	if (rc)
		free_step(s);
	return rc;
}

static int compare(struct parser *p, const struct operand *a, const struct operand *b,
		   unsigned orders, bool prefix)
{
	struct sp__predicate_step step = { .column = a->is_column ? a->column : b->column };
	const struct sp__predicate_literal *l = a->is_column ? &b->literal : &a->literal;
	const char *reason = "";
	int rc;

	if (a->is_column && b->is_column)
		return compare_columns(p, a->column, b->column, orders, prefix);
	if (!a->is_column && (!b->is_column || prefix))
		return fail_literal(p, &a->literal,
				    prefix ? "is on the left of ^=, where only a column can be"
					   : "is compared with a literal: one side must be a "
					     "column");
	rc = sp__step_compare(&step, p->predicate->schema, a->is_column ? orders : swapped(orders),
			      prefix, l, &reason);
	return add_made(p, &step, rc, l, reason);
}

/* Takes the pairs of a chain of comparisons. */
static int take_chain(struct parser *p, struct operand *a)
{
	unsigned pairs = 0, orders;
	int rc = 0;

	while (!rc && (orders = orders_of(p))) {
		bool prefix = is_sign(p, "^=");
		struct operand b = { 0 };

		rc = next(p);
		if (!rc)
			rc = take_operand(p, &b);
		if (!rc)
			rc = compare(p, a, &b, orders, prefix);
		if (!rc && pairs++)
			rc = add_operator(p, SP__STEP_AND);
		*a = b;
	}
	return rc || pairs ? rc : fail(p, "a comparison is missing");
}

/* Takes the literals of a list, to the closing parenthesis.  The caller frees *list. */
static int take_list(struct parser *p, struct sp__predicate_literal **list, size_t *n)
{
	size_t capacity = 0;
	int rc = is_sign(p, "(") ? 0 : fail(p, "( is missing");

	do {
		struct operand o = { 0 };

		if (!rc)
			rc = next(p);
		if (!rc)
			rc = take_operand(p, &o);
		if (!rc && o.is_column)
			rc = fail(p, "a list must have literals, not columns,");
		if (!rc && !SP__ARRAY_GROW(*list, capacity, *n + 1))
			rc = sp__err(p->err, -ENOMEM, "where", NULL, -1);
		if (!rc)
			(*list)[(*n)++] = o.literal;
	} while (!rc && is_sign(p, ","));
	if (rc)
		return rc;
	return is_sign(p, ")") ? next(p) : fail(p, "a comma or ) is missing");
}

/* Adds steps for one of the literals. */
static int add_list(struct parser *p, uint32_t column, const struct sp__predicate_literal *list,
		    size_t n)
{
	const char kind = p->predicate->schema->columns[column].type.kind;
	const struct operand a = { .is_column = true, .column = column };
	struct sp__predicate_step step = { .column = column };
	const char *reason = "";
	size_t bad = 0;
	int rc = 0;

	if (kind != 'f' && kind != 'c' && kind != 't') {
		rc = sp__step_in(&step, p->predicate->schema, list, n, &bad, &reason);
		return add_made(p, &step, rc, &list[bad], reason);
	}
	for (size_t i = 0; !rc && i < n; i++) {
		rc = compare(p, &a, &(struct operand){ .literal = list[i] }, SP__ORDER_EQUAL,
			     false);
		if (!rc && i)
			rc = add_operator(p, SP__STEP_OR);
	}
	return rc;
}

static int take_in(struct parser *p, const struct operand *o, bool negated)
{
	struct sp__predicate_literal *list = NULL;
	size_t n = 0;
	int rc;

	if (!o->is_column)
		return fail_literal(p, &o->literal,
				    "is on the left of 'in', where only a column can be");
	rc = next(p);
	if (!rc)
		rc = take_list(p, &list, &n);
	if (!rc)
		rc = add_list(p, o->column, list, n);
	free(list);
	return !rc && negated ? add_operator(p, SP__STEP_NOT) : rc;
}

static int take_null(struct parser *p, const struct operand *o)
{
	bool negated = false;
	int rc = next(p);

	if (!o->is_column)
		return fail_literal(p, &o->literal,
				    "is on the left of 'is', where only a column can be");
	if (!rc && is_word(p, "not")) {
		negated = true;
		rc = next(p);
	}
	if (!rc && !is_word(p, "null"))
		rc = fail(p, "'null' is missing");
	if (!rc)
		rc = next(p);
	if (!rc)
		rc = add(p,
			 &(struct sp__predicate_step){ .kind = SP__STEP_NULL, .column = o->column },
			 1);
	return !rc && negated ? add_operator(p, SP__STEP_NOT) : rc;
}

static int take_comparison(struct parser *p)
{
	struct operand o;
	int rc = take_operand(p, &o);

	if (rc)
		return rc;
	if (is_word(p, "is"))
		return take_null(p, &o);
	if (is_word(p, "in"))
		return take_in(p, &o, false);
	if (!is_word(p, "not"))
		return take_chain(p, &o);
	rc = next(p);
	if (rc)
		return rc;
	return is_word(p, "in") ? take_in(p, &o, true) : fail(p, "'in' is missing");
}

static int take_or(struct parser *p);

static int take_not(struct parser *p)
{
	int rc;

	if (++p->depth > MAX_DEPTH)
		return fail(p, "the predicate is nested too deeply");
	if (is_word(p, "not")) {
		rc = next(p);
		if (!rc)
			rc = take_not(p);
		if (!rc)
			rc = add_operator(p, SP__STEP_NOT);
	} else if (is_sign(p, "(")) {
		rc = next(p);
		if (!rc)
			rc = take_or(p);
		if (!rc)
			rc = is_sign(p, ")") ? next(p) : fail(p, ") is missing");
	} else {
		rc = take_comparison(p);
	}
	p->depth--;
	return rc;
}

/* Takes operands with a word between them. */
static int take_joined(struct parser *p, const char *word, int (*take)(struct parser *p),
		       enum sp__step_kind kind)
{
	int rc = take(p);

	while (!rc && is_word(p, word)) {
		rc = next(p);
		if (!rc)
			rc = take(p);
		if (!rc)
			rc = add_operator(p, kind);
	}
	return rc;
}

static int take_and(struct parser *p)
{
	return take_joined(p, "and", take_not, SP__STEP_AND);
}

static int take_or(struct parser *p)
{
	return take_joined(p, "or", take_and, SP__STEP_OR);
}

int sp__predicate_parse(struct sp__predicate **predicate, const char *text,
			const struct sp__schema *schema, struct sp_errinfo *err)
{
	struct parser p = { .begin = text, .at = text, .err = err };
	int rc;

	*predicate = p.predicate = calloc(1, sizeof(*p.predicate));
	p.copies = malloc(strlen(text) + 1);
	if (!p.predicate || !p.copies) {
		rc = sp__err(err, -ENOMEM, "where", NULL, -1);
	} else {
		p.predicate->schema = schema;
		rc = next(&p);
		if (!rc)
			rc = take_or(&p);
		if (!rc && p.token.kind != END)
			rc = fail(&p, "and, or or the end is missing");
	}
	free(p.copies);
	if (rc) {
		sp__predicate_free(*predicate);
		*predicate = NULL;
	}
	return rc;
}

void sp__predicate_free(struct sp__predicate *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		free_step(&w->steps[i]);
	free(w->steps);
	free(w);
}

unsigned sp__predicate_tests(const struct sp__predicate *w)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->steps[i].kind > SP__STEP_NOT;
	return n;
}

void sp__predicate_columns(const struct sp__predicate *w, bool *columns)
{
	for (size_t i = 0; i < w->n; i++) {
		if (w->steps[i].kind > SP__STEP_NOT)
			columns[w->steps[i].column] = true;
		if (w->steps[i].kind == SP__STEP_PAIR)
			columns[w->steps[i].other] = true;
	}
}
