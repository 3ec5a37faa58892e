/* SPDX-License-Identifier: MIT */
/*
 * Parses workloads as text, one query per line.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/whole.h"
#include "cube/choose/choose.h"

#define LINE_MAX_BYTES 4096
#define WEIGHT_END 1e100 /* keeps sums of weights and of weighted times finite */

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
		return "a query is a beam or a range";
	if (!what || !numbers(what, 'x', s->ndims, q->size))
		return "a range needs a size for each dimension, such as 8x8x4";
	for (unsigned i = 0; i < s->ndims; i++)
		if (!q->size[i] || q->size[i] > s->dims[i])
			return "a range has from 1 element to all along each dimension";
	return NULL;
}

/* Parses the weight before a query, if there is one.  False: it is not a weight. */
static bool take_weight(struct sp_cube_query *q, const char **kind, char **rest)
{
	const struct sp_cube_shape number = { .type = SP_CUBE_F64 };
	bool parsed;

	q->weight = 1;
	if (isalpha((unsigned char)**kind))
		return true;
	parsed = !sp_cube_value_parse(&number, *kind, &q->weight);
	*kind = strtok_r(NULL, " \t\r\n", rest);
	return parsed && q->weight > 0 && q->weight < WEIGHT_END && *kind;
}

/* Parses a line that is not empty.  Returns NULL, or the reason why it is invalid. */
static const char *parse(struct sp_cube_query *q, char *line, const struct sp_cube_shape *s)
{
	char *rest;
	const char *kind = strtok_r(line, " \t\r\n", &rest), *what, *at, *reason;

	if (!take_weight(q, &kind, &rest))
		return "a line is a weight above 0 and below 1e100, beam or range, and its size";
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

/* Adds the query of a line; an empty line has none. */
static int add(struct sp_cube_workload *w, char *line, const struct sp_cube_shape *shape,
	       const char **reason)
{
	struct sp_cube_query q = { 0 };

	*reason = NULL;
	line[strcspn(line, "#")] = '\0';
	if (!line[strspn(line, " \t\r\n")])
		return 0;
	*reason = parse(&q, line, shape);
	if (*reason)
		return SP_ESYNTAX;
	if (!SP__ARRAY_GROW_BY_ONE(w->queries, w->n))
		return -ENOMEM;
	w->queries[w->n++] = q;
	return 0;
}

static int read_lines(struct sp_cube_workload *w, FILE *f, const char *path,
		      const struct sp_cube_shape *shape, struct sp_errinfo *err)
{
	uint64_t file_bytes = sp__file_bytes(fileno(f));
	char line[LINE_MAX_BYTES];
	const char *reason;
	int rc;

	for (unsigned long n = 1; fgets(line, sizeof(line), f); n++) {
		rc = add(w, line, shape, &reason);
		if (rc)
			return reason ? sp__errf(err, rc, "read", path, -1, "line %lu: %s", n,
						 reason)
				      : sp__err(err, rc, "read", path, -1);
	}
	if (ferror(f))
		return sp__err(err, -errno, "read", path, -1);
	rc = sp__check_uncut(fileno(f), file_bytes, path, err);
	if (rc)
		return rc;
	return w->n ? 0 : sp__errf(err, SP_ESYNTAX, "read", path, -1, "the file has no queries");
}

int sp_cube_workload_load(struct sp_cube_workload *w, const char *path,
			  const struct sp_cube_shape *shape, struct sp_errinfo *err)
{
	FILE *f = fopen(path, "re");
	int rc;

	w->queries = NULL;
	w->n = 0;
	if (!f)
		return sp__err(err, -errno, "open", path, -1);
	rc = read_lines(w, f, path, shape, err);
	fclose(f);
	if (rc)
		sp_cube_workload_free(w);
	return rc;
}

int sp_cube_workload_add(struct sp_cube_workload *w, const char *query,
			 const struct sp_cube_shape *shape, struct sp_errinfo *err)
{
	char *line = strdup(query);
	const char *reason = NULL;
	size_t before = w->n;
	int rc = line ? add(w, line, shape, &reason) : -ENOMEM;

	free(line);
	if (!rc && w->n == before) {
		rc = SP_ESYNTAX;
		reason = "the query is empty";
	}
	return !rc	? 0
	       : reason ? sp__errf(err, rc, "parse", "", -1, "query '%s': %s", query, reason)
			: sp__err(err, rc, "parse", "", -1);
}

void sp_cube_workload_free(struct sp_cube_workload *w)
{
	free(w->queries);
	w->queries = NULL;
	w->n = 0;
}
