/* SPDX-License-Identifier: MIT */
/*
 * Measures two settings alternately: a round has a slice of each, so a ratio compares neighbours in
 * time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "benchset/set.h"

#define ROUNDS 15

static const char *const keys[SP__SET_ROWS] = {
	"iops",		  "bandwidth_bytes_per_s", "latency_mean_ns",	"latency_p50_ns",
	"latency_p99_ns", "latency_p999_ns",	   "cpu_us_per_request"
};

static void add_row(struct sp_benchset *set, size_t class_a, size_t class_b, const char *name,
		    enum sp__setmetric m)
{
	struct sp_benchset_row *row = &set->rows[set->result.nrows];
	struct sp__setpair pair = { &set->points[1], &set->points[0], class_b, class_a, m };

	row->key = keys[m];
	row->name = name;
	row->a = sp__set_figure(&set->points[0], class_a, m);
	row->b = sp__set_figure(&set->points[1], class_b, m);
	row->ratio = sp__set_ratio(&pair);
	if (!isnan(row->a) || !isnan(row->b))
		set->result.nrows++;
}

/* Adds rows for the totals, then for classes that both settings have, if there are several. */
static int show(struct sp_benchset *set)
{
	const struct sp__setpoint *a = &set->points[0], *b = &set->points[1];

	set->rows = calloc((SP_BENCH_CLASSES_MAX + 1) * SP__SET_ROWS, sizeof(set->rows[0]));
	if (!set->rows)
		return -ENOMEM;
	set->result.rows = set->rows;
	for (int m = 0; m < SP__SET_ROWS; m++)
		add_row(set, a->opts.nclasses, b->opts.nclasses, "total", m);
	for (size_t i = 0; a->opts.nclasses > 1 && i < a->opts.nclasses; i++)
		for (size_t k = 0; k < b->opts.nclasses; k++)
			for (int m = 0; m < SP__SET_ROWS; m++)
				if (!strcmp(a->classes[i].name, b->classes[k].name))
					add_row(set, i, k, a->classes[i].name, m);
	return 0;
}

int sp_benchset_compare(struct sp_benchset **out, const struct sp_benchset_opts *a,
			const struct sp_bench_opts *b, struct sp_errinfo *err)
{
	struct sp_benchset *set;
	int rc = sp__set_open(&set, a, b, err);

	*out = NULL;
	if (!set)
		return rc;
	set->strict = true;
	sp__set_add(set, a->bench)->name = "A";
	sp__set_add(set, b)->name = "B";
	if (rc == 0)
		rc = sp__set_run(set, 1, a->rounds ? a->rounds : ROUNDS, err);
	rc = sp__set_done(out, set, rc, err);
	if (*out && show(set) && rc == 0)
		rc = sp__err(err, -ENOMEM, "measure", "", -1);
	return rc;
}
