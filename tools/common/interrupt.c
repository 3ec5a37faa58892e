/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include "interrupt.h"

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

volatile sig_atomic_t interrupted;
static struct sigaction before[NUMBERS];

static void on_signal(int number)
{
	interrupted = number;
	for (size_t i = 0; i < NUMBERS; i++)
		if (numbers[i] == number)
			sigaction(number, &before[i], NULL);
}

void catch_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < NUMBERS; i++)
		if (sigaction(numbers[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &act, NULL);
}
