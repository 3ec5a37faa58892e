/* SPDX-License-Identifier: MIT */
/*
 * Unpacks bytes by zlib, libzstd, liblz4 or liblzma, step by step.
 *
 * Formats.  Skippable frames can precede the first frame of zstd or lz4.  If no format was given,
 * the first frame of another kind decides.
 *
 * Memory.  A member declares its window, dictionary or size of blocks, and the library allocates so
 * much; but only bytes that have passed become resident.  So a member is refused when as many have
 * passed as there is memory, if it declares more.  The beginning of a frame is kept for that: zstd
 * has the window there, and the sixth byte of an LZ4 frame has the size of the two blocks.
 *
 * Checksums. gzip and xz have checksums of the contents, and so have the files that the programs
 * zstd and lz4 write.  In frames without one, which the libraries of zstd and lz4 can write, damage
 * that leaves blocks valid is not detected.
 */
#include <stdlib.h>
#include <string.h>
#include <lz4frame.h>
#include <zstd.h>
#include <zstd_errors.h>
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
#include "pack/unpack.h"

#define ZLIB_GZIP 31 /* windows of any size, only gzip's format */
#define ZSTD_WINDOW_MAX 31
#define MAGIC_BYTES 4 /* bytes of the magic number of zstd, lz4 and skippable frames */
#define HEAD_MAX 14 /* maximum header of zstd: magic, descriptor, dictionary and size, or window */

struct sp__decoder {
	enum sp_packed format;
	const char *name;
	struct sp_errinfo *err;
	struct sp__packmemory memory;
	bool whole;	   /* at the end of a member */
	uint64_t declared; /* memory that the member declares, as far as it is known */
	uint64_t passed;   /* bytes of the member, packed and unpacked */
	uint32_t skipping; /* remaining bytes of a skippable frame */
	int (*step)(struct sp__decoder *u, struct sp__packspan *span);
	ZSTD_DCtx *zstd;
	LZ4F_dctx *lz4;
	unsigned char head[HEAD_MAX]; /* first bytes of a frame */
	size_t head_bytes;
#ifdef SP_HAVE_ZLIB
	z_stream gzip;
#endif
#ifdef SP_HAVE_LZMA
	lzma_stream xz;
	bool within;	  /* a stream */
	unsigned padding; /* bytes of it behind the last stream, modulo 4 */
#endif
};

static int damaged(struct sp__decoder *u)
{
	return sp__errf(u->err, SP_EFORMAT, "read", u->name, -1,
			"the %s data is damaged, or is followed by other data",
			sp_packed_name(u->format));
}

/*
 * Returns the -S, in MiB, with which a decoder has this many bytes; two digits suffice for a user.
 */
static unsigned long long buffer_for(const struct sp__decoder *u, uint64_t needs)
{
	uint64_t mib = ((needs + u->memory.beside_bytes) * u->memory.share >> 20) + 1;
	uint64_t unit = mib > 1000 ? 100 : mib > 100 ? 10 : 1;

	return (mib + unit - 1) / unit * unit;
}

static int too_large(struct sp__decoder *u, uint64_t needs)
{
	return sp__errf(u->err, SP_EBUDGET, "read", u->name, -1,
			"decompression needs %llu bytes, and -S leaves %llu for it: use -S %lluM",
			(unsigned long long)needs, (unsigned long long)u->memory.bytes,
			buffer_for(u, needs));
}

static int no_memory(struct sp__decoder *u)
{
	return sp__err(u->err, -ENOMEM, "allocate", NULL, -1);
}

/* gzip. */

#ifdef SP_HAVE_ZLIB
static int step_gzip(struct sp__decoder *u, struct sp__packspan *span)
{
	unsigned in = (unsigned)sp__min(span->in_bytes, UINT32_MAX);
	unsigned out_free = (unsigned)sp__min(span->out_free, UINT32_MAX);
	int rc;

	if (u->whole && span->in_bytes && inflateReset(&u->gzip) != Z_OK)
		return no_memory(u);
	u->gzip.next_in = (const unsigned char *)span->in;
	u->gzip.avail_in = in;
	u->gzip.next_out = (unsigned char *)span->out;
	u->gzip.avail_out = out_free;
	u->whole &= !span->in_bytes;
	rc = u->whole ? Z_OK : inflate(&u->gzip, Z_NO_FLUSH);
	sp__packspan_advance(span, in - u->gzip.avail_in, out_free - u->gzip.avail_out);
	u->whole |= rc == Z_STREAM_END;
	if (rc == Z_MEM_ERROR)
		return no_memory(u);
	return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR ? 0 : damaged(u);
}

static int open_gzip(struct sp__decoder *u)
{
	u->step = step_gzip;
	return inflateInit2(&u->gzip, ZLIB_GZIP) == Z_OK ? 0 : no_memory(u);
}
#endif

/* zstd. */

static int window_too_large(struct sp__decoder *u)
{
	return sp__errf(u->err, SP_EUNSUP, "read", u->name, -1,
			"its zstd window of %llu bytes is larger than 2 GiB",
			(unsigned long long)sp__zstd_window(u->head));
}

static int step_zstd(struct sp__decoder *u, struct sp__packspan *span)
{
	ZSTD_inBuffer in = { span->in, span->in_bytes, 0 };
	ZSTD_outBuffer out = { span->out, span->out_free, 0 };
	size_t left, kept;

	if (u->whole && !span->in_bytes)
		return 0;
	if (u->whole)
		u->head_bytes = 0;
	kept = sp__min(span->in_bytes, HEAD_MAX - u->head_bytes);
	memcpy(u->head + u->head_bytes, span->in, kept);
	left = ZSTD_decompressStream(u->zstd, &out, &in);
	if (ZSTD_isError(left)) {
		if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
			return window_too_large(u);
		return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? no_memory(u)
									       : damaged(u);
	}
	u->head_bytes += sp__min(kept, in.pos);
	if (u->head_bytes == HEAD_MAX && sp_packed_by_magic(u->head, 4) == SP_PACKED_ZSTD &&
	    !sp__packed_skippable(u->head, 4))
		u->declared = sp__zstd_window(u->head) + SP__ZSTD_BESIDE;
	sp__packspan_advance(span, in.pos, out.pos);
	u->whole = left == 0;
	return 0;
}

static int open_zstd(struct sp__decoder *u)
{
	u->step = step_zstd;
	u->zstd = ZSTD_createDCtx();
	if (!u->zstd ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_MAX)))
		return no_memory(u);
	return 0;
}

/* lz4. */

/* Takes the bytes up to the size of a frame's blocks; a skippable frame does not have it. */
static void take_head(struct sp__decoder *u, struct sp__packspan *span)
{
	while (span->in_bytes && u->head_bytes < SP__LZ4_HEAD) {
		u->head[u->head_bytes++] = (unsigned char)*span->in++;
		span->in_bytes--;
		u->whole = false;
	}
	if (u->head_bytes == SP__LZ4_HEAD && sp_packed_by_magic(u->head, 4) == SP_PACKED_LZ4)
		u->declared = UINT64_C(2) * sp__lz4_block(u->head) + SP__LZ4_BESIDE;
}

/* Returns 1 at the end of a frame. */
static int feed_lz4(struct sp__decoder *u, struct sp__packspan *span)
{
	size_t in = span->in_bytes, out = span->out_free;
	size_t left = LZ4F_decompress(u->lz4, span->out, &out, span->in, &in, NULL);

	if (LZ4F_isError(left))
		return damaged(u);
	sp__packspan_advance(span, in, out);
	return left == 0;
}

static int step_lz4(struct sp__decoder *u, struct sp__packspan *span)
{
	struct sp__packspan head = { (const char *)u->head, SP__LZ4_HEAD, span->out,
				     span->out_free };
	int rc;

	if (u->head_bytes < SP__LZ4_HEAD) {
		take_head(u, span);
		if (u->head_bytes < SP__LZ4_HEAD)
			return 0;
		/* A frame is never so short that its beginning yields bytes. */
		rc = feed_lz4(u, &head);
		if (rc || head.in_bytes)
			return rc < 0 ? rc : damaged(u);
	}
	rc = feed_lz4(u, span);
	if (rc == 1) {
		u->whole = true;
		u->head_bytes = 0;
	}
	return rc < 0 ? rc : 0;
}

static int open_lz4(struct sp__decoder *u)
{
	u->step = step_lz4;
	return LZ4F_isError(LZ4F_createDecompressionContext(&u->lz4, LZ4F_VERSION)) ? no_memory(u)
										    : 0;
}

/* xz. */

#ifdef SP_HAVE_LZMA
static int run_xz(struct sp__decoder *u, struct sp__packspan *span)
{
	lzma_ret rc;

	u->xz.next_in = (const uint8_t *)span->in;
	u->xz.avail_in = span->in_bytes;
	u->xz.next_out = (uint8_t *)span->out;
	u->xz.avail_out = span->out_free;
	rc = lzma_code(&u->xz, LZMA_RUN);
	sp__packspan_advance(span, span->in_bytes - u->xz.avail_in,
			     span->out_free - u->xz.avail_out);
	u->whole = rc == LZMA_STREAM_END;
	u->declared = lzma_memusage(&u->xz);
	if (rc == LZMA_MEM_ERROR)
		return no_memory(u);
	return rc == LZMA_OK || rc == LZMA_STREAM_END || rc == LZMA_BUF_ERROR ? 0 : damaged(u);
}

/* Starts a stream; the first one, or again. */
static int begin_xz(struct sp__decoder *u)
{
	return lzma_stream_decoder(&u->xz, UINT64_MAX, LZMA_TELL_UNSUPPORTED_CHECK) == LZMA_OK
		       ? 0
		       : no_memory(u);
}

/* Zeros can follow a stream, four or a multiple. */
static int step_xz(struct sp__decoder *u, struct sp__packspan *span)
{
	int rc = 0;

	for (; !u->within && span->in_bytes && !*span->in; sp__packspan_advance(span, 1, 0)) {
		u->padding = (u->padding + 1) % 4;
		u->whole = !u->padding;
	}
	if (!span->in_bytes && !u->within)
		return 0;
	if (!u->within) {
		if (u->padding)
			return damaged(u);
		rc = begin_xz(u);
		u->within = !rc;
	}
	if (!rc)
		rc = run_xz(u, span);
	u->within = !u->whole;
	return rc;
}

static int open_xz(struct sp__decoder *u)
{
	u->xz = (lzma_stream)LZMA_STREAM_INIT;
	u->step = step_xz;
	return begin_xz(u);
}
#endif

/* All formats. */

static int open_format(struct sp__decoder *u)
{
	const char *missing = sp_packed_missing(u->format);
	int rc;

	if (missing)
		return sp__errf(u->err, SP_EUNSUP, "read", u->name, -1,
				"this program cannot read %s: %s", sp_packed_name(u->format),
				missing);
	rc = sp__packed_load(u->format, u->err);
	if (rc) {
		u->format = SP_PACKED_NONE; /* nothing to close */
		return rc;
	}
	switch (u->format) {
#ifdef SP_HAVE_ZLIB
	case SP_PACKED_GZIP:
		return open_gzip(u);
#endif
#ifdef SP_HAVE_LZMA
	case SP_PACKED_XZ:
		return open_xz(u);
#endif
	case SP_PACKED_LZ4:
		return open_lz4(u);
	default:
		return open_zstd(u);
	}
}

/* Decides by the first frame that is not skippable: its magic number is in u->head. */
static int decide(struct sp__decoder *u, struct sp__packspan *span)
{
	char magic[MAGIC_BYTES];
	struct sp__packspan first = { magic, sizeof(magic), span->out, span->out_free };
	enum sp_packed format = sp_packed_by_magic(u->head, MAGIC_BYTES);
	int rc;

	memcpy(magic, u->head, sizeof(magic));
	if (format != SP_PACKED_ZSTD && format != SP_PACKED_LZ4)
		return sp__errf(u->err, SP_EFORMAT, "read", u->name, -1,
				"the data after its skippable frames are neither zstd nor lz4");
	u->format = format;
	rc = open_format(u);
	if (rc || u->format == SP_PACKED_LZ4)
		return rc;
	u->whole = true;
	return step_zstd(u, &first);
}

static int skip(struct sp__decoder *u, struct sp__packspan *span)
{
	const size_t n = sp__min(span->in_bytes, u->skipping);

	sp__packspan_advance(span, n, 0);
	u->skipping -= (uint32_t)n;
	u->whole = !u->skipping;
	return 0;
}

static int step_skipping(struct sp__decoder *u, struct sp__packspan *span)
{
	if (u->skipping)
		return skip(u, span);
	while (span->in_bytes && u->head_bytes < SP__SKIPPED_HEAD) {
		u->head[u->head_bytes++] = (unsigned char)*span->in++;
		span->in_bytes--;
		u->whole = false;
		if (u->head_bytes == MAGIC_BYTES && !sp__packed_skippable(u->head, MAGIC_BYTES))
			return decide(u, span);
	}
	if (u->head_bytes < SP__SKIPPED_HEAD)
		return 0;
	u->skipping = (uint32_t)sp__little_endian(u->head + MAGIC_BYTES, 4);
	u->whole = !u->skipping;
	u->head_bytes = 0;
	return 0;
}

static int open_skipping(struct sp__decoder *u)
{
	u->format = SP_PACKED_ZSTD;
	u->step = step_skipping;
	return 0;
}

int sp__decoder_new(struct sp__decoder **decoder, enum sp_packed format, const char *name,
		    const struct sp__packmemory *m, struct sp_errinfo *err)
{
	struct sp__decoder *u = calloc(1, sizeof(*u));
	int rc;

	*decoder = NULL;
	if (!u)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	u->format = format;
	u->name = name;
	u->memory = *m;
	u->err = err;
	rc = format == SP_PACKED_AUTO ? open_skipping(u) : open_format(u);
	if (rc) {
		sp__decoder_free(u);
		return rc;
	}
	*decoder = u;
	return 0;
}

void sp__decoder_free(struct sp__decoder *u)
{
	if (!u)
		return;
#ifdef SP_HAVE_ZLIB
	if (u->format == SP_PACKED_GZIP)
		inflateEnd(&u->gzip);
#endif
#ifdef SP_HAVE_LZMA
	if (u->format == SP_PACKED_XZ)
		lzma_end(&u->xz);
#endif
	ZSTD_freeDCtx(u->zstd);
	LZ4F_freeDecompressionContext(u->lz4);
	free(u);
}

/* Performs a step, and counts its bytes. */
static int step(struct sp__decoder *u, struct sp__packspan *span)
{
	const size_t in_bytes = span->in_bytes, out_free = span->out_free;
	const bool begins = u->whole && in_bytes;
	int rc;

	if (begins)
		u->passed = u->declared = 0;
	rc = u->step(u, span);
	u->passed += (in_bytes - span->in_bytes) + (out_free - span->out_free);
	if (!rc && u->passed > u->memory.bytes && u->declared > u->memory.bytes)
		return too_large(u, u->declared);
	return rc;
}

/*
 * Ends with a step that neither takes nor returns bytes: libraries keep output for which there was
 * no space.
 */
int sp__decoder_run(struct sp__decoder *u, struct sp__packspan *span)
{
	size_t in_bytes, out_free;
	bool whole;
	int rc;

	do {
		whole = u->whole;
		in_bytes = span->in_bytes;
		out_free = span->out_free;
		rc = out_free ? step(u, span) : 0;
		if (!rc && u->whole && (!whole || span->in_bytes < in_bytes))
			return 1;
	} while (!rc && span->out_free &&
		 (span->in_bytes != in_bytes || span->out_free != out_free));
	return !rc && span->out_free && span->in_bytes ? damaged(u) : rc;
}

int sp__decoder_members(struct sp__decoder *u, struct sp__packspan *span)
{
	int rc;

	do {
		rc = sp__decoder_run(u, span);
	} while (rc == 1 && span->in_bytes);
	return rc < 0 ? rc : rc ? 0 : damaged(u);
}

int sp__decoder_end(struct sp__decoder *u)
{
	if (u->whole)
		return 0;
	return sp__errf(u->err, SP_EFORMAT, "read", u->name, -1,
			"the file ends before its %s data does", sp_packed_name(u->format));
}

int sp__packed_refuse(const void *data, size_t bytes, const char *name, struct sp_errinfo *err)
{
	const char *format = sp_packed_foreign(data, bytes);
	const enum sp_packed cut = sp__packed_cut(data, bytes);

	if (cut != SP_PACKED_NONE)
		return sp__errf(err, SP_EFORMAT, "read", name, -1,
				"the file ends before its %s data does", sp_packed_name(cut));
	if (!format)
		return 0;
	return sp__errf(err, SP_EUNSUP, "read", name, -1,
			"the format %s is not read here: decompress it with %s -dc", format,
			format);
}

/* Maximum memory for a beginning; a later reader of the file observes -S. */
#define BEGINNING_MEMORY (UINT64_C(1) << 30)

int sp_packed_beginning(enum sp_packed format, const char *name, const void *data, size_t bytes,
			char *out, size_t capacity, size_t *unpacked, struct sp_errinfo *err)
{
	static const struct sp__packmemory memory = { .bytes = BEGINNING_MEMORY, .share = 1 };
	struct sp__packspan span = { data, bytes, out, capacity };
	struct sp__decoder *u;
	int rc;

	*unpacked = 0;
	if (format == SP_PACKED_AUTO && !sp__packed_skippable(data, bytes))
		format = sp_packed_by_magic(data, bytes);
	if (format == SP_PACKED_NONE) {
		*unpacked = sp__min(bytes, capacity);
		memcpy(out, data, *unpacked);
		return sp__packed_refuse(data, bytes, name, err);
	}
	rc = sp__decoder_new(&u, format, name, &memory, err);
	while (!rc && (rc = sp__decoder_run(u, &span)) == 1)
		rc = 0;
	*unpacked = (size_t)(span.out - out);
	sp__decoder_free(u);
	return rc;
}
