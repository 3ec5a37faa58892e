/* SPDX-License-Identifier: MIT */
/*
 * Packs bytes into members of a format, each in one call.
 *
 * A result is cut into frames of a fixed number of bytes, and each becomes a member of its own.  So
 * any program reads the file, and several threads can pack and unpack it.  Each member has its
 * sizes: in zstd and LZ4 frames the size of the contents, in gzip members the packed size, in the
 * extra field of MiGz.
 *
 * Thread rule: an encoder belongs to one thread at a time.
 */
#pragma once

#include <stdint.h>
#include <spindle/packed.h>

/* Less memory is little: frames are then small. */
#define SP__PACK_LITTLE (UINT64_C(12) << 20)

/* How a result is cut into frames. */
struct sp__packframe {
	size_t bytes;	       /* bytes of the contents; the last frame is shorter */
	size_t capacity;       /* bytes that a packed frame can have */
	uint64_t memory_bytes; /* for one frame: contents, packed frame and encoder */
};

/*
 * Returns the frames of a format, whose library is loaded; they are small if memory_bytes, the
 * maximum memory, is small.  level: 0, the default, or up to sp_packed_levels().
 */
struct sp__packframe sp__packframe(enum sp_packed format, unsigned level, uint64_t memory_bytes);

/* Returns at least the memory for one frame that is not small; needs no library. */
uint64_t sp__pack_memory(enum sp_packed format, unsigned level);

struct sp__encoder;

/*
 * Makes an encoder. level, memory_bytes: as for sp__packframe(); with little memory the result is
 * larger. name: of the file, for err.  Returns 0, SP_EUNSUP (the format is missing) or -ENOMEM.
 */
SP_MUST_CHECK int sp__encoder_new(struct sp__encoder **p, enum sp_packed format, unsigned level,
				  const char *name, uint64_t memory_bytes, struct sp_errinfo *err);
void sp__encoder_free(struct sp__encoder *p); /* accepts NULL */

/*
 * Packs the contents of one frame into out, which has the capacity of a frame; *packed is set to
 * the size of the member.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__encoder_run(struct sp__encoder *p, const char *data, size_t bytes, char *out,
				  size_t *packed);
