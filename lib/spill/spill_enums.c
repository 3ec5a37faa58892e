/* SPDX-License-Identifier: MIT */
/*
 * Names the values of the public enums of spill.h.
 */
#include <spindle/spill.h>
#include "base/enum.h"

SP__ENUM_TABLE(sp_placement, { "contiguous", SP_PLACE_CONTIGUOUS }, { "track", SP_PLACE_TRACK },
	       { "auto", SP_PLACE_AUTO }, { "semiseq", SP_PLACE_SEMISEQ },
	       { "mems", SP_PLACE_MEMS })
SP__ENUM_TABLE(sp_spill_compression, { "lz4", SP_SPILL_LZ4 }, { "zstd", SP_SPILL_ZSTD },
	       { "none", SP_SPILL_RAW })
