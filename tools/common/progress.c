/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "choice.h"
#include "progress.h"

#define QUIET_S 1.0

static const struct choice words[] = { { "auto", PROGRESS_AUTO },
				       { "always", PROGRESS_ALWAYS },
				       { "never", PROGRESS_NEVER },
				       { NULL, 0 } };

enum progress_mode progress_option(const char *option, const char *text, int status)
{
	if (!text)
		return PROGRESS_ALWAYS;
	return (enum progress_mode)choice_option(option, text, words, status);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool progress_begin(struct progress *p, enum progress_mode mode, const char *const *phases)
{
	*p = (struct progress){ .phases = phases, .phase = -1 };
	if (mode == PROGRESS_NEVER || (mode == PROGRESS_AUTO && !isatty(STDERR_FILENO)))
		return false;
	p->quiet_s = mode == PROGRESS_AUTO ? QUIET_S : 0;
	p->begin = now();
	return true;
}

/* What is left of the phase, at the speed it has had so far. */
static void draw_rest(double elapsed, uint64_t done, uint64_t total)
{
	long left = (long)(elapsed * (double)(total - done) / (double)done);

	fprintf(stderr, ", %ld:%02ld left", left / 60, left % 60);
}

void progress_update(void *progress, int phase, uint64_t done_bytes, uint64_t total_bytes)
{
	struct progress *p = progress;
	double t = now(), elapsed;

	if (phase != p->phase) {
		p->phase = phase;
		p->phase_begin = t;
	}
	if (t - p->begin < p->quiet_s)
		return;
	elapsed = t - p->phase_begin;
	flockfile(stderr);
	fprintf(stderr, "\r%s: ", p->phases[phase]);
	if (total_bytes && done_bytes <= total_bytes)
		fprintf(stderr, "%3.0f %% of ", 100.0 * (double)done_bytes / (double)total_bytes);
	fprintf(stderr, "%.1f MB",
		(double)(total_bytes && done_bytes <= total_bytes ? total_bytes : done_bytes) /
			1e6);
	if (elapsed > 0)
		fprintf(stderr, ", %.0f MB/s", (double)done_bytes / 1e6 / elapsed);
	if (total_bytes && done_bytes && done_bytes <= total_bytes)
		draw_rest(elapsed, done_bytes, total_bytes);
	fputs("\033[K", stderr);
	fflush(stderr);
	funlockfile(stderr);
	p->shown = true;
}

void progress_end(struct progress *p)
{
	if (!p->shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	p->shown = false;
}
