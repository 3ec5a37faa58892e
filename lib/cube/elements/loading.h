/* SPDX-License-Identifier: MIT */
/*
 * Loads a box of elements, which is the end of the dataset along one dimension or the whole
 * dataset, from an input in sequence.
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
	uint64_t layer; /* start along the slowest dimension of the input */
	struct sp__tiles tiles;
	uint64_t bytes;
};

struct sp__loading {
	struct sp__cubefile *file;
	struct sp_cube_stats *stats;
	struct sp_errinfo *err;
	struct sp__loadinput input;	  /* without a name: all elements have the fill value */
	unsigned order[SP_CUBE_DIMS_MAX]; /* order of the input, or 0, 1, ... */
	/*
	 * The input begins at this element of a dimension.  If that is inside a tile or an extent,
	 * keep() reads the elements of a box before it into kept.
	 */
	unsigned dim;
	uint64_t first;
	struct sp__growth growth;
	int (*keep)(struct sp__loading *l, const struct sp_cube_box *box);
	struct sp__tiles kept;
	uint64_t layer; /* layer at which slabs begin */
	bool whole;	/* check the length of the input before anything is changed */
	/*
	 * For sp__loading_aside() without an input: changes the new fragment, a copy of the old
	 * elements, under the new superblock; nothing else refers to it yet.
	 */
	int (*change)(void *arg);
	void *arg;
	/* Called once, after the first slab is read; then NULL. */
	int (*begin)(struct sp__loading *l);
	/* Called before each slab that begins at a layer of the slowest dimension of the input. */
	int (*progress)(struct sp__loading *l, uint64_t layer);
	uint64_t noted;			   /* bytes since progress was last recorded */
	uint64_t length[SP_CUBE_DIMS_MAX]; /* elements of a slab along each dimension */
	uint64_t slab_bytes;
	uint8_t *buffer[2];		 /* a slab each; equal if nothing is read ahead */
	uint64_t buffer_bytes;		 /* total */
	const struct sp__loadslab *slab; /* being written */
	struct sp__transfers transfers;
	struct sp__extents extents;
	/* Until it is joined, the task owns the input and the slab that it reads. */
	struct sp__task reading;
	const struct sp__loadslab *read;
	struct sp_errinfo read_err;
	int read_rc;
};

/* Allocates buffers, and skips to the first element of the input. */
SP_MUST_CHECK int sp__loading_open(struct sp__loading *l);
/* Loads from a layer of the slowest dimension of the input on; a multiple of the unit. */
SP_MUST_CHECK int sp__loading_slabs(struct sp__loading *l, uint64_t layer);
void sp__loading_close(struct sp__loading *l);

/*
 * load.c: write the state of a load: the number of complete layers of the slowest dimension of the
 * input.  sp__load_begin() is called before cells change; sp__load_note() first waits for the cells
 * that were written.
 * order: order of the input.
 */
SP_MUST_CHECK int sp__load_begin(struct sp__cubefile *c, enum sp__cube_loading loading,
				 const unsigned *order, uint64_t layers, struct sp_errinfo *err);
SP_MUST_CHECK int sp__load_note(struct sp__cubefile *c, enum sp__cube_loading loading,
				const unsigned *order, uint64_t layers, struct sp_errinfo *err);

/*
 * append.c: loads all elements into a new fragment that replaces all others when it is complete.
 * Until then, and after an error, the cube is unchanged.  Without an input the old elements are
 * copied and changed.  Returns 0; 1: the volumes do not have the space, and nothing was done; or an
 * error.
 */
SP_MUST_CHECK int sp__loading_aside(struct sp__loading *l);
