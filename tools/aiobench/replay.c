/* SPDX-License-Identifier: MIT */
/*
 * Repeats a trace: the first argument is the trace, the others are targets.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include "msg.h"
#include "aiobench.h"

enum { OPT_NO_STALL = 512, OPT_TIME_SCALE };

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "Options of replay:", 6 },
	{ "replay_no_stall", OPT_NO_STALL, "0|1", OPTION_ARG_OPTIONAL,
	  "As fast as the depth allows, ignoring recorded times", 6 },
	{ "replay_time_scale", OPT_TIME_SCALE, "PERCENT", 0,
	  "Speed of the recorded time (100); 200: twice as fast", 6 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct load_options *o = state->input;

	switch (key) {
	case OPT_NO_STALL:
		o->replay.no_stall = bool_value("--replay_no_stall", arg);
		return 0;
	case OPT_TIME_SCALE:
		o->replay.time_scale = number_value("--replay_time_scale", arg, 0.001, 1e9) / 100;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp replay_argp = { options, parse, 0, 0, 0, 0, 0 };

int command_replay(struct load_options *o)
{
	struct sp_bench_opts *b = &o->bench;

	if (b->ntargets < 2)
		die("replay needs a trace and a target");
	o->replay.trace = b->targets[0];
	b->targets++;
	b->ntargets--;
	b->nclasses = 0;
	b->replay = &o->replay;
	if (!o->depth_given)
		b->depth = 0;
	if (!o->runtime_given)
		b->runtime_ns = 0;
	return command_run(o);
}
