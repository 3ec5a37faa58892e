/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/version.h>
#include "args.h"
#include "gnuplot.h"
#include "msg.h"
#include "number.h"
#include "diskprobe.h"

const char *argp_program_version = "diskprobe (Spindle) " SP_VERSION;

static const char doc[] =
	"Finds out by timing alone what a storage device is: rotation period, zones, track "
	"boundaries, seek curve, adjacent blocks; or that it has no tracks, and what is true "
	"of it instead.  Reads only, except where --overwrite allows writes.\n"
	"\v"
	"DEVICE is a block device, a regular file, or sim:MODEL[,noise=SD[/TAIL%[/MEAN]]]"
	"[,seed=N].\n"
	"SIZE may have a suffix of K, M, G, T (powers of 1024).\n"
	"\n"
	"Exit status: 0 if all went well, 1 if --require found no tracks, 2 after an error.\n"
	"\n"
	"Examples:\n"
	"  diskprobe /dev/sdb -o sdb.json\n"
	"  diskprobe --quick sim:atlas10k3-like,noise=20us/2%/1ms\n"
	"  diskprobe --geometry=sdb.json adjacent 123456 --step=8\n"
	"  diskprobe --geometry=sdb.json --verify /dev/sdb\n";

static const char usage[] =
	"DEVICE\n--geometry=FILE tracks LBN...\n--geometry=FILE adjacent LBN...\n"
	"DEVICE tracks LBN...\nDEVICE adjacent LBN...";

enum option_key {
	OPT_QUICK = 256,
	OPT_FULL,
	OPT_RESUME,
	OPT_VERIFY,
	OPT_GEOMETRY,
	OPT_STEP,
	OPT_CONSERVATISM,
	OPT_WRITE,
	OPT_PLOT,
	OPT_REQUIRE,
	OPT_STATS,
	OPT_SEED,
	OPT_OVERWRITE,
	OPT_PROGRESS,
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "Probing:", 1 },
	{ "quick", OPT_QUICK, 0, 0, "Period, some tracks in three places, settling: under a minute",
	  0 },
	{ "full", OPT_FULL, 0, 0, "Every zone, the whole seek curve (default)", 0 },
	{ "resume", OPT_RESUME, "FILE", 0, "Go on from a partial geometry", 0 },
	{ "overwrite", OPT_OVERWRITE, "OFFSET:LENGTH", 0,
	  "Bytes of DEVICE that may be overwritten to measure writes", 0 },
	{ "seed", OPT_SEED, "N", 0, "Another N, other random choices (0)", 0 },
	{ 0, 0, 0, 0, "Results:", 2 },
	{ "output", 'o', "FILE", 0, "Write the geometry to FILE; - is standard output", 0 },
	{ "plot", OPT_PLOT, "FILE", 0, "Draw it with gnuplot: FILE.png or FILE.svg", 0 },
	{ "stats", OPT_STATS, "FILE", OPTION_ARG_OPTIONAL,
	  "Write the report as JSON; on standard error if no FILE", 0 },
	{ "require", OPT_REQUIRE, 0, 0, "Exit with 1 if DEVICE has no tracks", 0 },
	{ "progress", OPT_PROGRESS, "WHEN", OPTION_ARG_OPTIONAL,
	  "Show how far it has come: auto (default), always, never", 0 },
	{ 0, 0, 0, 0, "Using a geometry:", 3 },
	{ "geometry", OPT_GEOMETRY, "FILE", 0, "Answer from FILE instead of probing", 0 },
	{ "verify", OPT_VERIFY, 0, 0,
	  "Foretell the responses of 1000 pairs of reads, make them on DEVICE, and compare", 0 },
	{ "step", OPT_STEP, "N", 0, "Adjacent: number of tracks to the next block (1)", 0 },
	{ "conservatism", OPT_CONSERVATISM, "DEG", 0, "Adjacent: aim this many degrees later (0)",
	  0 },
	{ "write", OPT_WRITE, 0, 0, "Adjacent: for writes", 0 },
	{ 0 },
};

static double degrees(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !isfinite(v))
		die("invalid --conservatism argument '%s': valid are such as 4 and 0.5", text);
	return v;
}

static void overwrite(struct config *c, const char *text)
{
	size_t bytes = strlen(text) + 1, at = strcspn(text, ":");
	char *copy = must_alloc(NULL, 1, bytes);

	if (!text[at])
		die("invalid --overwrite argument '%s': valid is OFFSET:LENGTH, such as 1G:64M",
		    text);
	memcpy(copy, text, bytes);
	copy[at] = '\0';
	c->probe.overwrite_offset = size_option("--overwrite", copy, 1);
	c->probe.overwrite_bytes = size_option("--overwrite", copy + at + 1, 1);
	if (!c->probe.overwrite_bytes)
		die("invalid --overwrite argument '%s': the length is 0", text);
	free(copy);
}

static void operand(struct config *c, char *arg)
{
	if (c->ask != ASK_PROBE) {
		c->lbns[c->nlbns++] = arg;
	} else if ((c->probe.device || c->geometry) && !strcmp(arg, "tracks")) {
		c->ask = ASK_TRACKS;
	} else if ((c->probe.device || c->geometry) && !strcmp(arg, "adjacent")) {
		c->ask = ASK_ADJACENT;
	} else if (c->probe.device) {
		die("extra operand '%s'", arg);
	} else {
		c->probe.device = arg;
	}
}

static void check(struct argp_state *state, const struct config *c)
{
	if (c->ask != ASK_PROBE && !c->nlbns)
		argp_error(state, "missing LBN");
	if (!c->probe.device && (c->ask == ASK_PROBE || c->verify))
		argp_error(state, "missing device");
	if (c->geometry && c->ask == ASK_PROBE && !c->verify)
		argp_error(state, "--geometry needs tracks, adjacent or --verify");
	if (c->geometry && c->resume)
		argp_error(state, "--geometry and --resume exclude each other");
	if (c->resume && c->probe.quick)
		argp_error(state, "--resume and --quick exclude each other");
}

/* Options about a geometry that is there already. */
static error_t parse_use(int key, char *arg, struct config *c)
{
	switch (key) {
	case OPT_GEOMETRY:
		c->geometry = arg;
		return 0;
	case OPT_VERIFY:
		c->verify = true;
		return 0;
	case OPT_STEP:
		c->step = number_option("--step", arg, 1);
		return 0;
	case OPT_CONSERVATISM:
		c->conservatism_deg = degrees(arg);
		return 0;
	case OPT_WRITE:
		c->write = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct config *c = state->input;

	switch (key) {
	case OPT_QUICK:
	case OPT_FULL:
		c->probe.quick = key == OPT_QUICK;
		return 0;
	case OPT_RESUME:
		c->resume = arg;
		return 0;
	case OPT_OVERWRITE:
		overwrite(c, arg);
		return 0;
	case OPT_SEED:
		c->probe.seed = number_option("--seed", arg, 0);
		return 0;
	case 'o':
		c->output = arg;
		return 0;
	case OPT_PLOT:
		gnuplot_check("--plot", arg);
		c->plot = arg;
		return 0;
	case OPT_STATS:
		c->stats = arg ? arg : "-";
		return 0;
	case OPT_REQUIRE:
		c->require = true;
		return 0;
	case OPT_PROGRESS:
		c->progress = progress_option("--progress", arg, 2);
		return 0;
	case ARGP_KEY_ARG:
		operand(c, arg);
		return 0;
	case ARGP_KEY_END:
		check(state, c);
		return 0;
	default:
		return parse_use(key, arg, c);
	}
}

void options_parse(struct config *c, int argc, char **argv)
{
	static const struct argp argp = { options, parse, usage, doc, 0, 0, 0 };

	c->lbns = must_alloc(NULL, (unsigned long)argc, sizeof(*c->lbns));
	c->step = 1;
	args_parse(&argp, argc, argv, c);
}
