/* SPDX-License-Identifier: MIT */
/*
 * The superblock of a cube: all that is known of it, and its form in the file (spindle-cube(5)),
 * which begins with two slots for it (datafile/superblocks.h).
 */
#pragma once

#include "cube/mapping/fragments.h"
#include "datafile/superblocks.h"

#define SP__CUBE_VERSION 2
#define SP__CUBE_VERSION_ROUNDS 3 /* with zones of rounds */
#define SP__CUBE_VERSION_LOG 2	  /* more: with a log of puts */
#define SP__FRAGMENT_BYTES(ndims) (8 * (4 + 2 * (size_t)(ndims)))
#define SP__CUBE_ATTRIBUTES_MAX 256
#define SP__BLOCK_MIN 512
#define SP__BLOCK_MAX 65536
#define SP__CELL_MAX (UINT64_C(1) << 28) /* bytes */

/* A load that has begun and not ended; the numbers are those of the file. */
enum sp__cube_loading {
	SP__LOADING_NONE,
	SP__LOADING_ALL = 2, /* of all elements in sequence */
	SP__LOADING_POINTS,  /* of points, which another load of them sets again */
	SP__LOADING_SUMS,    /* of points that are added up, which it would add twice */
};

/* Of a dataset of points (cube/file/pointset.h): what the directory is, and how full cells are. */
struct sp__cube_pointset {
	uint32_t fill, overflow;  /* fill factor and threshold of reorganisation, in 1/1000 */
	uint64_t count;		  /* points */
	uint64_t cells;		  /* that had points when the dataset was built */
	uint64_t directory_block; /* regions, then leaves */
	uint64_t nregions, nleaves;
	uint64_t regions_sum, leaves_sum; /* checksums */
	uint64_t outside_block;		  /* of the cell outside of all others */
	uint64_t leaf_block;		  /* of the first leaf, behind all regions */
	uint64_t overflow_block;	  /* of the first overflow cell */
	uint64_t overflow_cells;
	uint64_t full; /* of them, those that it had when it was built: of points at one place */
	bool outside;  /* the cell outside may have points */
};

struct sp__cube_superblock {
	struct sp__superblocks slots;
	bool no_data, complete;
	enum sp__cube_loading loading;
	struct sp_cube_shape shape;
	uint32_t block_bytes, cell_blocks;
	uint32_t extent_cells; /* of a row along dimension 0 that share a checksum */
	uint64_t loaded;       /* layers along the slowest dimension of the load ... */
	unsigned load_order[SP_CUBE_DIMS_MAX]; /* ... in this order */
	struct sp__mapping mapping; /* of a new cube; of others, how each fragment is mapped */
	struct sp__fragments fragments;
	uint64_t id;			    /* of the cube, in the headers of further volumes */
	char *volumes[SP_CUBE_VOLUMES_MAX]; /* their names; NULL: the first's and the number */
	bool points; /* no fragments, tiles are 1; of the mapping kind, order and zones count */
	struct sp__cube_pointset pointset;
	uint64_t log_offset; /* of the log of puts (cube/file/putlog.h), in bytes ... */
	uint64_t log_bytes;  /* ... and its size; 0: there is none, as in cubes of old versions */
	/*
	 * Changes of cells so far, which the headers of further volumes repeat; marking: these
	 * may still have the number before, since the last change was interrupted.
	 */
	uint64_t generation;
	bool marking;
	uint8_t *fill;
	char *volume, *device; /* the simulated one, for each of the volumes; of the geometry */
	struct sp_cube_attribute *attributes;
	size_t nattributes;
};

void sp__cube_superblock_free(struct sp__cube_superblock *h);

/* The bytes of a slot; to be freed.  NULL: no memory. */
uint8_t *sp__cube_superblock_encode(const struct sp__cube_superblock *h, size_t *bytes);
/*
 * The reverse; zeroes h first.  SP_EFORMAT or SP_ECORRUPT with the reason in *reason, -ENOMEM.
 * What it says is possible; the mapping is not initialised.
 */
SP_MUST_CHECK int sp__cube_superblock_decode(struct sp__cube_superblock *h, const uint8_t *data,
					     size_t bytes, const char **reason);

/* The first block that fragments may have: behind the heads and the log. */
uint64_t sp__cube_superblock_front(const struct sp__cube_superblock *h);
/* Elements of whole tiles, along dimension 0 of whole extents: fragments begin at a multiple. */
uint64_t sp__cube_superblock_unit(const struct sp__cube_superblock *h, unsigned dim);
/* The most blocks of a volume. */
uint64_t sp__cube_volume_blocks(const struct sp__cube_superblock *h);
/* Where cells can begin, at a block or after it: those of linear mappings at 4096 bytes. */
uint64_t sp__cube_superblock_begin(const struct sp__cube_superblock *h, uint64_t block);
/* Whether the tile fills the cell, and the dataset has at most 2^62 bytes. */
bool sp__cube_shape_possible(const struct sp__cube_superblock *h);
/* Whether the members contradict neither each other nor arithmetic. */
bool sp__cube_superblock_possible(const struct sp__cube_superblock *h);
/* Cells of the dataset along each dimension. */
void sp__cube_superblock_cells(const struct sp__cube_superblock *h, uint64_t *cells);
/*
 * Initialises the mapping of a new cube: errors of sp__mapping_init(); -ERANGE if cells go
 * beyond 2^62 bytes.
 */
SP_MUST_CHECK int sp__cube_superblock_place(struct sp__cube_superblock *h);
/*
 * Places the cells of all fragments: errors of sp__fragment_place(); -ERANGE if they go beyond 2^62
 * bytes, -EINVAL if fragments overlap, or do not make up the dataset.
 */
SP_MUST_CHECK int sp__cube_superblock_settle(struct sp__cube_superblock *h);
/* One beyond the last block of the file. */
uint64_t sp__cube_superblock_end(const struct sp__cube_superblock *h);
/* Whether blocks can have so many bytes: a power of two. */
bool sp__cube_block_possible(uint32_t bytes);
/* Cells that share a checksum. */
uint32_t sp__extent_cells(uint64_t cell_bytes);

/* Writes the next state, and waits until it is on the device. */
SP_MUST_CHECK int sp__cube_superblock_write(struct sp__cube_superblock *h, int fd, const char *path,
					    struct sp_errinfo *err);
/* Reads the newer valid superblock, and places its fragments. */
SP_MUST_CHECK int sp__cube_superblock_read(struct sp__cube_superblock *h, int fd, const char *path,
					   struct sp_errinfo *err);
