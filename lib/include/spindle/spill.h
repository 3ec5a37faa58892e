/* SPDX-License-Identifier: MIT */
/*
 * Temporary data: where it lies on a device, and how it is stored.
 */
#ifndef SPINDLE_SPILL_H
#define SPINDLE_SPILL_H

#include <spindle/enum.h>

/* Where runs and partitions lie on a device with tracks (see xsort(1)). */
enum sp_placement {
	SP_PLACE_CONTIGUOUS,
	SP_PLACE_TRACK,
	SP_PLACE_SEMISEQ,
	SP_PLACE_AUTO, /* of sorts: what is predicted to take least time */
};

enum sp_spill_compression { SP_SPILL_RAW, SP_SPILL_LZ4, SP_SPILL_ZSTD };

SP_ENUM(sp_placement)
SP_ENUM(sp_spill_compression)

#endif
