/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <spindle/version.h>
#include "args.h"
#include "number.h"
#include "vdisk.h"

const char *argp_program_version = "vdisk (Spindle) " SP_VERSION;

static const char doc[] =
	"A simulated drive as a real device: MOUNT/disk takes the time that the model says.\n"
	"\v"
	"SPEC is MODEL[,sched=NAME[:PARAMETERS]][,window=N[/fifo|/sptf]][,merge=yes|no], with a "
	"model "
	"that is shipped or a file. MOUNT is an empty folder.\n"
	"SIZE may have a suffix of K, M, G, T (powers of 1024).\n"
	"\n"
	"The name of the device is printed when it is ready. It ends when it is unmounted, or by "
	"SIGINT or SIGTERM.\n"
	"\n"
	"Examples:\n"
	"  vdisk atlas10k3-like /mnt/v & fio --filename=/mnt/v/disk --direct=1 --rw=randread ...\n"
	"  vdisk --loop --backing=image --size=8G nearline6t-like,sched=clook /mnt/v\n"
	"  cat /mnt/v/status\n";

enum option_key { OPT_BACKING = 256, OPT_SIZE, OPT_DILATION, OPT_FLOOR, OPT_LOOP };

static const struct argp_option options[] = {
	{ "backing", OPT_BACKING, "FILE", 0, "Keep the bytes in FILE instead of in memory", 1 },
	{ "size", OPT_SIZE, "SIZE", 0, "Only so much of the drive, from its beginning", 1 },
	{ "loop", OPT_LOOP, 0, 0, "Attach a loop device, for what needs a block device", 1 },
	{ "dilation", OPT_DILATION, "N", 0, "Let all take N times as long (1)", 2 },
	{ "floor", OPT_FLOOR, "N", 0,
	  "Take N microseconds off each request instead of what is measured at the start", 2 },
	{ 0 },
};

static void parse_argument(struct argp_state *state, struct options *o, const char *arg)
{
	if (!o->spec)
		o->spec = arg;
	else if (!o->mount)
		o->mount = arg;
	else
		argp_error(state, "extra operand: '%s'", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	uint64_t n;

	switch (key) {
	case OPT_BACKING:
		o->backing = arg;
		return 0;
	case OPT_SIZE:
		o->size = size_option("--size", arg, 1);
		if (!o->size)
			argp_error(state, "--size: a drive has at least a block");
		return 0;
	case OPT_DILATION:
		o->dilation = number_option("--dilation", arg, 1);
		if (o->dilation > 1000000)
			number_die(NUMBER_OVERFLOW, "--dilation", arg, "at most 1000000");
		return 0;
	case OPT_FLOOR:
		n = number_option("--floor", arg, 0);
		if (n > 1000000)
			number_die(NUMBER_OVERFLOW, "--floor", arg, "at most 1000000");
		o->floor_ns = (int64_t)n * 1000;
		return 0;
	case OPT_LOOP:
		o->loop = true;
		return 0;
	case ARGP_KEY_ARG:
		parse_argument(state, o, arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->mount)
			argp_error(state, o->spec ? "missing folder" : "missing model");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void parse_options(int argc, char **argv, struct options *o)
{
	static const struct argp argp = { options, parse, "SPEC MOUNT", doc, 0, 0, 0 };

	*o = (struct options){ .dilation = 1, .floor_ns = -1 };
	args_parse(&argp, argc, argv, o);
}
