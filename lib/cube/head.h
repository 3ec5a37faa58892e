/* SPDX-License-Identifier: MIT */
/*
 * The head of a cube: all that is known of it, and its form in the file (spindle-cube(5)).
 *
 * The file begins with two places for the head, written in turn, each with a number and a
 * checksum; the valid one with the higher number counts.  So a head is replaced whole or not
 * at all.
 */
#ifndef SP__CUBE_HEAD_H
#define SP__CUBE_HEAD_H

#include "cube/mapping.h"

#define SP__CUBE_VERSION 1
#define SP__CUBE_ATTRIBUTES_MAX 256
#define SP__CUBE_ROOM_MAX (UINT32_C(64) << 20)
#define SP__BLOCK_MAX 65536
#define SP__CELL_MAX (UINT64_C(1) << 28) /* bytes */

struct sp__cube_head {
	uint64_t number;     /* of this state of the head */
	uint32_t room_bytes; /* of each of the two places */
	bool no_data, complete;
	bool loading; /* a load has begun and not ended */
	struct sp_cube_shape shape;
	uint32_t block_bytes, cell_blocks;
	uint32_t extent_cells; /* of a row along dimension 0 that share a checksum */
	uint64_t table_block;  /* first block of the table of checksums */
	uint64_t loaded;       /* layers along the slowest dimension of the load ... */
	unsigned load_order[SP_CUBE_DIMS_MAX]; /* ... in this order */
	struct sp__mapping mapping;
	uint8_t *fill;
	char *volume, *device;
	struct sp_cube_attribute *attributes;
	size_t nattributes;
};

void sp__cube_head_free(struct sp__cube_head *h);

/* The bytes of the head, zero-padded to a multiple of 4096; to be freed.  NULL: no memory. */
uint8_t *sp__cube_head_encode(const struct sp__cube_head *h, size_t *bytes);
/*
 * The reverse; zeroes h first.  SP_EFORMAT or SP_ECORRUPT with the reason in *why, -ENOMEM.
 * What it says is possible; the mapping is not initialised.
 */
SP_MUST_CHECK int sp__cube_head_decode(struct sp__cube_head *h, const uint8_t *data, size_t bytes,
				       const char **why);

/* Whether the members contradict neither each other nor arithmetic. */
bool sp__cube_head_possible(const struct sp__cube_head *h);
/*
 * Initialises the mapping, also of a copy of a head: errors of sp__mapping_init(); -ERANGE if
 * cells go beyond 2^62 bytes.
 */
SP_MUST_CHECK int sp__cube_head_place(struct sp__cube_head *h);
/* Whether blocks can have so many bytes: a power of two. */
bool sp__cube_block_possible(uint32_t bytes);
/* Cells that share a checksum. */
uint32_t sp__extent_cells(uint64_t cell_bytes);

/* Writes the head to the place whose turn it is, and waits until it is on the device. */
SP_MUST_CHECK int sp__cube_head_write(struct sp__cube_head *h, int fd, const char *path,
				      struct sp_errinfo *err);
/* Reads the newer valid head, and completes the mapping. */
SP_MUST_CHECK int sp__cube_head_read(struct sp__cube_head *h, int fd, const char *path,
				     struct sp_errinfo *err);

#endif
