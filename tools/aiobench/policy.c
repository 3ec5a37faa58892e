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
#include "gnuplot.h"

/*
 * Draws policies: the distribution of outstanding requests of each load, and throughput against the
 * latency of critical reads.
 */

static const char colours[][8] = {
	"#606060", "#d08020", "#2060a0", "#c04040", "#408040", "#a04080"
};
#define COLOURS (sizeof(colours) / sizeof(colours[0]))

static enum sp_policy_load load_of(const struct sp_policy *p)
{
	return sp_policy_result(p)->opts.load;
}

/* Writes steps that begin half a request lower, so 0 can be drawn on a logarithmic axis. */
static void put_depths(struct gnuplot *g, size_t i, const struct sp_bench_stats *s)
{
	double all = 0, sum = 0;

	for (size_t k = 0; k < s->depths; k++)
		all += (double)s->depth_ns[k];
	fprintf(g->in, "$depths%zu << EOD\n0.5 0\n", i);
	for (size_t k = 0; k < s->depths && all > 0; k++) {
		sum += (double)s->depth_ns[k];
		if (s->depth_ns[k])
			fprintf(g->in, "%.1f %.6g\n", (double)k + 0.5, 100 * sum / all);
	}
	fprintf(g->in, "EOD\n");
}

/* Returns the critical reads; NULL: there are none in this load. */
static const struct sp_bench_stats *critical_of(const struct sp_policy_result *r)
{
	const struct sp_bench_stats *c = &r->bench->classes[0];

	return strcmp(c->name, "critical") ? NULL : c;
}

static void put_run(struct gnuplot *g, size_t i, const struct sp_policy_result *r)
{
	const struct sp_bench_stats *c = critical_of(r);

	put_depths(g, i, &r->bench->total);
	fprintf(g->in, "$gain%zu << EOD\n", i);
	if (!c)
		fprintf(g->in, "%.6g %.6g\n", r->bandwidth_bytes_per_s / 1e6, r->idle * 100);
	else if (c->requests)
		fprintf(g->in, "%.6g %.6g\n", r->bandwidth_bytes_per_s / 1e6,
			c->latency_mean_ns / 1e9);
	else
		fputs("NaN NaN\n", g->in);
	fprintf(g->in, "EOD\nname%zu = '%s%s%s'\n", i,
		sp_policy_submission_name(r->opts.submission),
		r->opts.priorities ? ", priorities" : "",
		c && !c->requests ? ": none completed" : "");
}

/*
 * Draws one line or point for each run of the load.  Later lines are narrower and later points
 * smaller, so earlier ones with equal values stay visible.
 */
static void plot_runs(struct gnuplot *g, const struct sp_policy *const *p, size_t n,
		      enum sp_policy_load load, const char *data, const char *with, double widest,
		      double narrowest)
{
	const char *before = "plot ";
	size_t colour = 0, runs = 0;
	double shrink;

	for (size_t i = 0; i < n; i++)
		runs += load_of(p[i]) == load;
	shrink = runs > 1 ? (widest - narrowest) / (double)(runs - 1) : 0;

	for (size_t i = 0; i < n; i++) {
		if (load_of(p[i]) != load)
			continue;
		fprintf(g->in, "%s$%s%zu %s %.1f lc rgb '%s' title name%zu", before, data, i, with,
			widest - shrink * (double)colour, colours[colour % COLOURS], i);
		before = ", ";
		colour++;
	}
	fputc('\n', g->in);
}

static void plot_load(struct gnuplot *g, const struct sp_policy *const *p, size_t n,
		      enum sp_policy_load load, bool critical)
{
	struct gnuplot_range range = { 0 };
	double most = 0; /* MB/s */

	for (size_t i = 0; i < n; i++) {
		const struct sp_policy_result *r = sp_policy_result(p[i]);

		if (load_of(p[i]) != load)
			continue;
		if (most < r->bandwidth_bytes_per_s / 1e6)
			most = r->bandwidth_bytes_per_s / 1e6;
		if (critical_of(r))
			gnuplot_range_add(&range, critical_of(r)->latency_mean_ns / 1e9);
	}
	fprintf(g->in,
		"set title '%s: outstanding requests'\n"
		"set xlabel 'outstanding'\n"
		"set ylabel 'at most this number, %% of the time'\n"
		"set logscale x\n"
		"set format y '%%g'\n"
		"set xtics ('0' 0.5, '1' 1.5, '2' 2.5, '4' 4.5, '8' 8.5, '16' 16.5, '32' 32.5, "
		"'64' 64.5, '128' 128.5, '256' 256.5, '1024' 1024.5)\n"
		"set xrange [0.4:*]\n"
		"set yrange [0:102]\n"
		"unset key\n",
		sp_policy_load_name(load));
	plot_runs(g, p, n, load, "depths", "with steps lw", 8, 1.5);
	fprintf(g->in,
		"set title '%s: throughput and cost'\n"
		"set xlabel 'pages worked on, MB/s'\n"
		"unset logscale x\n"
		"set xtics autofreq\n"
		"set xrange [0:%.6g]\n"
		"set key\n",
		sp_policy_load_name(load), most > 0 ? most * 1.1 : 1);
	if (critical)
		plot_latency_axis(g, &range);
	fputs(critical ? "set ylabel 'critical reads, mean latency'\n"
		       : "set ylabel 'nothing outstanding, % of the time'\n"
			 "set yrange [0:100]\n",
	      g->in);
	plot_runs(g, p, n, load, "gain", "with points pt 7 ps", 2.4, 1);
	fputs("unset logscale y\n", g->in);
}

void plot_policy(const struct config *o, const struct sp_policy *const *p, size_t n)
{
	unsigned loads = 0;
	struct gnuplot g;
	int rows;

	for (size_t i = 0; i < n; i++)
		loads |= 1u << load_of(p[i]);
	rows = __builtin_popcount(loads);
	plot_open(&g, o, "loads of a database", sp_policy_result(p[0])->bench->engine,
		  (struct gnuplot_layout){ rows, 2, 1400, 100 + 350 * rows });
	for (size_t i = 0; i < n; i++)
		put_run(&g, i, sp_policy_result(p[i]));
	for (int load = SP_POLICY_SCAN; load <= SP_POLICY_UPDATE; load++)
		if (loads & 1u << load)
			plot_load(&g, p, n, (enum sp_policy_load)load,
				  sp_policy_result(p[0])->opts.critical_rate > 0);
	gnuplot_close(&g, o->plot);
}

#define RUNS_MAX 32

struct runs {
	struct config *o;
	struct sp_policy *policies[RUNS_MAX];
	size_t n;
	size_t planned, begun; /* runs */
	bool counting, prios;
	unsigned loads, ways; /* loads and ways of planned runs, as bits */
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
		msg("update is skipped");
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
