/* SPDX-License-Identifier: MIT */
/*
 * An open file of a cube, with its further volumes: what all inner rooms above this one share.
 * One thread uses it.
 *
 * This room opens and closes it (open.c), and alone writes to opts, path, fd, env, drive, array and
 * pending.  Above it, each within one call and under the file's exclusive lock:
 *	superblock	changed by elements/ and points/, which write it to the file themselves
 *	fd, volumes[0]	exchanged by points/load.c, whose new file takes the name of the old one
 */
#pragma once

#include <sys/stat.h>
#include "cube/file/pointset.h"
#include "run/env.h"

/* A put that was interrupted: an extent as it is to be (cube/file/putlog.h). */
struct sp__pending {
	uint64_t block, x[SP_CUBE_DIMS_MAX]; /* of its first cell */
	uint32_t sum;
	void *record;
	uint8_t *extent; /* in record; NULL: there is none */
};

struct sp__cubefile {
	struct sp_cube_opts opts; /* run.volume: the one in use */
	char *path;
	struct sp__cube_superblock superblock;
	struct sp__pending pending;
	uint64_t cell_bytes;
	uint64_t progress_bytes; /* loaded between two notes of progress */
	struct sp__env env;
	int fd;		   /* for the head and the table of checksums */
	const char *drive; /* the simulated volume, or each of several; NULL: none */
	char *array;	   /* the specification of several as one device */
	struct sp__volume *volumes[SP_CUBE_VOLUMES_MAX]; /* for cells; own descriptors */
};

/* After an error, too, it is to be closed. */
SP_MUST_CHECK int sp__cubefile_open(struct sp__cubefile *c, const char *path,
				    const struct sp_cube_opts *opts, struct sp_errinfo *err);
/*
 * A cube on a simulated volume that has no file: its requests take time and move nothing.
 * Takes over the contents of the planned superblock.
 */
SP_MUST_CHECK int sp__cubefile_open_planned(struct sp__cubefile *c,
					    struct sp__cube_superblock *planned,
					    const struct sp_cube_opts *opts,
					    struct sp_errinfo *err);
/* Returns 0, or the error of the trace. */
int sp__cubefile_close(struct sp__cubefile *c);

/* For those who change the cube, until it is closed.  SP_ESTATE: others use it. */
SP_MUST_CHECK int sp__cube_lock(struct sp__cubefile *c, struct sp_errinfo *err);
/* SP_ESTATE: the descriptor is not that of the file with the head, which had the same name. */
SP_MUST_CHECK int sp__cube_check_same(const struct sp__cubefile *c, int fd, struct sp_errinfo *err);
/*
 * Around reads of cells, of a cube that is not open to write.  SP_ESTATE: the cube is being
 * changed, or was since it was opened.
 */
SP_MUST_CHECK int sp__cube_begin_reading(struct sp__cubefile *c, struct sp_errinfo *err);
void sp__cube_end_reading(const struct sp__cubefile *c);
/*
 * Before cells change: gives the cube and its further volumes a new generation; the next head
 * that says that the change has ended is written with marking unset.
 */
SP_MUST_CHECK int sp__cube_begin_change(struct sp__cubefile *c, struct sp_errinfo *err);

/* Requests of a simulated volume move no bytes. */
void sp__cube_hollow(struct sp__cubefile *c, bool hollow);
/* Waits until the cells that were written are on their devices. */
SP_MUST_CHECK int sp__cube_sync(const struct sp__cubefile *c, struct sp_errinfo *err);
/* Bytes of working memory for one slab of a query or a load, beside the I/O buffers. */
uint64_t sp__cube_slab_bytes(const struct sp__cubefile *c);

/* SP_ESYNTAX or -ERANGE with the reason: a box outside of the dataset. */
SP_MUST_CHECK int sp__cube_check_box(const struct sp__cubefile *c, const struct sp_cube_box *box,
				     struct sp_errinfo *err);
/* Returns SP_ECORRUPT with its message: the data at a block differ from their checksum. */
int sp__cube_damaged(const struct sp__cubefile *c, uint64_t block, struct sp_errinfo *err);
/* NULL, or what a load that was interrupted asks for. */
const char *sp__cube_unfinished(const struct sp__cube_superblock *h);
/* SP_ESTATE with the reason: a load was interrupted. */
SP_MUST_CHECK int sp__cube_check_finished(const struct sp__cubefile *c, const char *op,
					  struct sp_errinfo *err);
/* Whether elements can be read and changed; else SP_EUNSUP or SP_ESTATE with the reason. */
SP_MUST_CHECK int sp__cube_check_elements(const struct sp__cubefile *c, const char *op,
					  struct sp_errinfo *err);
/* SP_EUNSUP: the descriptor is one of the cube itself; -EISDIR. */
SP_MUST_CHECK int sp__cube_check_input(const struct sp__cubefile *c, int fd, const char *name,
				       struct sp_errinfo *err);
/* The cells that have elements of a box. */
struct sp_cube_box sp__cube_cells(const struct sp_cube_shape *s,
				  const struct sp_cube_box *elements);
/* True if a load divides coordinates. */
bool sp__load_rolled(const struct sp_cube_load_opts *opts);
