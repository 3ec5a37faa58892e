/* SPDX-License-Identifier: MIT */
/*
 * Holds the arguments of a call, and calls the library with them.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <spindle/report.h>
#include <spindle/size.h>
#include <spindle/version.h>
#include "base/array.h"
#include "base/err.h"
#include "base/floats.h"
#include "call/call.h"

const char *sp_version(void)
{
	return SP_VERSION;
}

int sp__call_wrong(struct sp_errinfo *err, const struct sp_errinfo *cause)
{
	const char *reason = cause->text[0] ? cause->text : sp_strerror(cause->code);

	return sp__errf(err, cause->code, cause->op, NULL, -1, cause->where ? "%s '%.100s'" : "%s",
			reason, cause->where);
}

void sp__call_quote(struct sp_errinfo *err)
{
	size_t n = strlen(err->text);

	if (err->where)
		snprintf(err->text + n, sizeof(err->text) - n, " '%.100s'", err->where);
	err->where = NULL;
}

int sp__call_keep(struct sp_call *call, const char *const *args, size_t nargs,
		  struct sp_errinfo *err)
{
	call->args = calloc(nargs + 1, sizeof(*call->args));
	call->nargs = nargs;
	for (size_t i = 0; call->args && i < nargs; i++)
		if (!(call->args[i] = strdup(args[i])))
			return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	return call->args ? 0 : sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

int sp__call_read(struct sp_call *call, const struct sp__option *table, sp__option_apply *apply,
		  void *to, const char *const *args, size_t nargs, struct sp_errinfo *err)
{
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	int rc = sp__call_keep(call, args, nargs, &cause);

	if (!rc)
		rc = sp__options_each(call, table, apply, to, &cause);
	return rc ? sp__call_wrong(err, &cause) : 0;
}

char *sp__call_copy(struct sp_call *call, const char *text)
{
	char *copy = SP__ARRAY_GROW_BY_ONE(call->copies, call->ncopies) ? strdup(text) : NULL;

	if (copy)
		call->copies[call->ncopies++] = copy;
	return copy;
}

/* Adds an argument; NULL: out of memory. */
static int add_arg(struct sp_call *call, char *added, struct sp_errinfo *err)
{
	if (!added || !SP__ARRAY_RESIZE(call->args, call->nargs + 2)) {
		free(added);
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	call->args[call->nargs++] = added;
	call->args[call->nargs] = NULL;
	return 0;
}

int sp__call_add_arg(struct sp_call *call, const struct sp__option *table, int code,
		     const char *arg, struct sp_errinfo *err)
{
	bool apart;
	char *added = sp__option_spell(table, code, arg, &apart);
	int rc = add_arg(call, added, err);

	return rc || !apart ? rc : add_arg(call, strdup(arg), err);
}

static int add_tmpdir(struct sp_call *call, struct sp_run_opts *run, const char *dir,
		      struct sp_errinfo *err)
{
	if (!SP__ARRAY_GROW_BY_ONE(call->tmpdirs, run->ntmpdirs))
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	call->tmpdirs[run->ntmpdirs++] = dir;
	run->tmpdirs = call->tmpdirs;
	return 0;
}

int sp__option_number(uint64_t *to, const char *arg, uint64_t least, struct sp_errinfo *err)
{
	char *end;

	errno = 0;
	*to = strtoull(arg, &end, 10);
	if (arg[0] < '0' || arg[0] > '9' || *end || errno || *to < least)
		return sp__invalid(err, arg, "invalid number");
	return 0;
}

/* level: NULL if the option has no levels. */
static int set_format(enum sp_packed *to, unsigned *level, const char *arg, struct sp_errinfo *err)
{
	enum sp_packed format = SP_PACKED_AUTO;
	struct sp_errinfo wrong = SP_ERRINFO_INIT;
	const char *missing;
	unsigned given = 0;
	int rc = arg ? sp_packed_parse_level(arg, &format, &given, &wrong) : 0;

	if (rc == SP_ESYNTAX)
		return sp__invalid(err, arg, "%s", wrong.text);
	if (rc || (given && !level))
		return sp__invalid(err, arg, "invalid format of compressed files");
	missing = sp_packed_missing(format);
	if (missing)
		return sp__invalid(err, arg, "%s", missing);
	*to = format;
	if (level)
		*level = given;
	return 0;
}

/* Sets a time to wait, in seconds; without a number, without limit. */
static int set_wait(uint64_t *ns, const char *arg, struct sp_errinfo *err)
{
	double s = 0;

	*ns = UINT64_MAX;
	if (!arg)
		return 0;
	if (sp__read_f64(arg, strlen(arg), &s) || !(s >= 0))
		return sp__invalid(err, arg, "invalid --wait argument");
	if (s < 1e9)
		*ns = (uint64_t)(s * 1e9);
	return 0;
}

int sp__option_resource(struct sp_call *call, struct sp_run_opts *run, int code, const char *arg,
			struct sp_errinfo *err)
{
	uint64_t n = 0;
	int rc = 0;

	switch (code) {
	case 'S':
		if (sp_size_parse(arg, 1024, &n))
			return sp__invalid(err, arg, "invalid -S argument");
		run->memory_bytes = n ? n : 1;
		return 0;
	case 'T':
		return add_tmpdir(call, run, arg, err);
	case SP__OPT_SEED:
		return sp__option_number(&run->seed, arg, 0, err);
	case SP__OPT_PARALLEL:
		rc = sp__option_number(&n, arg, 1, err);
		run->parallel = n < UINT_MAX ? (unsigned)n : UINT_MAX;
		return rc;
	case SP__OPT_WAIT:
		return set_wait(&run->wait_ns, arg, err);
	case SP__OPT_DECOMPRESS:
		return set_format(&run->decompress, NULL, arg, err);
	case SP__OPT_COMPRESS_OUTPUT:
		return set_format(&run->compress_output, &run->compress_level, arg, err);
	default:
		return 1;
	}
}

int sp__call_complete(struct sp_call *call, struct sp_run_opts *run, struct sp_errinfo *err)
{
	const char *dir = getenv("TMPDIR");

	if (!run->memory_bytes)
		run->memory_bytes = sp_memory_default();
	return run->ntmpdirs ? 0 : add_tmpdir(call, run, dir && *dir ? dir : "/tmp", err);
}

int sp_call_sort(struct sp_call **call, const char *const *args, size_t nargs,
		 struct sp_errinfo *err)
{
	static const struct sp_call init = { .order = SP_ORDER_INIT, .sort = SP_SORT_OPTS_INIT };
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	struct sp_call *c = malloc(sizeof(*c));
	int rc;

	*call = NULL;
	if (!c)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	*c = init;
	rc = sp__call_keep(c, args, nargs, &cause);
	if (!rc)
		rc = sp__call_sort_args(c, &cause);
	if (!rc)
		rc = sp__call_complete(c, &c->sort.run, &cause);
	if (rc < 0) {
		rc = sp__call_wrong(err, &cause);
		sp_call_free(c);
		return rc;
	}
	*call = c;
	return 0;
}

void sp__call_release(struct sp_call *call)
{
	for (char **w = call->args; w && *w; w++)
		free(*w);
	for (size_t i = 0; i < call->ncopies; i++)
		free(call->copies[i]);
	free(call->args);
	free(call->copies);
	free(call->tmpdirs);
}

void sp_call_free(struct sp_call *call)
{
	if (!call)
		return;
	sp_keyset_free(call->keys);
	sp_order_release(&call->order);
	sp__call_release(call);
	free(call);
}

const struct sp_sort_opts *sp_call_sort_opts(const struct sp_call *call)
{
	return call->named || call->keep_order || call->where || call->skip_invalid ||
			       call->limited || call->resume
		       ? NULL
		       : &call->sort;
}

const char *const *sp_call_args(const struct sp_call *call)
{
	return (const char *const *)call->args;
}

void sp_call_info(const struct sp_call *call, struct sp_call_info *info)
{
	const struct sp_order *o = &call->order;

	*info = (struct sp_call_info){
		.kind = call->sort.format.kind,
		.eol = call->sort.format.eol,
		.fixed_bytes = call->sort.format.fixed_bytes,
		.header_records = o->header_records,
		.memory_bytes = call->sort.run.memory_bytes,
		.header_first = o->header_first,
		.unique = o->unique,
		.count = call->sort.count,
		.random = sp_order_has_letter(o, 'R'),
		.stable = o->stable || o->unique,
		.named = call->named,
		.format = call->sort.format,
	};
}

int sp__call_json(struct sp_report *report, char **text, struct sp_errinfo *err)
{
	size_t bytes;
	FILE *f = report ? open_memstream(text, &bytes) : NULL;
	int bad = !f || sp_report_json(report, f);

	if (f)
		bad |= fclose(f) != 0;
	sp_report_free(report);
	return bad ? sp__err(err, -ENOMEM, "report", NULL, -1) : 0;
}

/* Returns the first input that has a header, and is not empty unless all are. */
static const char *headed_input(const struct sp_sort_io *io)
{
	struct stat st;
	size_t i = 0;

	while (!io->header_first && i + 1 < io->ninputs && !stat(io->inputs[i], &st) && !st.st_size)
		i++;
	return io->ninputs ? io->inputs[i] : "-";
}

/*
 * Returns the call itself or, if it has names, *made: a call with their numbers, for the caller to
 * free.  Sets the header of io, whose inputs are set.
 */
static const struct sp_call *numbered(const struct sp_call *call, struct sp_sort_io *io,
				      struct sp_call **made, struct sp_errinfo *err)
{
	*made = NULL;
	io->header_records = call->order.header_records;
	io->header_first = call->order.header_first;
	if (!call->named)
		return call;
	if (sp_call_numbered(made, call, headed_input(io), err))
		return NULL;
	return *made;
}

/* Reads the names of the columns, which the condition can have. */
static int name_columns(const struct sp_call *call, struct sp_columns *c, struct sp_sort_io *io,
			struct sp_errinfo *err)
{
	int rc;

	io->where = call->where;
	io->skip_invalid = call->skip_invalid;
	if (!call->where || !call->order.header_records)
		return 0;
	*c = sp__call_columns(call, headed_input(io));
	rc = sp_columns_read(c, err);
	if (!rc && c->empty && io->header_first && io->ninputs > 1)
		rc = sp__errf(err, -EINVAL, "read", c->input, -1,
			      "there is no header to name columns of --where");
	io->names = c->names;
	io->nnames = c->n;
	io->names_unknown = c->empty;
	return rc;
}

int sp_call_sort_files(const struct sp_call *call, const char *const *inputs, size_t ninputs,
		       bool merge, const char *output, char **report, struct sp_errinfo *err)
{
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	struct sp_errinfo *to = err ? err : &cause;
	struct sp_sort_io io = {
		.inputs = inputs,
		.ninputs = ninputs,
		.merge = merge,
		.output = output,
		.count_name = call->count_name,
		.keep_order = call->keep_order,
		.header_only = call->limited && !call->sort.top,
		.resume = call->resume,
		.device_counters = report != NULL,
	};
	struct sp_columns columns = { 0 };
	struct sp_call *made;
	const struct sp_call *c = numbered(call, &io, &made, to);
	struct sp_sort_stats stats;
	int rc;

	if (!c)
		return to->code;
	rc = name_columns(call, &columns, &io, to);
	if (!rc && report)
		rc = sp_report_check(to);
	if (!rc)
		rc = sp_sort_run(&c->sort, &io, &stats, to);
	sp__call_quote(to);
	if (!rc && report)
		rc = sp__call_json(sp_report_sort(&c->sort, &io, &stats), report, to);
	sp_columns_close(&columns);
	sp_call_free(made);
	return rc;
}

void sp_call_report_free(char *report)
{
	free(report);
}

/* Returns why a call cannot be divided into parts; or NULL. */
static const char *without_parts(const struct sp_call *call)
{
	if (call->keep_order)
		return "the order of the input cannot be kept with parts";
	if (call->where)
		return "records cannot have a condition with parts";
	if (call->skip_invalid)
		return "invalid records cannot be left out with parts";
	if (call->limited)
		return "parts have no limit";
	return call->resume ? "parts have no checkpoints" : NULL;
}

int sp_call_sample(struct sp_splitters **splitters, const struct sp_call *call,
		   const char *const *inputs, size_t ninputs, size_t parts, struct sp_errinfo *err)
{
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	struct sp_errinfo *to = err ? err : &cause;
	struct sp_sort_io io = { .inputs = inputs, .ninputs = ninputs };
	const char *reason = without_parts(call);
	struct sp_call *made;
	const struct sp_call *c;
	int rc;

	if (reason)
		return sp__errf(to, SP_EUNSUP, "plan", NULL, -1, "%s", reason);
	c = numbered(call, &io, &made, to);
	if (!c)
		return to->code;
	rc = sp_splitters_sample(splitters, &c->sort, &io, parts, to);
	sp_call_free(made);
	return rc;
}
