/* SPDX-License-Identifier: MIT */
/*
 * The superblock of a cube: all its properties, and their format (spindle-cube(5)).  The file
 * begins with two slots for it (cells/superblocks.h).
 */
#pragma once

#include <spindle/cube.h>
#include "cells/superblocks.h"
#include "cube/mapping/fragments.h"

#define SP__CUBE_VERSION 2
#define SP__CUBE_VERSION_ROUNDS 3 /* with zones of rounds */
#define SP__CUBE_VERSION_LOG 2	  /* more: with a log of puts */
#define SP__CUBE_VERSION_BUILT 4  /* more: points with an underflow bound, or several volumes */
#define SP__FRAGMENT_BYTES(ndims) (8 * (4 + 2 * (size_t)(ndims)))
#define SP__CUBE_ATTRIBUTES_MAX 256
#define SP__BLOCK_MIN 512
#define SP__BLOCK_MAX 65536
#define SP__CELL_MAX (UINT64_C(1) << 28) /* bytes */

/* The kind of a load that was interrupted; these numbers are in the file. */
enum sp__cube_loading {
	SP__LOADING_NONE,
	SP__LOADING_ALL = 2, /* all elements in sequence */
	SP__LOADING_POINTS,  /* from CSV; repeating it sets the same elements */
	SP__LOADING_SUMS,    /* a roll-up; repeating it would add values twice */
};

/* The directory of a dataset of points (cube/file/pointset.h), and its fill. */
struct sp__cube_pointset {
	uint32_t fill, overflow;  /* fill factor and threshold of reorganisation, in 1/1000 */
	uint32_t underflow;	  /* the other threshold; 0: none, as in old versions */
	uint64_t count;		  /* points */
	uint64_t built;		  /* points when the dataset was built; 0 without underflow */
	uint64_t cells;		  /* with points when the dataset was built */
	uint64_t directory_block; /* regions, then leaves */
	uint64_t nregions, nleaves;
	uint64_t regions_sum, leaves_sum; /* checksums */
	uint64_t outside_block;		  /* block of the cell outside of all others */
	uint64_t leaf_block;		  /* block of the first leaf, after all regions */
	uint64_t overflow_block;	  /* block of the first overflow cell */
	uint64_t overflow_cells;
	uint64_t full; /* overflow cells of the build, for points at one position */
	bool outside;  /* the cell outside has points */
};

struct sp__cube_superblock {
	struct sp__superblocks slots;
	bool no_data, complete;
	enum sp__cube_loading loading;
	struct sp_cube_shape shape;
	uint32_t block_bytes, cell_blocks;
	uint32_t extent_cells; /* cells of a row along dimension 0 that share a checksum */
	uint64_t loaded;       /* layers along the slowest dimension of the load, */
	unsigned load_order[SP_CUBE_DIMS_MAX]; /* whose order this is */
	struct sp__mapping mapping;	       /* new cube only: then each fragment has its own */
	struct sp__fragments fragments;
	uint64_t id; /* identifier of the cube, in the headers of further volumes */
	char *volumes[SP_CUBE_VOLUMES_MAX]; /* their names; NULL: the first's and the number */
	bool points; /* no fragments, tiles are 1; of the mapping kind, order and zones count */
	struct sp__cube_pointset pointset;
	uint64_t log_offset; /* offset of the log of puts (cube/file/putlog.h), in bytes */
	uint64_t log_bytes;  /* its size; 0: none, as in cubes of old versions */
	/*
	 * A random number that each change of cells draws, also in the headers of further volumes.
	 * marking: these headers can have the number before, since the last change was interrupted
	 * (cells/volumes.h).
	 */
	uint64_t generation, marking;
	uint8_t *fill;
	char *volume, *device; /* the simulated one, for each of the volumes; of the geometry */
	struct sp_cube_attribute *attributes;
	size_t nattributes;
};

void sp__cube_superblock_free(struct sp__cube_superblock *h);

/* Returns the bytes of a slot; the caller frees.  NULL: no memory. */
uint8_t *sp__cube_superblock_encode(const struct sp__cube_superblock *h, size_t *bytes);
/*
 * Decodes and validates a slot; zeroes h first, and does not initialise the mapping.  Returns 0;
 * SP_EFORMAT or SP_ECORRUPT with *reason; or -ENOMEM.
 */
SP_MUST_CHECK int sp__cube_superblock_decode(struct sp__cube_superblock *h, const uint8_t *data,
					     size_t bytes, const char **reason);

/* Returns the first block after the superblocks and the log: fragments can begin there. */
uint64_t sp__cube_superblock_front(const struct sp__cube_superblock *h);
/*
 * Returns the elements of a tile along a dimension, of an extent along dimension 0.  Fragments
 * begin at multiples of it.
 */
uint64_t sp__cube_superblock_unit(const struct sp__cube_superblock *h, unsigned dim);
/* Returns the maximum number of blocks of a volume. */
uint64_t sp__cube_volume_blocks(const struct sp__cube_superblock *h);
/* Returns the first block, from `block` on, at which cells can begin. */
uint64_t sp__cube_superblock_begin(const struct sp__cube_superblock *h, uint64_t block);
/* True if the tile fills the cell, and the dataset has at most 2^62 bytes. */
bool sp__cube_shape_possible(const struct sp__cube_superblock *h);
/* True if no member contradicts another one or leads to an overflow. */
bool sp__cube_superblock_possible(const struct sp__cube_superblock *h);
/* Sets the number of cells along each dimension. */
void sp__cube_superblock_cells(const struct sp__cube_superblock *h, uint64_t *cells);
/*
 * Initialises the mapping of a new cube.  Returns 0; -ERANGE if cells end after 2^62 bytes; or an
 * error of sp__mapping_init().
 */
SP_MUST_CHECK int sp__cube_superblock_place(struct sp__cube_superblock *h);
/*
 * Places the cells of all fragments.  Returns 0; -EINVAL if fragments overlap, end after the
 * volume, or do not make up the dataset; or an error of sp__mapping_place().
 */
SP_MUST_CHECK int sp__cube_superblock_settle(struct sp__cube_superblock *h);
/* Returns the block after the last one of the file. */
uint64_t sp__cube_superblock_end(const struct sp__cube_superblock *h);
/* True if blocks can have this size: a power of two. */
bool sp__cube_block_possible(uint32_t bytes);
/* Returns the number of cells that share a checksum. */
uint32_t sp__extent_cells(uint64_t cell_bytes);

/* Writes the next state.  Returns 0 when it is on the device, -ENOMEM, -ENOSPC or -errno. */
SP_MUST_CHECK int sp__cube_superblock_write(struct sp__cube_superblock *h, int fd, const char *path,
					    struct sp_errinfo *err);
/*
 * Reads the newer valid superblock, and places its fragments.  Returns 0, SP_EFORMAT, SP_ECORRUPT,
 * -ENOMEM or -errno.
 */
SP_MUST_CHECK int sp__cube_superblock_read(struct sp__cube_superblock *h, int fd, const char *path,
					   struct sp_errinfo *err);
