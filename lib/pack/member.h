/* SPDX-License-Identifier: MIT */
/*
 * Finds the ends of members without unpacking them, by the sizes in their headers and blocks.
 *
 *	zstd	frames and skippable frames: the headers of the blocks
 *	lz4	frames and skippable frames: the sizes of the blocks
 *	gzip	members with their size in the extra field: BGZF (field BC), MiGz (MZ)
 *	xz	streams whose blocks have both sizes in their headers, as the programs xz -T and
 *		pixz write them
 *
 * The sizes are those that a member claims; unpacking verifies them.
 *
 * Thread rule: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/packed.h>

/* A member as far as its bytes are known; zero before its first byte. */
struct sp__member {
	uint64_t packed_bytes;	 /* packed bytes so far, or claimed */
	uint64_t unpacked_bytes; /* at most; so far, or claimed */
	uint64_t memory_bytes;	 /* memory of a decoder, in addition to both */
	unsigned block_bytes;	 /* maximum contents of a block */
	bool begun, ended;	 /* the header, the size of the last block has been read */
	bool sized;		 /* the header has the size of the contents */
};

enum sp__member_state {
	SP__MEMBER_WHOLE,   /* all sizes are known and all packed bytes are there */
	SP__MEMBER_PARTIAL, /* more bytes are needed; sizes are lower bounds */
	SP__MEMBER_UNKNOWN  /* its end is only found by unpacking it, or the data is damaged */
};

/*
 * Measures the member at the beginning of data.  Called again with more bytes of it, continues.
 * *format is AUTO while only skippable frames have been seen; the first other frame sets it.
 */
enum sp__member_state sp__member_measure(struct sp__member *m, enum sp_packed *format,
					 const void *data, size_t bytes);

/* Returns the number whose lowest byte comes first. */
uint64_t sp__little_endian(const unsigned char *p, unsigned bytes);

#define SP__SKIPPED_HEAD 8

/* Returns the window of a zstd frame from its header: RFC 8878, 3.1.1.1. */
uint64_t sp__zstd_window(const unsigned char *head);
#define SP__ZSTD_BESIDE (600u << 10) /* memory of a decoder in addition to its window */

/* Returns the size of the blocks of an LZ4 frame, from the bytes up to it; 0: an invalid one. */
unsigned sp__lz4_block(const unsigned char *head);
#define SP__LZ4_HEAD 6
#define SP__LZ4_BESIDE (200u << 10) /* memory of a decoder in addition to two blocks */

#define SP__XZ_BESIDE (200u << 10) /* memory of a decoder in addition to its dictionary */

/*
 * The header of a MiGz member: gzip's, with an extra field of one subfield, MZ, whose four bytes
 * are the size of the deflated data.
 */
#define SP__MIGZ_EXTRA 8
#define SP__MIGZ_FIELD                                                                             \
	{                                                                                          \
		'M', 'Z', 4                                                                        \
	}
#define SP__MIGZ_HEADER (12 + SP__MIGZ_EXTRA)
#define SP__GZIP_TRAILER 8
/* Stores the size in a member of `packed` bytes. */
void sp__migz_put(char *member, size_t packed);
