/* SPDX-License-Identifier: MIT */
/*
 * Copies values to buffers of cells, and writes these by asynchronous requests.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>
#include "base/array.h"
#include "base/delay.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "columns/vector.h"
#include "io/engine.h"
#include "table/file/cell.h"
#include "table/write/bounds.h"
#include "table/write/slabs.h"

/* Keeps the first error.  Called with the lock. */
static void fail(struct sp__slabs *s, const struct sp__slab *slab, enum sp__op op, int rc)
{
	const struct sp__cell_location at = sp__tablefile_locate(s->file, slab->first);

	if (s->error)
		return;
	s->failed = (struct sp_errinfo)SP_ERRINFO_INIT;
	s->error = sp__volume_err(&s->failed, at.volume, rc, op == SP__OP_READ ? "read" : "write",
				  (long long)at.offset);
}

/* Returns the first error, recorded. */
static int error_of(struct sp__slabs *s)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = s->error;
	if (rc)
		*s->err = s->failed;
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static void put(struct sp__slabs *s, struct sp__slab **list, struct sp__slab *slab)
{
	pthread_mutex_lock(&s->lock);
	slab->next = *list;
	*list = slab;
	pthread_mutex_unlock(&s->lock);
}

static struct sp__slab *take(struct sp__slabs *s, struct sp__slab **list)
{
	struct sp__slab *slab;

	pthread_mutex_lock(&s->lock);
	slab = *list;
	if (slab)
		*list = slab->next;
	pthread_mutex_unlock(&s->lock);
	return slab;
}

static void clean(struct sp__slab *slab)
{
	if (slab->used)
		memset(slab->data, 0, (size_t)slab->pool->cells * slab->pool->cell_bytes);
	slab->used = false;
}

void sp__slabs_write_plain(struct sp__slabs *s)
{
	s->plain = !s->queued;
	for (struct sp__slab *slab = s->free; s->plain && slab; slab = slab->next)
		clean(slab);
}

void sp__slab_give(struct sp__slab *slab)
{
	struct sp__slabs *s = slab->pool;

	slab->used = true;
	if (s->plain)
		clean(slab);
	put(s, &s->free, slab);
}

static void completed(struct sp__io_owner *owner, struct sp__request *request)
{
	struct sp__slab *slab = (struct sp__slab *)owner;
	struct sp__slabs *s = slab->pool;
	int rc = request->result;

	if (rc >= 0)
		rc = (uint32_t)rc == request->bytes ? 0 : -EIO;
	pthread_mutex_lock(&s->lock);
	if (rc)
		fail(s, slab, request->op, rc);
	pthread_mutex_unlock(&s->lock);
	if (request->op == SP__OP_WRITE)
		sp__slab_give(slab);
}

uint32_t sp__slab_cells(uint32_t cell_bytes, unsigned n, uint64_t bytes)
{
	return (uint32_t)(sp__min(sp__max(bytes / n, cell_bytes), SP__SLAB_BYTES) / cell_bytes);
}

int sp__slabs_open(struct sp__slabs *s, const struct sp__queue_opts *opts,
		   struct sp__tablefile *file, unsigned n, uint64_t bytes, struct sp_errinfo *err)
{
	const uint32_t cell_bytes = file->layout.cell_bytes;
	struct sp__queue_opts o = *opts;

	*s = (struct sp__slabs){ .file = file,
				 .err = err,
				 .cell_bytes = cell_bytes,
				 .cells = sp__slab_cells(cell_bytes, n, bytes),
				 .n = n };
	pthread_mutex_init(&s->lock, NULL);
	s->queued = file->cells.first.volume->machine || file->cells.first.volume->direct ||
		    o.trace || !sp__engine_is_auto(o.engine);
	s->memory_bytes = (uint64_t)n * s->cells * cell_bytes;
	s->all = calloc(n, sizeof(*s->all));
	s->records = calloc((size_t)n * s->cells, sizeof(*s->records));
	s->memory = sp__pages_alloc(s->memory_bytes, false);
	if (!s->all || !s->records || !s->memory)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_charge(&file->env.budget, s->memory_bytes);
	for (unsigned i = n; i-- > 0; s->free = &s->all[i])
		s->all[i] =
			(struct sp__slab){ .owner.completed = completed,
					   .pool = s,
					   .next = s->free,
					   .records = s->records + (size_t)i * s->cells,
					   .data = s->memory + (size_t)i * s->cells * cell_bytes };
	s->depth = o.depth = (unsigned)sp__min(n, o.depth ? o.depth : SP__SLABS_DEPTH);
	return sp__requests_open(&s->requests, &o, err);
}

void sp__slabs_close(struct sp__slabs *s)
{
	if (s->requests.queue)
		sp__requests_close(&s->requests);
	if (s->memory) {
		sp__pages_free(s->memory, s->memory_bytes);
		sp__budget_credit(&s->file->env.budget, s->memory_bytes);
	}
	if (s->file)
		pthread_mutex_destroy(&s->lock);
	free(s->records);
	free(s->all);
	*s = (struct sp__slabs){ 0 };
}

/* Waits for a completed request, if one is outstanding. */
static int wait(struct sp__slabs *s)
{
	struct sp__waits waits = { 0 };
	int rc;

	sp__requests_later(&s->requests, &waits);
	rc = sp__waits_block(&waits);
	if (rc >= 0)
		rc = sp__requests_collect(&s->requests);
	return rc < 0 ? rc : error_of(s);
}

static int add(struct sp__slab *slab, enum sp__op op)
{
	struct sp__slabs *s = slab->pool;
	const struct sp__cell_location at = sp__tablefile_locate(s->file, slab->first);
	int rc = error_of(s);

	while (!rc && sp__queue_outstanding(s->requests.queue) >= s->depth)
		rc = wait(s);
	slab->request = (struct sp__request){ .op = op,
					      .volume = at.volume,
					      .offset = at.offset,
					      .data = slab->data,
					      .bytes = slab->cells * s->cell_bytes,
					      .owner = &slab->owner };
	if (!rc)
		rc = sp__requests_add(&s->requests, &slab->request);
	if (!rc)
		rc = sp__requests_collect(&s->requests);
	return rc ? rc : error_of(s);
}

/* Requests to write the buffers that are sealed. */
static int write_sealed(struct sp__slabs *s)
{
	struct sp__slab *slab;
	int rc = 0;

	while (!rc && (slab = take(s, &s->sealed)))
		rc = add(slab, SP__OP_WRITE);
	return rc;
}

/* Waits for a task that has uses of buffers, or ends those that no task has yet. */
static bool relieve(struct sp__slabs *s)
{
	if (!s->fills)
		return false;
	if (s->relieve(s->relieve_arg))
		return true;
	if (!s->fills->n)
		return false;
	sp__fills_run(s->fills);
	return true;
}

int sp__slabs_get(struct sp__slabs *s, struct sp__slab **slab)
{
	int rc = error_of(s);

	*slab = NULL;
	while (!rc && !(*slab = take(s, &s->free))) {
		rc = write_sealed(s);
		if (!rc && !sp__queue_outstanding(s->requests.queue) && relieve(s))
			continue;
		if (!rc)
			rc = wait(s);
	}
	if (rc)
		return rc;
	atomic_store(&(*slab)->uses, 1);
	(*slab)->copied = false;
	return 0;
}

void sp__slab_seal(struct sp__slab *slab, uint64_t first, uint32_t cells, enum sp__cell_kind kind)
{
	struct sp__slabs *s = slab->pool;
	uint64_t contents = 0;

	for (uint32_t i = 0; i < cells; i++) {
		uint8_t *cell = slab->data + (size_t)i * s->cell_bytes;

		sp__cell_seal(cell, s->cell_bytes, kind == SP__CELL_VALUES ? slab->records[i] : 0,
			      kind, s->file->superblock.id, first + i);
		contents += sp__cell_digest(cell, s->cell_bytes, first + i);
	}
	pthread_mutex_lock(&s->lock);
	s->contents += slab->copied ? 0 : contents;
	pthread_mutex_unlock(&s->lock);
}

/* Writes a sealed buffer without a queue. */
static void write_plain(struct sp__slab *slab)
{
	struct sp__slabs *s = slab->pool;
	const struct sp__cell_location at = sp__tablefile_locate(s->file, slab->first);
	const size_t bytes = (size_t)slab->cells * s->cell_bytes;
	int rc = sp__write_whole(at.volume->fd, slab->data, bytes, at.offset);

	pthread_mutex_lock(&s->lock);
	s->io.write_requests++;
	s->io.write_bytes += rc ? 0 : bytes;
	if (rc)
		fail(s, slab, SP__OP_WRITE, rc);
	pthread_mutex_unlock(&s->lock);
	sp__slab_give(slab);
}

/* Ends a use. */
static void slab_end_use(struct sp__slab *slab)
{
	sp__delay(SP__DELAY_BUFFER);
	if (atomic_fetch_sub(&slab->uses, 1) > 1)
		return;
	sp__slab_seal(slab, slab->first, slab->cells, slab->kind);
	if (slab->pool->plain)
		write_plain(slab);
	else
		put(slab->pool, &slab->pool->sealed, slab);
}

void sp__slab_own(struct sp__slab *slab)
{
	while (atomic_load(&slab->uses) > 1)
		if (!relieve(slab->pool))
			return;
}

/* Has the task of the present fills end the use of a buffer, and seal it. */
static bool leave_use(struct sp__slab *slab)
{
	struct sp__fills *f = slab->pool->fills;

	if (!f || !SP__ARRAY_GROW(f->list, f->capacity, f->n + 1))
		return false;
	f->list[f->n++] = (struct sp__fill){ .slab = slab, .group = UINT32_MAX };
	return true;
}

int sp__slab_write(struct sp__slab *slab, uint64_t first, uint32_t cells, enum sp__cell_kind kind)
{
	struct sp__slabs *s = slab->pool;
	const struct sp__cell_location at = sp__tablefile_locate(s->file, first);
	int rc = sp__tablefile_check_end(at.volume, at.name,
					 at.offset + (uint64_t)cells * s->cell_bytes, s->err);

	if (rc) {
		sp__slab_own(slab);
		sp__slab_give(slab);
		return rc;
	}
	slab->first = first;
	slab->cells = cells;
	slab->kind = kind;
	s->cells_written += cells;
	if (!leave_use(slab))
		slab_end_use(slab);
	return write_sealed(s) ?: error_of(s);
}

int sp__slab_read(struct sp__slab *slab, uint64_t first, uint32_t cells)
{
	int rc = sp__slabs_drain(slab->pool);

	slab->first = first;
	slab->cells = cells;
	if (!rc)
		rc = add(slab, SP__OP_READ);
	return rc ? rc : sp__slabs_drain(slab->pool);
}

int sp__slabs_drain(struct sp__slabs *s)
{
	int rc;

	while (relieve(s))
		;
	rc = write_sealed(s);
	if (!rc)
		rc = error_of(s);
	if (!rc)
		rc = sp__requests_flush(&s->requests);
	while (!rc && sp__queue_outstanding(s->requests.queue))
		rc = wait(s);
	return rc ? rc : error_of(s);
}

/* The ends of texts are where the writer has put them: in the references. */
static const uint8_t *values_of(const struct sp__column_values *c, const struct sp__value_type *t,
				uint32_t at, size_t *stride)
{
	*stride = t->kind == 't' ? sizeof(*c->refs) : t->bytes;
	return (t->kind == 't' ? (const uint8_t *)&c->refs->at : c->values) + at * *stride;
}

void sp__fill_copy(const struct sp__tablefile *file, const struct sp__column_values *columns,
		   const struct sp__fill *f)
{
	const struct sp__table_layout *l = &file->layout;
	const struct sp__column_group *group = &l->groups[f->group];
	uint8_t *cell = f->slab->data + (size_t)f->cell * l->cell_bytes;

	for (uint32_t i = 0; i < group->ncolumns; i++) {
		const uint32_t column = group->columns[i];
		const struct sp__column_place *p = &l->places[column];
		size_t stride;
		const uint8_t *from = values_of(&columns[column],
						&file->schema.columns[column].type, f->at, &stride);

		sp__strided_copy(cell + p->base + (size_t)f->record * p->stride, p->stride, from,
				 stride, p->bytes, f->n);
	}
}

/* Extends bounds by others. */
static void extend(struct sp__bounds *b, const struct sp__value_type *t,
		   const struct sp__bounds *more)
{
	sp__bounds_add(b, t, more->min, 1);
	sp__bounds_add(b, t, more->max, 1);
}

static void add_bounds(const struct sp__fills *f, const struct sp__fill_part *part)
{
	const struct sp__schema *s = &f->file->schema;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct sp__value_type *t = &s->columns[i].type;
		struct sp__bounds own;

		if (!s->columns[i].bounds)
			continue;
		sp__bounds_begin(&own, t);
		sp__bounds_add(&own, t, f->columns[i].values + (size_t)part->at * t->bytes,
			       part->n);
		pthread_mutex_lock(&part->row->lock);
		extend(&part->row->bounds[i], t, &own);
		pthread_mutex_unlock(&part->row->lock);
	}
	sp__delay(SP__DELAY_BUFFER);
	atomic_fetch_sub(&part->row->uses, 1);
}

void sp__fills_run(struct sp__fills *f)
{
	if (f->prepare)
		f->prepare(f->prepare_arg);
	f->prepare = NULL;
	for (size_t i = 0; i < f->nparts; i++)
		add_bounds(f, &f->parts[i]);
	for (size_t i = 0; i < f->n; i++) {
		if (f->list[i].group != UINT32_MAX)
			sp__fill_copy(f->file, f->columns, &f->list[i]);
		sp__delay(SP__DELAY_BUFFER);
		slab_end_use(f->list[i].slab);
	}
	f->n = f->nparts = 0;
}

void sp__fills_free(struct sp__fills *f)
{
	free(f->list);
	free(f->parts);
	*f = (struct sp__fills){ 0 };
}
