/* SPDX-License-Identifier: MIT */
/*
 * The options of a load: fio's names and meanings where fio has them.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include "choice.h"
#include "common_options.h"
#include "msg.h"
#include "number.h"
#include "aiobench.h"

enum option_key {
	OPT_RW = 256,
	OPT_BS,
	OPT_SIZE,
	OPT_OFFSET,
	OPT_MIX,
	OPT_DISTRIBUTION,
	OPT_STRIDE,
	OPT_SEED,
	OPT_CLASS,
	OPT_DEPTH,
	OPT_RATE,
	OPT_RATE_PROCESS,
	OPT_RUNTIME,
	OPT_RAMP,
	OPT_IO_SIZE,
	OPT_BATCH,
	OPT_BATCH_MIN,
	OPT_BATCH_MAX,
	OPT_ENGINE,
	OPT_DIRECT,
	OPT_FIXED,
	OPT_FILES,
	OPT_FALLBACK,
	OPT_CREATE,
	OPT_REMOVE,
	OPT_OVERWRITE,
	OPT_CONTINUE,
	OPT_STATS,
	OPT_INTERVAL,
	OPT_STATUS,
	OPT_TRACE,
};

#define HIDE_ARG OPTION_ARG_OPTIONAL

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "Requests:", 1 },
	{ "rw", OPT_RW, "OP", 0, "read, write, rw, randread (default), randwrite, randrw", 1 },
	{ "bs", OPT_BS, "SIZE", 0, "Request size (4K)", 1 },
	{ "size", OPT_SIZE, "SIZE", 0, "How much of each TARGET to use (to its end)", 1 },
	{ "offset", OPT_OFFSET, "SIZE", 0, "Where the used part begins (0)", 1 },
	{ "rwmixread", OPT_MIX, "PERCENT", 0, "Share of reads in a mix (50)", 1 },
	{ "random_distribution", OPT_DISTRIBUTION, "DIST", 0,
	  "Distribution of random requests: random (default), zipf:THETA", 1 },
	{ "stride", OPT_STRIDE, "SIZE", 0, "Distance between sequential requests", 1 },
	{ "randseed", OPT_SEED, "N", 0, "Seed of everything random (1)", 1 },
	{ "class", OPT_CLASS, "NAME:KEY=VALUE,...", 0,
	  "A class of requests; may be repeated.  Keys: share or depth or rate; "
	  "prio=rt|be|idle[/LEVEL], "
	  "op, size, pattern=seq|random|stride:SIZE|zipf:THETA, rwmixread, target=NUMBER, offset, "
	  "range",
	  1 },
	{ 0, 0, 0, 0, "Depth, rate and duration:", 2 },
	{ "iodepth", OPT_DEPTH, "N", 0,
	  "Outstanding requests (1; mix: 200, with --scans 64; policy: 128); sweep: the most (256)",
	  2 },
	{ "rate_iops", OPT_RATE, "N", 0,
	  "Requests per second, at most --iodepth outstanding; latency runs from when each was due",
	  2 },
	{ "rate_process", OPT_RATE_PROCESS, "HOW", 0, "Arrivals: linear (default) or poisson", 2 },
	{ "runtime", OPT_RUNTIME, "TIME", 0,
	  "Duration (10 unless --io_size; sweep, mix and compare: 30 in total; policy: 3 for each "
	  "run; watch and "
	  "replay: no limit)",
	  2 },
	{ "ramp_time", OPT_RAMP, "TIME", 0, "Run this long before measuring (0)", 2 },
	{ "io_size", OPT_IO_SIZE, "SIZE", 0, "End after requests for this many bytes", 2 },
	{ "iodepth_batch", OPT_BATCH, "N", 0, "Submit at most N in one call (1)", 2 },
	{ "iodepth_batch_complete_min", OPT_BATCH_MIN, "N", 0, "Wait for N completions (1)", 2 },
	{ "iodepth_batch_complete_max", OPT_BATCH_MAX, "N", 0,
	  "Take at most N completions at once (as many as are waited for)", 2 },
	{ 0, 0, 0, 0, "Engine:", 3 },
	{ "ioengine", OPT_ENGINE, "NAME", 0, "auto (default), io_uring, libaio, sync, null", 3 },
	{ "direct", OPT_DIRECT, "0|1", HIDE_ARG, "Bypass the page cache (1)", 3 },
	{ "fixedbufs", OPT_FIXED, "0|1", HIDE_ARG, "io_uring: registered buffers", 3 },
	{ "registerfiles", OPT_FILES, "0|1", HIDE_ARG, "io_uring: registered files", 3 },
	{ "no-fallback", OPT_FALLBACK, 0, 0, "Fail if class rt is not allowed", 3 },
	{ "trace", OPT_TRACE, "FILE", 0, "Write a trace of all requests to FILE", 3 },
	{ 0, 0, 0, 0, "Safety of data:", 4 },
	{ "create", OPT_CREATE, "HOW", HIDE_ARG,
	  "Create each TARGET, a file of --size: written (default), reserved, sparse", 4 },
	{ "remove", OPT_REMOVE, 0, 0, "Remove at the end what --create created", 4 },
	{ "overwrite", OPT_OVERWRITE, 0, 0, "Allow writing to a TARGET that already exists", 4 },
	{ "continue_on_error", OPT_CONTINUE, 0, 0, "Count failed requests and continue", 4 },
	{ 0, 0, 0, 0, "Reports:", 5 },
	{ "stats", OPT_STATS, "FILE", HIDE_ARG,
	  "Write the report as JSON to FILE or standard error", 5 },
	{ "status-interval", OPT_INTERVAL, "TIME", 0, "Write a line of JSON for each interval", 5 },
	{ "status", OPT_STATUS, "FILE", 0, "Write these lines to FILE (standard error)", 5 },
	{ 0 },
};

void load_options_init(struct load_options *o)
{
	*o = (struct load_options){ 0 };
	o->plain = (struct sp_bench_class){
		.name = "all", .share = 1, .reads = 1, .bytes = 4096, .pattern = SP_BENCH_RANDOM
	};
	o->mix = -1;
	sp_policy_defaults(&o->policy.policy);
	o->bench = (struct sp_bench_opts){ .seed = 1, .stop = &interrupted };
	o->bench.targets = o->targets;
	o->bench.classes = o->classes;
	set_options_init(&o->set);
}

/* Values that classes start from. */
static error_t parse_plain(int key, char *arg, struct load_options *o)
{
	switch (key) {
	case OPT_RW:
		sp_bench_class_rw(&o->plain, choice_option("--rw", arg, sp_bench_rw_words(), 2));
		return 0;
	case OPT_BS:
		o->plain.bytes = request_value("--bs", arg);
		return 0;
	case OPT_MIX:
		o->mix = percent_value("--rwmixread", arg);
		return 0;
	case OPT_DISTRIBUTION:
		o->distribution = arg;
		return 0;
	case OPT_STRIDE:
		o->plain.stride_bytes = bytes_value("--stride", arg);
		return 0;
	case OPT_CLASS:
		if (o->nclass_text == SP_BENCH_CLASSES_MAX)
			die("more than %d classes", SP_BENCH_CLASSES_MAX);
		o->class_text[o->nclass_text++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static enum sp_bench_create create_value(const char *arg)
{
	return arg ? (enum sp_bench_create)choice_option("--create", arg, sp_bench_create_words(),
							 2)
		   : SP_BENCH_CREATE_WRITTEN;
}

static bool poisson_value(const char *arg)
{
	return choice_option("--rate_process", arg, sp_bench_process_words(), 2);
}

static error_t parse_amount(int key, char *arg, struct sp_bench_opts *b)
{
	switch (key) {
	case OPT_SIZE:
		b->size_bytes = bytes_value("--size", arg);
		return 0;
	case OPT_OFFSET:
		b->offset_bytes = bytes_value("--offset", arg);
		return 0;
	case OPT_DEPTH:
		b->depth = count_value("--iodepth", arg, SP_BENCH_DEPTH_MAX);
		return 0;
	case OPT_RATE:
		b->rate = number_value("--rate_iops", arg, 1e-6, 1e9);
		return 0;
	case OPT_RATE_PROCESS:
		b->poisson = poisson_value(arg);
		return 0;
	case OPT_RUNTIME:
		b->runtime_ns = span_value("--runtime", arg);
		return 0;
	case OPT_RAMP:
		b->ramp_ns = time_value("--ramp_time", arg);
		return 0;
	case OPT_IO_SIZE:
		b->total_bytes = bytes_value("--io_size", arg);
		return 0;
	case OPT_BATCH:
		b->batch_submit = count_value("--iodepth_batch", arg, SP_BENCH_DEPTH_MAX);
		return 0;
	case OPT_BATCH_MIN:
		b->batch_min = count_value("--iodepth_batch_complete_min", arg, SP_BENCH_DEPTH_MAX);
		return 0;
	case OPT_BATCH_MAX:
		b->batch_max = count_value("--iodepth_batch_complete_max", arg, SP_BENCH_DEPTH_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_manner(int key, char *arg, struct sp_bench_opts *b)
{
	switch (key) {
	case OPT_SEED:
		b->seed = number_option("--randseed", arg, 0);
		return 0;
	case OPT_ENGINE:
		b->engine = engine_option("--ioengine", arg, 2);
		return 0;
	case OPT_DIRECT:
		b->buffered = !bool_value("--direct", arg);
		return 0;
	case OPT_FIXED:
		b->fixed_buffers = bool_value("--fixedbufs", arg);
		return 0;
	case OPT_FILES:
		b->register_files = bool_value("--registerfiles", arg);
		return 0;
	case OPT_FALLBACK:
		b->no_fallback = true;
		return 0;
	case OPT_TRACE:
		b->trace = arg;
		return 0;
	case OPT_CREATE:
		b->create = create_value(arg);
		return 0;
	case OPT_REMOVE:
		b->remove = true;
		return 0;
	case OPT_OVERWRITE:
		b->overwrite = true;
		return 0;
	case OPT_CONTINUE:
		b->keep_going = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct load_options *o = state->input;
	error_t rc;

	switch (key) {
	case OPT_STATS:
		o->stats = arg ? arg : "-";
		return 0;
	case OPT_INTERVAL:
		o->bench.interval_ns = span_value("--status-interval", arg);
		return 0;
	case OPT_STATUS:
		o->status = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!*arg)
			die("'': %s", strerror(ENOENT));
		if (o->bench.ntargets == SP_BENCH_TARGETS_MAX)
			argp_error(state, "more than %d targets", SP_BENCH_TARGETS_MAX);
		o->targets[o->bench.ntargets++] = arg;
		return 0;
	case OPT_DEPTH:
	case OPT_RUNTIME:
		o->depth_given |= key == OPT_DEPTH;
		o->runtime_given |= key == OPT_RUNTIME;
		return parse_amount(key, arg, &o->bench);
	default:
		rc = parse_plain(key, arg, o);
		o->plain_given |= rc == 0;
		o->bytes_given |= key == OPT_BS;
		rc = rc ? parse_amount(key, arg, &o->bench) : rc;
		return rc ? parse_manner(key, arg, &o->bench) : rc;
	}
}

const struct argp load_argp = { options, parse, 0, 0, 0, 0, 0 };

/* Values of all classes; --class may change them. */
static void finish_plain(struct load_options *o)
{
	struct sp_bench_class *c = &o->plain;

	if (o->mix >= 0 && c->reads > 0 && c->reads < 1)
		c->reads = o->mix;
	if (c->stride_bytes && c->pattern == SP_BENCH_SEQUENTIAL)
		c->pattern = SP_BENCH_STRIDED;
	else if (c->stride_bytes)
		die("--stride needs sequential requests");
	if (o->distribution && c->pattern != SP_BENCH_RANDOM)
		die("--random_distribution needs random requests");
	if (o->distribution &&
	    (sp_bench_class_pattern(c, o->distribution) || c->pattern == SP_BENCH_SEQUENTIAL ||
	     c->pattern == SP_BENCH_STRIDED))
		die("invalid --random_distribution argument '%s': random or zipf:THETA",
		    o->distribution);
}

/* Classes without a share divide the rest equally. */
static void finish_shares(struct load_options *o)
{
	double left = 1;
	unsigned without = 0;

	for (size_t i = 0; i < o->bench.nclasses; i++) {
		struct sp_bench_class *c = &o->classes[i];

		if (c->depth || c->rate > 0) {
			if (c->share >= 0)
				die("--class %s: share goes with neither depth nor rate", c->name);
			c->share = 0;
		} else if (c->share >= 0) {
			left -= c->share;
		} else {
			without++;
		}
	}
	for (size_t i = 0; i < o->bench.nclasses; i++)
		if (o->classes[i].share < 0)
			o->classes[i].share = left > 0 ? left / without : 0;
}

/* The classes that --class describes, or the only one. */
static void finish_classes(struct load_options *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	finish_plain(o);
	o->bench.nclasses = o->nclass_text ? o->nclass_text : 1;
	for (size_t i = 0; i < o->bench.nclasses; i++)
		o->classes[i] = o->plain;
	for (size_t i = 0; i < o->nclass_text; i++) {
		char *text = strdup(o->class_text[i]);

		if (!text)
			die("memory exhausted");
		o->classes[i].share = -1;
		if (sp_bench_class_parse(&o->classes[i], text, &err) < 0)
			die("--class %s", err.text);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(o->classes[k].name, o->classes[i].name))
				die("two classes are named '%s'", o->classes[i].name);
	}
	finish_shares(o);
}

void load_options_finish(struct load_options *o, unsigned depth, uint64_t runtime_ns)
{
	if (o->job)
		fiojob_finish(o);
	else
		finish_classes(o);
	if (!o->bench.depth)
		o->bench.depth = depth;
	if (!o->bench.runtime_ns && !o->bench.total_bytes)
		o->bench.runtime_ns = runtime_ns;
}
