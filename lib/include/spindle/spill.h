/* SPDX-License-Identifier: MIT */
/* Placement and compression of temporary data.  It declares options only. */
#ifndef SPINDLE_SPILL_H
#define SPINDLE_SPILL_H

#include <spindle/enum.h>

/* Placements of runs and partitions on a device with tracks (see xsort(1)). */
enum sp_placement {
	SP_PLACE_CONTIGUOUS,
	SP_PLACE_TRACK,
	SP_PLACE_SEMISEQ,
	SP_PLACE_AUTO, /* sorts, tables: the placement with the minimum predicted time */
	SP_PLACE_MEMS, /* tables: at the locations of a sled (see xtable(1)) */
};

enum sp_spill_compression { SP_SPILL_RAW, SP_SPILL_LZ4, SP_SPILL_ZSTD };

SP_ENUM(sp_placement)
SP_ENUM(sp_spill_compression)

#endif
