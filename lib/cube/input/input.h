/* SPDX-License-Identifier: MIT */
/*
 * The input of a load in sequence: raw elements or a .npy file, from a plain file or a pipe.
 * Coordinates are those of the input, and begin at 0.
 */
#pragma once

#include "cube/file/file.h"

/*
 * Opens an input; "-": standard input.  Returns a descriptor, -errno, or SP_EUNSUP: it is the cube
 * itself.
 */
SP_MUST_CHECK int sp__cubeinput_open(const struct sp__cubefile *c, const char *name,
				     struct sp_errinfo *err);
/*
 * Copies a pipe to a temporary file, which replaces the pipe as fd: first the bytes that were read
 * already, then the following ones, until there are more than max bytes.
 */
SP_MUST_CHECK int sp__cubeinput_spool(const struct sp__cubefile *c, int fd, const char *name,
				      const void *held, size_t nheld, uint64_t max,
				      struct sp_errinfo *err);

struct sp__loadinput {
	const struct sp__cubefile *file;
	const char *name;
	struct sp_errinfo *err;
	/* From the options, or the header of a .npy file. */
	uint64_t offset; /* offset of the first element */
	bool big_endian;
	unsigned order[SP_CUBE_DIMS_MAX];
	uint64_t count[SP_CUBE_DIMS_MAX]; /* elements along each dimension */
	uint64_t pitch[SP_CUBE_DIMS_MAX]; /* bytes from an element to the next */
	int fd;
	bool seekable;
	uint64_t file_bytes; /* length of a regular file at the first element; else 0 */
	uint64_t at;	     /* offset in an input that is not seekable */
	unsigned nheld;
	uint8_t held[8]; /* the next bytes of a pipe, read to detect its format */
};

/*
 * Opens an input with `count` elements along each dimension; for one of them 0: as many as the
 * input has.  The caller closes it, also after an error.  Returns 0 or an error of sp_cube_load().
 */
SP_MUST_CHECK int sp__loadinput_open(struct sp__loadinput *in, const struct sp__cubefile *file,
				     const char *name, const struct sp_cube_load_opts *opts,
				     const uint64_t *count, struct sp_errinfo *err);
void sp__loadinput_close(struct sp__loadinput *in);

/* Skips to the first element of a pipe; unless it is read in sequence, copies it to a file. */
SP_MUST_CHECK int sp__loadinput_begin(struct sp__loadinput *in, bool in_sequence);
/* Skips bytes of a pipe. */
SP_MUST_CHECK int sp__loadinput_skip(struct sp__loadinput *in, uint64_t bytes);
/* Reads the elements of a box, in rows along the fastest dimension of the input. */
SP_MUST_CHECK int sp__loadinput_read(struct sp__loadinput *in, const struct sp_cube_box *box,
				     uint8_t *elements);
/* Checks that nothing follows the last element. */
SP_MUST_CHECK int sp__loadinput_end(struct sp__loadinput *in);
