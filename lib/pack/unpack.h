/* SPDX-License-Identifier: MIT */
/*
 * Unpacking the bytes of a compressed file, in pieces of any length.
 *
 * A file is one member of its format or several, one behind the other.  What follows a member
 * is another, or the file is damaged.
 *
 * Thread rule: a decoder belongs to one thread at a time.
 */
#ifndef SP__PACK_UNPACK_H
#define SP__PACK_UNPACK_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/packed.h>

/* Bytes to read, and where to put others; both sides move on as they are used. */
struct sp__packspan {
	const char *in;
	size_t in_bytes;
	char *out;
	size_t room;
};

struct sp__decoder;

/* The memory of a decoder, and what a user sets for it: 1 / share of -S, beside the chunks. */
struct sp__packmemory {
	uint64_t bytes;
	uint64_t beside_bytes;
	unsigned share;
};

/*
 * Members that need more memory than m->bytes are refused.  SP_PACKED_AUTO: the file begins with
 * frames to be skipped, and the first other one decides.  name is borrowed.  0, SP_EUNSUP (the
 * format is missing) or -ENOMEM.
 */
SP_MUST_CHECK int sp__decoder_new(struct sp__decoder **u, enum sp_packed format, const char *name,
				  const struct sp__packmemory *m, struct sp_errinfo *err);
void sp__decoder_free(struct sp__decoder *u); /* accepts NULL */

/*
 * Unpacks until there is no input left or no room.  Where room is left, all that the input gives
 * has been given.  0; SP_EFORMAT; SP_EBUDGET: more memory is needed; -ENOMEM.
 */
SP_MUST_CHECK int sp__decoder_run(struct sp__decoder *u, struct sp__packspan *span);
/* At the end of the file, when run() has left room: SP_EFORMAT if a member is not complete. */
SP_MUST_CHECK int sp__decoder_end(struct sp__decoder *u);

/* SP_EUNSUP if data begins as a file in a format that is not read here. */
SP_MUST_CHECK int sp__packed_refuse(const void *data, size_t bytes, const char *name,
				    struct sp_errinfo *err);

/* True if data begins with a frame that zstd and lz4 skip, as a file of pzstd does. */
bool sp__packed_skippable(const void *data, size_t bytes);

#endif
