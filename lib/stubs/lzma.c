/* SPDX-License-Identifier: MIT */
/*
 * Defines the stubs of liblzma, if the program is built with it.
 */
#ifdef SP_HAVE_LZMA
#include <lzma.h>
#include "stubs/stubs.h"

#define LIST(S, S_FREE, S_OPTIONAL)                                                                \
	S(lzma_ret, lzma_stream_decoder, (lzma_stream * stream, uint64_t limit, uint32_t flags),   \
	  (stream, limit, flags))                                                                  \
	S(lzma_ret, lzma_code, (lzma_stream * stream, lzma_action action), (stream, action))       \
	S(uint64_t, lzma_memusage, (const lzma_stream *stream), (stream))                          \
	S(void, lzma_end, (lzma_stream * stream), (stream))

SP__STUBS(lzma, "liblzma5 (Debian) or xz-libs (Fedora)", LIST);
#endif
