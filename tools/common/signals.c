/* SPDX-License-Identifier: MIT */
/*
 * Ends the program on signals, after removing incomplete outputs.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "progress.h"
#include "signals.h"

static const int deadly[] = { SIGALRM, SIGHUP,	SIGINT,	 SIGPIPE,   SIGQUIT,
			      SIGTERM, SIGPOLL, SIGPROF, SIGVTALRM, SIGXCPU };

static const char *_Atomic last_words, *_Atomic of_path;

void signals_say(const char *line, const char *path)
{
	of_path = path;
	last_words = line;
}

static volatile pid_t child;

void signals_child(pid_t pid)
{
	child = pid;
}

void signals_end_child(void)
{
	const pid_t pid = child;
	const int before = errno;

	if (pid)
		kill(pid, pid < 0 ? SIGKILL : SIGTERM);
	errno = before;
}

void signals_hold(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

void signals_release(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void say(void)
{
	const char *line = last_words, *path = of_path;

	if (line && access(path, F_OK) == 0 && write(STDERR_FILENO, line, strlen(line)) < 0)
		return; /* the message cannot be written */
}

/* Handles the first deadly signal; the others are blocked meanwhile. */
static void last_will(int sig)
{
	sigset_t one;

	signals_end_child();
	progress_wipe();
	say();
	sp_outfile_cleanup_signal();
	signal(sig, SIG_DFL);
	raise(sig);
	sigemptyset(&one);
	sigaddset(&one, sig);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

void signals_catch(void)
{
	struct sigaction act = { .sa_handler = last_will }, old;
	size_t i;

	atexit(sp_outfile_cleanup_signal);
	sigemptyset(&act.sa_mask);
	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		sigaddset(&act.sa_mask, deadly[i]);
	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
		sigaction(deadly[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaction(deadly[i], &act, NULL);
	}
	/* a write beyond the file size limit fails with an error that names the file */
	signal(SIGXFSZ, SIG_IGN);
	/* an inherited SIG_IGN would lose the exit statuses of compressors */
	signal(SIGCHLD, SIG_DFL);
}

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

volatile sig_atomic_t interrupted;
static struct sigaction before[NUMBERS];

static void on_signal(int number)
{
	interrupted = number;
	signals_end_child();
	for (size_t i = 0; i < NUMBERS; i++)
		if (numbers[i] == number)
			sigaction(number, &before[i], NULL);
}

void signals_interrupt(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < NUMBERS; i++)
		if (sigaction(numbers[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &act, NULL);
}
