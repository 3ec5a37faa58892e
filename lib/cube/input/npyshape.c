/* SPDX-License-Identifier: MIT */
/*
 * Reads the shape of a .npy file before a cube is made for it.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/cubearray.h>
#include "base/err.h"
#include "base/whole.h"
#include "cube/input/npy.h"

static int refuse(const char *path, int code, const char *text, struct sp_errinfo *err)
{
	return sp__errf(err, code, "read", path, -1, "%s", text);
}

/* Checks that the elements of the shape begin at an offset and end with the file. */
static int check_length(const struct sp_cube_shape *s, uint64_t offset, uint64_t bytes,
			const char *path, struct sp_errinfo *err)
{
	uint64_t need = s->element_bytes;
	bool over = false;

	for (unsigned i = 0; i < s->ndims; i++)
		over |= __builtin_mul_overflow(need, s->dims[i], &need);
	over |= __builtin_add_overflow(need, offset, &need);
	if (!over && need == bytes)
		return 0;
	return sp__errf(err, SP_EFORMAT, "read", path, -1,
			over || bytes < need
				? "the input ends before the last element: it has %llu "
				  "bytes, not as many as its header says"
				: "the input goes on after the last element: it has "
				  "%llu bytes, more than its header says",
			(unsigned long long)bytes);
}

static int read_shape(int fd, const char *path, struct sp_cube_shape *shape, struct sp_errinfo *err)
{
	uint8_t header[SP__NPY_HEADER_MAX];
	struct stat st;
	uint64_t bytes;
	ssize_t got;
	int rc;

	if (fstat(fd, &st))
		return sp__err(err, -errno, "stat", path, -1);
	if (S_ISDIR(st.st_mode))
		return sp__err(err, -EISDIR, "read", path, -1);
	if (!S_ISREG(st.st_mode))
		return refuse(path, SP_EUNSUP,
			      "the shape is read from regular files only: give the sizes and the "
			      "type, and load the input",
			      err);
	got = sp__read_whole(fd, header, sizeof(header), 0);
	if (got < 0)
		return sp__err(err, (int)got, "read", path, 0);
	bytes = got < SP__NPY_PREFIX ? 0 : sp__npy_header_bytes(header);
	if (!bytes || bytes > (uint64_t)got)
		return refuse(path, SP_EFORMAT, "is not a .npy file", err);
	rc = sp__npy_shape(header, bytes, path, shape, err);
	return rc ? rc : check_length(shape, bytes, (uint64_t)st.st_size, path, err);
}

int sp_cube_shape_load(struct sp_cube_shape *shape, const char *path, struct sp_errinfo *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	if (fd < 0)
		return sp__err(err, -errno, "open", path, -1);
	rc = read_shape(fd, path, shape, err);
	close(fd);
	return rc;
}
