/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/mem.h"
#include "index/fetch.h"

/* Bytes of the source that are read, or have been, for one record or several. */
struct block {
	struct sp__owned_request read;
	char *room;
	size_t room_bytes;
	unsigned users; /* records that are wanted or pinned */
	bool done;
	struct block *next; /* free */
};

struct wanted {
	struct sp__keymatch match;
	struct block *block;
};

struct sp__fetch {
	const struct sp__index *index;
	struct sp__requests *reads;
	struct sp__waits *waits;
	struct block *blocks, *free;
	struct block *last; /* that was asked for; NULL: none, or it is free */
	struct block *pinned;
	struct wanted *ring; /* max of them: the oldest at head, n in use */
	unsigned max, head, n;
	uint64_t bytes, used_bytes; /* used: of the blocks in use */
	int error;
};

int sp__fetch_open(struct sp__fetch **fetch, const struct sp__index *ix, struct sp__requests *reads,
		   struct sp__waits *waits, unsigned max, uint64_t bytes)
{
	struct sp__fetch *f = calloc(1, sizeof(*f));

	*fetch = f;
	if (!f)
		return sp__err(ix->env->err, -ENOMEM, "allocate", NULL, -1);
	f->index = ix;
	f->reads = reads;
	f->waits = waits;
	f->max = max;
	f->bytes = bytes;
	f->ring = calloc(max, sizeof(*f->ring));
	f->blocks = calloc((size_t)max + 1, sizeof(*f->blocks));
	if (!f->ring || !f->blocks)
		return sp__err(ix->env->err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; i <= max; i++) {
		f->blocks[i].next = f->free;
		f->free = &f->blocks[i];
	}
	return 0;
}

static void drop_space(struct sp__fetch *f, struct block *b)
{
	if (!b->room)
		return;
	sp__pages_free(b->room, b->room_bytes);
	sp__budget_credit(&f->index->env->budget, b->room_bytes);
	b->room = NULL;
	b->room_bytes = 0;
}

void sp__fetch_close(struct sp__fetch *f)
{
	if (!f)
		return;
	for (unsigned i = 0; f->blocks && i <= f->max; i++)
		drop_space(f, &f->blocks[i]);
	free(f->ring);
	free(f->blocks);
	free(f);
}

static uint64_t room_of(const struct sp__fetch *f, const struct sp__keymatch *m)
{
	return sp__request_capacity(f->index->records, m->bytes);
}

bool sp__fetch_has_space(const struct sp__fetch *f, const struct sp__keymatch *m)
{
	return !f->n || (f->n < f->max && f->used_bytes + room_of(f, m) <= f->bytes);
}

static void note_read(struct sp__owned_request *read)
{
	struct block *b = (struct block *)(void *)read;

	b->done = true;
}

static int give_space(struct sp__fetch *f, struct block *b, size_t bytes)
{
	if (b->room_bytes == bytes)
		return 0;
	drop_space(f, b);
	b->room = sp__pages_alloc(bytes, false);
	if (!b->room)
		return sp__err(f->index->env->err, -ENOMEM, "read", f->index->source, -1);
	b->room_bytes = bytes;
	sp__budget_charge(&f->index->env->budget, bytes);
	return 0;
}

/* Where a record is in a block; NULL: not in this one. */
static const char *in_block(const struct block *b, const struct sp__keymatch *m)
{
	uint64_t begin = b->read.req.offset;

	if (m->offset < begin || m->offset + m->bytes > begin + b->read.req.bytes)
		return NULL;
	return b->room + (m->offset - begin);
}

/* Begins to read the block of a record. */
static int begin_block(struct sp__fetch *f, const struct sp__keymatch *m)
{
	struct block *b = f->free;
	int rc = give_space(f, b, room_of(f, m));

	if (rc)
		return rc;
	f->free = b->next;
	f->last = b;
	f->used_bytes += b->room_bytes;
	b->done = false;
	b->read.done = note_read;
	(void)sp__request_aim(&b->read, f->index->records, m->offset, m->bytes, b->room);
	return sp__requests_add(f->reads, &b->read);
}

int sp__fetch_put(struct sp__fetch *f, const struct sp__keymatch *m)
{
	struct wanted *w = &f->ring[(f->head + f->n) % f->max];

	if (!f->error && !sp__fetch_has_space(f, m))
		f->error = sp__err(f->index->env->err, SP_ESTATE, "read", f->index->source, -1);
	if (!f->error && m->bytes && !(f->last && in_block(f->last, m)))
		f->error = begin_block(f, m);
	if (f->error)
		return f->error;
	*w = (struct wanted){ *m, m->bytes ? f->last : NULL };
	if (w->block)
		w->block->users++;
	f->n++;
	return 0;
}

/* What was pinned is no longer used. */
static void release(struct sp__fetch *f)
{
	struct block *b = f->pinned;

	f->pinned = NULL;
	if (!b || --b->users)
		return;
	if (f->last == b)
		f->last = NULL;
	f->used_bytes -= b->room_bytes;
	b->next = f->free;
	f->free = b;
}

/* Has the record at head arrived?  1, 0, or why it cannot. */
static int arrived(struct sp__fetch *f, const struct wanted *w, const char **record)
{
	const struct sp__index *ix = f->index;
	int rc = 0;

	*record = "";
	if (!w->block)
		return 1;
	if (!w->block->done)
		rc = sp__requests_collect(f->reads);
	if (rc || !w->block->done)
		return rc;
	*record = in_block(w->block, &w->match);
	rc = sp__request_result(&w->block->read, *record, w->match.bytes);
	if (rc == SP_ECORRUPT)
		return sp__errf(ix->env->err, rc, "read", ix->source, (long long)w->match.offset,
				"it has become shorter");
	return rc ? sp__err(ix->env->err, rc, "read", ix->source, (long long)w->match.offset) : 1;
}

int sp__fetch_get(struct sp__fetch *f, struct sp__keymatch *m, const char **record)
{
	struct wanted *w = &f->ring[f->head];
	int rc;

	release(f);
	if (f->error || !f->n)
		return f->error;
	rc = arrived(f, w, record);
	if (!rc) {
		sp__requests_later(f->reads, f->waits);
		return SP_LATER;
	}
	if (rc < 0)
		return f->error = rc;
	*m = w->match;
	f->pinned = w->block;
	f->head = (f->head + 1) % f->max;
	f->n--;
	return SP_READY;
}
