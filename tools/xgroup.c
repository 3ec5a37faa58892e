/* SPDX-License-Identifier: MIT */
/*
 * xgroup: groups records by key, and writes aggregates of each group.
 */
#include <inttypes.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>
#include <spindle/call.h>
#include <spindle/flow.h>
#include <spindle/report.h>
#include "outputs.h"
#include "signals.h"
#include "statsfile.h"
#include "tmpadvice.h"
#include "xgroup/xgroup.h"

static const char *const phase_names[SP_GROUP_PHASES] = { "reading", "combining" };

static bool is(const struct sp_errinfo *err, const char *op)
{
	return err->op && !strcmp(err->op, op);
}

static _Noreturn void failure(const struct settings *set, int rc, const struct sp_errinfo *err)
{
	const bool temporary = common_options_temporary(&set->common, err);

	if (err->code == -EINVAL)
		die_argument(err);
	if (is(err, "create"))
		die("cannot create temporary file in %s: %s%s", quote_file_always(err->path),
		    strerror(-err->code), tmpadvice(&set->opts.run, err->code, set->output, 0));
	if (is(err, "write") && !temporary && !err->text[0] && !set->opts.split)
		die_sys(-err->code, "write error");
	if ((err->code == -ENOSPC || err->code == -EDQUOT) && temporary)
		die("%s: %s%s", quote_file(err->path), strerror(-err->code),
		    tmpadvice(&set->opts.run, err->code, set->output, 0));
	die_of(rc, err);
}

static void finish_output(const struct settings *set)
{
	/* some file systems report a failed write only here */
	if (!set->output && close(STDOUT_FILENO) && errno != EBADF)
		die_sys(errno, "write error");
}

static void tell(const struct settings *set, const struct sp_group_stats *stats)
{
	if (stats->skipped)
		msg("%" PRIu64 " record%s left out: %s", stats->skipped,
		    stats->skipped == 1 ? "" : "s",
		    set->opts.format.json ? "not JSON, or a value is not a number or a date"
					  : "a value is not a number or a date");
	say_no_effects(&stats->run.no_effects);
}

/* Runs --explain: prints the plan as text or, with --stats, as JSON. */
static int explain(struct settings *set)
{
	struct sp_group_io io = { .inputs = set->files,
				  .ninputs = set->nfiles,
				  .output = set->output,
				  .output_fd = STDOUT_FILENO };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_group_plan plan;
	struct statsfile stats;
	int rc;

	report_need();
	statsfile_open(&stats, set->common.stats);
	rc = sp_call_group_source(&set->opts, &io, &err);
	if (!rc)
		rc = sp_group_plan(&set->opts, &io, &plan, &err);
	sp_source_close(io.source);
	if (rc < 0)
		failure(set, rc, &err);
	if (!set->common.stats)
		explain_plan(set, &plan);
	statsfile_tell(&stats, sp_report_group_plan(&plan), set->common.details);
	return 0;
}

static int run(struct settings *set)
{
	struct progress progress = { .phases = phase_names,
				     .weights = (const double[]){ 3, 1 },
				     .nphases = SP_GROUP_PHASES,
				     .result_phase =
					     progress_apart(set->output) ? -1 : SP_GROUP_COMBINE };
	struct sp_group_io io = { .inputs = set->files,
				  .ninputs = set->nfiles,
				  .output = set->output,
				  .output_fd = STDOUT_FILENO };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_group_stats stats = { 0 };
	struct statsfile file;
	int rc = common_options_resources(&set->common, set->files, set->nfiles, true, &err);

	if (rc < 0)
		failure(set, rc, &err);
	if (set->common.explain)
		return explain(set);
	if (set->common.stats_text)
		report_need();
	statsfile_open(&file, set->common.stats);
	if (common_options_progress(&set->common, progress.result_phase < 0)) {
		progress_begin(&progress);
		io.progress = progress_update;
		io.progress_arg = &progress;
	}
	rc = sp_call_group_source(&set->opts, &io, &err);
	if (!rc && set->format == ROWS_TABLE) {
		io.output = NULL;
		io.output_fd = totals_begin(set);
	}
	if (!rc)
		rc = sp_group_run(&set->opts, &io, &stats, &err);
	sp_source_close(io.source);
	progress_wipe();
	if (rc < 0 && stats.output_files)
		msg("%" PRIu64 " file%s of groups before the error %s complete", stats.output_files,
		    stats.output_files == 1 ? "" : "s", stats.output_files == 1 ? "is" : "are");
	runplot_name(&set->common, &err);
	if (rc < 0)
		failure(set, rc, &err);
	if (set->format == ROWS_TABLE)
		totals_load(set);
	finish_output(set);
	tell(set, &stats);
	if (set->common.stats || set->common.stats_text)
		statsfile_tell(&file, sp_report_group(&stats),
			       STATSFILE_SUMMARY | set->common.details);
	runplot_finish(&set->common, set->files, set->nfiles);
	return 0;
}

int main(int argc, char **argv)
{
	static struct settings set = {
		.common.run = &set.opts.run,
		.opts = SP_GROUP_OPTS_INIT,
	};

	msg_init(argv);
	setlocale(LC_ALL, "");
	(void)stdio_guard();
	signals_catch();
	options_parse(&set, argc, argv);
	return run(&set);
}
