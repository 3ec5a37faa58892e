/* SPDX-License-Identifier: MIT */
/*
 * Files sorted and joined in one plan on a simulated machine, against GNU sort and join.
 */
#define TAP_THREADS

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/flow.h>
#include <spindle/join.h>
#include <spindle/sort.h>
#include "flowfiles.h"
#include "tap.h"

static const char *const tmpdirs[] = { "/tmp" };
static struct sp_errinfo err;
static const char *volume;

static struct sp_flow *open_flow(void)
{
	struct sp_run_opts run = SP_RUN_OPTS_INIT;
	struct sp_flow *flow = NULL;

	run.memory_bytes = 1 << 20;
	run.tmpdirs = tmpdirs;
	run.ntmpdirs = 1;
	run.volume = volume;
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	if (sp_flow_open(&flow, &run, &err))
		abort();
	return flow;
}

static struct sp_operator *join(struct sp_operator *a, struct sp_operator *b)
{
	static struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp_operator *op;

	o.separator = " ";
	o.separator_bytes = 1;
	o.unpaired[0] = o.unpaired[1] = true;
	if (sp_join_operator(&op, a, b, &o))
		abort();
	return op;
}

static struct sp_operator *sort(struct sp_operator *input, struct sp_keyset *keys)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_operator *op;

	o.keys = keys;
	o.run.memory_bytes = 1 << 20;
	o.run.tmpdirs = tmpdirs;
	o.run.ntmpdirs = 1;
	if (sp_sort_operator(&op, input, &o))
		abort();
	return op;
}

static int keep_all(void *arg, const char *rec, size_t bytes)
{
	(void)arg;
	(void)rec;
	(void)bytes;
	return 1;
}

static struct sp_operator *filter(struct sp_operator *op)
{
	if (sp_flow_filter(&op, op, keep_all, NULL))
		abort();
	return op;
}

static void check_files(const struct sp_keyset_opts *ko, const char *want,
			struct sp_run_stats *stats)
{
	static const size_t fields[] = { 0, 1 };
	struct sp_flow *flow = open_flow();
	struct sp_keyset *keys;
	struct sp_operator *side[2], *op;
	struct sp_batch b;
	char *got = NULL;
	size_t bytes;
	FILE *f = open_memstream(&got, &bytes);
	int rc = sp_keyset_new(&keys, ko, &err);

	for (int i = 0; i < 2 && !rc; i++) {
		side[i] = sort(filter(scan(flow, i)), keys);
		rc = sp_flow_project(&side[i], side[i], fields, 2);
	}
	if (rc)
		abort();
	op = join(side[0], side[1]);
	while ((rc = sp_flow_get(op, &b)) == SP_READY)
		fwrite(b.data, 1, b.bytes, f);
	fclose(f);
	sp_flow_stats(flow, stats);
	ok(rc == SP_END && strcmp(got, want) == 0, "two files sorted and merged are joined (%s)",
	   volume ? volume : "no machine");
	free(got);
	sp_flow_close(flow);
	sp_keyset_free(keys);
}

/* Both sorts spill: their runs and the files lie on one machine, with one clock. */
static void check_simulated(const struct sp_keyset_opts *ko, const char *want)
{
	static const char *const machines[] = {
		"sim:ultrastar36lzx-like,files=in",
		"sim:ultrastar36lzx-like,files=in,cache=1M,fs=group", "sim:ultrastar36lzx-like"
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct sp_run_stats a, b;

		volume = machines[i];
		check_files(ko, want, &a);
		check_files(ko, want, &b);
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
	o.run.memory_bytes = 1 << 20;
	o.run.tmpdirs = tmpdirs;
	o.run.ntmpdirs = 1;
	o.run.volume = "sim:ultrastar36lzx-like";
	flow = open_flow();
	ok(sp_sort_operator(&op, scan(flow, 0), &o) == SP_EUNSUP,
	   "a sort has no simulated volume of its own");
	sp_flow_close(flow);
	volume = "sim:ultrastar36lzx-like,files=in";
	flow = open_flow();
	ok(sp_sort_operator(&op, scan(flow, 0), &o) == SP_EUNSUP && strstr(err.text, "plan"),
	   "nor another than the plan's");
	sp_flow_close(flow);
	volume = NULL;
}

static void check_all_files(void)
{
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts ko = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				     .keys = &key,
				     .nkeys = 1,
				     .separator = ' ',
				     .stable = true };
	struct sp__rng rng = { 5 };
	struct sp_run_stats stats;
	struct sp_keyset *keys;
	char command[512], *want;

	key.eword = 0;
	make_files(&rng, 4000);
	snprintf(command, sizeof(command),
		 "for i in %s %s; do sort -s -t' ' -k1,1 $i | cut -d' ' -f1,2 >$i.s || exit 1; "
		 "done; join -a1 -a2 -t' ' %s.s %s.s; rm %s.s %s.s",
		 path[0], path[1], path[0], path[1], path[0], path[1]);
	want = output_of(command);
	check_files(&ko, want, &stats);
	check_simulated(&ko, want);
	if (sp_keyset_new(&keys, &ko, &err))
		abort();
	check_other_volume(keys);
	sp_keyset_free(keys);
	free(want);
	unlink(path[0]);
	unlink(path[1]);
}

int main(void)
{
	setenv("LC_ALL", "C", 1);
	check_all_files();
	return done();
}
