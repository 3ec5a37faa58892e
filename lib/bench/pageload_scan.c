/* SPDX-License-Identifier: MIT */
/*
 * A scan: pages in order; an extent is requested when the last page of an earlier
 * one is worked on.  With one extent ahead this is InnoDB's read-ahead, section
 * 3.2; with more of them it is the proposal of 3.3.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "bench/pageload.h"

int sp__pagescan_open(struct sp__pageload *l)
{
	struct sp__pagescan *s = &l->scan;
	bool aggressive = l->opts.submission == SP_POLICY_AGGRESSIVE;

	s->ahead = (uint64_t)(aggressive ? l->opts.ahead : 1) * l->opts.extent_pages;
	s->end = l->opts.passes ? (uint64_t)l->opts.passes * l->pages : UINT64_MAX;
	s->wanted = s->ahead;
	s->arrived_ns = calloc(s->ahead, sizeof(s->arrived_ns[0]));
	return s->arrived_ns ? sp__pagequeue_open(l, SP__PAGE_READ, s->ahead) : -ENOMEM;
}

void sp__pagescan_arrived(struct sp__pageload *l, uint64_t page, uint64_t now_ns)
{
	l->scan.arrived_ns[page % l->scan.ahead] = now_ns ? now_ns : 1;
}

bool sp__pagescan_step(struct sp__pageload *l, uint64_t now_ns)
{
	struct sp__pagescan *s = &l->scan;
	uint64_t *arrived = &s->arrived_ns[s->at % s->ahead];

	if (s->busy_ns > now_ns) {
		sp__pageload_due(l, s->busy_ns);
		return false;
	}
	l->over = s->at == s->end;
	if (l->over || !*arrived)
		return false;
	s->busy_ns = (*arrived > s->busy_ns ? *arrived : s->busy_ns) + l->opts.compute_ns;
	*arrived = 0;
	s->at++;
	l->accessed++;
	if (s->at % l->opts.extent_pages == 0)
		s->wanted = sp__min(s->at + s->ahead, s->end);
	return true;
}

static void run(struct sp__pageload *l, uint64_t now_ns)
{
	struct sp__pagescan *s = &l->scan;

	do
		for (; s->asked < s->wanted; s->asked++)
			sp__pageload_ask(l, SP__PAGE_READ, (uint32_t)(s->asked % l->pages),
					 (uint32_t)(s->asked % s->ahead));
	while (sp__pagescan_step(l, now_ns));
}

static void done(struct sp__pageload *l, enum sp__pageclass class, const struct sp__pagereq *r,
		 uint64_t now_ns)
{
	(void)class;
	sp__pagescan_arrived(l, r->cookie, now_ns);
}

const struct sp__pageload_ops sp__pageload_scan = {
	.open = sp__pagescan_open,
	.run = run,
	.done = done,
};
