/* SPDX-License-Identifier: MIT */
/*
 * Runs a sort of named inputs: in the order of the keys (files.c), or of the input (firsts.c).
 */
#include "base/err.h"
#include "sort/firsts.h"
#include "sort/sort.h"

static int check_keep_order(const struct sp_sort_opts *o, const struct sp_sort_io *io,
			    struct sp_errinfo *err)
{
	const char *with = !o->unique		     ? "without unique"
			   : o->count		     ? "with count"
			   : io->merge		     ? "for a merge"
			   : io->splitters	     ? "with parts"
			   : io->resume		     ? "with checkpoints"
			   : o->run.volume	     ? "with a volume"
			   : o->run.trace_path	     ? "with a trace"
			   : o->run.trace_tasks_path ? "with a log of tasks"
						     : NULL;

	return with ? sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
			       "the order of the input cannot be kept %s", with)
		    : 0;
}

/* Parses the condition of the records; *where: NULL without one. */
static int parse_where(const struct sp_sort_opts *o, const struct sp_sort_io *io,
		       struct sp__condition **where, struct sp_errinfo *err)
{
	const struct sp__condition_opts options = { .format = o->format,
						    .separator = sp__key_separator(o->keys),
						    .names = { io->names, io->nnames,
							       io->names_unknown } };
	const char *with = io->merge ? "a merge" : io->resume ? "checkpoints" : NULL;

	*where = NULL;
	if (!io->where)
		return 0;
	if (with)
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"records cannot have a condition with %s", with);
	return sp__condition_new(where, io->where, &options, err);
}

static int run_with(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
		    const struct sp__condition *where, struct sp_sort_stats *stats,
		    struct sp_errinfo *err)
{
	int rc;

	if (!io->keep_order || io->header_only)
		return sp__sort_files(opts, io, where, stats, err);
	rc = check_keep_order(opts, io, err);
	return rc ? rc : sp__firsts_run(opts, io, where, stats, err);
}

int sp_sort_run(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
		struct sp_sort_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp__condition *where;
	int rc;

	err = err ? err : &own;
	rc = parse_where(opts, io, &where, err);
	if (!rc)
		rc = run_with(opts, io, where, stats, err);
	sp__condition_free(where);
	return rc;
}
