/* SPDX-License-Identifier: MIT */
/*
 * Common to all loads: checks, and the queues of their requests.
 */
#include <errno.h>
#include <stdlib.h>
#include "bench/pageload.h"

#define UPDATE_PAGES_MAX (1u << 22) /* each has about 25 bytes of state */

static const struct sp__pageload_ops *const loads[] = {
	[SP_POLICY_SCAN] = &sp__pageload_scan,
	[SP_POLICY_RANGE] = &sp__pageload_range,
	[SP_POLICY_UPDATE] = &sp__pageload_update,
};

static const char *check_update(const struct sp_policy_opts *o, uint64_t pages)
{
	unsigned ahead = o->submission == SP_POLICY_AGGRESSIVE ? o->ahead : 1;

	if (pages > UPDATE_PAGES_MAX)
		return "an update has a table of at most 4194304 pages";
	if (!(o->buffer > 0 && o->buffer < 1))
		return "the buffer must be larger than 0 and smaller than the table";
	if (o->buffer * (double)pages < (double)(ahead + 1) * o->extent_pages)
		return "the buffer cannot hold the pages read ahead and one extent more";
	if (!o->steal || !o->flow || !o->preflush_ns)
		return "steal, flow and the interval of the preflush must not be 0";
	return NULL;
}

const char *sp__pageload_check(const struct sp_policy_opts *o, uint64_t pages)
{
	if (!o->extent_pages || !o->ahead || !o->clients || !o->query_pages || !o->batch)
		return "extents, clients and the like must not be 0";
	if (o->extent_pages > 65536 || o->ahead > 256 || o->batch > 4096 || o->clients > 4096)
		return "an extent has at most 65536 pages, 256 extents are read ahead, and "
		       "there are at most 4096 clients with batches of 4096 pages";
	if (o->load != SP_POLICY_UPDATE && o->submission == SP_POLICY_ADAPTIVE)
		return "adaptive submission concerns writes, which only an update has";
	if (pages > UINT32_MAX)
		return "a table has at most 4294967295 pages";
	if (pages / o->extent_pages <= o->ahead)
		return "the table has no more extents than are requested ahead";
	return o->load == SP_POLICY_UPDATE ? check_update(o, pages) : NULL;
}

int sp__pageload_open(struct sp__pageload *l, const struct sp_policy_opts *opts, uint64_t pages,
		      unsigned depth, uint64_t seed)
{
	*l = (struct sp__pageload){ .opts = *opts,
				    .ops = loads[opts->load],
				    .pages = (uint32_t)(pages - pages % opts->extent_pages),
				    .depth = depth,
				    .rng = { sp__mix64(seed + 4711) } };
	return l->ops->open(l);
}

void sp__pageload_close(struct sp__pageload *l)
{
	for (size_t i = 0; i < SP__PAGE_CLASSES; i++)
		free(l->queues[i].reqs);
	free(l->scan.arrived_ns);
	free(l->clients);
	free(l->arrived_ns);
	free(l->buffer.state);
	free(l->buffer.dirty.pages);
	free(l->buffer.clean.pages);
	free(l->buffer.where);
}

int sp__pagequeue_open(struct sp__pageload *l, enum sp__pageclass class, size_t size)
{
	struct sp__pagequeue *q = &l->queues[class];

	q->size = size;
	q->reqs = calloc(size, sizeof(*q->reqs));
	return q->reqs ? 0 : -ENOMEM;
}

void sp__pageload_ask(struct sp__pageload *l, enum sp__pageclass class, uint32_t page,
		      uint32_t cookie)
{
	struct sp__pagequeue *q = &l->queues[class];

	q->reqs[(q->head + q->n++) % q->size] =
		(struct sp__pagereq){ .page = page, .cookie = cookie };
	l->pending[class]++;
}

void sp__pageload_due(struct sp__pageload *l, uint64_t due_ns)
{
	if (due_ns < l->due_ns)
		l->due_ns = due_ns;
}

void sp__pageload_run(struct sp__pageload *l, uint64_t now_ns)
{
	l->due_ns = UINT64_MAX;
	if (!l->over)
		l->ops->run(l, now_ns);
}

bool sp__pageload_next(struct sp__pageload *l, enum sp__pageclass *class, struct sp__pagereq *r)
{
	for (unsigned i = 0; i < SP__PAGE_CLASSES; i++) {
		struct sp__pagequeue *q = &l->queues[i];

		if (!q->n)
			continue;
		*class = (enum sp__pageclass)i;
		*r = q->reqs[q->head];
		q->head = (q->head + 1) % q->size;
		q->n--;
		return true;
	}
	return false;
}

void sp__pageload_done(struct sp__pageload *l, enum sp__pageclass class,
		       const struct sp__pagereq *r, uint64_t now_ns)
{
	l->pending[class]--;
	l->ops->done(l, class, r, now_ns);
}
