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
	S(lzma_bool, lzma_lzma_preset, (lzma_options_lzma * how, uint32_t preset), (how, preset))  \
	S(size_t, lzma_stream_buffer_bound, (size_t bytes), (bytes))                               \
	S(lzma_ret, lzma_stream_buffer_encode,                                                     \
	  (lzma_filter * filters, lzma_check check, const lzma_allocator *allocator,               \
	   const uint8_t *in, size_t in_bytes, uint8_t *out, size_t *out_pos, size_t capacity),    \
	  (filters, check, allocator, in, in_bytes, out, out_pos, capacity))                       \
	S(uint64_t, lzma_memusage, (const lzma_stream *stream), (stream))                          \
	S(void, lzma_end, (lzma_stream * stream), (stream))

SP__STUBS(lzma, "liblzma5 (Debian) or xz-libs (Fedora)", LIST);
#endif
