/* SPDX-License-Identifier: MIT */
/*
 * Faults between the parts of a join, put there by the linker (--wrap; the Makefile lists the
 * functions): the Nth call through one of the wrapped functions loses a record, doubles it, or
 * gives it in place of another.
 */
#ifndef JOINWRAPS_H
#define JOINWRAPS_H

#include <errno.h>
#include <spindle/sort.h>
#include <stdlib.h>
#include <string.h>
#include "join/hash/stage.h"

enum wrapped { SCAN, FILL, AHEAD, ADD, WALK, SPILL, SWEEP, READ, SORTED, WRAPS };
enum fault { NONE, LOSE, DOUBLE, EXCHANGE, FAULTS };

static const char *const wrap_names[WRAPS] = {
	"read stream", "batch of an input",   "batch read ahead",
	"table",       "partition given up",  "partition written",
	"sweep",       "partition read back", "sort of the result"
};
static const char *const fault_names[FAULTS] = { "nothing", "lost", "doubled", "exchanged" };

static uint64_t calls[WRAPS];
static enum wrapped wrapped;
static enum fault fault;
static uint64_t fault_at;
static bool fired;
static struct sp_recfmt format; /* of both inputs */
static char *copy;		/* of what a fault has made of a batch or record */

/* True if this call is the faulty one. */
static bool now(enum wrapped s)
{
	calls[s]++;
	return fault && s == wrapped && !fired && calls[s] >= fault_at;
}

static void spoil(struct sp_batch *b, const struct sp_recfmt *f)
{
	const char *end = b->bytes ? sp__rec_end(f, b->data, b->bytes) : NULL;
	size_t n = end ? (size_t)(end - b->data) : 0;

	if (!n)
		return;
	free(copy);
	copy = malloc(b->bytes + n);
	if (!copy)
		abort();
	fired = true;
	if (fault == LOSE) {
		b->data += n;
		b->bytes -= n;
	} else if (fault == DOUBLE) {
		memcpy(copy, b->data, n);
		memcpy(copy + n, b->data, b->bytes);
		*b = (struct sp_batch){ copy, b->bytes + n };
	} else if (b->bytes >= 2 * n && memcmp(b->data, b->data + n, 6) != 0) {
		memcpy(copy, b->data, b->bytes);
		memcpy(copy + n, b->data, n);
		b->data = copy;
	} else {
		fired = false;
	}
}

int __real_sp__scan_next(void *scan, struct sp_batch *batch);
int __wrap_sp__scan_next(void *scan, struct sp_batch *batch);
int __wrap_sp__scan_next(void *scan, struct sp_batch *batch)
{
	int rc = __real_sp__scan_next(scan, batch);

	if (rc == SP_READY && now(SCAN))
		spoil(batch, &format);
	return rc;
}

int __real_sp__source_fill(struct sp__source *s);
int __wrap_sp__source_fill(struct sp__source *s);
int __wrap_sp__source_fill(struct sp__source *s)
{
	int rc = __real_sp__source_fill(s);
	struct sp_batch b = { s->at, (size_t)(s->end - s->at) };

	if (rc == SP_READY && now(FILL)) {
		spoil(&b, &s->format);
		s->at = b.data;
		s->end = b.data + b.bytes;
	}
	return rc;
}

bool __real_sp__source_ahead(struct sp__source *s);
bool __wrap_sp__source_ahead(struct sp__source *s);
bool __wrap_sp__source_ahead(struct sp__source *s)
{
	bool more = __real_sp__source_ahead(s);

	if (!more || !now(AHEAD))
		return more;
	fired = true;
	return __real_sp__source_ahead(s);
}

int __real_sp__table_add(struct sp__table *t, struct sp__reclist *l, const char *line, size_t bytes,
			 const struct sp__slice *key, bool apart);
int __wrap_sp__table_add(struct sp__table *t, struct sp__reclist *l, const char *line, size_t bytes,
			 const struct sp__slice *key, bool apart);
int __wrap_sp__table_add(struct sp__table *t, struct sp__reclist *l, const char *line, size_t bytes,
			 const struct sp__slice *key, bool apart)
{
	int rc = 0;

	if (now(ADD)) {
		fired = true;
		if (fault == DOUBLE)
			rc = __real_sp__table_add(t, l, line, bytes, key, apart);
		if (fault == LOSE || rc)
			return rc;
	}
	return __real_sp__table_add(t, l, line, bytes, key, apart);
}

struct sp__rec *__real_sp__table_walk(const struct sp__table *t, const struct sp__reclist *l,
				      struct sp__recwalk *w);
struct sp__rec *__wrap_sp__table_walk(const struct sp__table *t, const struct sp__reclist *l,
				      struct sp__recwalk *w);
struct sp__rec *__wrap_sp__table_walk(const struct sp__table *t, const struct sp__reclist *l,
				      struct sp__recwalk *w)
{
	struct sp__recwalk before = *w;
	struct sp__rec *r = __real_sp__table_walk(t, l, w);

	if (!r || !now(WALK))
		return r;
	fired = true;
	if (fault == LOSE)
		return __real_sp__table_walk(t, l, w);
	*w = before;
	return r;
}

int __real_sp__stage_spill(struct sp__stage *s, struct sp__partition *p, int role, const char *line,
			   size_t bytes, uint64_t key_hash);
int __wrap_sp__stage_spill(struct sp__stage *s, struct sp__partition *p, int role, const char *line,
			   size_t bytes, uint64_t key_hash);
int __wrap_sp__stage_spill(struct sp__stage *s, struct sp__partition *p, int role, const char *line,
			   size_t bytes, uint64_t key_hash)
{
	if (now(SPILL)) {
		fired = true;
		if (fault == LOSE)
			return 0;
		if (__real_sp__stage_spill(s, p, role, line, bytes, key_hash))
			return -EIO;
	}
	return __real_sp__stage_spill(s, p, role, line, bytes, key_hash);
}

int __real_sp__sweep_put(struct sp__sweep *s, unsigned partition, const char *rec, size_t bytes);
int __wrap_sp__sweep_put(struct sp__sweep *s, unsigned partition, const char *rec, size_t bytes);
int __wrap_sp__sweep_put(struct sp__sweep *s, unsigned partition, const char *rec, size_t bytes)
{
	static char kept[256];

	if (now(SWEEP) && fault != EXCHANGE) {
		fired = true;
		if (fault == LOSE)
			return 0;
		if (__real_sp__sweep_put(s, partition, rec, bytes))
			return -EIO;
	} else if (fault == EXCHANGE && wrapped == SWEEP && calls[SWEEP] == fault_at) {
		memcpy(kept, rec, bytes);
	} else if (fault == EXCHANGE && wrapped == SWEEP && calls[SWEEP] > fault_at && !fired) {
		/* In place of this one the one before once more. */
		fired = true;
		rec = kept;
	}
	return __real_sp__sweep_put(s, partition, rec, bytes);
}

int __real_sp__runread_next(void *runread, struct sp_batch *batch);
int __wrap_sp__runread_next(void *runread, struct sp_batch *batch);
int __wrap_sp__runread_next(void *runread, struct sp_batch *batch)
{
	struct sp__runread *r = runread;
	int rc = __real_sp__runread_next(runread, batch);

	if (rc == SP_READY && now(READ))
		spoil(batch, &r->splitter.format);
	return rc;
}

int __real_sp__sort_get_next(struct sp_sort *sort, struct sp_batch *batch);
int __wrap_sp__sort_get_next(struct sp_sort *sort, struct sp_batch *batch);
int __wrap_sp__sort_get_next(struct sp_sort *sort, struct sp_batch *batch)
{
	static const struct sp_recfmt lines = { .kind = SP_REC_LINE, .eol = '\n' };
	int rc = __real_sp__sort_get_next(sort, batch);

	if (rc == SP_READY && now(SORTED))
		spoil(batch, &lines);
	return rc;
}

#endif
