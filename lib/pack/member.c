/* SPDX-License-Identifier: MIT */
/*
 * Finds the ends of members.
 *
 * A frame of zstd or lz4, and a stream of xz, is walked from block to block, as far as its bytes
 * are there.
 */
#include <string.h>
#include "pack/member.h"
#include "pack/unpack.h"

#define MAGIC_BYTES 4
#define GZIP_HEAD 12 /* with the length of the extra field */
#define GZIP_EXTRA_FLAG 4
#define ZSTD_BLOCK (128u << 10)

uint64_t sp__little_endian(const unsigned char *p, unsigned bytes)
{
	uint64_t n = 0;

	while (bytes--)
		n = n << 8 | p[bytes];
	return n;
}

static enum sp__member_state state(const struct sp__member *m, size_t bytes)
{
	return m->packed_bytes <= bytes ? SP__MEMBER_WHOLE : SP__MEMBER_PARTIAL;
}

/* gzip. */

void sp__migz_put(char *member, size_t packed)
{
	const size_t deflated = packed - SP__MIGZ_HEADER - SP__GZIP_TRAILER;

	for (unsigned i = 0; i < 4; i++)
		member[SP__MIGZ_HEADER - 4 + i] = (char)(deflated >> 8 * i);
}

/* Returns the size of the member by its extra field, or 0. */
static uint64_t size_in_extra(const unsigned char *data, size_t extra)
{
	const unsigned char *p = data + GZIP_HEAD, *end = p + extra;

	while (end - p >= 4) {
		const size_t n = (size_t)sp__little_endian(p + 2, 2);
		const unsigned char *value = p + 4;

		if ((size_t)(end - value) < n)
			break;
		if (!memcmp(p, "BC", 2) && n == 2)
			return sp__little_endian(value, 2) + 1;
		if (!memcmp(p, "MZ", 2) && n == 4 && data[3] == GZIP_EXTRA_FLAG)
			return GZIP_HEAD + extra + sp__little_endian(value, 4) + SP__GZIP_TRAILER;
		p = value + n;
	}
	return 0;
}

static enum sp__member_state measure_gzip(struct sp__member *m, const unsigned char *data,
					  size_t bytes)
{
	size_t extra;

	if (bytes < GZIP_HEAD)
		return SP__MEMBER_PARTIAL;
	if (memcmp(data, "\x1f\x8b\x08", 3) || !(data[3] & GZIP_EXTRA_FLAG))
		return SP__MEMBER_UNKNOWN;
	extra = (size_t)sp__little_endian(data + 10, 2);
	if (bytes < GZIP_HEAD + extra)
		return SP__MEMBER_PARTIAL;
	m->packed_bytes = size_in_extra(data, extra);
	if (m->packed_bytes < GZIP_HEAD + extra + SP__GZIP_TRAILER)
		return SP__MEMBER_UNKNOWN;
	if (m->packed_bytes <= bytes)
		m->unpacked_bytes = sp__little_endian(data + m->packed_bytes - 4, 4);
	return state(m, bytes);
}

/* zstd. */

static const unsigned id_bytes[] = { 0, 1, 2, 4 }, size_bytes[] = { 0, 2, 4, 8 };

static bool is_single(const unsigned char *head)
{
	return head[4] & 0x20;
}

/* Bytes of the size of the contents; 0: it is unknown. */
static unsigned zstd_size_bytes(const unsigned char *head)
{
	const unsigned n = size_bytes[head[4] >> 6];

	return n ? n : is_single(head);
}

static uint64_t zstd_size(const unsigned char *head)
{
	const unsigned n = zstd_size_bytes(head);
	const unsigned char *at = head + 5 + !is_single(head) + id_bytes[head[4] & 3];

	return sp__little_endian(at, n) + (n == 2 ? 256 : 0);
}

uint64_t sp__zstd_window(const unsigned char *head)
{
	/* A single segment: the window is the content size. */
	if (is_single(head))
		return zstd_size(head);
	return (UINT64_C(8) + (head[5] & 7)) << (7 + (head[5] >> 3));
}

static enum sp__member_state begin_zstd(struct sp__member *m, const unsigned char *data,
					size_t bytes)
{
	unsigned head;

	if (bytes <= MAGIC_BYTES)
		return SP__MEMBER_PARTIAL;
	head = 5 + !is_single(data) + id_bytes[data[4] & 3] + zstd_size_bytes(data);
	if (bytes < head)
		return SP__MEMBER_PARTIAL;
	m->packed_bytes = head;
	m->sized = zstd_size_bytes(data);
	m->unpacked_bytes = m->sized ? zstd_size(data) : 0;
	m->memory_bytes = SP__ZSTD_BESIDE + (m->sized ? 0 : sp__zstd_window(data));
	m->begun = true;
	return SP__MEMBER_WHOLE;
}

static enum sp__member_state measure_zstd(struct sp__member *m, const unsigned char *data,
					  size_t bytes)
{
	const bool checksum = bytes > MAGIC_BYTES && data[4] & 4;
	enum { RLE = 1, PACKED, RESERVED };

	if (!m->begun && begin_zstd(m, data, bytes) != SP__MEMBER_WHOLE)
		return SP__MEMBER_PARTIAL;
	while (!m->ended && m->packed_bytes + 3 <= bytes) {
		const unsigned block = (unsigned)sp__little_endian(data + m->packed_bytes, 3);
		const unsigned kind = block >> 1 & 3, n = block >> 3;

		if (kind == RESERVED || n > ZSTD_BLOCK)
			return SP__MEMBER_UNKNOWN;
		m->ended = block & 1;
		m->packed_bytes += 3 + (kind == RLE ? 1 : n) + (m->ended && checksum ? 4 : 0);
		if (!m->sized)
			m->unpacked_bytes += kind == PACKED ? ZSTD_BLOCK : n;
	}
	return m->ended ? state(m, bytes) : SP__MEMBER_PARTIAL;
}

/* lz4. */

/* Bits of the byte after the magic number. */
enum { LZ4_DICTIONARY = 1, LZ4_CHECKSUM = 4, LZ4_SIZE = 8, LZ4_BLOCK_CHECKSUMS = 16 };

/* Returns 0 for a size that the format does not have. */
unsigned sp__lz4_block(const unsigned char *head)
{
	const unsigned code = head[5] >> 4 & 7;

	return code < 4 ? 0 : 1u << (8 + 2 * code);
}

static enum sp__member_state begin_lz4(struct sp__member *m, const unsigned char *data,
				       size_t bytes)
{
	unsigned head = SP__LZ4_HEAD + 1;

	if (bytes < SP__LZ4_HEAD)
		return SP__MEMBER_PARTIAL;
	m->sized = data[4] & LZ4_SIZE;
	m->block_bytes = sp__lz4_block(data);
	head += (m->sized ? 8 : 0) + (data[4] & LZ4_DICTIONARY ? 4 : 0);
	if (data[4] >> 6 != 1 || !m->block_bytes)
		return SP__MEMBER_UNKNOWN;
	if (bytes < head)
		return SP__MEMBER_PARTIAL;
	m->unpacked_bytes = m->sized ? sp__little_endian(data + SP__LZ4_HEAD, 8) : 0;
	m->memory_bytes = UINT64_C(2) * m->block_bytes + SP__LZ4_BESIDE;
	m->packed_bytes = head;
	m->begun = true;
	return SP__MEMBER_WHOLE;
}

static enum sp__member_state measure_lz4(struct sp__member *m, const unsigned char *data,
					 size_t bytes)
{
	enum sp__member_state s = m->begun ? SP__MEMBER_WHOLE : begin_lz4(m, data, bytes);

	if (s != SP__MEMBER_WHOLE)
		return s;
	while (!m->ended && m->packed_bytes + 4 <= bytes) {
		const uint32_t block = (uint32_t)sp__little_endian(data + m->packed_bytes, 4);
		const unsigned n = block & INT32_MAX;

		if (n > m->block_bytes)
			return SP__MEMBER_UNKNOWN;
		m->ended = !block;
		m->packed_bytes += 4 + n;
		if (m->ended)
			m->packed_bytes += data[4] & LZ4_CHECKSUM ? 4 : 0;
		else if (data[4] & LZ4_BLOCK_CHECKSUMS)
			m->packed_bytes += 4;
		if (!m->sized && !m->ended)
			m->unpacked_bytes += m->block_bytes;
	}
	return m->ended ? state(m, bytes) : SP__MEMBER_PARTIAL;
}

/* xz. */

#define XZ_MAGIC_BYTES 6
#define XZ_HEAD 12    /* bytes of a stream's header, and of its footer */
#define XZ_SIZES 0xC0 /* flags of a block: it has both sizes */
#define XZ_LZMA2 0x21
#define XZ_SIZE_MAX (UINT64_C(1) << 48)
#define XZ_INDEX_MAX (64 << 10) /* bytes of an index that is waited for */

static uint64_t to_four(uint64_t bytes)
{
	return (bytes + 3) & ~UINT64_C(3);
}

/* Reads a number of seven bits per byte.  Returns the place behind it, or NULL: it goes on. */
static const unsigned char *xz_number(const unsigned char *p, const unsigned char *end, uint64_t *n)
{
	*n = 0;
	for (unsigned shift = 0; p && p < end && shift < 63; shift += 7) {
		*n |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p++ & 0x80))
			return p;
	}
	return NULL;
}

/* Returns the memory of the dictionary of a block, or 0; p: its filters. */
static uint64_t xz_dictionary(const unsigned char *p, const unsigned char *end, unsigned filters)
{
	uint64_t id, properties, bytes = 0;

	while (filters--) {
		p = xz_number(p, end, &id);
		p = xz_number(p, end, &properties);
		if (!p || properties > (uint64_t)(end - p))
			return 0;
		if (id == XZ_LZMA2 && properties == 1 && *p < 40)
			bytes = (uint64_t)(2 | (*p & 1)) << (*p / 2 + 11);
		p += properties;
	}
	return bytes;
}

/* Adds a block whose header is there. */
static enum sp__member_state add_xz_block(struct sp__member *m, const unsigned char *block,
					  size_t header, unsigned check)
{
	const unsigned char *end = block + header - 4, *p = block + 2;
	uint64_t packed, unpacked, dictionary;

	if ((block[1] & XZ_SIZES) != XZ_SIZES)
		return SP__MEMBER_UNKNOWN;
	p = xz_number(p, end, &packed);
	p = xz_number(p, end, &unpacked);
	dictionary = p ? xz_dictionary(p, end, (block[1] & 3) + 1) : 0;
	if (!dictionary || packed > XZ_SIZE_MAX || unpacked > XZ_SIZE_MAX)
		return SP__MEMBER_UNKNOWN;
	m->packed_bytes += header + to_four(packed) + check;
	m->unpacked_bytes += unpacked;
	if (m->memory_bytes < dictionary + SP__XZ_BESIDE)
		m->memory_bytes = dictionary + SP__XZ_BESIDE;
	return SP__MEMBER_WHOLE;
}

/* Adds the index, if all of it is there, and the foot. */
static enum sp__member_state add_xz_index(struct sp__member *m, const unsigned char *index,
					  const unsigned char *end)
{
	const unsigned char *p = index + 1;
	uint64_t records, n;

	p = xz_number(p, end, &records);
	for (; p && records; records--) {
		p = xz_number(p, end, &n);
		p = xz_number(p, end, &n);
	}
	if (!p)
		return end - index < XZ_INDEX_MAX ? SP__MEMBER_PARTIAL : SP__MEMBER_UNKNOWN;
	m->packed_bytes += to_four((uint64_t)(p - index)) + 4 + XZ_HEAD;
	m->ended = true;
	return SP__MEMBER_WHOLE;
}

static enum sp__member_state measure_xz(struct sp__member *m, const unsigned char *data,
					size_t bytes)
{
	static const unsigned char checks[16] = { 0,  4,  4,  4,  8,  8,  8,  16,
						  16, 16, 32, 32, 32, 64, 64, 64 };
	enum sp__member_state s = SP__MEMBER_WHOLE;

	if (bytes < XZ_HEAD)
		return SP__MEMBER_PARTIAL;
	if (memcmp(data, "\xfd\x37zXZ", XZ_MAGIC_BYTES))
		return SP__MEMBER_UNKNOWN;
	if (!m->begun)
		m->packed_bytes = XZ_HEAD;
	m->begun = true;
	while (s == SP__MEMBER_WHOLE && !m->ended && m->packed_bytes < bytes) {
		const unsigned char *p = data + m->packed_bytes;
		const size_t header = 4 * ((size_t)*p + 1);

		if (!*p)
			s = add_xz_index(m, p, data + bytes);
		else if (header > bytes - m->packed_bytes)
			s = SP__MEMBER_PARTIAL;
		else
			s = add_xz_block(m, p, header, checks[data[7] & 15]);
	}
	return s != SP__MEMBER_WHOLE ? s : m->ended ? state(m, bytes) : SP__MEMBER_PARTIAL;
}

/* All formats. */

static enum sp__member_state measure_skippable(struct sp__member *m, const unsigned char *data,
					       size_t bytes)
{
	if (bytes < SP__SKIPPED_HEAD)
		return SP__MEMBER_PARTIAL;
	m->packed_bytes = SP__SKIPPED_HEAD + sp__little_endian(data + MAGIC_BYTES, 4);
	return state(m, bytes);
}

enum sp__member_state sp__member_measure(struct sp__member *m, enum sp_packed *format,
					 const void *data, size_t bytes)
{
	enum sp_packed is;

	if (*format == SP_PACKED_GZIP)
		return measure_gzip(m, data, bytes);
	if (*format == SP_PACKED_XZ)
		return measure_xz(m, data, bytes);
	if (*format == SP_PACKED_NONE)
		return SP__MEMBER_UNKNOWN;
	if (bytes < MAGIC_BYTES)
		return SP__MEMBER_PARTIAL;
	if (sp__packed_skippable(data, bytes))
		return measure_skippable(m, data, bytes);
	is = sp_packed_by_magic(data, MAGIC_BYTES);
	if (*format == SP_PACKED_AUTO && (is == SP_PACKED_ZSTD || is == SP_PACKED_LZ4))
		*format = is;
	if (is != *format)
		return SP__MEMBER_UNKNOWN;
	return is == SP_PACKED_ZSTD ? measure_zstd(m, data, bytes) : measure_lz4(m, data, bytes);
}
