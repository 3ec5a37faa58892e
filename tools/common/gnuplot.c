/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "gnuplot.h"
#include "msg.h"

extern char **environ;

static const char head[] = "set border 3\n"
			   "set tics nomirror\n"
			   "set grid lc rgb '#dddddd'\n"
			   "set style line 1 lc rgb '#2060a0' lw 2 pt 7 ps 0.4\n"
			   "set style line 2 lc rgb '#d08020' lw 2 pt 5 ps 0.4\n"
			   "set style line 3 lc rgb '#408040' lw 2 pt 9 ps 0.6\n";

void gnuplot_check(const char *option, const char *file)
{
	size_t n = strlen(file);

	if (n < 5 || (strcmp(file + n - 4, ".png") != 0 && strcmp(file + n - 4, ".svg") != 0))
		die("%s argument '%s' ends neither in .png nor in .svg", option, file);
}

static void start(struct gnuplot *g)
{
	char gnuplot[] = "gnuplot", *argv[] = { gnuplot, NULL };
	posix_spawn_file_actions_t actions;
	int fd[2], rc;

	if (pipe(fd))
		die_sys(errno, "gnuplot");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd[0], STDIN_FILENO);
	posix_spawn_file_actions_addclose(&actions, fd[1]);
	rc = posix_spawnp(&g->pid, gnuplot, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[0]);
	if (rc)
		die_sys(rc, "gnuplot");
	g->in = fdopen(fd[1], "w");
	if (!g->in)
		die_sys(errno, "gnuplot");
}

void gnuplot_string(struct gnuplot *g, const char *name, const char *text)
{
	fprintf(g->in, "%s = '", name);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', g->in);
		fputc(*text == '\n' ? ' ' : *text, g->in);
	}
	fputs("'\n", g->in);
}

void gnuplot_open(struct gnuplot *g, const char *file, int width, int height)
{
	bool svg = strcmp(file + strlen(file) - 4, ".svg") == 0;

	/* If gnuplot dies, writing to it fails, and its status tells. */
	signal(SIGPIPE, SIG_IGN);
	start(g);
	fprintf(g->in, "set terminal %s size %d,%d\n", svg ? "svg" : "pngcairo", width, height);
	gnuplot_string(g, "out", file);
	fputs("set output out\n", g->in);
	fputs(head, g->in);
}

void gnuplot_close(struct gnuplot *g, const char *file)
{
	int status;

	fclose(g->in);
	if (waitpid(g->pid, &status, 0) < 0)
		die_sys(errno, "gnuplot");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		die("%s: gnuplot failed", file);
	signal(SIGPIPE, SIG_DFL);
}
