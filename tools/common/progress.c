/* SPDX-License-Identifier: MIT */
/*
 * Draws the progress line.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <spindle/error.h>
#include "progress.h"

#define PACE_S 1.0
#define COLUMNS_DEFAULT 80
#define COLUMNS_MAX 240

static volatile sig_atomic_t shown; /* columns that the line occupies */
static double next_s;		    /* time of the next drawing */
static bool dumb;		    /* the terminal has no sequence that clears a line */

const struct sp_enum_value *progress_values(void)
{
	static const struct sp_enum_value words[] = { { "auto", PROGRESS_AUTO },
						      { "always", PROGRESS_ALWAYS },
						      { "never", PROGRESS_NEVER },
						      { NULL, 0 } };

	return words;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool progress_wanted(enum progress_mode mode, double quiet_s)
{
	const char *term = getenv("TERM");

	dumb = !term || !*term || !strcmp(term, "dumb");
	if (mode == PROGRESS_NEVER || (mode == PROGRESS_AUTO && (!isatty(STDERR_FILENO) || dumb)))
		return false;
	next_s = mode == PROGRESS_AUTO ? now() + quiet_s : 0;
	return true;
}

bool progress_apart(const char *output)
{
	struct stat st;

	if (output && strcmp(output, "-") != 0)
		return stat(output, &st) ? errno == ENOENT : S_ISREG(st.st_mode);
	return fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode);
}

int terminal_columns(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns && atoi(columns) > 0)
		return atoi(columns);
	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Returns the usable width.  The last column stays free: some terminals wrap there immediately. */
static size_t room(void)
{
	int columns = terminal_columns(STDERR_FILENO);

	if (!columns)
		columns = COLUMNS_DEFAULT;
	return (size_t)(columns < COLUMNS_MAX ? columns : COLUMNS_MAX) - 1;
}

/* Writes the line; on a dumb terminal, blanks clear the rest. */
static void put_line(const char *text, size_t bytes)
{
	char line[2 * COLUMNS_MAX + 8] = "\r";
	size_t blanks = dumb && (size_t)shown > bytes ? (size_t)shown - bytes : 0;
	size_t n = 1 + bytes + blanks;

	memcpy(line + 1, text, bytes);
	memset(line + 1 + bytes, ' ', blanks);
	if (!dumb) {
		memcpy(line + n, "\033[K", 3);
		n += 3;
	} else if (!bytes) {
		line[n++] = '\r';
	}
	shown = (sig_atomic_t)bytes;
	while (write(STDERR_FILENO, line, n) < 0 && errno == EINTR)
		;
}

void progress_draw(const char *fmt, ...)
{
	char raw[COLUMNS_MAX + 1], text[COLUMNS_MAX + 1];
	double t = now();
	size_t most = room(), n;
	va_list ap;

	if (t < next_s || !most)
		return;
	next_s = t + PACE_S;
	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	sp_printable(text, sizeof(text), raw, SP_PRINTABLE_ESCAPED);
	n = strlen(text);
	put_line(text, n < most ? n : most);
}

void progress_wipe(void)
{
	int saved = errno;

	if (shown)
		put_line("", 0);
	errno = saved;
}

void progress_begin(struct progress *p)
{
	p->begin = p->phase_begin = now();
	p->phase = -1;
}

/* Returns the share of the whole that is done: earlier phases, and of_phase of this one. */
static double share_done(const struct progress *p, double of_phase)
{
	double before = 0, all = 0;

	for (unsigned i = 0; i < p->nphases; i++) {
		before += (int)i < p->phase ? p->weights[i] : 0;
		all += p->weights[i];
	}
	return all > 0 ? (before + p->weights[p->phase] * of_phase) / all : 0;
}

static void draw(struct progress *p, uint64_t done_bytes, uint64_t total_bytes)
{
	double t = now(), of_phase = total_bytes ? (double)done_bytes / (double)total_bytes : 0;
	double mb = (double)done_bytes / 1e6, all_mb = (double)total_bytes / 1e6;
	double done = share_done(p, of_phase);
	char speed[32] = "";
	char rest[32] = "";
	long left;

	if (t - p->phase_begin >= PACE_S)
		snprintf(speed, sizeof(speed), ", %.0f MB/s", mb / (t - p->phase_begin));
	/* a repeated phase does not reduce progress */
	p->done = done > p->done ? done : p->done;
	if (!total_bytes || of_phase > 1 || p->done <= 0) {
		progress_draw("%s, %.1f MB%s", p->phases[p->phase], mb, speed);
		return;
	}
	left = (long)((t - p->begin) * (1 - p->done) / p->done);
	if (t - p->begin >= PACE_S)
		snprintf(rest, sizeof(rest), ", %ld:%02ld left", left / 60, left % 60);
	progress_draw("%.0f %%%s: %s, %.1f of %.1f MB%s", 100 * p->done, rest, p->phases[p->phase],
		      mb, all_mb, speed);
}

void progress_update(void *progress, int phase, uint64_t done_bytes, uint64_t total_bytes)
{
	struct progress *p = progress;

	if (phase != p->phase) {
		p->phase = phase;
		p->phase_begin = now();
	}
	if (p->result_phase >= 0 && phase >= p->result_phase)
		p->over = true;
	if (p->over)
		progress_wipe();
	else
		draw(p, done_bytes, total_bytes);
}
