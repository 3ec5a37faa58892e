/* SPDX-License-Identifier: MIT */
/*
 * Groups files by the arguments of a call.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/flow.h>
#include <spindle/group.h>
#include <spindle/report.h>
#include "base/array.h"
#include "base/err.h"
#include "call/call.h"
#include "table/source.h"

struct sp_call_group {
	struct sp_call base; /* arguments, directories, and the format as an order */
	struct sp_group_opts opts;
	const char **keys, **by, **percent, **cumulative;
	int rows; /* format of the rows */
};

static const struct sp__option names[] = {
	{ "key", 'k', SP__OPT_ARG },
	{ "agg", 'a', SP__OPT_ARG },
	{ "largest", SP__OPT_LARGEST, SP__OPT_ARG },
	{ "pivot", SP__OPT_PIVOT, SP__OPT_ARG },
	{ "percent", SP__OPT_PERCENT, SP__OPT_MAYBE },
	{ "cumulative", SP__OPT_CUMULATIVE, SP__OPT_MAYBE },
	{ "having", SP__OPT_HAVING, SP__OPT_ARG },
	{ "order", SP__OPT_ORDER, SP__OPT_ARG },
	{ "format", SP__OPT_FORMAT, SP__OPT_ARG },
	{ "limit", SP__OPT_LIMIT, SP__OPT_ARG },
	{ "where", SP__OPT_WHERE, SP__OPT_ARG },
	{ "field-separator", 't', SP__OPT_ARG },
	{ "header", SP__OPT_HEADER, SP__OPT_NONE },
	{ "null", SP__OPT_NULL, SP__OPT_ARG },
	{ "json", SP__OPT_JSON, SP__OPT_MAYBE },
	{ "record-size", SP__OPT_RECORD_SIZE, SP__OPT_ARG },
	{ "strict", SP__OPT_STRICT, SP__OPT_NONE },
	{ "skip-invalid", SP__OPT_SKIP_INVALID, SP__OPT_NONE },
	SP__OPTIONS_COMMON,
	{ 0 },
};

static const struct sp_enum_value formats[] = { { "text", SP_CALL_ROWS_TEXT },
						{ "csv", SP_CALL_ROWS_CSV },
						{ "json", SP_CALL_ROWS_JSON },
						{ NULL, 0 } };

/* Adds a key: of the groups or, behind --largest, of the records in them. */
static int add_key(struct sp_call_group *g, const char *text, struct sp_errinfo *err)
{
	struct sp_group_opts *o = &g->opts;
	const bool by = o->largest;

	if (by ? !SP__ARRAY_GROW_BY_ONE(g->by, o->nby) : !SP__ARRAY_GROW_BY_ONE(g->keys, o->nkeys))
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	if (by)
		g->by[o->nby++] = text;
	else
		g->keys[o->nkeys++] = text;
	o->by = g->by;
	o->keys = g->keys;
	return 0;
}

/* Adds a column that depends on other rows; arg NULL: of the first count or sum. */
static int add_running(const char ***list, size_t *n, const char *arg, struct sp_errinfo *err)
{
	if (!SP__ARRAY_GROW_BY_ONE(*list, *n))
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	(*list)[(*n)++] = arg ? arg : "";
	return 0;
}

int sp_call_group_rows(struct sp_group_opts *o, bool csv, enum sp_call_rows rows,
		       struct sp_errinfo *err)
{
	const bool json = o->format.json, fixed = o->format.kind == SP_REC_FIXED;
	const bool whole = o->largest || o->split;
	/* Records without names of columns. */
	const char *own = json ? "--json" : fixed ? "--record-size" : NULL;

	if (o->format.strict && !json)
		return sp__invalid(err, NULL, "--strict needs --json");
	if (rows == SP_CALL_ROWS_CSV && !csv && !own)
		return sp__invalid(err, NULL, "--format=csv needs --csv, --json or --record-size");
	if (own && (o->header || rows == SP_CALL_ROWS_TEXT))
		return sp__invalid(err, NULL, "options '%s' and '%s' are incompatible",
				   o->header ? "--header" : "--format=text", own);
	if (own && rows && whole)
		return sp__invalid(err, NULL,
				   "whole records of %s are written as they are, without --format",
				   json ? "JSON" : "a fixed length");
	o->json = rows == SP_CALL_ROWS_JSON;
	if (own) {
		o->header = json ? rows == SP_CALL_ROWS_CSV : !o->json;
		o->json = !o->header && !whole;
	}
	return 0;
}

/* Sets an option that is a text.  Returns 1: another option. */
static int set_text(struct sp_group_opts *o, int code, const char *arg, struct sp_errinfo *err)
{
	const char **to = code == 'a'		   ? &o->aggregates
			  : code == SP__OPT_HAVING ? &o->having
			  : code == SP__OPT_ORDER  ? &o->order
			  : code == SP__OPT_PIVOT  ? &o->pivot
			  : code == SP__OPT_WHERE  ? &o->where
			  : code == SP__OPT_NULL   ? &o->null_text
						   : NULL;

	if (!to)
		return 1;
	if (*to && strcmp(*to, arg) != 0)
		return sp__invalid(err, arg, "the option is given twice, with another argument:");
	*to = arg;
	return 0;
}

/* Sets an option of formats and rows.  Returns 1: another option. */
static int set(struct sp_call_group *g, int code, const char *arg, struct sp_errinfo *err)
{
	int rc;

	switch (code) {
	case SP__OPT_LARGEST:
		return sp__option_number(&g->opts.largest, arg, 1, err);
	case SP__OPT_LIMIT:
		g->opts.limited = true;
		return sp__option_number(&g->opts.top, arg, 0, err);
	case SP__OPT_PERCENT:
		rc = add_running(&g->percent, &g->opts.npercent, arg, err);
		g->opts.percent = g->percent;
		return rc;
	case SP__OPT_CUMULATIVE:
		rc = add_running(&g->cumulative, &g->opts.ncumulative, arg, err);
		g->opts.cumulative = g->cumulative;
		return rc;
	case SP__OPT_FORMAT:
		return sp__option_choice(formats, "format", arg, &g->rows, err);
	case SP__OPT_HEADER:
		g->opts.header = true;
		return 0;
	case SP__OPT_SKIP_INVALID:
		g->opts.skip_invalid = true;
		return 0;
	default:
		return set_text(&g->opts, code, arg, err);
	}
}

static int apply(void *to, int code, const char *arg, struct sp_errinfo *err)
{
	struct sp_call_group *g = to;
	int rc;

	if (code == 'k')
		return add_key(g, arg, err);
	if (code == 't' && !strcmp(arg, "\\t"))
		arg = "\t";
	rc = set(g, code, arg, err);
	if (rc == 1)
		rc = sp__option_resource(&g->base, &g->opts.run, code, arg, err);
	return rc == 1 ? sp__call_order_option(&g->base.order, code, arg, err) : rc;
}

static int finish(struct sp_call_group *g, struct sp_errinfo *err)
{
	const struct sp_order *o = &g->base.order;
	const char *a, *b;
	int rc;

	if (sp_order_conflict(o, &a, &b))
		return sp__invalid(err, NULL, "options '%s' and '%s' are incompatible", a, b);
	g->opts.format = sp_order_format(o);
	g->opts.format.strict = o->strict;
	rc = sp_call_group_rows(&g->opts, o->csv, (enum sp_call_rows)g->rows, err);
	if (rc)
		return rc;
	g->opts.separator = o->separator;
	if (o->separator >= 0)
		g->opts.format.separator = (char)o->separator;
	if (o->csv && o->separator >= 0 && memchr("\"\r\n", o->separator, sizeof("\"\r\n")))
		return sp__invalid(err, NULL,
				   "quotes, line ends and NUL cannot separate the fields of CSV");
	if (!o->csv && o->separator == o->eol)
		return sp__invalid(err, NULL, "the separator ends a line");
	return sp__call_complete(&g->base, &g->opts.run, err);
}

int sp_call_group(struct sp_call_group **call, const char *const *args, size_t nargs,
		  struct sp_errinfo *err)
{
	static const struct sp_call_group init = { .base.order = SP_ORDER_INIT,
						   .opts = SP_GROUP_OPTS_INIT };
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	struct sp_call_group *g = malloc(sizeof(*g));
	int rc;

	*call = NULL;
	if (!g)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	*g = init;
	rc = sp__call_read(&g->base, names, apply, g, args, nargs, err);
	if (!rc) {
		rc = finish(g, &cause);
		rc = rc ? sp__call_wrong(err, &cause) : 0;
	}
	if (rc) {
		sp_call_group_free(g);
		return rc;
	}
	*call = g;
	return 0;
}

void sp_call_group_free(struct sp_call_group *call)
{
	if (!call)
		return;
	free(call->keys);
	free(call->by);
	free(call->percent);
	free(call->cumulative);
	sp_order_release(&call->base.order);
	sp__call_release(&call->base);
	free(call);
}

/* Returns the number of an input that is a table, or n.  Standard input can be a file. */
static size_t find_table(const char *const *inputs, size_t n)
{
	size_t i = 0;

	while (i < n && !sp__table_is(strcmp(inputs[i], "-") ? inputs[i] : "/dev/stdin"))
		i++;
	return i;
}

int sp_call_group_source(struct sp_group_opts *opts, struct sp_group_io *io, struct sp_errinfo *err)
{
	const size_t i = find_table(io->inputs, io->ninputs);

	if (i == io->ninputs || io->step == SP_GROUP_SECOND_STEP)
		return 0;
	if (!strcmp(io->inputs[i], "-"))
		return sp__errf(err, SP_EUNSUP, "open", "/dev/stdin", -1,
				"is a table, which is read by its name");
	if (io->ninputs > 1 || io->step)
		return sp__errf(err, SP_EUNSUP, "open", io->inputs[i], -1,
				io->step ? "is a table, which is not grouped in two steps: group "
					   "what 'xtable scan' prints"
					 : "is a table, which is grouped without other inputs: "
					   "group what 'xtable scan' prints");
	if (opts->separator >= 0 || opts->run.decompress || opts->format.json ||
	    opts->format.kind == SP_REC_FIXED ||
	    (opts->format.kind == SP_REC_LINE && !opts->format.eol))
		return sp__errf(err, SP_EUNSUP, "open", io->inputs[i], -1,
				"is a table, which needs no %s",
				opts->separator >= 0		    ? "separator of fields (-t)"
				: opts->format.json		    ? "--json"
				: opts->format.kind == SP_REC_FIXED ? "--record-size"
				: opts->run.decompress		    ? "--decompress"
								    : "end of lines (-z)");
	opts->format = (struct sp_recfmt){ .kind = SP_REC_CSV, .eol = '\n', .separator = ',' };
	opts->header = true;
	return sp__table_source(&io->source, io->inputs[i], &opts->run, err);
}

static int run(const struct sp_call_group *call, const struct sp_group_io *files, char **report,
	       struct sp_errinfo *err)
{
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	struct sp_errinfo *to = err ? err : &cause;
	struct sp_group_opts opts = call->opts;
	struct sp_group_io io = *files;
	struct sp_group_stats stats;
	int rc = report ? sp_report_check(to) : 0;

	if (!rc)
		rc = sp_call_group_source(&opts, &io, to);
	if (!rc)
		rc = sp_group_run(&opts, &io, &stats, to);
	sp_source_close(io.source);
	sp__call_quote(to);
	if (!rc && report)
		rc = sp__call_json(sp_report_group(&stats), report, to);
	return rc;
}

int sp_call_group_files(const struct sp_call_group *call, const char *const *inputs, size_t ninputs,
			const char *output, char **report, struct sp_errinfo *err)
{
	const struct sp_group_io io = { .inputs = inputs, .ninputs = ninputs, .output = output };

	return run(call, &io, report, err);
}

int sp_call_group_first(const struct sp_call_group *call, const char *const *inputs, size_t ninputs,
			uint64_t position, const char *output, char **report,
			struct sp_errinfo *err)
{
	const struct sp_group_io io = { .step = SP_GROUP_FIRST_STEP,
					.position = position,
					.inputs = inputs,
					.ninputs = ninputs,
					.output = output };

	return run(call, &io, report, err);
}

int sp_call_group_second(const struct sp_call_group *call, const struct sp_batch *header,
			 bool rows_only, const char *const *inputs, size_t ninputs,
			 const char *output, char **report, struct sp_errinfo *err)
{
	const struct sp_group_io io = { .step = SP_GROUP_SECOND_STEP,
					.header = *header,
					.rows_only = rows_only,
					.inputs = inputs,
					.ninputs = ninputs,
					.output = output };

	return run(call, &io, report, err);
}
