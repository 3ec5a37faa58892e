/* SPDX-License-Identifier: MIT */
/*
 * Reads wanted records in batches, into blocks of memory that several records can share.
 *
 * States of a want: idle; waiting, after it is requested; assigned to a block; pinned by the
 * caller.  All wants that are not idle are in one list in the order of their requests; the waiting
 * ones are its last.
 *
 * States of a block: empty, being read, or holding a range of the file.  A block has memory of one
 * size, or, for a longer record, its own memory.  It keeps its range until its memory is needed and
 * no want is assigned to it; the least recently used one is emptied first.  A hash table finds the
 * block that covers a record.
 *
 * Algorithm: a flush assigns waiting wants to the blocks that cover them.  It takes as many others,
 * in the order of requests, as there are free blocks, orders them by offset, and cuts this sequence
 * into reads.
 *
 * Invariants: if no record is pinned, a flush assigns the record requested first, so records taken
 * in the order of requests cannot wait for each other.  A pinned record keeps its slot: a caller
 * with one slot releases the record before it requests the next one.
 *
 * Memory: memory_bytes, but at least two blocks; for long records as many as fit into memory_bytes,
 * or one.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include "base/err.h"
#include "base/minmax.h"
#include "index/fetch.h"

#define BLOCK_MAX (16u << 10)
#define BLOCK_MIN (8u << 10)
/* Share of the slots, or of the blocks, that is requested together: fewer, larger system calls. */
#define REFILL 2

struct block {
	struct sp__request read;
	uint64_t begin, end; /* range of the file; equal: empty */
	char *memory;
	size_t own_bytes; /* not 0: the memory is its own */
	unsigned wants;	  /* assigned to it; 0: its memory is free */
	struct want *on;  /* the list of them, while it is being read */
	bool reading;
	struct block *same;	 /* the next with the same hash */
	TAILQ_ENTRY(block) free; /* in the list of blocks without wants */
};

struct want {
	struct sp__fetched record;
	struct block *block;	/* valid if assigned */
	TAILQ_ENTRY(want) link; /* in the list of requests, or of idle wants */
	struct want *mate;	/* the next on the same block, or in the ready list */
	bool ready;
};

TAILQ_HEAD(wants, want);
TAILQ_HEAD(blocks, block);

struct sp__fetch {
	struct sp__io_owner owner; /* receives the completions of all reads */
	struct sp__fetch_opts opts;
	struct sp__fetch_counts counts;
	struct want *wants, *pinned;
	struct wants idle, wanted;	 /* wanted: in the order of requests */
	struct want *ready, *ready_last; /* in the order of arrival; unless ordered */
	struct want **batch;		 /* being ordered */
	struct want *waiting;		 /* the first of wanted that is not assigned; or NULL */
	unsigned nidle;
	struct block *blocks, *last; /* last: read last */
	struct blocks free;	     /* least recently used first */
	unsigned nblocks, nfree;
	struct block **heads; /* hash table by begin >> shift */
	unsigned mask, shift;
	size_t block_bytes;
	char *memory;
	uint64_t own_bytes; /* bytes of long records */
	int error;	    /* kept for all later calls */
};

static int no_memory(const struct sp__fetch *f)
{
	return sp__err(f->opts.err, -ENOMEM, "read", f->opts.volume->name, -1);
}

/* Completion. */

static void make_ready(struct sp__fetch *f, struct want *w)
{
	w->ready = true;
	w->mate = NULL;
	if (f->opts.ordered)
		return;
	if (f->ready)
		f->ready_last->mate = w;
	else
		f->ready = w;
	f->ready_last = w;
}

static void read_done(struct sp__io_owner *owner, struct sp__request *r)
{
	struct block *b = (struct block *)(void *)r;
	struct sp__fetch *f = (void *)owner;
	struct want *w = b->on, *next;

	b->reading = false;
	b->on = NULL;
	for (; w; w = next) {
		next = w->mate;
		make_ready(f, w);
	}
	if (r->result > 0)
		f->counts.bytes += (uint64_t)r->result;
}

/* Opening. */

static void choose_blocks(struct sp__fetch *f)
{
	const struct sp__fetch_opts *o = &f->opts;
	const size_t align = sp__max(o->volume->align_bytes, 4096);
	uint64_t each = sp__max(sp__min(o->memory_bytes / o->max, BLOCK_MAX), BLOCK_MIN);

	f->block_bytes = sp__max(each / align * align, 2 * align);
	f->nblocks = (unsigned)sp__max(sp__min(o->memory_bytes / f->block_bytes, o->max), 2);
	while ((size_t)1 << f->shift < f->block_bytes)
		f->shift++;
	while (f->mask < f->nblocks)
		f->mask = 2 * f->mask + 1;
}

int sp__fetch_open(struct sp__fetch **fetch, const struct sp__fetch_opts *opts)
{
	struct sp__fetch *f = calloc(1, sizeof(*f));

	*fetch = f;
	if (!f)
		return sp__err(opts->err, -ENOMEM, "read", opts->volume->name, -1);
	f->opts = *opts;
	f->owner.completed = read_done;
	TAILQ_INIT(&f->idle);
	TAILQ_INIT(&f->wanted);
	TAILQ_INIT(&f->free);
	choose_blocks(f);
	f->wants = calloc(opts->max, sizeof(*f->wants));
	f->batch = calloc(opts->max, sizeof(struct want *));
	f->blocks = calloc(f->nblocks, sizeof(*f->blocks));
	f->heads = calloc((size_t)f->mask + 1, sizeof(struct block *));
	f->memory = sp__pages_alloc(f->nblocks * f->block_bytes, false);
	if (f->memory)
		sp__budget_charge(opts->budget, f->nblocks * f->block_bytes);
	if (!f->wants || !f->batch || !f->blocks || !f->heads || !f->memory)
		return no_memory(f);
	for (; f->nfree < f->nblocks; f->nfree++) {
		f->blocks[f->nfree].memory = f->memory + f->nfree * f->block_bytes;
		TAILQ_INSERT_TAIL(&f->free, &f->blocks[f->nfree], free);
	}
	for (f->nidle = 0; f->nidle < opts->max; f->nidle++) {
		TAILQ_INSERT_HEAD(&f->idle, &f->wants[f->nidle], link);
	}
	return 0;
}

/* Returns the list of the blocks that begin near an offset. */
static struct block **head_of(const struct sp__fetch *f, uint64_t offset)
{
	return &f->heads[offset >> f->shift & f->mask];
}

static void empty_block(struct sp__fetch *f, struct block *b)
{
	struct block **at = head_of(f, b->begin);

	while (b->end && *at != b)
		at = &(*at)->same;
	if (b->end)
		*at = b->same;
	b->begin = b->end = 0;
	if (!b->own_bytes)
		return;
	sp__pages_free(b->memory, b->own_bytes);
	sp__budget_credit(f->opts.budget, b->own_bytes);
	f->own_bytes -= b->own_bytes;
	b->own_bytes = 0;
	b->memory = f->memory + (size_t)(b - f->blocks) * f->block_bytes;
}

void sp__fetch_close(struct sp__fetch *f)
{
	if (!f)
		return;
	for (unsigned i = 0; f->blocks && i < f->nblocks; i++)
		empty_block(f, &f->blocks[i]);
	if (f->memory) {
		sp__pages_free(f->memory, f->nblocks * f->block_bytes);
		sp__budget_credit(f->opts.budget, f->nblocks * f->block_bytes);
	}
	free(f->blocks);
	free(f->heads);
	free(f->batch);
	free(f->wants);
	free(f);
}

/* Requesting. */

unsigned sp__fetch_slots_left(const struct sp__fetch *f)
{
	return f->nidle;
}

bool sp__fetch_is_due(const struct sp__fetch *f)
{
	return f->nidle >= f->opts.max / REFILL || (f->waiting && f->nfree >= f->nblocks / REFILL);
}

static void unassign(struct sp__fetch *f, struct want *w)
{
	struct block *b = w->block;

	TAILQ_REMOVE(&f->wanted, w, link);
	if (!--b->wants) {
		TAILQ_INSERT_TAIL(&f->free, b, free);
		f->nfree++;
		if (b->own_bytes)
			empty_block(f, b);
	}
	TAILQ_INSERT_HEAD(&f->idle, w, link);
	f->nidle++;
}

/* Reading. */

/* End of a record's bytes; of an empty record its terminator is read. */
static uint64_t end_of(const struct sp__fetched *r)
{
	return r->offset + sp__max(r->bytes, 1);
}

static bool covers(const struct block *b, const struct sp__fetched *r)
{
	return r->offset >= b->begin && end_of(r) <= b->end;
}

static void assign(struct sp__fetch *f, struct want *w, struct block *b)
{
	w->block = b;
	if (!b->wants++) {
		TAILQ_REMOVE(&f->free, b, free);
		f->nfree--;
	}
	if (!b->reading) {
		make_ready(f, w);
		return;
	}
	w->mate = b->on;
	b->on = w;
}

static void assign_shared(struct sp__fetch *f, struct want *w, struct block *b)
{
	f->counts.shared++;
	assign(f, w, b);
}

void sp__fetch_put(struct sp__fetch *f, uint64_t offset, size_t bytes, uint64_t tag)
{
	struct want *w = TAILQ_FIRST(&f->idle);

	TAILQ_REMOVE(&f->idle, w, link);
	f->nidle--;
	w->record = (struct sp__fetched){ .offset = offset, .bytes = bytes, .tag = tag };
	w->ready = false;
	TAILQ_INSERT_TAIL(&f->wanted, w, link);
	f->counts.records++;
	if (!f->waiting && f->last && covers(f->last, &w->record))
		assign_shared(f, w, f->last);
	else if (!f->waiting)
		f->waiting = w;
}

/* Returns the block of a list that covers a record, or NULL. */
static struct block *in_list(struct block *b, const struct sp__fetched *r)
{
	while (b && !covers(b, r))
		b = b->same;
	return b;
}

/*
 * Returns the block that covers a record, or NULL.  Such a block begins at most block_bytes before
 * the record, so two lists of the table can have it.  A longer block is found by its first record.
 */
static struct block *find(const struct sp__fetch *f, const struct sp__fetched *r)
{
	const uint64_t before = sp__min(r->offset, f->block_bytes);

	return in_list(*head_of(f, r->offset), r) ?: in_list(*head_of(f, r->offset - before), r);
}

/* Bytes of own memory that a record needs. */
static size_t own_memory_bytes(const struct sp__fetch *f, const struct sp__fetched *r)
{
	size_t bytes = sp__request_capacity(f->opts.volume, (size_t)(end_of(r) - r->offset));

	return bytes > f->block_bytes ? bytes : 0;
}

/* Assigns wants to existing blocks; the others, in the order of requests, are the batch. */
static unsigned choose_batch(struct sp__fetch *f)
{
	struct want *w;
	unsigned n = 0, free_blocks = f->nfree;
	uint64_t own = f->own_bytes, more;

	for (w = f->waiting; w && n < free_blocks; w = TAILQ_NEXT(w, link)) {
		struct block *b = find(f, &w->record);

		if (b) {
			free_blocks -= !b->wants;
			if (free_blocks < n)
				break;
			assign_shared(f, w, b);
			continue;
		}
		more = own_memory_bytes(f, &w->record);
		if (own && more && own + more > f->opts.memory_bytes)
			break;
		own += more;
		f->batch[n++] = w;
	}
	f->waiting = w;
	return n;
}

static int by_offset(const void *a, const void *b)
{
	const struct want *x = *(struct want *const *)a, *y = *(struct want *const *)b;

	return SP__ORDER(x->record.offset, y->record.offset);
}

static bool is_sorted(struct want *const *batch, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		if (batch[i]->record.offset < batch[i - 1]->record.offset)
			return false;
	return true;
}

/* Counts the wants of the batch from i on that fit into one block; *end: the end of their bytes. */
static unsigned group(const struct sp__fetch *f, unsigned i, unsigned n, uint64_t *end)
{
	const struct sp__fetch_opts *o = &f->opts;
	const uint64_t begin = f->batch[i]->record.offset, align = o->volume->align_bytes;
	unsigned k;

	*end = end_of(&f->batch[i]->record);
	for (k = i + 1; k < n; k++) {
		const struct sp__fetched *r = &f->batch[k]->record;
		uint64_t block_end = (*end + align - 1) / align * align;
		uint64_t to = sp__max(*end, end_of(r));

		if (r->offset >= block_end + o->gap_bytes ||
		    sp__request_capacity(o->volume, (size_t)(to - begin)) > f->block_bytes)
			break;
		*end = to;
	}
	return k;
}

static int own_memory(struct sp__fetch *f, struct block *b, size_t bytes)
{
	char *memory = sp__pages_alloc(bytes, false);

	if (!memory)
		return no_memory(f);
	b->memory = memory;
	b->own_bytes = bytes;
	f->own_bytes += bytes;
	sp__budget_charge(f->opts.budget, bytes);
	return 0;
}

/* Reads the wants of the batch from i to k - 1. */
static int read_block(struct sp__fetch *f, unsigned i, unsigned k, uint64_t end)
{
	struct block *b = TAILQ_FIRST(&f->free), **head;
	const uint64_t begin = f->batch[i]->record.offset;
	const size_t own = k == i + 1 ? own_memory_bytes(f, &f->batch[i]->record) : 0;
	uint64_t known = begin;

	empty_block(f, b);
	if (own && own_memory(f, b, own) < 0)
		return -ENOMEM;
	(void)sp__request_aim(&b->read, &f->owner, f->opts.volume, begin, (size_t)(end - begin),
			      b->memory);
	b->begin = b->read.offset;
	b->end = b->begin + b->read.bytes;
	b->reading = true;
	f->last = b;
	head = head_of(f, b->begin);
	b->same = *head;
	*head = b;
	for (; i < k; i++) {
		const struct sp__fetched *r = &f->batch[i]->record;

		if (end_of(r) <= known)
			f->counts.shared++;
		else if (known > begin)
			f->counts.coalesced++;
		known = sp__max(known, end_of(r));
		assign(f, f->batch[i], b);
	}
	f->counts.reads++;
	return sp__requests_add(f->opts.reads, &b->read);
}

int sp__fetch_flush(struct sp__fetch *f)
{
	unsigned n = f->waiting && !f->error ? choose_batch(f) : 0, k;
	uint64_t end;

	if (!is_sorted(f->batch, n))
		qsort(f->batch, n, sizeof(struct want *), by_offset);
	for (unsigned i = 0; i < n && !f->error; i = k) {
		k = group(f, i, n, &end);
		f->error = read_block(f, i, k, end);
	}
	if (!f->error)
		f->error = sp__requests_flush(f->opts.reads);
	return f->error;
}

/* Taking. */

void sp__fetch_release(struct sp__fetch *f)
{
	if (f->pinned)
		unassign(f, f->pinned);
	f->pinned = NULL;
}

/* Returns a want whose record has arrived. */
static struct want *next_ready(struct sp__fetch *f)
{
	struct want *w = f->opts.ordered ? TAILQ_FIRST(&f->wanted) : f->ready;

	if (!w || !w->ready)
		return NULL;
	if (!f->opts.ordered)
		f->ready = w->mate;
	return w;
}

int sp__fetch_get(struct sp__fetch *f, struct sp__fetched *record)
{
	const struct want *w;
	const char *data;
	int rc;

	sp__fetch_release(f);
	if (f->error)
		return f->error;
	if (TAILQ_EMPTY(&f->wanted))
		return SP_END;
	w = f->pinned = next_ready(f);
	if (!w)
		return SP_LATER;
	data = w->block->memory + (w->record.offset - w->block->begin);
	rc = sp__request_result(&w->block->read, data,
				(size_t)(end_of(&w->record) - w->record.offset));
	if (rc < 0) {
		f->error = sp__volume_err(f->opts.err, f->opts.volume, rc, "read",
					  (long long)w->record.offset);
		return f->error;
	}
	*record = w->record;
	record->data = data;
	record->before = (size_t)(data - w->block->memory);
	record->after = (size_t)w->block->read.result - record->before - record->bytes;
	return SP_READY;
}

const struct sp__fetch_counts *sp__fetch_counts(const struct sp__fetch *f)
{
	return &f->counts;
}
