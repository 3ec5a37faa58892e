/* SPDX-License-Identifier: MIT */
#include "aiobench.h"

int command_sweep(struct load_options *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_benchset_opts opts = { .bench = &o->bench, .progress = show_progress };
	struct sp_report *report;
	struct sp_benchset *set;
	int rc;

	set_options_load(o);
	catch_signals();
	rc = sp_benchset_sweep(&set, &opts, &err);
	end_progress();
	if (!set)
		die_of(rc, &err);
	report = sp_report_sweep(&o->bench, sp_benchset_result(set));
	write_report(o, report);
	sp_report_free(report);
	if (o->set.plot)
		plot_sweep(o->set.plot, o->bench.targets[0], sp_benchset_result(set));
	sp_benchset_free(set);
	if (rc < 0)
		die_of(rc, &err);
	return 0;
}
