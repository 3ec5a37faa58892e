/* SPDX-License-Identifier: MIT */
/* Reads points from CSV or raw data. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/whole.h"
#include "cube/input/csvlines.h"
#include "cube/input/npy.h"
#include "cube/points/input.h"

static int pass(struct sp__pointinput *in, const uint64_t *x, const uint8_t *value)
{
	in->n++;
	return in->fn(in->arg, x, value);
}

static void keep_coordinates(const struct sp__cubefile *c, const uint64_t *x, void *to)
{
	memcpy(to, x, c->superblock.shape.ndims * sizeof(*x));
}

static int pass_all(struct sp__pointinput *in, const struct sp__csvpoints *p)
{
	const struct sp_cube_shape *s = &in->dataset->file->superblock.shape;
	const uint64_t *x = (const uint64_t *)p->places;
	int rc = 0;

	for (size_t i = 0; !rc && i < p->n; i++)
		rc = pass(in, x + i * s->ndims, p->values + i * s->element_bytes);
	return rc;
}

static int read_csv(struct sp__pointinput *in)
{
	const struct sp_cube_shape *s = &in->dataset->file->superblock.shape;
	struct sp__csvlines csv = { .file = in->dataset->file,
				    .rollup = in->opts->rollup,
				    .name = in->name,
				    .err = in->err,
				    .place = keep_coordinates,
				    .place_bytes = s->ndims * sizeof(uint64_t),
				    .fd = -1 };
	struct sp__csvpoints points;
	int rc = sp__csvlines_open(&csv);

	sp__cube_begin_phase(in->dataset->file, SP_CUBE_PHASE_INPUT, -1, csv.file_bytes);
	while (!rc && !(rc = sp__csvlines_next(&csv, &points)))
		rc = pass_all(in, &points);
	in->blank_lines = csv.blank;
	in->header_lines = csv.header;
	sp__csvlines_close(&csv);
	return rc < 0 ? rc : 0;
}

static int read_error(const struct sp__pointinput *in, int code, const char *text)
{
	return sp__errf(in->err, code, "read", in->name, -1, "point %" PRIu64 ": %s", in->n, text);
}

/* Adds a point of raw data: coordinates, then the value. */
static int add_raw(struct sp__pointinput *in, const uint8_t *point)
{
	const struct sp_cube_shape *s = &in->dataset->file->superblock.shape;
	uint64_t x[SP_CUBE_DIMS_MAX];

	memcpy(x, point, s->ndims * sizeof(*x));
	for (unsigned i = 0; i < s->ndims; i++)
		if (x[i] >= s->dims[i])
			return sp__errf(in->err, -ERANGE, "read", in->name, -1,
					"point %" PRIu64 ": coordinate %" PRIu64
					" of dimension %u is not below %" PRIu64,
					in->n, x[i], i, s->dims[i]);
	return pass(in, x, point + s->ndims * sizeof(*x));
}

static int refuse_npy(const struct sp__pointinput *in)
{
	return sp__errf(in->err, SP_EUNSUP, "load", in->name, -1,
			"points are loaded from CSV or raw data: a .npy file has a grid");
}

static int read_raw(struct sp__pointinput *in)
{
	size_t bytes = sp__point_bytes(in->dataset), n = 0;
	uint8_t *point = malloc(bytes);
	uint64_t file_bytes;
	FILE *file = NULL;
	int rc = point ? sp__cubeinput_stream(&file, in->dataset->file, in->name, in->err)
		       : sp__err(in->err, -ENOMEM, "malloc", NULL, -1);

	file_bytes = rc ? 0 : sp__file_bytes(fileno(file));
	sp__cube_begin_phase(in->dataset->file, SP_CUBE_PHASE_INPUT, -1, file_bytes);
	while (!rc && (n = fread(point, 1, bytes, file)) == bytes) {
		if (!in->n && in->opts->detect &&
		    !memcmp(point, SP__NPY_MAGIC, SP__NPY_MAGIC_BYTES))
			rc = refuse_npy(in);
		else
			rc = add_raw(in, point);
		if (in->n % SP__POINTS_REPORTED == 0)
			sp__progress_add(&in->dataset->file->progress, SP__POINTS_REPORTED * bytes);
	}
	if (!rc && ferror(file))
		rc = read_error(in, errno ? -errno : -EIO, "cannot be read");
	else if (!rc && n)
		rc = read_error(in, SP_EFORMAT, "the input ends inside it");
	else if (!rc)
		rc = sp__check_uncut(fileno(file), file_bytes, in->name, in->err);
	if (file)
		fclose(file);
	free(point);
	return rc;
}

int sp__pointinput_check(const struct sp__pointinput *in)
{
	const struct sp_cube_load_opts *o = in->opts;

	if (!in->name)
		return 0;
	if (o->ordered || o->offset || o->big_endian || o->resume || sp__load_rolled(o))
		return sp__errf(in->err, SP_ESYNTAX, "load", in->name, -1,
				"order, offset, byte order, roll-up and resuming do not apply to "
				"points");
	return o->format == SP_CUBE_NPY ? refuse_npy(in) : 0;
}

int sp__pointinput_read(struct sp__pointinput *in)
{
	if (!in->name)
		return 0;
	return in->opts->format == SP_CUBE_CSV ? read_csv(in) : read_raw(in);
}
