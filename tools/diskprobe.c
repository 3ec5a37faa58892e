/* SPDX-License-Identifier: MIT */
/*
 * diskprobe: probes the geometry of a drive, verifies it, and answers from it.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "outputs.h"
#include "signals.h"
#include "diskprobe/diskprobe.h"

#define PAIRS 1000

_Noreturn void fail(const char *subject, int rc, const struct sp_errinfo *err)
{
	die("%s: %s", quote_file(err->path[0] ? err->path : subject),
	    err->text[0] ? err->text : sp_strerror(rc));
}

/* Shows progress by steps, whose duration is unknown beforehand. */
static void show(void *arg, enum sp_probe_step step, double done)
{
	(void)arg;
	progress_draw("%s: %3.0f %%", sp_probe_step_name(step), 100 * done);
}

static struct sp_geometry *load(const char *path, bool resume)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry *g;
	int rc = resume ? sp_geometry_resume(&g, path, &err) : sp_geometry_load(&g, path, &err);

	if (rc)
		fail(path, rc, &err);
	return g;
}

/* Prints the verdict and its reason in one line. */
static void print_verdict(const char *device, const struct sp_probe_result *r)
{
	const struct sp_probe_evidence *e = &r->evidence;

	printf("%s: %s: ", quote_file(device), sp_probe_verdict_name(r->verdict));
	if (r->verdict == SP_PROBE_ROTATING)
		printf("%.1f rpm (a revolution takes %.6f ms), %zu zones, layout %s",
		       6e10 / r->period_ns, r->period_ns / 1e6, r->nzones,
		       r->layout ? r->layout : "unknown");
	else if (r->verdict == SP_PROBE_LAYERED)
		printf("a disk rotates in %.4f ms, but the blocks are not in order along the "
		       "tracks of one disk",
		       e->best_period_ns / 1e6);
	else if (!e->samples)
		printf("stopped before the first result");
	else
		printf("best concentration %.3f over %u periods from %.1f to %.1f ms, %u samples "
		       "(chance reaches %.3f once in 10000)",
		       e->concentration, e->trials, e->shortest_ns / 1e6, e->longest_ns / 1e6,
		       e->samples, e->chance);
	printf("; %.0f %% of random reads below 1 ms\n", 100 * e->fast_share);
}

/* Writes the report to standard output, unless the geometry is written there. */
static void output(struct config *c, struct sp_report *report)
{
	bool taken = c->output && !strcmp(c->output, "-");

	if (!report)
		die("memory exhausted");
	if (c->ask == ASK_PROBE && !taken)
		(void)sp_report_text(report, stdout, 0);
	statsfile_write(&c->stats_file, report);
	sp_report_free(report);
}

static void save(const struct config *c, const struct sp_geometry *g)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	if (!c->output || !g)
		return;
	if (!strcmp(c->output, "-")) {
		rc = sp_geometry_json(g, stdout);
		if (rc)
			die_sys(-rc, "standard output");
		return;
	}
	rc = sp_geometry_save(g, c->output, &err);
	if (rc)
		fail(c->output, rc, &err);
}

static void verify(struct config *c, const struct sp_geometry *g)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_probe_verify v;
	int rc = sp_probe_verify(&c->probe, g, PAIRS, &v, &err);

	if (rc) {
		statsfile_close(&c->stats_file);
		fail(c->probe.device, rc, &err);
	}
	output(c, sp_report_probe_verify(c->probe.device, &v));
}

/* Probes and writes the requested outputs.  Returns the exit status. */
static int probe(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const struct sp_probe_result *r;
	struct sp_geometry *resumed = c->resume ? load(c->resume, true) : NULL;
	struct sp_probe *p;
	bool tracks;
	int rc;

	c->probe.resume = resumed;
	c->probe.stop = &interrupted;
	if (progress_wanted(c->progress, 1))
		c->probe.progress = show;
	signals_interrupt();
	rc = sp_probe_run(&p, &c->probe, &err);
	progress_wipe();
	if (rc)
		fail(c->probe.device, rc, &err);
	r = sp_probe_result(p);
	tracks = r->verdict == SP_PROBE_ROTATING && r->nzones;
	save(c, sp_probe_geometry(p));
	if (c->plot)
		plot(c->plot, p);
	if (c->ask != ASK_PROBE)
		answer(c, sp_probe_geometry(p));
	else if (!c->output || strcmp(c->output, "-"))
		print_verdict(c->probe.device, r);
	output(c, sp_report_probe(p, &c->probe));
	if (r->stopped)
		msg("%s: stopped; %s", c->probe.device,
		    !c->output	? "the result is lost: no --output"
		    : r->nzones ? "the result so far is saved: continue with --resume"
				: "no track was found yet");
	else if (c->verify && tracks)
		verify(c, sp_probe_geometry(p));
	else if (c->verify)
		msg("%s: --verify had no effect: no tracks were found", c->probe.device);
	sp_probe_free(p);
	sp_geometry_free(resumed);
	return c->require && !tracks ? 1 : 0;
}

static int use(struct config *c)
{
	struct sp_geometry *g = load(c->geometry, false);

	if (c->ask != ASK_PROBE)
		answer(c, g);
	if (c->verify)
		verify(c, g);
	sp_geometry_free(g);
	return 0;
}

static void spare_files(const struct config *c)
{
	bool standard = c->output && !strcmp(c->output, "-");
	struct sp_output_set set = { 0 };

	outputs_add_stdout(&set, false);
	outputs_add(&set, standard ? NULL : c->output, "--output", false);
	outputs_add_stats(&set, c->stats);
	outputs_add(&set, c->plot, "--plot", false);
	outputs_check_input(&set, c->geometry);
	outputs_check_input(&set, c->resume);
	outputs_check_volume(&set, c->probe.device);
}

int main(int argc, char **argv)
{
	struct config c = { 0 };
	int status;

	msg_init(argv);
	stdio_guard();
	signals_catch();
	options_parse(&c, argc, argv);
	spare_files(&c);
	report_need();
	statsfile_open(&c.stats_file, c.stats);
	status = c.geometry ? use(&c) : probe(&c);
	free(c.lbns);
	statsfile_close(&c.stats_file);
	stdio_finish();
	if (interrupted) {
		signal(interrupted, SIG_DFL);
		raise(interrupted);
	}
	return status;
}
