/* SPDX-License-Identifier: MIT */
/*
 * The choice of a layout: on a simulated machine it is at most 5 % behind the best of the four
 * layouts, as measured, for the example workloads and random ones.
 *
 * An argument is the number of random workloads, instead of 20; then there are more examples, too.
 */
#include <math.h>
#include <string.h>
#include "base/rng.h"
#include "table/cost/candidates.h"
#include "tap.h"

#define COLUMNS 15

static const double no_texts[COLUMNS];

static struct sp__table_schema schema_of_r(void)
{
	struct sp__table_schema s = { 0 };
	char name[8];

	for (unsigned i = 0; i < COLUMNS; i++) {
		snprintf(name, sizeof(name), "a%u", i + 1);
		if (sp__table_schema_add(&s, name, strlen(name), &sp__value_types[SP__VALUE_F64]))
			exit(1);
	}
	return s;
}

static void add(struct sp__table_workload *w, const struct sp__table_schema *s, const char *query)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp__table_workload_add(w, query, s, &err)) {
		diag("%s", err.text);
		exit(1);
	}
}

static double best_of(const struct sp_table_comparison *c, const char **name)
{
	double best = INFINITY;

	for (unsigned i = 0; i < SP_TABLE_AUTO; i++)
		if (!c->candidates[i].code && c->candidates[i].sum.measured_s < best) {
			best = c->candidates[i].sum.measured_s;
			*name = sp_table_layout_name((int)i);
		}
	return best;
}

static void judge(const struct sp__table_schema *s, const struct sp__table_workload *w,
		  const char *volume, uint64_t records, const char *what)
{
	struct sp_run_opts run = SP_RUN_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__cost_platform p;
	struct sp__cost_question q = { .schema = s,
				       .records = records,
				       .text_bytes = no_texts,
				       .workload = w,
				       .platform = &p };
	const struct sp_table_candidate *chosen;
	struct sp_table_comparison c;
	const char *name = "";
	double best;

	run.volume = volume;
	if (sp__cost_platform_open(&p, &run, &err) || sp__cost_compare(&q, true, &c, &err)) {
		ok(false, "%s, %s: %s", what, volume, err.text);
		exit(1);
	}
	chosen = &c.candidates[SP_TABLE_AUTO];
	best = best_of(&c, &name);
	ok(chosen->sum.measured_s <= 1.05 * best,
	   "%s, %s: %s%s%s takes %.5f s, the best, %s, %.5f s", what, volume,
	   sp_table_layout_name((int)chosen->layout), chosen->together ? " with " : "",
	   chosen->together ? chosen->together : "", chosen->sum.measured_s, name, best);
	sp_table_comparison_free(&c);
	sp__cost_platform_close(&p);
}

static void examples(const struct sp__table_schema *s, const char *volume)
{
	static const char *const queries[][4] = {
		{ "scan a1,a2", NULL },
		{ "get 1000 *", NULL },
		{ "scan a1,a2", "1000 get 1 *", NULL },
		{ "10 scan a3,a4 where a1 0.1", "get 500 a3,a4,a5", "update 200 a5", NULL },
		{ "scan a1", "2000 get 1 a8,a9,a10", "append 1000", NULL },
	};

	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		struct sp__table_workload w = { 0 };

		for (unsigned k = 0; queries[i][k]; k++)
			add(&w, s, queries[i][k]);
		judge(s, &w, volume, 200000, queries[i][0]);
		sp__table_workload_free(&w);
	}
}

/* Writes a list of random columns. */
static void list(struct sp__rng *rng, char *to, size_t bytes)
{
	uint64_t n = sp__rng_below(rng, 4) ? 1 + sp__rng_below(rng, 5) : COLUMNS;
	size_t at = 0;

	if (n == COLUMNS) {
		snprintf(to, bytes, "*");
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		at += (size_t)snprintf(to + at, bytes - at, "%sa%u", i ? "," : "",
				       1 + (unsigned)sp__rng_below(rng, COLUMNS));
}

static void random_query(struct sp__rng *rng, char *to, size_t bytes)
{
	char columns[64], where[64];
	double weight = pow(10, 3 * sp__rng_real(rng));

	list(rng, columns, sizeof(columns));
	list(rng, where, sizeof(where));
	switch (sp__rng_below(rng, 5)) {
	case 0:
		snprintf(to, bytes, "scan %s", columns);
		break;
	case 1:
		snprintf(to, bytes, "scan %s where %s %g", columns, where,
			 pow(10, -6 * sp__rng_real(rng)));
		break;
	case 2:
		snprintf(to, bytes, "%g update %u %s", weight,
			 1 + (unsigned)sp__rng_below(rng, 500), columns);
		break;
	case 3:
		snprintf(to, bytes, "append %u", 1 + (unsigned)sp__rng_below(rng, 5000));
		break;
	default:
		snprintf(to, bytes, "%g get %u %s", weight, 1 + (unsigned)sp__rng_below(rng, 500),
			 columns);
	}
}

static void random_workload(const struct sp__table_schema *s, unsigned seed)
{
	static const char *const volumes[] = { "sim:flash", "sim:cheetah36es-like",
					       "sim:nearline6t-like", "sim:ultrastar36lzx-like" };
	struct sp__rng rng = { seed };
	struct sp__table_workload w = { 0 };
	uint64_t n = 1 + sp__rng_below(&rng, 5);
	char query[256], what[32];

	for (uint64_t i = 0; i < n; i++) {
		random_query(&rng, query, sizeof(query));
		add(&w, s, query);
	}
	snprintf(what, sizeof(what), "random workload %u", seed);
	judge(s, &w, volumes[seed % 4], 50000 + sp__rng_below(&rng, 300000), what);
	sp__table_workload_free(&w);
}

int main(int argc, char **argv)
{
	struct sp__table_schema s = schema_of_r();
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 20;

	examples(&s, "sim:flash");
	if (argc > 1)
		examples(&s, "sim:cheetah36es-like");
	for (unsigned i = 1; i <= n; i++)
		random_workload(&s, i);
	sp__table_schema_free(&s);
	return done();
}
