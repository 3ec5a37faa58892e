/* SPDX-License-Identifier: MIT */
/*
 * Implements the cache of nodes.
 *
 * Frames are found by a hash table of pages or, with memory for the whole index, by their index.
 * The frames without pins are in two lists, leaves and inner nodes, in the order of their release.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "index/nodecache.h"

int sp__index_page_err(const struct sp__index *ix, int code, uint64_t page, const char *reason)
{
	long long at = (long long)(page * ix->header.page_bytes);

	if (reason)
		return sp__errf(ix->env->err, SP_ECORRUPT, "read", ix->path, at,
				"page %" PRIu64 " is damaged: %s", page, reason);
	if (code == SP_ECORRUPT)
		return sp__errf(ix->env->err, code, "read", ix->path, at,
				"page %" PRIu64 " is missing: the file ends before", page);
	return sp__err(ix->env->err, code, "read", ix->path, at);
}

/* A larger chunk would delay the first lookup. */
#define CHUNK_MAX (32u << 10)

void sp__nodecache_close(struct sp__nodecache *c)
{
	if (c->memory)
		sp__pages_free(c->memory, c->nframes * c->frame_bytes);
	if (c->charged)
		sp__budget_credit(&c->index->env->budget, c->charged);
	if (c->frames)
		sp__pages_free(c->frames, c->nframes * sizeof(*c->frames));
	free(c->heads);
	*c = (struct sp__nodecache){ 0 };
}

static struct sp__nodehead *head_of(struct sp__nodecache *c, uint64_t page)
{
	return &c->heads[page & (c->nheads - 1)];
}

static struct sp__unpinned *list_of(struct sp__nodecache *c, const struct sp__nodeframe *f)
{
	return &c->unpinned[f->node.level > 0];
}

/* Takes a frame that was never used, or else the least recently unpinned one. */
static struct sp__nodeframe *take_frame(struct sp__nodecache *c)
{
	struct sp__nodeframe *f;

	if (c->used < c->nframes) {
		f = &c->frames[c->used];
		f->read.data = c->memory + c->used++ * c->frame_bytes;
		return f;
	}
	f = TAILQ_FIRST(&c->unpinned[0]) ?: TAILQ_FIRST(&c->unpinned[1]);
	if (f) {
		TAILQ_REMOVE(list_of(c, f), f, link);
		SLIST_REMOVE(head_of(c, f->number), f, sp__nodeframe, same);
	}
	return f;
}

/* Checks a page that has been read with this result. */
static int check(struct sp__nodecache *c, struct sp__nodeframe *f, int rc)
{
	const char *reason = NULL;

	f->unchecked = false;
	if (!rc)
		reason = sp__node_open(&f->node, f->page, c->index->header.page_bytes, f->number);
	if ((rc || reason) && !c->error)
		c->error = sp__index_page_err(c->index, rc, f->number, reason);
	return c->error;
}

static void note_page(struct sp__nodecache *c, struct sp__nodeframe *f)
{
	size_t bytes = c->index->header.page_bytes;

	f->reading = false;
	(void)check(c, f, sp__request_result(&f->read, (const char *)f->page, bytes));
	c->arrived(c->user, f);
}

static int begin_read(struct sp__nodecache *c, uint64_t page, struct sp__nodeframe **out)
{
	const struct sp__index_header *h = &c->index->header;
	struct sp__nodeframe *f = take_frame(c);

	if (!f)
		return sp__err(c->index->env->err, SP_ESTATE, "read", c->index->path, -1);
	f->number = page;
	f->pins = 1;
	f->reading = true;
	f->waiting = NULL;
	SLIST_INSERT_HEAD(head_of(c, page), f, same);
	f->page =
		(const uint8_t *)sp__request_aim(&f->read, &c->owner, c->index->nodes,
						 page * h->page_bytes, h->page_bytes, f->read.data);
	c->misses++;
	*out = f;
	return sp__requests_add(c->reads, &f->read) ?: SP_LATER;
}

/* With memory for the whole index. */

/* True if reading all chunks costs less than the pages still to be read one by one. */
static bool chunks_pay(const struct sp__nodecache *c, uint64_t pages)
{
	const uint64_t page_bytes = c->frame_bytes, n = (c->nframes + pages - 1) / pages;
	const uint64_t single = sp__max(c->expected, c->misses);

	return single * (c->gap_bytes + page_bytes) > n * (c->gap_bytes + pages * page_bytes);
}

static void choose_chunk_pages(struct sp__nodecache *c)
{
	uint64_t pages = sp__min(2 * c->gap_bytes, CHUNK_MAX) / c->frame_bytes;

	if (c->chunk_pages > 1 || pages < 2 || !chunks_pay(c, pages))
		return;
	c->chunk_pages = (unsigned)pages;
	sp__pages_huge(c->memory, c->nframes * c->frame_bytes);
}

/* Reads consecutive pages that have not been read. */
static int read_chunk(struct sp__nodecache *c, struct sp__nodeframe *f, unsigned length)
{
	const size_t bytes = c->frame_bytes, i = (size_t)(f - c->frames);

	for (unsigned k = 0; k < length; k++) {
		f[k].number = c->first + i + k;
		f[k].page = c->memory + (i + k) * bytes;
		f[k].reading = f[k].unchecked = true;
	}
	f->length = length;
	(void)sp__request_aim(&f->read, &c->owner, c->index->nodes, f->number * bytes,
			      length * bytes, c->memory + i * bytes);
	c->misses++;
	return sp__requests_add(c->reads, &f->read);
}

/* After a chunk could not be read: reads only its pinned pages, one by one. */
static void give_up(struct sp__nodecache *c, struct sp__nodeframe *f, unsigned length)
{
	int rc = 0;

	c->gap_bytes = 0;
	c->chunk_pages = 1;
	for (unsigned k = 0; k < length; k++) {
		f[k].page = NULL;
		f[k].reading = f[k].unchecked = false;
	}
	for (unsigned k = 0; k < length && !rc; k++)
		if (f[k].pins)
			rc = read_chunk(c, &f[k], 1);
	if (!rc)
		return;
	c->error = c->error ? c->error : rc;
	c->arrived(c->user, f);
}

static void note_chunk(struct sp__nodecache *c, struct sp__nodeframe *f)
{
	const unsigned length = f->length;
	int rc = sp__request_result(&f->read, f->read.data, length * c->frame_bytes);

	if (rc && length > 1) {
		give_up(c, f, length);
		return;
	}
	for (unsigned k = 0; k < length; k++)
		f[k].reading = false;
	for (unsigned k = 0; k < length; k++) {
		if (!f[k].pins)
			continue;
		(void)check(c, &f[k], rc);
		c->arrived(c->user, &f[k]);
	}
}

/* Reads the page, and neighbours in its chunk that have not been read. */
static int begin_chunk(struct sp__nodecache *c, struct sp__nodeframe *f)
{
	size_t i = (size_t)(f - c->frames), begin = i, end = i + 1;

	choose_chunk_pages(c);
	while (begin % c->chunk_pages && !c->frames[begin - 1].page)
		begin--;
	while (end % c->chunk_pages && end < c->nframes && !c->frames[end].page)
		end++;
	return read_chunk(c, &c->frames[begin], (unsigned)(end - begin)) ?: SP_LATER;
}

static int pin_own(struct sp__nodecache *c, struct sp__nodeframe *f)
{
	f->pins++;
	if (!f->page)
		return begin_chunk(c, f);
	c->hits++;
	if (f->reading)
		return SP_LATER;
	return f->unchecked ? check(c, f, 0) ?: SP_READY : SP_READY;
}

void sp__nodecache_expect(struct sp__nodecache *c, uint64_t keys)
{
	c->expected = keys;
}

/* Returns the frame of a page; NULL: there is none. */
static struct sp__nodeframe *find(struct sp__nodecache *c, uint64_t page)
{
	struct sp__nodeframe *f;

	SLIST_FOREACH(f, head_of(c, page), same)
	{
		if (f->number == page)
			return f;
	}
	return NULL;
}

int sp__nodecache_pin(struct sp__nodecache *c, uint64_t page, struct sp__nodeframe **out)
{
	struct sp__nodeframe *f;

	if (c->whole) {
		*out = &c->frames[page - c->first];
		return pin_own(c, *out);
	}
	f = find(c, page);
	if (!f)
		return begin_read(c, page, out);
	c->hits++;
	if (!f->pins++)
		TAILQ_REMOVE(list_of(c, f), f, link);
	*out = f;
	return f->reading ? SP_LATER : SP_READY;
}

void sp__nodecache_unpin(struct sp__nodecache *c, struct sp__nodeframe *f)
{
	if (!--f->pins && !c->whole)
		TAILQ_INSERT_TAIL(list_of(c, f), f, link);
}

static void completed(struct sp__io_owner *owner, struct sp__request *read)
{
	struct sp__nodecache *c = (void *)owner;
	struct sp__nodeframe *f = (struct sp__nodeframe *)(void *)read;

	if (c->whole)
		note_chunk(c, f);
	else
		note_page(c, f);
}

int sp__nodecache_open(struct sp__nodecache *c, const struct sp__index *ix,
		       struct sp__requests *reads, uint64_t bytes, uint64_t gap_bytes)
{
	uint64_t first = ix->header.header_bytes / ix->header.page_bytes;
	uint64_t pages = ix->header.end_page - first;

	*c = (struct sp__nodecache){ .index = ix,
				     .reads = reads,
				     .first = first,
				     .chunk_pages = 1,
				     .gap_bytes = gap_bytes };
	TAILQ_INIT(&c->unpinned[0]);
	TAILQ_INIT(&c->unpinned[1]);
	c->owner.completed = completed;
	c->frame_bytes = sp__max(ix->header.page_bytes, ix->nodes->align_bytes);
	c->nframes = sp__max(sp__min(bytes / (c->frame_bytes + sizeof(*c->frames)), pages), 2);
	c->whole = c->nframes >= pages && c->frame_bytes == ix->header.page_bytes;
	c->nheads = 1;
	while (c->nheads < c->nframes)
		c->nheads *= 2;
	c->frames = sp__pages_alloc(c->nframes * sizeof(*c->frames), true);
	c->heads = calloc(c->nheads, sizeof(*c->heads));
	c->memory = sp__pages_alloc(c->nframes * c->frame_bytes, !c->whole);
	if (!c->frames || !c->heads || !c->memory)
		return sp__err(ix->env->err, -ENOMEM, "allocate", NULL, -1);
	c->charged =
		c->nframes * (c->frame_bytes + sizeof(*c->frames)) + c->nheads * sizeof(*c->heads);
	sp__budget_charge(&ix->env->budget, c->charged);
	return 0;
}
