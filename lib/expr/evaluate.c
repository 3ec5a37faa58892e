/* SPDX-License-Identifier: MIT */
/*
 * Evaluates expressions: one record at a time, by a walk of the tree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "expr/node.h"
#include "rec/key.h"

#define MAX_MADE ((size_t)16 << 20) /* bytes of a text that || or replace() makes */

/* Conversions of a value that is already there. */

static int to_number(struct sp__expr_run *r, struct sp__expr_value *v)
{
	if (v->kind != SP__EXPR_TEXT)
		return 0;
	if (!sp__amount_parse(v->text.p, v->text.n, &v->number))
		return sp__expr_fail(r, &v->text, "a number");
	v->kind = SP__EXPR_NUMBER;
	return 0;
}

/* node: whose memory is used. */
static int to_text(struct sp__expr_run *r, uint32_t node, struct sp__expr_value *v)
{
	struct sp__bytes *b = &r->scratch->texts[node];

	if (v->kind == SP__EXPR_TRUTH) {
		v->text = v->truth ? (struct sp__slice){ "true", 4 }
				   : (struct sp__slice){ "false", 5 };
	} else if (v->kind == SP__EXPR_NUMBER) {
		if (sp__bytes_reserve(b, SP__AMOUNT_TEXT, NULL))
			return -ENOMEM;
		v->text = (struct sp__slice){ b->data, sp__amount_print(&v->number, b->data) };
	} else {
		return 0;
	}
	v->kind = SP__EXPR_TEXT;
	return 0;
}

int sp__node_number(struct sp__expr_run *r, uint32_t node, struct sp__expr_value *v)
{
	int rc = sp__node_value(r, node, v);

	return rc ? rc : to_number(r, v);
}

int sp__node_text(struct sp__expr_run *r, uint32_t node, struct sp__expr_value *v)
{
	int rc = sp__node_value(r, node, v);

	return rc ? rc : to_text(r, node, v);
}

/* Values. */

static void set_column(const struct sp__expr_run *r, const struct sp__slice *text,
		       struct sp__expr_value *v)
{
	const struct sp__expr_record *record = r->record;
	const bool null =
		r->expr->typed ? !text->p
			       : !text->n || (record->null_text && text->n == record->null_bytes &&
					      !memcmp(text->p, record->null_text, text->n));

	v->kind = null ? SP__EXPR_NULL : SP__EXPR_TEXT;
	v->text = *text;
}

static int calculate(struct sp__expr_run *r, const struct sp__expr_node *n,
		     struct sp__expr_value *v)
{
	struct sp__expr_value b;
	bool finite;
	int rc = sp__node_number(r, sp__node_arg(r->expr, n, 0), v);

	if (!rc)
		rc = sp__node_number(r, sp__node_arg(r->expr, n, 1), &b);
	if (rc)
		return rc;
	if (v->kind == SP__EXPR_NULL || b.kind == SP__EXPR_NULL) {
		v->kind = SP__EXPR_NULL;
		return 0;
	}
	switch (n->sign) {
	case '+':
		finite = sp__amount_add(&v->number, &v->number, &b.number);
		break;
	case '-':
		finite = sp__amount_subtract(&v->number, &v->number, &b.number);
		break;
	case '*':
		finite = sp__amount_multiply(&v->number, &v->number, &b.number);
		break;
	case '/':
		finite = sp__amount_divide(&v->number, &v->number, &b.number);
		break;
	default:
		finite = sp__amount_modulo(&v->number, &v->number, &b.number);
	}
	if (!finite)
		v->kind = SP__EXPR_NULL;
	return 0;
}

int sp__expr_append_text(struct sp__expr_run *r, struct sp__bytes *to, const struct sp__slice *text)
{
	/* replace() in replace() could make a text of any length. */
	if (text->n > MAX_MADE || to->bytes > MAX_MADE - text->n)
		return sp__expr_fail(r, text,
				     "short enough: a text that is made has at most 16 MiB");
	return sp__bytes_append(to, text->p, text->n, NULL) ? -ENOMEM : 0;
}

/* Joins two texts; no value is the empty text. */
static int join(struct sp__expr_run *r, uint32_t node, struct sp__expr_value *v)
{
	const struct sp__expr_node *n = &r->expr->nodes[node];
	struct sp__bytes *to = &r->scratch->texts[node];
	int rc = 0;

	to->bytes = 0;
	for (uint32_t i = 0; !rc && i < n->nargs; i++) {
		struct sp__expr_value part;

		rc = sp__node_text(r, sp__node_arg(r->expr, n, i), &part);
		if (!rc && part.kind == SP__EXPR_TEXT)
			rc = sp__expr_append_text(r, to, &part.text);
	}
	v->kind = SP__EXPR_TEXT;
	v->text = (struct sp__slice){ to->data, to->bytes };
	return rc;
}

/* Conditions. */

static void set_truth(struct sp__expr_value *v, bool truth)
{
	v->kind = SP__EXPR_TRUTH;
	v->truth = truth;
}

/* Returns the order of two texts, as one of the bits; PREFIX too. */
static unsigned text_orders(const struct sp__slice *a, const struct sp__slice *b)
{
	const int order = sp__order_bytes(a->p, a->n, b->p, b->n);
	const unsigned prefix = b->n <= a->n && !memcmp(a->p, b->p, b->n) ? SP__ORDER_PREFIX : 0;

	return prefix | (order < 0 ? SP__ORDER_LESS : order ? SP__ORDER_MORE : SP__ORDER_EQUAL);
}

/* An operand of a comparison. */
struct operand {
	uint32_t node;
	struct sp__expr_value v;
};

/* True if both are numbers, or fields that are. */
static int as_numbers(struct sp__expr_run *r, struct operand *a, struct operand *b, bool *numbers)
{
	const enum sp__expr_type x = r->expr->nodes[a->node].type, y = r->expr->nodes[b->node].type;
	struct sp__expr_bad ignored, *bad = r->bad;
	int rc = 0;

	*numbers = x == SP__TYPE_NUMBER || y == SP__TYPE_NUMBER;
	if (*numbers) {
		rc = to_number(r, &a->v);
		return rc ? rc : to_number(r, &b->v);
	}
	if (x == SP__TYPE_TEXT || y == SP__TYPE_TEXT)
		return 0;
	r->bad = &ignored;
	*numbers = !to_number(r, &a->v) && !to_number(r, &b->v);
	r->bad = bad;
	return 0;
}

/* Sets *result to whether the order of two values is one of `orders`; NULL: neither. */
static int compare(struct sp__expr_run *r, const struct operand *left, const struct operand *right,
		   unsigned orders, struct sp__expr_value *result)
{
	struct operand a = *left, b = *right;
	unsigned order;
	bool numbers;
	int rc = 0, difference;

	result->kind = SP__EXPR_NULL;
	if (a.v.kind == SP__EXPR_NULL || b.v.kind == SP__EXPR_NULL)
		return 0;
	if (!(orders & SP__ORDER_PREFIX)) {
		rc = as_numbers(r, &a, &b, &numbers);
		if (rc)
			return rc;
		if (numbers) {
			difference = sp__amount_order(&a.v.number, &b.v.number);
			order = difference < 0	 ? SP__ORDER_LESS
				: difference > 0 ? SP__ORDER_MORE
						 : SP__ORDER_EQUAL;
			set_truth(result, orders & order);
			return 0;
		}
	}
	/* The texts of fields, also of those that are numbers. */
	a.v = left->v;
	b.v = right->v;
	rc = to_text(r, a.node, &a.v);
	if (!rc)
		rc = to_text(r, b.node, &b.v);
	if (rc)
		return rc;
	order = text_orders(&a.v.text, &b.v.text);
	if (orders & SP__ORDER_PREFIX)
		set_truth(result, order & SP__ORDER_PREFIX);
	else
		set_truth(result, orders & order);
	return 0;
}

static int take(struct sp__expr_run *r, const struct sp__expr_node *n, uint32_t i,
		struct operand *o)
{
	o->node = sp__node_arg(r->expr, n, i);
	return sp__node_value(r, o->node, &o->v);
}

/* Adds a condition to those joined by "and" or "or"; returns true if the result is known. */
static bool join_truth(struct sp__expr_value *all, const struct sp__expr_value *v, bool deciding)
{
	if (v->kind == SP__EXPR_NULL)
		all->kind = SP__EXPR_NULL;
	else if (v->truth == deciding)
		set_truth(all, deciding);
	return v->kind == SP__EXPR_TRUTH && v->truth == deciding;
}

static int compare_chain(struct sp__expr_run *r, const struct sp__expr_node *n,
			 struct sp__expr_value *v)
{
	struct operand a, b;
	struct sp__expr_value one;
	int rc = take(r, n, 0, &a);

	set_truth(v, true);
	for (uint32_t i = 1; !rc && i < n->nargs; i++) {
		rc = take(r, n, i, &b);
		if (!rc)
			rc = compare(r, &a, &b, (unsigned char)n->text[i - 1], &one);
		if (!rc && join_truth(v, &one, false))
			return 0;
		a = b;
	}
	return rc;
}

static int compare_between(struct sp__expr_run *r, const struct sp__expr_node *n,
			   struct sp__expr_value *v)
{
	static const unsigned orders[] = { SP__ORDER_MORE | SP__ORDER_EQUAL,
					   SP__ORDER_LESS | SP__ORDER_EQUAL };
	struct operand a, b;
	struct sp__expr_value one;
	int rc = take(r, n, 0, &a);

	set_truth(v, true);
	for (uint32_t i = 0; !rc && i < 2; i++) {
		rc = take(r, n, i + 1, &b);
		if (!rc)
			rc = compare(r, &a, &b, orders[i], &one);
		if (!rc && join_truth(v, &one, false))
			return 0;
	}
	return rc;
}

static int compare_list(struct sp__expr_run *r, const struct sp__expr_node *n,
			struct sp__expr_value *v)
{
	struct operand a, b;
	struct sp__expr_value one;
	int rc = take(r, n, 0, &a);

	set_truth(v, false);
	for (uint32_t i = 1; !rc && i < n->nargs; i++) {
		rc = take(r, n, i, &b);
		if (!rc)
			rc = compare(r, &a, &b, SP__ORDER_EQUAL, &one);
		if (!rc && join_truth(v, &one, true))
			return 0;
	}
	return rc;
}

/* "and" and "or": deciding is the truth that the result has as soon as one condition has it. */
static int join_truths(struct sp__expr_run *r, const struct sp__expr_node *n, bool deciding,
		       struct sp__expr_value *v)
{
	struct sp__expr_value one;
	int rc = 0;

	set_truth(v, !deciding);
	for (uint32_t i = 0; !rc && i < n->nargs; i++) {
		rc = sp__node_value(r, sp__node_arg(r->expr, n, i), &one);
		if (!rc && join_truth(v, &one, deciding))
			return 0;
	}
	return rc;
}

static int like(struct sp__expr_run *r, const struct sp__expr_node *n, struct sp__expr_value *v)
{
	struct sp__expr_value pattern;
	int rc = sp__node_text(r, sp__node_arg(r->expr, n, 0), v);

	if (!rc)
		rc = sp__node_text(r, sp__node_arg(r->expr, n, 1), &pattern);
	if (rc || v->kind == SP__EXPR_NULL)
		return rc;
	if (pattern.kind == SP__EXPR_NULL)
		v->kind = SP__EXPR_NULL;
	else
		set_truth(v, sp__expr_like(&v->text, &pattern.text));
	return 0;
}

int sp__node_value(struct sp__expr_run *r, uint32_t node, struct sp__expr_value *v)
{
	const struct sp__expr_node *n = &r->expr->nodes[node];
	const uint32_t first = n->nargs ? sp__node_arg(r->expr, n, 0) : 0;
	int rc = 0;

	switch (n->operator) {
	case SP__NODE_COLUMN:
		set_column(r, &r->record->columns[n->column], v);
		return 0;
	case SP__NODE_LITERAL:
		*v = n->literal;
		return 0;
	case SP__NODE_NEGATE:
		rc = sp__node_number(r, first, v);
		if (!rc && v->kind == SP__EXPR_NUMBER)
			v->number = sp__amount_negate(v->number);
		return rc;
	case SP__NODE_ARITHMETIC:
		return calculate(r, n, v);
	case SP__NODE_JOIN:
		rc = join(r, node, v);
		break;
	case SP__NODE_AND:
		return join_truths(r, n, false, v);
	case SP__NODE_OR:
		return join_truths(r, n, true, v);
	case SP__NODE_NOT:
		rc = sp__node_value(r, first, v);
		if (!rc && v->kind == SP__EXPR_TRUTH)
			v->truth = !v->truth;
		return rc;
	case SP__NODE_COMPARE:
		return compare_chain(r, n, v);
	case SP__NODE_BETWEEN:
		return compare_between(r, n, v);
	case SP__NODE_IN:
		return compare_list(r, n, v);
	case SP__NODE_LIKE:
		return like(r, n, v);
	case SP__NODE_IS_NULL:
		rc = sp__node_value(r, first, v);
		if (!rc)
			set_truth(v, v->kind == SP__EXPR_NULL);
		return rc;
	case SP__NODE_CALL:
		rc = n->function->call(r, n, v);
	}
	if (!rc && v->kind == SP__EXPR_TEXT && !v->text.n) {
		v->kind = r->expr->typed ? SP__EXPR_TEXT : SP__EXPR_NULL;
		v->text.p = "";
	}
	return rc;
}

/* Entry points. */

struct sp__expr_scratch *sp__expr_scratch_new(const struct sp__expr *e)
{
	struct sp__expr_scratch *s = calloc(1, sizeof(*s) + e->nnodes * sizeof(*s->texts));

	if (s)
		s->n = e->nnodes;
	return s;
}

void sp__expr_scratch_free(struct sp__expr_scratch *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		sp__bytes_release(&s->texts[i], NULL);
	free(s);
}

int sp__expr_evaluate(const struct sp__expr *e, struct sp__expr_scratch *s,
		      const struct sp__expr_record *record, struct sp__expr_value *value,
		      struct sp__expr_bad *bad)
{
	struct sp__expr_run r = { e, s, record, bad };

	return sp__node_value(&r, e->root, value);
}

int sp__expr_text(const struct sp__expr *e, struct sp__expr_scratch *s,
		  const struct sp__expr_record *record, struct sp__slice *text,
		  struct sp__expr_bad *bad)
{
	struct sp__expr_run r = { e, s, record, bad };
	struct sp__expr_value v;
	int rc = sp__node_text(&r, e->root, &v);

	*text = (struct sp__slice){ NULL, 0 };
	if (!rc && v.kind == SP__EXPR_TEXT)
		*text = v.text;
	return rc;
}

int sp__expr_choose(const struct sp__expr *e, struct sp__expr_scratch *s,
		    const struct sp__expr_record *record, bool *chosen, struct sp__expr_bad *bad)
{
	struct sp__expr_value v;
	int rc = sp__expr_evaluate(e, s, record, &v, bad);

	*chosen = !rc && v.kind == SP__EXPR_TRUTH && v.truth;
	return rc;
}
