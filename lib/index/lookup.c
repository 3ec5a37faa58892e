/* SPDX-License-Identifier: MIT */
/*
 * Implements lookups.
 *
 * A lookup has one frame pinned at any time, so as many frames as lookups suffice.  States:
 *
 *	WAITING  the frame is being read; the lookup is in the frame's list
 *	READY    the frame is the leaf where entries with the key are or would be
 *	PINNED   returned by get; the next get frees the slot, or continues to the next leaf
 *
 * Equal keys continue in the next leaf.  Leaves are stored in the order of their keys; inner nodes
 * between them are skipped.
 */
#include <stdlib.h>
#include <sys/queue.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "index/lookup.h"
#include "index/nodecache.h"
#include "run/charge.h"

enum state { WAITING, READY, PINNED };

struct slot {
	enum state state;
	struct sp__bytes key;
	uint64_t tag, page;
	struct sp__nodeframe *frame;
	unsigned level;		/* required level of the page, */
	bool along;		/* ... unless inner nodes are skipped on the way to the next leaf */
	bool more;		/* equal keys can continue in the next leaf */
	unsigned first, end;	/* entries of the leaf */
	struct slot *next;	/* in the list of free slots, or of the same frame */
	TAILQ_ENTRY(slot) link; /* in the list of ready lookups */
	STAILQ_ENTRY(slot) put; /* if ordered: in the list of all puts */
};

struct sp__lookup {
	struct sp__lookup_opts opts;
	struct sp__nodecache cache;
	struct slot *slots, *free, *pinned;
	TAILQ_HEAD(, slot) ready;
	STAILQ_HEAD(, slot) puts;
	struct sp__keymatch *matches; /* matches in the pinned page */
	unsigned max, outstanding;
	size_t charged;
	int error;
};

static const struct sp__index_header *header_of(const struct sp__lookup *l)
{
	return &l->opts.index->header;
}

static int wrong_level(const struct sp__lookup *l, uint64_t page)
{
	return sp__index_page_err(l->opts.index, 0, page, "it is at the wrong level");
}

/* Searches the leaf that has been reached. */
static void search_leaf(struct sp__lookup *l, struct slot *s)
{
	const struct sp__node *n = &s->frame->node;
	const uint8_t *key = (const uint8_t *)s->key.data;

	s->first = sp__node_below(n, key, s->key.bytes, false);
	s->end = sp__node_below(n, key, s->key.bytes, true);
	s->more = s->end == n->count && s->first < s->end && s->page < header_of(l)->last_leaf;
	s->state = READY;
	TAILQ_INSERT_TAIL(&l->ready, s, link);
}

/* Sets the page to read after this one; 0: this is the leaf. */
static int step(struct sp__lookup *l, struct slot *s, uint64_t *next)
{
	const struct sp__index_header *h = header_of(l);
	const struct sp__node *n = &s->frame->node;

	*next = 0;
	if (s->along && n->level) {
		*next = s->page + 1;
		return *next <= h->last_leaf ? 0 : wrong_level(l, s->page);
	}
	if (n->level != s->level)
		return wrong_level(l, s->page);
	if (!n->level)
		return 0;
	s->level--;
	*next = sp__node_child(n, (const uint8_t *)s->key.data, s->key.bytes);
	if (*next >= h->header_bytes / h->page_bytes && *next < s->page)
		return 0;
	return sp__index_page_err(l->opts.index, 0, s->page, "the page of a child is out of range");
}

/* Pins a page; while it is being read, the lookup waits for it. */
static int pin(struct sp__lookup *l, struct slot *s, uint64_t page)
{
	int rc = sp__nodecache_pin(&l->cache, page, &s->frame);

	s->page = page;
	if (rc == SP_LATER) {
		s->next = s->frame->waiting;
		s->frame->waiting = s;
	}
	return rc;
}

/* Descends through nodes in memory; the frame of the current page is pinned and read. */
static int walk(struct sp__lookup *l, struct slot *s)
{
	uint64_t next;
	int rc = SP_READY;

	while (rc == SP_READY) {
		const struct sp__node *n = &s->frame->node;

		sp__charge_work(l->opts.index->env, 1, 33 - (unsigned)__builtin_clz(n->count | 1),
				0);
		rc = step(l, s, &next);
		if (rc)
			return rc;
		if (!next) {
			search_leaf(l, s);
			return 0;
		}
		sp__nodecache_unpin(&l->cache, s->frame);
		rc = pin(l, s, next);
	}
	return rc == SP_LATER ? 0 : rc;
}

/* Begins to descend at a page. */
static int descend(struct sp__lookup *l, struct slot *s, uint64_t page)
{
	int rc = pin(l, s, page);

	s->state = WAITING;
	return rc == SP_READY ? walk(l, s) : rc == SP_LATER ? 0 : rc;
}

static void arrived(void *user, struct sp__nodeframe *f)
{
	struct sp__lookup *l = user;
	struct slot *s = f->waiting, *next;

	f->waiting = NULL;
	if (!l->error)
		l->error = l->cache.error;
	for (; s && !l->error; s = next) {
		next = s->next;
		l->error = walk(l, s);
	}
}

int sp__lookup_open(struct sp__lookup **lookup, const struct sp__lookup_opts *opts)
{
	const struct sp__index_header *h = &opts->index->header;
	size_t entries = sp__node_entries_max(h->page_bytes);
	struct sp__lookup *l = calloc(1, sizeof(*l));
	int rc;

	*lookup = l;
	if (!l)
		return sp__err(opts->index->env->err, -ENOMEM, "allocate", NULL, -1);
	l->opts = *opts;
	TAILQ_INIT(&l->ready);
	STAILQ_INIT(&l->puts);
	rc = sp__nodecache_open(&l->cache, opts->index, opts->reads, opts->bytes, opts->gap_bytes);
	if (rc)
		return rc;
	l->cache.arrived = arrived;
	l->cache.user = l;
	l->max = (unsigned)sp__min(opts->max, l->cache.nframes);
	l->slots = calloc(l->max, sizeof(*l->slots));
	l->matches = malloc(entries * sizeof(*l->matches));
	if (!l->slots || !l->matches)
		return sp__err(opts->index->env->err, -ENOMEM, "allocate", NULL, -1);
	l->charged = l->max * sizeof(*l->slots) + entries * sizeof(*l->matches);
	sp__budget_charge(&opts->index->env->budget, l->charged);
	for (unsigned i = 0; i < l->max; i++) {
		l->slots[i].next = l->free;
		l->free = &l->slots[i];
	}
	return 0;
}

void sp__lookup_close(struct sp__lookup *l)
{
	struct sp__budget *budget;

	if (!l)
		return;
	budget = &l->opts.index->env->budget;
	for (unsigned i = 0; l->slots && i < l->max; i++)
		sp__bytes_release(&l->slots[i].key, budget);
	sp__budget_credit(budget, l->charged);
	sp__nodecache_close(&l->cache);
	free(l->slots);
	free(l->matches);
	free(l);
}

void sp__lookup_expect(struct sp__lookup *l, uint64_t keys)
{
	sp__nodecache_expect(&l->cache, keys);
}

bool sp__lookup_has_space(const struct sp__lookup *l)
{
	return l->free;
}

int sp__lookup_put(struct sp__lookup *l, const void *key, size_t bytes, uint64_t tag)
{
	struct slot *s = l->free;

	if (!l->error && !s)
		l->error = sp__err(l->opts.index->env->err, SP_ESTATE, "look up", NULL, -1);
	if (!l->error && sp__bytes_set(&s->key, key, bytes, &l->opts.index->env->budget))
		l->error = sp__err(l->opts.index->env->err, -ENOMEM, "look up", NULL, -1);
	if (l->error)
		return l->error;
	l->free = s->next;
	l->outstanding++;
	s->tag = tag;
	s->along = false;
	s->level = header_of(l)->levels - 1;
	if (l->opts.ordered)
		STAILQ_INSERT_TAIL(&l->puts, s, put);
	return l->error = descend(l, s, header_of(l)->root);
}

/* Releases the result of the last get. */
static int release(struct sp__lookup *l)
{
	struct slot *s = l->pinned;

	l->pinned = NULL;
	if (!s)
		return 0;
	sp__nodecache_unpin(&l->cache, s->frame);
	if (s->more) {
		s->along = true;
		return descend(l, s, s->page + 1);
	}
	if (l->opts.ordered)
		STAILQ_REMOVE_HEAD(&l->puts, put);
	s->next = l->free;
	l->free = s;
	l->outstanding--;
	return 0;
}

/* Takes the next lookup to return from the list of ready lookups. */
static struct slot *take_ready(struct sp__lookup *l)
{
	struct slot *s = l->opts.ordered ? STAILQ_FIRST(&l->puts) : TAILQ_FIRST(&l->ready);

	if (!s || s->state != READY)
		return NULL;
	TAILQ_REMOVE(&l->ready, s, link);
	return s;
}

static void pin_matches(struct sp__lookup *l, struct slot *s, struct sp__found *found)
{
	size_t n = s->end - s->first;
	uint64_t sum = l->opts.sums ? sp__checksum(s->key.data, s->key.bytes) : 0;

	for (size_t i = 0; i < n; i++) {
		struct sp__nodeentry e = sp__node_entry(&s->frame->node, s->first + (unsigned)i);

		l->matches[i] = (struct sp__keymatch){ e.a, e.b, sum };
	}
	s->state = PINNED;
	l->pinned = s;
	*found = (struct sp__found){ s->tag,   l->matches,	    n, !s->more, s->page,
				     s->first, s->frame->node.count };
}

int sp__lookup_get(struct sp__lookup *l, struct sp__found *found)
{
	struct slot *s = NULL;

	if (!l->error)
		l->error = release(l);
	if (!l->error)
		l->error = sp__requests_flush(l->opts.reads);
	if (!l->error)
		s = take_ready(l);
	if (!l->error && !s && l->outstanding) {
		int rc = sp__requests_collect(l->opts.reads);

		l->error = l->error ? l->error : rc;
		s = take_ready(l);
	}
	if (l->error)
		return l->error;
	if (s) {
		pin_matches(l, s, found);
		return SP_READY;
	}
	if (!l->outstanding)
		return SP_END;
	sp__requests_later(l->opts.reads, l->opts.waits);
	return SP_LATER;
}

void sp__lookup_counts(const struct sp__lookup *l, uint64_t *hits, uint64_t *misses)
{
	*hits = l->cache.hits;
	*misses = l->cache.misses;
}
