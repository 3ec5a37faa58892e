/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "args.h"
#include "gnuplot.h"
#include "msg.h"
#include "number.h"
#include "quote.h"
#include "diskprobe.h"

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
	{ .doc = "Probing:", .group = 1 },
	{ "quick", NULL, "Period, some tracks in three places, settling: under a minute",
	  TO(probe.quick), GIVEN(extent) },
	{ "full", NULL, "Every zone, the whole seek curve (default)", TO(probe.quick),
	  .clear = true, GIVEN(extent) },
	{ "resume", "FILE", "Go on from a partial geometry", TO(resume) },
	{ "overwrite", "OFFSET:LENGTH", "Bytes of DEVICE that may be overwritten to measure writes",
	  TO(probe), .call = set_overwrite },
	{ "seed", "N", "Another N, other random choices (0)", TO(probe.seed),
	  .number = { 0, UINT64_MAX }, GIVEN(seed) },
	{ .doc = "Results:", .group = 2 },
	{ "output", "FILE", "Write the geometry to FILE; - is standard output", TO(output),
	  .letter = 'o' },
	{ "plot", "FILE", "Draw it with gnuplot: FILE.png or FILE.svg", TO(plot),
	  .call = gnuplot_set },
	{ "stats", "FILE", "Write the report as JSON; on standard error if no FILE", TO(stats),
	  .optional = true },
	{ "require", NULL, "Exit with 1 if DEVICE has no tracks", TO(require) },
	{ "progress", "WHEN", "Show how far it has come: auto (default), always, never",
	  TO(progress), .words = progress_words, .optional = true, .absent = PROGRESS_ALWAYS },
	{ .doc = "Using a geometry:", .group = 3 },
	{ "geometry", "FILE", "Answer from FILE instead of probing", TO(geometry) },
	{ "verify", NULL,
	  "Foretell the responses of 1000 pairs of reads, make them on DEVICE, and compare",
	  TO(verify) },
	{ "step", "N", "Adjacent: number of tracks to the next block (1)", TO(step),
	  .number = { 1, UINT64_MAX }, GIVEN(step) },
	{ "conservatism", "DEG", "Adjacent: aim this many degrees later (0)", TO(conservatism_deg),
	  .call = set_degrees, GIVEN(conservatism) },
	{ "write", NULL, "Adjacent: for writes", TO(write) },
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

static void refuse(struct argp_state *state, bool given, const char *option, const char *needs)
{
	if (given)
		argp_error(state, "%s needs %s", option, needs);
}

/* An answer from a file probes nothing. */
static void check_probing(struct argp_state *state, const struct config *c)
{
	static const char needs[] = "a device to probe, not --geometry";

	refuse(state, c->given.extent, c->probe.quick ? "--quick" : "--full", needs);
	refuse(state, c->probe.overwrite_bytes, "--overwrite", needs);
	refuse(state, c->given.seed && !c->verify, "--seed", needs);
	refuse(state, c->output, "--output", needs);
	refuse(state, c->plot, "--plot", needs);
	refuse(state, c->require, "--require", needs);
	refuse(state, c->stats && !c->verify, "--stats", needs);
}

static void check_answer(struct argp_state *state, const struct config *c)
{
	static const char needs[] = "adjacent LBN";

	refuse(state, c->given.step, "--step", needs);
	refuse(state, c->given.conservatism, "--conservatism", needs);
	refuse(state, c->write, "--write", needs);
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
	if (c->geometry)
		check_probing(state, c);
	if (c->ask != ASK_ADJACENT)
		check_answer(state, c);
}

static void take_operand(struct argp_state *state, void *config, char *arg)
{
	if (arg)
		operand(config, arg);
	else
		check(state, config);
}

void options_parse(struct config *c, int argc, char **argv)
{
	static const struct args args = { settings, usage, doc, take_operand };

	c->lbns = must_alloc(NULL, (unsigned long)argc, sizeof(*c->lbns));
	c->step = 1;
	args_read(&args, argc, argv, c);
}
