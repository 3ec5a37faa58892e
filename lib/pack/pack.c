/* SPDX-License-Identifier: MIT */
/*
 * Packs frames by zlib, libzstd, liblz4 or liblzma.
 *
 * The levels are those of the programs gzip, zstd, lz4 and xz; all members have a checksum.  If
 * memory is short, frames are smaller, zstd has a smaller window, and without a given level zstd
 * and xz use level 1.  The window of zstd is at most 256 KiB and the dictionary of xz half a frame,
 * so that -S 2M suffices to read the output: on sorted records, larger ones save at most 4 %.
 *
 * Frames of 1 MiB: compared with one member for all, results are at most 0.8 % larger (zstd on
 * sorted lines; 0.1 to 0.3 % otherwise).  Frames of 256 KiB at level 3 of zstd cost up to 7 %.
 */
#include <stdlib.h>
#include <string.h>
#include <lz4frame.h>
#include <zstd.h>
#ifdef SP_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#ifdef SP_HAVE_LZMA
#include <lzma.h>
#endif
#include "base/err.h"
#include "base/minmax.h"
#include "pack/member.h"
#include "pack/pack.h"
#include "pack/unpack.h"

#define FRAME_BYTES (1u << 20)
#define LITTLE_FRAME_BYTES (256u << 10)

#define ZLIB_GZIP 31
#define ZLIB_MEMLEVEL 8 /* zlib's default */
#define OS_UNKNOWN 255
#define ZSTD_WINDOW 18
#define ZSTD_LITTLE_WINDOW 17
#define BOUND_BYTES (16u << 10) /* a packed frame is at most so much longer than its contents */

/* The levels up to `last` of a format, and the memory of an encoder, also for small frames. */
static const struct levels {
	enum sp_packed format;
	unsigned last;
	unsigned kib, little_kib;
} all_levels[] = {
	{ SP_PACKED_GZIP, 9, 256, 256 },   { SP_PACKED_ZSTD, 1, 600, 600 },
	{ SP_PACKED_ZSTD, 3, 1300, 1040 }, { SP_PACKED_ZSTD, 19, 5400, 3400 },
	{ SP_PACKED_LZ4, 1, 300, 300 },	   { SP_PACKED_LZ4, 12, 560, 560 },
	{ SP_PACKED_XZ, 3, 5000, 2100 },   { SP_PACKED_XZ, 9, 7100, 2700 },
};

#define LEVELS (sizeof(all_levels) / sizeof(all_levels[0]))

static const LZ4F_preferences_t lz4_preferences = {
	.frameInfo = { .blockSizeID = LZ4F_max256KB,
		       .contentChecksumFlag = LZ4F_contentChecksumEnabled },
};

struct sp__encoder {
	enum sp_packed format;
	unsigned level;
	bool little;
	struct sp_errinfo *err;
	ZSTD_CCtx *zstd;
#ifdef SP_HAVE_ZLIB
	z_stream gzip;
#endif
};

static bool is_little(uint64_t memory_bytes)
{
	return memory_bytes < SP__PACK_LITTLE;
}

unsigned sp_packed_levels(enum sp_packed format)
{
	unsigned last = 0;

	for (size_t i = 0; i < LEVELS; i++)
		if (all_levels[i].format == format)
			last = all_levels[i].last;
	return last;
}

/* Returns the level of an encoder; level: the given one, or 0. */
static unsigned level_of(enum sp_packed format, unsigned level, bool little)
{
	if (level)
		return level;
	switch (format) {
	case SP_PACKED_ZSTD:
		return little ? 1 : 3;
	case SP_PACKED_XZ:
		return little ? 1 : 6;
	case SP_PACKED_GZIP:
		return 6;
	default:
		return 1;
	}
}

static uint64_t encoder_memory(enum sp_packed format, unsigned level, bool little)
{
	const struct levels *l = all_levels;

	level = level_of(format, level, little);
	while (l + 1 < all_levels + LEVELS && (l->format != format || l->last < level))
		l++;
	return (uint64_t)(little ? l->little_kib : l->kib) << 10;
}

uint64_t sp__pack_memory(enum sp_packed format, unsigned level)
{
	return 2 * FRAME_BYTES + BOUND_BYTES + encoder_memory(format, level, false);
}

static int no_memory(struct sp__encoder *p)
{
	return sp__err(p->err, -ENOMEM, "allocate", NULL, -1);
}

/* gzip. */

#ifdef SP_HAVE_ZLIB
static size_t gzip_capacity(size_t bytes)
{
	/* zlib's bound for the deflated data, and what a member has besides them. */
	return compressBound(bytes) + SP__MIGZ_HEADER + SP__GZIP_TRAILER;
}

static int run_gzip(struct sp__encoder *p, const char *data, size_t bytes, char *out,
		    size_t *packed)
{
	unsigned char extra[SP__MIGZ_EXTRA] = SP__MIGZ_FIELD;
	gz_header header = { .os = OS_UNKNOWN, .extra = extra, .extra_len = sizeof(extra) };
	const size_t capacity = gzip_capacity(bytes);

	if (deflateReset(&p->gzip) != Z_OK || deflateSetHeader(&p->gzip, &header) != Z_OK)
		return no_memory(p);
	p->gzip.next_in = (const unsigned char *)data;
	p->gzip.avail_in = (unsigned)bytes;
	p->gzip.next_out = (unsigned char *)out;
	p->gzip.avail_out = (unsigned)capacity;
	if (deflate(&p->gzip, Z_FINISH) != Z_STREAM_END)
		return no_memory(p);
	*packed = capacity - p->gzip.avail_out;
	sp__migz_put(out, *packed);
	return 0;
}

static int open_gzip(struct sp__encoder *p)
{
	return deflateInit2(&p->gzip, (int)p->level, Z_DEFLATED, ZLIB_GZIP, ZLIB_MEMLEVEL,
			    Z_DEFAULT_STRATEGY) == Z_OK
		       ? 0
		       : no_memory(p);
}
#endif

/* zstd. */

static int run_zstd(struct sp__encoder *p, const char *data, size_t bytes, char *out,
		    size_t *packed)
{
	*packed = ZSTD_compress2(p->zstd, out, ZSTD_compressBound(bytes), data, bytes);
	return ZSTD_isError(*packed) ? no_memory(p) : 0;
}

static int open_zstd(struct sp__encoder *p)
{
	size_t rc;

	p->zstd = ZSTD_createCCtx();
	if (!p->zstd)
		return no_memory(p);
	rc = ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, (int)p->level);
	if (!ZSTD_isError(rc))
		rc = ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
	if (!ZSTD_isError(rc))
		rc = ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_windowLog,
					    p->little ? ZSTD_LITTLE_WINDOW : ZSTD_WINDOW);
	return ZSTD_isError(rc) ? no_memory(p) : 0;
}

/* lz4. */

static int run_lz4(struct sp__encoder *p, const char *data, size_t bytes, char *out, size_t *packed)
{
	LZ4F_preferences_t how = lz4_preferences;

	how.compressionLevel = (int)p->level;
	how.frameInfo.contentSize = bytes;
	*packed = LZ4F_compressFrame(out, LZ4F_compressFrameBound(bytes, &how), data, bytes, &how);
	return LZ4F_isError(*packed) ? no_memory(p) : 0;
}

/* xz. */

#ifdef SP_HAVE_LZMA
static int run_xz(struct sp__encoder *p, const char *data, size_t bytes, char *out, size_t *packed)
{
	const uint32_t dictionary = (p->little ? LITTLE_FRAME_BYTES : FRAME_BYTES) / 2;
	lzma_options_lzma how;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &how }, { LZMA_VLI_UNKNOWN, NULL } };
	const size_t capacity = lzma_stream_buffer_bound(bytes);

	*packed = 0;
	if (lzma_lzma_preset(&how, p->level))
		return no_memory(p);
	how.dict_size = sp__min(how.dict_size, dictionary);
	return lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, NULL, (const uint8_t *)data,
					 bytes, (uint8_t *)out, packed, capacity) == LZMA_OK
		       ? 0
		       : no_memory(p);
}
#endif

/* All formats. */

struct sp__packframe sp__packframe(enum sp_packed format, unsigned level, uint64_t memory_bytes)
{
	const bool little = is_little(memory_bytes);
	struct sp__packframe f = { .bytes = little ? LITTLE_FRAME_BYTES : FRAME_BYTES };

	switch (format) {
#ifdef SP_HAVE_ZLIB
	case SP_PACKED_GZIP:
		f.capacity = gzip_capacity(f.bytes);
		break;
#endif
#ifdef SP_HAVE_LZMA
	case SP_PACKED_XZ:
		f.capacity = lzma_stream_buffer_bound(f.bytes);
		break;
#endif
	case SP_PACKED_LZ4:
		f.capacity = LZ4F_compressFrameBound(f.bytes, &lz4_preferences);
		break;
	default:
		f.capacity = ZSTD_compressBound(f.bytes);
	}
	f.memory_bytes = f.bytes + f.capacity + encoder_memory(format, level, little);
	return f;
}

static int open_format(struct sp__encoder *p, const char *name)
{
	const char *missing = sp_packed_missing(p->format);
	int rc;

	if (missing)
		return sp__errf(p->err, SP_EUNSUP, "write", name, -1,
				"this program cannot write %s: %s", sp_packed_name(p->format),
				missing);
	rc = sp__packed_load(p->format, p->err);
	if (rc) {
		p->format = SP_PACKED_NONE; /* nothing to close */
		return rc;
	}
	switch (p->format) {
#ifdef SP_HAVE_ZLIB
	case SP_PACKED_GZIP:
		return open_gzip(p);
#endif
	case SP_PACKED_ZSTD:
		return open_zstd(p);
	default:
		return 0;
	}
}

int sp__encoder_new(struct sp__encoder **encoder, enum sp_packed format, unsigned level,
		    const char *name, uint64_t memory_bytes, struct sp_errinfo *err)
{
	struct sp__encoder *p = calloc(1, sizeof(*p));
	int rc;

	*encoder = NULL;
	if (!p)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	p->format = format;
	p->little = is_little(memory_bytes);
	p->level = level_of(format, level, p->little);
	p->err = err;
	rc = open_format(p, name);
	if (rc) {
		sp__encoder_free(p);
		return rc;
	}
	*encoder = p;
	return 0;
}

void sp__encoder_free(struct sp__encoder *p)
{
	if (!p)
		return;
#ifdef SP_HAVE_ZLIB
	if (p->format == SP_PACKED_GZIP)
		deflateEnd(&p->gzip);
#endif
	ZSTD_freeCCtx(p->zstd);
	free(p);
}

int sp__encoder_run(struct sp__encoder *p, const char *data, size_t bytes, char *out,
		    size_t *packed)
{
	switch (p->format) {
#ifdef SP_HAVE_ZLIB
	case SP_PACKED_GZIP:
		return run_gzip(p, data, bytes, out, packed);
#endif
#ifdef SP_HAVE_LZMA
	case SP_PACKED_XZ:
		return run_xz(p, data, bytes, out, packed);
#endif
	case SP_PACKED_LZ4:
		return run_lz4(p, data, bytes, out, packed);
	default:
		return run_zstd(p, data, bytes, out, packed);
	}
}
