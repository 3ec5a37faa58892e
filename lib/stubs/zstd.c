/* SPDX-License-Identifier: MIT */
/*
 * Defines the stubs of libzstd.
 */
#include <zstd.h>
#include <zstd_errors.h>
#include "stubs/stubs.h"

#define LIST(S, S_FREE, S_OPTIONAL)                                                                \
	S(size_t, ZSTD_compressBound, (size_t bytes), (bytes))                                     \
	S(unsigned, ZSTD_isError, (size_t code), (code))                                           \
	S(ZSTD_ErrorCode, ZSTD_getErrorCode, (size_t code), (code))                                \
	S(ZSTD_CCtx *, ZSTD_createCCtx, (void), ())                                                \
	S_FREE(size_t, ZSTD_freeCCtx, (ZSTD_CCtx * context), (context))                            \
	S(size_t, ZSTD_CCtx_setParameter, (ZSTD_CCtx * context, ZSTD_cParameter p, int value),     \
	  (context, p, value))                                                                     \
	S(size_t, ZSTD_compress2,                                                                  \
	  (ZSTD_CCtx * context, void *dst, size_t capacity, const void *src, size_t bytes),        \
	  (context, dst, capacity, src, bytes))                                                    \
	S(ZSTD_DCtx *, ZSTD_createDCtx, (void), ())                                                \
	S_FREE(size_t, ZSTD_freeDCtx, (ZSTD_DCtx * context), (context))                            \
	S(size_t, ZSTD_DCtx_setParameter, (ZSTD_DCtx * context, ZSTD_dParameter p, int value),     \
	  (context, p, value))                                                                     \
	S(size_t, ZSTD_decompressDCtx,                                                             \
	  (ZSTD_DCtx * context, void *dst, size_t capacity, const void *src, size_t bytes),        \
	  (context, dst, capacity, src, bytes))                                                    \
	S(size_t, ZSTD_decompressStream,                                                           \
	  (ZSTD_DStream * context, ZSTD_outBuffer * out, ZSTD_inBuffer * in), (context, out, in))

SP__STUBS(zstd, "libzstd1 (Debian) or libzstd (Fedora)", LIST);
