/* SPDX-License-Identifier: MIT */
/*
 * aiobench policy: database loads under several ways to submit requests, one after
 * the other on the same target.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <unistd.h>
#include <spindle/policy.h>
#include "choice.h"
#include "msg.h"
#include "aiobench.h"

#define RUNS_MAX 32

enum option_key {
	OPT_LOAD = 704,
	OPT_SUBMISSION,
	OPT_PRIORITIES,
	OPT_HIGH,
	OPT_LOW,
	OPT_EXTENT,
	OPT_AHEAD,
	OPT_CLIENTS,
	OPT_QUERY,
	OPT_BATCH,
	OPT_BUFFER,
	OPT_STEAL,
	OPT_FLOW,
	OPT_PREFLUSH,
	OPT_COMPUTE,
	OPT_CRITICAL,
	OPT_PASSES,
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "Options of policy (--bs is the page size, 16K):", 11 },
	{ "load", OPT_LOAD, "LOAD,...", 0,
	  "scan, range, update (default: all, but no update if TARGET may not be written to)", 11 },
	{ "submission", OPT_SUBMISSION, "WAY,...", 0, "conservative, aggressive, adaptive (all)",
	  11 },
	{ "priorities", OPT_PRIORITIES, "no|yes|both", 0,
	  "Default: no if conservative, otherwise both", 11 },
	{ "urgent", OPT_HIGH, "PRIO", 0, "Priority of requests that a user waits for (be/0)", 11 },
	{ "background", OPT_LOW, "PRIO", 0, "Priority of all others (idle)", 11 },
	{ "extent", OPT_EXTENT, "N", 0, "Pages of an extent (64)", 11 },
	{ "ahead", OPT_AHEAD, "N", 0, "Aggressive: extents requested ahead (2)", 11 },
	{ "clients", OPT_CLIENTS, "N", 0, "Range: concurrent queries (4)", 11 },
	{ "query", OPT_QUERY, "N", 0, "Range: pages of a query (1000)", 11 },
	{ "batch", OPT_BATCH, "N", 0, "Range, aggressive: pages requested at once (16)", 11 },
	{ "buffer", OPT_BUFFER, "PERCENT", 0, "Update: buffer size, of the table (75)", 11 },
	{ "steal", OPT_STEAL, "N", 0, "Update: pages written when a frame is needed (5)", 11 },
	{ "flow", OPT_FLOW, "N", 0, "Update, aggressive: writes outstanding (32)", 11 },
	{ "preflush", OPT_PREFLUSH, "TIME", 0, "Update, adaptive: interval of inspection (1)", 11 },
	{ "compute", OPT_COMPUTE, "TIME", 0, "Time that a query works on a page (50us)", 11 },
	{ "critical", OPT_CRITICAL, "N", 0, "Critical reads per second (20)", 11 },
	{ "passes", OPT_PASSES, "N", 0,
	  "End after N passes through the table, or N queries of range", 11 },
	{ 0 },
};

enum { NO, YES, BOTH };
static const struct sp_word answers[] = {
	{ "no", NO }, { "yes", YES }, { "both", BOTH }, { NULL, 0 }
};

/* Words of a list, as bits. */
static unsigned list_value(const char *option, const char *text, const struct sp_word *words)
{
	char *copy = strdup(text), *rest = copy, *word;
	unsigned bits = 0;

	if (!copy)
		die("memory exhausted");
	while ((word = strsep(&rest, ",")) != NULL)
		bits |= 1u << choice_option(option, word, words, 2);
	free(copy);
	return bits;
}

/* Options that are counts, from 1. */
static error_t parse_count(int key, char *arg, struct sp_policy_opts *p)
{
	const struct {
		int key;
		const char *option;
		unsigned *count;
		double max;
	} counts[] = {
		{ OPT_EXTENT, "--extent", &p->extent_pages, 65536 },
		{ OPT_AHEAD, "--ahead", &p->ahead, 256 },
		{ OPT_CLIENTS, "--clients", &p->clients, 4096 },
		{ OPT_QUERY, "--query", &p->query_pages, 1e9 },
		{ OPT_BATCH, "--batch", &p->batch, 4096 },
		{ OPT_STEAL, "--steal", &p->steal, 1e6 },
		{ OPT_FLOW, "--flow", &p->flow, SP_BENCH_DEPTH_MAX },
		{ OPT_PASSES, "--passes", &p->passes, 1e6 },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].key == key) {
			*counts[i].count = count_value(counts[i].option, arg, counts[i].max);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct policy_options *o = &((struct load_options *)state->input)->policy;
	struct sp_policy_opts *p = &o->policy;

	switch (key) {
	case OPT_LOAD:
		o->loads = list_value("--load", arg, sp_policy_load_words());
		return 0;
	case OPT_SUBMISSION:
		o->submissions = list_value("--submission", arg, sp_policy_submission_words());
		return 0;
	case OPT_PRIORITIES:
		o->priorities = 1 + choice_option("--priorities", arg, answers, 2);
		return 0;
	case OPT_HIGH:
		p->high_prio = prio_value("--urgent", arg);
		return 0;
	case OPT_LOW:
		p->low_prio = prio_value("--background", arg);
		return 0;
	case OPT_BUFFER:
		p->buffer = percent_value("--buffer", arg);
		return 0;
	case OPT_PREFLUSH:
		p->preflush_ns = time_value("--preflush", arg);
		return 0;
	case OPT_COMPUTE:
		p->compute_ns = time_value("--compute", arg);
		return 0;
	case OPT_CRITICAL:
		p->critical_rate = number_value("--critical", arg, 0, 1e6);
		return 0;
	default:
		return parse_count(key, arg, p);
	}
}

const struct argp policy_argp = { options, parse, 0, 0, 0, 0, 0 };

struct runs {
	struct load_options *o;
	struct sp_policy *policies[RUNS_MAX];
	size_t n;
	size_t planned, begun; /* runs */
	bool counting, prios;
	bool asked; /* the loads were chosen by --load */
	bool created;
	int rc;
	struct sp_errinfo err;
};

static void one_run(struct runs *r, enum sp_policy_load load, enum sp_policy_submission submission,
		    bool priorities)
{
	struct sp_bench_opts bench = r->o->bench;
	struct sp_policy_opts policy = r->o->policy.policy;
	struct sp_policy *p;

	if (r->counting) {
		r->planned++;
		r->prios |= priorities;
		return;
	}
	if (interrupted || r->rc < 0)
		return;
	show_live("run %zu of %zu: %s, %s", ++r->begun, r->planned, sp_policy_load_name(load),
		  sp_policy_submission_name(submission));
	policy.load = load;
	policy.submission = submission;
	policy.priorities = priorities;
	bench.remove = false;
	if (r->created) {
		bench.create = SP_BENCH_CREATE_NO;
		bench.overwrite = true;
	}
	r->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	r->rc = sp_policy_run(&p, &bench, &policy, &r->err);
	if (!p)
		return;
	r->created |= bench.create != SP_BENCH_CREATE_NO;
	r->policies[r->n++] = p;
}

/* All runs of one load; by default priorities only where a policy needs them. */
static void run_load(struct runs *r, enum sp_policy_load load)
{
	const struct policy_options *o = &r->o->policy;

	for (int s = SP_POLICY_CONSERVATIVE; s <= SP_POLICY_ADAPTIVE; s++) {
		int how = o->priorities			? (int)o->priorities - 1
			  : s == SP_POLICY_CONSERVATIVE ? NO
							: BOTH;

		if (!(o->submissions & 1u << s) ||
		    (s == SP_POLICY_ADAPTIVE && load != SP_POLICY_UPDATE))
			continue;
		if (how != YES)
			one_run(r, load, (enum sp_policy_submission)s, false);
		if (how != NO)
			one_run(r, load, (enum sp_policy_submission)s, true);
	}
}

static unsigned default_loads(const struct load_options *o)
{
	bool may_write =
		o->bench.create || o->bench.overwrite || !strncmp(o->bench.targets[0], "sim:", 4);

	return 1u << SP_POLICY_SCAN | 1u << SP_POLICY_RANGE |
	       (may_write ? 1u << SP_POLICY_UPDATE : 0);
}

static void run_loads(struct runs *r, bool counting)
{
	r->counting = counting;
	for (int load = SP_POLICY_SCAN; load <= SP_POLICY_UPDATE; load++) {
		size_t before = r->n;

		if (r->o->policy.loads & 1u << load)
			run_load(r, (enum sp_policy_load)load);
		/* The table is too large for an update, which was not asked for. */
		if (!r->asked && load == SP_POLICY_UPDATE && before && r->n == before &&
		    r->rc == -EINVAL) {
			end_progress();
			say_error(r->rc, &r->err);
			msg("update is left out");
			r->rc = 0;
		}
	}
}

/* Can the two priorities act? */
static struct sp_preflight *preflight(const struct runs *r)
{
	struct sp_bench_class both[2] = { r->o->plain, r->o->plain };
	struct load_options asked = *r->o;

	if (!r->prios)
		return NULL;
	both[0].name = "urgent";
	both[0].prio = r->o->policy.policy.high_prio;
	both[1].name = "background";
	both[1].prio = r->o->policy.policy.low_prio;
	asked.bench.classes = both;
	asked.bench.nclasses = 2;
	return preflight_before(&asked);
}

int command_policy(struct load_options *o)
{
	static struct runs r;
	struct policy_options *p = &o->policy;
	struct sp_preflight *before;
	struct sp_report *report;

	if (o->bench.ntargets != 1)
		die("policy: one target");
	if (!o->runtime_given && p->policy.passes)
		o->bench.runtime_ns = 0;
	if (o->bytes_given)
		p->policy.page_bytes = o->plain.bytes;
	r.asked = p->loads;
	if (!p->loads)
		p->loads = default_loads(o);
	if (!p->submissions)
		p->submissions = ~0u;
	r.o = o;
	run_loads(&r, true);
	before = preflight(&r);
	catch_signals();
	run_loads(&r, false);
	end_progress();
	if (r.created && o->bench.remove)
		unlink(o->bench.targets[0]);
	if (!r.n && r.rc < 0)
		die_of(r.rc, &r.err);
	if (!r.n && !interrupted)
		die("policy: nothing to run: only an update has adaptive submission");
	report = sp_report_policy(&o->bench, (const struct sp_policy *const *)r.policies, r.n);
	if (report && before && sp_report_add_preflight(report, before) < 0)
		die("memory exhausted");
	free(before);
	write_report(o, report);
	if (o->set.plot && r.n)
		plot_policy(o->set.plot, o->bench.targets[0],
			    (const struct sp_policy *const *)r.policies, r.n);
	sp_report_free(report);
	while (r.n)
		sp_policy_free(r.policies[--r.n]);
	if (r.rc < 0)
		die_of(r.rc, &r.err);
	return 0;
}
