/* SPDX-License-Identifier: MIT */
/*
 * Writes runs: the one that is being formed, which the next sorted records can continue, and those
 * that merges make.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "sort/plan/plan.h"
#include "sort/records/counted.h"
#include "sort/runs/spilled.h"

#define PREFETCH 24
/* Of the memory, that the last records of all threads take together. */
#define LAST_SHARE 16

int sp__runs_add(struct sp__spilled *spilled, struct sp__run *run)
{
	const bool counts = !spilled->beside;

	if (!SP__ARRAY_GROW(spilled->runs, spilled->runs_cap, spilled->nruns + 1) ||
	    (counts && sp__policy_add(spilled->policy, (unsigned)spilled->nruns, run->bytes) < 0)) {
		sp__run_free(run);
		return sp__err(spilled->err, -ENOMEM, "allocate", NULL, -1);
	}
	spilled->runs[spilled->nruns++] = run;
	if (counts)
		spilled->sort->stats.spilled_runs++;
	return 0;
}

void sp__runs_discard(struct sp__runwriter *w)
{
	struct sp__run *run = w->run;

	sp__runwriter_close(w);
	sp__run_free(run);
}

int sp__runs_new(struct sp__spilled *spilled, struct sp__runwriter *w, unsigned level)
{
	struct sp__run *run;
	int rc = sp__run_new(&run, &spilled->sort->env.budget);

	if (rc < 0)
		return sp__err(spilled->err, rc, "allocate", NULL, -1);
	run->level = level;
	rc = sp__runwriter_open(w, spilled->store, run, spilled->write_mem, spilled->write_bytes,
				spilled->lastkey_fn, spilled);
	if (rc < 0)
		sp__runs_discard(w);
	return rc;
}

int sp__runs_begin(struct sp__spilled *spilled, uint64_t begin)
{
	int rc;

	sp__runs_adapt(spilled);
	rc = sp__runs_new(spilled, &spilled->writer, 0);
	spilled->writing = rc == 0;
	if (spilled->writing)
		spilled->writer.run->begin = begin;
	return rc;
}

int sp__runs_end(struct sp__spilled *spilled)
{
	struct sp__run *run = spilled->writer.run;
	int rc;

	if (!spilled->writing)
		return 0;
	spilled->writing = false;
	rc = sp__runwriter_finish(&spilled->writer);
	sp__bytes_empty(&spilled->last_record, &spilled->sort->env.budget);
	if (rc < 0) {
		sp__runs_discard(&spilled->writer);
		return rc;
	}
	sp__runwriter_close(&spilled->writer);
	return sp__runs_add(spilled, run);
}

bool sp__runs_continues(const struct sp__spilled *spilled, const struct sp__runbuf *rb)
{
	const struct sp__sort_shared *s = spilled->sort;
	const size_t term = sp__rec_term(&s->opts.format);
	const char *first, *last = spilled->last_record.data;
	size_t bytes, last_bytes = spilled->last_record.bytes;

	/* Other threads store the records between the two slots. */
	if (!spilled->writing || (spilled->beside && sp__runs_stable(spilled)))
		return false;
	sp__count_skip(s->opts.count, &last, &last_bytes);
	first = sp__runbuf_record(rb, &rb->entries[0], &bytes);
	return sp_keyset_compare(s->opts.keys, last, last_bytes - term, first, bytes - term) <= 0;
}

int sp__runs_put_all(struct sp__spilled *spilled, const struct sp__runbuf *rb)
{
	struct sp__sort_shared *s = spilled->sort;
	const char *rec = NULL;
	size_t bytes = 0;

	for (size_t i = 0; i < rb->n; i++) {
		const struct sp__entry *e = &rb->entries[i];
		uint64_t times = rb->repeats ? sp__runbuf_number(rb, e) : 1;
		int rc;

		if (i + PREFETCH < rb->n)
			sp__runbuf_prefetch(rb, e + PREFETCH);
		rec = sp__runbuf_record(rb, e, &bytes);
		if (rb->head && !rb->repeats) {
			/* The number before the record gets the format of runs. */
			size_t head = sp__count_put(rb->base + sp__ref_offset(e->ref),
						    sp__runbuf_number(rb, e));

			rec -= head;
			bytes += head;
		}
		rc = sp__runwriter_put_near(&spilled->writer, rec, bytes,
					    (size_t)(rb->base + rb->used - rec));
		while (!rc && --times)
			rc = sp__runwriter_put(&spilled->writer, rec, bytes);
		if (rc < 0)
			return rc;
	}
	/* A long record is not copied: each of several threads would keep one. */
	if (spilled->beside && bytes > s->plan.memory_bytes / (LAST_SHARE * spilled->beside))
		return sp__runs_end(spilled);
	if (sp__bytes_set(&spilled->last_record, rec, bytes, &s->env.budget) < 0)
		return sp__err(spilled->err, -ENOMEM, "allocate", NULL, -1);
	spilled->writer.prev = spilled->last_record.data;
	return 0;
}

int sp__counting_hold(struct sp__counting *c, const char *rec, size_t bytes, uint64_t number,
		      struct sp__budget *budget)
{
	c->number = number;
	return sp__count_hold(&c->held[c->now], rec, bytes, budget);
}

int sp__counting_put(struct sp__counting *c, struct sp__runwriter *w)
{
	const struct sp__bytes *b = &c->held[c->now];
	char *rec = b->data + SP__COUNT_SPACE;
	size_t head;

	if (!c->number)
		return 0;
	head = sp__count_put(rec, c->number);
	c->number = 0;
	c->now ^= 1;
	return sp__runwriter_put(w, rec - head, b->bytes - SP__COUNT_SPACE + head);
}

int sp__runs_put(struct sp__spilled *spilled, const char *rec, size_t bytes, const char *prev,
		 size_t prev_bytes)
{
	struct sp__sort_shared *s = spilled->sort;
	int rc;

	if (!s->opts.count) {
		if (prev)
			sp__runs_set_prev(spilled, prev, prev_bytes);
		return sp__runwriter_put(&spilled->writer, rec, bytes);
	}
	rc = sp__counting_hold(&spilled->counting, rec, bytes, 1, &s->env.budget);
	return rc < 0 ? rc : sp__counting_put(&spilled->counting, &spilled->writer);
}

bool sp__runs_stable(const struct sp__spilled *spilled)
{
	const struct sp__keyset *ks = sp__ks(spilled->sort->opts.keys);

	return ks->last_resort ? ks->last_collated : !ks->exact;
}

int sp__runs_open(struct sp__spilled *spilled)
{
	struct sp__sort_shared *s = spilled->sort;
	bool stable = sp__runs_stable(spilled);
	int rc;

	spilled->write_bytes =
		sp__plan_spill_bytes(&s->opts, s->plan.memory_bytes, s->plan.page_bytes);
	rc = sp__policy_new(&spilled->policy, s->plan.policy, s->plan.fan_in, stable);
	if (rc == SP_EUNSUP)
		return sp__errf(spilled->err, rc, "plan", NULL, -1,
				"polyphase merging does not keep the order of equal keys");
	if (rc < 0)
		return sp__err(spilled->err, rc, rc == -ENOMEM ? "allocate" : "plan", NULL, -1);
	spilled->ids = calloc(s->plan.fan_in, sizeof(*spilled->ids));
	return spilled->ids ? 0 : sp__err(spilled->err, -ENOMEM, "allocate", NULL, -1);
}

void sp__runs_beside(struct sp__spilled *w, const struct sp__spilled *of, unsigned number,
		     unsigned n, struct sp_errinfo *err)
{
	const size_t page = of->sort->plan.page_bytes, each = of->write_bytes / n / page * page;

	*w = (struct sp__spilled){ .sort = of->sort,
				   .err = err,
				   .beside = n,
				   .number = number,
				   .write_mem = of->write_mem + number * each,
				   .write_bytes = each };
}

static int compare_begins(const void *a, const void *b)
{
	const struct sp__run *const *x = a, *const *y = b;

	return ((*x)->begin > (*y)->begin) - ((*x)->begin < (*y)->begin);
}

int sp__runs_take_over(struct sp__spilled *spilled, struct sp__spilled *from)
{
	uint32_t files;
	int rc;

	if (!from->store)
		return 0;
	rc = sp__runs_open_spill(spilled);
	if (!rc)
		rc = sp__spill_absorb(spilled->store, from->store, &files);
	if (rc < 0)
		return rc;
	if (!from->lastkey_fn)
		spilled->lastkey_fn = NULL;
	spilled->store->group_shift =
		sp__max(spilled->store->group_shift, from->store->group_shift);
	if (!SP__ARRAY_GROW(spilled->runs, spilled->runs_cap, spilled->nruns + from->nruns))
		return sp__err(spilled->err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < from->nruns; i++) {
		from->runs[i]->file += files;
		spilled->runs[spilled->nruns++] = from->runs[i];
	}
	from->nruns = 0;
	return 0;
}

int sp__runs_arrange(struct sp__spilled *spilled)
{
	int rc = 0;

	if (spilled->nruns)
		qsort(spilled->runs, spilled->nruns, sizeof(*spilled->runs), compare_begins);
	for (size_t i = 0; rc >= 0 && i < spilled->nruns; i++)
		rc = sp__policy_add(spilled->policy, (unsigned)i, spilled->runs[i]->bytes);
	spilled->sort->stats.spilled_runs += spilled->nruns;
	return rc < 0 ? sp__err(spilled->err, -ENOMEM, "allocate", NULL, -1) : 0;
}

void sp__runs_close(struct sp__spilled *spilled)
{
	struct sp__budget *budget = &spilled->sort->env.budget;

	if (spilled->writing)
		sp__runs_discard(&spilled->writer);
	sp__bytes_release(&spilled->last_record, budget);
	sp__keybuf_release(&spilled->lastkey);
	for (unsigned i = 0; i < 2; i++)
		sp__bytes_release(&spilled->counting.held[i], budget);
	for (size_t i = 0; i < spilled->nruns; i++)
		sp__run_free(spilled->runs[i]);
	free(spilled->runs);
	if (!spilled->beside)
		sp__policy_free(spilled->policy);
	free(spilled->ids);
	sp__spill_close(spilled->store);
}
