/* SPDX-License-Identifier: MIT */
/*
 * Writes the elements of a box to a file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/enum.h"
#include "cube/state.h"
#include "cube/input/npy.h"

SP__ENUM_TABLE(sp_cube_format, { "raw", SP_CUBE_RAW }, { "npy", SP_CUBE_NPY },
	       { "csv", SP_CUBE_CSV })

struct csv {
	const struct sp_cube_shape *shape;
	const struct sp_cube_box *box;
	uint64_t x[SP_CUBE_DIMS_MAX];
	FILE *out;
	char *text;
};

static int put_bytes(void *out, const void *data, size_t bytes)
{
	return fwrite(data, 1, bytes, out) == bytes ? 0 : -(errno ? errno : EIO);
}

static int put_line(const struct csv *c, const uint8_t *value)
{
	for (unsigned i = 0; i < c->shape->ndims; i++)
		fprintf(c->out, "%" PRIu64 ",", c->x[i]);
	sp_cube_value_print(c->shape, value, c->text);
	return fprintf(c->out, "%s\n", c->text) < 0 ? -(errno ? errno : EIO) : 0;
}

static int put_lines(void *arg, const void *data, size_t bytes)
{
	struct csv *c = arg;
	int rc = 0;

	for (const uint8_t *at = data, *end = at + bytes; !rc && at < end;
	     at += c->shape->element_bytes) {
		rc = put_line(c, at);
		sp__box_next(c->box, 0, c->shape->ndims, c->x);
	}
	return rc;
}

/* Points with their coordinates. */
static int put_points(void *arg, const void *data, size_t bytes)
{
	struct csv *c = arg;
	size_t head = c->shape->ndims * sizeof(uint64_t), each = head + c->shape->element_bytes;
	int rc = 0;

	for (const uint8_t *at = data, *end = at + bytes; !rc && at < end; at += each) {
		memcpy(c->x, at, head);
		rc = put_line(c, at + head);
	}
	return rc;
}

static int export_box(struct sp_cube *cube, const struct sp_cube_box *box,
		      enum sp_cube_format format, FILE *out, struct sp_cube_stats *stats,
		      struct sp_errinfo *err)
{
	const struct sp_cube_shape *shape = &cube->file.superblock.shape;
	struct csv csv = { .shape = shape, .box = box, .out = out };
	uint8_t header[SP__NPY_HEADER_MAX];
	int rc = sp__cube_check_box(&cube->file, box, err);

	if (!rc) /* before the header of a .npy file */
		rc = sp__cube_check_elements(&cube->file, "read", err);
	if (rc)
		return rc;
	if (format == SP_CUBE_NPY && cube->file.superblock.points)
		return sp__errf(err, SP_EUNSUP, "read", cube->file.path, -1,
				"points are CSV or raw data: a .npy file has a grid");
	if (format == SP_CUBE_NPY)
		rc = put_bytes(out, header, sp__npy_write(header, shape, box));
	if (format == SP_CUBE_CSV) {
		csv.text = malloc(SP_CUBE_VALUE_MAX + 2 * (size_t)shape->element_bytes);
		memcpy(csv.x, box->lo, sizeof(csv.x));
		rc = csv.text ? sp__cube_read(cube, box,
					      cube->file.superblock.points ? put_points : put_lines,
					      &csv, stats, err)
			      : -ENOMEM;
		free(csv.text);
	} else if (!rc) {
		rc = sp__cube_read(cube, box, put_bytes, out, stats, err);
	}
	return rc < 0 ? sp__err(err, rc, "write", NULL, -1) : rc;
}

int sp_cube_export(struct sp_cube *cube, const struct sp_cube_box *box, enum sp_cube_format format,
		   FILE *out, struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	int rc = sp__begin_reading(cube, err);

	if (rc)
		return rc;
	rc = export_box(cube, box, format, out, stats, err);
	sp__end_reading(cube);
	return rc;
}
