/* SPDX-License-Identifier: MIT */
/*
 * Alters the columns of a table: makes the schema that it is to have.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/tablealter.h>
#include "base/err.h"
#include "base/minmax.h"
#include "columns/schema_text.h"
#include "expr/token.h"
#include "table/arrange.h"
#include "table/change/alter.h"
#include "table/change/copy.h"

#define SHOWN 40 /* bytes of a user's word in a message */

struct names {
	struct sp__tablefile *file;
	const struct sp_table_alter *alter;
	struct sp__alter_plan *plan;
	struct sp_errinfo *err;
};

static int no_memory(const struct names *c)
{
	return sp__err(c->err, -ENOMEM, "allocate", NULL, -1);
}

/* Copies the schema; from: the numbers of its columns. */
static int begin_plan(struct names *c)
{
	const struct sp__schema *old = &c->file->schema;
	struct sp__schema *s = &c->plan->schema;
	int rc = sp__copy_schema(c->file, s, false);

	if (rc)
		return sp__err(c->err, rc, "alter", c->file->path, -1);
	s->arrow = old->arrow;
	c->plan->from = calloc(s->n, sizeof(*c->plan->from));
	if (!c->plan->from)
		return no_memory(c);
	for (uint32_t i = 0; i < s->n; i++) {
		c->plan->from[i] = i;
		s->columns[i].changed = old->columns[i].changed;
	}
	return 0;
}

/* Gives columns other types. */
static int change_types(struct names *c)
{
	const struct sp__schema *old = &c->file->schema;
	struct sp__schema *s = &c->plan->schema;
	int rc = c->alter->types ? sp__table_set_types(s, c->alter->types, c->file->path, c->err)
				 : 0;

	for (uint32_t i = 0; !rc && i < s->n; i++)
		s->columns[i].changing =
			!sp__value_type_same(&s->columns[i].type, &old->columns[i].type);
	return rc;
}

/* Takes a name, in place, which ends at `end`; moves *at behind it.  0: it is wrong. */
static size_t take_name(char **at, char end, char **name)
{
	size_t n = 0;
	char *p = *at;

	*name = p;
	if (*p == '"') {
		p += sp__unquote(p, p, &n);
	} else {
		while (*p && *p != end)
			p++;
		n = (size_t)(p - *name);
	}
	if (*p != end || n > SP__COLUMN_NAME_MAX)
		return 0;
	*at = end ? p + 1 : p;
	return n;
}

/* Renames a column: OLD=NEW, which is changed. */
static int rename_column(struct names *c, const char *text, char *own)
{
	struct sp__schema *s = &c->plan->schema;
	char *at = own, *old, *new, *copy;
	const size_t old_bytes = take_name(&at, '=', &old);
	const size_t new_bytes = old_bytes ? take_name(&at, '\0', &new) : 0;
	int column;

	if (!new_bytes)
		return sp__errf(
			c->err, SP_ESYNTAX, "alter", c->file->path, -1,
			"'%.*s' does not rename a column: that is OLD=NEW, with names of at "
			"most %d bytes",
			SHOWN, text, SP__COLUMN_NAME_MAX);
	column = sp__names_column(&c->file->schema, old, old_bytes, c->err);
	if (column < 0)
		return column;
	if (strcmp(s->columns[column].name, c->file->schema.columns[column].name) != 0)
		return sp__errf(c->err, SP_ESYNTAX, "alter", c->file->path, -1,
				"column '%.*s' is renamed twice", (int)sp__min(old_bytes, SHOWN),
				old);
	copy = strndup(new, new_bytes);
	if (!copy)
		return no_memory(c);
	free(s->columns[column].name);
	s->columns[column].name = copy;
	s->columns[column].changing = true; /* an index names its column */
	return 0;
}

static int rename_columns(struct names *c)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < c->alter->nrename; i++) {
		char *own = strdup(c->alter->rename[i]);

		rc = own ? rename_column(c, c->alter->rename[i], own) : no_memory(c);
		free(own);
	}
	return rc;
}

/* Frees column i, and closes the gap. */
static void remove_column(struct sp__alter_plan *plan, uint32_t i)
{
	struct sp__schema *s = &plan->schema;
	const uint32_t after = --s->n - i;

	free(s->columns[i].name);
	free(s->columns[i].arrow);
	sp__dictionary_free(&s->columns[i].words);
	memmove(&s->columns[i], &s->columns[i + 1], after * sizeof(*s->columns));
	memmove(&plan->from[i], &plan->from[i + 1], after * sizeof(*plan->from));
}

/* Refuses to drop a column that is changed, too. */
static int check_dropped(const struct names *c, uint32_t column)
{
	const struct sp__column *was = &c->file->schema.columns[column];

	return c->plan->schema.columns[column].changing
		       ? sp__errf(c->err, SP_ESYNTAX, "alter", c->file->path, -1,
				  "column '%.64s' is dropped, and renamed or given another type",
				  was->name)
		       : 0;
}

/* Drops columns, whose numbers are those before the change so far. */
static int drop_columns(struct names *c)
{
	uint32_t *columns = NULL, n = 0;
	bool *dropped;
	int rc = 0;

	if (!c->alter->drop)
		return 0;
	dropped = calloc(c->file->schema.n, sizeof(*dropped));
	rc = dropped ? sp__names_find(&c->file->schema, c->alter->drop, &columns, &n, c->err)
		     : no_memory(c);
	for (uint32_t i = 0; !rc && i < n; i++) {
		rc = check_dropped(c, columns[i]);
		dropped[columns[i]] = true;
	}
	for (uint32_t i = c->file->schema.n; !rc && i-- > 0;)
		if (dropped[i])
			remove_column(c->plan, i);
	free(columns);
	free(dropped);
	return rc;
}

/* Adds a column of a list to the end, with members that the list has. */
static int add_column(struct names *c, const struct sp__column *added)
{
	struct sp__schema *s = &c->plan->schema;
	struct sp__column *made;
	uint32_t *from;
	int rc;

	if (s->style.format == SP_REC_FIXED && (added->type.kind == 't' || added->type.kind == 'w'))
		return sp__errf(c->err, SP_ESYNTAX, "alter", c->file->path, -1,
				"column '%.64s': a text has no fixed length: choose char(N)",
				added->name);
	rc = sp__schema_add(s, added->name, strlen(added->name), &added->type);
	if (rc == -E2BIG)
		return sp__errf(c->err, SP_ESYNTAX, "alter", c->file->path, -1,
				"a table has at most %d columns", SP__COLUMNS_MAX);
	from = rc ? NULL : reallocarray(c->plan->from, s->n, sizeof(*from));
	if (!from)
		return no_memory(c);
	c->plan->from = from;
	from[s->n - 1] = SP__ALTER_NEW;
	made = &s->columns[s->n - 1];
	made->not_null = added->not_null;
	made->json = added->json;
	made->bounds = sp__column_type_bounded(&made->type);
	made->words.budget = s->budget;
	made->changing = true; /* an index can be of a column that had this name */
	return 0;
}

static int add_columns(struct names *c)
{
	struct sp__schema added = { 0 };
	int rc = 0;

	if (!c->alter->add)
		return c->alter->nset
			       ? sp__errf(c->err, SP_ESYNTAX, "alter", c->file->path, -1,
					  "values are given, and no new column: change those "
					  "of other columns with an update")
			       : 0;
	rc = sp__schema_list_parse(&added, c->alter->add, c->err);
	if (!rc && !c->plan->schema.style.json)
		rc = sp__schema_refuse_json(&added, c->file->path, c->err);
	for (uint32_t i = 0; !rc && i < added.n; i++)
		rc = add_column(c, &added.columns[i]);
	sp__schema_free(&added);
	return rc;
}

/* Makes the schema after the change. */
static int make_plan(struct names *c)
{
	const struct sp_table_alter *o = c->alter;
	int rc = begin_plan(c), twice;

	if (!rc)
		rc = change_types(c);
	if (!rc)
		rc = rename_columns(c);
	if (!rc)
		rc = drop_columns(c);
	if (!rc)
		rc = add_columns(c);
	if (rc)
		return rc;
	if (!o->drop && !o->nrename && !o->types && !o->add)
		return sp__errf(c->err, SP_ESYNTAX, "alter", c->file->path, -1,
				"nothing is to be changed");
	if (!c->plan->schema.n)
		return sp__errf(c->err, SP_ESYNTAX, "alter", c->file->path, -1,
				"no column would be left");
	twice = sp__schema_repeated(&c->plan->schema);
	if (twice >= 0)
		return sp__errf(c->err, SP_ESYNTAX, "alter", c->file->path, -1,
				"two columns would have the name '%.64s'",
				c->plan->schema.columns[twice].name);
	return 0;
}

/* Refuses tables whose cells have places that follow from the columns. */
static int check_table(const struct names *c)
{
	const struct sp__tablefile *f = c->file;
	const struct sp_table_alter *o = c->alter;

	if (f->pool)
		return sp__errf(c->err, SP_EUNSUP, "alter", f->path, -1,
				"the table is open with a pool: open it without one");
	if (f->layout.lanes && (o->drop || o->types || o->add))
		return sp__errf(c->err, SP_EUNSUP, "alter", f->path, -1,
				"its cells lie along tracks or on a sled, and only names of its "
				"columns can be changed: convert it to a contiguous table first");
	return 0;
}

int sp__table_alter(struct sp__tablefile *f, const struct sp_table_alter *alter,
		    struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp__alter_plan plan = { .set = alter->set, .nset = alter->nset };
	struct names c = { .file = f, .alter = alter, .plan = &plan, .err = err };
	int rc = check_table(&c);

	if (!rc)
		rc = make_plan(&c);
	if (!rc)
		rc = sp__tablealter(f, &plan, stats, err);
	sp__schema_free(&plan.schema);
	free(plan.from);
	return rc;
}
