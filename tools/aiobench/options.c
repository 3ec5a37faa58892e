/* SPDX-License-Identifier: MIT */
/*
 * Reads the options of all commands: fio's names and meanings if fio has the option.
 */
#include <stdlib.h>
#include <string.h>
#include "common_options.h"
#include "gnuplot.h"
#include "aiobench.h"

static void set_rw(void *class, const char *option, const char *text)
{
	sp_bench_class_rw(class, choice_option(option, text, sp_bench_rw_values()));
}

static uint64_t request_value(const char *option, const char *text)
{
	uint64_t v = size_option(option, text);

	if (!v || v > 1u << 30)
		die("%s argument %s is not within 1 and 1G", option, quote(text));
	return v;
}

static uint64_t prio_value(const char *option, const char *text)
{
	uint16_t prio;

	if (sp_bench_prio_parse(text, &prio))
		die("invalid %s argument %s: rt or be (optionally with /0 to /7), idle or "
		    "default",
		    option, quote(text));
	return prio;
}

static void add_class(void *load, const char *option, const char *text)
{
	struct config *o = load;

	(void)option;
	if (o->nclass_text == SP_BENCH_CLASSES_MAX)
		die("more than %d classes", SP_BENCH_CLASSES_MAX);
	o->class_text[o->nclass_text++] = text;
}

static void set_percent(void *to, const char *option, const char *text)
{
	*(double *)to = percent_value(option, text);
}

static uint64_t round_value(const char *option, const char *text)
{
	return text ? span_value(option, text) : 1000000000;
}

static void set_direct(void *buffered, const char *option, const char *text)
{
	*(bool *)buffered = !bool_value(option, text);
}

static void set_time_scale(void *to, const char *option, const char *text)
{
	*(double *)to = number_value(option, text, 0.001, 1e9) / 100;
}

static void add_shares(void *set, const char *option, const char *text)
{
	struct set_options *s = set;

	while (*text) {
		size_t n = strcspn(text, ",");
		char word[32];

		if (!n || n >= sizeof(word))
			die("invalid %s argument %s: valid is a list such as 0,10,50", option,
			    quote(text));
		if (s->mix.nshares == SP_BENCHSET_SHARES_MAX)
			die("more than %d %s", SP_BENCHSET_SHARES_MAX, option);
		memcpy(word, text, n);
		word[n] = 0;
		s->shares[s->mix.nshares++] = percent_value(option, word);
		text += text[n] ? n + 1 : n;
	}
}

static void set_scans(void *to, const char *option, const char *text)
{
	struct sp_benchset_mix *mix = to;

	mix->kind = SP_BENCHSET_SCANS;
	mix->readers = text ? count_value(option, text, 15) : 3;
}

/* Reads a list of names as bits. */
static unsigned list_value(const char *option, const char *text, const struct sp_enum_value *words)
{
	char *copy = must_copy(text), *rest = copy, *word;
	unsigned bits = 0;

	while ((word = strsep(&rest, ",")) != NULL)
		bits |= 1u << choice_option(option, word, words);
	free(copy);
	return bits;
}

static void set_loads(void *to, const char *option, const char *text)
{
	*(unsigned *)to = list_value(option, text, sp_policy_load_values());
}

static void set_submissions(void *to, const char *option, const char *text)
{
	*(unsigned *)to = list_value(option, text, sp_policy_submission_values());
}

static const struct sp_enum_value priorities_words[] = {
	{ "no", PRIORITIES_NO }, { "yes", PRIORITIES_YES }, { "both", PRIORITIES_BOTH }, { 0 }
};

#define TO(member) SETTING_TO(struct config, member)
#define GIVEN(member) .given = offsetof(struct config, member)
#define PARTIAL(option) TO(policy.policy.option), GIVEN(policy.given.option)
#define DEPTH .count = SP_BENCH_DEPTH_MAX

#define LOADS (ALL & ~(REPLAY | WATCH | POLICY)) /* commands whose requests the options describe */
#define RUNS (ALL & ~WATCH)

const struct setting load_settings[] = {
	{ .doc = "Requests:", .by = LOADS },
	{ "rw", "OP", "read, write, rw, randread, randwrite or randrw (randread)", TO(plain),
	  .values = sp_bench_rw_values, .call = set_rw, GIVEN(plain_given) },
	{ "bs", "SIZE", "request size (4K; policy: page size, 16K)", TO(plain.bytes),
	  .whole = request_value, GIVEN(bytes_given), .by = LOADS | POLICY },
	{ "size", "SIZE", "bytes of each TARGET to use (all)", TO(bench.size_bytes),
	  .whole = size_option, .by = RUNS },
	{ "offset", "SIZE", "offset of the first byte to use (0)", TO(bench.offset_bytes),
	  .whole = size_option, .by = RUNS },
	{ "rwmixread", "PERCENT", "share of reads if --rw is a mix (50)", TO(mix),
	  .call = set_percent, GIVEN(plain_given) },
	{ "random_distribution", "DIST",
	  "distribution of random requests: random, shuffled or zipf:THETA (random)",
	  TO(distribution), GIVEN(plain_given) },
	{ "stride", "SIZE", "distance between the starts of sequential requests",
	  TO(plain.stride_bytes), .whole = size_option, GIVEN(plain_given) },
	{ "seed", "N", "seed of all random choices (1)", TO(bench.seed),
	  .number = { 0, UINT64_MAX }, .by = RUNS, .former = "randseed" },
	{ "class", "NAME:KEY=VALUE,...",
	  "a class of requests; may be repeated;\nkeys: share, depth or rate; "
	  "prio=rt|be|idle[/LEVEL]; op; size; pattern=seq|random|shuffled|stride:SIZE|zipf:THETA; "
	  "rwmixread; target=NUMBER; offset; range",
	  .call = add_class },
	{ .doc = "Depth, rate and duration:", .by = LOADS | REPLAY },
	{ "depth", "N",
	  "outstanding requests (1); mix: 200, with --scans 64; policy: 128; sweep: maximum, 256",
	  TO(bench.depth), DEPTH, GIVEN(depth_given), .by = RUNS, .former = "iodepth" },
	{ "rate_iops", "N",
	  "requests per second, with at most --depth of them outstanding; latency counts from "
	  "when a request was due",
	  TO(bench.rate), .real = { 1e-6, 1e9 }, .by = LOADS & ~SWEEP },
	{ "rate_process", "HOW", "arrivals: linear or poisson (linear)", TO(bench.poisson),
	  .values = sp_bench_process_values, .by = LOADS & ~SWEEP },
	{ "runtime", "TIME",
	  "duration (10; sweep, mix, compare: 30 in total; policy: 3 per run; none with --io_size, "
	  "and for watch and replay)",
	  TO(bench.runtime_ns), .whole = span_value, GIVEN(runtime_given), .by = ALL },
	{ "ramp_time", "TIME", "run for TIME before measuring (0)", TO(bench.ramp_ns),
	  .whole = time_value, .by = LOADS | POLICY },
	{ "io_size", "SIZE", "end after requests for SIZE bytes", TO(bench.total_bytes),
	  .whole = size_option, .by = RUN | PREFLIGHT | REPLAY },
	{ "steady", "TIME",
	  "end early when the last 5 rounds of TIME (1) are steady: spread at most 20 %, slope at "
	  "most 10 %",
	  TO(bench.steady_ns), .whole = round_value, .optional = true, .by = RUN | PREFLIGHT },
	{ "iodepth_batch", "N", "submit at most N requests per call (1)", TO(bench.batch_submit),
	  DEPTH },
	{ "iodepth_batch_complete_min", "N", "wait for N completions (1)", TO(bench.batch_min),
	  DEPTH },
	{ "iodepth_batch_complete_max", "N",
	  "take at most N completions per call (as many as are waited for)", TO(bench.batch_max),
	  DEPTH },
	{ .doc = "Engine:", .by = RUNS },
	{ "engine", "NAME", "io_uring, libaio, sync, null or auto (auto)", TO(bench.engine),
	  .values = sp_engine_values, .call = engine_set, .former = "ioengine" },
	{ "direct", "0|1", "bypass the page cache (1)", TO(bench.buffered), .call = set_direct,
	  .optional = true },
	{ "fixedbufs", "0|1", "io_uring: use registered buffers (0)", TO(bench.fixed_buffers),
	  .whole = bool_value, .optional = true },
	{ "registerfiles", "0|1", "io_uring: use registered files (0)", TO(bench.register_files),
	  .whole = bool_value, .optional = true },
	{ "no-fallback", NULL, "fail if class rt is not allowed", TO(bench.no_fallback) },
	{ "trace", "FILE", "write every block request to FILE", TO(bench.trace),
	  .by = RUN | PREFLIGHT | REPLAY | POLICY },
	{ .doc = "Safety of data:", .by = RUNS },
	{ "create", "HOW",
	  "create each TARGET as a file of --size: written, reserved or sparse (written)",
	  TO(bench.create), .values = sp_bench_create_values, .optional = true,
	  .absent = SP_BENCH_CREATE_WRITTEN },
	{ "remove", NULL, "remove at the end the files that --create created", TO(bench.remove) },
	{ "overwrite", NULL, "allow writes to a TARGET that already exists", TO(bench.overwrite) },
	{ "continue_on_error", NULL, "count failed requests and continue", TO(bench.keep_going) },
	{ .doc = "Reports:", .by = RUN | REPLAY | WATCH },
	{ "output-format", "FORMAT",
	  "report on standard output: text, or fio-json with the members of fio's JSON (text)",
	  TO(fio_json), .choices = fio_report_formats, .by = RUN | REPLAY },
	STATS_SETTING(struct config, stats, ALL),
	PROGRESS_SETTING(struct config, progress, ALL & ~PREFLIGHT),
	{ "status-interval", "TIME", "write a line of JSON for each interval of TIME",
	  TO(bench.interval_ns), .whole = span_value },
	{ "status", "FILE", "write these lines to FILE (standard error)", TO(status) },
	{ "plot", "FILE", "draw the results with gnuplot to FILE.png, .svg or .pdf", TO(plot),
	  .call = gnuplot_set, .by = ALL & ~(COMPARE | PREFLIGHT) },
	{ .doc = "Options of replay:", .by = REPLAY },
	{ "replay_no_stall", "0|1",
	  "submit as fast as the depth allows, and ignore the recorded times (0)",
	  TO(replay.no_stall), .whole = bool_value, .optional = true },
	{ "replay_time_scale", "PERCENT", "speed of the recorded time (100); 200 is twice as fast",
	  TO(replay.time_scale), .call = set_time_scale },
	{ .doc = "Job files of fio:", .by = LOADS },
	{ "fio-job", "FILE",
	  "measure the load that FILE, a job file of fio, describes; later options override it",
	  .call = fiojob_load, .dash = SETTING_DASH_KEPT },
	{ "fio-job-ignore", NULL, "ignore lines of FILE that are not supported", TO(job_ignore) },
	{ .doc = "Options of watch:", .by = WATCH },
	{ "source", "NAME",
	  "stat, inflight: of a device; fdinfo: of a process; trace: of either; or auto (auto)",
	  TO(watch.source), .values = sp_watch_source_values },
	{ "sample_rate", "N", "samples per second (1000)", TO(watch.rate), .real = { 0.001, 1e6 } },
	{ .doc = "Options of mix:", .by = MIX },
	{ "shares", "LIST",
	  "ascending percentages of requests of high priority (0,10,20 and so on to 100)", TO(set),
	  .call = add_shares },
	{ "share-of", "WHAT", "requests that the shares count: outstanding or issued (outstanding)",
	  TO(set.mix.of_issued), .values = sp_benchset_share_of_values },
	{ "scans", "N",
	  "instead of shares: random requests of high priority next to N (3) sequential readers",
	  TO(set.mix), .call = set_scans, .optional = true },
	{ "high", "PRIO", "the high priority (rt)", TO(set.mix.high), .whole = prio_value },
	{ "low", "PRIO", "the low priority (be)", TO(set.mix.low), .whole = prio_value },
	{ .doc = "Options of compare:", .by = COMPARE },
	{ "a", "OPTIONS", "setting A: additional options, separated by blanks", TO(set.a) },
	{ "b", "OPTIONS", "setting B: the same for the other runs", TO(set.b) },
	{ "interleave", "N", "run A and B alternately, N times each (15)", TO(set.pairs),
	  .count = 200 },
	{ .doc = "Options of policy:", .by = POLICY },
	{ "load", "LOAD,...",
	  "scan, range, update (all; without update if writes to TARGET are not allowed)",
	  TO(policy.loads), .values = sp_policy_load_values, .call = set_loads },
	{ "submission", "WAY,...", "conservative, aggressive, adaptive (all)",
	  TO(policy.submissions), .values = sp_policy_submission_values, .call = set_submissions },
	{ "priorities", "no|yes|both", "use priorities (no if conservative, else both)",
	  TO(policy.priorities), .choices = priorities_words },
	{ "urgent", "PRIO", "priority of requests that a user waits for (be/0)",
	  TO(policy.policy.high_prio), .whole = prio_value, GIVEN(policy.given.urgent) },
	{ "background", "PRIO", "priority of all other requests (idle)", TO(policy.policy.low_prio),
	  .whole = prio_value, GIVEN(policy.given.background) },
	{ "extent", "N", "pages per extent (64)", TO(policy.policy.extent_pages), .count = 65536 },
	{ "ahead", "N", "aggressive: extents read ahead (2)", PARTIAL(ahead), .count = 256 },
	{ "clients", "N", "range: concurrent queries (4)", PARTIAL(clients), .count = 4096 },
	{ "query", "N", "range: pages per query (1000)", TO(policy.policy.query_pages),
	  .count = 1000000000, GIVEN(policy.given.query) },
	{ "batch", "N", "range, aggressive: pages per batch of requests (16)", PARTIAL(batch),
	  .count = 4096 },
	{ "buffer", "PERCENT", "update: buffer size, as a share of the table (75)", PARTIAL(buffer),
	  .call = set_percent },
	{ "steal", "N", "update: pages written when a frame is needed (5)", PARTIAL(steal),
	  .count = 1000000 },
	{ "flow", "N", "update, aggressive: outstanding writes (32)", PARTIAL(flow), DEPTH },
	{ "preflush", "TIME", "update, adaptive: interval of inspection (1)",
	  TO(policy.policy.preflush_ns), .whole = time_value, GIVEN(policy.given.preflush) },
	{ "victims", "WHICH", "update: pages to write and replace: random or oldest (random)",
	  PARTIAL(victims), .values = sp_policy_victims_values },
	{ "frames-needed", "WHAT",
	  "update: read when there are free frames for a page or an extent (usual: as the "
	  "submission does)",
	  PARTIAL(frames_needed), .values = sp_policy_frames_values, .former = "room" },
	{ "threads", "N",
	  "scan, update: threads that read, and that write, instead of asynchronous requests",
	  PARTIAL(threads), DEPTH },
	{ "extent-threshold", "N",
	  "range, conservative: request the rest of an extent after queries have worked on more "
	  "than N of its pages",
	  PARTIAL(extent_threshold), .count = 65535, .former = "crowd" },
	{ "table", "SIZE", "size of the table, at the start of TARGET (all)",
	  TO(policy.policy.table_bytes), .whole = size_option },
	{ "log", "SIZE", "update: bytes that a page adds to a log at the end of TARGET (no log)",
	  TO(policy.policy.log_bytes), .whole = request_value, GIVEN(policy.given.log) },
	{ "compute", "TIME", "time that a query works on each page (50us)",
	  TO(policy.policy.compute_ns), .whole = time_value },
	{ "critical", "N", "critical reads per second (20)", TO(policy.policy.critical_rate),
	  .real = { 0, 1e6 } },
	{ "passes", "N", "end after N passes through the table, or N queries of range",
	  TO(policy.policy.passes), .count = 1000000 },
	SETTING_ANSWERS,
	{ 0 },
};

void load_options_init(struct config *o)
{
	*o = (struct config){
		.plain = { .name = "all",
			   .share = 1,
			   .reads = 1,
			   .bytes = 4096,
			   .pattern = SP_BENCH_RANDOM },
		.mix = -1,
		.bench = { .seed = 1,
			   .stop = &interrupted,
			   .targets = o->targets,
			   .classes = o->classes },
		.set.mix = { .high = SP_BENCH_PRIO(SP_BENCH_RT, 4),
			     .low = SP_BENCH_PRIO(SP_BENCH_BE, 4) },
	};
	sp_policy_defaults(&o->policy.policy);
}

void load_options_targets(struct config *o, const struct operands *operands)
{
	if (operands->n > SP_BENCH_TARGETS_MAX)
		die_usage("more than %d targets", SP_BENCH_TARGETS_MAX);
	for (unsigned i = 0; i < operands->n; i++) {
		if (!*operands->text[i])
			die_sys(ENOENT, "''");
		o->targets[o->bench.ntargets++] = operands->text[i];
	}
}

/* Completes the values of all classes, which --class can change. */
static void finish_plain(struct config *o)
{
	struct sp_bench_class *c = &o->plain;

	if (o->mix >= 0 && c->reads > 0 && c->reads < 1)
		c->reads = o->mix;
	else if (o->mix >= 0)
		sp_no_effects_add(&o->no_effects, "--rwmixread", "--rw is not a mix");
	if (c->stride_bytes && c->pattern == SP_BENCH_SEQUENTIAL)
		c->pattern = SP_BENCH_STRIDED;
	else if (c->stride_bytes)
		die("--stride needs sequential requests");
	if (o->distribution && c->pattern != SP_BENCH_RANDOM)
		die("--random_distribution needs random requests");
	if (o->distribution &&
	    (sp_bench_class_pattern(c, o->distribution) || c->pattern == SP_BENCH_SEQUENTIAL ||
	     c->pattern == SP_BENCH_STRIDED))
		die("invalid --random_distribution argument %s: random, shuffled or zipf:THETA",
		    quote(o->distribution));
}

/* Divides the rest equally among classes without a share. */
static void finish_shares(struct config *o)
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

/* Makes the classes that --class describes, or the only one. */
static void finish_classes(struct config *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	finish_plain(o);
	o->bench.nclasses = o->nclass_text ? o->nclass_text : 1;
	for (size_t i = 0; i < o->bench.nclasses; i++)
		o->classes[i] = o->plain;
	for (size_t i = 0; i < o->nclass_text; i++) {
		o->classes[i].share = -1;
		if (sp_bench_class_parse(&o->classes[i], must_copy(o->class_text[i]), &err) < 0)
			die("--class %s", err.text);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(o->classes[k].name, o->classes[i].name))
				die("two classes are named %s", quote(o->classes[i].name));
	}
	finish_shares(o);
}

/* Finds options without effect.  A class with a rate and no depth uses the depth of the run. */
static void find_no_effects(struct config *o)
{
	bool depth = false, rate = o->bench.rate > 0;

	for (size_t i = 0; i < o->bench.nclasses; i++) {
		depth |= !o->bench.classes[i].depth;
		rate |= o->bench.classes[i].rate > 0;
	}
	if (o->depth_given && !depth)
		sp_no_effects_add(&o->no_effects, "--depth", "each class has a depth of its own");
	if (o->bench.poisson && !rate)
		sp_no_effects_add(&o->no_effects, "--rate_process", "no class has a rate");
	if (o->bench.batch_submit && o->bench.ntargets && !strncmp(o->bench.targets[0], "sim:", 4))
		sp_no_effects_add(&o->no_effects, "--iodepth_batch",
				  "a simulated target takes all ready requests at once");
}

void load_options_finish(struct config *o, unsigned depth, uint64_t runtime_ns)
{
	if (o->job)
		fiojob_finish(o);
	else
		finish_classes(o);
	if (!o->job)
		find_no_effects(o);
	o->bench.no_effects = &o->no_effects;
	if (!o->bench.depth)
		o->bench.depth = depth;
	if (!o->job && !o->bench.runtime_ns && !o->bench.total_bytes)
		o->bench.runtime_ns = runtime_ns;
}
