/* SPDX-License-Identifier: MIT */
/*
 * Runs aiobench sweep and mix: settings measured alternately.
 */
#include <stdlib.h>
#include "aiobench.h"

#define SET_RUNTIME_NS 30000000000

void set_options_load(struct config *o)
{
	struct sp_bench_opts *b = &o->bench;

	if (!o->job)
		return;
	b->total_bytes = 0;
	for (size_t i = 0; i < b->nclasses; i++)
		o->classes[i].total_bytes = 0;
	if (b->create == SP_BENCH_CREATE_MISSING)
		b->create = SP_BENCH_CREATE_NO;
	if (!b->runtime_ns)
		b->runtime_ns = SET_RUNTIME_NS;
	if (b->nclasses > 1 || b->classes[0].rate > 0)
		return;
	o->classes[0].depth = 0;
	o->classes[0].share = 1;
}

int set_finish(struct config *o, struct sp_benchset *set, struct sp_report *report,
	       struct sp_preflight *before, set_plot *plot, int rc, const struct sp_errinfo *err)
{
	write_report(o, report, before, &sp_benchset_result(set)->no_effects);
	if (o->plot && plot)
		plot(o, sp_benchset_result(set));
	sp_benchset_free(set);
	if (rc < 0)
		die_of(rc, err);
	return 0;
}

int command_sweep(struct config *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_benchset_opts opts = { .bench = &o->bench, .progress = show_progress };
	struct sp_benchset *set;
	int rc;

	set_options_load(o);
	signals_interrupt();
	rc = sp_benchset_sweep(&set, &opts, &err);
	progress_wipe();
	if (!set)
		bench_die(o, rc, &err);
	return set_finish(o, set, sp_report_sweep(&o->bench, sp_benchset_result(set)), NULL,
			  plot_sweep, rc, &err);
}

/* Completes the shares: by default 0 to 100 % in steps of 10. */
static void finish_shares(struct set_options *s)
{
	s->mix.shares = s->shares;
	if (s->mix.nshares)
		return;
	for (; s->mix.nshares <= 10; s->mix.nshares++)
		s->shares[s->mix.nshares] = (double)s->mix.nshares / 10;
}

/* Determines whether the two priorities can act. */
static struct sp_preflight *preflight(const struct config *o)
{
	struct sp_bench_class both[2] = { o->bench.classes[0], o->bench.classes[0] };

	both[0].prio = o->set.mix.high;
	both[1].prio = o->set.mix.low;
	both[0].name = "high";
	both[1].name = "low";
	if (o->set.mix.kind == SP_BENCHSET_SCANS) {
		both[0].depth = 1;
		both[1].depth = o->set.mix.readers * o->bench.depth;
	}
	return preflight_pair(o, both);
}

int command_mix(struct config *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_benchset_opts opts = { .bench = &o->bench, .progress = show_progress };
	struct sp_preflight *before;
	struct sp_benchset *set;
	int rc;

	if (o->set.mix.kind == SP_BENCHSET_SCANS && o->set.mix.nshares)
		die("--shares and --scans are incompatible");
	if (o->set.mix.kind == SP_BENCHSET_SCANS && o->set.mix.of_issued)
		die("--share-of and --scans are incompatible");
	finish_shares(&o->set);
	set_options_load(o);
	if (o->set.mix.kind == SP_BENCHSET_SCANS) {
		o->set.mix.rate = o->bench.rate;
		o->bench.rate = 0;
	}
	before = preflight(o);
	signals_interrupt();
	rc = sp_benchset_mix(&set, &opts, &o->set.mix, &err);
	progress_wipe();
	if (!set)
		bench_die(o, rc, &err);
	return set_finish(o, set, sp_report_mix(&o->bench, &o->set.mix, sp_benchset_result(set)),
			  before, plot_mix, rc, &err);
}
