/* SPDX-License-Identifier: MIT */
#include <spindle/spill.h>

const struct sp_word *sp_placement_words(void)
{
	static const struct sp_word words[] = { { "contiguous", SP_PLACE_CONTIGUOUS },
						{ "track", SP_PLACE_TRACK },
						{ "semiseq", SP_PLACE_SEMISEQ },
						{ NULL, 0 } };

	return words;
}

const struct sp_word *sp_spill_compression_words(void)
{
	static const struct sp_word words[] = { { "lz4", SP_SPILL_LZ4 },
						{ "zstd", SP_SPILL_ZSTD },
						{ "none", SP_SPILL_RAW },
						{ NULL, 0 } };

	return words;
}
