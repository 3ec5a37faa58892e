/* SPDX-License-Identifier: MIT */
/*
 * Compressed files: the formats in which inputs can be read and results be written
 * (spindle/run.h, decompress and compress_output).  All functions are thread-safe.
 */
#ifndef SPINDLE_PACKED_H
#define SPINDLE_PACKED_H

#include <stddef.h>
#include <spindle/error.h>
#include <spindle/enum.h>

enum sp_packed {
	SP_PACKED_NONE, /* as it is */
	SP_PACKED_AUTO, /* of inputs: by its magic number, and as it is without one */
	SP_PACKED_GZIP,
	SP_PACKED_ZSTD,
	SP_PACKED_LZ4, /* the frame format */
	SP_PACKED_XZ   /* read only */
};

SP_ENUM(sp_packed)  /* formats that inputs may have */
SP_ENUM(sp_packing) /* formats of results */

/* Bytes at the beginning of a file that sp_packed_by_magic() looks at. */
#define SP_PACKED_MAGIC_BYTES 6

/* The format of a file that begins with these bytes; SP_PACKED_NONE: none of them. */
SP_API enum sp_packed sp_packed_by_magic(const void *data, size_t bytes);

/*
 * The name of a format that is not read here: "bzip2" or "lzma"; NULL: data begins as none of
 * those.
 */
SP_API const char *sp_packed_foreign(const void *data, size_t bytes);

/* The format that the suffix of a file's name stands for; SP_PACKED_NONE: none. */
SP_API enum sp_packed sp_packed_by_suffix(const char *name);

/* NULL, or the reason why this library can neither read nor write the format. */
SP_API const char *sp_packed_missing(enum sp_packed format);

/*
 * Unpacks the beginning of a file: what the first bytes of it, at data, stand for, up to room
 * bytes.  *unpacked is their number.  0; SP_EFORMAT: damaged, or not of that format; SP_EUNSUP:
 * a format that is missing; or -ENOMEM.  name is the file's, for err.
 */
SP_API SP_MUST_CHECK int sp_packed_beginning(enum sp_packed format, const char *name,
					     const void *data, size_t bytes, char *out, size_t room,
					     size_t *unpacked, struct sp_errinfo *err);

#endif
