/* SPDX-License-Identifier: MIT */
/*
 * Joins the files, and prints errors as GNU join does.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <spindle/report.h>
#include "msg.h"
#include "statsfile.h"
#include "timeline.h"
#include "tmpadvice.h"
#include "xjoin.h"

/*
 * Prints the plan of --explain in words.
 */

#define MIB (1024.0 * 1024)

static void tell_partitions(const struct settings *set, const struct sp_join_plan *p)
{
	fprintf(stderr, "  File %u, %s, is read first", p->build,
		quote_file(set->inputs[p->build - 1]));
	if (!p->build_bytes) {
		fprintf(stderr, "; its size is unknown.\n"
				"  Data that does not fit into memory goes to temporary files.\n");
		return;
	}
	fprintf(stderr, "; its records need %.1f MiB of\n  the %.1f MiB of memory for them: ",
		(double)p->need_bytes / MIB, (double)p->memory_bytes / MIB);
	if (p->spilled)
		fprintf(stderr,
			"%u of %u partitions go to temporary files.\n"
			"  More memory (-S) reduces that.\n",
			p->spilled, p->spilled + p->resident);
	else
		fprintf(stderr, "no temporary files.\n");
}

void explain_plan(const struct settings *set, const struct sp_join_plan *p)
{
	fprintf(stderr, "Estimates, made before the join:\n  Algorithm: %s.\n",
		sp_join_algorithm_name(p->algorithm));
	if (p->algorithm != SP_JOIN_MERGE && p->build)
		tell_partitions(set, p);
	if (p->index_s > 0)
		fprintf(stderr, "  Predicted time: %.3g s with the index, %.3g s by a hash join.\n",
			p->index_s, p->hash_s);
	if (p->threads < p->max_threads)
		fprintf(stderr,
			"  Threads: at most %u of %u; each needs a part of the memory (-S) and of\n"
			"  the input.\n",
			p->threads, p->max_threads);
	if (p->ordered_by == SP_JOIN_BY_SORTING)
		fprintf(stderr, "  The result is sorted afterwards, for --ordered.\n");
	if (p->seconds > 0)
		fprintf(stderr, "  The join should take %.3g s of virtual time.\n", p->seconds);
}

/* Prints a line that is out of order as GNU join does: up to a NUL. */
static void tell_disorder(void *arg, unsigned file, uint64_t line, const char *data, size_t bytes)
{
	struct settings *set = arg;

	set->disorder = true;
	msg_record(data, strnlen(data, bytes), '\n',
		   "%s:%llu: is not sorted: ", quote_plain(set->inputs[file - 1]),
		   (unsigned long long)line);
}

/* Keeps the command for the message that follows. */
static void keep_command(void *arg, const char *const *args)
{
	struct settings *set = arg;
	size_t bytes;
	FILE *f = open_memstream(&set->index_command, &bytes);

	for (; f && *args; args++)
		fprintf(f, "%s%s", quote_file(*args), args[1] ? " " : "");
	if (!f || fclose(f))
		die("memory exhausted");
}

static bool is(const struct sp_errinfo *err, const char *op)
{
	return err->op && !strcmp(err->op, op);
}

/* Reports a write error; after disorder, GNU join prints no reason. */
static _Noreturn void output_failed(const struct settings *set, const struct sp_errinfo *err)
{
	if (!set->disorder)
		die_sys(-err->code, "write error");
	if (set->opts.order != SP_JOIN_CHECK)
		msg("input is not in sorted order");
	die("write error");
}

/* Reports an error that the library itself detected. */
static _Noreturn void refused(const struct settings *set, const struct sp_errinfo *err)
{
	const char *reason = err->text[0] ? err->text : sp_strerror(err->code);
	const char *name = err->path[0] ? quote_file(err->path) : "", *colon = *name ? ": " : "";

	if (err->where)
		die_argument(err);
	if (err->offset >= 0)
		die("%s: offset %lld: %s", name, err->offset, reason);
	if (set->index_command)
		die("%s%s%s; %s", name, colon, reason, set->index_command);
	die("%s%s%s", name, colon, reason);
}

/* Returns the end of a message about a folder of temporary data; "" under the name join. */
static const char *advice(const struct settings *set, const struct sp_errinfo *err)
{
	if (!common_options_temporary(&set->common, err) || !strcmp(msg_program(), "join"))
		return "";
	return tmpadvice(&set->opts.run, err->code, set->output, 0);
}

static _Noreturn void failure(const struct settings *set, const struct sp_errinfo *err)
{
	if (err->code == -ENOMEM && !err->text[0])
		die("memory exhausted");
	if (err->code <= SP_EFORMAT || err->text[0] || set->index_command)
		refused(set, err);
	if (is(err, "create"))
		die("cannot create temporary file in %s: %s%s", quote_file_always(err->path),
		    strerror(-err->code), advice(set, err));
	if (is(err, "read") && !common_options_temporary(&set->common, err))
		die_sys(-err->code, "read error");
	if (is(err, "write") && !common_options_temporary(&set->common, err))
		output_failed(set, err);
	if (err->code == -ENOSPC || err->code == -EDQUOT)
		die("%s: %s%s", quote_file(err->path), strerror(-err->code), advice(set, err));
	die_sys(-err->code, "%s", quote_file(err->path));
}

static void finish_output(void)
{
	/* some file systems report a failed write only here */
	if (close(STDOUT_FILENO) && errno != EBADF)
		die_sys(errno, "write error");
}

/* Runs --explain: prints the plan as text or, with --stats, as JSON. */
static int explain(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_join_plan plan;
	struct statsfile stats;

	report_need();
	statsfile_open(&stats, set->common.stats);
	sp_join_expect(&set->opts, set->inputs);
	if (sp_join_plan(&set->opts, &plan, &err) || sp_join_predict(&set->opts, &plan, &err))
		failure(set, &err);
	if (!set->common.stats)
		explain_plan(set, &plan);
	statsfile_tell(&stats, sp_report_join_plan(&plan), set->common.details);
	return 0;
}

static const char *const phase_names[SP_JOIN_PHASES] = { "reading the first file",
							 "reading the other", "joining",
							 "writing what is sorted" };

/* Computes the planned bytes of each phase; all 0: unknown. */
static void weigh_phases(const struct settings *set, double weights[SP_JOIN_PHASES])
{
	struct sp_join_opts expected = set->opts;
	struct sp_join_plan plan;
	double all;

	sp_join_expect(&expected, set->inputs);
	if (!expected.input_bytes[0] || !expected.input_bytes[1])
		return;
	weights[SP_JOIN_PHASE_PROBE] = 1;
	if (set->opts.algorithm == SP_JOIN_MERGE)
		return;
	all = (double)expected.input_bytes[0] + (double)expected.input_bytes[1];
	if (sp_join_plan(&expected, &plan, NULL) || plan.algorithm == SP_JOIN_MERGE)
		return;
	weights[SP_JOIN_PHASE_BUILD] = (double)expected.input_bytes[plan.build - 1];
	weights[SP_JOIN_PHASE_PROBE] = (double)expected.input_bytes[2 - plan.build];
	weights[SP_JOIN_PHASE_JOIN] = (1 - plan.resident_share) * all;
	weights[SP_JOIN_PHASE_ORDER] = plan.ordered_by == SP_JOIN_BY_SORTING ? all : 0;
}

static int run(const struct settings *set, const struct sp_join_io *io, struct sp_join_stats *stats)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	double weights[SP_JOIN_PHASES] = { 0 };
	struct progress progress = {
		.phases = phase_names,
		.weights = weights,
		.nphases = SP_JOIN_PHASES,
		.result_phase = progress_apart(set->output) ? -1 : SP_JOIN_PHASE_PROBE,
	};
	struct sp_join_io shown = *io;
	int rc;

	if (common_options_progress(&set->common, progress.result_phase < 0)) {
		weigh_phases(set, weights);
		progress_begin(&progress);
		shown.progress = progress_update;
		shown.progress_arg = &progress;
	}
	rc = sp_join_run(&set->opts, &shown, stats, &err);
	progress_wipe();
	runplot_name(&set->common, &err);
	if (rc < 0)
		failure(set, &err);
	return rc;
}

/* Finds options that the algorithm chosen by auto does not use. */
static void find_no_effects(const struct settings *set, const struct sp_join_stats *stats,
			    struct sp_no_effects *list)
{
	static const char reason[] = "the files were joined by %s";
	const struct sp_join_opts *o = &set->opts;
	const char *name = sp_join_algorithm_name(stats->algorithm);
	bool loops = stats->algorithm == SP_JOIN_INL || stats->algorithm == SP_JOIN_ASYNC_INL;

	if (o->algorithm != SP_JOIN_AUTO || stats->algorithm == SP_JOIN_AUTO)
		return;
	if (o->max_outstanding && stats->algorithm != SP_JOIN_ASYNC_INL)
		sp_no_effects_add(list, "--max-outstanding", reason, name);
	if (!loops && stats->algorithm != SP_JOIN_MERGE)
		return;
	if (o->build)
		sp_no_effects_add(list, "--build", reason, name);
	if (o->join_bytes)
		sp_no_effects_add(list, "--join-memory", reason, name);
	if (set->common.seeded)
		sp_no_effects_add(list, "--seed", reason, name);
}

static void name_no_effects(const struct settings *set, struct sp_join_stats *stats)
{
	struct sp_no_effects *list = &stats->run.no_effects;

	if (!set->opts.nthen)
		find_no_effects(set, stats, list);
	if (set->opts.run.parallel > 1 && stats->run.simulated)
		sp_no_effects_add(list, "--parallel", "a simulated machine has one thread");
	if (!set->form.plain)
		say_no_effects(list);
}

static int find_resources(struct settings *set, struct sp_errinfo *err)
{
	const char *inputs[SP_JOIN_FILES_MAX] = { set->inputs[0], set->inputs[1] };

	for (size_t i = 0; i < set->opts.nthen; i++)
		inputs[2 + i] = set->then[i].input;
	return common_options_resources(&set->common, inputs, 2 + set->opts.nthen, true, err);
}

int join_run(struct settings *set)
{
	struct sp_join_io io = {
		.inputs = { set->inputs[0], set->inputs[1] },
		.ahead = { set->ahead[0], set->ahead[1] },
		.output = set->output,
		.output_fd = STDOUT_FILENO,
		.disorder = tell_disorder,
		.disorder_arg = set,
		.index_wanted = keep_command,
		.index_wanted_arg = set,
	};
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_join_stats stats;
	struct timeline timeline;
	struct statsfile file;
	int rc;

	if (find_resources(set, &err) < 0)
		failure(set, &err);
	if (set->common.explain)
		return explain(set);
	if (set->common.stats_text)
		report_need();
	statsfile_open(&file, set->common.stats);
	timeline_open(&timeline, set->timeline);
	if (set->timeline) {
		io.row = timeline_row;
		io.row_arg = &timeline;
	}
	rc = run(set, &io, &stats);
	timeline_close(&timeline);
	if (rc > 0 && set->opts.order != SP_JOIN_CHECK)
		msg("input is not in sorted order");
	for (int i = 0; i < 2; i++)
		if (stats.blank_lines[i])
			msg("%s: %" PRIu64 " blank line%s skipped", quote_file(set->inputs[i]),
			    stats.blank_lines[i], stats.blank_lines[i] == 1 ? "" : "s");
	if (!set->output)
		finish_output();
	name_no_effects(set, &stats);
	if (set->common.stats || set->common.stats_text)
		statsfile_tell(&file, sp_report_join(&set->opts, &io, &stats),
			       STATSFILE_SUMMARY | set->common.details);
	runplot_finish(&set->common, set->inputs, 2);
	return rc;
}
