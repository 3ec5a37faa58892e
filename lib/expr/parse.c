/* SPDX-License-Identifier: MIT */
/*
 * Parses expressions by recursive descent, and checks that operators have operands that can be what
 * they need (expr.h).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "expr/parser.h"

#define MAX_OPERANDS 100000
#define SHOWN 40 /* bytes of the user's text in a message */

int sp__expr_no_memory(const struct sp__expr_parser *p)
{
	return sp__err(p->t.err, -ENOMEM, "allocate", NULL, -1);
}

static bool is_reserved(const struct sp__expr_parser *p)
{
	static const char *const words[] = { "and", "or",   "not",  "in",
					     "is",  "null", "like", "between" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (sp__token_is_word(&p->t, words[i]))
			return true;
	return false;
}

static int skip(struct sp__expr_parser *p, const char *sign, const char *missing)
{
	return sp__token_is_sign(&p->t, sign) ? sp__token_next(&p->t)
					      : sp__token_fail(&p->t, missing);
}

/* Nodes. */

int sp__expr_add(struct sp__expr_parser *p, const struct sp__expr_node *n, const uint32_t *args,
		 uint32_t nargs, uint32_t *made)
{
	struct sp__expr *e = p->e;
	unsigned depth = 0;

	for (uint32_t i = 0; i < nargs; i++)
		depth = sp__max(depth, e->nodes[args[i]].depth + 1);
	if (depth > SP__EXPR_MAX_DEPTH) {
		free(n->text);
		return sp__token_fail(&p->t, SP__EXPR_TOO_DEEP);
	}
	if (!SP__ARRAY_GROW(e->nodes, e->capacity, e->nnodes + 1) ||
	    !SP__ARRAY_GROW(e->operands, e->operands_capacity, e->noperands + nargs + 1)) {
		free(n->text);
		return sp__expr_no_memory(p);
	}
	e->nodes[e->nnodes] = *n;
	e->nodes[e->nnodes].args = (uint32_t)e->noperands;
	e->nodes[e->nnodes].nargs = nargs;
	e->nodes[e->nnodes].depth = depth;
	for (uint32_t i = 0; i < nargs; i++)
		e->operands[e->noperands++] = args[i];
	*made = (uint32_t)e->nnodes++;
	return 0;
}

int sp__expr_append(struct sp__expr_parser *p, struct sp__expr_list *list, uint32_t value)
{
	if (list->n == MAX_OPERANDS)
		return sp__token_fail(&p->t,
				      "at most 100000 values or conditions are possible here: "
				      "divide them by 'or' and parentheses");
	if (!SP__ARRAY_GROW(list->args, list->capacity, list->n + 1))
		return sp__expr_no_memory(p);
	list->args[list->n++] = value;
	return 0;
}

int sp__expr_need(const struct sp__expr_parser *p, uint32_t i, enum sp__expr_type type)
{
	const struct sp__expr_node *n = sp__expr_node(p, i);

	if ((type == SP__TYPE_TRUTH) != (n->type == SP__TYPE_TRUTH))
		return sp__token_fail_at(
			&p->t, n->at,
			type == SP__TYPE_TRUTH
				? "a condition, such as x > 3, is expected instead of a value"
				: "a value is expected instead of a condition");
	if (type == SP__TYPE_NUMBER && sp__expr_is_text(n))
		return sp__token_fail_at(&p->t, n->at, "a number is expected instead of a text");
	return 0;
}

int sp__expr_add_pair(struct sp__expr_parser *p, struct sp__expr_node n,
		      enum sp__expr_type operands, uint32_t a, uint32_t b, uint32_t *made)
{
	int rc = sp__expr_need(p, a, operands);

	n.at = sp__expr_node(p, a)->at;
	if (!rc)
		rc = sp__expr_need(p, b, operands);
	return rc ? rc : sp__expr_add(p, &n, (const uint32_t[]){ a, b }, 2, made);
}

/* Operands. */

static int take_column(struct sp__expr_parser *p, uint32_t *made)
{
	struct sp__expr_node n = { .operator= SP__NODE_COLUMN,
				   .type = SP__TYPE_FIELD,
				   .at = (size_t)(p->t.token - p->t.begin) };
	const struct sp__tokens *t = &p->t;
	uint64_t number = 0;
	int rc;

	if (t->kind == SP__TOKEN_COLUMN) {
		/* A number that is too large becomes the largest one, which no record has. */
		number = strtoull(t->token + 1, NULL, 10);
		if (!number)
			return sp__token_fail(&p->t, "columns count from $1");
		rc = p->names->find(p->names->arg, NULL, 0, number, &n.column);
	} else if (t->kind == SP__TOKEN_NAME) {
		rc = p->names->find(p->names->arg, p->t.word, t->word_bytes, 0, &n.column);
	} else {
		rc = p->names->find(p->names->arg, t->token, t->bytes, 0, &n.column);
	}
	if (!rc)
		rc = sp__expr_add(p, &n, NULL, 0, made);
	return rc ? rc : sp__token_next(&p->t);
}

static int take_literal(struct sp__expr_parser *p, uint32_t *made)
{
	struct sp__expr_node n = { .operator= SP__NODE_LITERAL,
				   .type = SP__TYPE_NUMBER,
				   .literal = { .kind = SP__EXPR_NUMBER },
				   .at = (size_t)(p->t.token - p->t.begin) };
	const bool number = p->t.kind == SP__TOKEN_NUMBER;
	const size_t bytes = number ? p->t.bytes : p->t.word_bytes;
	int rc;

	if (number && !sp__amount_parse(p->t.token, bytes, &n.literal.number)) {
		n.literal.kind = SP__EXPR_NULL;
		if (!p->e->typed)
			return sp__token_fail(&p->t,
					      "no number, and no name without double quotes,");
	}
	n.text = malloc(bytes + 2);
	if (!n.text)
		return sp__expr_no_memory(p);
	*n.text = '-';
	memcpy(n.text + number, number ? p->t.token : p->t.word, bytes);
	n.literal.text = (struct sp__slice){ n.text + number, bytes };
	if (!number) {
		n.type = SP__TYPE_TEXT;
		n.literal.kind = bytes || p->e->typed ? SP__EXPR_TEXT : SP__EXPR_NULL;
	}
	rc = sp__expr_add(p, &n, NULL, 0, made);
	return rc ? rc : sp__token_next(&p->t);
}

/* Checks an argument by its letter. */
static int need_argument(const struct sp__expr_parser *p, char letter, uint32_t arg)
{
	return sp__expr_need(p, arg,
			     letter == 'n'   ? SP__TYPE_NUMBER
			     : letter == 'c' ? SP__TYPE_TRUTH
					     : SP__TYPE_FIELD);
}

/* Returns the type of what a function returns that returns one of its arguments. */
static enum sp__expr_type common_type(const struct sp__expr_parser *p, const uint32_t *args,
				      uint32_t n)
{
	enum sp__expr_type type = sp__expr_node(p, args[0])->type;

	for (uint32_t i = 1; i < n; i++)
		if (sp__expr_node(p, args[i])->type != type)
			type = SP__TYPE_FIELD;
	return type;
}

static int add_call(struct sp__expr_parser *p, struct sp__expr_node *n, const uint32_t *args,
		    uint32_t nargs, uint32_t *made)
{
	const char *letter = n->function->arguments;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < nargs; i++) {
		letter += *letter == '?';
		if (!*letter)
			return sp__token_fail_at(&p->t, sp__expr_node(p, args[i])->at,
						 "an argument too many");
		if (*letter == '*')
			rc = need_argument(p, letter[-1], args[i]);
		else
			rc = need_argument(p, *letter++, args[i]);
	}
	if (!rc && *letter && *letter != '?' && *letter != '*')
		return sp__token_fail_at(&p->t, n->at, "an argument is missing");
	n->type = n->function->type;
	if (!rc && n->type == SP__TYPE_FIELD)
		/* The condition of if() is not returned. */
		n->type = common_type(p, args + (*n->function->arguments == 'c'),
				      nargs - (*n->function->arguments == 'c'));
	return rc ? rc : sp__expr_add(p, n, args, nargs, made);
}

static int no_function(const struct sp__expr_parser *p, const char *nearest)
{
	return sp__invalid(
		p->t.err, NULL, "there is no function '%.*s'%s%s%s in expressions: '%.*s%s'",
		(int)sp__min(p->t.bytes, SHOWN), p->t.token, nearest ? " (the nearest is '" : "",
		nearest ? nearest : "", nearest ? "')" : "", SHOWN, p->t.begin,
		strlen(p->t.begin) > SHOWN ? "..." : "");
}

/* Takes values up to ")". */
int sp__expr_take_list(struct sp__expr_parser *p, struct sp__expr_list *list,
		       int (*take)(struct sp__expr_parser *p, uint32_t *made))
{
	int rc = sp__token_next(&p->t);

	if (!rc && sp__token_is_sign(&p->t, ")"))
		return sp__token_next(&p->t);
	while (!rc) {
		uint32_t value;

		rc = take(p, &value);
		if (!rc)
			rc = sp__expr_append(p, list, value);
		if (rc || !sp__token_is_sign(&p->t, ","))
			break;
		rc = sp__token_next(&p->t);
	}
	return rc ? rc : skip(p, ")", "a comma or ) is missing");
}

/* Returns the end of the text in parentheses at p, which quotes can have, too. */
static const char *end_of_call(const char *p)
{
	unsigned depth = 0;
	char quote = '\0';

	for (; *p; p++) {
		if (quote) {
			quote = *p == quote ? '\0' : quote;
			continue;
		}
		if (*p == '"' || *p == '\'')
			quote = *p;
		depth += *p == '(';
		if (*p == ')' && !--depth)
			return p + 1;
	}
	return p;
}

/* Takes a column whose name looks like a function and its arguments. */
static int take_called_column(struct sp__expr_parser *p, const char *end, uint32_t *made)
{
	p->t.at = end;
	p->t.bytes = (size_t)(end - p->t.token);
	return take_column(p, made);
}

static int take_call(struct sp__expr_parser *p, uint32_t *made)
{
	struct sp__expr_node n = { .operator= SP__NODE_CALL,
				   .at = (size_t)(p->t.token - p->t.begin) };
	const char *nearest;
	struct sp__expr_list list = { 0 };
	int rc;

	n.function = sp__expr_function_find(p->t.token, p->t.bytes, &nearest);
	if (p->names->is_name) {
		const char *end = end_of_call(p->t.at);

		if (!n.function ||
		    p->names->is_name(p->names->arg, p->t.token, (size_t)(end - p->t.token)))
			return take_called_column(p, end, made);
	}
	if (!n.function)
		return no_function(p, nearest);
	rc = sp__token_next(&p->t);
	if (!rc)
		rc = sp__expr_take_list(p, &list, p->take);
	if (!rc)
		rc = add_call(p, &n, list.args, list.n, made);
	free(list.args);
	return rc;
}

static int take_operand(struct sp__expr_parser *p, uint32_t *made)
{
	int rc;

	if (sp__token_is_sign(&p->t, "(")) {
		rc = sp__token_next(&p->t);
		if (!rc)
			rc = p->take(p, made);
		return rc ? rc : skip(p, ")", ") is missing");
	}
	if (p->names->is_name && sp__token_is_sign(&p->t, "~"))
		return take_called_column(p, end_of_call(p->t.at), made);
	if (sp__token_is_word(&p->t, "null"))
		return sp__token_fail(&p->t, "null is not a value: write 'is null'");
	if (p->t.kind == SP__TOKEN_END || p->t.kind == SP__TOKEN_SIGN || is_reserved(p))
		return sp__token_fail(&p->t,
				      "a column, a number or a text in single quotes is missing");
	if (p->t.kind == SP__TOKEN_NUMBER || p->t.kind == SP__TOKEN_TEXT)
		return take_literal(p, made);
	if (p->t.kind == SP__TOKEN_WORD && p->t.at[strspn(p->t.at, SP__TOKEN_BLANKS)] == '(')
		return take_call(p, made);
	return take_column(p, made);
}

static int take_minus(struct sp__expr_parser *p, uint32_t *made)
{
	struct sp__expr_node n = { .operator= SP__NODE_NEGATE,
				   .type = SP__TYPE_NUMBER,
				   .at = (size_t)(p->t.token - p->t.begin) };
	uint32_t a;
	int rc;

	if (!sp__token_is_sign(&p->t, "-") && !sp__token_is_sign(&p->t, "+"))
		return take_operand(p, made);
	if (++p->depth > SP__EXPR_MAX_DEPTH)
		return sp__token_fail(&p->t, SP__EXPR_TOO_DEEP);
	if (sp__token_is_sign(&p->t, "+")) {
		rc = sp__token_next(&p->t);
		if (!rc)
			rc = take_minus(p, made);
		if (!rc)
			rc = sp__expr_need(p, *made, SP__TYPE_NUMBER);
	} else {
		rc = sp__token_next(&p->t);
		if (!rc)
			rc = take_minus(p, &a);
		if (!rc)
			rc = sp__expr_need(p, a, SP__TYPE_NUMBER);
		if (!rc)
			rc = sp__expr_add(p, &n, &a, 1, made);
	}
	p->depth--;
	return rc;
}

/* Takes operands joined by one of the signs; "||" is '|'. */
static int take_joined(struct sp__expr_parser *p, const char *signs,
		       int (*take)(struct sp__expr_parser *p, uint32_t *made), uint32_t *made)
{
	int rc = take(p, made);

	while (!rc && p->t.kind == SP__TOKEN_SIGN && strchr(signs, *p->t.token) &&
	       p->t.bytes == 1 + (size_t)(*p->t.token == '|')) {
		struct sp__expr_node n = { .operator= SP__NODE_ARITHMETIC,
					   .type = SP__TYPE_NUMBER,
					   .sign = *p->t.token };
		uint32_t b;

		if (n.sign == '|') {
			n.operator= SP__NODE_JOIN;
			n.type = SP__TYPE_TEXT;
		}
		rc = sp__token_next(&p->t);
		if (!rc)
			rc = take(p, &b);
		if (!rc)
			rc = sp__expr_add_pair(p, n, n.type, *made, b, made);
	}
	return rc;
}

static int take_product(struct sp__expr_parser *p, uint32_t *made)
{
	return take_joined(p, "*/%", take_minus, made);
}

int sp__expr_take_sum(struct sp__expr_parser *p, uint32_t *made)
{
	return take_joined(p, "+-|", take_product, made);
}

void sp__expr_free(struct sp__expr *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->nnodes; i++)
		free(e->nodes[i].text);
	free(e->nodes);
	free(e->operands);
	free(e);
}

bool sp__expr_is_truth(const struct sp__expr *e)
{
	return e->nodes[e->root].type == SP__TYPE_TRUTH;
}

bool sp__expr_is_number(const struct sp__expr *e)
{
	return e->nodes[e->root].type == SP__TYPE_NUMBER;
}

uint32_t sp__expr_column(const struct sp__expr *e)
{
	const struct sp__expr_node *n = &e->nodes[e->root];

	return n->operator== SP__NODE_COLUMN ? n->column : UINT32_MAX;
}

void sp__expr_renumber(struct sp__expr *e, const uint32_t *to)
{
	for (size_t i = 0; i < e->nnodes; i++)
		if (e->nodes[i].operator== SP__NODE_COLUMN)
			e->nodes[i].column = to[e->nodes[i].column];
}

int sp__expr_condition(const struct sp__expr *e, const char *option, const char *text,
		       const char *rest, struct sp_errinfo *err)
{
	if (*rest)
		return sp__invalid(err, rest, "'and', 'or' or the end of %s is expected instead of",
				   option);
	return sp__expr_is_truth(e)
		       ? 0
		       : sp__invalid(err, text, "%s needs a condition, such as x > 3, not", option);
}
