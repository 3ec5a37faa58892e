/* SPDX-License-Identifier: MIT */
/*
 * Writes outputs, errors, and the state of a measurement on the terminal.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "outputs.h"
#include "aiobench.h"

void check_outputs(const struct config *o)
{
	struct sp_output_set set = { 0 };

	outputs_add_stdout(&set, false);
	outputs_add_stats(&set, o->stats);
	outputs_add(&set, o->status, "--status", false);
	outputs_add(&set, o->bench.trace, "--trace", false);
	outputs_add(&set, o->plot, "--plot", false);
	outputs_check_input(&set, o->job_path);
	for (size_t i = 0; i < o->bench.ntargets; i++)
		outputs_check_volume(&set, o->bench.targets[i]);
	if (o->job && o->bench.targets != o->targets)
		fiojob_check_inputs(&set, o->job);
}

void write_report(struct config *o, struct sp_report *report, struct sp_preflight *before,
		  const struct sp_no_effects *no_effects)
{
	if (!report || (before && sp_report_add_preflight(report, before) < 0))
		die("memory exhausted");
	free(before);
	/* a failure is found when standard output is closed */
	if (!o->fio_json)
		(void)sp_report_bench_text(report, stdout);
	if (no_effects)
		say_no_effects(no_effects);
	statsfile_finish(&o->stats_file, report);
}

static enum progress_mode live_mode;

void live_set(enum progress_mode mode)
{
	live_mode = mode;
}

bool live_wanted(void)
{
	static int wanted = -1;

	if (wanted < 0)
		wanted = progress_wanted(live_mode, 0);
	return wanted;
}

void show_live(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (!live_wanted())
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	progress_draw("%s: %s", msg_program(), text);
}

void show_progress(void *arg, double share_done)
{
	(void)arg;
	show_live("%.0f %%", 100 * share_done);
}
