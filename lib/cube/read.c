/* SPDX-License-Identifier: MIT */
/*
 * Reads cubes: passes each call to the inner room for grids or for points.
 */
#include <string.h>
#include <spindle/cubearray.h>
#include "base/err.h"
#include "cube/choose/choose.h"
#include "cube/elements/elements.h"
#include "cube/state.h"

int sp__begin_reading(struct sp_cube *c, struct sp_errinfo *err)
{
	return c->file.opts.write ? sp__put_settle(&c->file, err)
				  : sp__cube_begin_reading(&c->file, err);
}

void sp__end_reading(const struct sp_cube *c)
{
	sp__cube_end_reading(&c->file);
}

int sp__cube_read(struct sp_cube *c, const struct sp_cube_box *box, sp_cube_sink sink, void *arg,
		  struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	int rc = sp__cube_check_box(&c->file, box, err);

	*stats = (struct sp_cube_stats){ .elements = 1 };
	if (!rc && sink)
		rc = sp__cube_check_elements(&c->file, "read", err);
	if (rc)
		return rc;
	return c->file.superblock.points ? sp__points_read(&c->points, box, sink, arg, stats, err)
					 : sp__elements_read(&c->file, box, sink, arg, stats, err);
}

int sp_cube_read(struct sp_cube *cube, const struct sp_cube_box *box, sp_cube_sink sink, void *arg,
		 struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	int rc = sp__begin_reading(cube, err);

	*stats = (struct sp_cube_stats){ 0 };
	if (rc)
		return rc;
	rc = sp__cube_read(cube, box, sink, arg, stats, err);
	sp__end_reading(cube);
	return rc;
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
	int rc = cube->file.superblock.points ? sp__errf(err, SP_EUNSUP, "read", cube->file.path,
							 -1, "points are not an array")
					      : 0;

	*s = (struct sp_cube_stats){ 0 };
	return rc ? rc : sp_cube_read(cube, box, append_elements, &to, s, err);
}

int sp_cube_compare_points(struct sp_cube *cube, const char *input,
			   const struct sp_cube_load_opts *load,
			   const struct sp_cube_create_opts *opts, bool run,
			   struct sp_cube_candidate candidates[SP_CUBE_CANDIDATES], double *sampled,
			   struct sp_errinfo *err)
{
	int rc = cube->file.superblock.points
			 ? sp__begin_reading(cube, err)
			 : sp__errf(err, SP_ESYNTAX, "predict", cube->file.path, -1,
				    "it is a grid, whose mapping does not depend on points");

	if (rc)
		return rc;
	rc = sp__points_compare(&cube->points, input, load, opts, run, candidates, sampled, err);
	sp__end_reading(cube);
	return rc;
}

int sp_cube_verify(struct sp_cube *cube, struct sp_cube_check *check, struct sp_cube_stats *stats,
		   struct sp_errinfo *err)
{
	int rc = sp__begin_reading(cube, err);

	*check = (struct sp_cube_check){ .cells = 1,
					 .superblock = cube->file.superblock.slots.alone };
	*stats = (struct sp_cube_stats){ 0 };
	if (rc)
		return rc;
	rc = cube->file.superblock.points ? sp__points_verify(&cube->points, check, stats, err)
					  : sp__elements_verify(&cube->file, check, stats, err);
	check->put = cube->file.pending.extent != NULL;
	sp__end_reading(cube);
	return rc;
}

struct first {
	void *element;
	size_t skip, bytes;
	bool found;
};

static int keep_first(void *arg, const void *data, size_t bytes)
{
	struct first *f = arg;

	(void)bytes;
	if (!f->found)
		memcpy(f->element, (const uint8_t *)data + f->skip, f->bytes);
	f->found = true;
	return 0;
}

int sp_cube_get(struct sp_cube *cube, const uint64_t *x, void *element, struct sp_errinfo *err)
{
	const struct sp__cube_superblock *h = &cube->file.superblock;
	size_t value = h->shape.element_bytes;
	struct first f = { element, h->points ? sp__point_bytes(&cube->points) - value : 0, value,
			   false };
	struct sp_cube_stats stats;
	struct sp_cube_box box = sp__box_of(x, h->shape.ndims);
	int rc = sp_cube_read(cube, &box, keep_first, &f, &stats, err);

	return rc || f.found ? rc
			     : sp__errf(err, -ENOENT, "read", cube->file.path, -1, "no such point");
}
