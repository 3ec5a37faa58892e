/* SPDX-License-Identifier: MIT */
/*
 * Gives and takes streams of record batches of Arrow by arguments of xtable(1).
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

static const struct sp__option load_options[] = {
	{ "layout", SP__OPT_LAYOUT, SP__OPT_ARG },
	{ "together", SP__OPT_TOGETHER, SP__OPT_ARG },
	{ "cell", SP__OPT_CELL, SP__OPT_ARG },
	{ "overwrite", SP__OPT_OVERWRITE, SP__OPT_NONE },
	{ "buffer-size", 'S', SP__OPT_ARG },
	{ "parallel", SP__OPT_PARALLEL, SP__OPT_ARG },
	{ "seed", SP__OPT_SEED, SP__OPT_ARG },
	{ "wait", SP__OPT_WAIT, SP__OPT_MAYBE },
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

static int apply(void *to, int code, const char *arg, struct sp_errinfo *err)
{
	struct table_call *c = to;

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
	rc = read_args(&c, load_options, args, nargs, err);
	if (!rc)
		rc = sp_table_load_arrow(table, stream, &c.load, NULL, err);
	sp__call_release(&c.base);
	return rc;
}
