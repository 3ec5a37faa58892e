/* SPDX-License-Identifier: MIT */
/*
 * Means, ratios and deviations of made-up units against a computation of its own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "dbm/run.h"
#include "tap.h"

#define SYSTEMS 3
#define ROWS 2
#define CELLS (SYSTEMS * ROWS)
#define ROUNDS 7
#define ROWS_OF_T1 1000

static struct sp_dbm_opts opts = { .unit = 4, .clients = 2, .rounds = ROUNDS };
static struct sp_dbm_system systems[SYSTEMS];
static struct sp_dbm_cell cells[CELLS];
static struct sp_dbm_unit units[CELLS * ROUNDS];
static struct sp_dbm_result result = { .t1_records = ROWS_OF_T1,
				       .nsystems = SYSTEMS,
				       .ncells = CELLS,
				       .systems = systems,
				       .cells = cells,
				       .units = units };

static void add_unit(unsigned cell, unsigned round, double wall_s, double instructions)
{
	struct sp_dbm_unit *u = &units[result.nunits++];

	*u = (struct sp_dbm_unit){ .cell = cell,
				   .round = round,
				   .true_selectivity = 0.1 + 0.01 * round,
				   .usage = { .wall_s = wall_s,
					      .user_s = wall_s / 2,
					      .system_s = wall_s / 4,
					      .read_bytes = 1000 * (round + 1),
					      .reads = 10 * (round + 1),
					      .peak_bytes = 5000000 - 1000 * round,
					      .counted = 1 - 0.1 * round } };
	for (int e = 0; e < SP_DBM_EVENTS; e++)
		u->usage.events[e] = u->usage.kernel[e] = NAN;
	u->usage.events[SP_DBM_INSTRUCTIONS] = instructions;
	u->usage.events[SP_DBM_CYCLES] = 2 * instructions;
	u->usage.events[SP_DBM_LLC_MISSES] = instructions / 100;
}

/*
 * Row 0: all systems; system 1 is disturbed once, system 2 takes three times system 0's time.
 * Row 1: system 0 has no unit, system 2 failed after 3 rounds.
 */
static void make(void)
{
	struct sp__rng rng = { 7 };

	result.nunits = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		const double t = 1 + sp__rng_real(&rng);

		add_unit(2, round, 3 * t, 5e6);
		add_unit(0, round, t, 4e6);
		add_unit(1, round, round == 4 ? 100 : t + sp__rng_real(&rng), 3e6);
		add_unit(4, round, 2 * t, 2e6);
		if (round < 3)
			add_unit(5, round, 3 * t, 1e6);
	}
	for (int s = 0; s < SYSTEMS; s++)
		for (int e = 0; e < SP_DBM_EVENTS; e++)
			systems[s].empty.events[e] = 1000 * (s + 1);
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool near(double a, double b)
{
	if (fabs(a - b) <= 1e-12 * fabs(b))
		return true;
	diag("%.17g, expected %.17g", a, b);
	return false;
}

/* Sets v to the times of a query of a cell, by size.  Returns their number. */
static size_t times_of(unsigned cell, double *v)
{
	size_t n = 0;

	for (size_t i = 0; i < result.nunits; i++)
		if (units[i].cell == cell)
			v[n++] = units[i].usage.wall_s / 8;
	qsort(v, n, sizeof(*v), ascending);
	return n;
}

/* The mean without a fifth at either end. */
static double trimmed(unsigned cell)
{
	double v[ROUNDS], sum = 0;
	const size_t n = times_of(cell, v), cut = n / 5;

	for (size_t i = cut; i < n - cut; i++)
		sum += v[i];
	return sum / (double)(n - 2 * cut);
}

static double deviation(unsigned cell)
{
	double v[ROUNDS], sum = 0, squares = 0;
	const size_t n = times_of(cell, v);

	for (size_t i = 0; i < n; i++) {
		sum += v[i];
		squares += v[i] * v[i];
	}
	return sqrt((squares - sum * sum / (double)n) / (double)(n - 1)) / (sum / (double)n);
}

static void check_times(void)
{
	for (unsigned c = 0; c < CELLS; c++) {
		const struct sp_dbm_cell *cell = &cells[c];

		if (c == 3)
			continue;
		ok(near(cell->query_s.value, trimmed(c)) &&
			   cell->query_s.low < cell->query_s.value &&
			   cell->query_s.value < cell->query_s.high,
		   "the time of cell %u is the trimmed mean, in its interval", c);
		ok(fabs(cell->deviation - deviation(c)) < 1e-9,
		   "the deviation of cell %u is that of all its units", c);
		ok(near(cell->ratio.value, trimmed(c) / trimmed(c < 3 ? 0 : 4)),
		   "the ratio of cell %u refers to the first system that was measured", c);
	}
	ok(cells[1].query_s.value < 2, "one disturbed unit does not change a time");
	ok(near(cells[2].ratio.low, 3) && near(cells[2].ratio.high, 3),
	   "the interval of a ratio that is equal in each round has no width");
	ok(cells[1].ratio.low < cells[1].ratio.value && cells[1].ratio.value < cells[1].ratio.high,
	   "that of another ratio has one");
}

static void check_usage(void)
{
	const struct sp_dbm_usage *u = &cells[0].usage;
	double wall_s = 0;

	for (size_t i = 0; i < result.nunits; i++)
		wall_s += units[i].cell == 0 ? units[i].usage.wall_s / ROUNDS : 0;
	ok(cells[0].units == 7 && cells[5].units == 3, "units are counted");
	ok(near(u->wall_s, wall_s) && near(u->user_s, wall_s / 2) && near(u->system_s, wall_s / 4),
	   "the times of a unit are means");
	ok(llabs((long long)u->read_bytes - 4000) < ROUNDS &&
		   llabs((long long)u->reads - 40) < ROUNDS,
	   "so are bytes and calls");
	ok(u->peak_bytes == 5000000 && near(u->counted, 0.4), "peaks are maxima, shares minima");
	ok(near(cells[0].true_selectivity, 0.13) && near(cells[5].true_selectivity, 0.11),
	   "the true selectivity is a mean");
}

static void check_events(void)
{
	const struct sp_dbm_cell *c = &cells[1];
	const double want = (3e6 - 2 * 2000) / 8; /* two clients, each starts the system */

	ok(near(c->events[SP_DBM_INSTRUCTIONS], want), "starting the system is subtracted");
	ok(near(c->instructions_per_row, want / ROWS_OF_T1), "instructions per record follow");
	ok(near(c->cpi, (6e6 - 4000) / (3e6 - 4000)), "so do cycles per instruction");
	ok(near(c->misses[SP_DBM_LLC_MISSES], 1000 * (3e4 - 4000) / (3e6 - 4000)),
	   "so do misses per 1000 instructions");
	ok(isnan(c->events[SP_DBM_BRANCHES]) && isnan(c->misses[SP_DBM_BRANCHES]),
	   "an event that was not counted is unknown");
}

static void check_nothing(void)
{
	const struct sp_dbm_cell *c = &cells[3];

	ok(!c->units && isnan(c->query_s.value) && isnan(c->query_s.low) && isnan(c->ratio.value) &&
		   isnan(c->deviation) && isnan(c->true_selectivity) && isnan(c->usage.wall_s) &&
		   isnan(c->events[SP_DBM_INSTRUCTIONS]) && isnan(c->cpi),
	   "a cell without units has no values");
}

static void check_simulated(void)
{
	double simulated[CELLS][SP_DBM_EVENTS];

	for (int c = 0; c < CELLS; c++)
		for (int e = 0; e < SP_DBM_EVENTS; e++)
			simulated[c][e] = 10000 * (c + 1) + e;
	ok(!sp__cells_compute(&result, &opts, simulated),
	   "cells with simulated events are computed");
	ok(near(cells[4].events[SP_DBM_INSTRUCTIONS], 50000 + SP_DBM_INSTRUCTIONS - 2000),
	   "simulated events are those of one query, without starting the system");
}

static void check_few(void)
{
	result.nunits = 0;
	add_unit(0, 0, 2, 1e6);
	add_unit(1, 0, 3, 1e6);
	ok(!sp__cells_compute(&result, &opts, NULL) && near(cells[1].query_s.value, 3.0 / 8) &&
		   near(cells[1].ratio.value, 1.5),
	   "one unit has a time and a ratio");
	ok(isnan(cells[1].query_s.low) && isnan(cells[1].ratio.low) && isnan(cells[1].deviation),
	   "and no interval");
	result.nunits = 0;
	ok(!sp__cells_compute(&result, &opts, NULL) && isnan(cells[0].query_s.value),
	   "without units there is no time");
}

int main(void)
{
	make();
	ok(!sp__cells_compute(&result, &opts, NULL), "cells are computed");
	check_times();
	check_usage();
	check_events();
	check_nothing();
	check_simulated();
	check_few();
	return done();
}
