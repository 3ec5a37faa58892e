/* SPDX-License-Identifier: MIT */
/*
 * Measures the units, in rounds.
 *
 * Each query has rounds of its own.  A round has one unit for each selectivity, with bounds of its
 * own; the systems take turns in a random order.  Warm runs begin with a round that does not count.
 * Cachegrind counts one query of each selectivity, after the rounds.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/err.h"
#include "dbm/run.h"

/* Rounds that do not count. */
#define WARMING UINT32_MAX
#define SIMULATED (UINT32_MAX - 1)

void sp__bounds_draw(const struct sp__dbm_run *run, size_t row, unsigned round,
		     struct sp__dbm_question *questions, unsigned n)
{
	const struct sp__dbm_row *r = &run->rows[row];
	const uint32_t width = (uint32_t)fmax(1, nearbyint(r->selectivity * SP_DBM_VALUES));
	struct sp__rng rng = { sp__mix64(run->opts->seed ^ sp__mix64(round * 1024u + row)) };

	for (unsigned i = 0; i < n; i++) {
		uint32_t lo = (uint32_t)sp__rng_below(&rng, SP_DBM_VALUES - width + 1);

		questions[i] = (struct sp__dbm_question){ r->query, lo, lo + width + 1 };
	}
}

/* Returns the share of T1's records that the queries of a unit choose, on average. */
static double true_selectivity(const struct sp__dbm_run *run, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (double)sp__truth_answer(&run->truth, &run->questions[i]).records;
	return sum / n / (double)run->truth.records;
}

/* Lets the system and the page cache forget its data. */
static int cool(struct sp__dbm_run *run, size_t i, struct sp_errinfo *err)
{
	static const char *const arguments[] = { "cold", NULL };
	int rc = sp__adapter_call(&run->adapters[i], arguments, NULL, 0, err);

	if (!rc)
		rc = sp__folder_cool(run->folders.work);
	return rc ? sp__err(err, rc, "read", run->folders.work, -1) : 0;
}

static int measure(struct sp__dbm_run *run, size_t row, size_t i, unsigned round,
		   struct sp_errinfo *err)
{
	const struct sp_dbm_opts *o = run->opts;
	struct sp_dbm_result *r = run->result;
	struct sp_dbm_unit *u = &r->units[r->nunits];
	uint64_t begin;
	char what[64];
	int rc = o->cold ? cool(run, i, err) : 0;

	snprintf(what, sizeof(what), "%s, %.4g %%", sp_dbm_query_name(run->rows[row].query),
		 100 * run->rows[row].selectivity);
	sp__dbm_tell(run, i, what);
	*u = (struct sp_dbm_unit){ .cell = (unsigned)(row * r->nsystems + i),
				   .round = round,
				   .usage = { .counted = NAN } };
	begin = sp__cpu_ns();
	if (!rc)
		rc = sp__adapter_run(&run->adapters[i], &run->truth, run->questions, o->unit,
				     o->clients, &u->usage, err);
	if (rc)
		return rc;
	r->harness_s += (double)(sp__cpu_ns() - begin) / 1e9;
	u->true_selectivity = true_selectivity(run, o->unit * o->clients);
	r->nunits += round != WARMING;
	return 0;
}

/* Puts the systems in a random order. */
static void shuffle(const struct sp__dbm_run *run, size_t row, unsigned round, size_t *turns)
{
	const size_t n = run->result->nsystems;
	struct sp__rng rng = { sp__mix64(~run->opts->seed ^ sp__mix64(round * 1024u + row)) };

	for (size_t i = 0; i < n; i++) {
		size_t k = sp__rng_below(&rng, i + 1);

		turns[i] = turns[k];
		turns[k] = i;
	}
}

static int measure_row(struct sp__dbm_run *run, size_t row, unsigned round)
{
	size_t turns[SP_DBM_SYSTEMS_MAX];
	int rc = 0;

	sp__bounds_draw(run, row, round, run->questions, run->opts->unit * run->opts->clients);
	shuffle(run, row, round, turns);
	for (size_t i = 0; !rc && i < run->result->nsystems; i++) {
		struct sp_errinfo err = SP_ERRINFO_INIT;

		run->done++;
		if (!sp__dbm_works(run, turns[i]))
			continue;
		rc = measure(run, row, turns[i], round, &err);
		if (rc)
			rc = sp__dbm_leave_out(run, turns[i], rc, &err);
	}
	return rc;
}

/* Measures all rows of a query. */
static int measure_round(struct sp__dbm_run *run, enum sp_dbm_query query, unsigned round)
{
	int rc = 0;

	for (size_t row = 0; !rc && row < run->nrows; row++)
		if (run->rows[row].query == query)
			rc = measure_row(run, row, round);
	return rc;
}

/* Runs n queries under cachegrind; events: receives what it counts. */
static int simulate(struct sp__dbm_run *run, size_t i, unsigned n, double *events,
		    struct sp_errinfo *err)
{
	struct sp_dbm_usage used = { .counted = NAN };
	int rc;

	run->place.wrap = SP__CACHEGRIND;
	run->counting.active = true;
	rc = sp__adapter_run(&run->adapters[i], &run->truth, run->questions, n, 1, &used, err);
	run->counting.active = false;
	run->place.wrap = NULL;
	if (rc)
		return rc;
	memcpy(events, used.events, sizeof(used.events));
	if (!isnan(events[SP_DBM_INSTRUCTIONS]))
		return 0;
	if (n)
		return sp__errf(err, SP_ECHILD, "count", NULL, -1,
				"the adapter does not start the system with DBM_WRAP, so "
				"cachegrind counted nothing");
	memset(events, 0, sizeof(used.events)); /* it starts nothing without a query */
	return 0;
}

/* Counts a query of each row of a query. */
static int simulate_system(struct sp__dbm_run *run, size_t i, enum sp_dbm_query query,
			   struct sp_errinfo *err)
{
	int rc = simulate(run, i, 0, run->result->systems[i].empty.events, err);

	for (size_t row = 0; !rc && row < run->nrows; row++) {
		if (run->rows[row].query != query)
			continue;
		sp__dbm_tell(run, i, "cachegrind");
		sp__bounds_draw(run, row, SIMULATED, run->questions, 1);
		rc = simulate(run, i, 1, run->simulated[row * run->result->nsystems + i], err);
		run->done++;
	}
	return rc;
}

static int simulate_query(struct sp__dbm_run *run, enum sp_dbm_query query)
{
	int rc = 0;

	for (size_t i = 0; !rc && run->simulated && i < run->result->nsystems; i++) {
		struct sp_errinfo err = SP_ERRINFO_INIT;

		if (!sp__dbm_works(run, i))
			continue;
		rc = simulate_system(run, i, query, &err);
		if (rc)
			rc = sp__dbm_leave_out(run, i, rc, &err);
	}
	return rc;
}

static int measure_query(struct sp__dbm_run *run, enum sp_dbm_query query)
{
	int rc = sp__dbm_set_up_query(run, query);

	if (!rc && !run->opts->cold)
		rc = measure_round(run, query, WARMING);
	for (unsigned round = 0; !rc && round < run->opts->rounds; round++)
		rc = measure_round(run, query, round);
	return rc ? rc : simulate_query(run, query);
}

int sp__dbm_measure(struct sp__dbm_run *run)
{
	int rc = 0;

	for (unsigned q = 0; !rc && q < SP_DBM_QUERIES; q++)
		if (run->opts->queries >> q & 1)
			rc = measure_query(run, (enum sp_dbm_query)q);
	return rc;
}
