/* SPDX-License-Identifier: MIT */
/*
 * Joins files or blocks by the arguments of a call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/report.h>
#include "base/err.h"
#include "call/form.h"
#include "call/joincall.h"

/*
 * Reads the arguments of xjoin(1) that determine formats, keys and the result.
 */

static const struct sp__option names[] = {
	{ NULL, '1', SP__OPT_ARG },
	{ NULL, '2', SP__OPT_ARG },
	{ NULL, 'j', SP__OPT_ARG },
	{ NULL, 't', SP__OPT_ARG },
	{ NULL, 'a', SP__OPT_ARG },
	{ NULL, 'v', SP__OPT_ARG },
	{ NULL, 'e', SP__OPT_ARG },
	{ NULL, 'o', SP__OPT_ARG },
	{ "ignore-case", 'i', SP__OPT_NONE },
	{ "header", SP__OPT_HEADER, SP__OPT_NONE },
	{ "type", SP__OPT_TYPE, SP__OPT_ARG },
	{ "suffixes", SP__OPT_SUFFIXES, SP__OPT_MAYBE },
	{ "json", SP__OPT_JSON, SP__OPT_NONE },
	{ "strict", SP__OPT_STRICT, SP__OPT_NONE },
	{ "nested", SP__OPT_NESTED, SP__OPT_MAYBE },
	{ "format", SP__OPT_FORMAT, SP__OPT_ARG },
	{ "record-size", SP__OPT_RECORD_SIZE, SP__OPT_ARG },
	{ "bkey", SP__OPT_BKEY, SP__OPT_ARG },
	{ "seed", SP__OPT_SEED, SP__OPT_ARG },
	SP__OPTIONS_COMMON,
	{ 0 },
};

static int set_type(struct sp_join_form *form, const char *text, struct sp_errinfo *err)
{
	int type;
	int rc = sp__option_choice(sp_join_type_values(), "type", text, &type, err);

	if (!rc)
		sp_join_form_set_type(form, type);
	return rc;
}

static int set_rows(struct sp_join_opts *o, const char *text, struct sp_errinfo *err)
{
	static const struct sp_enum_value formats[] = { { "csv", SP_JOIN_ROWS_CSV },
							{ "json", SP_JOIN_ROWS_JSON },
							{ NULL, 0 } };
	int rows = 0;
	int rc = sp__option_choice(formats, "format", text, &rows, err);

	o->rows = (enum sp_join_rows)rows;
	return rc;
}

/* Sets the suffixes of both files.  They split a copy that the call owns. */
static int set_suffixes(struct sp_call_join *j, const char *text, struct sp_errinfo *err)
{
	char *copy = sp__call_copy(&j->base, text ? text : "_1,_2");
	char *comma = copy ? strchr(copy, ',') : NULL;

	if (!copy)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	if (!comma || strchr(comma + 1, ','))
		return sp__invalid(err, text,
				   "--suffixes needs two texts separated by a comma, not");
	*comma = '\0';
	j->suffixes[0] = copy;
	j->suffixes[1] = comma + 1;
	j->opts.suffixes = j->suffixes;
	return 0;
}

/* Adds columns.  They split a copy that the call owns. */
static int add_columns(struct sp_call_join *j, const char *text, struct sp_errinfo *err)
{
	char *copy;

	if (!strcmp(text, "auto")) {
		j->opts.auto_columns = true;
		return 0;
	}
	copy = sp__call_copy(&j->base, text);
	if (!copy)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	return sp_join_form_add_columns(&j->form, copy, err);
}

static int set_keys(struct sp_join_form *form, int code, const char *text, struct sp_errinfo *err)
{
	int rc = code == '2' ? 0 : sp_join_form_set_key(form, 0, text, err);

	return rc || code == '1' ? rc : sp_join_form_set_key(form, 1, text, err);
}

/* Sets an option that is a flag.  False: it is not a flag. */
static bool set_flag(struct sp_join_opts *o, int code)
{
	switch (code) {
	case 'i':
		o->ignore_case = true;
		return true;
	case 'z':
		o->eol = '\0';
		return true;
	case SP__OPT_CSV:
		o->csv = true;
		return true;
	case SP__OPT_HEADER:
		o->header = true;
		return true;
	case SP__OPT_JSON:
		o->json = true;
		return true;
	case SP__OPT_STRICT:
		o->strict = true;
		return true;
	default:
		return false;
	}
}

static int apply(void *to, int code, const char *arg, struct sp_errinfo *err)
{
	struct sp_call_join *j = to;
	struct sp_join_form *form = &j->form;

	if (set_flag(&j->opts, code))
		return 0;
	switch (code) {
	case '1':
	case '2':
	case 'j':
		return set_keys(form, code, arg, err);
	case 't':
		return sp_join_form_set_separator(form, arg, err);
	case 'a':
	case 'v':
		return sp_join_form_set_unpaired(form, arg, code == 'a', err);
	case 'e':
		return sp_join_form_set_filler(form, arg, err);
	case 'o':
		return add_columns(j, arg, err);
	case SP__OPT_TYPE:
		return set_type(form, arg, err);
	case SP__OPT_SUFFIXES:
		return set_suffixes(j, arg, err);
	case SP__OPT_FORMAT:
		return set_rows(&j->opts, arg, err);
	case SP__OPT_NESTED:
		return sp_join_form_set_nested(form, arg, err);
	case SP__OPT_RECORD_SIZE:
		return sp_join_form_set_sizes(form, arg, err);
	case SP__OPT_BKEY:
		return sp_join_form_add_bkey(form, arg, err);
	default:
		return sp__option_resource(&j->base, &j->opts.run, code, arg, err);
	}
}

static int check_conflict(const struct sp_join_form *form, struct sp_errinfo *err)
{
	const char *a, *b;

	if (!sp_join_form_conflict(form, &a, &b))
		return 0;
	return sp__invalid(err, NULL, "options '%s' and '%s' are incompatible", a, b);
}

static int finish(struct sp_join_form *form, struct sp_errinfo *err)
{
	int rc = form->opts->json ? check_conflict(form, err) : 0;

	if (!rc)
		rc = sp_join_form_keys(form, err);
	if (!rc)
		rc = check_conflict(form, err);
	if (rc)
		return rc;
	return sp_join_form_finish(form, err);
}

int sp__call_join_args(struct sp_call_join *join, struct sp_errinfo *err)
{
	int rc = sp__options_each(&join->base, names, apply, join, err);

	if (rc < 0)
		return rc;
	if (join->opts.suffixes && !join->opts.header)
		return sp__invalid(err, NULL, "--suffixes needs --header");
	if (join->opts.json || !sp_join_form_name(&join->form))
		return finish(&join->form, err);
	return sp__form_check_names(&join->form, err);
}

/* Adds -1 and -2 with the present lists. */
static int add_keys(struct sp_call *args, const struct sp_join_form *form, struct sp_errinfo *err)
{
	int rc = 0;

	for (int i = 0; !rc && i < 2; i++)
		if (form->key[i].n)
			rc = sp__call_add_arg(args, names, '1' + i, form->key[i].text, err);
	return rc;
}

/* Adds -o with numbers. */
static int add_list(struct sp_call *args, const struct sp_join_form *form, struct sp_errinfo *err)
{
	const struct sp_join_opts *o = form->opts;
	size_t bytes;
	char *list = NULL;
	FILE *f = o->ncolumns ? open_memstream(&list, &bytes) : NULL;
	int rc;

	if (!o->ncolumns)
		return 0;
	for (size_t i = 0; f && i < o->ncolumns; i++) {
		const struct sp_join_column *c = &form->columns[i];

		fprintf(f, "%s%u", i ? "," : "", c->file);
		if (c->file)
			fprintf(f, ".%zu", c->field + 1);
	}
	rc = !f || fclose(f) ? sp__err(err, -ENOMEM, "allocate", NULL, -1)
			     : sp__call_add_arg(args, names, 'o', list, err);
	free(list);
	return rc;
}

/* Adds options other than keys and columns; these follow, as the form has them. */
static int add_other(void *to, int code, const char *arg, struct sp_errinfo *err)
{
	if (code == '1' || code == '2' || code == 'j' || (code == 'o' && strcmp(arg, "auto") != 0))
		return 0;
	return sp__call_add_arg(to, names, code, arg, err);
}

int sp__call_join_numbered(const struct sp_call_join *join, const struct sp_join_form *form,
			   struct sp_call *args, struct sp_errinfo *err)
{
	int rc = sp__options_each(&join->base, names, add_other, args, err);

	if (!rc)
		rc = add_keys(args, form, err);
	return rc ? rc : add_list(args, form, err);
}

int sp_call_join(struct sp_call_join **call, const char *const *args, size_t nargs,
		 struct sp_errinfo *err)
{
	static const struct sp_call_join init = { .opts = SP_JOIN_OPTS_INIT };
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	struct sp_call_join *c = malloc(sizeof(*c));
	int rc;

	*call = NULL;
	if (!c)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	*c = init;
	c->opts.algorithm = SP_JOIN_AUTO;
	c->form.opts = &c->opts;
	c->form.only_regular = true;
	rc = sp__call_keep(&c->base, args, nargs, &cause);
	if (!rc)
		rc = sp__call_join_args(c, &cause);
	if (!rc)
		rc = sp__call_complete(&c->base, &c->opts.run, &cause);
	if (rc < 0) {
		rc = sp__call_wrong(err, &cause);
		sp_call_join_free(c);
		return rc;
	}
	*call = c;
	return 0;
}

void sp_call_join_free(struct sp_call_join *call)
{
	if (!call)
		return;
	sp_join_form_release(&call->form);
	sp__call_release(&call->base);
	free(call);
}

const struct sp_join_opts *sp_call_join_opts(const struct sp_call_join *call)
{
	return sp_call_join_named(call) ? NULL : &call->opts;
}

const char *const *sp_call_join_args(const struct sp_call_join *call)
{
	return (const char *const *)call->base.args;
}

bool sp_call_join_named(const struct sp_call_join *call)
{
	return sp_join_form_name(&call->form);
}

bool sp_call_join_divides(const struct sp_call_join *call, int side)
{
	return !call->opts.unpaired[!side] && !(call->opts.semi && side);
}

/* Replaces names by numbers in a copy of the call, and makes the arguments for them. */
static int number_args(struct sp_call_join *copy, const char *left, const char *right,
		       struct sp_call *args, struct sp_errinfo *err)
{
	const char *const inputs[2] = { left, right };
	struct sp_batch none[2] = { 0 }; /* regular files need no batches */
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	int rc = sp_join_form_resolve(&copy->form, inputs, NULL, none, &cause);

	if (rc && cause.where)
		return sp__call_wrong(err, &cause);
	if (rc)
		return sp__errf(err, cause.code, cause.op, cause.path[0] ? cause.path : NULL,
				cause.offset, "%s", cause.text);
	return sp__call_join_numbered(copy, &copy->form, args, err);
}

int sp_call_join_numbered(struct sp_call_join **made, const struct sp_call_join *call,
			  const char *left, const char *right, struct sp_errinfo *err)
{
	struct sp_call args = { 0 };
	struct sp_call_join *copy = NULL;
	int rc;

	*made = NULL;
	/* A default key has no argument; it can be incompatible with other options. */
	if (!sp_call_join_named(call))
		return sp_call_join(made, sp_call_join_args(call), call->base.nargs, err);
	rc = sp_call_join(&copy, sp_call_join_args(call), call->base.nargs, err);
	if (!rc)
		rc = number_args(copy, left, right, &args, err);
	if (!rc)
		rc = sp_call_join(made, (const char *const *)args.args, args.nargs, err);
	sp__call_release(&args);
	sp_call_join_free(copy);
	return rc;
}

static int run(struct sp_join_opts opts, const struct sp_join_io *io, const uint64_t bytes[2],
	       char **report, struct sp_errinfo *err)
{
	struct sp_join_stats stats;
	int rc = report ? sp_report_check(err) : 0;

	if (rc)
		return rc;
	for (int i = 0; bytes && i < 2; i++)
		opts.input_bytes[i] = bytes[i];
	if (!io->next)
		sp_join_expect(&opts, io->inputs);
	rc = sp_join_run(&opts, io, &stats, err);
	if (rc > 0)
		rc = sp__errf(err, SP_EFORMAT, "join", NULL, -1, "an input is not sorted");
	if (!rc && report)
		rc = sp__call_json(sp_report_join(&opts, io, &stats), report, err);
	return rc;
}

int sp_call_join_files(const struct sp_call_join *call, const char *left, const char *right,
		       const uint64_t bytes[2], const char *output, char **report,
		       struct sp_errinfo *err)
{
	const struct sp_join_io io = { .inputs = { left, right }, .output = output };
	struct sp_call_join *made = NULL;
	int rc = 0;

	if (sp_call_join_named(call))
		rc = sp_call_join_numbered(&made, call, left, right, err);
	if (!rc)
		rc = run(made ? made->opts : call->opts, &io, bytes, report, err);
	sp_call_join_free(made);
	return rc;
}

int sp_call_join_blocks(const struct sp_call_join *call,
			int (*next)(void *arg, int side, struct sp_batch *batch), void *arg,
			const uint64_t bytes[2], const char *output, char **report,
			struct sp_errinfo *err)
{
	const struct sp_join_io io = {
		.inputs = { "file 1", "file 2" }, .next = next, .next_arg = arg, .output = output
	};

	if (sp_call_join_named(call))
		return sp__errf(err, -EINVAL, "join", NULL, -1,
				"columns of blocks have numbers, not names");
	return run(call->opts, &io, bytes, report, err);
}
