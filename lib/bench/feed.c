/* SPDX-License-Identifier: MIT */
#include "bench/state.h"

size_t sp__feed_fill(struct sp_bench *b, struct sp__bench_group *g, struct sp__request **batch,
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
		s->req.bytes = s->class->spec.bytes;
		s->req.offset = b->files[0].begin + (uint64_t)s->page.page * s->req.bytes;
		b->issued_bytes += s->req.bytes;
		batch[n++] = &s->req;
	}
	return n;
}

uint64_t sp__feed_due(const struct sp__bench_feed *f, uint64_t now_ns)
{
	return f->load.over ? now_ns : f->load.due_ns;
}
