/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdnoreturn.h>
#include <spindle/version.h>
#include "msg.h"
#include "stdio_end.h"
#include "aiobench/aiobench.h"

const char *argp_program_version = "aiobench (Spindle) " SP_VERSION;

static const char doc[] =
	"Measures asynchronous I/O with priorities.\n"
	"\n"
	"  run TARGET...     keeps requests outstanding; tells throughput and latency\n"
	"  preflight TARGET  tells whether priorities can act there, and why not\n"
	"  replay TRACE TARGET...  does the requests of a --trace again\n"
	"  watch DEVICE|PID  tells how many requests others have outstanding\n"
	"\v"
	"TARGET is a file, a block device, or sim:MODEL[,KEY=VALUE...], a simulated one.  "
	"SIZE may have a suffix of K, M, G, T (powers of 1024), TIME one of us, ms, s, m, h "
	"(s without).  Options have fio's names and meaning where fio has them.\n"
	"\n"
	"Exit status: 0 if all went well, 2 after an error.\n"
	"\n"
	"Examples:\n"
	"  aiobench run --iodepth=64 --runtime=5 --create --remove --size=1G test.dat\n"
	"  aiobench run --iodepth=200 --class high:share=10%,prio=rt --class low: /dev/sdb\n";

static const struct command {
	const char *name;
	int (*run)(struct load_options *o);
} commands[] = {
	{ "run", command_run },
	{ "preflight", command_preflight },
	{ "replay", command_replay },
	{ "watch", command_watch },
};

struct config {
	const struct command *command;
	struct load_options load;
};

static const struct argp_child children[] = {
	{ &load_argp, 0, NULL, 0 },
	{ &replay_argp, 0, NULL, 0 },
	{ &fiojob_argp, 0, NULL, 0 },
	{ &watch_argp, 0, NULL, 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct config *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		for (size_t i = 0; i < sizeof(children) / sizeof(children[0]) - 1; i++)
			state->child_inputs[i] = &c->load;
		return 0;
	case ARGP_KEY_ARG:
		if (c->command)
			return ARGP_ERR_UNKNOWN; /* the load's */
		for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
			if (!strcmp(commands[i].name, arg))
				c->command = &commands[i];
		if (!c->command)
			argp_error(state, "unknown command: '%s'", arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "missing command");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = { 0, parse, "COMMAND TARGET...", doc, children, 0, 0 };
	struct config c = { 0 };
	int status;

	msg_init(argv);
	stdio_guard();
	argp_err_exit_status = 2;
	load_options_init(&c.load);
	argp_parse(&argp, argc, argv, 0, 0, &c);
	load_options_finish(&c.load);
	status = c.command->run(&c.load);
	stdio_finish();
	return status;
}
