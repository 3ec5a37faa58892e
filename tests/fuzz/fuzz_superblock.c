/* SPDX-License-Identifier: MIT */
/*
 * Reads superblocks of cubes with a valid checksum.  One that is accepted has a mapping that
 * answers both ways without overflow, and is written as it was read.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "cube/file/superblock.h"
#include "../unit/cubewalk.h"

#define PREFIX 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

static uint64_t min_blocks, seen;

static int count(void *arg, uint64_t first, uint64_t cells)
{
	const struct sp__cube_superblock *h = arg;

	(void)sp__basicgrid_volume(&h->fragments.list[0]->mapping.basic, &first);
	require(first >= min_blocks);
	require(first + cells * h->cell_blocks <= sp__fragments_end(&h->fragments));
	seen += cells;
	return seen > 4096;
}

/* Cells at the ends and between them. */
static void ask(struct sp__cube_superblock *h)
{
	const struct sp__fragments *p = &h->fragments;
	struct sp_cube_box box = { 0 };
	uint64_t x[SP_CUBE_DIMS_MAX], back[SP_CUBE_DIMS_MAX], cells = 1;

	min_blocks = sp__fragments_begin(p);
	require(min_blocks >= 2 * (uint64_t)h->slots.slot_bytes / h->block_bytes);
	require(sp__fragments_end(p) <= (UINT64_C(1) << 62) / h->block_bytes);
	for (uint64_t part = 0; part <= 4; part++) {
		for (unsigned i = 0; i < h->shape.ndims; i++)
			x[i] = ((h->shape.dims[i] - 1) / h->shape.tile[i]) / 4 * part;
		require(sp__fragments_cell(p, sp__fragments_block(p, x), back));
		require(!memcmp(x, back, h->shape.ndims * sizeof(*x)));
	}
	(void)sp__fragments_cell(p, 0, back);
	(void)sp__fragments_cell(p, UINT64_MAX - 1, back);
	for (unsigned i = 0; i < h->shape.ndims; i++) {
		box.stride[i] = 1;
		box.lo[i] = (h->shape.dims[i] - 1) / h->shape.tile[i] / 2;
		box.hi[i] = (h->shape.dims[i] - 1) / h->shape.tile[i];
		if (box.hi[i] > box.lo[i] + 2)
			box.hi[i] = box.lo[i] + 2;
		cells *= box.hi[i] - box.lo[i] + 1;
	}
	seen = 0;
	if (cells <= 4096 && h->shape.ndims <= 8) {
		require(!walk_all(p, &box, count, h));
		require(seen == cells);
	}
}

static void try_head(const uint8_t *data, size_t bytes)
{
	struct sp__cube_superblock h, again;
	const char *reason = NULL;
	uint8_t *copy;
	size_t length;
	int rc = sp__cube_superblock_decode(&h, data, bytes, &reason);

	if (rc) {
		require(reason && (rc == SP_EFORMAT || rc == SP_ECORRUPT));
		return;
	}
	rc = sp__cube_superblock_settle(&h);
	require(rc == 0 || rc == -ENOSPC || rc == SP_EUNSUP || rc == -ERANGE || rc == -EINVAL);
	if (!rc && h.points)
		require(sp__cube_superblock_end(&h) <= (UINT64_C(1) << 62) / h.block_bytes);
	else if (!rc)
		ask(&h);
	copy = sp__cube_superblock_encode(&h, &length);
	require(copy && !memcmp(copy, data, PREFIX + data[28] + data[29] * 256u));
	require(!sp__cube_superblock_decode(&again, copy, length, &reason));
	sp__cube_superblock_free(&again);
	sp__cube_superblock_free(&h);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy = calloc(1, bytes + 1);
	uint64_t sum;

	require(copy);
	if (bytes)
		memcpy(copy, data, bytes);
	try_head(copy, bytes);
	if (bytes >= PREFIX) { /* the same with a checksum that is right */
		sum = sp__checksum(copy + PREFIX, bytes - PREFIX);
		memcpy(copy, "SPCUBE\r\n\2\0\0\0\0\0\0", 16);
		copy[8] += data[8] % 2; /* version 2 or 3 */
		for (unsigned i = 0; i < 8; i++)
			copy[16 + i] = (uint8_t)(sum >> 8 * i);
		for (unsigned i = 0; i < 4; i++)
			copy[28 + i] = (uint8_t)((bytes - PREFIX) >> 8 * i);
		try_head(copy, bytes);
	}
	free(copy);
	return 0;
}
