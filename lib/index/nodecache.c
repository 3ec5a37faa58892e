/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "index/nodecache.h"

int sp__nodecache_open(struct sp__nodecache *c, const struct sp__index *ix, struct sp__reads *reads,
		       uint64_t bytes)
{
	uint64_t pages = ix->head.end_page - ix->head.head_bytes / ix->head.page_bytes;

	*c = (struct sp__nodecache){ .index = ix, .reads = reads };
	c->frame_bytes = sp__max(ix->head.page_bytes, ix->nodes->align_bytes);
	c->nframes = sp__max(sp__min(bytes / (c->frame_bytes + sizeof(*c->frames)), pages), 2);
	c->nheads = 1;
	while (c->nheads < c->nframes)
		c->nheads *= 2;
	c->frames = calloc(c->nframes, sizeof(*c->frames));
	c->heads = calloc(c->nheads, sizeof(struct sp__nodeframe *));
	c->memory = sp__pages_alloc(c->nframes * c->frame_bytes, false);
	if (!c->frames || !c->heads || !c->memory)
		return sp__err(ix->env->err, -ENOMEM, "allocate", NULL, -1);
	c->charged = c->nframes * (c->frame_bytes + sizeof(*c->frames)) +
		     c->nheads * sizeof(struct sp__nodeframe *);
	sp__budget_charge(&ix->env->budget, c->charged);
	return 0;
}

void sp__nodecache_close(struct sp__nodecache *c)
{
	if (c->memory)
		sp__pages_free(c->memory, c->nframes * c->frame_bytes);
	if (c->charged)
		sp__budget_credit(&c->index->env->budget, c->charged);
	free(c->frames);
	free(c->heads);
	*c = (struct sp__nodecache){ 0 };
}

static struct sp__nodeframe **head_of(struct sp__nodecache *c, uint64_t page)
{
	return &c->heads[page & (c->nheads - 1)];
}

static struct sp__unpinned *list_of(struct sp__nodecache *c, const struct sp__nodeframe *f)
{
	return &c->unpinned[f->node.level > 0];
}

static void unlist(struct sp__nodecache *c, struct sp__nodeframe *f)
{
	struct sp__unpinned *l = list_of(c, f);

	*(f->older ? &f->older->newer : &l->oldest) = f->newer;
	*(f->newer ? &f->newer->older : &l->newest) = f->older;
}

static void forget(struct sp__nodecache *c, struct sp__nodeframe *f)
{
	struct sp__nodeframe **at = head_of(c, f->number);

	while (*at != f)
		at = &(*at)->same;
	*at = f->same;
}

/* A frame that holds nothing. */
static struct sp__nodeframe *take_frame(struct sp__nodecache *c)
{
	struct sp__nodeframe *f;

	if (c->used < c->nframes) {
		f = &c->frames[c->used];
		f->read.req.data = c->memory + c->used++ * c->frame_bytes;
		return f;
	}
	f = c->unpinned[0].oldest ? c->unpinned[0].oldest : c->unpinned[1].oldest;
	if (f) {
		unlist(c, f);
		forget(c, f);
	}
	return f;
}

static void note_read(struct sp__read *read)
{
	struct sp__nodeframe *f = (struct sp__nodeframe *)(void *)read;
	struct sp__nodecache *c = read->owner;
	uint32_t bytes = c->index->head.page_bytes;
	int rc = sp__read_result(read, (const char *)f->page, bytes);
	const char *why = NULL;

	f->reading = false;
	if (!rc)
		why = sp__node_open(&f->node, f->page, bytes, f->number);
	if ((rc || why) && !c->error)
		c->error = sp__index_page_err(c->index, rc, f->number, why);
	c->arrived(c->owner, f);
}

static int begin_read(struct sp__nodecache *c, uint64_t page, struct sp__nodeframe **out)
{
	const struct sp__index_head *h = &c->index->head;
	struct sp__nodeframe *f = take_frame(c), **head = head_of(c, page);

	if (!f)
		return sp__err(c->index->env->err, SP_ESTATE, "read", c->index->path, -1);
	f->number = page;
	f->pins = 1;
	f->reading = true;
	f->waiting = NULL;
	f->same = *head;
	*head = f;
	f->read.done = note_read;
	f->read.owner = c;
	f->page = (const uint8_t *)sp__read_aim(&f->read, c->index->nodes, page * h->page_bytes,
						h->page_bytes, f->read.req.data);
	c->misses++;
	*out = f;
	return sp__reads_add(c->reads, &f->read) ?: SP_LATER;
}

int sp__nodecache_pin(struct sp__nodecache *c, uint64_t page, struct sp__nodeframe **out)
{
	struct sp__nodeframe *f = *head_of(c, page);

	while (f && f->number != page)
		f = f->same;
	if (!f)
		return begin_read(c, page, out);
	c->hits++;
	if (!f->pins++)
		unlist(c, f);
	*out = f;
	return f->reading ? SP_LATER : SP_READY;
}

void sp__nodecache_unpin(struct sp__nodecache *c, struct sp__nodeframe *f)
{
	struct sp__unpinned *l;

	if (--f->pins)
		return;
	l = list_of(c, f);
	f->newer = NULL;
	f->older = l->newest;
	*(l->newest ? &l->newest->newer : &l->oldest) = f;
	l->newest = f;
}
