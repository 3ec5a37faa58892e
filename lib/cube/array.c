/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes boxes of a grid as arrays in memory.
 */
#include <string.h>
#include <spindle/cubearray.h>
#include "base/err.h"
#include "cube/elements/elements.h"
#include "cube/state.h"

static int refuse_points(const struct sp_cube *cube, const char *op, struct sp_errinfo *err)
{
	return cube->file.superblock.points ? sp__errf(err, SP_EUNSUP, op, cube->file.path, -1,
						       "points are not an array")
					    : 0;
}

static int append_elements(void *arg, const void *data, size_t bytes)
{
	uint8_t **to = arg;

	memcpy(*to, data, bytes);
	*to += bytes;
	return 0;
}

int sp_cube_read_array(struct sp_cube *cube, const struct sp_cube_box *box, void *elements,
		       struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct sp_cube_stats own, *s = stats ? stats : &own;
	uint8_t *to = elements;
	int rc = refuse_points(cube, "read", err);

	*s = (struct sp_cube_stats){ 0 };
	return rc ? rc : sp_cube_read(cube, box, append_elements, &to, s, err);
}

static int check_write(const struct sp_cube *cube, const struct sp_cube_box *box,
		       struct sp_errinfo *err)
{
	const struct sp__cubefile *c = &cube->file;
	int rc = refuse_points(cube, "write", err);

	if (!rc && !c->opts.write)
		rc = sp__err(err, -EBADF, "write", c->path, -1);
	if (!rc)
		rc = sp__cube_check_box(c, box, err);
	for (unsigned i = 0; !rc && i < c->superblock.shape.ndims; i++)
		if (box->stride[i] != 1)
			rc = sp__errf(err, SP_ESYNTAX, "write", c->path, -1,
				      "a box with strides cannot be written");
	return rc;
}

int sp_cube_write(struct sp_cube *cube, const struct sp_cube_box *box, const void *elements,
		  struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct sp_cube_stats own, *s = stats ? stats : &own;
	int rc = check_write(cube, box, err);

	*s = (struct sp_cube_stats){ 0 };
	if (rc)
		return rc;
	if (sp__box_cells(box, cube->file.superblock.shape.ndims) == 1)
		return sp_cube_put(cube, box->lo, elements, err);
	sp__cube_hollow(&cube->file, false);
	rc = sp__elements_write(&cube->file, box, elements, s, err);
	sp__env_note(&cube->file.env, &s->run, false);
	return rc;
}
