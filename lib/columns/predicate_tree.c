/* SPDX-License-Identifier: MIT */
/*
 * Conditions of predicates that are evaluated record by record: checks the types of their operands,
 * and evaluates them on the values of columns as they are printed.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "columns/predicate_program.h"

#define SHOWN 40 /* bytes of the user's text in a message */

int sp__predicate_fail(const struct sp__predicate_source *p, size_t at, const char *reason)
{
	const size_t rest = strlen(p->text + at);

	return sp__errf(p->err, SP_ESYNTAX, "where", NULL, -1, "%s at '%.*s%s', character %zu",
			reason, (int)sp__min(rest, SHOWN), p->text + at, rest > SHOWN ? "..." : "",
			at + 1);
}

struct sp__predicate_pair sp__predicate_pair(const struct sp__predicate *w,
					     const struct sp__expr_node *n, uint32_t i)
{
	const bool chain = n->operator== SP__NODE_COMPARE;
	unsigned orders = SP__ORDER_EQUAL;

	if (chain)
		orders = (unsigned char)n->text[i];
	else if (n->operator== SP__NODE_BETWEEN)
		orders |= i ? SP__ORDER_LESS : SP__ORDER_MORE;
	return (struct sp__predicate_pair){ sp__node_arg(w->expr, n, chain ? i : 0),
					    sp__node_arg(w->expr, n, i + 1), orders };
}

/* A condition that is checked. */
struct check {
	const struct sp__predicate_source *p;
	struct sp__predicate_step *step;
	size_t capacity; /* columns */
};

static const struct sp__expr_node *node_of(const struct check *c, uint32_t i)
{
	return &c->p->predicate->expr->nodes[i];
}

static uint32_t arg(const struct check *c, const struct sp__expr_node *n, uint32_t i)
{
	return sp__node_arg(c->p->predicate->expr, n, i);
}

/* Returns the column that a node is; NULL: it is none, or nan or inf. */
static const struct sp__column *column_of(const struct check *c, const struct sp__expr_node *n)
{
	const struct sp__schema *s = c->p->predicate->schema;

	return n->operator== SP__NODE_COLUMN && n->column<s->n ? &s->columns[n->column] : NULL;
}

static int no_number(const struct check *c, const struct sp__column *column)
{
	char type[SP__VALUE_TYPE_TEXT];
	const int n = (int)sp__value_type_print(&column->type, type);

	return sp__errf(c->p->err, SP_ESYNTAX, "where", NULL, -1,
			"column '%.40s' has the type %.*s, and a number is needed%s", column->name,
			n, type,
			sp__type_is_text(&column->type) ? ": number() converts texts" : "");
}

/* Checks that a value can be a number. */
static int need_number(const struct check *c, uint32_t node)
{
	const struct sp__expr_node *n = node_of(c, node);
	const struct sp__column *column = column_of(c, n);

	if (n->type != SP__TYPE_TEXT)
		return 0;
	if (column)
		return no_number(c, column);
	return n->operator== SP__NODE_LITERAL
		       ? sp__predicate_fail(c->p, n->at, "a number is expected instead of a text")
		       : 0;
}

static bool is_time(const struct sp__column *column)
{
	return column && (column->type.kind == 'D' || column->type.kind == 'T');
}

/* Checks that a text is written as the column of dates or times prints it. */
static int need_form(const struct check *c, const struct sp__column *column, uint32_t node)
{
	const struct sp__expr_node *n = node_of(c, node);
	const struct sp__column *other = column_of(c, n);
	const struct sp__slice *text = &n->literal.text;
	bool canonical = true;
	uint8_t value[8];

	if (other && !sp__value_type_same(&other->type, &column->type))
		return sp__errf(c->p->err, SP_ESYNTAX, "where", NULL, -1,
				"columns '%.40s' and '%.40s' cannot be compared here: their types "
				"differ",
				column->name, other->name);
	if (n->operator!= SP__NODE_LITERAL)
		return 0;
	if (sp__value_take(&column->type, text->p, text->n, value, &canonical) == SP__VALUE_OK &&
	    canonical)
		return 0;
	return sp__errf(c->p->err, SP_ESYNTAX, "where", NULL, -1,
			"'%.*s', character %zu, is not written as column '%.40s' prints it, such "
			"as %s",
			(int)text->n, text->p, n->at + 1, column->name,
			column->type.kind == 'D' ? "'2026-11-27'"
			: column->type.decimals	 ? "'2026-11-27 13:05:00.0', with all decimals"
						 : "'2026-11-27 13:05:00'");
}

/* Checks that the values of a comparison go together. */
static int check_pair(const struct check *c, const struct sp__predicate_pair *p)
{
	const struct sp__expr_node *a = node_of(c, p->a), *b = node_of(c, p->b);
	int rc = 0;

	if (p->orders & SP__ORDER_PREFIX)
		return 0;
	if (a->type == SP__TYPE_NUMBER)
		rc = need_number(c, p->b);
	if (!rc && b->type == SP__TYPE_NUMBER)
		rc = need_number(c, p->a);
	if (!rc && is_time(column_of(c, a)))
		rc = need_form(c, column_of(c, a), p->b);
	if (!rc && is_time(column_of(c, b)))
		rc = need_form(c, column_of(c, b), p->a);
	return rc;
}

/* Checks the arguments of a function; number() takes the numbers of texts. */
static int check_call(const struct check *c, const struct sp__expr_node *n)
{
	const char *letter = n->function->arguments;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n->nargs && strcmp(n->function->name, "number"); i++) {
		const struct sp__expr_node *a = node_of(c, arg(c, n, i));

		letter += *letter == '?';
		if (*letter == 'n')
			rc = need_number(c, arg(c, n, i));
		if (*letter == 'd' && a->type == SP__TYPE_NUMBER)
			rc = sp__predicate_fail(c->p, a->at,
						"a date is expected instead of a number");
		letter += *letter != '*';
	}
	return rc;
}

static int check_column(struct check *c, const struct sp__expr_node *n)
{
	struct sp__predicate_step *s = c->step;

	if (!column_of(c, n))
		return sp__predicate_fail(c->p, n->at,
					  "nan and inf are compared only with columns");
	for (size_t i = 0; i < s->n; i++)
		if (s->columns[i] == n->column)
			return 0;
	if (!SP__ARRAY_GROW(s->columns, c->capacity, s->n + 1))
		return sp__err(c->p->err, -ENOMEM, "where", NULL, -1);
	s->columns[s->n++] = n->column;
	return 0;
}

/* Checks the types in a tree, and collects its columns. */
static int check_tree(struct check *c, uint32_t node)
{
	const struct sp__expr_node *n = node_of(c, node);
	int rc = 0;

	switch (n->operator) {
	case SP__NODE_COLUMN:
		return check_column(c, n);
	case SP__NODE_LITERAL:
		return n->literal.kind == SP__EXPR_NULL
			       ? sp__predicate_fail(c->p, n->at, "a number is expected")
			       : 0;
	case SP__NODE_NEGATE:
	case SP__NODE_ARITHMETIC:
		for (uint32_t i = 0; !rc && i < n->nargs; i++)
			rc = need_number(c, arg(c, n, i));
		break;
	case SP__NODE_COMPARE:
	case SP__NODE_BETWEEN:
	case SP__NODE_IN:
		for (uint32_t i = 0; !rc && i + 1 < n->nargs; i++) {
			const struct sp__predicate_pair p =
				sp__predicate_pair(c->p->predicate, n, i);

			rc = check_pair(c, &p);
		}
		break;
	case SP__NODE_CALL:
		rc = check_call(c, n);
		break;
	default:
		break;
	}
	for (uint32_t i = 0; !rc && i < n->nargs; i++)
		rc = check_tree(c, arg(c, n, i));
	return rc;
}

int sp__step_tree(const struct sp__predicate_source *p, struct sp__predicate_step *s)
{
	struct check c = { .p = p, .step = s };
	int rc = check_tree(&c, s->node);

	if (!rc && !s->n)
		rc = sp__predicate_fail(p, p->predicate->expr->nodes[s->node].at,
					"a column is missing in the condition");
	if (!rc)
		s->column = s->columns[0];
	return rc;
}

/* Evaluation. */

struct sp__predicate_values {
	struct sp__expr_scratch *scratch;
	struct sp__slice *columns; /* of the schema; those of a step are set */
	char (*printed)[SP__VALUE_SPACE];
};

struct sp__predicate_values *sp__predicate_values_new(const struct sp__predicate *w)
{
	struct sp__predicate_values *v = calloc(1, sizeof(*v));
	size_t most = 0;

	if (!v)
		return NULL;
	for (size_t k = 0; k < w->n; k++)
		if (w->steps[k].kind == SP__STEP_TREE && w->steps[k].n > most)
			most = w->steps[k].n;
	v->scratch = sp__expr_scratch_new(w->expr);
	v->columns = calloc(w->schema->n, sizeof(*v->columns));
	v->printed = calloc(most, sizeof(*v->printed));
	if (v->scratch && v->columns && v->printed)
		return v;
	sp__predicate_values_free(v);
	return NULL;
}

void sp__predicate_values_free(struct sp__predicate_values *v)
{
	if (!v)
		return;
	sp__expr_scratch_free(v->scratch);
	free(v->columns);
	free(v->printed);
	free(v);
}

/* Returns a value as text, perhaps in `printed`. */
static struct sp__slice text_of(const struct sp__column *c, const struct sp__vector *v,
				uint32_t row, char *printed)
{
	const uint8_t *at = sp__vector_at(v, row);

	if (sp__type_is_text(&c->type))
		return sp__column_text(c, v, row);
	if (sp__value_null(&c->type, at))
		return (struct sp__slice){ NULL, 0 };
	return (struct sp__slice){ printed, sp__value_write(&c->type, at, printed) };
}

int sp__step_tree_truth(const struct sp__predicate *w, const struct sp__predicate_step *s,
			struct sp__predicate_values *v, const struct sp__rows *rows, uint32_t row,
			uint8_t *truth, struct sp__expr_bad *bad)
{
	const struct sp__expr_record record = { .columns = v->columns };
	struct sp__expr_run run = { w->expr, v->scratch, &record, bad };
	struct sp__expr_value value;
	int rc;

	for (size_t i = 0; i < s->n; i++)
		v->columns[s->columns[i]] =
			text_of(&w->schema->columns[s->columns[i]], &rows->vectors[s->columns[i]],
				row, v->printed[i]);
	rc = sp__node_value(&run, s->node, &value);
	if (!rc && value.kind == SP__EXPR_TRUTH)
		*truth = value.truth ? SP__TRUE : SP__FALSE;
	else
		*truth = 0;
	return rc;
}
