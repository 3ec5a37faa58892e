/* SPDX-License-Identifier: MIT */
/*
 * Parses the queries of workloads (run/workload.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "cube/choose/choose.h"
#include "run/workload.h"

/* Parses a list of n numbers with a separator.  False: text is not such a list. */
static bool numbers(const char *text, char separator, unsigned n, uint64_t *values)
{
	char *end;

	for (unsigned i = 0; i < n; i++, text = end + 1) {
		if (*text < '0' || *text > '9')
			return false;
		values[i] = strtoull(text, &end, 10);
		if (*end != (i + 1 < n ? separator : '\0'))
			return false;
	}
	return true;
}

static const char *parse_kind(struct sp_cube_query *q, const char *kind, const char *what,
			      const struct sp_cube_shape *s)
{
	uint64_t dim;

	if (!strcmp(kind, "beam")) {
		if (!what || !numbers(what, ',', 1, &dim) || dim >= s->ndims)
			return "a beam needs a dimension of the cube";
		for (unsigned i = 0; i < s->ndims; i++)
			q->size[i] = i != dim;
		return NULL;
	}
	if (strcmp(kind, "range"))
		return "a query must be a beam or a range";
	if (!what || !numbers(what, 'x', s->ndims, q->size))
		return "a range needs a size for each dimension, such as 8x8x4";
	for (unsigned i = 0; i < s->ndims; i++)
		if (!q->size[i] || q->size[i] > s->dims[i])
			return "a range has from 1 element to all along each dimension";
	return NULL;
}

/* Parses a query without its weight.  Returns NULL, or the reason why it is invalid. */
static const char *parse(struct sp_cube_query *q, char *words, const struct sp_cube_shape *s)
{
	char *rest;
	const char *kind = strtok_r(words, " \t\r\n", &rest), *what, *at, *reason;

	what = strtok_r(NULL, " \t\r\n", &rest);
	at = strtok_r(NULL, " \t\r\n", &rest);
	reason = parse_kind(q, kind, what, s);
	if (reason || !at)
		return reason;
	q->at_given = true;
	if (!numbers(at, ',', s->ndims, q->at) || strtok_r(NULL, " \t\r\n", &rest))
		return "a position has a number for each dimension, such as 0,7,3";
	for (unsigned i = 0; i < s->ndims; i++) {
		q->at[i] = q->size[i] ? q->at[i] : 0;
		if (q->at[i] >= s->dims[i] || q->size[i] > s->dims[i] - q->at[i])
			return "the query leaves the dataset";
	}
	return NULL;
}

/* A workload that is being read. */
struct reading {
	struct sp_cube_workload *w;
	const struct sp_cube_shape *shape;
};

static int add(void *arg, double weight, char *words, char *reason)
{
	struct reading *r = arg;
	struct sp_cube_workload *w = r->w;
	struct sp_cube_query q = { .weight = weight };
	const char *cause = parse(&q, words, r->shape);

	if (cause) {
		snprintf(reason, SP__QUERY_REASON, "%s", cause);
		return SP_ESYNTAX;
	}
	if (!SP__ARRAY_GROW_BY_ONE(w->queries, w->n))
		return -ENOMEM;
	w->queries[w->n++] = q;
	return 0;
}

static struct sp__workload_reader reader(struct reading *r)
{
	return (struct sp__workload_reader){
		.query = add,
		.arg = r,
		.form = "a line must have a weight above 0 and below 1e100, then beam or range, "
			"then its size",
	};
}

int sp_cube_workload_load(struct sp_cube_workload *w, const char *path,
			  const struct sp_cube_shape *shape, struct sp_errinfo *err)
{
	struct reading reading = { w, shape };
	struct sp__workload_reader r = reader(&reading);
	int rc;

	w->queries = NULL;
	w->n = 0;
	rc = sp__workload_read(&r, path, err);
	if (rc)
		sp_cube_workload_free(w);
	return rc;
}

int sp_cube_workload_add(struct sp_cube_workload *w, const char *query,
			 const struct sp_cube_shape *shape, struct sp_errinfo *err)
{
	struct reading reading = { w, shape };
	struct sp__workload_reader r = reader(&reading);

	return sp__workload_query(&r, query, err);
}

void sp_cube_workload_free(struct sp_cube_workload *w)
{
	free(w->queries);
	w->queries = NULL;
	w->n = 0;
}
