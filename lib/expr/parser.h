/* SPDX-License-Identifier: MIT */
/*
 * The parser of expressions: what its files share.  parse.c has the nodes, and values of signs and
 * functions; conditions.c what is true or false, and the entry point.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include "expr/node.h"
#include "expr/token.h"

#define SP__EXPR_MAX_DEPTH 100
#define SP__EXPR_TOO_DEEP "the expression has more than 100 levels: shorten it"

struct sp__expr_parser {
	struct sp__expr *e;
	const struct sp__expr_names *names;
	struct sp__tokens t;
	unsigned depth;
	/* Takes the longest condition or value, in parentheses and lists; conditions.c. */
	int (*take)(struct sp__expr_parser *p, uint32_t *made);
};

/* A list of operands; its owner frees args. */
struct sp__expr_list {
	uint32_t *args, n;
	size_t capacity;
};

/* All return 0; -EINVAL with the reason; or -ENOMEM. */

/* Takes the longest value that is no condition without parentheses; *made: its node. */
SP_MUST_CHECK int sp__expr_take_sum(struct sp__expr_parser *p, uint32_t *made);
/* Takes values from "(" to ")". */
SP_MUST_CHECK int sp__expr_take_list(struct sp__expr_parser *p, struct sp__expr_list *list,
				     int (*take)(struct sp__expr_parser *p, uint32_t *made));
SP_MUST_CHECK int sp__expr_append(struct sp__expr_parser *p, struct sp__expr_list *list,
				  uint32_t value);
/* Adds a node with operands; n->text belongs to it, also after an error. */
SP_MUST_CHECK int sp__expr_add(struct sp__expr_parser *p, const struct sp__expr_node *n,
			       const uint32_t *args, uint32_t nargs, uint32_t *made);
/* Adds a node with two operands of this type. */
SP_MUST_CHECK int sp__expr_add_pair(struct sp__expr_parser *p, struct sp__expr_node n,
				    enum sp__expr_type operands, uint32_t a, uint32_t b,
				    uint32_t *made);
/* Checks that a node can be what is needed; FIELD: any value. */
SP_MUST_CHECK int sp__expr_need(const struct sp__expr_parser *p, uint32_t node,
				enum sp__expr_type type);
int sp__expr_no_memory(const struct sp__expr_parser *p);

static inline const struct sp__expr_node *sp__expr_node(const struct sp__expr_parser *p, uint32_t i)
{
	return &p->e->nodes[i];
}
static inline bool sp__expr_is_text(const struct sp__expr_node *n)
{
	return n->operator== SP__NODE_LITERAL && n->type == SP__TYPE_TEXT;
}
