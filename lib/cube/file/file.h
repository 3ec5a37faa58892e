/* SPDX-License-Identifier: MIT */
/*
 * The open file of a cube, with its further volumes.  All inner rooms above this one share it.
 *
 * Only this room opens and closes the files (open.c) and writes to opts, cells, path, env and
 * pending.  Rooms above it write to superblock only, within one call and under the exclusive lock;
 * elements/ and points/ change it, and also write it to the file.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include "cells/cellfile.h"
#include "cube/file/pointset.h"
#include "obs/progress.h"

/* The extent of an interrupted put, as it must become (cube/file/putlog.h). */
struct sp__pending {
	uint64_t block, x[SP_CUBE_DIMS_MAX]; /* location of its first cell */
	uint32_t sum;
	void *record;
	uint8_t *extent; /* in record; NULL: no put was interrupted */
};

struct sp__cubefile {
	struct sp_cube_opts opts;  /* run.volume: the one in use */
	struct sp__cellfile cells; /* first.fd: -1: a planned cube has no file */
	const char *path;	   /* path of the first volume */
	struct sp__cube_superblock superblock;
	struct sp__pending pending;
	uint64_t cell_bytes;
	uint64_t progress_bytes; /* loaded between two writes of the progress */
	struct sp__env env;
	struct sp__progress_phase progress;
	int counted; /* transfers with this enum sp__op add their cells; -1: none */
};

/*
 * Opens the file and volumes of a cube, whose lock the caller ends by sp__cube_end_reading().
 * Returns 0; SP_EFORMAT if it is not a cube, or not this version; SP_ECORRUPT if it is damaged;
 * SP_ESTATE if another process uses it; SP_EUNSUP; -ENOMEM; or -errno.  After an error, too, it
 * must be closed.
 */
SP_MUST_CHECK int sp__cubefile_open(struct sp__cubefile *c, const char *path,
				    const struct sp_cube_opts *opts, struct sp_errinfo *err);
/*
 * Opens a cube on a simulated volume, without a file: its requests take time and move no bytes.
 * Owns the contents of the planned superblock.  Errors as sp__cubefile_open().
 */
SP_MUST_CHECK int sp__cubefile_open_planned(struct sp__cubefile *c,
					    struct sp__cube_superblock *planned,
					    const struct sp_cube_opts *opts,
					    struct sp_errinfo *err);
/* Closes all files.  Returns 0, or the error of the trace. */
int sp__cubefile_close(struct sp__cubefile *c);

/*
 * Begins and ends a read of cells.  Unless the cube is open to write, the read shares the lock, and
 * the log of puts is read.  Returns 0; or SP_ESTATE if a writer has the cube, or has changed it
 * since it was opened.
 */
SP_MUST_CHECK int sp__cube_begin_reading(struct sp__cubefile *c, struct sp_errinfo *err);
void sp__cube_end_reading(const struct sp__cubefile *c);
/* Gives the cube and its further volumes a new generation, before cells change. */
SP_MUST_CHECK int sp__cube_begin_change(struct sp__cubefile *c, struct sp_errinfo *err);
/* Writes the superblock when the change has ended; the generation is then final. */
SP_MUST_CHECK int sp__cube_end_change(struct sp__cubefile *c, struct sp_errinfo *err);

/*
 * Begins a phase of the progress that is reported to the caller of the library.
 * counted: transfers that add their cells, an enum sp__op; -1: the caller adds other bytes.
 */
static inline void sp__cube_begin_phase(struct sp__cubefile *c, enum sp_cube_phase phase,
					int counted, uint64_t total_bytes)
{
	c->counted = counted;
	sp__progress_begin(&c->progress, (int)phase, total_bytes);
}

/* Sets what is loaded: layers along the slowest dimension of this order; the caller writes it. */
void sp__cube_set_progress(struct sp__cubefile *c, bool complete, enum sp__cube_loading loading,
			   const unsigned *order, uint64_t layers);

/* Sets whether requests of a simulated volume move no bytes. */
void sp__cube_hollow(struct sp__cubefile *c, bool hollow);
/* Waits until the cells that were written are on their devices. */
static inline int sp__cube_sync(const struct sp__cubefile *c, struct sp_errinfo *err)
{
	return sp__cellfile_sync(&c->cells, 0, err);
}
/* Returns the number of threads for work on a cube: 1 on a simulated device. */
unsigned sp__cube_threads(const struct sp__cubefile *c);
/* Returns the bytes of memory for one slab of a query or a load, without the I/O buffers. */
uint64_t sp__cube_slab_bytes(const struct sp__cubefile *c);

/* Returns 0, -ERANGE if a box is not inside the dataset, or SP_ESYNTAX if it has no elements. */
SP_MUST_CHECK int sp__cube_check_box(const struct sp__cubefile *c, const struct sp_cube_box *box,
				     struct sp_errinfo *err);
/* Returns SP_ECORRUPT with its message: the data at a block differ from their checksum. */
int sp__cube_damaged(const struct sp__cubefile *c, uint64_t block, struct sp_errinfo *err);
/* Returns what an interrupted load requires, as a text; NULL: no load was interrupted. */
const char *sp__cube_unfinished(const struct sp__cube_superblock *h);
/* Returns 0, or SP_ESTATE if a load was interrupted. */
SP_MUST_CHECK int sp__cube_check_finished(const struct sp__cubefile *c, const char *op,
					  struct sp_errinfo *err);
/* Returns 0, SP_EUNSUP if the cube has no data, or SP_ESTATE if a load was interrupted. */
SP_MUST_CHECK int sp__cube_check_elements(const struct sp__cubefile *c, const char *op,
					  struct sp_errinfo *err);
/* Returns 0, SP_EUNSUP if fd is a file of the cube itself, -EISDIR, or -errno. */
SP_MUST_CHECK int sp__cube_check_input(const struct sp__cubefile *c, int fd, const char *name,
				       struct sp_errinfo *err);
/* Returns the cells that have elements of a box. */
struct sp_cube_box sp__cube_cells(const struct sp_cube_shape *s,
				  const struct sp_cube_box *elements);
/* True if a load divides coordinates (a roll-up). */
bool sp__load_rolled(const struct sp_cube_load_opts *opts);
