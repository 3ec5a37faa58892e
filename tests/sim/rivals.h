/* SPDX-License-Identifier: MIT */
/*
 * Several merges that compete for one simulated drive (Zhang & Larson 1998,
 * section 2 and its second footnote).
 *
 * Each rival merges runs of random keys by a read plan of the library: it
 * finishes pages in the order of their last keys, which takes cpu_ns each, and
 * submits a cluster as soon as the plan says so.  A page can be finished when
 * the present page of every run is there.  Reading is all that the drive does.
 *
 * How a cluster is submitted:
 *
 *   ATOMIC  as one indivisible batch
 *   SINGLE  at one moment, but as requests of their own
 *   PUSHED  one request after the other, push_ns apart: two rivals that push at
 *	     the same time mix theirs, as in a queue without a lock
 *
 * Deterministic; times are virtual nanoseconds.
 */
#ifndef RIVALS_H
#define RIVALS_H

#include "dev/model.h"
#include "sim/blockdev.h"
#include "unit/mergesim.h"

#define RIVALS_MAX 8

enum submission { ATOMIC, SINGLE, PUSHED, SUBMISSIONS };

struct rivals_opts {
	const char *model, *sched;
	unsigned window; /* of the device; 0: the model's */
	unsigned rivals;
	unsigned page_bytes;
	unsigned runs, run_pages, buffers;
	enum sp_readahead strategy;
	enum submission submission;
	uint64_t cpu_ns; /* for a page */
	uint64_t push_ns;
	uint64_t seed;
};

/* The setting of the paper, and a processor that is faster than the drive. */
#define RIVALS_USUAL                                                                               \
	.rivals = 2, .page_bytes = 32768, .runs = 15, .run_pages = 107, .buffers = 64,             \
	.strategy = SP_READ_CLUSTER, .cpu_ns = 2000000, .push_ns = 50000, .seed = 1

struct rivals_result {
	uint64_t done_ns[RIVALS_MAX];
	uint64_t clusters; /* of all rivals */
	struct sp__blockdev_stats device;
};

struct rival {
	struct merge merge;
	struct sp__readplan *plan;
	struct sp__blockreq *req; /* of each page, run after run */
	bool *there;		  /* likewise: has been read */
	uint64_t *first;	  /* of each run: its first page */
	uint64_t *asked, *eaten;  /* of each run */
	uint64_t at;		  /* pages finished */
	unsigned free;
	uint64_t finish_ns; /* of the page in work; SP__NEVER if waiting */
	/* PUSHED: what is still to be submitted, and when. */
	struct sp__blockreq **push;
	uint64_t pushed, to_push, push_at_ns;
};

struct rivals {
	const struct rivals_opts *o;
	struct sp__blockdev *bd;
	struct rival rival[RIVALS_MAX];
	struct rivals_result *result;
	uint64_t now_ns;
};

static void rival_init(struct rival *v, const struct rivals_opts *o, unsigned index,
		       unsigned page_blocks, struct sp__rng *rng)
{
	struct sp__readplan_opts plan = { .strategy = o->strategy,
					  .runs = o->runs,
					  .buffers = o->buffers };
	uint64_t total = (uint64_t)o->runs * o->run_pages;

	*v = (struct rival){ .free = o->buffers, .finish_ns = SP__NEVER, .push_at_ns = SP__NEVER };
	merge_init(&v->merge, o->runs, total, true, 1, 512, 0, rng);
	plan.run_pages = v->merge.pages;
	plan.pages = total;
	plan.consumption = v->merge.sequence;
	if (sp__readplan_new(&v->plan, &plan))
		abort();
	v->req = calloc(total, sizeof(*v->req));
	v->there = calloc(total, sizeof(*v->there));
	v->push = calloc(total, sizeof(struct sp__blockreq *));
	v->first = calloc(o->runs, sizeof(*v->first));
	v->asked = calloc(o->runs, sizeof(*v->asked));
	v->eaten = calloc(o->runs, sizeof(*v->eaten));
	for (unsigned r = 0; r < o->runs; r++)
		v->first[r] = (uint64_t)r * o->run_pages;
	for (uint64_t i = 0; i < total; i++)
		v->req[i] = (struct sp__blockreq){ .lbn = (index * total + i) * page_blocks,
						   .blocks = page_blocks,
						   .owner = &v->there[i] };
}

static void rival_release(struct rival *v)
{
	sp__readplan_free(v->plan);
	merge_release(&v->merge);
	free(v->req);
	free(v->there);
	free(v->push);
	free(v->first);
	free(v->asked);
	free(v->eaten);
}

static void rival_submit(struct rivals *all, struct rival *v, struct sp__blockreq **batch,
			 unsigned pages)
{
	if (all->o->submission != PUSHED) {
		sp__blockdev_submit(all->bd, all->now_ns, batch, pages, true);
		return;
	}
	for (unsigned i = 0; i < pages; i++)
		v->push[v->to_push++] = batch[i];
	if (v->push_at_ns == SP__NEVER)
		v->push_at_ns = all->now_ns + all->o->push_ns;
}

static void rival_read(struct rivals *all, struct rival *v)
{
	struct sp__blockreq *batch[1024];
	unsigned run, pages;

	while (v->free && (pages = sp__readplan_next(v->plan, v->free, &run)) > 0) {
		if (pages > 1024)
			abort();
		for (unsigned i = 0; i < pages; i++)
			batch[i] = &v->req[v->first[run] + v->asked[run]++];
		v->free -= pages;
		all->result->clusters++;
		rival_submit(all, v, batch, pages);
	}
}

/* Begins with the next page, if all that it needs is there. */
static void rival_go_on(struct rivals *all, struct rival *v)
{
	if (v->finish_ns != SP__NEVER || v->at == v->merge.total)
		return;
	for (unsigned r = 0; r < v->merge.runs; r++)
		if (v->eaten[r] < v->merge.pages[r] && !v->there[v->first[r] + v->eaten[r]])
			return;
	v->finish_ns = all->now_ns + all->o->cpu_ns;
}

static void rival_finish_page(struct rivals *all, struct rival *v)
{
	unsigned run = v->merge.sequence[v->at++];

	v->eaten[run]++;
	v->free++;
	v->finish_ns = SP__NEVER;
	sp__readplan_consumed(v->plan, run);
	if (v->at == v->merge.total)
		all->result->done_ns[v - all->rival] = all->now_ns;
	rival_read(all, v);
}

static void rival_push(struct rivals *all, struct rival *v)
{
	sp__blockdev_submit(all->bd, all->now_ns, &v->push[v->pushed++], 1, false);
	v->push_at_ns = v->pushed < v->to_push ? all->now_ns + all->o->push_ns : SP__NEVER;
}

/* Requests that are due now: first of the device, then of each rival. */
static void rivals_step(struct rivals *all)
{
	struct sp__blockreq *done = sp__blockdev_advance(all->bd, all->now_ns);

	for (; done; done = done->next)
		*(bool *)done->owner = true;
	for (unsigned i = 0; i < all->o->rivals; i++) {
		struct rival *v = &all->rival[i];

		if (v->finish_ns == all->now_ns)
			rival_finish_page(all, v);
		if (v->push_at_ns == all->now_ns)
			rival_push(all, v);
		rival_go_on(all, v);
	}
}

static uint64_t rivals_next_ns(const struct rivals *all)
{
	uint64_t next = sp__blockdev_next_ns(all->bd);

	for (unsigned i = 0; i < all->o->rivals; i++) {
		const struct rival *v = &all->rival[i];

		next = v->finish_ns < next ? v->finish_ns : next;
		next = v->push_at_ns < next ? v->push_at_ns : next;
	}
	return next;
}

/* 0, or what opening model or scheduler says. */
static int rivals_run(const struct rivals_opts *o, struct rivals_result *result,
		      struct sp_errinfo *err)
{
	struct sp__blockdev_opts device = { .sched = o->sched,
					    .window = o->window,
					    .policy = -1,
					    .divide = o->submission != ATOMIC };
	struct rivals all = { .o = o, .result = result };
	struct sp__model *m;
	struct sp__rng rng;
	int rc = sp__model_load(&m, o->model, err);

	if (rc < 0)
		return rc;
	rc = sp__blockdev_open(&all.bd, m, &device, err);
	if (rc < 0) {
		sp__model_free(m);
		return rc;
	}
	*result = (struct rivals_result){ 0 };
	rng.state = sp__mix64(o->seed);
	for (unsigned i = 0; i < o->rivals; i++)
		rival_init(&all.rival[i], o, i, o->page_bytes / m->block_bytes, &rng);
	for (unsigned i = 0; i < o->rivals; i++)
		rival_read(&all, &all.rival[i]);
	while ((all.now_ns = rivals_next_ns(&all)) != SP__NEVER)
		rivals_step(&all);
	sp__blockdev_stats(all.bd, &result->device);
	for (unsigned i = 0; i < o->rivals; i++)
		rival_release(&all.rival[i]);
	sp__blockdev_close(all.bd);
	sp__model_free(m);
	return 0;
}

#endif
