/* SPDX-License-Identifier: MIT */
/*
 * Chooses the aim of MultiMap's hops in two dimensions.
 *
 * There, the next row is one track away, and a hop by one track can need less than the farthest one
 * of the settle plateau.  Hops can aim closer by the difference, and those by one track still have
 * the conservatism that the caller requests.
 *
 * Algorithm.  A closer aim does not suit all queries: a row that takes longer than the conservatism
 * passes the start of the next one, and some aims put most rows at a few angles.  So queries are
 * predicted with STEPS aims between those of the plateau and of one track: squares, and a beam
 * along dimension 1.  A beam along dimension 0 has no hops.  An aim with which a query is slower
 * than with the plateau is dropped; of the others, the one with the lowest mean ratio of times is
 * chosen.
 */
#include <math.h>
#include <string.h>
#include "base/minmax.h"
#include "cube/choose/choose.h"

#define STEPS 16
#define POSITIONS 10
#define RUNS 2000  /* of a query that are followed */
#define SQUARES 13 /* edges of 2, 3, 4, 6, ... 128 cells */
#define QUERIES (SQUARES + 1)
#define SLOWER_MAX 1.005 /* ratio; smaller ones are due to the positions */

double sp__cube_closer_deg(const struct sp_cube_create_opts *opts)
{
	struct sp_errinfo ignored = SP_ERRINFO_INIT;
	struct sp__cube_plan plan;
	double closer_deg = 0;

	if (!sp__cube_plan(&plan, opts, "", &ignored))
		closer_deg = sp__cubeplan_closer_deg(&plan);
	sp__cube_plan_free(&plan);
	return closer_deg;
}

static void make_queries(const struct sp__cube_superblock *h, struct sp_cube_query queries[QUERIES])
{
	const struct sp_cube_shape *s = &h->shape;

	for (unsigned i = 0; i < QUERIES; i++) {
		uint64_t edge = (uint64_t)(2 + i % 2) << i / 2;

		queries[i] = (struct sp_cube_query){ .weight = 1 };
		for (unsigned d = 0; d < 2 && i < SQUARES; d++)
			queries[i].size[d] = sp__min(edge * s->tile[d], s->dims[d]);
	}
	queries[SQUARES].size[h->mapping.order[0]] = 1;
}

/*
 * Predicts the queries with the conservatism of opts.  before: times with another one, or NULL.
 * Sets mean_ratio; INFINITY if a query is slower.
 */
static int predict(const struct sp_cube_create_opts *opts, const double *before, double *ns,
		   double *mean_ratio)
{
	struct sp_errinfo ignored = SP_ERRINFO_INIT;
	struct sp_cube_query queries[QUERIES];
	struct sp_cube_workload w = { 0 };
	struct sp_cube_create_opts o = *opts;
	struct sp__cube_plan plan;
	int rc;

	if (opts->workload)
		w = *opts->workload;
	o.workload = &w;
	w.n = 1;
	*mean_ratio = 0;
	rc = sp__cube_plan(&plan, &o, "", &ignored);
	if (!rc)
		make_queries(&plan.superblock, queries);
	for (unsigned i = 0; !rc && i < QUERIES && *mean_ratio < INFINITY; i++) {
		struct sp__cube_prediction p;

		w.queries = &queries[i];
		rc = sp__cube_predict(&plan, POSITIONS, RUNS, &p);
		ns[i] = p.ns;
		if (before)
			*mean_ratio += ns[i] > before[i] * SLOWER_MAX ? INFINITY
								      : ns[i] / before[i] / QUERIES;
	}
	sp__cube_plan_free(&plan);
	return rc;
}

int sp__cube_choose_aim(struct sp_cube_create_opts *opts)
{
	double closer_deg = sp__cube_closer_deg(opts), before[QUERIES], ns[QUERIES];
	double ratio, best = 1;
	struct sp_cube_create_opts trial = *opts;
	int rc = closer_deg > 0 ? predict(opts, NULL, before, &ratio) : SP_EUNSUP;

	for (unsigned i = 1; !rc && i <= STEPS; i++) {
		trial.conservatism_deg -= closer_deg / STEPS;
		rc = predict(&trial, before, ns, &ratio);
		if (!rc && ratio < best) {
			best = ratio;
			opts->conservatism_deg = trial.conservatism_deg;
		}
	}
	return rc == -ENOMEM ? rc : 0;
}
