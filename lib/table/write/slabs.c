/* SPDX-License-Identifier: MIT */
/*
 * Writes buffers of cells by asynchronous requests.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "table/write/slabs.h"

static void completed(struct sp__io_owner *owner, struct sp__request *request)
{
	struct sp__slab *slab = (struct sp__slab *)owner;
	struct sp__slabs *s = slab->pool;
	bool reading = request->op == SP__OP_READ;
	int rc = request->result;

	if (rc >= 0)
		rc = (uint32_t)rc == request->bytes ? 0 : -EIO;
	if (rc && !s->error)
		s->error = sp__volume_err(s->err, request->volume, rc, reading ? "read" : "write",
					  (long long)request->offset);
	if (reading)
		return;
	slab->next = s->free;
	s->free = slab;
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
	s->memory_bytes = (uint64_t)n * s->cells * cell_bytes;
	s->all = calloc(n, sizeof(*s->all));
	s->memory = sp__pages_alloc(s->memory_bytes, false);
	if (!s->all || !s->memory)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_charge(&file->env.budget, s->memory_bytes);
	for (unsigned i = n; i-- > 0; s->free = &s->all[i])
		s->all[i] =
			(struct sp__slab){ .owner.completed = completed,
					   .pool = s,
					   .next = s->free,
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
	return rc < 0 ? rc : s->error;
}

int sp__slabs_get(struct sp__slabs *s, struct sp__slab **slab)
{
	int rc = s->error;

	while (!rc && !s->free)
		rc = wait(s);
	if (rc)
		return rc;
	*slab = s->free;
	s->free = s->free->next;
	return 0;
}

static int add(struct sp__slab *slab, enum sp__op op, uint64_t first, uint32_t cells)
{
	struct sp__slabs *s = slab->pool;
	const struct sp__cell_location at = sp__tablefile_locate(s->file, first);
	int rc = s->error;

	while (!rc && sp__queue_outstanding(s->requests.queue) >= s->depth)
		rc = wait(s);
	slab->request = (struct sp__request){ .op = op,
					      .volume = at.volume,
					      .offset = at.offset,
					      .data = slab->data,
					      .bytes = cells * s->cell_bytes,
					      .owner = &slab->owner };
	if (!rc)
		rc = sp__requests_add(&s->requests, &slab->request);
	if (!rc)
		rc = sp__requests_collect(&s->requests);
	return rc ? rc : s->error;
}

int sp__slab_write(struct sp__slab *slab, uint64_t first, uint32_t cells)
{
	struct sp__slabs *s = slab->pool;
	const struct sp__cell_location at = sp__tablefile_locate(s->file, first);
	int rc = sp__tablefile_check_end(at.volume, at.name,
					 at.offset + (uint64_t)cells * s->cell_bytes, s->err);

	if (rc) {
		sp__slab_give(slab);
		return rc;
	}
	s->cells_written += cells;
	return add(slab, SP__OP_WRITE, first, cells);
}

int sp__slab_read(struct sp__slab *slab, uint64_t first, uint32_t cells)
{
	int rc = sp__slabs_drain(slab->pool);

	if (!rc)
		rc = add(slab, SP__OP_READ, first, cells);
	return rc ? rc : sp__slabs_drain(slab->pool);
}

int sp__slabs_drain(struct sp__slabs *s)
{
	int rc = s->error ? s->error : sp__requests_flush(&s->requests);

	while (!rc && sp__queue_outstanding(s->requests.queue))
		rc = wait(s);
	return rc ? rc : s->error;
}
