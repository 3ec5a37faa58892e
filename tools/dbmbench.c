/* SPDX-License-Identifier: MIT */
/*
 * dbmbench: compares systems that store tables by three queries.
 */
#include <locale.h>
#include <stdlib.h>
#include "signals.h"
#include "dbmbench/dbmbench.h"

int main(int argc, char **argv)
{
	static struct config c;
	const struct command *command;
	int status;

	msg_init(argv);
	setlocale(LC_ALL, "");
	stdio_guard();
	signals_catch();
	command = options_parse(&c, argc, argv);
	status = commands_run(command, &c, &c.statsfile, c.stats, NULL);
	free(c.operands.text);
	return status;
}
