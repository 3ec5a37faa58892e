/* SPDX-License-Identifier: MIT */
/*
 * Parses conditions: comparisons, and what joins them (parser.h).
 */
#include <stdlib.h>
#include <string.h>
#include "expr/parser.h"

#define MAX_CHAIN 8 /* values of a chain of comparisons */

static int add_not(struct sp__expr_parser *p, uint32_t a, uint32_t *made)
{
	const struct sp__expr_node n = { .operator= SP__NODE_NOT,
					 .type = SP__TYPE_TRUTH,
					 .at = sp__expr_node(p, a)->at };
	int rc = sp__expr_need(p, a, SP__TYPE_TRUTH);

	return rc ? rc : sp__expr_add(p, &n, &a, 1, made);
}

/* Returns the orders for which a sign is true; 0: it is none of a comparison. */
static unsigned orders_of(const struct sp__expr_parser *p)
{
	static const struct {
		const char *sign;
		unsigned orders;
	} signs[] = {
		{ "=", SP__ORDER_EQUAL },
		{ "==", SP__ORDER_EQUAL },
		{ "^=", SP__ORDER_EQUAL },
		{ "!=", SP__ORDER_LESS | SP__ORDER_MORE },
		{ "<>", SP__ORDER_LESS | SP__ORDER_MORE },
		{ "<", SP__ORDER_LESS },
		{ "<=", SP__ORDER_LESS | SP__ORDER_EQUAL },
		{ ">", SP__ORDER_MORE },
		{ ">=", SP__ORDER_MORE | SP__ORDER_EQUAL },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (sp__token_is_sign(&p->t, signs[i].sign))
			return signs[i].orders;
	return 0;
}

static int no_empty_text(const struct sp__expr_parser *p, uint32_t i)
{
	const struct sp__expr_node *n = sp__expr_node(p, i);

	return sp__expr_is_text(n) && n->literal.kind == SP__EXPR_NULL
		       ? sp__token_fail_at(&p->t, n->at,
					   "an empty text is no value: write 'is null'")
		       : 0;
}

/* Checks that two values can be compared. */
static int need_alike(const struct sp__expr_parser *p, uint32_t a, uint32_t b, bool prefix)
{
	const enum sp__expr_type type = !prefix && (sp__expr_node(p, a)->type == SP__TYPE_NUMBER ||
						    sp__expr_node(p, b)->type == SP__TYPE_NUMBER)
						? SP__TYPE_NUMBER
						: SP__TYPE_FIELD;
	int rc = no_empty_text(p, a);

	if (!rc)
		rc = no_empty_text(p, b);
	if (!rc)
		rc = sp__expr_need(p, a, type);
	return rc ? rc : sp__expr_need(p, b, type);
}

/* Takes the values of a chain of comparisons, behind the first one.  The caller frees the text. */
static int take_links(struct sp__expr_parser *p, struct sp__expr_node *n, uint32_t *values,
		      uint32_t *nvalues)
{
	unsigned orders;
	int rc = 0;

	while (!rc && (orders = orders_of(p))) {
		const bool prefix = sp__token_is_sign(&p->t, "^=");

		if (*nvalues == MAX_CHAIN)
			return sp__token_fail(&p->t,
					      "a chain has at most 7 comparisons: write 'and'");
		n->text[*nvalues - 1] = (char)(orders | (prefix ? SP__ORDER_PREFIX : 0));
		rc = sp__token_next(&p->t);
		if (!rc)
			rc = sp__expr_take_sum(p, &values[*nvalues]);
		if (!rc)
			rc = need_alike(p, values[*nvalues - 1], values[*nvalues], prefix);
		++*nvalues;
	}
	return rc;
}

static int take_chain(struct sp__expr_parser *p, uint32_t a, uint32_t *made)
{
	struct sp__expr_node n = { .operator= SP__NODE_COMPARE,
				   .type = SP__TYPE_TRUTH,
				   .at = sp__expr_node(p, a)->at };
	uint32_t values[MAX_CHAIN] = { a }, nvalues = 1;
	int rc;

	*made = a;
	if (!orders_of(p))
		return 0;
	n.text = malloc(MAX_CHAIN);
	if (!n.text)
		return sp__expr_no_memory(p);
	rc = take_links(p, &n, values, &nvalues);
	if (!rc)
		return sp__expr_add(p, &n, values, nvalues, made);
	free(n.text);
	return rc;
}

static int take_between(struct sp__expr_parser *p, uint32_t a, uint32_t *made)
{
	const struct sp__expr_node n = { .operator= SP__NODE_BETWEEN,
					 .type = SP__TYPE_TRUTH,
					 .at = sp__expr_node(p, a)->at };
	uint32_t low, high;
	int rc = sp__token_next(&p->t);

	if (!rc)
		rc = sp__expr_take_sum(p, &low);
	if (!rc)
		rc = sp__token_is_word(&p->t, "and")
			     ? sp__token_next(&p->t)
			     : sp__token_fail(&p->t, "'and' of 'between' is missing");
	if (!rc)
		rc = sp__expr_take_sum(p, &high);
	if (!rc)
		rc = need_alike(p, a, low, false);
	if (!rc)
		rc = need_alike(p, a, high, false);
	return rc ? rc : sp__expr_add(p, &n, (const uint32_t[]){ a, low, high }, 3, made);
}

static int take_in(struct sp__expr_parser *p, uint32_t a, uint32_t *made)
{
	const struct sp__expr_node n = { .operator= SP__NODE_IN,
					 .type = SP__TYPE_TRUTH,
					 .at = sp__expr_node(p, a)->at };
	struct sp__expr_list list = { 0 };
	int rc = sp__expr_append(p, &list, a);

	if (!rc)
		rc = sp__token_next(&p->t);
	if (!rc && !sp__token_is_sign(&p->t, "("))
		rc = sp__token_fail(&p->t, "( is missing");
	if (!rc)
		rc = sp__expr_take_list(p, &list, sp__expr_take_sum);
	if (!rc && list.n == 1)
		rc = sp__token_fail(&p->t, "a value in the parentheses is missing");
	for (uint32_t i = 1; !rc && i < list.n; i++)
		rc = need_alike(p, a, list.args[i], false);
	if (!rc)
		rc = sp__expr_add(p, &n, list.args, list.n, made);
	free(list.args);
	return rc;
}

static int take_like(struct sp__expr_parser *p, uint32_t a, uint32_t *made)
{
	const struct sp__expr_node n = { .operator= SP__NODE_LIKE, .type = SP__TYPE_TRUTH };
	uint32_t pattern;
	int rc = sp__token_next(&p->t);

	if (!rc)
		rc = sp__expr_take_sum(p, &pattern);
	return rc ? rc : sp__expr_add_pair(p, n, SP__TYPE_TEXT, a, pattern, made);
}

static int take_null(struct sp__expr_parser *p, uint32_t a, uint32_t *made)
{
	const struct sp__expr_node n = { .operator= SP__NODE_IS_NULL,
					 .type = SP__TYPE_TRUTH,
					 .at = sp__expr_node(p, a)->at };
	bool negated = false;
	int rc = sp__token_next(&p->t);

	if (!rc && sp__token_is_word(&p->t, "not")) {
		negated = true;
		rc = sp__token_next(&p->t);
	}
	if (!rc)
		rc = sp__token_is_word(&p->t, "null") ? sp__token_next(&p->t)
						      : sp__token_fail(&p->t, "'null' is missing");
	if (!rc)
		rc = sp__expr_need(p, a, SP__TYPE_FIELD);
	if (!rc)
		rc = sp__expr_add(p, &n, &a, 1, made);
	return !rc && negated ? add_not(p, *made, made) : rc;
}

static int take_comparison(struct sp__expr_parser *p, uint32_t *made)
{
	bool negated = false;
	uint32_t a;
	int rc = sp__expr_take_sum(p, &a);

	if (rc)
		return rc;
	if (sp__token_is_word(&p->t, "is"))
		return take_null(p, a, made);
	if (sp__token_is_word(&p->t, "not")) {
		negated = true;
		rc = sp__token_next(&p->t);
	}
	if (!rc && sp__token_is_word(&p->t, "in"))
		rc = take_in(p, a, made);
	else if (!rc && sp__token_is_word(&p->t, "like"))
		rc = take_like(p, a, made);
	else if (!rc && sp__token_is_word(&p->t, "between"))
		rc = take_between(p, a, made);
	else if (!rc && negated)
		rc = sp__token_fail(&p->t, "'in', 'like' or 'between' is missing");
	else if (!rc)
		rc = take_chain(p, a, made);
	return !rc && negated ? add_not(p, *made, made) : rc;
}

static int take_not(struct sp__expr_parser *p, uint32_t *made)
{
	int rc;

	if (++p->depth > SP__EXPR_MAX_DEPTH)
		return sp__token_fail(&p->t, SP__EXPR_TOO_DEEP);
	if (sp__token_is_word(&p->t, "not")) {
		rc = sp__token_next(&p->t);
		if (!rc)
			rc = take_not(p, made);
		if (!rc)
			rc = add_not(p, *made, made);
	} else {
		rc = take_comparison(p, made);
	}
	p->depth--;
	return rc;
}

/* Takes conditions with a word between them. */
static int take_words(struct sp__expr_parser *p, const char *word, enum sp__expr_operator operator,
		      int (*take)(struct sp__expr_parser *p, uint32_t *made), uint32_t *made)
{
	struct sp__expr_node n = { .operator= operator, .type = SP__TYPE_TRUTH };
	struct sp__expr_list list = { 0 };
	int rc = take(p, made);

	if (rc || !sp__token_is_word(&p->t, word))
		return rc;
	n.at = sp__expr_node(p, *made)->at;
	rc = sp__expr_append(p, &list, *made);
	while (!rc && sp__token_is_word(&p->t, word)) {
		rc = sp__token_next(&p->t);
		if (!rc)
			rc = take(p, made);
		if (!rc)
			rc = sp__expr_append(p, &list, *made);
	}
	for (uint32_t i = 0; !rc && i < list.n; i++)
		rc = sp__expr_need(p, list.args[i], SP__TYPE_TRUTH);
	if (!rc)
		rc = sp__expr_add(p, &n, list.args, list.n, made);
	free(list.args);
	return rc;
}

static int take_and(struct sp__expr_parser *p, uint32_t *made)
{
	return take_words(p, "and", SP__NODE_AND, take_not, made);
}

static int take_or(struct sp__expr_parser *p, uint32_t *made)
{
	return take_words(p, "or", SP__NODE_OR, take_and, made);
}

int sp__expr_parse(struct sp__expr **e, const char **text, const struct sp__expr_names *names,
		   struct sp_errinfo *err)
{
	struct sp__expr_parser p = { .names = names,
				     .t = { .begin = *text, .at = *text, .err = err },
				     .take = take_or };
	int rc;

	*e = p.e = calloc(1, sizeof(*p.e));
	p.t.word = malloc(strlen(*text) + 1);
	if (p.e)
		p.e->typed = names->typed;
	rc = p.e && p.t.word ? sp__token_next(&p.t) : sp__expr_no_memory(&p);
	if (!rc)
		rc = take_or(&p, &p.e->root);
	free(p.t.word);
	if (rc) {
		sp__expr_free(*e);
		*e = NULL;
		return rc;
	}
	*text = p.t.token;
	return 0;
}
