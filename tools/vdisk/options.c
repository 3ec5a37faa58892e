/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line of vdisk.
 */
#include "args.h"
#include "number.h"
#include "vdisk.h"

static const char notes[] =
	"SPEC is MODEL[,sched=NAME[:PARAMETERS]][,window=N[/fifo|/sptf]]\n"
	"[,merge=yes|no|SIZE], with a model that is shipped or a file.\n"
	"MOUNT is an empty folder.\n"
	"SIZE may have a suffix of K, M, G, T (powers of 1024).\n"
	"\n"
	"The name of the device is printed when it is ready.  It ends when it is\n"
	"unmounted, or by SIGINT or SIGTERM.\n"
	"\n"
	"Examples:\n"
	"  vdisk atlas10k3-like /mnt/v &\n"
	"  fio --filename=/mnt/v/disk --direct=1 --rw=randread ...\n"
	"  vdisk --loop --backing=image --size=8G nearline6t-like,sched=clook /mnt/v\n"
	"  cat /mnt/v/status\n";

#define TO(member) SETTING_TO(struct options, member)

static const struct setting settings[] = {
	{ .doc = "The device:" },
	{ "backing", "FILE", "keep the bytes in FILE instead of in memory", TO(backing) },
	{ "size", "SIZE", "use only the first SIZE bytes of the drive", TO(size),
	  .whole = size_option, .given = offsetof(struct options, size_given) },
	{ "loop", NULL, "attach a loop device, to have a block device", TO(loop) },
	{ .doc = "Its time:" },
	{ "dilation", "N", "multiply all times by N (1)", TO(dilation), .number = { 1, 1000000 } },
	{ "floor", "N", "subtract N microseconds from each request (measured at the start)",
	  TO(floor_us), .number = { 0, 1000000 }, .given = offsetof(struct options, floor_given) },
	SETTING_ANSWERS,
	{ 0 },
};

void parse_options(int argc, char **argv, struct options *o)
{
	static const struct args args = {
		.settings = settings,
		.operands = "SPEC MOUNT",
		.about = "Presents a simulated drive as a real device: MOUNT/disk takes the time "
			 "that the\nmodel says.",
		.notes = notes,
	};
	struct operands operands;

	*o = (struct options){ .dilation = 1 };
	args_read(&args, argc, argv, o, &operands);
	if (operands.n > 2)
		die_usage("extra operand: %s", quote(operands.text[2]));
	if (o->size_given && !o->size)
		die_usage("--size: a drive has at least a block");
	if (operands.n < 2)
		die_usage(operands.n ? "missing folder" : "missing model");
	o->spec = operands.text[0];
	o->mount = operands.text[1];
}
