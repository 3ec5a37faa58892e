/* SPDX-License-Identifier: MIT */
/*
 * Merges runs in a dry run.
 *
 * Each page gets a last key, so that the pages of all runs end in an order that random records
 * could have.  The read plan gets this order, and the merge passes the pages in it: before the end
 * of a page it computes and writes the bytes up to the page's key.  A key is the share of the run's
 * records up to it, with the deviation of a random walk.
 */
#include <math.h>
#include <stdlib.h>
#include "sort/dryrun/impl.h"
#include "sort/plan/readplan.h"
#include "sort/tree/merge.h"
#include "spill/pool.h"

/* The end of a page of a run. */
struct end {
	double key;
	uint32_t run;
};

struct merging {
	struct sp__drysort *t;
	const struct sp__merge_step *step;
	struct sp__run **runs; /* step->n */
	uint64_t *pages, *at;  /* pages of each run, and its page in the merge */
	uint64_t npages;
	struct end *ends; /* in order */
	struct sp__readplan *plan;
	struct sp__pool *pool;
	size_t charged;
	double bytes;	 /* to be merged, those from memory included */
	uint64_t limit;	 /* bytes of the result under --limit */
	uint64_t merged; /* bytes merged so far */
	uint64_t owed;	 /* merged, and not yet charged and written: the final merge */
};

static int before(const void *x, const void *y)
{
	const struct end *a = x, *b = y;

	return a->key != b->key ? (a->key > b->key ? 1 : -1)
				: (a->run > b->run) - (a->run < b->run);
}

/* Sets the ends of pages.  A page has r records, and deviates from its share by their root. */
static int make_ends(struct merging *m)
{
	const struct sp__sort_sizes *s = m->t->s;
	const double dev = sqrt(3 * s->record_bytes / s->plan->page_bytes);
	struct end *e = m->ends = malloc(m->npages * sizeof(*e));

	for (uint32_t i = 0; e && i < m->step->n; i++) {
		double sum = 0;

		for (uint64_t p = 0; p < m->pages[i]; p++) {
			sum += fmax(1 + dev * (2 * sp__rng_real(&m->t->rng) - 1), 0);
			e[p] = (struct end){ sum, i };
		}
		for (uint64_t p = 0; p < m->pages[i]; p++)
			e++->key /= sum;
	}
	if (m->ends)
		qsort(m->ends, m->npages, sizeof(*e), before);
	return m->ends ? 0 : -ENOMEM;
}

/* Returns the run of each page in the order in which the merge needs them. */
static uint32_t *make_sequence(const struct merging *m)
{
	uint32_t *sequence = malloc(m->npages * sizeof(*sequence)), *next = sequence;
	uint64_t *at = calloc(m->step->n, sizeof(*at));

	for (uint32_t i = 0; sequence && i < m->step->n; i++)
		*next++ = i;
	for (uint64_t i = 0; sequence && at && i < m->npages; i++)
		if (++at[m->ends[i].run] < m->pages[m->ends[i].run])
			*next++ = m->ends[i].run;
	if (!at) {
		free(sequence);
		sequence = NULL;
	}
	free(at);
	return sequence;
}

/* Opens the read plan and the pool, as runs/step.c does. */
static int open_pool(struct merging *m)
{
	const struct sp__sort_sizes *s = m->t->s;
	const unsigned n = m->step->n, min = sp__readplan_min(s->opts->readahead, n);
	struct sp__readplan_opts o = { .runs = n, .run_pages = m->pages, .pages = m->npages };
	struct sp__poolplan pp = { .next = sp__readplan_next, .consumed = sp__readplan_consumed };
	uint32_t *sequence = NULL;
	int rc;

	o.buffers = (unsigned)sp__min(m->step->pages, sp__max(m->npages, min));
	o.strategy = sp__plan_readahead(s->opts->readahead, m->npages, s->plan->page_bytes, n,
					o.buffers, sp__readplan_needs_sequence(s->plan->readahead),
					sp__plan_device(s->opts), NULL);
	if (sp__readplan_needs_sequence(o.strategy)) {
		o.consumption = sequence = make_sequence(m);
		if (!sequence)
			return -ENOMEM;
	}
	rc = sp__readplan_new(&m->plan, &o);
	m->charged = sp__merge_memory(n) + sp__pool_memory(m->t->store, n, o.buffers) +
		     sp__readplan_memory(&o);
	sp__budget_charge(&m->t->env.budget, m->charged);
	free(sequence);
	if (rc < 0)
		return rc;
	pp.plan = m->plan;
	pp.largest = sp__readplan_largest(m->plan);
	return sp__pool_open(&m->pool, m->t->store, m->runs, NULL, n, NULL, o.buffers, &pp);
}

static int open_merge(struct merging *m)
{
	struct sp__drysort *t = m->t;
	const unsigned n = m->step->n;
	int rc;

	m->runs = calloc(n, sizeof(struct sp__run *));
	m->pages = calloc(n, sizeof(*m->pages));
	m->at = calloc(n, sizeof(*m->at));
	if (!m->runs || !m->pages || !m->at)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		m->runs[i] = t->runs[m->step->ids[i]];
		t->runs[m->step->ids[i]] = NULL;
		m->npages += m->pages[i] = m->runs[i]->npages;
		m->bytes += (double)m->runs[i]->bytes;
	}
	if (m->step->final)
		m->bytes += t->s->kept_bytes;
	m->limit = (uint64_t)fmin(m->bytes, t->s->max_bytes);
	rc = make_ends(m);
	return rc < 0 ? rc : open_pool(m);
}

/* The final merge computes a chunk, or up to a page that is not there yet; then it is charged. */
static int settle(struct merging *m)
{
	uint64_t bytes = m->owed;

	m->owed = 0;
	sp__drysort_charge(m->t, bytes, m->step->n + (m->t->s->kept_bytes > 0));
	return sp__dryoutput_put(&m->t->out, bytes);
}

/* Merges up to a key. */
static int merge_to(struct merging *m, double key)
{
	const uint64_t end = sp__min((uint64_t)(key * m->bytes), m->limit);
	const uint64_t chunk = m->t->out.chunk_bytes;
	int rc = 0;

	while (!rc && m->merged < end) {
		uint64_t n = sp__min(end - m->merged, sp__drysort_slice(m->t));

		if (m->step->final) {
			n = sp__min(n, chunk - m->owed);
			m->owed += n;
			rc = m->owed == chunk ? settle(m) : 0;
		} else {
			sp__drysort_charge(m->t, n, m->step->n);
			rc = sp__runwriter_skip(&m->t->write, n);
		}
		m->merged += n;
	}
	return rc;
}

static int next_page(struct merging *m, unsigned run)
{
	const char *data;
	size_t bytes;
	int rc = sp__pool_get(m->pool, run, false, &data, &bytes);

	if (rc == SP_LATER && m->owed)
		rc = settle(m);
	if (rc >= 0 && rc != SP_READY)
		rc = sp__pool_get(m->pool, run, true, &data, &bytes);
	return rc < 0 ? rc : 0;
}

static int pass_pages(struct merging *m)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < m->step->n; i++)
		rc = next_page(m, i);
	for (const struct end *e = m->ends; !rc && e < m->ends + m->npages; e++) {
		rc = merge_to(m, e->key);
		if (m->merged == m->limit)
			break;
		if (!rc)
			rc = sp__pool_release(m->pool, e->run);
		if (!rc && ++m->at[e->run] < m->pages[e->run])
			rc = next_page(m, e->run);
	}
	return rc < 0 || !m->owed ? rc : settle(m);
}

static void close_merge(struct merging *m)
{
	sp__pool_close(m->pool);
	sp__readplan_free(m->plan);
	sp__budget_credit(&m->t->env.budget, m->charged);
	for (unsigned i = 0; m->runs && i < m->step->n; i++)
		sp__run_free(m->runs[i]);
	free(m->runs);
	free(m->pages);
	free(m->at);
	free(m->ends);
}

int sp__drysort_merge(void *drysort, const struct sp__merge_step *step, uint64_t *bytes)
{
	struct sp__drysort *t = drysort;
	struct merging m = { .t = t, .step = step };
	int rc = sp__drysort_end_run(t);

	if (!rc)
		rc = open_merge(&m);
	if (!rc && !step->final)
		rc = sp__drysort_begin_run(t, step->ids[0], step->level);
	if (!rc)
		rc = pass_pages(&m);
	if (!rc)
		rc = sp__drysort_end_run(t);
	close_merge(&m);
	*bytes = m.limit;
	return rc;
}

int sp__drysort_write(struct sp__drysort *t, unsigned n)
{
	uint64_t left = (uint64_t)fmin(t->s->bytes, t->s->max_bytes), chunk;
	int rc = 0;

	for (; !rc && left; left -= chunk) {
		chunk = sp__min(left, t->out.chunk_bytes);
		sp__drysort_charge(t, chunk, n);
		rc = sp__dryoutput_put(&t->out, chunk);
	}
	return rc;
}
