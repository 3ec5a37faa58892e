/* SPDX-License-Identifier: MIT */
/*
 * Buffers of consecutive cells that are written asynchronously, one request each.
 *
 * A buffer belongs to the user that got it until sp__slab_write() or sp__slab_give(), then to the
 * pool.
 *
 * Thread rule: one thread uses a pool.
 */
#pragma once

#include "table/file/file.h"

#define SP__SLABS_DEPTH 64		   /* requests outstanding, by default */
#define SP__SLAB_BYTES (UINT64_C(1) << 20) /* maximum */
#define SP__SLABS_MAX 8192

struct sp__slab {
	struct sp__io_owner owner; /* must be first */
	struct sp__request request;
	struct sp__slabs *pool;
	struct sp__slab *next; /* of the free ones */
	uint8_t *data;	       /* of the pool's cells */
};

struct sp__slabs {
	struct sp__requests requests;
	struct sp__tablefile *file;
	struct sp_errinfo *err;
	uint32_t cell_bytes, cells; /* of a buffer */
	unsigned n, depth;	    /* buffers; requests outstanding, at most */
	uint8_t *memory;
	uint64_t memory_bytes;
	struct sp__slab *all, *free;
	int error; /* the first one of a request */
	uint64_t cells_written;
};

/* Returns the cells of each of n buffers that have at most so many bytes together. */
uint32_t sp__slab_cells(uint32_t cell_bytes, unsigned n, uint64_t bytes);
/*
 * Allocates n buffers that have at most so many bytes together, but one cell each.  opts->depth:
 * requests outstanding; 0: the default.  Returns 0, -ENOMEM, or an error of the queue.  After an
 * error, too, the pool must be closed.
 */
SP_MUST_CHECK int sp__slabs_open(struct sp__slabs *s, const struct sp__queue_opts *opts,
				 struct sp__tablefile *file, unsigned n, uint64_t bytes,
				 struct sp_errinfo *err);
/* Waits for outstanding requests.  Accepts a struct that is all zero. */
void sp__slabs_close(struct sp__slabs *s);

/* Gets a buffer of unknown contents; waits for one if all are being written. */
SP_MUST_CHECK int sp__slabs_get(struct sp__slabs *s, struct sp__slab **slab);
/* Gives a buffer back without writing it. */
static inline void sp__slab_give(struct sp__slab *slab)
{
	slab->next = slab->pool->free;
	slab->pool->free = slab;
}
/* Writes the first cells of a buffer to these cells of the file. */
SP_MUST_CHECK int sp__slab_write(struct sp__slab *slab, uint64_t first, uint32_t cells);
/*
 * Reads these cells of the file into the buffer, which stays the caller's, after all buffers are
 * written.
 */
SP_MUST_CHECK int sp__slab_read(struct sp__slab *slab, uint64_t first, uint32_t cells);
/* Waits until all buffers are written.  Returns 0 or the first error. */
SP_MUST_CHECK int sp__slabs_drain(struct sp__slabs *s);
