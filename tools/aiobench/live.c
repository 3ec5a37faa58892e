/* SPDX-License-Identifier: MIT */
/*
 * One line on a terminal that says how a measurement goes, and is wiped at its
 * end.  Nothing is shown if standard error is no terminal.
 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "msg.h"
#include "aiobench.h"

#define PAUSE_NS 200000000 /* from one to the next */

static bool shown;
static uint64_t shown_ns;

bool live_wanted(void)
{
	return isatty(STDERR_FILENO);
}

void show_live(const char *fmt, ...)
{
	struct timespec t;
	uint64_t now_ns;
	va_list ap;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	if (!live_wanted() || (shown && now_ns - shown_ns < PAUSE_NS))
		return;
	fprintf(stderr, "\r%s: ", msg_program());
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\033[K", stderr);
	fflush(stderr);
	shown = true;
	shown_ns = now_ns;
}

void show_progress(void *arg, double share_done)
{
	(void)arg;
	show_live("%.0f %%", 100 * share_done);
}

void end_progress(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
