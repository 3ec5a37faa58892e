/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdnoreturn.h>
#include "msg.h"
#include "quote.h"
#include "stdio_end.h"
#include "aiobench/aiobench.h"

#define SCANS_DEPTH 64 /* of each reader */
#define OPTIONS_MAX 96

static const char notes[] =
	"TARGET is a file, a block device, or sim:MODEL[,KEY=VALUE...] (simulated).\n"
	"SIZE may have a suffix K, M, G or T (powers of 1024), TIME one of us, ms, s, m,\n"
	"h (default: s).  Options that fio has too have its names and meaning.\n"
	"\n"
	"Exit status: 0 for success, 2 after an error.\n";

static const char examples[] =
	"\n"
	"Examples:\n"
	"  aiobench run --iodepth=64 --runtime=5 --create --remove --size=1G test.dat\n"
	"  aiobench sweep /dev/sdb\n"
	"  aiobench compare --a=--ioengine=libaio --b=--ioengine=io_uring /dev/sdb\n"
	"  aiobench run --iodepth=64 --class=a:share=10%,prio=rt --class=b: /dev/sdb\n";

enum command_bit {
	RUN = 1,
	SWEEP = 2,
	MIX = 4,
	COMPARE = 8,
	PREFLIGHT = 16,
	REPLAY = 32,
	WATCH = 64,
	POLICY = 128,
	ALL = 255
};

#define LOADS (ALL & ~(REPLAY | WATCH | POLICY)) /* options describe what they ask for */

/* Which command takes which option. */
static const struct {
	int by;
	const char *options; /* with a blank on either side */
} taken[] = {
	{ ALL, " runtime stats " },
	{ ALL & ~WATCH, " size offset randseed iodepth ioengine direct fixedbufs registerfiles "
			"no-fallback create remove overwrite continue_on_error " },
	{ LOADS, " rw rwmixread random_distribution stride class fio-job fio-job-ignore " },
	{ LOADS & ~SWEEP, " rate_iops rate_process " },
	{ LOADS | POLICY, " bs ramp_time " },
	{ LOADS | REPLAY, " iodepth_batch iodepth_batch_complete_min iodepth_batch_complete_max " },
	{ RUN | PREFLIGHT | REPLAY, " io_size " },
	{ RUN | PREFLIGHT, " steady " },
	{ RUN | PREFLIGHT | REPLAY | POLICY, " trace " },
	{ RUN | REPLAY | WATCH, " status-interval status " },
	{ ALL & ~(COMPARE | PREFLIGHT), " plot " },
	{ MIX, " shares share-of scans high low " },
	{ COMPARE, " a b interleave " },
	{ REPLAY, " replay_no_stall replay_time_scale " },
	{ WATCH, " source sample_rate " },
	{ POLICY, " load submission priorities urgent background extent ahead clients query batch "
		  "buffer steal flow preflush victims room threads crowd table log compute "
		  "critical passes " },
};

static const struct command {
	const char *name, *args, *about;
	enum command_bit bit;
	int (*run)(struct load_options *o);
	unsigned depth, runtime_s; /* defaults */
} commands[] = {
	{ "run", "TARGET...", "Keeps requests outstanding; reports throughput and latency.", RUN,
	  command_run, 1, 10 },
	{ "sweep", "TARGET...", "Measures 1 to 256 outstanding requests; finds the knees.", SWEEP,
	  command_sweep, 256, 30 },
	{ "mix", "TARGET...", "Compares high priority with low: the effect of priorities.", MIX,
	  command_mix, 200, 30 },
	{ "compare", "REPORT REPORT\n[--a=OPTIONS] [--b=OPTIONS] TARGET...",
	  "Compares two reports of run, or runs --a and --b in turn.", COMPARE, command_compare, 1,
	  30 },
	{ "preflight", "TARGET", "Reports whether priorities can act on TARGET, and why not.",
	  PREFLIGHT, command_preflight, 1, 10 },
	{ "replay", "TRACE TARGET...", "Repeats the requests of a --trace.", REPLAY, command_replay,
	  1, 10 },
	{ "watch", "DEVICE|PID", "Shows how many requests others have outstanding.", WATCH,
	  command_watch, 1, 10 },
	{ "policy", "TARGET", "Compares database loads: in batches, or as a constant flow.", POLICY,
	  command_policy, 128, 3 },
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

/* Index of the command, the first word that is no option; 0: none. */
static int find_command(int argc, char **argv, const struct command **command)
{
	int at = 1;

	while (at < argc && *argv[at] == '-' && strcmp(argv[at], "--compare") != 0)
		at++;
	for (size_t i = 0; at < argc && i < NCOMMANDS; i++)
		if (!strcmp(argv[at] + strspn(argv[at], "-"), commands[i].name)) {
			*command = &commands[i];
			return at;
		}
	return 0;
}

static error_t parse_no_command(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		argp_error(state, "unknown command: %s", quote(arg));
	else if (key == ARGP_KEY_END)
		argp_error(state, "missing command");
	return ARGP_ERR_UNKNOWN;
}

/* An option whose value is a word of its own hides a command that comes after it. */
static bool names_command(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		for (size_t k = 0; k < NCOMMANDS; k++)
			if (!strcmp(argv[i], commands[k].name))
				return true;
	return false;
}

/* The command line without a command: --help and the like, or an error. */
static noreturn void parse_without_command(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "compare", 256, 0, 0, "The command compare", 0 }, { 0 }
	};
	char doc[2048];
	int n = snprintf(doc, sizeof(doc), "Measures asynchronous I/O with priorities.\n\n");
	struct argp argp = { options, parse_no_command, "COMMAND [OPTION...]", doc, 0, 0, 0 };

	if (names_command(argc, argv)) {
		msg("the command comes before its options");
		usage_error();
	}
	for (size_t i = 0; i < NCOMMANDS; i++)
		n += snprintf(doc + n, sizeof(doc) - (size_t)n, "  %-9s  %s\n", commands[i].name,
			      commands[i].about);
	snprintf(doc + n, sizeof(doc) - (size_t)n, "\nCOMMAND --help lists its options.\n\v%s%s",
		 notes, examples);
	args_parse(&argp, argc, argv, NULL);
	exit(2);
}

static bool takes(enum command_bit command, const char *option)
{
	char word[40];

	snprintf(word, sizeof(word), " %s ", option);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strstr(taken[i].options, word))
			return taken[i].by & command;
	return false;
}

/* The options that a command takes, and the headings above them. */
static void choose_options(struct setting *to, enum command_bit command)
{
	const struct setting *heading = NULL;

	for (const struct setting *s = load_settings; s->doc; s++) {
		if (!s->name)
			heading = s;
		if (!s->name || !takes(command, s->name))
			continue;
		if (heading)
			*to++ = *heading;
		heading = NULL;
		*to++ = *s;
	}
	*to = (struct setting){ 0 };
}

static void parse_command(struct load_options *o, const struct command *c, int argc, char **argv)
{
	struct setting options[OPTIONS_MAX];
	char doc[1024];
	const struct args args = { options, c->args, doc, load_options_operand };

	choose_options(options, c->bit);
	snprintf(doc, sizeof(doc), "%s\v%s", c->about, notes);
	args_read(&args, argc, argv, o);
}

const struct command *load_options_read(struct load_options *o, int argc, char **argv)
{
	const struct command *c;
	char **words = must_alloc(NULL, (size_t)argc + 1, sizeof(*words)), name[64];
	int at = find_command(argc, argv, &c);

	if (!at)
		parse_without_command(argc, argv);
	/* argp's messages and help begin with "aiobench COMMAND"; the command is no argument. */
	snprintf(name, sizeof(name), "%s %s", msg_program(), c->name);
	memcpy(words, argv, ((size_t)argc + 1) * sizeof(*words));
	memmove(&words[at], &words[at + 1], (size_t)(argc - at) * sizeof(*words));
	words[0] = name;
	load_options_init(o);
	parse_command(o, c, argc - 1, words);
	free(words);
	o->argc = argc;
	o->argv = argv;
	load_options_finish(o, o->set.mix.kind == SP_BENCHSET_SCANS ? SCANS_DEPTH : c->depth,
			    c->runtime_s * 1000000000ull);
	return c;
}

static int run_command(struct load_options *o, const struct command *c)
{
	check_outputs(o);
	statsfile_open(&o->stats_file, o->stats);
	return c->run(o);
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
	stdio_finish();
	return status;
}
