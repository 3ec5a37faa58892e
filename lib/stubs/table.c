/* SPDX-License-Identifier: MIT */
/*
 * Lists the stubs of all libraries.
 */
#include "stubs/stubs.h"

const struct sp__stubs *const sp__stub_table[SP__LIBRARIES] = {
	[SP__LIB_URING] = &sp__uring_stubs,	[SP__LIB_AIO] = &sp__aio_stubs,
	[SP__LIB_JANSSON] = &sp__jansson_stubs, [SP__LIB_XXHASH] = &sp__xxhash_stubs,
	[SP__LIB_LZ4] = &sp__lz4_stubs,		[SP__LIB_ZSTD] = &sp__zstd_stubs,
	[SP__LIB_MD] = &sp__md_stubs,		[SP__LIB_M] = &sp__m_stubs,
#ifdef SP_HAVE_ZLIB
	[SP__LIB_ZLIB] = &sp__z_stubs,
#endif
#ifdef SP_HAVE_LZMA
	[SP__LIB_LZMA] = &sp__lzma_stubs,
#endif
};
