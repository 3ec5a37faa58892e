/* SPDX-License-Identifier: MIT */
/*
 * Options of the commands that measure several settings.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "choice.h"
#include "gnuplot.h"
#include "msg.h"
#include "aiobench.h"

#define SET_RUNTIME_NS 30000000000

enum {
	OPT_SHARES = 640,
	OPT_SHARE_OF,
	OPT_SCANS,
	OPT_HIGH,
	OPT_LOW,
	OPT_A,
	OPT_B,
	OPT_INTERLEAVE,
	OPT_PLOT,
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "Options of mix:", 9 },
	{ "shares", OPT_SHARES, "LIST", 0,
	  "Ascending percentages of high priority (0,10,20 and so on to 100)", 9 },
	{ "share-of", OPT_SHARE_OF, "WHAT", 0,
	  "Shares of the requests outstanding (default), or issued", 9 },
	{ "scans", OPT_SCANS, "N", OPTION_ARG_OPTIONAL,
	  "Instead of shares: random requests of high priority beside N (3) sequential "
	  "readers",
	  9 },
	{ "high", OPT_HIGH, "PRIO", 0, "The high priority (rt)", 9 },
	{ "low", OPT_LOW, "PRIO", 0, "The low priority (be)", 9 },
	{ 0, 0, 0, 0, "Options of compare:", 10 },
	{ "a", OPT_A, "OPTIONS", 0, "Setting A: additional options, separated by blanks", 10 },
	{ "b", OPT_B, "OPTIONS", 0, "Setting B", 10 },
	{ "interleave", OPT_INTERLEAVE, "N", 0, "Run A and B in turn, N times each (15)", 10 },
	{ "plot", OPT_PLOT, "FILE", 0, "Draw the results with gnuplot: FILE.png or FILE.svg", 5 },
	{ 0 },
};

static void parse_shares(struct set_options *s, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, ",");
		char word[32];

		if (!n || n >= sizeof(word))
			die("invalid --shares argument '%s': valid is a list such as 0,10,50",
			    text);
		if (s->mix.nshares == SP_BENCHSET_SHARES_MAX)
			die("more than %d --shares", SP_BENCHSET_SHARES_MAX);
		memcpy(word, text, n);
		word[n] = 0;
		s->shares[s->mix.nshares++] = percent_value("--shares", word);
		text += text[n] ? n + 1 : n;
	}
}

static error_t parse_mix(int key, char *arg, struct set_options *s)
{
	static const struct sp_word of[] = { { "outstanding", 0 }, { "issued", 1 }, { NULL, 0 } };

	switch (key) {
	case OPT_SHARES:
		parse_shares(s, arg);
		return 0;
	case OPT_SHARE_OF:
		s->mix.of_issued = choice_option("--share-of", arg, of, 2);
		return 0;
	case OPT_SCANS:
		s->mix.kind = SP_BENCHSET_SCANS;
		s->mix.readers = arg ? count_value("--scans", arg, 15) : 3;
		return 0;
	case OPT_HIGH:
		s->mix.high = prio_value("--high", arg);
		return 0;
	case OPT_LOW:
		s->mix.low = prio_value("--low", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct set_options *s = &((struct load_options *)state->input)->set;

	switch (key) {
	case OPT_A:
		s->a = arg;
		return 0;
	case OPT_B:
		s->b = arg;
		return 0;
	case OPT_INTERLEAVE:
		s->pairs = count_value("--interleave", arg, 200);
		return 0;
	case OPT_PLOT:
		gnuplot_check("--plot", arg);
		s->plot = arg;
		return 0;
	default:
		return parse_mix(key, arg, s);
	}
}

const struct argp set_argp = { options, parse, 0, 0, 0, 0, 0 };

void set_options_init(struct set_options *s)
{
	*s = (struct set_options){ .mix = { .high = SP_BENCH_PRIO(SP_BENCH_RT, 4),
					    .low = SP_BENCH_PRIO(SP_BENCH_BE, 4) } };
}

void set_options_load(struct load_options *o)
{
	struct sp_bench_opts *b = &o->bench;

	if (!o->job)
		return;
	b->total_bytes = 0;
	if (!b->runtime_ns)
		b->runtime_ns = SET_RUNTIME_NS;
	if (b->nclasses > 1 || b->classes[0].rate > 0)
		return;
	o->classes[0] = b->classes[0];
	o->classes[0].depth = 0;
	o->classes[0].share = 1;
	b->classes = o->classes;
}
