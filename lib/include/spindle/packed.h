/* SPDX-License-Identifier: MIT */
/*
 * Compressed formats of inputs and results (spindle/run.h, decompress and compress_output).  It
 * names and recognises them; reading and writing is done by the operators.
 *
 * Thread rule: any thread.
 */
#ifndef SPINDLE_PACKED_H
#define SPINDLE_PACKED_H

#include <spindle/error.h>
#include <spindle/enum.h>

enum sp_packed {
	SP_PACKED_NONE, /* not compressed */
	SP_PACKED_AUTO, /* inputs: by the magic number; not compressed without one */
	SP_PACKED_GZIP,
	SP_PACKED_ZSTD,
	SP_PACKED_LZ4, /* the frame format */
	SP_PACKED_XZ
};

SP_ENUM(sp_packed)

/* Bytes at the beginning of a file that sp_packed_by_magic() reads. */
#define SP_PACKED_MAGIC_BYTES 6

/* Returns the format of a file that begins with these bytes, or SP_PACKED_NONE. */
SP_API enum sp_packed sp_packed_by_magic(const void *data, size_t bytes);

/*
 * Returns the name of a format that this library does not read, "bzip2" or "lzma", or NULL if data
 * does not begin like one of them.  The name is static.
 */
SP_API const char *sp_packed_foreign(const void *data, size_t bytes);

/* Returns the format of a file name's suffix, or SP_PACKED_NONE. */
SP_API enum sp_packed sp_packed_by_suffix(const char *name);

/* Returns NULL if this build can read or write the format, else the reason as a static text. */
SP_API const char *sp_packed_missing(enum sp_packed format);

/* Returns the highest compression level of a format; the lowest is 1. */
SP_API unsigned sp_packed_levels(enum sp_packed format);

/*
 * Parses FORMAT or FORMAT:LEVEL, such as "zstd:9".
 * format: receives the format, whose name may be abbreviated.
 * level: receives the level; 0 without one, for the default.
 * Returns 0; -EINVAL or -ENOTUNIQ: not a format, as sp_enum_parse() returns; SP_ESYNTAX: not a
 * level of the format.  The latter is described in err.
 */
SP_API SP_MUST_CHECK int sp_packed_parse_level(const char *text, enum sp_packed *format,
					       unsigned *level, struct sp_errinfo *err);

/*
 * Unpacks the beginning of a file.
 * name: name of the file, for err.
 * data: the first `bytes` bytes of the file.
 * out: memory of the caller, `capacity` bytes.
 * unpacked: receives the number of bytes in out.
 * Returns 0 or an error:
 *   SP_EFORMAT: the data are damaged, or not of that format
 *   SP_EUNSUP: this build lacks the format
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_packed_beginning(enum sp_packed format, const char *name,
					     const void *data, size_t bytes, char *out,
					     size_t capacity, size_t *unpacked,
					     struct sp_errinfo *err);

#endif
