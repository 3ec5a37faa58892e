/* SPDX-License-Identifier: MIT */
/*
 * Declares the contents of a model file of kind "flash"; its channels are the lanes of the model.
 */
#pragma once

#include "dev/model.h"

struct sp__flash {
	uint32_t stripe; /* blocks */
	uint32_t row;	 /* blocks that one channel programs together */
	uint64_t read_ns, program_ns;
	uint64_t ps_block; /* transfer over the channel, in 1e-12 s */
};

/* Returns NULL for other kinds. */
const struct sp__flash *sp__model_flash(const struct sp__model *m);
