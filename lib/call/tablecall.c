/* SPDX-License-Identifier: MIT */
/*
 * Loads tables from files, and gives and takes streams of record batches of Arrow, by arguments of
 * xtable(1).
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/size.h>
#include <spindle/tablearrow.h>
#include "base/err.h"
#include "call/call.h"

#define LISTS_MAX 64 /* maximum lists of columns that share cells */

struct table_call {
	struct sp_call base; /* arguments */
	struct sp_run_opts *run;
	struct sp_table_opts open;
	struct sp_table_query query;
	struct sp_table_load_opts load;
	const char *together[LISTS_MAX];
};

static const struct sp__option scan_options[] = {
	{ "columns", SP__OPT_COLUMNS, SP__OPT_ARG },
	{ "where", SP__OPT_WHERE, SP__OPT_ARG },
	{ "lo", SP__OPT_LO, SP__OPT_ARG },
	{ "hi", SP__OPT_HI, SP__OPT_ARG },
	{ "limit", SP__OPT_LIMIT, SP__OPT_ARG },
	{ "buffer-size", 'S', SP__OPT_ARG },
	{ "parallel", SP__OPT_PARALLEL, SP__OPT_ARG },
	{ "wait", SP__OPT_WAIT, SP__OPT_MAYBE },
	{ 0 },
};

/* Rows of all loads. */
#define LOAD_OPTIONS                                                                               \
	{ "layout", SP__OPT_LAYOUT, SP__OPT_ARG }, { "together", SP__OPT_TOGETHER, SP__OPT_ARG },  \
		{ "cell", SP__OPT_CELL, SP__OPT_ARG },                                             \
		{ "overwrite", SP__OPT_OVERWRITE, SP__OPT_NONE },                                  \
		{ "buffer-size", 'S', SP__OPT_ARG },                                               \
		{ "parallel", SP__OPT_PARALLEL, SP__OPT_ARG },                                     \
		{ "seed", SP__OPT_SEED, SP__OPT_ARG },                                             \
	{                                                                                          \
		"wait", SP__OPT_WAIT, SP__OPT_MAYBE                                                \
	}

static const struct sp__option stream_options[] = { LOAD_OPTIONS, { 0 } };

enum file_option { TYPES = 512, SCHEMA, EXACT };

static const struct sp__option file_options[] = {
	LOAD_OPTIONS,
	{ "csv", SP__OPT_CSV, SP__OPT_NONE },
	{ "json", SP__OPT_JSON, SP__OPT_NONE },
	{ "header", SP__OPT_HEADER, SP__OPT_NONE },
	{ "field-separator", 't', SP__OPT_ARG },
	{ "null", SP__OPT_NULL, SP__OPT_ARG },
	{ "types", TYPES, SP__OPT_ARG },
	{ "schema", SCHEMA, SP__OPT_ARG },
	{ "exact", EXACT, SP__OPT_NONE },
	{ "decompress", SP__OPT_DECOMPRESS, SP__OPT_MAYBE },
	{ "temporary-directory", 'T', SP__OPT_ARG },
	{ 0 },
};

static int set_layout(struct table_call *c, const char *text, struct sp_errinfo *err)
{
	int layout;

	if (sp__option_choice(sp_table_layout_values(), "layout", text, &layout, err))
		return -EINVAL;
	if (layout == SP_TABLE_AUTO)
		return sp__invalid(err, text, "invalid --layout argument");
	c->load.layout = (enum sp_table_layout)layout;
	return 0;
}

static int add_together(struct table_call *c, const char *text, struct sp_errinfo *err)
{
	if (c->load.ntogether == LISTS_MAX)
		return sp__invalid(err, text, "too many --together arguments");
	c->load.together = c->together;
	c->together[c->load.ntogether++] = text;
	return 0;
}

static int set_cell(struct table_call *c, const char *text, struct sp_errinfo *err)
{
	uint64_t n;

	if (sp_size_parse(text, 1, &n) || n > UINT32_MAX)
		return sp__invalid(err, text, "invalid --cell argument");
	c->load.cell_bytes = (uint32_t)n;
	return 0;
}

static int set_separator(struct table_call *c, const char *text, struct sp_errinfo *err)
{
	const char *byte = strcmp(text, "\\t") ? text : "\t";

	if (!byte[0] || byte[1])
		return sp__invalid(err, text, "a separator is one byte, not");
	c->load.separator = byte[0];
	return 0;
}

/* Applies an option about the records of files.  Returns 1: another option. */
static int apply_format(struct table_call *c, int code, const char *arg, struct sp_errinfo *err)
{
	struct sp_table_load_opts *o = &c->load;

	switch (code) {
	case SP__OPT_CSV:
	case SP__OPT_JSON:
		if (o->format)
			return sp__invalid(err, NULL,
					   "options '--csv' and '--json' are incompatible");
		o->format = code == SP__OPT_CSV ? SP_TABLE_CSV : SP_TABLE_JSON;
		return 0;
	case SP__OPT_HEADER:
		o->header = true;
		return 0;
	case 't':
		return set_separator(c, arg, err);
	case SP__OPT_NULL:
		o->null_text = arg;
		return 0;
	case TYPES:
		o->types = arg;
		return 0;
	case SCHEMA:
		o->schema = arg;
		return 0;
	case EXACT:
		o->exact = true;
		return 0;
	default:
		return 1;
	}
}

static int apply(void *to, int code, const char *arg, struct sp_errinfo *err)
{
	struct table_call *c = to;
	int rc = apply_format(c, code, arg, err);

	if (rc != 1)
		return rc;
	switch (code) {
	case SP__OPT_COLUMNS:
		c->query.columns = arg;
		return 0;
	case SP__OPT_WHERE:
		c->query.where = arg;
		return 0;
	case SP__OPT_LO:
		return sp__option_number(&c->query.lo, arg, 0, err);
	case SP__OPT_HI:
		return sp__option_number(&c->query.hi, arg, 0, err);
	case SP__OPT_LIMIT:
		return sp__option_number(&c->query.limit, arg, 0, err);
	case SP__OPT_LAYOUT:
		return set_layout(c, arg, err);
	case SP__OPT_TOGETHER:
		return add_together(c, arg, err);
	case SP__OPT_CELL:
		return set_cell(c, arg, err);
	case SP__OPT_OVERWRITE:
		c->load.run.overwrite = true;
		return 0;
	default:
		return sp__option_resource(&c->base, c->run, code, arg, err);
	}
}

/* Applies the arguments; c is zero, except for the defaults. */
static int read_args(struct table_call *c, const struct sp__option *table, const char *const *args,
		     size_t nargs, struct sp_errinfo *err)
{
	int rc = sp__call_read(&c->base, table, apply, c, args, nargs, err);

	if (!c->run->memory_bytes)
		c->run->memory_bytes = sp_memory_default();
	return rc;
}

/* Sets the last record of a scan from --hi, which is behind it. */
static void end_scan(struct sp_table_query *q)
{
	if (!q->hi)
		q->lo = 1; /* no record */
	else if (q->hi != UINT64_MAX)
		q->hi--;
}

int sp_call_table_arrow(const char *table, const char *const *args, size_t nargs,
			struct ArrowArrayStream *stream, struct sp_errinfo *err)
{
	struct table_call c = { .open = SP_TABLE_OPTS_INIT, .query = SP_TABLE_QUERY_INIT };
	int rc;

	c.run = &c.open.run;
	rc = read_args(&c, scan_options, args, nargs, err);
	end_scan(&c.query);
	if (!rc)
		rc = sp_table_arrow(table, &c.open, &c.query, stream, err);
	sp__call_release(&c.base);
	return rc;
}

int sp_call_table_load_arrow(const char *table, const char *const *args, size_t nargs,
			     struct ArrowArrayStream *stream, struct sp_errinfo *err)
{
	struct table_call c = { .load = SP_TABLE_LOAD_OPTS_INIT };
	int rc;

	c.run = &c.load.run;
	rc = read_args(&c, stream_options, args, nargs, err);
	if (!rc)
		rc = sp_table_load_arrow(table, stream, &c.load, NULL, err);
	sp__call_release(&c.base);
	return rc;
}

/* Refuses what lines of JSON do not have. */
static int check_json(const struct sp_table_load_opts *o, struct sp_errinfo *err)
{
	const char *other = o->header	   ? "--header"
			    : o->separator ? "-t"
			    : o->null_text ? "--null"
					   : NULL;

	if (o->format != SP_TABLE_JSON || !other)
		return 0;
	return sp__errf(err, -EINVAL, "load", NULL, -1,
			"options '%s' and '--json' are incompatible", other);
}

int sp_call_table_load(const char *table, const char *const *args, size_t nargs,
		       const char *const *inputs, size_t ninputs, struct sp_errinfo *err)
{
	struct table_call c = { .load = SP_TABLE_LOAD_OPTS_INIT };
	int rc;

	c.run = &c.load.run;
	rc = read_args(&c, file_options, args, nargs, err);
	if (!rc)
		rc = check_json(&c.load, err);
	if (!rc)
		rc = sp__call_complete(&c.base, c.run, err);
	if (!rc)
		rc = sp_table_load(table, inputs, ninputs, &c.load, NULL, err);
	sp__call_release(&c.base);
	return rc;
}
