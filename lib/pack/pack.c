/* SPDX-License-Identifier: MIT */
/*
 * Packs bytes by zlib, libzstd or liblz4.
 *
 * The levels are those of the programs gzip, zstd and lz4; all members have a checksum.  If memory
 * is short, zstd and lz4 use smaller windows and blocks.  The window of zstd is at most 256 KiB, so
 * that -S 2M suffices to read the output: on sorted records, larger ones save at most 4 %.
 *
 * Memory: LZ4 needs a buffer for the maximum output of an input chunk.  So chunks are packed into a
 * buffer of the encoder, and returned from there.
 */
#include <stdlib.h>
#include <string.h>
#include <lz4frame.h>
#include <zstd.h>
#ifdef SP_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#include "base/err.h"
#include "base/minmax.h"
#include "pack/pack.h"
#include "pack/unpack.h"

#define ZLIB_GZIP 31
#define ZLIB_MEMORY 8 /* zlib's default, 256 KiB in total */
#define ZSTD_LEVEL 3
#define ZSTD_MEMORY (12u << 20) /* of level 3, and of level 1 with a window of 128 KiB: */
#define ZSTD_LITTLE_WINDOW 17
#define ZSTD_WINDOW 18
#define LZ4_PIECE (256u << 10)
#define LZ4_LITTLE_PIECE (64u << 10)
#define LZ4_MEMORY (2u << 20)

struct sp__encoder {
	enum sp_packed format;
	const char *name;
	struct sp_errinfo *err;
	uint64_t memory_bytes;
	int (*step)(struct sp__encoder *p, struct sp__packspan *span, bool end);
	ZSTD_CCtx *zstd;
	LZ4F_cctx *lz4;
	LZ4F_preferences_t lz4_how;
	bool lz4_begun, lz4_ended;
	char *packed; /* by LZ4, and not returned yet: */
	size_t packed_capacity, packed_from, packed_to;
#ifdef SP_HAVE_ZLIB
	z_stream gzip;
#endif
};

static int no_memory(struct sp__encoder *p)
{
	return sp__err(p->err, -ENOMEM, "allocate", NULL, -1);
}

/* gzip. */

#ifdef SP_HAVE_ZLIB
static int step_gzip(struct sp__encoder *p, struct sp__packspan *span, bool end)
{
	unsigned in = (unsigned)sp__min(span->in_bytes, UINT32_MAX);
	unsigned out_free = (unsigned)sp__min(span->out_free, UINT32_MAX);
	int rc;

	p->gzip.next_in = (const unsigned char *)span->in;
	p->gzip.avail_in = in;
	p->gzip.next_out = (unsigned char *)span->out;
	p->gzip.avail_out = out_free;
	rc = deflate(&p->gzip, end && in == span->in_bytes ? Z_FINISH : Z_NO_FLUSH);
	sp__packspan_advance(span, in - p->gzip.avail_in, out_free - p->gzip.avail_out);
	return span->in_bytes || (end && rc != Z_STREAM_END);
}

static int open_gzip(struct sp__encoder *p)
{
	p->step = step_gzip;
	return deflateInit2(&p->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, ZLIB_GZIP, ZLIB_MEMORY,
			    Z_DEFAULT_STRATEGY) == Z_OK
		       ? 0
		       : no_memory(p);
}
#endif

/* zstd. */

static int step_zstd(struct sp__encoder *p, struct sp__packspan *span, bool end)
{
	ZSTD_inBuffer in = { span->in, span->in_bytes, 0 };
	ZSTD_outBuffer out = { span->out, span->out_free, 0 };
	size_t left = ZSTD_compressStream2(p->zstd, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);

	if (ZSTD_isError(left))
		return no_memory(p);
	sp__packspan_advance(span, in.pos, out.pos);
	return span->in_bytes || (end && left);
}

static int open_zstd(struct sp__encoder *p)
{
	bool little = p->memory_bytes < ZSTD_MEMORY;
	size_t rc;

	p->step = step_zstd;
	p->zstd = ZSTD_createCCtx();
	if (!p->zstd)
		return no_memory(p);
	rc = ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, little ? 1 : ZSTD_LEVEL);
	if (!ZSTD_isError(rc))
		rc = ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
	if (!ZSTD_isError(rc))
		rc = ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_windowLog,
					    little ? ZSTD_LITTLE_WINDOW : ZSTD_WINDOW);
	return ZSTD_isError(rc) ? no_memory(p) : 0;
}

/* lz4. */

/* Packs a part of the member into the buffer, which is empty. */
static int make_lz4(struct sp__encoder *p, struct sp__packspan *span, bool end)
{
	size_t bytes = sp__min(span->in_bytes, p->lz4_how.frameInfo.blockSizeID == LZ4F_max64KB
						       ? LZ4_LITTLE_PIECE
						       : LZ4_PIECE);
	size_t n = 0;

	if (!p->lz4_begun) {
		n = LZ4F_compressBegin(p->lz4, p->packed, p->packed_capacity, &p->lz4_how);
		p->lz4_begun = true;
	} else if (bytes) {
		n = LZ4F_compressUpdate(p->lz4, p->packed, p->packed_capacity, span->in, bytes,
					NULL);
		sp__packspan_advance(span, bytes, 0);
	} else if (end && !p->lz4_ended) {
		n = LZ4F_compressEnd(p->lz4, p->packed, p->packed_capacity, NULL);
		p->lz4_ended = true;
	}
	if (LZ4F_isError(n))
		return no_memory(p);
	p->packed_from = 0;
	p->packed_to = n;
	return 0;
}

static int step_lz4(struct sp__encoder *p, struct sp__packspan *span, bool end)
{
	size_t n;
	int rc = 0;

	if (p->packed_from == p->packed_to)
		rc = make_lz4(p, span, end);
	if (rc)
		return rc;
	n = sp__min(p->packed_to - p->packed_from, span->out_free);
	memcpy(span->out, p->packed + p->packed_from, n);
	p->packed_from += n;
	sp__packspan_advance(span, 0, n);
	return p->packed_from < p->packed_to || span->in_bytes || (end && !p->lz4_ended);
}

static int open_lz4(struct sp__encoder *p)
{
	bool little = p->memory_bytes < LZ4_MEMORY;

	p->step = step_lz4;
	p->lz4_how.frameInfo.blockSizeID = little ? LZ4F_max64KB : LZ4F_max256KB;
	p->lz4_how.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
	p->packed_capacity = LZ4F_compressBound(little ? LZ4_LITTLE_PIECE : LZ4_PIECE, &p->lz4_how);
	p->packed = malloc(p->packed_capacity);
	if (!p->packed || LZ4F_isError(LZ4F_createCompressionContext(&p->lz4, LZ4F_VERSION)))
		return no_memory(p);
	return 0;
}

/* All formats. */

static int open_format(struct sp__encoder *p)
{
	const char *missing = sp_packed_missing(p->format);
	int rc;

	if (missing)
		return sp__errf(p->err, SP_EUNSUP, "write", p->name, -1,
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
	case SP_PACKED_LZ4:
		return open_lz4(p);
	default:
		return sp__errf(p->err, SP_EUNSUP, "write", p->name, -1, "%s is only read",
				sp_packed_name(p->format));
	}
}

int sp__encoder_new(struct sp__encoder **encoder, enum sp_packed format, const char *name,
		    uint64_t memory_bytes, struct sp_errinfo *err)
{
	struct sp__encoder *p = calloc(1, sizeof(*p));
	int rc;

	*encoder = NULL;
	if (!p)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	p->format = format;
	p->name = name;
	p->memory_bytes = memory_bytes;
	p->err = err;
	rc = open_format(p);
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
	LZ4F_freeCompressionContext(p->lz4);
	free(p->packed);
	free(p);
}

int sp__encoder_run(struct sp__encoder *p, struct sp__packspan *span, bool end)
{
	int rc = 1;

	while (rc == 1 && span->out_free)
		rc = p->step(p, span, end);
	return rc;
}
