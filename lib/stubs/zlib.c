/* SPDX-License-Identifier: MIT */
/*
 * Defines the stubs of zlib, if the program is built with it.
 */
#ifdef SP_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#include "stubs/stubs.h"

#define LIST(S, S_FREE, S_OPTIONAL)                                                                \
	S(int, deflateInit2_,                                                                      \
	  (z_streamp stream, int level, int method, int window, int memory, int strategy,          \
	   const char *version, int bytes),                                                        \
	  (stream, level, method, window, memory, strategy, version, bytes))                       \
	S(uLong, compressBound, (uLong bytes), (bytes))                                            \
	S(int, deflate, (z_streamp stream, int flush), (stream, flush))                            \
	S(int, deflateReset, (z_streamp stream), (stream))                                         \
	S(int, deflateSetHeader, (z_streamp stream, gz_headerp header), (stream, header))          \
	S(int, deflateEnd, (z_streamp stream), (stream))                                           \
	S(int, inflateInit2_, (z_streamp stream, int window, const char *version, int bytes),      \
	  (stream, window, version, bytes))                                                        \
	S(int, inflate, (z_streamp stream, int flush), (stream, flush))                            \
	S(int, inflateReset, (z_streamp stream), (stream))                                         \
	S(int, inflateEnd, (z_streamp stream), (stream))

SP__STUBS(z, "zlib1g (Debian) or zlib (Fedora)", LIST);
#endif
