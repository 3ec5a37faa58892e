/* SPDX-License-Identifier: MIT */
/*
 * Runs gnuplot with a script through a pipe, in a process group of its own, which signals that end
 * the tool and a time limit kill.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "gnuplot.h"
#include "msg.h"
#include "outputs.h"
#include "signals.h"

#define LIMIT_S 60U /* to start, and to draw a picture */

extern char **environ;

static const char head[] = "set encoding utf8\n"
			   "set micro\n"
			   "set border 3\n"
			   "set tics nomirror\n"
			   "set grid back lt 1 lw 1 lc rgb '#e6e6e6'\n"
			   "set key outside below center horizontal height 1.5\n"
			   "set rmargin 6\n"
			   "set style line 1 lc rgb '#2060a0' lw 2 pt 7 ps 0.4\n"
			   "set style line 2 lc rgb '#d08020' lw 2 pt 5 ps 0.4\n"
			   "set style line 3 lc rgb '#408040' lw 2 pt 9 ps 0.6\n"
			   "set style line 4 lc rgb '#000000' lw 2 dt 2 pt 7 ps 0.4\n";

/*
 * Returns the environment with a locale that has the characters of pictures, such as "µ", and
 * without the terminal of the user.  The first value of a name applies.
 */
static char **gnuplot_environment(void)
{
	static char locale[] = "LC_ALL=C.UTF-8";
	size_t n = 0, kept = 1;
	char **all;

	while (environ[n])
		n++;
	all = must_alloc(NULL, n + 2, sizeof(*all));
	all[0] = locale;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "GNUTERM=", 8) != 0)
			all[kept++] = environ[i];
	all[kept] = NULL;
	return all;
}

static volatile sig_atomic_t late;

static void on_limit(int number)
{
	(void)number;
	late = 1;
	signals_end_child();
}

/* From now on gnuplot has LIMIT_S seconds. */
static void limit(struct gnuplot *g)
{
	struct sigaction act = { .sa_handler = on_limit, .sa_flags = SA_RESTART };

	late = 0;
	signals_child(-g->pid);
	sigemptyset(&act.sa_mask);
	sigaction(SIGALRM, &act, &g->on_alarm);
	alarm(LIMIT_S);
}

/* Ends the script and waits.  Returns NULL, or the reason of a failure. */
static const char *finish(struct gnuplot *g)
{
	int status = -1, rc;

	fclose(g->in);
	do
		rc = waitpid(g->pid, &status, 0);
	while (rc < 0 && errno == EINTR);
	alarm(0);
	signals_child(0);
	sigaction(SIGALRM, &g->on_alarm, NULL);
	if (rc >= 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		return NULL;
	return late ? "gnuplot had not finished after 60 seconds" : "gnuplot failed";
}

/* Starts gnuplot, which writes the picture to its standard output. */
static void start(struct gnuplot *g, int out)
{
	char gnuplot[] = "gnuplot", *argv[] = { gnuplot, NULL }, **environment;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t before;
	int fd[2], rc;

	if (pipe(fd))
		die_sys(errno, "gnuplot");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, fd[1]);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	environment = gnuplot_environment();
	signals_hold(&before);
	posix_spawnattr_setsigmask(&attributes, &before);
	rc = posix_spawnp(&g->pid, gnuplot, &actions, &attributes, argv, environment);
	if (!rc)
		limit(g);
	signals_release(&before);
	free(environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[0]);
	if (rc)
		die_sys(rc, "--plot needs gnuplot, in Debian the package gnuplot-nox");
	g->in = fdopen(fd[1], "w");
	if (!g->in)
		die_sys(errno, "gnuplot");
}

/* Runs gnuplot with an empty script, which must succeed. */
static void try_it(const char *option)
{
	struct gnuplot g;

	start(&g, STDOUT_FILENO);
	if (finish(&g))
		die(late ? "%s: gnuplot does not work: it had not finished after 60 seconds"
			 : "%s: gnuplot does not work",
		    option);
}

/* Ends the program if the picture cannot be written; opening a FIFO would wait for a reader. */
static void try_picture(const char *file)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_outfile *out;
	struct stat st;

	if (stat(file, &st) == 0 && S_ISFIFO(st.st_mode))
		return;
	if (sp_outfile_open(&out, file, 0, &err) < 0)
		output_die(&err);
	sp_outfile_close(out, NULL);
}

/* Returns the last four characters of a name, or the whole of a shorter one. */
static const char *suffix_of(const char *file)
{
	size_t n = strlen(file);

	return n < 4 ? file : file + n - 4;
}

void gnuplot_set(void *to, const char *option, const char *file)
{
	const char *suffix = suffix_of(file);

	if (suffix == file ||
	    (strcmp(suffix, ".png") && strcmp(suffix, ".svg") && strcmp(suffix, ".pdf")))
		die("%s argument %s does not end in .png, .svg or .pdf", option, quote(file));
	try_it(option);
	try_picture(file);
	*(const char **)to = file;
}

void gnuplot_string(struct gnuplot *g, const char *name, const char *text)
{
	fprintf(g->in, "%s = '", name);
	for (text = quote_bare(text); *text; text++) {
		if (*text == '\'')
			fputc('\'', g->in);
		fputc(*text, g->in);
	}
	fputs("'\n", g->in);
}

static void set_terminal(struct gnuplot *g, const char *file, struct gnuplot_layout layout)
{
	const char *suffix = suffix_of(file);

	if (strcmp(suffix, ".pdf") == 0)
		fprintf(g->in, "set terminal pdfcairo size %.2fin,%.2fin\n", layout.width / 100.0,
			layout.height / 100.0);
	else
		fprintf(g->in, "set terminal %s size %d,%d\n",
			strcmp(suffix, ".svg") ? "pngcairo" : "svg", layout.width, layout.height);
}

void gnuplot_open(struct gnuplot *g, const char *file, const char *title,
		  struct gnuplot_layout layout)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int fd;

	/* if gnuplot dies, writing to it fails, and its exit status shows the error */
	g->on_pipe = signal(SIGPIPE, SIG_IGN);
	if (sp_outfile_open(&g->out, file, 0, &err) < 0)
		output_die(&err);
	fd = sp_outfile_begin(g->out, &err);
	if (fd < 0)
		output_die(&err);
	start(g, fd);
	set_terminal(g, file, layout);
	fputs(head, g->in);
	gnuplot_string(g, "name", title);
	fprintf(g->in, "set multiplot layout %d,%d title name noenhanced\n", layout.rows,
		layout.columns);
}

void gnuplot_range_add(struct gnuplot_range *r, double value)
{
	if (!(value > 0) || !isfinite(value))
		return;
	if (!(r->low > 0) || value < r->low)
		r->low = value;
	if (value > r->high)
		r->high = value;
}

/* Returns the exponent of the largest power of ten that is not above value. */
static int decade(double value)
{
	int exponent = 0;

	for (; value < 1; value *= 10)
		exponent--;
	for (; value >= 10; value /= 10)
		exponent++;
	return exponent;
}

void gnuplot_decades(struct gnuplot *g, char axis, const struct gnuplot_range *r)
{
	const int low = r->high > 0 ? decade(r->low) : -3;
	const int high = r->high > 0 ? -decade(1 / r->high) : 0;

	fprintf(g->in, "set logscale %c\nset %crange [1e%d:1e%d]\n", axis, axis, low,
		high > low ? high : low + 1);
}

void gnuplot_close(struct gnuplot *g, const char *file)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *failure;

	fputs("unset multiplot\n", g->in);
	failure = finish(g);
	if (failure) {
		err.code = SP_ECHILD;
		snprintf(err.path, sizeof(err.path), "%s", file);
		strcpy(err.text, failure);
	} else {
		(void)!sp_outfile_commit(g->out, &err);
	}
	sp_outfile_close(g->out, &err);
	if (err.code < 0)
		output_die(&err);
	signal(SIGPIPE, g->on_pipe);
}
