/* SPDX-License-Identifier: MIT */
/*
 * aiobench: measures asynchronous I/O with priorities.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "aiobench/aiobench.h"

#define SCANS_DEPTH 64 /* depth of each reader */
#define SECOND UINT64_C(1000000000)

#define NOTES                                                                                      \
	"TARGET is a file, a block device, or a simulated one, sim:MODEL[,KEY=VALUE...].\n"        \
	"SIZE takes the suffixes K, M, G and T (powers of 1024), TIME us, ms, s, m or\n"           \
	"h; without one it is in seconds.  Options that fio has too have its names and\n"          \
	"meaning.\n"                                                                               \
	"\n"                                                                                       \
	"Exit status: 0 for success, 2 after an error.\n"

#define EXAMPLES                                                                                   \
	"\n"                                                                                       \
	"Examples:\n"                                                                              \
	"  aiobench run --depth=64 --runtime=5 --create --remove --size=1G test.dat\n"             \
	"  aiobench sweep /dev/sdb\n"                                                              \
	"  aiobench compare --a=--engine=libaio --b=--engine=io_uring /dev/sdb\n"                  \
	"  aiobench run --depth=64 --class=a:share=10%,prio=rt --class=b: /dev/sdb\n"

#define ANY 0, UINT32_MAX

static const struct command list[] = {
	{ "run", "TARGET...", "Keeps requests outstanding; reports throughput and latency.", RUN,
	  ANY, command_run },
	{ "sweep", "TARGET...", "Measures 1 to 256 outstanding requests; finds the knees.", SWEEP,
	  ANY, command_sweep },
	{ "mix", "TARGET...", "Compares high priority with low: the effect of priorities.", MIX,
	  ANY, command_mix },
	{ "compare", "REPORT REPORT\n[--a=OPTIONS] [--b=OPTIONS] TARGET...",
	  "Compares two reports of run, or runs --a and --b alternately.", COMPARE, ANY,
	  command_compare },
	{ "preflight", "TARGET", "Reports whether priorities can act on TARGET, or why not.",
	  PREFLIGHT, ANY, command_preflight },
	{ "replay", "TRACE TARGET...", "Repeats the requests of a --trace.", REPLAY, ANY,
	  command_replay },
	{ "watch", "DEVICE|PID", "Shows how many requests others have outstanding.", WATCH, ANY,
	  command_watch },
	{ "policy", "TARGET", "Compares database loads: in batches, or as a constant flow.", POLICY,
	  ANY, command_policy },
	{ 0 },
};

static const struct commands commands = {
	.about = "Measures asynchronous I/O with priorities.",
	.notes = NOTES EXAMPLES,
	.command_notes = NOTES,
	.list = list,
	.settings = load_settings,
};

static unsigned default_depth(const struct config *o, unsigned command)
{
	if (o->set.mix.kind == SP_BENCHSET_SCANS)
		return SCANS_DEPTH;
	return command == SWEEP ? 256 : command == MIX ? 200 : command == POLICY ? 128 : 1;
}

static uint64_t default_runtime(unsigned command)
{
	if (command & (SWEEP | MIX | COMPARE))
		return 30 * SECOND;
	return (command == POLICY ? 3 : 10) * SECOND;
}

/* Accepts the command compare as an option. */
static void accept_compare(char **argv)
{
	while (*argv && **argv == '-' && strcmp(*argv, "--compare") != 0)
		argv++;
	if (*argv && **argv == '-')
		*argv += 2;
}

const struct command *load_options_read(struct config *o, int argc, char **argv)
{
	const struct command *command;
	struct operands operands;

	load_options_init(o);
	command = commands_read(&commands, argc, argv, o, &operands);
	load_options_targets(o, &operands);
	free(operands.text);
	o->argc = argc;
	o->argv = argv;
	load_options_finish(o, default_depth(o, command->bit), default_runtime(command->bit));
	return command;
}

static int run_command(struct config *o, const struct command *c)
{
	check_outputs(o);
	report_need();
	live_set(o->progress);
	statsfile_open(&o->stats_file, o->stats);
	return c->run(o);
}

int main(int argc, char **argv)
{
	static struct config load;
	const struct command *command;
	int status;

	msg_init(argv);
	stdio_guard();
	signals_catch();
	accept_compare(argv + 1);
	command = load_options_read(&load, argc, argv);
	if (!load.bench.ntargets && !load.set.a && !load.set.b)
		die_usage("missing target");
	if (fiojob_runs() > 1 && command->bit != RUN)
		die("%s: jobs that run one after the other (stonewall) can only be measured by "
		    "aiobench run",
		    quote_file(load.job_path));
	status = run_command(&load, command);
	for (size_t i = 1; i < fiojob_runs() && !interrupted; i++) {
		fiojob_select(i);
		(void)load_options_read(&load, argc, argv);
		status |= run_command(&load, command);
	}
	fio_report_finish();
	stdio_finish();
	return status;
}
