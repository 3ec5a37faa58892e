/* SPDX-License-Identifier: MIT */
/*
 * blockseq: counts the costs of request sequences, and compares, rearranges and caches them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <spindle/report.h>
#include <spindle/sequence.h>
#include "args.h"
#include "gnuplot.h"
#include "msg.h"
#include "number.h"
#include "outputs.h"
#include "progress.h"
#include "signals.h"
#include "statsfile.h"
#include "traceplot.h"

static const char about[] =
	"Counts what a sequence of block requests costs, or checks that one is a legal\n"
	"permutation of another.";

static const char notes[] =
	"TRACE is a file that a tool of Spindle wrote with --trace; - is standard input.\n"
	"SIZE may have a suffix of K, M, G, T (powers of 1024).\n"
	"\n"
	"Exit status: 0 if all went well, 1 if --compare found no legal permutation, 2\n"
	"after an error.\n"
	"\n"
	"Examples:\n"
	"  xsort --trace=sort.trace big > sorted; blockseq sort.trace\n"
	"  blockseq --plot=sort.png sort.trace\n"
	"  blockseq --cache=64M --policy=opt sort.trace\n"
	"  blockseq --refine=file --window=256 join.trace\n"
	"  blockseq --compare lazy.trace eager.trace\n";

/* number of requests among which --refine chooses */
#define WINDOW 64

struct config {
	const char *trace[2], *stats, *plot, *cache_text;
	bool compare, cache_option;
	struct sp_sequence_opts load;
	enum progress_mode progress;
	enum sp_sequence_refinement refine;
	uint64_t window;
	struct sp_sequence_cache cache;
};

static uint64_t page_value(const char *option, const char *text)
{
	uint64_t v = size_option(option, text);

	if (!v || v > UINT32_MAX)
		die("%s argument %s is not a page size", option, quote(text));
	return v;
}

#define TO(member) SETTING_TO(struct config, member)
#define OF_CACHE .given = offsetof(struct config, cache_option)

static const struct setting settings[] = {
	{ .doc = "Sequence:" },
	{ "order", "ORDER", "by time of: submit or done (submit)", TO(load.order),
	  .values = sp_sequence_order_values },
	{ "refine", "HOW",
	  "rearrange legally before counting, to group by block, file, offset (a sweep); or none "
	  "(none)",
	  TO(refine), .values = sp_sequence_refinement_values },
	{ "window", "N", "choose the next one of the N oldest requests (64)", TO(window),
	  .number = { 1, SIZE_MAX } },
	{ "compare", NULL, "check that the second trace is a legal permutation of the first",
	  TO(compare) },
	{ .doc = "Page cache:" },
	{ "cache", "SIZE",
	  "count the transfers of a page cache of SIZE pages, or of SIZE bytes if it has a suffix",
	  TO(cache_text) },
	{ "policy", "POLICY", "pages to evict: lru or opt (lru)", TO(cache.policy),
	  .values = sp_sequence_policy_values, OF_CACHE },
	{ "page", "SIZE", "bytes of a page (4K)", TO(cache.page_bytes), .whole = page_value,
	  OF_CACHE },
	{ "first", "N",
	  "count the transfers of the first N requests only; opt knows the others too",
	  TO(cache.counted), .number = { 1, UINT64_MAX }, OF_CACHE },
	{ .doc = "Report:" },
	STATS_SETTING(struct config, stats, 0),
	PROGRESS_SETTING(struct config, progress, 0),
	{ "plot", "FILE",
	  "draw position and time of requests, and the outstanding ones, with gnuplot to "
	  "FILE.png, .svg or .pdf",
	  TO(plot), .call = gnuplot_set },
	SETTING_ANSWERS,
	{ 0 },
};

/* Reads the size of the cache: a number is in pages, with a suffix in bytes. */
static uint64_t cache_pages(const char *text, uint32_t page_bytes)
{
	uint64_t v;

	if (!text[strspn(text, "0123456789")])
		return number_option("--cache", text, 1);
	v = size_option("--cache", text) / page_bytes;
	if (!v)
		die("--cache argument %s is less than a page", quote(text));
	return v;
}

static void check(struct config *c, const struct operands *operands)
{
	unsigned want = c->compare ? 2 : 1;

	if (operands->n < want)
		die_usage("missing trace");
	if (operands->n > want)
		die_usage("extra operand: %s", quote(operands->text[want]));
	if (c->compare && (c->cache_text || c->cache_option))
		die_usage("--compare and --cache are incompatible");
	if (c->compare && (c->refine || c->window))
		die_usage("--compare and --refine are incompatible");
	if (c->compare && c->plot)
		die_usage("--compare does not draw; --plot draws one trace");
	if (c->plot && c->refine)
		die_usage("--plot and --refine are incompatible: --plot draws the times of the "
			  "trace");
	if (c->window && !c->refine)
		die_usage("--window needs --refine");
	if (c->cache_option && !c->cache_text)
		die_usage("--policy, --page and --first need --cache");
	if (c->cache_text)
		c->cache.pages = cache_pages(c->cache_text, c->cache.page_bytes);
	c->trace[0] = operands->text[0];
	c->trace[1] = operands->text[want - 1];
}

static const char *shown(const char *path)
{
	return strcmp(path, "-") ? quote_file(path) : "standard input";
}

static bool empty(const struct sp_sequence *seq)
{
	struct sp_sequence_stats stats;

	sp_sequence_stats(seq, &stats);
	return !stats.total.requests;
}

/* Shows the share of a phase that is done. */
static void show(void *arg, int phase, uint64_t done, uint64_t total)
{
	static const char *const names[] = {
		[SP_SEQUENCE_PHASE_LOAD] = "reading",
		[SP_SEQUENCE_PHASE_REFINE] = "rearranging",
		[SP_SEQUENCE_PHASE_CACHE] = "page cache",
		[SP_SEQUENCE_PHASE_COMPARE] = "comparing",
	};

	(void)arg;
	if (total)
		progress_draw("%s: %.0f %%", names[phase], 100 * (double)done / (double)total);
	else
		progress_draw("%s: %.1f MB", names[phase], (double)done / 1e6);
}

static struct sp_sequence *load(const char *path, const struct sp_sequence_opts *opts)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sequence *seq;
	int rc = sp_sequence_load(&seq, path, opts, &err);

	/* It does not even begin as a trace. */
	if (rc == SP_EFORMAT && !strncmp(err.text, "line 1:", 7))
		die("%s: %s; xsort, xjoin and others write a trace with --trace=FILE", shown(path),
		    err.text);
	if (rc < 0)
		die("%s: %s", shown(path), err.text[0] ? err.text : sp_strerror(rc));
	return seq;
}

static int describe(const struct config *c, struct statsfile *stats)
{
	struct sp_sequence *seq = load(c->trace[0], &c->load);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sequence_transfers t;
	bool cache = c->cache.pages > 0;
	struct sp_report *report;
	int rc = 0;

	if (empty(seq))
		die("%s: has no requests", shown(c->trace[0]));
	if (c->refine)
		rc = sp_sequence_refine(seq, c->refine, c->window ? c->window : WINDOW);
	if (!rc && cache)
		rc = sp_sequence_transfers(seq, &c->cache, &t, &err);
	if (rc < 0)
		die("%s: %s", quote_file(c->trace[0]), err.text[0] ? err.text : sp_strerror(rc));
	progress_wipe();
	report = sp_report_sequence(c->trace[0], seq, cache ? &c->cache : NULL, cache ? &t : NULL);
	if (!report)
		die("memory exhausted");
	/* a failure is found when standard output is closed */
	(void)sp_report_text(report, stdout, 0);
	statsfile_finish(stats, report);
	if (c->plot)
		traceplot_draw(c->plot, shown(c->trace[0]), seq);
	sp_sequence_free(seq);
	return 0;
}

static void print_request(const char *before, const struct sp_sequence_request *r, const char *in,
			  uint64_t line)
{
	printf("%s%c %s %" PRIu64 " %" PRIu32 "  %s:%" PRIu64, before, r->write ? 'W' : 'R',
	       quote_file(r->volume), r->offset, r->bytes, quote_file(in), line);
}

static void print_verdict(const struct config *c, const struct sp_sequence_comparison *r)
{
	static const char *const pair[] = {
		[SP_SEQUENCE_READ_AFTER_WRITE] = "read after write",
		[SP_SEQUENCE_WRITE_AFTER_READ] = "write after read",
		[SP_SEQUENCE_WRITE_AFTER_WRITE] = "write after write",
	};

	switch (r->verdict) {
	case SP_SEQUENCE_LEGAL:
		printf("legal, requests moved: %" PRIu64 "\n", r->moved);
		return;
	case SP_SEQUENCE_MISSING:
		print_request("missing: ", &r->first, c->trace[0], r->first.line);
		break;
	case SP_SEQUENCE_EXTRA:
		print_request("too many: ", &r->first, c->trace[1], r->first.line);
		break;
	default:
		printf("%s, the other way round in %s:\n", pair[r->verdict],
		       quote_file(c->trace[1]));
		print_request("  ", &r->first, c->trace[0], r->first.line);
		printf("  %s:%" PRIu64 "\n", quote_file(c->trace[1]), r->first_line_b);
		print_request("  ", &r->second, c->trace[0], r->second.line);
		printf("  %s:%" PRIu64, quote_file(c->trace[1]), r->second_line_b);
	}
	putchar('\n');
}

static int compare(const struct config *c, struct statsfile *stats)
{
	struct sp_sequence *a = load(c->trace[0], &c->load), *b = load(c->trace[1], &c->load);
	struct sp_sequence_comparison r;
	struct sp_report *report;

	if (empty(a) && empty(b))
		die("%s: neither trace has requests", shown(c->trace[0]));
	if (sp_sequence_compare(a, b, &r) < 0)
		die("memory exhausted");
	progress_wipe();
	report = sp_report_sequence_comparison(c->trace[0], c->trace[1], &r);
	if (!report)
		die("memory exhausted");
	print_verdict(c, &r);
	statsfile_finish(stats, report);
	sp_sequence_free(a);
	sp_sequence_free(b);
	return r.verdict == SP_SEQUENCE_LEGAL ? 0 : 1;
}

static void spare_traces(const struct config *c)
{
	struct sp_output_set set = { 0 };

	outputs_add_stdout(&set, false);
	outputs_add_stats(&set, c->stats);
	outputs_add(&set, c->plot, "--plot", false);
	for (int i = 0; i < 2; i++)
		outputs_check_input(&set, c->trace[i]);
}

int main(int argc, char **argv)
{
	static const struct args args = { .settings = settings,
					  .operands = "TRACE\n--compare TRACE TRACE",
					  .about = about,
					  .notes = notes };
	struct operands operands;
	struct config c = { .cache.page_bytes = 4096 };
	struct statsfile stats;
	int status;

	msg_init(argv);
	stdio_guard();
	signals_catch();
	args_read(&args, argc, argv, &c, &operands);
	check(&c, &operands);
	spare_traces(&c);
	report_need();
	statsfile_open(&stats, c.stats);
	if (progress_wanted(c.progress, 1))
		c.load.progress = show;
	status = c.compare ? compare(&c, &stats) : describe(&c, &stats);
	stdio_finish();
	return status;
}
