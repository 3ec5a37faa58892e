/* SPDX-License-Identifier: MIT */
/*
 * A merge reduced to the pages of its runs: each page has the key at which it
 * is finished.  Shared by the tests of the read plan; deliberately simple.
 */
#ifndef MERGESIM_H
#define MERGESIM_H

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "sort/plan/readplan.h"

struct merge {
	unsigned runs;
	uint64_t *pages; /* of each run */
	uint64_t total;
	double **last; /* key at which a page is finished */
	double grain;  /* keys are compared in units of this by the planner */
	uint32_t *sequence;
};

static double coarse(const struct merge *m, unsigned r, uint64_t k)
{
	return m->grain > 0 ? floor(m->last[r][k] / m->grain) : m->last[r][k];
}

static int by_last_key(void *ctx, unsigned a, uint64_t pa, unsigned b, uint64_t pb)
{
	double x = coarse(ctx, a, pa), y = coarse(ctx, b, pb);

	return (x > y) - (x < y);
}

/*
 * Keys of run i are uniform in [i (1 - alpha), i (1 - alpha) + 1]; a page holds
 * records records, whose spacing is exponential.
 */
static void fill_run(struct merge *m, unsigned r, double alpha, unsigned records,
		     struct sp__rng *rng)
{
	double sum = 0;

	for (uint64_t k = 0; k < m->pages[r]; k++) {
		for (unsigned i = 0; i < records; i++)
			sum -= log(1 - sp__rng_real(rng));
		m->last[r][k] = sum;
	}
	for (uint64_t k = 0; k < m->pages[r]; k++)
		m->last[r][k] = m->last[r][k] / sum + r * (1 - alpha);
}

/* Spreads total pages over the runs: evenly, or at random (some may be empty). */
static void merge_init(struct merge *m, unsigned runs, uint64_t total, bool even, double alpha,
		       unsigned records, double grain, struct sp__rng *rng)
{
	m->runs = runs;
	m->total = total;
	m->grain = grain;
	m->pages = calloc(runs, sizeof(*m->pages));
	m->last = calloc(runs, sizeof(*m->last));
	m->sequence = calloc(total + 1, sizeof(*m->sequence));
	for (uint64_t i = 0; i < total; i++)
		m->pages[even ? i % runs : sp__rng_below(rng, 1 + sp__rng_below(rng, runs))]++;
	for (unsigned r = 0; r < runs; r++) {
		m->last[r] = calloc(m->pages[r] + 1, sizeof(**m->last));
		fill_run(m, r, alpha, records, rng);
	}
	if (sp__consumption_build(runs, m->pages, by_last_key, m, m->sequence))
		abort();
}

static void merge_release(struct merge *m)
{
	for (unsigned r = 0; r < m->runs; r++)
		free(m->last[r]);
	free(m->last);
	free(m->pages);
	free(m->sequence);
}

/* The clusters as they were read. */
struct log {
	struct {
		unsigned run;
		uint64_t pages;
		uint64_t when; /* pages eaten before */
	} * entry;
	size_t n;
};

__attribute__((unused)) static void log_add(struct log *l, unsigned run, uint64_t pages,
					    uint64_t when)
{
	l->entry = realloc(l->entry, (l->n + 1) * sizeof(*l->entry));
	l->entry[l->n].run = run;
	l->entry[l->n].pages = pages;
	l->entry[l->n++].when = when;
}

/* Cluster reads by definition, page by page. */
__attribute__((unused)) static uint64_t log_cluster_reads(const struct log *l, unsigned runs)
{
	uint64_t *at = calloc(runs, sizeof(*at)), reads = 0, before_page = 0;
	unsigned before_run = runs;

	for (size_t i = 0; i < l->n; i++)
		for (uint64_t k = 0; k < l->entry[i].pages; k++) {
			unsigned run = l->entry[i].run;
			uint64_t page = at[run]++;

			if (run != before_run || page != before_page + 1)
				reads++;
			before_run = run;
			before_page = page;
		}
	free(at);
	return reads;
}

/* State of a merge under way. */
struct sim {
	const struct merge *m;
	uint64_t *read, *eaten;
	uint64_t free, eaten_total;
};

__attribute__((unused)) static void sim_init(struct sim *s, const struct merge *m, uint64_t buffers)
{
	s->m = m;
	s->read = calloc(m->runs, sizeof(*s->read));
	s->eaten = calloc(m->runs, sizeof(*s->eaten));
	s->free = buffers;
	s->eaten_total = 0;
}

__attribute__((unused)) static void sim_release(struct sim *s)
{
	free(s->read);
	free(s->eaten);
}

/* The run whose page is finished next, or -1: a run has no page left. */
__attribute__((unused)) static int sim_winner(const struct sim *s)
{
	int best = -1;

	for (unsigned r = 0; r < s->m->runs; r++) {
		if (s->eaten[r] == s->m->pages[r])
			continue;
		if (s->eaten[r] == s->read[r])
			return -1;
		if (best < 0 || s->m->last[r][s->eaten[r]] < s->m->last[best][s->eaten[best]])
			best = (int)r;
	}
	return best;
}

__attribute__((unused)) static void sim_eat(struct sim *s, int r)
{
	s->eaten[r]++;
	s->eaten_total++;
	s->free++;
}

#endif
