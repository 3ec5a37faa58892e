/* SPDX-License-Identifier: MIT */
/*
 * Reads and checks the command line of diskprobe.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "args.h"
#include "gnuplot.h"
#include "number.h"
#include "diskprobe.h"

static const char about[] =
	"Determines the geometry of a storage device by timing: rotation period, zones,\n"
	"track boundaries, seek curve, adjacent blocks.  For a device without tracks,\n"
	"measures latency and throughput.  Writes only with --measure-writes.";

static const char notes[] =
	"DEVICE is a block device, a regular file, or\n"
	"sim:MODEL[,noise=SD[/TAIL%[/MEAN]]][,seed=N].\n"
	"SIZE may have a suffix of K, M, G, T (powers of 1024).\n"
	"\n"
	"Exit status: 0 for success, 1 if --require found no tracks, 2 after an error.\n"
	"\n"
	"Examples:\n"
	"  diskprobe /dev/sdb -o sdb.json\n"
	"  diskprobe --quick sim:atlas10k3-like,noise=20us/2%/1ms\n"
	"  diskprobe --geometry=sdb.json adjacent 123456 --step=8\n"
	"  diskprobe --geometry=sdb.json --verify /dev/sdb\n";

static const char forms[] =
	"DEVICE\n--geometry=FILE tracks LBN...\n--geometry=FILE adjacent LBN...\n"
	"DEVICE tracks LBN...\nDEVICE adjacent LBN...";

static void set_degrees(void *to, const char *option, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !isfinite(v))
		die("invalid %s argument %s: valid are such as 4 and 0.5", option, quote(text));
	*(double *)to = v;
}

static void set_overwrite(void *probe, const char *option, const char *text)
{
	struct sp_probe_opts *p = probe;
	size_t at = strcspn(text, ":");
	char *copy = must_copy(text);

	if (!text[at])
		die("invalid %s argument %s: valid is OFFSET:LENGTH, such as 1G:64M", option,
		    quote(text));
	copy[at] = '\0';
	p->overwrite_offset = size_option(option, copy);
	p->overwrite_bytes = size_option(option, copy + at + 1);
	if (!p->overwrite_bytes)
		die("invalid %s argument %s: the length is 0", option, quote(text));
	free(copy);
}

#define TO(member) SETTING_TO(struct config, member)
#define GIVEN(member) .given = offsetof(struct config, given.member)

static const struct setting settings[] = {
	{ .doc = "Probing:" },
	{ "quick", NULL,
	  "probe the period, tracks at three locations and the settle time: below a minute",
	  TO(probe.quick), GIVEN(extent) },
	{ "full", NULL, "probe every zone and the whole seek curve (default)", TO(probe.quick),
	  .clear = true, GIVEN(extent) },
	{ "resume", "FILE", "continue from a partial geometry", TO(resume) },
	{ "measure-writes", "OFFSET:LENGTH",
	  "measure writes, too: they overwrite these bytes of DEVICE", TO(probe),
	  .call = set_overwrite, .former = "overwrite" },
	{ "seed", "N", "seed of all random choices (0)", TO(probe.seed),
	  .number = { 0, UINT64_MAX }, GIVEN(seed) },
	{ .doc = "Results:" },
	{ "output", "FILE", "write the geometry to FILE; - is standard output", TO(output),
	  .letter = 'o', .dash = SETTING_DASH_KEPT },
	{ "plot", "FILE", "draw the result with gnuplot to FILE.png, .svg or .pdf", TO(plot),
	  .call = gnuplot_set },
	STATS_SETTING(struct config, stats, 0),
	{ "require", NULL, "exit with status 1 if DEVICE has no tracks", TO(require) },
	PROGRESS_SETTING(struct config, progress, 0),
	{ .doc = "Using a geometry:" },
	{ "geometry", "FILE", "answer from FILE instead of probing", TO(geometry),
	  .dash = SETTING_DASH_INPUT },
	{ "verify", NULL,
	  "compare predicted and measured responses of 1000 pairs of reads on DEVICE", TO(verify) },
	{ "step", "N", "adjacent: number of tracks to the next block (1)", TO(step),
	  .number = { 1, UINT64_MAX }, GIVEN(step) },
	{ "conservatism", "DEG", "adjacent: aim this many degrees later (0)", TO(conservatism_deg),
	  .call = set_degrees, GIVEN(conservatism) },
	{ "write", NULL, "adjacent: find blocks for writes instead of reads", TO(write) },
	SETTING_ANSWERS,
	{ 0 },
};

static void operand(struct config *c, char *arg)
{
	if (c->ask != ASK_PROBE) {
		c->lbns[c->nlbns++] = arg;
	} else if ((c->probe.device || c->geometry) && !strcmp(arg, "tracks")) {
		c->ask = ASK_TRACKS;
	} else if ((c->probe.device || c->geometry) && !strcmp(arg, "adjacent")) {
		c->ask = ASK_ADJACENT;
	} else if (c->probe.device) {
		die("extra operand: %s", quote(arg));
	} else {
		c->probe.device = arg;
	}
}

static void refuse(bool given, const char *option, const char *needs)
{
	if (given)
		die_usage("%s needs %s", option, needs);
}

/* Refuses options of a probe if the answer comes from a file. */
static void check_probing(const struct config *c)
{
	static const char needs[] = "a device to probe, not --geometry";

	refuse(c->given.extent, c->probe.quick ? "--quick" : "--full", needs);
	refuse(c->probe.overwrite_bytes, "--measure-writes", needs);
	refuse(c->given.seed && !c->verify, "--seed", needs);
	refuse(c->output, "--output", needs);
	refuse(c->plot, "--plot", needs);
	refuse(c->require, "--require", needs);
	refuse(c->stats && !c->verify, "--stats", needs);
}

static void check_answer(const struct config *c)
{
	static const char needs[] = "adjacent LBN";

	refuse(c->given.step, "--step", needs);
	refuse(c->given.conservatism, "--conservatism", needs);
	refuse(c->write, "--write", needs);
}

static void check(const struct config *c)
{
	if (c->ask != ASK_PROBE && !c->nlbns)
		die_usage("missing LBN");
	if (!c->probe.device && (c->ask == ASK_PROBE || c->verify))
		die_usage("missing device");
	if (c->geometry && c->ask == ASK_PROBE && !c->verify)
		die_usage("--geometry needs tracks, adjacent or --verify");
	if (c->geometry && c->resume)
		die_usage("--geometry and --resume are incompatible");
	if (c->resume && c->probe.quick)
		die_usage("--resume and --quick are incompatible");
	if (c->geometry)
		check_probing(c);
	if (c->ask != ASK_ADJACENT)
		check_answer(c);
}

void options_parse(struct config *c, int argc, char **argv)
{
	static const struct args args = {
		.settings = settings, .operands = forms, .about = about, .notes = notes
	};
	struct operands operands;

	c->lbns = must_alloc(NULL, (unsigned long)argc, sizeof(*c->lbns));
	c->step = 1;
	args_read(&args, argc, argv, c, &operands);
	for (unsigned i = 0; i < operands.n; i++)
		operand(c, operands.text[i]);
	check(c);
}
