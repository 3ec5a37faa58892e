/* SPDX-License-Identifier: MIT */
/*
 * Creates the files of a cube as planned: first the volumes, then the superblock.
 */
#include <string.h>
#include <sys/random.h>
#include "base/err.h"
#include "cells/creation.h"
#include "cube/choose/choose.h"
#include "cube/choose/plan.h"
#include "cube/file/extents.h"
#include "cube/file/volumes.h"

/* Adds the volumes, marks all but the first, and writes the superblock to both slots. */
static int write_volumes(struct sp__creation *c, struct sp__cube_superblock *h, const char *path)
{
	unsigned n = h->no_data ? 1 : h->mapping.basic.volumes;
	int rc = 0;

	for (unsigned i = 0; !rc && i < n; i++)
		rc = sp__creation_add(c, i ? sp__cube_volume_name(h, path, i) : strdup(path));
	if (!rc)
		rc = sp__creation_empty(c);
	for (unsigned i = 1; !rc && i < n; i++)
		rc = sp__cube_volume_mark(h, i, c->files[i].fd, c->files[i].name, c->err);
	for (unsigned i = 0; !rc && i < 2; i++)
		rc = sp__cube_superblock_write(h, c->files[0].fd, path, c->err);
	return rc;
}

/* The table of checksums is cleared; a cube without data is a superblock alone. */
static int create_volumes(struct sp__cube_plan *p)
{
	struct sp__cube_superblock *h = &p->superblock;
	struct sp__creation c = { .noun = "the cube",
				  .err = p->err,
				  .overwrite = p->opts->run.overwrite,
				  .wait_ns = p->opts->run.wait_ns,
				  .max_bytes = p->drive.bytes };

	if (h->points)
		c.no_device = "points are stored in plain files, which grow";
	else
		c.clear_bytes = sp__extents_table_end(h, h->fragments.list[0]) * h->block_bytes;
	c.need_bytes = (h->points ? sp__cube_superblock_end(h) : sp__mapping_end(&h->mapping)) *
		       h->block_bytes;
	c.file_bytes = h->no_data ? 2 * (uint64_t)h->slots.slot_bytes : c.need_bytes;
	if (h->mapping.basic.volumes > 1 &&
	    getrandom(&h->id, sizeof(h->id), 0) != (ssize_t)sizeof(h->id))
		return sp__err(p->err, -errno, "getrandom", p->path, -1);
	return sp__creation_end(&c, write_volumes(&c, h, p->path));
}

int sp_cube_create(const char *path, const struct sp_cube_create_opts *opts, struct sp_errinfo *err)
{
	struct sp_cube_create_opts chosen = *opts;
	struct sp__cube_plan p = { 0 };
	int rc;

	if (opts->points && opts->workload && opts->workload->n)
		return sp__errf(err, SP_ESYNTAX, "create", path, -1,
				"the layout of points depends on the data, not on queries");
	rc = sp__cube_choose_open(&chosen, err);
	if (rc)
		return rc;
	rc = sp__cube_plan(&p, &chosen, path, err);
	if (!rc)
		rc = create_volumes(&p);
	sp__cube_plan_free(&p);
	return rc;
}
