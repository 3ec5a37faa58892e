/* SPDX-License-Identifier: MIT */
/*
 * Joins files or blocks by the arguments of a call.
 */
#include <stdlib.h>
#include <spindle/report.h>
#include "base/err.h"
#include "call/joincall.h"

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
		return sp__errf(err, -EINVAL, "join", NULL, -1, "columns of blocks go by number");
	return run(call->opts, &io, bytes, report, err);
}
