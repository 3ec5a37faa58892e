/* SPDX-License-Identifier: MIT */
/*
 * An expression as a tree: nodes in an array, operands before operators.  Written by parse.c.
 */
#pragma once

#include "base/mem.h"
#include "expr/expr.h"

enum sp__expr_operator {
	SP__NODE_COLUMN,
	SP__NODE_LITERAL,
	SP__NODE_NEGATE,
	SP__NODE_ARITHMETIC,
	SP__NODE_JOIN, /* two texts */
	SP__NODE_AND,
	SP__NODE_OR,
	SP__NODE_NOT,
	SP__NODE_COMPARE, /* a chain: text has the orders of each pair */
	SP__NODE_BETWEEN,
	SP__NODE_LIKE,
	SP__NODE_IN, /* the first one of the others */
	SP__NODE_IS_NULL,
	SP__NODE_CALL,
};

/* What is known of a value before there is one. */
enum sp__expr_type {
	SP__TYPE_FIELD, /* of a record, whatever is needed */
	SP__TYPE_NUMBER,
	SP__TYPE_TEXT,
	SP__TYPE_TRUTH,
};

/* Bits of a set of orders of two values. */
#define SP__ORDER_LESS 1u
#define SP__ORDER_EQUAL 2u
#define SP__ORDER_MORE 4u
#define SP__ORDER_PREFIX 8u /* the first begins with the second */

struct sp__expr_function;

struct sp__expr_node {
	enum sp__expr_operator operator;
	enum sp__expr_type type;
	uint32_t args, nargs; /* in the list of operands */
	size_t at;	      /* where it begins in the text */
	uint32_t column;
	char sign; /* ARITHMETIC */
	struct sp__expr_value literal;
	char *text;	/* COMPARE: orders; LITERAL: the text, or "-" and the number; owned */
	unsigned depth; /* 0: no operands */
	const struct sp__expr_function *function;
};

struct sp__expr {
	bool typed; /* sp__expr_names.typed */
	struct sp__expr_node *nodes;
	size_t nnodes, capacity;
	uint32_t *operands;
	size_t noperands, operands_capacity;
	uint32_t root;
};

struct sp__expr_run {
	const struct sp__expr *expr;
	struct sp__expr_scratch *scratch;
	const struct sp__expr_record *record;
	struct sp__expr_bad *bad;
};

/* Memory of one thread: each node that makes a text has its own. */
struct sp__expr_scratch {
	size_t n;
	struct sp__bytes texts[];
};

/* evaluate.c: Return 0; SP_EFORMAT: it is none; or -ENOMEM.  Without a value the kind is NULL. */
SP_MUST_CHECK int sp__node_value(struct sp__expr_run *r, uint32_t node, struct sp__expr_value *v);
SP_MUST_CHECK int sp__node_number(struct sp__expr_run *r, uint32_t node, struct sp__expr_value *v);
SP_MUST_CHECK int sp__node_text(struct sp__expr_run *r, uint32_t node, struct sp__expr_value *v);

/* Returns operand i of a node. */
static inline uint32_t sp__node_arg(const struct sp__expr *e, const struct sp__expr_node *n,
				    uint32_t i)
{
	return e->operands[n->args + i];
}

/* Records a value that is not what is wanted. */
static inline int sp__expr_fail(struct sp__expr_run *r, const struct sp__slice *text,
				const char *wanted)
{
	*r->bad = (struct sp__expr_bad){ *text, wanted };
	return SP_EFORMAT;
}

/* evaluate.c: Appends to a text that is made.  Returns 0; SP_EFORMAT: too long; or -ENOMEM. */
SP_MUST_CHECK int sp__expr_append_text(struct sp__expr_run *r, struct sp__bytes *to,
				       const struct sp__slice *text);

/* A function: letters for its arguments, n number, t text, c condition, v any value, d date. */
struct sp__expr_function {
	const char *name, *arguments; /* behind '?' they can be left out; '*': more as the last */
	enum sp__expr_type type;
	int (*call)(struct sp__expr_run *r, const struct sp__expr_node *n,
		    struct sp__expr_value *v);
	int what;
};

/* functions.c: Returns NULL: there is none; *nearest: the most similar name, or NULL. */
const struct sp__expr_function *sp__expr_function_find(const char *name, size_t bytes,
						       const char **nearest);
/* pattern.c: Returns the bytes of the character at p; a byte that begins none is one. */
size_t sp__expr_character(const char *p, const char *end);
/* True if the text is like the pattern. */
bool sp__expr_like(const struct sp__slice *text, const struct sp__slice *pattern);
