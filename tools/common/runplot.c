/* SPDX-License-Identifier: MIT */
/*
 * Draws the block requests of a run.
 *
 * The trace is in a file without a name, unless one is given.  A child draws, because the functions
 * that draw end their process if they fail.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "args.h"
#include "msg.h"
#include "runplot.h"
#include "signals.h"
#include "traceplot.h"
#include "unnamed.h"

static char temporary[UNNAMED_PATH]; /* path of the temporary file; "": none */

void runplot_begin(struct common_options *c)
{
	struct sp_run_opts *run = c->run;
	struct stat st;

	if (!c->plot)
		return;
	args_exclude(c->explain, "--explain", true, "--plot");
	if (run->trace_path) {
		if (stat(run->trace_path, &st) == 0 && !S_ISREG(st.st_mode))
			die("%s: --plot with --trace needs a regular file",
			    quote_file(run->trace_path));
		return;
	}
	(void)unnamed_file(run->tmpdirs[0], temporary, "--plot without --trace=FILE");
	run->trace_path = temporary;
}

const char *runplot_option(const struct common_options *c)
{
	return c->run->trace_path == temporary ? "--plot" : "--trace";
}

void runplot_name(const struct common_options *c, struct sp_errinfo *err)
{
	if (*temporary && !strcmp(err->path, temporary))
		snprintf(err->path, sizeof(err->path), "%s", c->run->tmpdirs[0]);
}

/* Draws the trace, and ends the process. */
static _Noreturn void draw(const struct common_options *c, const char *title)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sequence *seq;
	int rc;

	/* the tool may have closed its standard output */
	(void)stdio_guard();
	rc = sp_sequence_load(&seq, c->run->trace_path, NULL, &err);
	runplot_name(c, &err);
	if (rc < 0)
		die_of(rc, &err);
	traceplot_draw(c->plot, title, seq);
	sp_sequence_free(seq);
	exit(0);
}

void runplot_finish(const struct common_options *c, const char *const *names, size_t n)
{
	char title[4096];
	sigset_t before;
	size_t len;
	int status;
	pid_t pid;

	if (!c->plot)
		return;
	len = (size_t)snprintf(title, sizeof(title), "%s", msg_program());
	for (size_t i = 0; i < n && i < 4 && len < sizeof(title); i++)
		len += (size_t)snprintf(title + len, sizeof(title) - len, " %s",
					i < 3 ? names[i] : "...");
	fflush(NULL);
	signals_hold(&before);
	pid = fork();
	if (pid == 0) {
		signals_release(&before);
		draw(c, title);
	}
	signals_child(pid > 0 ? pid : 0);
	signals_release(&before);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		msg_sys(errno, "%s: cannot be drawn", quote_file(c->plot));
	else if (WIFSIGNALED(status))
		msg("%s: drawing ended by signal %d", quote_file(c->plot), WTERMSIG(status));
	signals_child(0);
}
