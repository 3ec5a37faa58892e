/* SPDX-License-Identifier: MIT */
/*
 * Runs the commands of xtable(1) that change, index or describe a table, or get some of its
 * records, by their arguments.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/report.h>
#include <spindle/size.h>
#include <spindle/tablealter.h>
#include "base/err.h"
#include "base/mem.h"
#include "call/call.h"

struct verb_call {
	struct sp_call base; /* arguments */
	struct sp_table_opts open;
	struct sp_table *table;
	const char *const *operands;
	size_t noperands, at;
	const char *where, *by, *index, *from, *columns, *output;
	const char **set, **rename; /* with space for all arguments */
	size_t nset;
	struct sp_table_alter alter;
	struct sp_table_stats stats;
	struct sp__bytes records; /* of a get */
	struct sp__bytes absent;  /* the first key without a record */
	uint64_t nabsent;
	struct sp_errinfo *err;
};

enum verb_option { ADD = 512, DROP, RENAME, SET, TYPES, BY, INDEX, FROM, OUTPUT };

static const struct sp__option options[] = {
	{ "add", ADD, SP__OPT_ARG },
	{ "drop", DROP, SP__OPT_ARG },
	{ "rename", RENAME, SP__OPT_ARG },
	{ "types", TYPES, SP__OPT_ARG },
	{ "set", SET, SP__OPT_ARG },
	{ "by", BY, SP__OPT_ARG },
	{ "index", INDEX, SP__OPT_ARG },
	{ "from", FROM, SP__OPT_ARG },
	{ "output", OUTPUT, SP__OPT_ARG },
	{ "columns", SP__OPT_COLUMNS, SP__OPT_ARG },
	{ "where", SP__OPT_WHERE, SP__OPT_ARG },
	{ "buffer-size", 'S', SP__OPT_ARG },
	{ "parallel", SP__OPT_PARALLEL, SP__OPT_ARG },
	{ "wait", SP__OPT_WAIT, SP__OPT_MAYBE },
	{ 0 },
};

/* Returns the member of an option with one text; NULL: another option. */
static const char **member_of(struct verb_call *c, int code)
{
	switch (code) {
	case ADD:
		return &c->alter.add;
	case DROP:
		return &c->alter.drop;
	case TYPES:
		return &c->alter.types;
	case BY:
		return &c->by;
	case INDEX:
		return &c->index;
	case FROM:
		return &c->from;
	case OUTPUT:
		return &c->output;
	case SP__OPT_COLUMNS:
		return &c->columns;
	case SP__OPT_WHERE:
		return &c->where;
	default:
		return NULL;
	}
}

static int apply(void *to, int code, const char *arg, struct sp_errinfo *err)
{
	struct verb_call *c = to;
	const char **member = member_of(c, code);

	if (member)
		*member = arg;
	else if (code == SET)
		c->set[c->nset++] = arg;
	else if (code == RENAME)
		c->rename[c->alter.nrename++] = arg;
	else
		return sp__option_resource(&c->base, &c->open.run, code, arg, err);
	return 0;
}

static int next_key(void *call, const char **key, size_t *bytes)
{
	struct verb_call *c = call;

	if (c->at == c->noperands)
		return 0;
	*key = c->operands[c->at++];
	*bytes = strlen(*key);
	return 1;
}

static int keep_absent(void *call, const char *key, size_t bytes)
{
	struct verb_call *c = call;

	return c->nabsent++ ? 0 : sp__bytes_append(&c->absent, key, bytes, NULL);
}

static int keep_records(void *call, const char *data, size_t bytes)
{
	struct verb_call *c = call;

	return sp__bytes_append(&c->records, data, bytes, NULL);
}

static struct sp_table_choice choice_of(struct verb_call *c)
{
	return (struct sp_table_choice){ .where = c->where,
					 .by = c->by,
					 .index = c->index,
					 .keys = c->where ? NULL : next_key,
					 .keys_arg = c,
					 .absent = keep_absent,
					 .absent_arg = c };
}

/* Refuses arguments of which some would have no effect. */
static int check_choice(const struct verb_call *c)
{
	const int ways = (c->noperands != 0) + (c->where != NULL) + (c->from != NULL);

	if (ways > 1)
		return sp__invalid(c->err, NULL,
				   "keys, a condition and a file of values are given: records are "
				   "chosen by one of these");
	if (c->by && c->where)
		return sp__invalid(c->err, NULL,
				   "a column of keys is given, and a condition: records are "
				   "chosen by one of these");
	if (c->from && !c->by)
		return sp__invalid(c->err, NULL, "a file of values needs the column of keys, 'by'");
	if (c->from && c->nset)
		return sp__invalid(c->err, NULL,
				   "values are given, and a file of values: choose one of these");
	return c->index && !c->by
		       ? sp__invalid(c->err, NULL, "an index needs the column of keys, 'by'")
		       : 0;
}

static int update(struct verb_call *c)
{
	const struct sp_table_choice choice = choice_of(c);
	const int rc = check_choice(c);

	if (rc)
		return rc;
	if (c->from)
		return sp_table_update_from(c->table, c->by, c->index, c->from, keep_absent, c,
					    &c->stats, c->err);
	return sp_table_update(c->table, &choice, c->set, c->nset, &c->stats, c->err);
}

static int delete (struct verb_call *c)
{
	const struct sp_table_choice choice = choice_of(c);
	const int rc = check_choice(c);

	return rc ? rc : sp_table_delete(c->table, &choice, &c->stats, c->err);
}

static int append(struct verb_call *c)
{
	if (!c->noperands)
		return sp__invalid(c->err, NULL,
				   "no file is given whose records are to be appended");
	return sp_table_append(c->table, c->operands, c->noperands, &c->stats, c->err);
}

static int alter(struct verb_call *c)
{
	c->alter.rename = c->rename;
	c->alter.set = c->set;
	c->alter.nset = c->nset;
	return sp_table_alter(c->table, &c->alter, &c->stats, c->err);
}

static int build_index(struct verb_call *c)
{
	if (c->noperands != 1)
		return sp__errf(c->err, -EINVAL, "index", NULL, -1, "an index is of one column");
	return sp_table_index(c->table, c->operands[0], c->output, &c->stats, c->err);
}

static int get(struct verb_call *c)
{
	const struct sp_table_get get = { .by = c->by,
					  .index = c->index,
					  .columns = c->columns,
					  .format = SP_TABLE_JSON,
					  .keys = next_key,
					  .keys_arg = c,
					  .absent = keep_absent,
					  .absent_arg = c };
	int rc = check_choice(c);

	if (!rc)
		rc = sp_table_get(c->table, &get, keep_records, c, &c->stats, c->err);
	return rc ? rc : keep_records(c, "", 1);
}

static int describe(struct verb_call *c)
{
	(void)c;
	return 0;
}

/* A command, and whether it changes the table. */
static const struct verb {
	const char *name;
	bool write;
	int (*run)(struct verb_call *c);
} verbs[] = {
	{ "update", true, update },  { "delete", true, delete },      { "append", true, append },
	{ "alter", true, alter },    { "index", false, build_index }, { "get", false, get },
	{ "info", false, describe },
};

static const struct verb *verb_of(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* Makes the document: the records of a get, the facts about the table, or the report. */
static int make_document(struct verb_call *c, const struct verb *verb, char **document)
{
	struct sp_table_info info;
	int rc;

	if (verb->run == get) {
		*document = c->records.data;
		c->records = (struct sp__bytes){ 0 };
		return 0;
	}
	rc = sp_table_info(c->table, verb->run == describe, &info, c->err);
	if (rc)
		return rc;
	return sp__call_json(verb->run == describe
				     ? sp_report_table_info(&info)
				     : sp_report_table(verb->name, &info, NULL, &c->stats),
			     document, c->err);
}

static int run(struct verb_call *c, const struct verb *verb, const char *path, char **document)
{
	int rc, closed;

	if (!c->open.run.memory_bytes)
		c->open.run.memory_bytes = sp_memory_default();
	c->open.write = verb->write;
	rc = sp_table_open(&c->table, path, &c->open, c->err);
	if (rc)
		return rc;
	rc = verb->run(c);
	if (!rc)
		rc = make_document(c, verb, document);
	closed = sp_table_close(c->table);
	rc = rc ? rc : closed;
	if (!rc && c->nabsent)
		(void)sp__errf(c->err, -ENOENT, verb->name, path, -1, "there is no record '%.*s'",
			       (int)c->absent.bytes, c->absent.data);
	return rc ? rc : c->nabsent != 0;
}

int sp_call_table(const char *command, const char *table, const char *const *args, size_t nargs,
		  const char *const *operands, size_t noperands, char **document,
		  struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct verb_call c = { .open = SP_TABLE_OPTS_INIT,
			       .operands = operands,
			       .noperands = noperands,
			       .err = err ? err : &own };
	const struct verb *verb = verb_of(command);
	int rc = verb ? sp_report_check(c.err)
		      : sp__errf(c.err, -EINVAL, "call", NULL, -1, "no such command: '%.40s'",
				 command);

	*document = NULL;
	c.set = calloc(nargs + 1, sizeof(*c.set));
	c.rename = calloc(nargs + 1, sizeof(*c.rename));
	if (!rc && (!c.set || !c.rename))
		rc = sp__err(c.err, -ENOMEM, "allocate", NULL, -1);
	if (!rc)
		rc = sp__call_read(&c.base, options, apply, &c, args, nargs, c.err);
	if (!rc)
		rc = run(&c, verb, table, document);
	sp__bytes_release(&c.records, NULL);
	sp__bytes_release(&c.absent, NULL);
	sp__call_release(&c.base);
	free(c.set);
	free(c.rename);
	return rc;
}
