/* SPDX-License-Identifier: MIT */
/*
 * Defines the stubs of liblz4.
 */
#include <lz4.h>
#include <lz4frame.h>
#include "stubs/stubs.h"

#define LIST(S, S_FREE, S_OPTIONAL)                                                                \
	S(int, LZ4_sizeofState, (void), ())                                                        \
	S(int, LZ4_compress_fast_extState,                                                         \
	  (void *state, const char *src, char *dst, int bytes, int capacity, int acceleration),    \
	  (state, src, dst, bytes, capacity, acceleration))                                        \
	S(int, LZ4_decompress_safe, (const char *src, char *dst, int bytes, int capacity),         \
	  (src, dst, bytes, capacity))                                                             \
	S(unsigned, LZ4F_isError, (LZ4F_errorCode_t code), (code))                                 \
	S(size_t, LZ4F_compressFrameBound, (size_t bytes, const LZ4F_preferences_t *how),          \
	  (bytes, how))                                                                            \
	S(size_t, LZ4F_compressFrame,                                                              \
	  (void *dst, size_t capacity, const void *src, size_t bytes,                              \
	   const LZ4F_preferences_t *how),                                                         \
	  (dst, capacity, src, bytes, how))                                                        \
	S(LZ4F_errorCode_t, LZ4F_createDecompressionContext, (LZ4F_dctx * *context, unsigned v),   \
	  (context, v))                                                                            \
	S_FREE(LZ4F_errorCode_t, LZ4F_freeDecompressionContext, (LZ4F_dctx * context), (context))  \
	S(size_t, LZ4F_decompress,                                                                 \
	  (LZ4F_dctx * context, void *dst, size_t *capacity, const void *src, size_t *bytes,       \
	   const LZ4F_decompressOptions_t *how),                                                   \
	  (context, dst, capacity, src, bytes, how))

SP__STUBS(lz4, "liblz4-1 (Debian) or lz4-libs (Fedora)", LIST);
