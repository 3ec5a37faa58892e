/* SPDX-License-Identifier: MIT */
/*
 * Buffers of consecutive cells, which are sealed and written, one request each.
 *
 * A buffer belongs to the user that got it until sp__slab_write() or sp__slab_give(), then to the
 * pool.  If tasks copy values to a buffer, each has a use of it.  The thread that ends the last use
 * seals the cells.  It also writes them, if that needs no queue: then the pool's thread would be
 * one that all bytes pass.
 *
 * Thread rule: one thread uses a pool; other threads only call sp__slab_end_use().
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include "columns/vector.h"
#include "table/file/file.h"
#include "table/write/bounds.h"

#define SP__SLABS_DEPTH 64		   /* requests outstanding, by default */
#define SP__SLAB_BYTES (UINT64_C(1) << 20) /* maximum */
#define SP__SLABS_MAX 8192

struct sp__slab {
	struct sp__io_owner owner; /* must be first */
	struct sp__request request;
	struct sp__slabs *pool;
	struct sp__slab *next; /* next buffer of the free or of the sealed ones */
	uint8_t *data;	       /* cells of the buffer, in memory of the pool */
	uint32_t *records;     /* records of each cell; set by the user if they are values */
	atomic_uint uses;      /* the user's, and those of tasks */
	/* Set by sp__slab_write(): */
	uint64_t first;
	uint32_t cells;
	enum sp__cell_kind kind;
	bool used;   /* it has other bytes than zeros */
	bool copied; /* the cells had other numbers, under which their digests were added */
};

struct sp__fills;

struct sp__slabs {
	struct sp__requests requests;
	struct sp__tablefile *file;
	struct sp_errinfo *err;
	uint32_t cell_bytes, cells; /* size and number of the cells of a buffer */
	unsigned n, depth;	    /* buffers; requests outstanding, at most */
	uint8_t *memory;
	uint64_t memory_bytes;
	uint32_t *records;
	struct sp__slab *all;
	uint64_t cells_written;
	bool queued; /* the file is written by a queue in any case */
	bool plain;  /* it is written without one; free buffers have zeros */
	/*
	 * Set by a user whose tasks copy values; NULL: its thread does.  relieve() waits for the
	 * oldest task that has uses, and returns false if there is none.
	 */
	struct sp__fills *fills;
	bool (*relieve)(void *arg);
	void *relieve_arg;
	pthread_mutex_t lock; /* protects the following members */
	struct sp__slab *free;
	struct sp__slab *sealed;   /* the pool's thread requests to write them */
	uint64_t contents;	   /* sum of the digests of cells that were written */
	struct sp__io_counters io; /* writes without a queue */
	int error;		   /* the first one */
	struct sp_errinfo failed;  /* describes it */
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

/*
 * Has the threads that end the last uses write buffers without a queue, if possible; free buffers
 * then have zeros.
 */
void sp__slabs_write_plain(struct sp__slabs *s);
/* Gets a buffer of unknown contents, or of zeros; waits for one if all are being written. */
SP_MUST_CHECK int sp__slabs_get(struct sp__slabs *s, struct sp__slab **slab);
/* Gives a buffer back without writing it. */
void sp__slab_give(struct sp__slab *slab);
/* Seals the first cells of a buffer as these cells of the file, and writes them. */
SP_MUST_CHECK int sp__slab_write(struct sp__slab *slab, uint64_t first, uint32_t cells,
				 enum sp__cell_kind kind);
/* Adds a use, before sp__slab_write(). */
static inline void sp__slab_add_use(struct sp__slab *slab)
{
	atomic_fetch_add(&slab->uses, 1);
}
/* Waits until all uses but the user's have ended. */
void sp__slab_own(struct sp__slab *slab);
/* Seals the first cells of a buffer that has no other use, without writing it. */
void sp__slab_seal(struct sp__slab *slab, uint64_t first, uint32_t cells, enum sp__cell_kind kind);
/*
 * Reads these cells of the file into the buffer, which stays the caller's, after all buffers are
 * written.
 */
SP_MUST_CHECK int sp__slab_read(struct sp__slab *slab, uint64_t first, uint32_t cells);
/* Waits until all buffers are written.  Returns 0 or the first error. */
SP_MUST_CHECK int sp__slabs_drain(struct sp__slabs *s);

/*
 * Values of consecutive records on their way to cells: what the writer has placed, and a task
 * copies.
 *
 * The writer divides the records among cells and directory rows, in the order of the records, and
 * notes a fill for each cell and a part for each directory row.  sp__fills_run() copies the values,
 * and extends the bounds of the rows.  The last fill of a buffer seals its cells and writes them.
 *
 * Owner: the thread of the writer, then one task until it has ended.
 */

/* A directory row that is not written yet. */
struct sp__row_entry {
	uint64_t number;
	bool ended;		   /* it has all of its records */
	atomic_uint uses;	   /* parts outstanding */
	pthread_mutex_t lock;	   /* protects the bounds while parts are outstanding */
	struct sp__bounds *bounds; /* bounds of each column */
	struct sp__text_place
		*places; /* location of the texts of each column; the writer sets it */
	TAILQ_ENTRY(sp__row_entry) link;
};

/* Records of a cell. */
struct sp__fill {
	struct sp__slab *slab; /* group UINT32_MAX: only the use of it ends */
	uint32_t group;
	uint32_t cell;	 /* cell of the slab */
	uint32_t record; /* record of the cell */
	uint32_t at, n;	 /* records of the columns */
};

/* Records of a directory row. */
struct sp__fill_part {
	struct sp__row_entry *row;
	uint32_t at, n;
};

struct sp__fills {
	const struct sp__tablefile *file;
	/* Completes the values, before they are copied; NULL: they are complete. */
	void (*prepare)(void *arg);
	void *prepare_arg;
	const struct sp__column_values *columns;
	struct sp__fill *list;
	size_t n, capacity;
	struct sp__fill_part *parts;
	size_t nparts, parts_capacity;
};

/* Copies the values of one fill. */
void sp__fill_copy(const struct sp__tablefile *file, const struct sp__column_values *columns,
		   const struct sp__fill *f);
/* Carries out all fills and parts, and empties the lists. */
void sp__fills_run(struct sp__fills *f);
void sp__fills_free(struct sp__fills *f);
