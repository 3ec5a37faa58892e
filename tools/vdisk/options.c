/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "args.h"
#include "number.h"
#include "quote.h"
#include "vdisk.h"

static const char doc[] =
	"A simulated drive as a real device: MOUNT/disk takes the time that the model says.\n"
	"\v"
	"SPEC is MODEL[,sched=NAME[:PARAMETERS]][,window=N[/fifo|/sptf]][,merge=yes|no|SIZE], with "
	"a "
	"model "
	"that is shipped or a file. MOUNT is an empty folder.\n"
	"SIZE may have a suffix of K, M, G, T (powers of 1024).\n"
	"\n"
	"The name of the device is printed when it is ready. It ends when it is unmounted, or by "
	"SIGINT or SIGTERM.\n"
	"\n"
	"Examples:\n"
	"  vdisk atlas10k3-like /mnt/v &\n"
	"  fio --filename=/mnt/v/disk --direct=1 --rw=randread ...\n"
	"  vdisk --loop --backing=image --size=8G nearline6t-like,sched=clook /mnt/v\n"
	"  cat /mnt/v/status\n";

#define TO(member) SETTING_TO(struct options, member)

static const struct setting settings[] = {
	{ "backing", "FILE", "Keep the bytes in FILE instead of in memory", TO(backing),
	  .group = 1 },
	{ "size", "SIZE", "Only so much of the drive, from its beginning", TO(size),
	  .whole = size_option, .given = offsetof(struct options, size_given) },
	{ "loop", NULL, "Attach a loop device, for what needs a block device", TO(loop) },
	{ "dilation", "N", "Let all take N times as long (1)", TO(dilation),
	  .number = { 1, 1000000 }, .group = 2 },
	{ "floor", "N",
	  "Take N microseconds off each request instead of what is measured at the start",
	  TO(floor_us), .number = { 0, 1000000 }, .given = offsetof(struct options, floor_given) },
	{ 0 },
};

static void operand(struct argp_state *state, void *options, char *arg)
{
	struct options *o = options;

	if (!arg && o->size_given && !o->size)
		argp_error(state, "--size: a drive has at least a block");
	else if (!arg && !o->mount)
		argp_error(state, o->spec ? "missing folder" : "missing model");
	else if (!o->spec)
		o->spec = arg;
	else if (!o->mount)
		o->mount = arg;
	else if (arg)
		argp_error(state, "extra operand: %s", quote(arg));
}

void parse_options(int argc, char **argv, struct options *o)
{
	static const struct args args = { settings, "SPEC MOUNT", doc, operand };

	*o = (struct options){ .dilation = 1 };
	args_read(&args, argc, argv, o);
}
