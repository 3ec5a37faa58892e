/* SPDX-License-Identifier: MIT */
/*
 * Chooses a mapping for a workload.  An order or a basic cube that the caller gives stays.
 *
 * Without queries, each mapping with its defaults is compared on a beam along each dimension and a
 * box of as many cells as a mean beam.
 *
 * Algorithm.  Every candidate is planned completely, without a file, and its queries are predicted
 * run by run (mean.c) at the same positions.  Naive and MultiMap are tried with each
 * dimension as the first one.  MultiMap is also tried with several conservatisms, since they decide
 * how many cells of a row are read between two hops; then all balanced basic cubes are tried for
 * the best of these.  In two dimensions, both are repeated with the closer aims of one track.
 * For this search 4 positions and 500 runs are enough, because candidates of
 * one mapping differ alike at all positions.  Times of different mappings at one position differ
 * much more, so each mapping with its defaults, and its best candidate, are compared with all
 * others at all positions.
 *
 * A cache in the drive can change the order of mappings, and predictions do not model it: on a
 * simulated drive with a cache the candidates of the last comparison are measured.
 */
#include <math.h>
#include <string.h>
#include "base/minmax.h"
#include "cube/choose/choose.h"
#include "cube/file/file.h"

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

#define STEPS 16
#define POSITIONS 10
#define RUNS 2000  /* runs of a query that are followed */
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
		struct sp__runs_prediction p;

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

#define CHOICE_POSITIONS 4
#define CHOICE_RUNS 500
#define FINAL_RUNS 20000
#define BASIC_CUBES_MAX 300
#define MEASURED_CELLS 1000000	/* maximum cells of all queries at all positions */
#define DEFAULT_WASTE_MAX 50	/* percent, without queries */
#define APPENDABLE_CURVE_DIMS 4 /* with more, curves need sizes that are powers of two */

struct search {
	const struct sp_cube_create_opts *asked; /* members that are given there stay */
	struct sp_cube_create_opts trial, best;
	double ns;
	bool any;
	unsigned positions;	     /* positions of each query; 0: all */
	unsigned measured_positions; /* the same, if a cache requires measuring; 0: none */
	uint64_t runs;
	unsigned left;
	struct sp_errinfo *err;
};

/* True if the unused space is within the limit of the options, if there is one. */
static bool spares_space(const struct sp__cube_plan *plan)
{
	double max = plan->opts->waste_max_percent;

	return !(max > 0) || 100 * sp__mapping_waste(&plan->superblock.mapping) <= max;
}

/*
 * Returns the number of positions at which all queries together have at most MEASURED_CELLS cells.
 * The tile can be one that the plan chooses.  An impossible shape is refused later.
 */
static unsigned measurable_positions(const struct sp_cube_create_opts *o)
{
	const struct sp_cube_workload *w = o->workload;
	struct sp__cube_plan plan;
	struct sp_cube_shape shape;
	double cells = 0;
	int rc = sp__cube_plan(&plan, o, "", NULL);

	shape = plan.superblock.shape;
	sp__cube_plan_free(&plan);
	for (size_t i = 0; !rc && i < w->n; i++) {
		struct sp_cube_box e = sp__cube_query_box(&w->queries[i], &shape, w->seed, 0);
		struct sp_cube_box box = sp__cube_cells(&shape, &e);

		cells += (double)sp__box_cells(&box, shape.ndims);
	}
	return rc ? 0 : (unsigned)fmin(MEASURED_CELLS / cells, UINT32_MAX);
}

static int cost(const struct search *s, struct sp__cube_plan *plan, double *ns)
{
	struct sp__runs_prediction p;
	double seconds;
	int rc;

	if (!plan->drive.facts.caches || !s->measured_positions) {
		rc = sp__cube_predict(plan, s->positions, s->runs, &p);
		*ns = p.ns;
		return rc;
	}
	rc = sp__cube_measure(plan, s->measured_positions, &seconds, s->err);
	*ns = seconds * 1e9;
	return rc;
}

/* Plans and compares the trial.  -ENODATA and -ENOMEM end the search, refusals do not. */
static int try(struct search *s)
{
	struct sp_errinfo ignored = SP_ERRINFO_INIT;
	struct sp__cube_plan plan;
	double ns;
	int rc = sp__cube_plan(&plan, &s->trial, "", &ignored);

	if (!rc && spares_space(&plan)) {
		/* Keep the sizes that the plan has chosen. */
		const struct sp__mapping *m = &plan.superblock.mapping;
		const bool multimap = m->kind == SP_CUBE_MULTIMAP;
		uint64_t basic[SP_CUBE_DIMS_MAX];

		memcpy(basic, m->basic.k, sizeof(basic));
		rc = cost(s, &plan, &ns);
		if (!rc && (!s->any || ns < s->ns)) {
			s->best = s->trial;
			s->ns = ns;
			s->any = true;
			if (multimap)
				memcpy(s->best.basic, basic, sizeof(s->best.basic));
		}
	}
	sp__cube_plan_free(&plan);
	return rc == -ENOMEM || rc == -ENODATA ? rc : 0;
}

/* Makes a dimension the first one; the others keep their order. */
static void put_first(struct search *s, unsigned first)
{
	struct sp_cube_create_opts *o = &s->trial;
	unsigned at = 1;

	if (s->asked->ordered)
		return;
	o->ordered = true;
	o->order[0] = first;
	for (unsigned i = 0; i < o->shape.ndims; i++)
		if (i != first)
			o->order[at++] = i;
}

/* Tries all dimensions as the first one, unless an order is given, with each conservatism. */
static int try_orders(struct search *s, const double *conservatism, size_t n)
{
	unsigned ndims = s->asked->ordered ? 1 : s->asked->shape.ndims;
	int rc = 0;

	for (unsigned i = 0; !rc && i < ndims; i++)
		for (size_t c = 0; !rc && c < n; c++) {
			put_first(s, i);
			s->trial.conservatism_deg = conservatism[c];
			rc = try(s);
		}
	return rc;
}

static int try_basic(void *arg, struct sp__multimap *m)
{
	struct search *s = arg;

	memcpy(s->trial.basic, m->basic->k, sizeof(s->trial.basic));
	return s->left-- ? try(s) : 1;
}

/* Tries all aims, closer by closer_deg, then all basic cubes of the best one. */
static int try_multimap(struct search *s, double closer_deg)
{
	double conservatism[] = { 2, 10, 15, 20, 25, 30, 45 };
	size_t n = sizeof(conservatism) / sizeof(*conservatism);
	struct sp__cube_plan plan;
	int rc;

	for (size_t i = 0; i < n; i++)
		conservatism[i] -= closer_deg;
	rc = try_orders(s, conservatism, n);
	if (rc || !s->any || s->asked->basic[0])
		return rc;
	s->trial = s->best;
	s->left = BASIC_CUBES_MAX;
	rc = sp__cube_plan(&plan, &s->best, "", s->err);
	if (!rc)
		rc = sp__multimap_each(&plan.superblock.mapping.multimap, try_basic, s);
	sp__cube_plan_free(&plan);
	return rc < 0 ? rc : 0;
}

/* Compares the best candidate of a mapping with those of others. */
static int try_best(struct search *final, struct search s, double closer_deg)
{
	int rc = 0;

	if (s.trial.mapping == SP_CUBE_MULTIMAP)
		rc = try_multimap(&s, closer_deg);
	else if (s.trial.mapping == SP_CUBE_NAIVE)
		rc = try_orders(&s, &s.asked->conservatism_deg, 1);
	if (rc || !s.any)
		return rc;
	final->trial = s.best;
	return try(final);
}

int sp__cube_choose(struct sp_cube_create_opts *opts, struct sp_errinfo *err)
{
	double closer_deg = sp__cube_closer_deg(opts);
	struct search final = { .measured_positions = measurable_positions(opts),
				.runs = FINAL_RUNS,
				.err = err };
	int rc = 0;

	for (unsigned i = 0; !rc && i < SP_CUBE_CANDIDATES - 1; i++) {
		struct search s = { .asked = opts,
				    .trial = *opts,
				    .positions = CHOICE_POSITIONS,
				    .runs = CHOICE_RUNS,
				    .err = err };

		s.trial.mapping = (enum sp_cube_mapping)(SP_CUBE_MULTIMAP + i);
		final.trial = s.trial;
		rc = try(&final);
		rc = rc ? rc : try_best(&final, s, 0);
		if (!rc && closer_deg > 0 && s.trial.mapping == SP_CUBE_MULTIMAP)
			rc = try_best(&final, s, closer_deg);
	}
	if (!rc && final.any)
		*opts = final.best;
	return rc == -ENODATA ? 0 : rc;
}

/* Makes a beam along each dimension, and a box of about as many cells as a mean beam. */
static size_t default_queries(const struct sp_cube_shape *s,
			      struct sp_cube_query queries[SP_CUBE_DIMS_MAX + 1])
{
	struct sp_cube_query *box = &queries[s->ndims];
	double cells = 0, edge;

	memset(queries, 0, (s->ndims + 1) * sizeof(*queries));
	for (unsigned i = 0; i < s->ndims; i++) {
		cells += (double)((s->dims[i] - 1) / s->tile[i] + 1) / s->ndims;
		queries[i].weight = 1;
		for (unsigned k = 0; k < s->ndims; k++)
			queries[i].size[k] = k != i;
	}
	box->weight = 1;
	edge = round(pow(cells, 1.0 / s->ndims));
	for (unsigned i = 0; i < s->ndims; i++)
		box->size[i] = (uint64_t)fmin(edge * s->tile[i], (double)s->dims[i]);
	return s->ndims + 1;
}

static int choose_default(struct sp_cube_create_opts *opts, struct sp_cube_workload *w)
{
	struct search s = { .trial = *opts, .runs = FINAL_RUNS };
	enum sp_cube_mapping end =
		opts->shape.ndims > APPENDABLE_CURVE_DIMS ? SP_CUBE_ZORDER : SP_CUBE_GRAY + 1;
	int rc = 0;

	s.trial.workload = w;
	if (!(opts->waste_max_percent > 0))
		s.trial.waste_max_percent = DEFAULT_WASTE_MAX;
	s.measured_positions = measurable_positions(&s.trial);
	for (unsigned i = SP_CUBE_MULTIMAP; !rc && i < end; i++) {
		s.trial.mapping = (enum sp_cube_mapping)i;
		rc = try(&s);
	}
	if (!rc && s.any)
		opts->mapping = s.best.mapping;
	return rc == -ENODATA ? 0 : rc;
}

static int choose_usual(struct sp_cube_create_opts *opts)
{
	struct sp_cube_query queries[SP_CUBE_DIMS_MAX + 1];
	struct sp_errinfo ignored = SP_ERRINFO_INIT;
	struct sp_cube_workload w = { 0 };
	struct sp_cube_create_opts o = *opts;
	struct sp__cube_plan plan;
	int rc = sp__cube_plan(&plan, opts, "", &ignored);

	if (!rc) {
		o.shape = plan.superblock.shape;
		if (opts->workload)
			w = *opts->workload;
		w.queries = queries;
		w.n = default_queries(&o.shape, queries);
		rc = choose_default(&o, &w);
		opts->mapping = o.mapping;
	}
	sp__cube_plan_free(&plan);
	return rc == -ENOMEM ? rc : 0;
}

static int choose_open(struct sp_cube_create_opts *opts, struct sp_errinfo *err)
{
	int rc = 0;

	if (sp__cube_mapping_open(opts) && opts->workload && opts->workload->n)
		return sp__cube_choose(opts, err);
	if (sp__cube_mapping_open(opts))
		rc = choose_usual(opts);
	return rc || opts->mapping != SP_CUBE_MULTIMAP ? rc : sp__cube_choose_aim(opts);
}

int sp__cube_choose_open(struct sp_cube_create_opts *opts, struct sp_errinfo *err)
{
	const struct sp_run_opts given = opts->run;
	struct sp__volume_drive drive;
	int rc;

	if (opts->points || !(sp__cube_mapping_open(opts) || opts->mapping == SP_CUBE_MULTIMAP))
		return 0;
	sp__volume_drive_share(&drive, &opts->run, opts->volumes);
	rc = choose_open(opts, err);
	opts->run = given;
	sp__volume_drive_free(&drive);
	return rc;
}
