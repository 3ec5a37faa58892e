/* SPDX-License-Identifier: MIT */
/*
 * Compiles predicates: parses the expression, and writes steps in the order of evaluation.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "columns/predicate_program.h"
#include "columns/schema_text.h"
#include "expr/token.h"

#define SHOWN 40 /* bytes of the user's text in a message */

/* A result that is joined with the one being compiled. */
struct guard {
	struct sp__predicate_guard own;
	const struct guard *outer;
};

struct compiler {
	struct sp__predicate_source s;
	const struct guard *guards;
	unsigned nguards, kept; /* number of results */
};

static int fail_literal(const struct compiler *c, const struct sp__predicate_literal *l,
			const char *reason)
{
	return sp__errf(c->s.err, SP_ESYNTAX, "where", NULL, -1, "'%.*s', character %zu, %s",
			(int)sp__min(l->bytes, SHOWN), l->text, l->at + 1, reason);
}

static int no_memory(const struct compiler *c)
{
	return sp__err(c->s.err, -ENOMEM, "where", NULL, -1);
}

static const struct sp__expr_node *node_of(const struct sp__predicate *w, uint32_t i)
{
	return &w->expr->nodes[i];
}

/* Numbers without digits, which are numbers of columns behind the last one. */
static const char *const specials[] = { "-nan", "-inf", "-infinity" };
#define SPECIALS (sizeof(specials) / sizeof(*specials))

static bool is_column(const struct sp__predicate *w, uint32_t i)
{
	const struct sp__expr_node *n = node_of(w, i);

	return n->operator== SP__NODE_COLUMN && n->column<w->schema->n;
}

bool sp__predicate_literal(const struct sp__predicate *w, uint32_t i,
			   struct sp__predicate_literal *l)
{
	const struct sp__expr_node *n = node_of(w, i);
	bool minus = false;

	*l = (struct sp__predicate_literal){ .at = n->at };
	for (; n->operator== SP__NODE_NEGATE; n = node_of(w, sp__node_arg(w->expr, n, 0)))
		minus = !minus;
	if (n->operator== SP__NODE_COLUMN && n->column >= w->schema->n) {
		l->text = specials[n->column - w->schema->n] + !minus;
		l->bytes = strlen(l->text);
		return true;
	}
	if (n->operator!= SP__NODE_LITERAL)
		return false;
	l->quoted = n->type == SP__TYPE_TEXT;
	l->text = n->literal.text.p - minus; /* the sign is before it */
	l->bytes = n->literal.text.n + minus;
	return true;
}

/* Steps. */

static void free_step(struct sp__predicate_step *s)
{
	free(s->guards);
	free(s->set);
	free(s->words);
	free(s->text);
	free(s->columns);
}

/* Adds a step; results: by how many the kept results grow. */
static int add(struct compiler *c, const struct sp__predicate_step *step, int results)
{
	struct sp__predicate *w = c->s.predicate;

	if (!SP__ARRAY_GROW(w->steps, w->capacity, w->n + 1))
		return no_memory(c);
	w->steps[w->n++] = *step;
	c->kept += (unsigned)results;
	w->depth = (unsigned)sp__max(w->depth, c->kept);
	return 0;
}

static int add_operator(struct compiler *c, enum sp__step_kind kind)
{
	return add(c, &(struct sp__predicate_step){ .kind = kind }, kind == SP__STEP_NOT ? 0 : -1);
}

/* Adds a step that makes a result, and owns it, also after an error: rc, which is returned. */
static int add_test(struct compiler *c, struct sp__predicate_step *s, int rc)
{
	const struct guard *g = c->guards;

	if (!rc && c->nguards) {
		s->guards = malloc(c->nguards * sizeof(*s->guards));
		rc = s->guards ? 0 : no_memory(c);
		for (; !rc && g; g = g->outer)
			s->guards[s->nguards++] = g->own;
	}
	if (!rc)
		rc = add(c, s, 1);
	if (rc)
		free_step(s);
	return rc;
}

/* Adds a step that compares with literals, or reports why it could not be made. */
static int add_made(struct compiler *c, struct sp__predicate_step *s, int rc,
		    const struct sp__predicate_literal *l, const char *reason)
{
	if (rc)
		rc = rc == SP_ESYNTAX ? fail_literal(c, l, reason) : no_memory(c);
	return add_test(c, s, rc);
}

static int add_tree(struct compiler *c, uint32_t node)
{
	struct sp__predicate_step step = { .kind = SP__STEP_TREE, .node = node };

	return add_test(c, &step, sp__step_tree(&c->s, &step));
}

/* Compiles n conditions, which are joined. */
static int join(struct compiler *c, enum sp__step_kind kind, uint32_t node, uint32_t n,
		int (*one)(struct compiler *c, uint32_t node, uint32_t i))
{
	struct guard guard = { { 0, kind == SP__STEP_AND ? SP__FALSE : SP__TRUE }, c->guards };
	int rc = one(c, node, 0);

	guard.own.kept = c->kept - 1;
	for (uint32_t i = 1; !rc && i < n; i++) {
		c->guards = &guard;
		c->nguards++;
		rc = one(c, node, i);
		c->guards = guard.outer;
		c->nguards--;
		if (!rc)
			rc = add_operator(c, kind);
	}
	return rc;
}

/* Comparisons. */

static const struct sp__column *column_of(const struct compiler *c, uint32_t node)
{
	return &c->s.predicate->schema->columns[node_of(c->s.predicate, node)->column];
}

/* True if a pair has columns and literals alone, which a step on their values compares. */
static bool is_simple(const struct compiler *c, const struct sp__predicate_pair *p)
{
	const struct sp__predicate *w = c->s.predicate;
	const bool a = is_column(w, p->a), b = is_column(w, p->b);
	struct sp__predicate_literal l;

	if (!a && !b) /* two literals are refused */
		return sp__predicate_literal(w, p->a, &l) && sp__predicate_literal(w, p->b, &l);
	if (p->orders & SP__ORDER_PREFIX && (!a || !sp__type_is_text(&column_of(c, p->a)->type) ||
					     (b && !sp__type_is_text(&column_of(c, p->b)->type))))
		return false;
	return (a && b) || sp__predicate_literal(w, a ? p->b : p->a, &l);
}

/* Returns the orders of b and a for those of a and b. */
static unsigned swapped(unsigned orders)
{
	return (orders & SP__ORDER_EQUAL) | (orders & SP__ORDER_LESS ? SP__ORDER_MORE : 0) |
	       (orders & SP__ORDER_MORE ? SP__ORDER_LESS : 0);
}

static bool is_time(const struct sp__column *c)
{
	return c->type.kind == 'D' || c->type.kind == 'T';
}

static int compare_columns(struct compiler *c, const struct sp__predicate_pair *p)
{
	const struct sp__column *a = column_of(c, p->a), *b = column_of(c, p->b);
	struct sp__predicate_step step = { .kind = SP__STEP_PAIR,
					   .column = node_of(c->s.predicate, p->a)->column,
					   .other = node_of(c->s.predicate, p->b)->column,
					   .orders = p->orders };

	if (sp__type_is_text(&a->type) != sp__type_is_text(&b->type) || is_time(a) != is_time(b))
		return sp__errf(
			c->s.err, SP_ESYNTAX, "where", NULL, -1,
			"columns '%.40s' and '%.40s' cannot be compared: their types differ",
			a->name, b->name);
	return add_test(c, &step, 0);
}

static int compare(struct compiler *c, uint32_t node, uint32_t i)
{
	const struct sp__predicate *w = c->s.predicate;
	const struct sp__predicate_pair p = sp__predicate_pair(w, node_of(w, node), i);
	const bool left = is_column(w, p.a), right = is_column(w, p.b);
	struct sp__predicate_step step = { .column = node_of(w, left ? p.a : p.b)->column };
	struct sp__predicate_literal l;
	const char *reason = "";
	int rc;

	if (left && right)
		return compare_columns(c, &p);
	(void)sp__predicate_literal(w, left ? p.b : p.a, &l);
	if (!left && !right)
		return fail_literal(c, &l, "is compared with a literal: one side must be a column");
	rc = sp__step_compare(&step, w->schema, left ? p.orders : swapped(p.orders), &l, &reason);
	return add_made(c, &step, rc, &l, reason);
}

/* True if one step has all literals of a list. */
static bool is_set(const struct compiler *c, const struct sp__expr_node *n)
{
	const struct sp__predicate *w = c->s.predicate;
	const uint32_t a = sp__node_arg(w->expr, n, 0);

	if (n->operator!= SP__NODE_IN || !is_column(w, a) ||
	    strchr("fct", column_of(c, a)->type.kind))
		return false;
	for (uint32_t i = 1; i < n->nargs; i++)
		if (is_column(w, sp__node_arg(w->expr, n, i)))
			return false;
	return true;
}

static int compile_set(struct compiler *c, const struct sp__expr_node *n)
{
	const struct sp__predicate *w = c->s.predicate;
	struct sp__predicate_step step = {
		.column = node_of(w, sp__node_arg(w->expr, n, 0))->column
	};
	struct sp__predicate_literal *list = calloc(n->nargs, sizeof(*list));
	const char *reason = "";
	size_t bad = 0;
	int rc = -ENOMEM;

	for (uint32_t i = 1; list && i < n->nargs; i++)
		(void)sp__predicate_literal(w, sp__node_arg(w->expr, n, i), &list[i - 1]);
	if (list)
		rc = sp__step_in(&step, w->schema, list, n->nargs - 1, &bad, &reason);
	rc = add_made(c, &step, rc, list ? &list[bad] : NULL, reason);
	free(list);
	return rc;
}

/* Compiles a comparison, "between" or "in". */
static int compile_pairs(struct compiler *c, uint32_t node)
{
	const struct sp__expr_node *n = node_of(c->s.predicate, node);

	for (uint32_t i = 0; i + 1 < n->nargs; i++) {
		const struct sp__predicate_pair p = sp__predicate_pair(c->s.predicate, n, i);

		if (!is_simple(c, &p))
			return add_tree(c, node);
	}
	if (is_set(c, n))
		return compile_set(c, n);
	return join(c, n->operator== SP__NODE_IN ? SP__STEP_OR : SP__STEP_AND, node, n->nargs - 1,
		    compare);
}

static int compile_like(struct compiler *c, uint32_t node)
{
	const struct sp__predicate *w = c->s.predicate;
	const struct sp__expr_node *n = node_of(w, node);
	const uint32_t a = sp__node_arg(w->expr, n, 0);
	const struct sp__expr_node *pattern = node_of(w, sp__node_arg(w->expr, n, 1));
	struct sp__predicate_step step = { .column = node_of(w, a)->column };
	int rc;

	if (!is_column(w, a) || !sp__type_is_text(&column_of(c, a)->type) ||
	    pattern->operator!= SP__NODE_LITERAL || pattern->type != SP__TYPE_TEXT)
		return add_tree(c, node);
	rc = sp__step_like(&step, w->schema, &pattern->literal.text);
	return add_test(c, &step, rc ? no_memory(c) : 0);
}

static int compile(struct compiler *c, uint32_t node);

static int compile_arg(struct compiler *c, uint32_t node, uint32_t i)
{
	const struct sp__predicate *w = c->s.predicate;

	return compile(c, sp__node_arg(w->expr, node_of(w, node), i));
}

static int compile(struct compiler *c, uint32_t node)
{
	const struct sp__predicate *w = c->s.predicate;
	const struct sp__expr_node *n = node_of(w, node);
	struct sp__predicate_step null = { .kind = SP__STEP_NULL };
	int rc;

	switch (n->operator) {
	case SP__NODE_AND:
		return join(c, SP__STEP_AND, node, n->nargs, compile_arg);
	case SP__NODE_OR:
		return join(c, SP__STEP_OR, node, n->nargs, compile_arg);
	case SP__NODE_NOT:
		rc = compile_arg(c, node, 0);
		return rc ? rc : add_operator(c, SP__STEP_NOT);
	case SP__NODE_COMPARE:
	case SP__NODE_BETWEEN:
	case SP__NODE_IN:
		return compile_pairs(c, node);
	case SP__NODE_LIKE:
		return compile_like(c, node);
	case SP__NODE_IS_NULL:
		null.column = node_of(w, sp__node_arg(w->expr, n, 0))->column;
		if (is_column(w, sp__node_arg(w->expr, n, 0)))
			return add_test(c, &null, 0);
		return add_tree(c, node);
	default:
		return add_tree(c, node);
	}
}

/* Entry points. */

/* Is a function of sp__expr_names. */
static int find(void *arg, const char *name, size_t bytes, uint64_t number, uint32_t *column)
{
	const struct sp__predicate_source *s = arg;
	const struct sp__schema *schema = s->predicate->schema;
	int found;

	if (!name && number > schema->n)
		return sp__errf(s->err, SP_ESYNTAX, "where", NULL, -1,
				"there is no column $%llu: the table has %u",
				(unsigned long long)number, schema->n);
	*column = (uint32_t)number - 1;
	if (!name)
		return 0;
	found = sp__schema_find(schema, name, bytes);
	for (uint32_t i = 0; found < 0 && i < SPECIALS; i++)
		if (strlen(specials[i] + 1) == bytes && !strncasecmp(specials[i] + 1, name, bytes))
			found = (int)(schema->n + i);
	if (found < 0)
		return sp__names_column(schema, name, bytes, s->err);
	*column = (uint32_t)found;
	return 0;
}

/* Parses the text; columns of numbers become numbers, and all others texts. */
static int parse(struct sp__predicate_source *s)
{
	const struct sp__schema *schema = s->predicate->schema;
	struct sp_errinfo own = SP_ERRINFO_INIT;
	const struct sp__expr_names names = { .find = find, .arg = s, .typed = true };
	struct sp__expr *e;
	const char *rest = s->text;
	int rc = sp__expr_parse(&s->predicate->expr, &rest, &names, &own);

	if (rc == -EINVAL)
		return sp__errf(s->err, SP_ESYNTAX, "where", NULL, -1, "%s", own.text);
	if (rc)
		return sp__err(s->err, rc, "where", NULL, -1);
	e = s->predicate->expr;
	if (*rest)
		return sp__predicate_fail(s, (size_t)(rest - s->text),
					  "'and', 'or' or the end is expected");
	if (!sp__expr_is_truth(e))
		return sp__predicate_fail(s, 0, "a comparison is missing, such as x > 3,");
	for (size_t i = 0; i < e->nnodes; i++) {
		struct sp__expr_node *n = &e->nodes[i];

		if (n->operator== SP__NODE_COLUMN && n->column<schema->n)
			n->type = strchr("iudf", schema->columns[n->column].type.kind)
					  ? SP__TYPE_NUMBER
					  : SP__TYPE_TEXT;
	}
	return 0;
}

int sp__predicate_parse(struct sp__predicate **predicate, const char *text,
			const struct sp__schema *schema, struct sp_errinfo *err)
{
	struct compiler c = { .s = { .text = text, .err = err } };
	int rc;

	*predicate = c.s.predicate = calloc(1, sizeof(**predicate));
	if (!*predicate)
		return no_memory(&c);
	c.s.predicate->schema = schema;
	rc = parse(&c.s);
	if (!rc)
		rc = compile(&c, c.s.predicate->expr->root);
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
	sp__expr_free(w->expr);
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
		const struct sp__predicate_step *s = &w->steps[i];

		if (s->kind > SP__STEP_NOT)
			columns[s->column] = true;
		if (s->kind == SP__STEP_PAIR)
			columns[s->other] = true;
		for (size_t k = 0; s->kind == SP__STEP_TREE && k < s->n; k++)
			columns[s->columns[k]] = true;
	}
}
