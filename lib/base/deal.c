/* SPDX-License-Identifier: MIT */
/*
 * Deals items to tasks (deal.h).
 *
 * The number of the next item is the only state that workers share while they work.  Each worker
 * keeps its first error; the one of the lowest item is chosen when all workers have ended.
 */
#include <stdlib.h>
#include "base/deal.h"
#include "base/delay.h"
#include "base/minmax.h"
#include "base/task.h"

struct deal {
	sp__deal_fn *fn;
	void *arg;
	uint64_t items;
	_Atomic uint64_t next;
	atomic_bool failed;
};

struct worker {
	struct deal *deal;
	unsigned number;
	uint64_t item; /* the one that failed */
	int rc;
	struct sp_errinfo err;
	struct sp__task task;
};

static void work(void *arg)
{
	struct worker *w = arg;
	struct deal *d = w->deal;

	while (!w->rc && !atomic_load(&d->failed)) {
		w->item = atomic_fetch_add(&d->next, 1);
		if (w->item >= d->items)
			return;
		sp__delay(SP__DELAY_BUFFER);
		w->rc = d->fn(d->arg, w->number, w->item, &w->err);
	}
	if (w->rc)
		atomic_store(&d->failed, true);
}

static int run_alone(const struct deal *d, struct sp_errinfo *err)
{
	int rc = 0;

	for (uint64_t item = 0; !rc && item < d->items; item++)
		rc = d->fn(d->arg, 0, item, err);
	return rc;
}

int sp__deal(unsigned threads, uint64_t items, sp__deal_fn *fn, void *arg, struct sp_errinfo *err)
{
	struct deal d = { .fn = fn, .arg = arg, .items = items };
	unsigned n = (unsigned)sp__min(sp__min(threads, SP__DEAL_MAX), items);
	struct worker *w = n > 1 ? calloc(n, sizeof(*w)) : NULL, *first = NULL;
	int rc;

	if (!w)
		return run_alone(&d, err);
	for (unsigned i = 0; i < n; i++) {
		w[i].deal = &d;
		w[i].number = i;
		w[i].err = (struct sp_errinfo)SP_ERRINFO_INIT;
		if (i)
			sp__task_start(&w[i].task, work, &w[i]);
	}
	work(&w[0]);
	for (unsigned i = 0; i < n; i++) {
		if (i)
			sp__task_join(&w[i].task);
		if (w[i].rc && (!first || w[i].item < first->item))
			first = &w[i];
	}
	rc = first ? first->rc : 0;
	if (first && err && !err->code)
		*err = first->err;
	free(w);
	return rc;
}
