/* SPDX-License-Identifier: MIT */
/*
 * Collects wanted records into batches of reads, and keeps the blocks that hold them.
 *
 * States of a want: idle; waiting, after it is requested; on a chunk of the file; pinned by the
 * caller.  All wants that are not idle are in one list in the order of their requests; the waiting
 * ones are its last.
 *
 * States of a chunk (struct piece): empty, being read, or holding a range of the file.  A chunk has
 * memory of one size, or, for a longer record, its own memory.  It keeps its range until its memory
 * is needed and no want is on it; the least recently used one is emptied first.
 *
 * Algorithm: a flush assigns waiting wants to the chunks that cover them.  It takes as many others,
 * in the order of requests, as there are free chunks, orders them by offset, and cuts this sequence
 * into reads.
 *
 * Invariant: the record requested first is always on a chunk, so records taken in the order of
 * requests cannot wait for each other.
 *
 * Memory: memory_bytes, but at least two chunks; for long records as many as fit into memory_bytes,
 * or one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include "base/err.h"
#include "base/minmax.h"
#include "join/inl/gather.h"

#define PIECE_MAX (16u << 10)
#define PIECE_MIN (8u << 10)

struct piece {
	struct sp__owned_request read;
	uint64_t begin, end; /* range of the file; equal: empty */
	char *memory;
	size_t own_bytes; /* not 0: the memory is its own */
	unsigned wants;	  /* wants on it; 0: its memory is free */
	struct want *on;  /* the list of them, while it is being read */
	bool reading;
	uint64_t used; /* clock of the last use, for the choice of the chunk to empty */
};

struct want {
	struct sp__gathered record;
	struct piece *piece;	/* NULL: the want is waiting */
	TAILQ_ENTRY(want) link; /* in the list of requests, or of idle wants */
	struct want *mate;	/* the next on the same chunk, or in the ready list */
	bool ready;
};

TAILQ_HEAD(wants, want);

struct sp__gather {
	struct sp__gather_opts opts;
	struct sp__gather_counts counts;
	struct want *wants, *pinned;
	struct wants idle, asked;	 /* asked: in the order of requests */
	struct want *ready, *ready_last; /* in the order of arrival; unless ordered */
	struct want **batch;		 /* being ordered */
	unsigned nidle, nwaiting;
	struct piece *pieces;
	unsigned npieces;
	size_t piece_bytes;
	char *memory;
	uint64_t own_bytes; /* of long records */
	uint64_t clock;
	int error; /* kept for all later calls */
};

static int no_memory(const struct sp__gather *f)
{
	return sp__err(f->opts.err, -ENOMEM, "read", f->opts.volume->name, -1);
}

/* Opening. */

static void choose_pieces(struct sp__gather *f)
{
	const struct sp__gather_opts *o = &f->opts;
	const size_t align = sp__max(o->volume->align_bytes, 4096);
	uint64_t each = sp__max(sp__min(o->memory_bytes / o->max, PIECE_MAX), PIECE_MIN);

	f->piece_bytes = sp__max(each / align * align, 2 * align);
	f->npieces = (unsigned)sp__max(sp__min(o->memory_bytes / f->piece_bytes, o->max), 2);
}

int sp__gather_open(struct sp__gather **gather, const struct sp__gather_opts *opts)
{
	struct sp__gather *f = calloc(1, sizeof(*f));

	*gather = f;
	if (!f)
		return sp__err(opts->err, -ENOMEM, "read", opts->volume->name, -1);
	f->opts = *opts;
	TAILQ_INIT(&f->idle);
	TAILQ_INIT(&f->asked);
	choose_pieces(f);
	f->wants = calloc(opts->max, sizeof(*f->wants));
	f->batch = calloc(opts->max, sizeof(struct want *));
	f->pieces = calloc(f->npieces, sizeof(*f->pieces));
	f->memory = sp__pages_alloc(f->npieces * f->piece_bytes, false);
	if (f->memory)
		sp__budget_charge(opts->budget, f->npieces * f->piece_bytes);
	if (!f->wants || !f->batch || !f->pieces || !f->memory)
		return no_memory(f);
	for (unsigned i = 0; i < f->npieces; i++)
		f->pieces[i].memory = f->memory + i * f->piece_bytes;
	for (f->nidle = 0; f->nidle < opts->max; f->nidle++) {
		TAILQ_INSERT_HEAD(&f->idle, &f->wants[f->nidle], link);
	}
	return 0;
}

static void empty_piece(struct sp__gather *f, struct piece *p)
{
	p->begin = p->end = 0;
	if (!p->own_bytes)
		return;
	sp__pages_free(p->memory, p->own_bytes);
	sp__budget_credit(f->opts.budget, p->own_bytes);
	f->own_bytes -= p->own_bytes;
	p->own_bytes = 0;
	p->memory = f->memory + (size_t)(p - f->pieces) * f->piece_bytes;
}

void sp__gather_close(struct sp__gather *f)
{
	if (!f)
		return;
	for (unsigned i = 0; f->pieces && i < f->npieces; i++)
		empty_piece(f, &f->pieces[i]);
	if (f->memory) {
		sp__pages_free(f->memory, f->npieces * f->piece_bytes);
		sp__budget_credit(f->opts.budget, f->npieces * f->piece_bytes);
	}
	free(f->pieces);
	free(f->batch);
	free(f->wants);
	free(f);
}

/* Requesting. */

unsigned sp__gather_slots_left(const struct sp__gather *f)
{
	return f->nidle;
}

void sp__gather_ask(struct sp__gather *f, uint64_t offset, size_t bytes, uint64_t tag)
{
	struct want *w = TAILQ_FIRST(&f->idle);

	TAILQ_REMOVE(&f->idle, w, link);
	f->nidle--;
	f->nwaiting++;
	*w = (struct want){ .record = { .offset = offset, .bytes = bytes, .tag = tag } };
	TAILQ_INSERT_TAIL(&f->asked, w, link);
	f->counts.records++;
}

static void leave(struct sp__gather *f, struct want *w)
{
	struct piece *p = w->piece;

	TAILQ_REMOVE(&f->asked, w, link);
	p->used = ++f->clock;
	if (!--p->wants && p->own_bytes)
		empty_piece(f, p);
	TAILQ_INSERT_HEAD(&f->idle, w, link);
	f->nidle++;
}

/* Reading. */

/* End of a record's bytes; of an empty record its terminator is read. */
static uint64_t end_of(const struct sp__gathered *r)
{
	return r->offset + sp__max(r->bytes, 1);
}

static bool covers(const struct piece *p, const struct sp__gathered *r)
{
	return r->offset >= p->begin && end_of(r) <= p->end;
}

static void make_ready(struct sp__gather *f, struct want *w)
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

static void lay(struct sp__gather *f, struct want *w, struct piece *p)
{
	w->piece = p;
	p->wants++;
	p->used = ++f->clock;
	f->nwaiting--;
	if (!p->reading) {
		make_ready(f, w);
		return;
	}
	w->mate = p->on;
	p->on = w;
}

static struct piece *find(const struct sp__gather *f, const struct sp__gathered *r)
{
	for (unsigned i = 0; i < f->npieces; i++)
		if (covers(&f->pieces[i], r))
			return &f->pieces[i];
	return NULL;
}

static unsigned count_free(const struct sp__gather *f)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->npieces; i++)
		n += !f->pieces[i].wants;
	return n;
}

/* Bytes of own memory that a record needs. */
static size_t own_memory_bytes(const struct sp__gather *f, const struct sp__gathered *r)
{
	size_t bytes = sp__request_capacity(f->opts.volume, (size_t)(end_of(r) - r->offset));

	return bytes > f->piece_bytes ? bytes : 0;
}

/* Assigns wants to existing chunks; the others, in the order of requests, are the batch. */
static unsigned choose_batch(struct sp__gather *f)
{
	struct want *w = TAILQ_LAST(&f->asked, wants), *next;
	unsigned n = 0, free_pieces = count_free(f);
	uint64_t own = f->own_bytes, more;

	for (unsigned i = 1; i < f->nwaiting; i++)
		w = TAILQ_PREV(w, wants, link);
	for (; w && n < free_pieces; w = next) {
		struct piece *p = find(f, &w->record);

		next = TAILQ_NEXT(w, link);
		if (p) {
			free_pieces -= !p->wants;
			if (free_pieces < n)
				break;
			f->counts.shared++;
			lay(f, w, p);
			continue;
		}
		more = own_memory_bytes(f, &w->record);
		if (own && more && own + more > f->opts.memory_bytes)
			break;
		own += more;
		f->batch[n++] = w;
	}
	return n;
}

static int by_offset(const void *a, const void *b)
{
	const struct want *x = *(struct want *const *)a, *y = *(struct want *const *)b;

	return SP__ORDER(x->record.offset, y->record.offset);
}

static struct piece *free_piece(struct sp__gather *f)
{
	struct piece *best = NULL;

	for (unsigned i = 0; i < f->npieces; i++) {
		struct piece *p = &f->pieces[i];

		if (!p->wants && (!best || p->used < best->used))
			best = p;
	}
	return best;
}

static void read_done(struct sp__owned_request *r)
{
	struct piece *p = (struct piece *)(void *)r;
	struct sp__gather *f = r->owner;
	struct want *w = p->on, *next;

	p->reading = false;
	p->on = NULL;
	for (; w; w = next) {
		next = w->mate;
		make_ready(f, w);
	}
	if (r->req.result > 0)
		f->counts.bytes += (uint64_t)r->req.result;
}

/* Counts the wants of the batch from i on that fit into one chunk; *end: the end of their bytes. */
static unsigned group(const struct sp__gather *f, unsigned i, unsigned n, uint64_t *end)
{
	const struct sp__gather_opts *o = &f->opts;
	const uint64_t begin = f->batch[i]->record.offset, align = o->volume->align_bytes;
	unsigned k;

	*end = end_of(&f->batch[i]->record);
	for (k = i + 1; k < n; k++) {
		const struct sp__gathered *r = &f->batch[k]->record;
		uint64_t block_end = (*end + align - 1) / align * align;
		uint64_t to = sp__max(*end, end_of(r));

		if (r->offset >= block_end + o->gap_bytes ||
		    sp__request_capacity(o->volume, (size_t)(to - begin)) > f->piece_bytes)
			break;
		*end = to;
	}
	return k;
}

static int own_memory(struct sp__gather *f, struct piece *p, size_t bytes)
{
	char *memory = sp__pages_alloc(bytes, false);

	if (!memory)
		return no_memory(f);
	p->memory = memory;
	p->own_bytes = bytes;
	f->own_bytes += bytes;
	sp__budget_charge(f->opts.budget, bytes);
	return 0;
}

/* Reads the wants of the batch from i to k - 1. */
static int read_piece(struct sp__gather *f, unsigned i, unsigned k, uint64_t end)
{
	struct piece *p = free_piece(f);
	const uint64_t begin = f->batch[i]->record.offset;
	const size_t own = k == i + 1 ? own_memory_bytes(f, &f->batch[i]->record) : 0;
	uint64_t known = begin;

	empty_piece(f, p);
	if (own && own_memory(f, p, own) < 0)
		return -ENOMEM;
	(void)sp__request_aim(&p->read, f->opts.volume, begin, (size_t)(end - begin), p->memory);
	p->read.done = read_done;
	p->read.owner = f;
	p->begin = p->read.req.offset;
	p->end = p->begin + p->read.req.bytes;
	p->reading = true;
	for (; i < k; i++) {
		const struct sp__gathered *r = &f->batch[i]->record;

		if (end_of(r) <= known)
			f->counts.shared++;
		else if (known > begin)
			f->counts.coalesced++;
		known = sp__max(known, end_of(r));
		lay(f, f->batch[i], p);
	}
	f->counts.reads++;
	return sp__requests_add(f->opts.reads, &p->read);
}

int sp__gather_flush(struct sp__gather *f)
{
	unsigned n = f->nwaiting && !f->error ? choose_batch(f) : 0, k;
	uint64_t end;

	qsort(f->batch, n, sizeof(struct want *), by_offset);
	for (unsigned i = 0; i < n && !f->error; i = k) {
		k = group(f, i, n, &end);
		f->error = read_piece(f, i, k, end);
	}
	if (!f->error)
		f->error = sp__requests_flush(f->opts.reads);
	return f->error;
}

/* Taking. */

void sp__gather_release(struct sp__gather *f)
{
	if (f->pinned)
		leave(f, f->pinned);
	f->pinned = NULL;
}

/* Returns a want whose record has arrived. */
static struct want *next_ready(struct sp__gather *f)
{
	struct want *w = f->opts.ordered ? TAILQ_FIRST(&f->asked) : f->ready;

	if (!w || !w->ready)
		return NULL;
	if (!f->opts.ordered)
		f->ready = w->mate;
	return w;
}

int sp__gather_take(struct sp__gather *f, struct sp__gathered *record)
{
	struct want *w;
	int rc;

	sp__gather_release(f);
	if (f->error)
		return f->error;
	if (TAILQ_EMPTY(&f->asked))
		return SP_END;
	w = next_ready(f);
	if (!w)
		return SP_LATER;
	f->pinned = w;
	w->record.data = w->piece->memory + (w->record.offset - w->piece->begin);
	rc = sp__request_result(&w->piece->read, w->record.data,
				(size_t)(end_of(&w->record) - w->record.offset));
	if (rc < 0) {
		f->error = sp__volume_err(f->opts.err, f->opts.volume, rc, "read",
					  (long long)w->record.offset);
		return f->error;
	}
	*record = w->record;
	return SP_READY;
}

const struct sp__gather_counts *sp__gather_counts(const struct sp__gather *f)
{
	return &f->counts;
}
