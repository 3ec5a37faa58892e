/* SPDX-License-Identifier: MIT */
/*
 * Unpacks the bytes of a compressed file, in chunks of any length.
 *
 * A file is one member of its format or several consecutive ones.  If bytes after a member are not
 * another one, the file is damaged.
 *
 * Thread rule: a decoder belongs to one thread at a time.
 */
#pragma once

#include <spindle/packed.h>

/* Bytes to read, and space to write to; both sides advance as they are used. */
struct sp__packspan {
	const char *in;
	size_t in_bytes;
	char *out;
	size_t out_free;
};

static inline void sp__packspan_advance(struct sp__packspan *span, size_t in, size_t out)
{
	span->in += in;
	span->in_bytes -= in;
	span->out += out;
	span->out_free -= out;
}

/* Loads the library of a format.  Returns the errors of sp__library_load(). */
SP_MUST_CHECK int sp__packed_load(enum sp_packed format, struct sp_errinfo *err);

struct sp__decoder;

/*
 * The memory of a decoder, and the option that sets it: 1 / share of -S, in addition to the chunks.
 */
struct sp__packmemory {
	uint64_t bytes;
	uint64_t beside_bytes;
	unsigned share;
};

/*
 * Makes a decoder.  Members that use more memory than m->bytes are refused.  SP_PACKED_AUTO: the
 * file begins with skippable frames, and the first other frame decides. name is borrowed.  Returns
 * 0, SP_EUNSUP (the format or its library is missing) or -ENOMEM.
 */
SP_MUST_CHECK int sp__decoder_new(struct sp__decoder **u, enum sp_packed format, const char *name,
				  const struct sp__packmemory *m, struct sp_errinfo *err);
void sp__decoder_free(struct sp__decoder *u); /* accepts NULL */

/*
 * Unpacks until a member ends (returns 1), or until the input or the output space is
 * exhausted (returns 0).  If it returns 0 and output space is left, all output of the input has
 * been written.  Errors: SP_EFORMAT; SP_EBUDGET: more memory is needed; -ENOMEM.
 */
SP_MUST_CHECK int sp__decoder_run(struct sp__decoder *u, struct sp__packspan *span);
/*
 * Unpacks an input that ends with the end of a member; there must be more output space than its
 * contents need.  Returns 0, or an error as above; SP_EFORMAT also if it ends elsewhere.
 */
SP_MUST_CHECK int sp__decoder_members(struct sp__decoder *u, struct sp__packspan *span);
/*
 * Called at the end of the file, when run() has left output space.  Returns SP_EFORMAT if a member
 * is not complete.
 */
SP_MUST_CHECK int sp__decoder_end(struct sp__decoder *u);

/*
 * Checks the beginning of a file without a magic number, all of it if it is shorter than one.
 * Returns 0; SP_EUNSUP if it is in a format that is not supported; SP_EFORMAT if it was cut.
 */
SP_MUST_CHECK int sp__packed_refuse(const void *data, size_t bytes, const char *name,
				    struct sp_errinfo *err);

/*
 * Returns the format of a file that ends within its magic number, or SP_PACKED_NONE; a part that
 * can be text is not one.
 */
enum sp_packed sp__packed_cut(const void *data, size_t bytes);

/* True if data begins with a frame that zstd and lz4 skip, like a file of pzstd. */
bool sp__packed_skippable(const void *data, size_t bytes);
