/* SPDX-License-Identifier: MIT */
/*
 * Declares MEMS storage: the contents of a model file of kind "mems", and where its blocks are.
 *
 * A location of the sled is a cylinder and a row.  There each group of tips has one block, and any
 * `active` groups can be read or written in one pass.
 *
 * Thread rule: immutable once parsed.
 */
#pragma once

#include "dev/device.h"
#include "dev/sled.h"

struct sp__mems {
	struct sp__sled sled;
	uint32_t active; /* groups, and so blocks, in a pass */
	uint32_t rows;	 /* rows of a sweep */
	uint32_t sweeps; /* sweeps of a cylinder, each with `active` groups of its own */
	uint32_t cylinders;
	uint32_t row_bits;
	int64_t half_bit_2_20; /* half the width of a bit, times 2^20 */
	int64_t speed;	       /* along the rows */
	uint64_t settle_ns;
	uint64_t pass_ps; /* a row, in 1e-12 s */
};

struct sp__mems_block {
	uint32_t cyl, row, group;
};

extern const struct sp__device_ops sp__mems_ops;

/* Returns NULL if the model is of another kind. */
const struct sp__mems *sp__model_mems(const struct sp__model *m);
struct sp__mems_block sp__mems_locate(const struct sp__mems *k, uint64_t lbn);
/* Returns the number of a block: the inverse of sp__mems_locate(). */
uint64_t sp__mems_lbn(const struct sp__mems *k, struct sp__mems_block b);
