/* SPDX-License-Identifier: MIT */
/*
 * Chooses the requests that a load issues, and when.
 *
 * Algorithm: a free slot is filled immediately or, at a rate, when the next request is due.  Its
 * latency counts from that time, even if a slot becomes free later.  A group with a page load takes
 * requests from it, and a replay takes them from its trace.
 *
 * Memory: nothing here waits or allocates.  If the bench is threaded, all functions run under its
 * lock.
 */
#include <math.h>
#include "base/minmax.h"
#include "bench/state.h"

static struct sp__benchclass *choose(struct sp__load *l, const struct sp__bench_group *g)
{
	double u;
	size_t i;

	if (g->nclasses == 1)
		return g->classes[0];
	u = sp__rng_real(&l->rng);
	for (i = 0; i + 1 < g->nclasses; i++) {
		u -= g->classes[i]->spec.share;
		if (u < 0)
			break;
	}
	return g->classes[i];
}

static void prepare(struct sp_bench *b, struct sp__benchclass *c, struct sp__bench_slot *s)
{
	unsigned file = c->spec.target;

	if (file)
		file--;
	else if (b->nfiles > 1)
		file = c->turn++ % (unsigned)b->nfiles;
	s->class = c;
	s->req.op =
		c->spec.reads >= 1 || (c->spec.reads > 0 && sp__rng_real(&c->rng) < c->spec.reads)
			? SP__OP_READ
			: SP__OP_WRITE;
	s->req.prio = c->spec.prio;
	s->req.volume = b->files[file].volume;
	s->req.offset = sp__walk_next(&c->walks[file], s->req.op == SP__OP_WRITE, &c->rng);
	s->req.bytes = c->spec.bytes;
	b->issued_bytes += c->spec.bytes;
}

static bool may_issue(const struct sp_bench *b, uint64_t now_ns)
{
	return now_ns < b->meter.end_ns && !b->stopped &&
	       (!b->opts.total_bytes || !b->meter.measuring ||
		b->issued_bytes < b->opts.total_bytes);
}

bool sp__group_issued(const struct sp_bench *b, const struct sp__bench_group *g)
{
	return g->total_bytes && b->meter.measuring && g->issued_bytes >= g->total_bytes;
}

bool sp__load_issued(const struct sp__load *l)
{
	for (size_t i = 0; i < l->ngroups; i++)
		if (!sp__group_issued(l->bench, &l->groups[i]))
			return false;
	return true;
}

static double gap(struct sp__load *l, const struct sp__bench_group *g)
{
	return l->bench->opts.poisson ? -log(1 - sp__rng_real(&l->rng)) * g->gap_ns : g->gap_ns;
}

int sp__load_class(const struct sp__load *l)
{
	size_t i = 0;

	if (!l->bench->threaded)
		return -1;
	while (l->bench->classes[i] != l->classes[0])
		i++;
	return (int)i;
}

static size_t fill_replay(struct sp__load *l, uint64_t now_ns)
{
	struct sp__bench_group *g = &l->groups[0];
	struct sp_bench *b = l->bench;
	int class = sp__load_class(l);
	size_t n = 0;

	while (g->free && may_issue(b, now_ns) && sp__replay_due(b->replay, class) <= now_ns) {
		struct sp__bench_slot *s = g->free;

		g->free = s->next;
		b->issued_bytes += sp__replay_take(b->replay, class, b, s);
		l->batch[n++] = &s->req;
	}
	return n;
}

/* Sets offset and size of a request of a page load; begin: first byte used of the target. */
static void place(const struct sp__bench_feed *f, uint64_t begin, struct sp__bench_slot *s)
{
	bool log = s->page_class == SP__PAGE_LOG;
	uint32_t unit = log ? SP__PAGELOG_BLOCK_BYTES : f->load.opts.page_bytes;

	s->req.bytes = s->page.n * unit;
	s->req.offset = (log ? f->log_offset : begin) + (uint64_t)s->page.page * unit;
}

/* Adds requests of the page load to the batch while slots are free.  Returns their number. */
static size_t fill_feed(struct sp_bench *b, struct sp__bench_group *g, struct sp__request **batch,
			uint64_t now_ns)
{
	struct sp__bench_feed *f = g->feed;
	size_t n = 0;

	sp__pageload_run(&f->load, now_ns);
	if (b->meter.measuring && !f->counting) {
		f->counting = true;
		f->accessed = f->load.accessed;
		f->queries = f->load.queries;
	}
	while (g->free && sp__pageload_next(&f->load, &g->free->page_class, &g->free->page)) {
		struct sp__bench_slot *s = g->free;

		g->free = s->next;
		s->class = f->classes[s->page_class];
		s->intended_ns = 0;
		s->req.op = s->page_class == SP__PAGE_READ ? SP__OP_READ : SP__OP_WRITE;
		s->req.prio = s->class->spec.prio;
		s->req.volume = b->files[0].volume;
		place(f, b->files[0].begin, s);
		b->issued_bytes += s->req.bytes;
		batch[n++] = &s->req;
	}
	return n;
}

size_t sp__load_fill(struct sp__load *l, uint64_t now_ns)
{
	size_t n = 0;

	if (l->bench->replay)
		return fill_replay(l, now_ns);
	for (size_t i = 0; i < l->ngroups; i++) {
		struct sp__bench_group *g = &l->groups[i];

		if (g->feed && may_issue(l->bench, now_ns))
			n += fill_feed(l->bench, g, l->batch + n, now_ns);
		while (!g->feed && g->free && may_issue(l->bench, now_ns) &&
		       !sp__group_issued(l->bench, g) &&
		       (g->gap_ns <= 0 || g->next_ns <= (double)now_ns)) {
			struct sp__bench_slot *s = g->free;

			g->free = s->next;
			prepare(l->bench, choose(l, g), s);
			g->issued_bytes += s->req.bytes;
			s->intended_ns = 0;
			if (g->gap_ns > 0) {
				s->intended_ns = (uint64_t)g->next_ns;
				g->next_ns += gap(l, g);
			}
			l->batch[n++] = &s->req;
		}
	}
	return n;
}

uint64_t sp__load_due(const struct sp__load *l, uint64_t now_ns, uint64_t due_ns)
{
	const struct sp_bench *b = l->bench;

	if (b->replay && l->groups[0].free)
		due_ns = sp__min(due_ns, sp__replay_due(b->replay, sp__load_class(l)));
	for (size_t i = 0; i < l->ngroups; i++) {
		const struct sp__bench_group *g = &l->groups[i];

		if (g->gap_ns > 0 && g->free && !sp__group_issued(b, g) &&
		    g->next_ns < (double)due_ns)
			due_ns = (uint64_t)ceil(g->next_ns);
		if (g->feed)
			due_ns =
				sp__min(due_ns, g->feed->load.over ? now_ns : g->feed->load.due_ns);
	}
	return due_ns;
}
