/* SPDX-License-Identifier: MIT */
/*
 * Loading a box of elements that is the end of the dataset along one dimension, or all of it,
 * from an input in sequence.
 */
#pragma once

#include "base/task.h"
#include "cube/file/extents.h"
#include "cube/elements/growth.h"
#include "cube/input/input.h"
#include "cube/mapping/tiles.h"
#include "cube/file/transfer.h"

/* Elements that are loaded together. */
struct sp__loadslab {
	struct sp_cube_box box;
	uint64_t layer; /* where it begins along the input's slowest dimension */
	struct sp__tiles tiles;
	uint64_t bytes;
};

struct sp__loading {
	struct sp__cubefile *file;
	struct sp_cube_stats *stats;
	struct sp_errinfo *err;
	struct sp__loadinput input;	  /* without a name: all elements are fill */
	unsigned order[SP_CUBE_DIMS_MAX]; /* of the input, or 0, 1, ... */
	/*
	 * The input begins at this element of a dimension.  Where that is within a tile, or an
	 * extent, keep() brings the elements of a box before it into kept.
	 */
	unsigned dim;
	uint64_t first;
	struct sp__growth growth;
	int (*keep)(struct sp__loading *l, const struct sp_cube_box *box);
	struct sp__tiles kept;
	uint64_t layer; /* at which slabs begin */
	bool whole;	/* the input is known to have the right length before anything is changed */
	/*
	 * For sp__loading_aside() without an input: the new fragment has the old elements, which
	 * this changes with the superblock as it will be; nothing else refers to it yet.
	 */
	int (*change)(void *arg);
	void *arg;
	/* Is called once, when the first slab was read; then NULL. */
	int (*begin)(struct sp__loading *l);
	/* Is called before each slab that begins at a layer of the input's slowest dimension. */
	int (*progress)(struct sp__loading *l, uint64_t layer);
	uint64_t noted;			   /* bytes since the last note of progress */
	uint64_t length[SP_CUBE_DIMS_MAX]; /* elements of a slab along each dimension */
	uint64_t slab_bytes;
	uint8_t *buffer[2];		 /* of a slab each; both the same: nothing is read ahead */
	uint64_t buffer_bytes;		 /* in all */
	const struct sp__loadslab *slab; /* is written */
	struct sp__transfer transfer;
	struct sp__extents extents;
	/* The task that reads owns the input, and the slab that it reads, until it is joined. */
	struct sp__task reading;
	const struct sp__loadslab *read;
	struct sp_errinfo read_err;
	int read_rc;
};

/* Takes memory, and brings the input to its first element. */
SP_MUST_CHECK int sp__loading_open(struct sp__loading *l);
/* Loads what begins at a layer, a multiple of the unit, of the slowest dimension of the input. */
SP_MUST_CHECK int sp__loading_slabs(struct sp__loading *l, uint64_t layer);
void sp__loading_close(struct sp__loading *l);

/*
 * load.c: write the state of a load: so many layers of the input's slowest dimension are complete.
 * The first one notes that cells change from now on; the second one waits for the cells that were
 * written.  order: of the input.
 */
SP_MUST_CHECK int sp__load_begin(struct sp__cubefile *c, enum sp__cube_loading loading,
				 const unsigned *order, uint64_t layers, struct sp_errinfo *err);
SP_MUST_CHECK int sp__load_note(struct sp__cubefile *c, enum sp__cube_loading loading,
				const unsigned *order, uint64_t layers, struct sp_errinfo *err);

/*
 * append.c: loads all elements into a new fragment that takes the place of all others when it is
 * complete; until then, and after an error, the cube is what it was.  Without an input the old
 * elements are copied and changed.  1: the volumes do not have the space, and nothing was done.
 */
SP_MUST_CHECK int sp__loading_aside(struct sp__loading *l);
