/* SPDX-License-Identifier: MIT */
/*
 * The line of progress: each draw is one write, which a pipe in packet mode shows.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "progress.h"
#include "tap.h"

static int packets;

/* The next packet; its length, 0 if there is none. */
static size_t packet(char *to, size_t size)
{
	ssize_t n = read(packets, to, size - 1);

	to[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static bool one_packet(const char *want)
{
	char is[512], more[512];

	packet(is, sizeof(is));
	return !strcmp(is, want) && !packet(more, sizeof(more));
}

static void draw_again(const char *text)
{
	(void)progress_wanted(PROGRESS_ALWAYS, 0); /* forgets when it was drawn last */
	progress_draw("%s", text);
}

static void shares(void)
{
	static const char *const names[] = { "first", "second", "third" };
	static const double weights[] = { 1, 1, 2 };
	struct progress p = {
		.phases = names, .weights = weights, .nphases = 3, .result_phase = 2
	};

	progress_begin(&p);
	(void)progress_wanted(PROGRESS_ALWAYS, 0);
	progress_update(&p, 0, 1000000, 2000000);
	ok(one_packet("\r12 %: first, 1.0 of 2.0 MB\033[K"), "a phase has its share of the whole");
	(void)progress_wanted(PROGRESS_ALWAYS, 0);
	p.begin -= 10;
	progress_update(&p, 1, 5000000, 10000000);
	ok(one_packet("\r38 %, 0:16 left: second, 5.0 of 10.0 MB\033[K"),
	   "the remaining time is that of all phases");
	(void)progress_wanted(PROGRESS_ALWAYS, 0);
	progress_update(&p, 0, 0, 2000000);
	ok(one_packet("\r38 %, 0:16 left: first, 0.0 of 2.0 MB\033[K"),
	   "a repeated phase restores nothing");
	progress_update(&p, 2, 0, 1000000);
	ok(one_packet("\r\033[K"), "the line goes before the result comes");
	progress_update(&p, 0, 1, 1000000);
	ok(one_packet(""), "after that nothing is drawn");
}

int main(void)
{
	int ends[2], saved = dup(STDERR_FILENO);

	setenv("TERM", "xterm", 1);
	unsetenv("COLUMNS");
	if (pipe2(ends, O_DIRECT | O_NONBLOCK | O_CLOEXEC) || dup2(ends[1], STDERR_FILENO) < 0)
		return 1;
	packets = ends[0];
	ok(!progress_wanted(PROGRESS_AUTO, 0), "a pipe is not a terminal");
	draw_again("half way");
	ok(one_packet("\rhalf way\033[K"), "a line is one write");
	progress_draw("%s", "too early");
	ok(one_packet(""), "within a second it is not drawn again");
	progress_wipe();
	ok(one_packet("\r\033[K"), "it is wiped by one write");
	progress_wipe();
	ok(one_packet(""), "an empty line is not erased");
	setenv("COLUMNS", "5", 1);
	draw_again("half way");
	ok(one_packet("\rhalf\033[K"), "it leaves the last column free");
	setenv("COLUMNS", "1", 1);
	progress_wipe();
	(void)one_packet("");
	draw_again("half way");
	ok(one_packet(""), "nothing fits into one column");
	setenv("COLUMNS", "80", 1);
	setenv("TERM", "dumb", 1);
	draw_again("half way");
	(void)one_packet("");
	draw_again("all");
	ok(one_packet("\rall     "), "a dumb terminal gets blanks over what was longer");
	progress_wipe();
	ok(one_packet("\r   \r"), "and to wipe it");
	setenv("TERM", "xterm", 1);
	shares();
	dup2(saved, STDERR_FILENO);
	return done();
}
