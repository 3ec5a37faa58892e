/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include "interrupt.h"

volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
	signal(number, SIG_DFL);
}

void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = on_signal }, old;

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &act, NULL);
}
