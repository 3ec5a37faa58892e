/* SPDX-License-Identifier: MIT */
/*
 * What the comparisons with GNU sort have in common: the programs, their
 * arguments, files and folders.
 */
#ifndef DIFF_PEER_H
#define DIFF_PEER_H

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "input.h"

#define ARGS_MAX 64
#define PATIENCE_S 150

static const char *xsort_path, *gnu_path = "/usr/bin/sort";
static char top_dir[256], locale_dir[4096];
static volatile sig_atomic_t expired;

struct args {
	const char *v[ARGS_MAX + 1];
	unsigned n;
	char text[8192];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct args *a, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(a->text + a->used, sizeof(a->text) - a->used, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(a->text) - a->used || a->n == ARGS_MAX)
		abort();
	a->v[a->n++] = a->text + a->used;
	a->used += (size_t)n + 1;
}

/* The programs. */

static void on_alarm(int sig)
{
	(void)sig;
	expired = 1;
}

/* Finds xsort and the locales and makes the folder for files; false: xsort is not built. */
static bool find_programs(const char *name)
{
	const char *build = getenv("SP_BUILD"), *tmp = getenv("TMPDIR");
	struct sigaction act = { .sa_handler = on_alarm };
	static char path[4096];

	xsort_path = getenv("XSORT");
	snprintf(path, sizeof(path), "%s/bin/xsort", build ? build : "build");
	xsort_path = realpath(xsort_path && *xsort_path ? xsort_path : path, NULL);
	if (!xsort_path)
		return false;
	if (!realpath("build/locale", locale_dir))
		locale_dir[0] = '\0';
	sigaction(SIGALRM, &act, NULL);
	snprintf(top_dir, sizeof(top_dir), "%s/%s.XXXXXX", tmp ? tmp : "/tmp", name);
	if (!mkdtemp(top_dir))
		abort();
	return true;
}

/* The status of a process; it is killed when the patience is at its end. */
static int status_of(pid_t pid)
{
	int status;

	expired = 0;
	alarm(PATIENCE_S);
	while (waitpid(pid, &status, 0) < 0)
		if (expired)
			kill(pid, SIGKILL);
	alarm(0);
	return status;
}

static bool peer_is_9_1;

static bool peer_is_gnu(void)
{
	FILE *p = popen("/usr/bin/sort --version 2>/dev/null", "r");
	char line[256] = "";
	bool gnu;

	if (!p)
		return false;
	gnu = fgets(line, sizeof(line), p) && strstr(line, "GNU coreutils");
	peer_is_9_1 = strstr(line, " 9.1\n");
	pclose(p);
	return gnu;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* Files. */

static void write_file(const char *dir, const char *name, const struct text *t)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f || fwrite(t->data, 1, t->bytes, f) != t->bytes || fclose(f))
		abort();
}

static bool read_file(const char *dir, const char *name, struct text *t)
{
	char path[512], buf[65536];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	t->bytes = 0;
	f = fopen(path, "r");
	if (!f)
		return false;
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		text_put(t, buf, n);
	fclose(f);
	return true;
}

static void make_dirs(const char *dir)
{
	char path[512];

	mkdir(dir, 0777);
	snprintf(path, sizeof(path), "%s/tmp", dir);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/tmp2", dir);
	mkdir(path, 0777);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static void remove_tree(const char *dir)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static bool same_text(const struct text *a, const struct text *b)
{
	return a->bytes == b->bytes && (!a->bytes || !memcmp(a->data, b->data, a->bytes));
}

static bool empty_dir(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (rmdir(path))
		return false;
	return mkdir(path, 0777) == 0;
}

static void print_word(const char *w)
{
	if (!w[strspn(w,
		      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.,%/")]) {
		printf(" %s", w);
		return;
	}
	printf(" $'");
	for (; *w; w++)
		printf(strchr("'\\\t", *w) ? "\\x%02x" : "%c", *w);
	printf("'");
}

/*
 * What GNU sort 9.1 alone does: it takes byte 0x80 for a thousands separator
 * where the locale has none, does not know the units R and Q yet, and finds
 * NaNs different by bytes that strtold() has left as they were.  And what later
 * ones do: a name such as ".a" is no longer a suffix alone (rec/version.c).
 */
static void avoid(struct text *t, bool numbers, bool general, bool version)
{
	bool hidden = version && !peer_is_9_1;

	for (size_t k = 0; k < t->bytes; k++) {
		char *p = t->data + k;

		if (numbers && *p == '\x80')
			*p = '\x81';
		else if (numbers && (*p == 'R' || *p == 'Q'))
			*p = 'P';
		else if (general && t->bytes - k >= 3 && !strncasecmp(p, "nan", 3))
			p[1] = 'b';
		else if (hidden && *p == '.')
			*p = '1';
	}
}

#endif
