/* SPDX-License-Identifier: MIT */
/*
 * Compares two documents of runs.
 *
 * Algorithm: throughput and mean latency have an interval.  A run is divided into windows, and up
 * to twenty groups of them count as one measurement each (batch means).  The relative errors of A
 * and B add up by squares, with Student's t of the smaller number.  Percentiles and CPU time only
 * have a ratio.
 *
 * Not modelled: changes between the runs.  The interval covers the variation within each run;
 * alternate runs to average out the others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "benchset/stat.h"
#include "report/load.h"
#include "report/report_bench.h"
#include "report/read.h"

#define GROUPS 20
#define GROUPS_MIN 5

/* Refuses a run with options without effect, which did not measure the requested load. */
static int refuse_no_effect(const json_t *doc, const char *path, struct sp_errinfo *err)
{
	const json_t *list = json_object_get(json_object_get(doc, "result"), "no_effect");
	const json_t *e = json_array_get(list, 0);

	return e ? sp__errf(err, SP_EUNSUP, "read", path, -1,
			    "cannot be compared: %s had no effect: %s", word(e, "option"),
			    word(e, "reason"))
		 : 0;
}

static int load(json_t **doc, const char *path, struct sp_errinfo *err)
{
	int rc = sp__report_load(doc, SP__DOC_RUN, path, err);

	return rc ? rc : refuse_no_effect(*doc, path, err);
}

/* Computes requests per second of each group of windows, or their mean latency. */
static size_t groups(double *v, const json_t *stats, bool latency)
{
	const json_t *windows = json_object_get(stats, "windows");
	size_t n = json_array_size(windows), each = (n + GROUPS - 1) / GROUPS, used = 0;
	double begin = 0;

	for (size_t i = 0; each && i + each <= n; i += each) {
		double requests = 0, sum = 0, end = 0;

		for (size_t k = i; k < i + each; k++) {
			const json_t *w = json_array_get(windows, k);

			requests += number(w, "requests");
			sum += number(w, "latency_sum_ns");
			end = number(w, "end_s");
		}
		if (!latency)
			v[used++] = requests / (end - begin);
		else if (requests > 0)
			v[used++] = sum / requests;
		begin = end;
	}
	return used;
}

/* Returns the standard error of the mean divided by the mean; NaN: too few groups. */
static double relative_error(const json_t *stats, bool latency, size_t *n)
{
	double v[GROUPS], mean = 0, squares = 0;

	*n = groups(v, stats, latency);
	if (*n < GROUPS_MIN)
		return NAN;
	for (size_t i = 0; i < *n; i++)
		mean += v[i] / (double)*n;
	for (size_t i = 0; i < *n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	return sqrt(squares / (double)(*n * (*n - 1))) / mean;
}

static double figure(const json_t *o, const char *key)
{
	return known(o, key) ? number(o, key) : NAN;
}

static void put_row(struct sp__doc doc, json_t *rows, const json_t *a, const json_t *b,
		    const char *name, const char *key)
{
	struct sp_benchset_row row = { .key = key,
				       .name = name,
				       .a = figure(a, key),
				       .b = figure(b, key),
				       .ratio = { NAN, NAN, NAN } };
	bool latency = !strcmp(key, "latency_mean_ns");
	size_t na, nb;
	double half;

	if (isnan(row.a) && isnan(row.b))
		return;
	row.ratio.value = row.b / row.a;
	if (latency || !strcmp(key, "iops")) {
		half = hypot(relative_error(a, latency, &na), relative_error(b, latency, &nb));
		if (!isnan(half))
			half *= sp__stat_t((na < nb ? na : nb) - 1);
		row.ratio.low = row.ratio.value * exp(-half);
		row.ratio.high = row.ratio.value * exp(half);
	}
	sp__doc_fields(sp__doc_element(doc, rows), sp__report_row_fields, &row);
}

static void put_rows(struct sp__doc doc, json_t *rows, const json_t *a, const json_t *b,
		     const char *name)
{
	static const char *const keys[] = {
		"iops",		  "bandwidth_bytes_per_s", "latency_mean_ns", "latency_p50_ns",
		"latency_p90_ns", "latency_p99_ns",	   "latency_p999_ns", "cpu_us_per_request"
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		put_row(doc, rows, a, b, name, keys[i]);
}

/* Adds a row for all classes, then for those that both runs have, if there are several. */
static void put_classes(struct sp__doc doc, json_t *rows, const json_t *a, const json_t *b)
{
	const json_t *as = json_object_get(a, "classes"), *bs = json_object_get(b, "classes");
	const json_t *x, *y;

	put_rows(doc, rows, json_object_get(a, "result"), json_object_get(b, "result"), "total");
	for (size_t i = 0; json_array_size(as) > 1 && (x = json_array_get(as, i)); i++)
		for (size_t k = 0; (y = json_array_get(bs, k)); k++)
			if (!strcmp(word(x, "name"), word(y, "name")))
				put_rows(doc, rows, x, y, word(x, "name"));
}

static struct sp_report *build(const char *file_a, const char *file_b, json_t *a, json_t *b)
{
	struct sp__doc doc = sp__report_new(SP__DOC_COMPARE);

	sp__doc_text(doc, "file_a", file_a);
	sp__doc_text(doc, "file_b", file_b);
	sp__doc_put(doc, "config_a", json_incref(json_object_get(a, "config")));
	sp__doc_put(doc, "config_b", json_incref(json_object_get(b, "config")));
	put_classes(doc, sp__doc_array(doc, "rows"), a, b);
	return sp__report_done(doc);
}

int sp_report_compare_files(struct sp_report **report, const char *file_a, const char *file_b,
			    struct sp_errinfo *err)
{
	json_t *a = NULL, *b = NULL;
	int rc = load(&a, file_a, err);

	*report = NULL;
	if (rc == 0)
		rc = load(&b, file_b, err);
	if (rc == 0) {
		*report = build(file_a, file_b, a, b);
		if (!*report)
			rc = sp__err(err, -ENOMEM, "compare", "", -1);
	}
	json_decref(a);
	json_decref(b);
	return rc;
}
