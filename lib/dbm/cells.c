/* SPDX-License-Identifier: MIT */
/*
 * Computes means, intervals and ratios of the units of each cell.
 *
 * Cells of one query and selectivity follow each other, one for each system; a round has one unit
 * of each.  So a ratio compares units that are neighbours in time (benchset/stat.h).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "benchset/stat.h"
#include "dbm/cells.h"
#include "dbm/usage.h"

struct work {
	struct sp_dbm_result *r;
	const struct sp_dbm_opts *opts;
	double (*simulated)[SP_DBM_EVENTS];
	double *values;
};

static const struct sp_dbm_unit *unit_of(const struct sp_dbm_result *r, size_t cell, unsigned round)
{
	for (size_t i = 0; i < r->nunits; i++)
		if (r->units[i].cell == cell && r->units[i].round == round)
			return &r->units[i];
	return NULL;
}

static double queries(const struct work *w)
{
	return (double)w->opts->unit * w->opts->clients;
}

static void compute_times(const struct work *w, size_t cell)
{
	struct sp_dbm_cell *c = &w->r->cells[cell];
	double sum = 0, squares = 0;
	size_t n = 0;

	for (unsigned round = 0; round < w->opts->rounds; round++) {
		const struct sp_dbm_unit *u = unit_of(w->r, cell, round);

		if (u)
			w->values[n++] = u->usage.wall_s / queries(w);
	}
	for (size_t i = 0; i < n; i++)
		sum += w->values[i];
	for (size_t i = 0; i < n; i++)
		squares += (w->values[i] - sum / (double)n) * (w->values[i] - sum / (double)n);
	c->deviation = n > 1 ? sqrt(squares / (double)(n - 1)) / (sum / (double)n) : NAN;
	c->query_s = sp__stat_estimate(w->values, n);
}

static void compute_ratio(const struct work *w, size_t cell, size_t first)
{
	struct sp_dbm_cell *c = &w->r->cells[cell];
	const double base = w->r->cells[first].query_s.value, own = c->query_s.value;
	size_t n = 0;

	for (unsigned round = 0; round < w->opts->rounds; round++) {
		const struct sp_dbm_unit *a = unit_of(w->r, first, round);
		const struct sp_dbm_unit *b = unit_of(w->r, cell, round);

		if (a && b)
			w->values[n++] =
				(b->usage.wall_s / own - a->usage.wall_s / base) / queries(w);
	}
	c->ratio = sp__stat_ratio(own / base, w->values, n);
}

static void add_usage(struct sp_dbm_usage *to, const struct sp_dbm_usage *u, double part)
{
	to->wall_s += part * u->wall_s;
	to->user_s += part * u->user_s;
	to->system_s += part * u->system_s;
	to->read_bytes += (uint64_t)llround(part * (double)u->read_bytes);
	to->write_bytes += (uint64_t)llround(part * (double)u->write_bytes);
	to->reads += (uint64_t)llround(part * (double)u->reads);
	to->writes += (uint64_t)llround(part * (double)u->writes);
	to->peak_bytes = u->peak_bytes > to->peak_bytes ? u->peak_bytes : to->peak_bytes;
	to->counted = fmin(to->counted, u->counted);
	for (int e = 0; e < SP_DBM_EVENTS; e++) {
		to->events[e] += part * u->events[e];
		to->kernel[e] += part * u->kernel[e];
	}
}

static void compute_usage(struct sp_dbm_result *r, size_t cell)
{
	struct sp_dbm_cell *c = &r->cells[cell];
	double selectivity = 0;

	c->usage = (struct sp_dbm_usage){ .counted = NAN };
	for (size_t i = 0; i < r->nunits; i++) {
		if (r->units[i].cell != cell)
			continue;
		add_usage(&c->usage, &r->units[i].usage, 1.0 / c->units);
		selectivity += r->units[i].true_selectivity / c->units;
	}
	c->true_selectivity = selectivity;
}

/* Computes the events of a query, without those of a unit without queries. */
static void compute_events(const struct work *w, size_t cell)
{
	struct sp_dbm_cell *c = &w->r->cells[cell];
	const struct sp_dbm_usage *empty = &w->r->systems[cell % w->r->nsystems].empty;
	const double *e = c->events;

	for (int i = 0; i < SP_DBM_EVENTS; i++)
		c->events[i] =
			w->simulated ? w->simulated[cell][i] - empty->events[i]
				     : (c->usage.events[i] - w->opts->clients * empty->events[i]) /
					       queries(w);
	c->instructions_per_row = e[SP_DBM_INSTRUCTIONS] / (double)w->r->t1_records;
	c->cpi = e[SP_DBM_CYCLES] / e[SP_DBM_INSTRUCTIONS];
	for (int i = 0; i < SP_DBM_EVENTS; i++)
		c->misses[i] = 1000 * e[i] / e[SP_DBM_INSTRUCTIONS];
}

static void forget(struct sp_dbm_cell *c)
{
	const struct sp_benchset_estimate none = { NAN, NAN, NAN };

	c->query_s = c->ratio = none;
	c->true_selectivity = c->deviation = c->instructions_per_row = c->cpi = NAN;
	c->usage = sp__usage_unknown();
	for (int i = 0; i < SP_DBM_EVENTS; i++)
		c->events[i] = c->misses[i] = NAN;
}

/* Returns the first cell of the same query that was measured: that of the first system. */
static size_t first_of(const struct sp_dbm_result *r, size_t cell)
{
	size_t first = cell - cell % r->nsystems;

	while (first < cell && !r->cells[first].units)
		first++;
	return first;
}

int sp__cells_compute(struct sp_dbm_result *result, const struct sp_dbm_opts *opts,
		      double (*simulated)[SP_DBM_EVENTS])
{
	struct work w = { result, opts, simulated, calloc(opts->rounds + 1, sizeof(double)) };

	if (!w.values)
		return -ENOMEM;
	for (size_t i = 0; i < result->ncells; i++)
		result->cells[i].units = 0;
	for (size_t i = 0; i < result->nunits; i++)
		result->cells[result->units[i].cell].units++;
	for (size_t i = 0; i < result->ncells; i++) {
		forget(&result->cells[i]);
		if (!result->cells[i].units)
			continue;
		compute_times(&w, i);
		compute_ratio(&w, i, first_of(result, i));
		compute_usage(result, i);
		compute_events(&w, i);
	}
	free(w.values);
	return 0;
}
