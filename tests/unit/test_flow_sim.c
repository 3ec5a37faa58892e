/* SPDX-License-Identifier: MIT */
/*
 * Files sorted and joined in one plan on a simulated machine, against GNU sort and join.
 */
#define TAP_THREADS

#include "flowfiles.h"

/* Both sorts spill: their runs and the files lie on one machine, with one clock. */
static void check_simulated(const struct sp_join_opts *o, const char *want)
{
	static const char *const machines[] = {
		"sim:ultrastar36lzx-like,files=in",
		"sim:ultrastar36lzx-like,files=in,cache=1M,fs=group", "sim:ultrastar36lzx-like"
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct sp_run_stats a, b;

		volume = machines[i];
		check_files(o, want, volume, &a);
		check_files(o, want, volume, &b);
		ok(a.simulated && a.elapsed_s > 0.05 && a.elapsed_s == b.elapsed_s &&
			   a.sim_requests > 100 && a.sim_requests == b.sim_requests,
		   "in virtual time, twice the same (%.3f s, %llu requests)", a.elapsed_s,
		   (unsigned long long)a.sim_requests);
	}
	volume = NULL;
}

static void check_other_volume(struct sp_keyset *keys)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_flow *flow;
	struct sp_operator *op;

	o.keys = keys;
	o.run = run_opts();
	o.run.volume = "sim:ultrastar36lzx-like";
	flow = open_flow();
	ok(sp_sort_operator(&op, scan(flow, 0), &o) == SP_EUNSUP,
	   "a sort has no simulated volume of its own");
	sp_flow_close(flow);
	volume = "sim:ultrastar36lzx-like,files=in";
	flow = open_flow();
	ok(sp_sort_operator(&op, scan(flow, 0), &o) == SP_EUNSUP && strstr(err.text, "plan"),
	   "a sort has no other volume than its plan");
	sp_flow_close(flow);
	volume = NULL;
}

int main(void)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp__rng rng = { 5 };
	struct sp_run_stats stats;
	struct sp_keyset *keys;
	char *want;

	setenv("LC_ALL", "C", 1);
	o.separator = " ";
	o.separator_bytes = 1;
	o.unpaired[0] = o.unpaired[1] = true;
	make_files(&rng, 4000);
	want = want_of_files();
	check_files(&o, want, "no machine", &stats);
	check_simulated(&o, want);
	keys = keys_of_files();
	check_other_volume(keys);
	sp_keyset_free(keys);
	free(want);
	remove_files();
	return done();
}
