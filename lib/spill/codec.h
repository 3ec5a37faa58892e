/* SPDX-License-Identifier: MIT */
/*
 * Packs and unpacks one spilled page with LZ4 or Zstandard (level 1).  All memory for the intended
 * use is allocated with the codec, none for each page.
 *
 * Thread rule: a codec belongs to one thread at a time; create one for each thread.
 */
#pragma once

#include <spindle/error.h>
#include <spindle/spill.h>

struct sp__codec;

/* The use of a codec: either or both. */
#define SP__CODEC_PACKS 1u
#define SP__CODEC_UNPACKS 2u

/*
 * Creates a codec for pages of up to page_bytes.  Returns 0, -EINVAL (no such kind), -ENOMEM, or
 * the errors of sp__library_load().
 */
SP_MUST_CHECK int sp__codec_new(struct sp__codec **codec, enum sp_spill_compression kind,
				size_t page_bytes, unsigned use, struct sp_errinfo *err);
void sp__codec_free(struct sp__codec *codec); /* accepts NULL */

/* Returns the memory of such a codec in bytes, for the budget. */
size_t sp__codec_memory(enum sp_spill_compression kind, size_t page_bytes, unsigned use);

/*
 * Packs bytes of src into dst.  Returns the packed length, or 0 if it would not be less than both
 * room and bytes: then the caller stores the page raw.
 */
size_t sp__codec_pack(struct sp__codec *codec, void *dst, size_t room, const void *src,
		      size_t bytes);

/*
 * Unpacks exactly raw_bytes into dst.  Returns 0 or SP_ECORRUPT; never writes outside dst, for any
 * contents of src.
 */
SP_MUST_CHECK int sp__codec_unpack(struct sp__codec *codec, void *dst, size_t raw_bytes,
				   const void *src, size_t bytes);
