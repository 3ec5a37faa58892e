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
#include "msg.h"
#include "aiobench.h"

#define RUNS_MAX 32

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
			progress_wipe();
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

	if (!r->prios)
		return NULL;
	both[0].name = "urgent";
	both[0].prio = r->o->policy.policy.high_prio;
	both[1].name = "background";
	both[1].prio = r->o->policy.policy.low_prio;
	return preflight_pair(r->o, both);
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
	signals_interrupt();
	run_loads(&r, false);
	progress_wipe();
	if (r.created && o->bench.remove)
		unlink(o->bench.targets[0]);
	if (!r.n && r.rc < 0)
		die_of(r.rc, &r.err);
	if (!r.n && !interrupted)
		die("policy: nothing to run: only an update has adaptive submission");
	report = sp_report_policy(&o->bench, (const struct sp_policy *const *)r.policies, r.n);
	write_report(o, report, before);
	if (o->plot && r.n)
		plot_policy(o, (const struct sp_policy *const *)r.policies, r.n);
	while (r.n)
		sp_policy_free(r.policies[--r.n]);
	if (r.rc < 0)
		die_of(r.rc, &r.err);
	return 0;
}
