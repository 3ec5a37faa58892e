/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdnoreturn.h>
#include <spindle/version.h>
#include "args.h"
#include "msg.h"
#include "signals.h"
#include "stdio_end.h"
#include "aiobench/aiobench.h"

#define SCANS_DEPTH 64 /* of each reader */

const char *argp_program_version = "aiobench (Spindle) " SP_VERSION;

static const char doc[] =
	"Measures asynchronous I/O with priorities.\n"
	"\n"
	"  run TARGET...     keeps requests outstanding; tells throughput and latency\n"
	"  sweep TARGET...   from 1 outstanding request to 256; finds the knees\n"
	"  mix TARGET...     high priority beside low: what it brings\n"
	"  compare A B       two reports of run, or --a and --b in turn\n"
	"  preflight TARGET  tells whether priorities can act there, and why not\n"
	"  replay TRACE TARGET...  does the requests of a --trace again\n"
	"  watch DEVICE|PID  tells how many requests others have outstanding\n"
	"  policy TARGET     loads of a database: in batches, or as a constant flow\n"
	"\v"
	"TARGET is a file, a block device, or sim:MODEL[,KEY=VALUE...] (simulated).\n"
	"SIZE may have a suffix of K, M, G, T (powers of 1024), TIME one of us, ms, s,\n"
	"m, h (s without).  Options have fio's names and meaning where fio has them.\n"
	"\n"
	"Exit status: 0 if all went well, 2 after an error.\n"
	"\n"
	"Examples:\n"
	"  aiobench run --iodepth=64 --runtime=5 --create --remove --size=1G test.dat\n"
	"  aiobench sweep /dev/sdb\n"
	"  aiobench compare --a=--ioengine=libaio --b=--ioengine=io_uring /dev/sdb\n"
	"  aiobench run --iodepth=64 --class=a:share=10%,prio=rt --class=b: /dev/sdb\n";

static const struct command {
	const char *name;
	int (*run)(struct load_options *o);
	unsigned depth, runtime_s; /* if nothing is said of them */
} commands[] = {
	{ "run", command_run, 1, 10 },
	{ "sweep", command_sweep, 256, 30 },
	{ "mix", command_mix, 200, 30 },
	{ "compare", command_compare, 1, 30 },
	{ "preflight", command_preflight, 1, 10 },
	{ "replay", command_replay, 1, 10 },
	{ "watch", command_watch, 1, 10 },
	{ "policy", command_policy, 128, 3 },
};

struct config {
	const struct command *command;
	struct load_options *load;
};

static const struct argp_child children[] = {
	{ &load_argp, 0, NULL, 0 },
	{ &replay_argp, 0, NULL, 0 },
	{ &fiojob_argp, 0, NULL, 0 },
	{ &watch_argp, 0, NULL, 0 },
	{ &set_argp, 0, NULL, 0 },
	{ &policy_argp, 0, NULL, 0 },
	{ 0 },
};

enum { OPT_COMPARE = 768 };

static const struct argp_option options[] = {
	{ "compare", OPT_COMPARE, 0, 0, "The command compare", 10 },
	{ 0 },
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct config *c = state->input;

	switch (key) {
	case OPT_COMPARE:
		c->command = find_command("compare");
		return 0;
	case ARGP_KEY_INIT:
		for (size_t i = 0; i < sizeof(children) / sizeof(children[0]) - 1; i++)
			state->child_inputs[i] = c->load;
		return 0;
	case ARGP_KEY_ARG:
		if (c->command)
			return ARGP_ERR_UNKNOWN; /* the load's */
		c->command = find_command(arg);
		if (!c->command)
			argp_error(state, "unknown command: '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (!c->command)
			argp_error(state, "missing command");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct command *load_options_read(struct load_options *o, int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "COMMAND TARGET...", doc, children, 0, 0
	};
	struct config c = { .load = o };
	unsigned depth;

	load_options_init(o);
	args_parse(&argp, argc, argv, &c);
	o->argc = argc;
	o->argv = argv;
	set_options_check(&o->set, c.command->name);
	depth = o->set.mix.kind == SP_BENCHSET_SCANS ? SCANS_DEPTH : c.command->depth;
	load_options_finish(o, depth, c.command->runtime_s * 1000000000ull);
	return c.command;
}

int main(int argc, char **argv)
{
	static struct load_options load;
	const struct command *command;
	int status;

	msg_init(argv);
	stdio_guard();
	signals_catch();
	command = load_options_read(&load, argc, argv);
	if (!load.bench.ntargets && !load.set.a && !load.set.b) {
		msg("missing target");
		usage_error();
	}
	if (load.policy.said && command->run != command_policy)
		die("--load and what belongs to it are options of policy");
	if (load.watch_said && command->run != command_watch)
		die("--source and --sample_rate are options of watch");
	if (load.replay_said && command->run != command_replay)
		die("--replay_no_stall and --replay_time_scale are options of replay");
	check_outputs(&load);
	statsfile_open(&load.stats_file, load.stats);
	status = command->run(&load);
	stdio_finish();
	return status;
}
