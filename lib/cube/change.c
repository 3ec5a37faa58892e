/* SPDX-License-Identifier: MIT */
/*
 * Changes cubes: passes each call to the inner room for grids or for points.
 */
#include <signal.h>
#include <spindle/cubearray.h>
#include "base/err.h"
#include "cube/elements/elements.h"
#include "cube/file/putlog.h"
#include "cube/state.h"

static void begin(struct sp_cube *cube, struct sp_cube_stats *stats)
{
	*stats = (struct sp_cube_stats){ 0 };
	sp__cube_hollow(&cube->file, false);
}

int sp_cube_load(struct sp_cube *cube, const char *input, const struct sp_cube_load_opts *opts,
		 struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	int rc;

	begin(cube, stats);
	rc = cube->file.superblock.points ? sp__points_load(&cube->points, input, opts, stats, err)
					  : sp__elements_load(&cube->file, input, opts, stats, err);
	sp__env_note(&cube->file.env, &stats->run, false);
	return rc;
}

int sp_cube_append(struct sp_cube *cube, unsigned dim, uint64_t count, const char *input,
		   const struct sp_cube_load_opts *opts, struct sp_cube_stats *stats,
		   struct sp_errinfo *err)
{
	int rc;

	begin(cube, stats);
	rc = sp__elements_append(&cube->file, dim, count, input, opts, stats, err);
	sp__env_note(&cube->file.env, &stats->run, false);
	return rc;
}

/* Checks that an element can be changed. */
static int check_element(const struct sp_cube *cube, const uint64_t *x, struct sp_errinfo *err)
{
	struct sp_cube_box box = sp__box_of(x, cube->file.superblock.shape.ndims);
	int rc = sp__cube_check_box(&cube->file, &box, err);

	return rc ? rc : sp__cube_check_elements(&cube->file, "write", err);
}

static void block_signals(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, old);
}

int sp_cube_put(struct sp_cube *cube, const uint64_t *x, const void *element,
		struct sp_errinfo *err)
{
	sigset_t old;
	int rc = check_element(cube, x, err);

	if (rc)
		return rc;
	block_signals(&old);
	rc = cube->file.superblock.points ? sp__points_put(&cube->points, x, element, err)
					  : sp__element_put(&cube->file, x, element, err);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

static int check_write(const struct sp_cube *cube, const struct sp_cube_box *box,
		       struct sp_errinfo *err)
{
	const struct sp__cubefile *c = &cube->file;
	int rc = c->superblock.points
			 ? sp__errf(err, SP_EUNSUP, "write", c->path, -1, "points are not an array")
			 : 0;

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

int sp_cube_delete(struct sp_cube *cube, const uint64_t *x, const void *value,
		   struct sp_errinfo *err)
{
	const struct sp__cube_superblock *h = &cube->file.superblock;
	sigset_t old;
	int rc = check_element(cube, x, err);

	if (rc)
		return rc;
	if (!h->points && value)
		return sp__errf(err, SP_EUNSUP, "delete", cube->file.path, -1,
				"a grid has one element at each position: no value selects it");
	block_signals(&old);
	rc = h->points ? sp__points_delete(&cube->points, x, value, err)
		       : sp__element_put(&cube->file, x, h->fill, err);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

int sp_cube_reorganise(struct sp_cube *cube, struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	if (cube->file.superblock.points)
		return sp_cube_load(cube, NULL, NULL, stats, err);
	*stats = (struct sp_cube_stats){ 0 };
	return sp__errf(err, SP_EUNSUP, "reorganise", cube->file.path, -1,
			"a grid stays as it was created: only points are reorganised");
}

/* Restores data with a valid copy: a put from the log, and a superblock from the other one. */
int sp_cube_repair(struct sp_cube *cube, struct sp_cube_repair *done, struct sp_errinfo *err)
{
	struct sp__cubefile *c = &cube->file;
	int rc;

	*done = (struct sp_cube_repair){ 0 };
	if (!c->opts.write)
		return sp__err(err, -EBADF, "repair", c->path, -1);
	rc = sp__putlog_read(c, err);
	if (rc)
		return rc;
	done->put = c->pending.extent != NULL;
	done->superblock = c->superblock.slots.alone;
	rc = sp__put_settle(c, err);
	/* The next state of the superblock goes to the other slot. */
	if (!rc && c->superblock.slots.alone)
		rc = sp__cube_superblock_write(&c->superblock, c->cells.first.fd, c->path, err);
	return rc;
}
