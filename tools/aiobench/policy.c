/* SPDX-License-Identifier: MIT */
/*
 * Runs aiobench policy: database loads with several ways to submit requests, one after the other on
 * the same target.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/policy.h>
#include "aiobench.h"

#define RUNS_MAX 32

struct runs {
	struct config *o;
	struct sp_policy *policies[RUNS_MAX];
	size_t n;
	size_t planned, begun; /* runs */
	bool counting, prios;
	unsigned loads, ways; /* of planned runs, bits */
	struct policy_partial heeded;
	bool created;
	int rc;
	struct sp_errinfo err;
};

/* Notes the options that a run uses. */
static void note_heeded(struct policy_partial *h, const struct sp_policy_opts *o)
{
	bool scan = o->load == SP_POLICY_SCAN, range = o->load == SP_POLICY_RANGE;
	bool update = o->load == SP_POLICY_UPDATE;
	bool aggressive = o->submission == SP_POLICY_AGGRESSIVE;

	h->urgent |= o->priorities && (!scan || o->critical_rate > 0);
	h->background |= o->priorities && (!range || aggressive);
	h->ahead |= !range && aggressive;
	h->clients |= range;
	h->query |= range;
	h->batch |= range && aggressive;
	h->buffer |= update || o->extent_threshold;
	h->steal |= update && !aggressive;
	h->flow |= update && aggressive;
	h->preflush |= o->submission == SP_POLICY_ADAPTIVE;
	h->victims |= update;
	h->frames_needed |= update;
	h->threads |= !range;
	h->extent_threshold |= range;
	h->log |= update;
}

#define PARTIAL(option) #option, offsetof(struct policy_partial, option)

/* Returns the first given option that no run uses, and the runs that would; NULL: all are used. */
static const char *unheeded(const struct runs *r, const char **whose)
{
	static const struct {
		const char *name;
		size_t at;
		const char *whose;
	} all[] = {
		{ PARTIAL(urgent), "priorities, and urgent requests" },
		{ PARTIAL(background), "priorities, and background requests" },
		{ PARTIAL(ahead), "aggressive scans and updates" },
		{ PARTIAL(clients), "range queries" },
		{ PARTIAL(query), "range queries" },
		{ PARTIAL(batch), "aggressive range queries" },
		{ PARTIAL(buffer), "updates, and range queries with --extent-threshold" },
		{ PARTIAL(steal), "updates that are not aggressive" },
		{ PARTIAL(flow), "aggressive updates" },
		{ PARTIAL(preflush), "adaptive updates" },
		{ PARTIAL(victims), "updates" },
		{ "frames-needed", offsetof(struct policy_partial, frames_needed), "updates" },
		{ PARTIAL(threads), "scans and updates" },
		{ "extent-threshold", offsetof(struct policy_partial, extent_threshold),
		  "conservative range queries" },
		{ PARTIAL(log), "updates" },
	};
	const bool *given = (const bool *)&r->o->policy.given, *heeded = (const bool *)&r->heeded;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!given[all[i].at] || heeded[all[i].at])
			continue;
		*whose = all[i].whose;
		return all[i].name;
	}
	return NULL;
}

/* Executes a run, or, while runs are counted, checks that it is possible. */
static void one_run(struct runs *r, enum sp_policy_load load, enum sp_policy_submission submission,
		    bool priorities)
{
	struct sp_bench_opts bench = r->o->bench;
	struct sp_policy_opts policy = r->o->policy.policy;
	struct sp_policy *p;

	if (interrupted || r->rc < 0)
		return;
	policy.load = load;
	policy.submission = submission;
	policy.priorities = priorities;
	r->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	if (r->counting) {
		r->rc = sp_policy_check(&bench, &policy, &r->err);
		if (r->rc)
			return;
		r->planned++;
		r->loads |= 1u << load;
		r->ways |= 1u << submission;
		r->prios |= priorities;
		note_heeded(&r->heeded, &policy);
		return;
	}
	show_live("run %zu of %zu: %s, %s", ++r->begun, r->planned, sp_policy_load_name(load),
		  sp_policy_submission_name(submission));
	if (r->created) {
		bench.remove = false; /* the first run removes the file when it is freed */
		bench.create = SP_BENCH_CREATE_NO;
		bench.overwrite = true;
	}
	r->rc = sp_policy_run(&p, &bench, &policy, &r->err);
	if (!p)
		return;
	r->created |= bench.create != SP_BENCH_CREATE_NO;
	r->policies[r->n++] = p;
}

/* Executes all runs of one load; by default with priorities only if a policy needs them. */
static void run_load(struct runs *r, enum sp_policy_load load)
{
	const struct policy_options *o = &r->o->policy;

	for (int s = SP_POLICY_CONSERVATIVE; s <= SP_POLICY_ADAPTIVE; s++) {
		enum priorities how = o->priorities;

		if (how == PRIORITIES_DEFAULT)
			how = s == SP_POLICY_CONSERVATIVE ? PRIORITIES_NO : PRIORITIES_BOTH;

		if (!(o->submissions & 1u << s) ||
		    (s == SP_POLICY_ADAPTIVE && load != SP_POLICY_UPDATE))
			continue;
		if (how != PRIORITIES_YES)
			one_run(r, load, (enum sp_policy_submission)s, false);
		if (how != PRIORITIES_NO)
			one_run(r, load, (enum sp_policy_submission)s, true);
	}
}

static unsigned default_loads(const struct config *o)
{
	bool may_write =
		o->bench.create || o->bench.overwrite || !strncmp(o->bench.targets[0], "sim:", 4);

	return 1u << SP_POLICY_SCAN | 1u << SP_POLICY_RANGE |
	       (may_write ? 1u << SP_POLICY_UPDATE : 0);
}

static void run_loads(struct runs *r)
{
	for (int load = SP_POLICY_SCAN; load <= SP_POLICY_UPDATE; load++)
		if (r->o->policy.loads & 1u << load)
			run_load(r, (enum sp_policy_load)load);
}

/* Returns the name of a bit that was requested and is not planned; NULL: none. */
static const char *missing(unsigned asked, unsigned planned, const char *(*name)(int))
{
	for (int i = 0; asked >> i; i++)
		if ((asked & ~planned) >> i & 1u)
			return name(i);
	return NULL;
}

/*
 * Counts the runs.  An impossible run, or an option without effect, ends the program before the
 * first run.
 */
static void plan_runs(struct runs *r)
{
	struct policy_options *p = &r->o->policy;
	unsigned loads = p->loads, ways = p->submissions;
	unsigned readers = 1u << SP_POLICY_SCAN | 1u << SP_POLICY_RANGE;
	const char *option, *what = NULL;

	if (!loads)
		p->loads = default_loads(r->o);
	if (!ways)
		p->submissions = ~0u;
	r->counting = true;
	run_loads(r);
	option = unheeded(r, &what);
	/* the table is too large for an update, which is only a default */
	if (r->rc == -EINVAL && !loads && !option && r->loads == readers) {
		say_error(r->rc, &r->err);
		msg("update is left out");
		p->loads = readers;
		r->rc = 0;
	}
	if (r->rc < 0)
		die_of(r->rc, &r->err);
	if (option)
		die("policy: --%s concerns %s, which no run has", option, what);
	what = missing(loads, r->loads, sp_policy_load_name);
	if (!what)
		what = missing(ways, r->ways, sp_policy_submission_name);
	if (what)
		die("policy: nothing to run for %s: only an update has adaptive submission", what);
	if (r->o->bench.trace && r->planned > 1)
		die("policy: --trace is of one run, and these are two runs or more");
	r->counting = false;
}

/* Determines whether the two priorities can act. */
static struct sp_preflight *preflight(const struct runs *r)
{
	struct sp_bench_class both[2] = { r->o->plain, r->o->plain };

	if (!r->prios)
		return NULL;
	both[0].name = "urgent";
	both[0].prio = r->o->policy.policy.high_prio;
	both[1].name = "background";
	both[1].prio = r->o->policy.policy.low_prio;
	return preflight_pair(r->o, both);
}

static void add_no_effects(struct sp_no_effects *to, const struct sp_policy *policy)
{
	const struct sp_no_effects *from = &sp_policy_result(policy)->bench->no_effects;

	for (size_t i = 0; i < from->n; i++)
		sp_no_effects_add(to, from->list[i].option, "%s", from->list[i].reason);
}

int command_policy(struct config *o)
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
	r.o = o;
	plan_runs(&r);
	before = preflight(&r);
	signals_interrupt();
	run_loads(&r);
	progress_wipe();
	if (!r.n && r.rc < 0)
		die_of(r.rc, &r.err);
	report = sp_report_policy(&o->bench, (const struct sp_policy *const *)r.policies, r.n);
	for (size_t i = 0; i < r.n; i++)
		add_no_effects(&o->no_effects, r.policies[i]);
	write_report(o, report, before, &o->no_effects);
	if (o->plot && r.n)
		plot_policy(o, (const struct sp_policy *const *)r.policies, r.n);
	while (r.n)
		sp_policy_free(r.policies[--r.n]);
	if (r.rc < 0)
		die_of(r.rc, &r.err);
	return 0;
}
