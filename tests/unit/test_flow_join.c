/* SPDX-License-Identifier: MIT */
/*
 * Plans with merge joins, hash joins and sorts.  First over a scripted device: sources whose
 * batches arrive one read at a time, in every order that is possible; no order may lose, double or
 * invent a row, or leave the plan waiting for nothing.  Then over files, against a naive join.
 */
#define TAP_THREADS

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/join.h>
#include <spindle/sort.h>
#include "german.h"
#include "lines.h"
#include "rec/collate.h"
#include "script.h"
#include "flowfiles.h"
#include "tap.h"

#define BATCHES 3

/* Plans. */

static enum sp_join_algorithm algorithm = SP_JOIN_MERGE;

static const struct sp_join_opts *join_opts(bool unpaired)
{
	static struct sp_join_opts o = SP_JOIN_OPTS_INIT;

	o.run = run_opts();
	o.algorithm = algorithm;
	o.build = 1; /* so that it does not matter how fast the task is */
	o.separator = " ";
	o.separator_bytes = 1;
	o.unpaired[0] = o.unpaired[1] = unpaired;
	return &o;
}

static struct sp_operator *join(struct sp_operator *a, struct sp_operator *b, bool unpaired)
{
	struct sp_operator *op;

	if (sp_join_operator(&op, a, b, join_opts(unpaired)))
		abort();
	return op;
}

static const char *const one[] = { "a 1\nb 2\n", "b 3\nb 4\nc 5\n", "e 6\n", NULL };
static const char *const two[] = { "b 7\n", "b 8\n", "d 9\ne 10\ne 11\n", NULL };
static const char *const three[] = { "b 12\nc 13\n", "e 14\n", "e 15\nf 16\n", NULL };
static const char *const none[] = { NULL };

typedef struct sp_operator *plan_fn(struct sp_flow *flow, int fails);

/* fails: the read of which batch, counted through all sources. */
static struct sp_operator *leaf(struct sp_flow *flow, const char *const *batches, int fails)
{
	int before = script.nsources * BATCHES;

	return source(flow, batches, fails > before ? fails - before : 0);
}

static struct sp_operator *two_scans(struct sp_flow *flow, int fails)
{
	struct sp_operator *a = leaf(flow, one, fails);

	return join(a, leaf(flow, two, fails), true);
}

static struct sp_operator *two_levels(struct sp_flow *flow, int fails)
{
	struct sp_operator *a = filter(leaf(flow, one, fails));

	return filter(join(a, filter(leaf(flow, two, fails)), false));
}

static struct sp_operator *three_levels(struct sp_flow *flow, int fails)
{
	static const size_t fields[] = { 3, 2, 1, 0 };
	struct sp_operator *a = leaf(flow, one, fails), *b;

	b = filter(leaf(flow, two, fails));
	a = filter(join(a, b, false));
	a = join(leaf(flow, three, fails), a, false);
	if (sp_flow_project(&a, a, fields, 4))
		abort();
	return a;
}

static struct sp_operator *empty_side(struct sp_flow *flow, int fails)
{
	struct sp_operator *a = leaf(flow, one, fails);

	return join(a, leaf(flow, none, 0), true);
}

/* A source, joined with itself. */
static const char *const *merged;

static struct sp_operator *twice(struct sp_flow *flow, int fails)
{
	struct sp_operator *a = leaf(flow, merged, fails);

	return join(a, leaf(flow, merged, fails), false);
}

/* One run along the present path: what it gives, or its error. */
static char *run(plan_fn *plan, int fails, int *rc)
{
	struct sp_flow *flow = open_flow();
	struct sp_operator *root;
	struct sp_batch b;
	char *all = NULL;
	size_t bytes;
	FILE *f = open_memstream(&all, &bytes);

	script_begin();
	root = plan(flow, fails);
	do {
		while ((*rc = sp_flow_next(root, &b)) == SP_READY)
			fwrite(b.data, 1, b.bytes, f);
		if (*rc == SP_LATER && sp_flow_wait(flow))
			*rc = SP_ESTATE;
	} while (*rc == SP_LATER && script.completed < 1000);
	fclose(f);
	sp_flow_close(flow);
	return all;
}

static void check_orders(const char *name, plan_fn *plan, const char *want, long min)
{
	long paths = 0, wrong = 0;
	int rc;

	script.depth = 0;
	do {
		char *got = run(plan, 0, &rc);

		if ((rc != SP_END || !lines_same(got, want) ||
		     (algorithm == SP_JOIN_MERGE && strcmp(got, want))) &&
		    !wrong++)
			printf("# %s: %d, got\n%s", name, rc, got);
		paths++;
		free(got);
	} while (script_next_path());
	ok(!wrong && paths >= min, "%s, %s: all %ld orders of completion give the rows, each once",
	   name, sp_join_algorithm_name((int)algorithm), paths);
}

static void check_failures(const char *name, plan_fn *plan, const char *want, int reads)
{
	long wrong = 0;
	int rc;

	for (int fails = 1; fails <= reads; fails++) {
		script.depth = 0;
		do {
			char *got = run(plan, fails, &rc);

			/* The rows before it are right. */
			wrong += rc != -EIO || !lines_part(got, want) || err.code != -EIO;
			free(got);
		} while (script_next_path());
	}
	ok(!wrong, "%s: any read that fails, in any order, is the plan's error", name);
}

static bool of_source_1(const struct pending *p)
{
	return p->source == script.source[0];
}

/* While input 1 has nothing, what has input 2 read? */
static void check_turning(void)
{
	struct sp_flow *flow = open_flow();
	struct sp_operator *a, *op;
	struct sp_batch b;
	int rc;

	script_begin();
	script.last = of_source_1;
	a = source(flow, one, 0);
	op = join(a, source(flow, two, 0), false);
	while ((rc = sp_flow_next(op, &b)) == SP_LATER && !script.source[0]->arrived)
		if (sp_flow_wait(flow))
			abort();
	ok(rc == SP_LATER && script.source[1]->given == BATCHES,
	   "a merge join reads one side ahead while the other has nothing");
	sp_flow_close(flow);
	script.last = NULL;
}

static void check_disorder(void)
{
	static const char *const unsorted[] = { "b 1\n", "a 2\n", NULL };
	struct sp_flow *flow = open_flow();
	struct sp_operator *a, *op;
	struct sp_batch b;
	int rc;

	script_begin();
	script.depth = 0;
	a = source(flow, one, 0);
	op = join(a, source(flow, unsorted, 0), false);
	while ((rc = sp_flow_get(op, &b)) == SP_READY)
		;
	ok(rc == SP_EFORMAT && strstr(err.text, "input 2 is not sorted at record 2: a 2"),
	   "an input out of order is an error that names the record");
	sp_flow_close(flow);
}

static void check_all_files(void)
{
	static const char *const engines[] = { NULL, "sync", "fault:DELAY=200,COUNT=0:auto",
					       "fault:REORDER=3:auto" };
	struct sp__rng rng = { 5 };
	struct sp_run_stats stats;
	char *want;

	make_files(&rng, 4000);
	want = want_of_files();
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		engine = engines[i];
		check_files(join_opts(true), want, engine ? engine : "auto", &stats);
	}
	free(want);
	remove_files();
}

/* Memory of a group's records, and of the result's buffer. */
static void check_memory(void)
{
	static const char *const group[] = { "k 11111111111111111111111111111111111111\n",
					     "k 22222222222222222222222222222222222222\n",
					     "k 33333333333333333333333333333333333333\n", NULL };
	struct sp_flow *flow = open_flow();
	struct sp_operator *a, *b, *op;
	struct sp_run_stats stats;
	struct sp_batch batch;
	uint64_t buffer;
	int rc, n = 0;

	script_begin();
	a = source(flow, group, 0);
	op = join(a, source(flow, two, 0), true);
	buffer = flow->env.budget.used_bytes;
	while ((rc = sp_flow_get(op, &batch)) == SP_READY)
		;
	sp_flow_stats(flow, &stats);
	ok(rc == SP_END && buffer >= 100000 && stats.memory_charged_peak_bytes > buffer + 120,
	   "records that a merge join keeps are charged to the plan");
	sp_flow_close(flow);
	flow = open_flow();
	do {
		script_begin();
		a = source(flow, one, 0);
		b = source(flow, two, 0);
		rc = sp_join_operator(&op, a, b, join_opts(false));
	} while (!rc && n++ < 100);
	ok(rc == SP_EBUDGET && n > 2, "more joins than the memory holds are refused (%d)", n);
	sp_flow_close(flow);
}

/* In German "a" comes before "B". */
static void check_locale(void)
{
	static const char *const bytes[] = { "B 1\n", "a 2\n", NULL };
	int rc;
	char *got;

	if (!german_set() || !sp__collate_hard()) {
		german_remove();
		skip("keys are bytes in a German locale",
		     "needs localedef and the source of de_DE");
		return;
	}
	merged = bytes;
	script.depth = 0;
	got = run(twice, 0, &rc);
	ok(rc == SP_END && !strcmp(got, "B 1 1\na 2 2\n"), "keys are bytes in a German locale");
	free(got);
	setlocale(LC_ALL, "C");
	german_remove();
}

static void check_refusals(void)
{
	struct sp_join_opts o = *join_opts(true);
	struct sp_flow *flow = open_flow();
	struct sp_operator *a, *b, *op;

	script_begin();
	a = source(flow, one, 0);
	b = source(flow, two, 0);
	o.nthen = 1;
	ok(sp_join_operator(&op, a, b, &o) == SP_EUNSUP, "no further files are joined");
	o.nthen = 0;
	o.limited = true;
	ok(sp_join_operator(&op, a, b, &o) == SP_EUNSUP, "a limit is an operator of its own");
	o.limited = false;
	o.csv = true;
	o.separator = ",";
	ok(sp_join_operator(&op, a, b, &o) == SP_EUNSUP, "lines are not joined as CSV");
	o.csv = false;
	o.separator = " ";
	ok(sp_join_operator(&op, a, a, &o) == SP_ESTATE, "no operator is both inputs of a join");
	sp_flow_close(flow);
}

static void check_plans(void)
{
	static const char pairs[] = "b 2 7\nb 2 8\nb 3 7\nb 3 8\nb 4 7\nb 4 8\ne 6 10\ne 6 11\n";

	/* A hash join asks for one input after the other. */
	const long min = algorithm == SP_JOIN_MERGE ? 20 : BATCHES + 1;

	check_orders("two sources", two_scans,
		     "a 1\nb 2 7\nb 2 8\nb 3 7\nb 3 8\nb 4 7\nb 4 8\nc 5\nd 9\ne 6 10\ne 6 11\n",
		     min);
	check_orders("two levels", two_levels, pairs, min);
	check_orders("an empty side", empty_side, "a 1\nb 2\nb 3\nb 4\nc 5\ne 6\n", 1);
	check_failures("two levels", two_levels, pairs, 2 * BATCHES);
}

int main(void)
{
	setenv("LC_ALL", "C", 1);
	check_plans();
	check_orders("three levels", three_levels,
		     "7 2 12 b\n8 2 12 b\n7 3 12 b\n8 3 12 b\n7 4 12 b\n8 4 12 b\n"
		     "10 6 14 e\n11 6 14 e\n10 6 15 e\n11 6 15 e\n",
		     1680);
	check_turning();
	check_disorder();
	check_refusals();
	check_memory();
	check_locale();
	check_all_files();
	engine = NULL;
	algorithm = SP_JOIN_HYBRID;
	check_plans();
	return done();
}
