/* SPDX-License-Identifier: MIT */
/*
 * Chooses a layout for a workload.
 *
 * Algorithm.  Columns that the same queries need are a unit, since storing them apart can only save
 * bytes that no query saves.  The units begin as column groups of CSM, once as single columns and
 * once with the columns of each unit together.  Then those two units are merged that save the most
 * time, until none saves any.  The best of all these, of the four layouts, and on request of CSM
 * along tracks, is the choice.  For the search part of the requests are enough; the last comparison
 * makes all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "table/cost/candidates.h"

#define SEARCH_REQUESTS 1000
#define UNITS_MAX 12 /* with more, only the first ones are merged */
#define GAIN 0.002   /* a smaller gain does not end in a merge */

struct search {
	const struct sp__cost_question *q;
	uint32_t *units; /* by column, from 0 */
	uint32_t nunits;
	uint32_t group[UNITS_MAX]; /* of each unit: the first unit of its column group */
	bool apart[UNITS_MAX];	   /* the unit's columns are not together */
	uint32_t *together, *best;
	double best_s; /* of `best`, with part of the requests */
	struct sp_errinfo *err;
};

/* True if no query needs one of the columns without the other. */
static bool same_use(const struct sp__table_workload *w, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct sp__table_query *q = &w->queries[i];

		if (q->columns && q->columns[a] != q->columns[b])
			return false;
		if (q->where && q->where[a] != q->where[b])
			return false;
	}
	return true;
}

static void find_units(struct search *s)
{
	for (uint32_t i = 0; i < s->q->schema->n; i++) {
		uint32_t before = 0;

		while (before < i && !same_use(s->q->workload, before, i))
			before++;
		s->units[i] = before < i ? s->units[before] : s->nunits++;
	}
}

/* Sets the lists of columns that share cells. */
static void list_groups(struct search *s)
{
	for (uint32_t i = 0; i < s->q->schema->n; i++) {
		uint32_t unit = s->units[i];

		s->together[i] = unit >= UNITS_MAX || s->apart[unit] ? 0 : s->group[unit] + 1;
	}
}

/* Tries the column groups; keeps them if they are the best so far.  Refusals do not count. */
static int try(struct search *s, double *seconds)
{
	struct sp__cost_choice choice = { SP_TABLE_CSM, s->together, false };
	struct sp_errinfo ignored = SP_ERRINFO_INIT;
	int rc;

	list_groups(s);
	rc = sp__cost_seconds(s->q, &choice, SEARCH_REQUESTS, seconds, &ignored);
	if (rc == SP_EUNSUP) {
		*seconds = INFINITY;
		return 0;
	}
	if (rc)
		return sp__errf(s->err, rc, "plan", NULL, -1, "%s", ignored.text);
	if (*seconds < s->best_s) {
		s->best_s = *seconds;
		memcpy(s->best, s->together, s->q->schema->n * sizeof(*s->best));
	}
	return 0;
}

/* Puts the units of the column group of b into the one of a, or those of `from` back. */
static void merge(struct search *s, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < UNITS_MAX; i++)
		if (s->group[i] == b)
			s->group[i] = a;
	s->apart[a] = false;
	for (uint32_t i = 0; i < UNITS_MAX; i++)
		s->apart[i] &= s->group[i] != a;
}

/* Merges the two column groups that save the most.  *merged: false if none saves any. */
static int merge_best(struct search *s, double *now_s, bool *merged)
{
	uint32_t n = s->nunits < UNITS_MAX ? s->nunits : UNITS_MAX, a = 0, b = 0;
	struct search before = *s;
	double min_s = *now_s * (1 - GAIN);
	int rc = 0;

	*merged = false;
	for (uint32_t i = 0; !rc && i < n; i++)
		for (uint32_t k = i + 1; !rc && k < n; k++) {
			double seconds;

			if (before.group[i] != i || before.group[k] != k)
				continue;
			merge(s, i, k);
			rc = try(s, &seconds);
			memcpy(s->group, before.group, sizeof(s->group));
			memcpy(s->apart, before.apart, sizeof(s->apart));
			if (!rc && seconds < min_s) {
				min_s = seconds;
				a = i;
				b = k;
				*merged = true;
			}
		}
	if (!rc && *merged) {
		merge(s, a, b);
		*now_s = min_s;
	}
	return rc;
}

/* Merges from a start: the columns of each unit apart, or together. */
static int merge_all(struct search *s, bool apart)
{
	bool merged = true;
	double seconds;
	int rc;

	for (uint32_t i = 0; i < UNITS_MAX; i++) {
		s->group[i] = i;
		s->apart[i] = apart;
	}
	rc = try(s, &seconds);
	while (!rc && merged)
		rc = merge_best(s, &seconds, &merged);
	return rc;
}

static int find_groups(struct search *s)
{
	uint32_t n = s->q->schema->n;
	int rc = -ENOMEM;

	s->units = calloc(n, sizeof(*s->units));
	s->together = calloc(n, sizeof(*s->together));
	s->best = calloc(n, sizeof(*s->best));
	s->best_s = INFINITY;
	if (s->units && s->together && s->best) {
		find_units(s);
		rc = merge_all(s, true);
		if (!rc)
			rc = merge_all(s, false);
	} else {
		(void)sp__err(s->err, rc, "malloc", NULL, -1);
	}
	free(s->units);
	free(s->together);
	return rc;
}

/* Keeps a layout if it takes less time than the choice.  Takes over its together. */
static int consider(const struct sp__cost_question *q, struct sp__cost_choice c,
		    struct sp__cost_choice *choice, double *seconds, struct sp_errinfo *err)
{
	struct sp_errinfo ignored = SP_ERRINFO_INIT;
	double s;
	int rc = sp__cost_seconds(q, &c, 0, &s, &ignored);

	if (!rc && s < *seconds) {
		free(choice->together);
		*choice = c;
		*seconds = s;
		return 0;
	}
	free(c.together);
	return rc == SP_EUNSUP || !rc ? 0 : sp__errf(err, rc, "plan", NULL, -1, "%s", ignored.text);
}

int sp__cost_choose(const struct sp__cost_question *q, struct sp__cost_choice *choice,
		    struct sp_errinfo *err)
{
	const enum sp_placement how = q->placing.how;
	struct search s = { .q = q, .err = err };
	double seconds = INFINITY;
	int rc;

	*choice = (struct sp__cost_choice){ SP_TABLE_CSM, NULL, how == SP_PLACE_SEMISEQ };
	if (choice->lanes)
		return 0;
	rc = consider(q, *choice, choice, &seconds, err);
	for (int i = SP_TABLE_NSM; !rc && i < SP_TABLE_CSM; i++)
		rc = consider(q, (struct sp__cost_choice){ .layout = (enum sp_table_layout)i },
			      choice, &seconds, err);
	if (!rc && how == SP_PLACE_AUTO)
		rc = consider(q, (struct sp__cost_choice){ SP_TABLE_CSM, NULL, true }, choice,
			      &seconds, err);
	if (!rc)
		rc = find_groups(&s);
	if (!rc)
		rc = consider(q, (struct sp__cost_choice){ SP_TABLE_CSM, s.best, false }, choice,
			      &seconds, err);
	else
		free(s.best);
	return rc;
}
