/* SPDX-License-Identifier: MIT */
/*
 * Sorts, merges or checks, and reports the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/report.h>
#include "signals.h"
#include "statsfile.h"
#include "xsort.h"

static const char *const phase_names[SP_SORT_PHASES] = { "forming runs", "merging" };

/* Runs the sort; with --debug, the library writes to the annotator's pipe. */
static int run(const struct settings *set, struct sp_sort_io *io, struct sp_sort_stats *stats,
	       struct sp_errinfo *err)
{
	int rc, annotated;

	if (!set->debug)
		return sp_sort_run(&set->opts, io, stats, err);
	io->output_fd = annotate_begin(set, set->opts.keys);
	rc = sp_sort_run(&set->opts, io, stats, err);
	annotated = annotate_end();
	if (rc == 0 && annotated) {
		err->code = rc = -annotated;
		err->op = "write";
	}
	return rc;
}

/* Sets the message about a directory that a signal or an error leaves behind. */
static void speak_of(const char *dir)
{
	static char *line; /* static, since a signal can come at any time */

	if (asprintf(&line, "%s: %s keeps the progress; the same command continues from there\n",
		     msg_program(), quote_file_always(dir)) >= 0)
		signals_say(line, dir);
}

static void speak_of_rest(const char *dir, const struct sp_errinfo *err)
{
	struct stat st;

	signals_say(NULL, NULL);
	if (err->code < 0 && err->code != SP_EUNSUP && stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
		msg("%s keeps the progress; the same command continues from there",
		    quote_file_always(dir));
}

static void finish_output(const struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	/* some file systems report a failed write only here */
	if (!set->output && close(STDOUT_FILENO) && errno != EBADF) {
		err.code = -errno;
		err.op = "write";
		failure(set, &err, 0);
	}
}

/* Predicts the time of a simulated machine, to be compared with the result. */
static void predict(const struct settings *set, struct sp_sort_plan *plan)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sort_opts expected = set->opts;

	sp_sort_expect(&expected, set->files, set->nfiles);
	/* Without memory for it the plan's own time stays. */
	(void)!sp_sort_predict(&expected, plan, &err);
}

/* Prints options without effect, which GNU sort does not print. */
static void name_no_effects(const struct settings *set, struct sp_sort_stats *stats)
{
	struct sp_no_effects *list = &stats->run.no_effects;

	if (set->opts.run.placement == SP_PLACE_SEMISEQ &&
	    stats->plan.placement != SP_PLACE_SEMISEQ)
		sp_no_effects_add(list, "--placement",
				  "runs of replacement selection have different lengths");
	if (set->common.seeded && !set->cut_into && !sp_order_has_letter(&set->order, 'R'))
		sp_no_effects_add(list, "--seed", "without -R nothing is random");
	if (!infer_any(set))
		sp_no_effects_add(list, "--infer-types",
				  "each key has letters of its own, or is not one whole column");
	if (strcmp(msg_program(), "sort") != 0)
		say_no_effects(list);
}

/* Returns the phase that writes the result to the terminal that shows the progress, or -1. */
static int result_phase(const struct settings *set)
{
	if (progress_apart(set->parts ? set->parts[0] : set->output))
		return -1;
	return set->keep_order ? SP_PHASE_RUN_FORMATION : SP_PHASE_MERGE;
}

int sort_run(struct settings *set)
{
	static struct sp_sort_stats stats;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct progress progress = {
		.phases = phase_names,
		/* a merge has only the merge phase */
		.weights = set->merge ? (const double[]){ 0, 1 } : (const double[]){ 1, 1 },
		.nphases = SP_SORT_PHASES,
		.result_phase = result_phase(set),
	};
	struct sp_sort_io io = {
		.inputs = set->files,
		.ninputs = set->nfiles,
		.merge = set->merge,
		.keep_order = set->keep_order,
		.where = set->where,
		.skip_invalid = set->skip_invalid,
		.names = set->columns.names,
		.nnames = set->columns.n,
		.names_unknown = set->columns.empty,
		.output = set->output,
		.output_fd = STDOUT_FILENO,
		.splitters = set->cuts,
		.parts = (const char *const *)set->parts,
		.header_records = set->order.header_records,
		.header_first = set->order.header_first,
		.count_name = set->count_name,
		.header_only = set->top && !set->opts.top,
		.ahead = set->header_taken,
		.resume = set->resume,
		.device_counters = set->common.stats || set->common.stats_text,
	};
	struct statsfile file;
	int rc;

	if (set->common.explain)
		return explain(set);
	space_check(set);
	if (set->common.stats_text)
		report_need();
	statsfile_open(&file, set->common.stats);
	if (common_options_progress(&set->common, progress.result_phase < 0)) {
		progress_begin(&progress);
		io.progress = progress_update;
		io.progress_arg = &progress;
	}
	if (set->resume)
		speak_of(set->resume);
	rc = run(set, &io, &stats, &err);
	progress_wipe();
	if (set->resume)
		speak_of_rest(set->resume, &err);
	if (stats.compress_error)
		msg_sys(stats.compress_error, "could not run compress program %s",
			quote_file_always(set->opts.compress_program));
	runplot_name(&set->common, &err);
	if (rc < 0)
		failure(set, &err, stats.input_bytes);
	finish_output(set);
	if (stats.skipped)
		msg("%llu invalid record%s left out, the first one: %s: %s",
		    (unsigned long long)stats.skipped, stats.skipped > 1 ? "s were" : " was",
		    quote_file(set->files[stats.skipped_input]), stats.skipped_first);
	name_no_effects(set, &stats);
	if (!set->merge && (set->common.stats || set->common.stats_text))
		predict(set, &stats.plan);
	if (set->common.stats || set->common.stats_text)
		statsfile_tell(&file, sp_report_sort(&set->opts, &io, &stats),
			       STATSFILE_SUMMARY | set->common.details);
	runplot_finish(&set->common, set->files, set->nfiles);
	return 0;
}

/* Runs -c or -C. */
int check_run(const struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_disorder where = { 0 };
	int rc;

	if (set->nfiles > 1)
		die("extra operand %s not allowed with -%c", quote_file_always(set->files[1]),
		    set->check);
	if (set->output) {
		const char letters[] = { set->check, 'o', '\0' };

		incompatible(letters);
	}
	rc = sp_sort_check(&set->opts, set->files[0], &set->header_taken, set->order.header_records,
			   &where, &err);
	if (rc < 0)
		failure(set, &err, 0);
	if (rc == 0)
		return 0;
	if (set->check == 'c') {
		msg_record(where.record, where.bytes,
			   set->opts.format.kind == SP_REC_LINE ? set->order.eol : '\n',
			   "%s:%llu: disorder: ", quote_plain(set->files[0]),
			   (unsigned long long)where.line);
	}
	free(where.record);
	return ferror(stderr) ? XSORT_FAILURE : XSORT_DISORDER;
}
