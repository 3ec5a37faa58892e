/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "args.h"
#include "msg.h"

#define FAILURE 2

static bool parsing;

/* argp ends the program after --help, so write errors are checked here. */
static void close_output(void)
{
	if (!parsing || fclose(stdout) == 0)
		return;
	msg_sys(errno, "write error");
	_exit(FAILURE);
}

void args_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	argp_err_exit_status = FAILURE;
	parsing = true;
	atexit(close_output);
	argp_parse(argp, argc, argv, 0, 0, input);
	parsing = false;
}
