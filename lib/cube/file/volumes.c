/* SPDX-License-Identifier: MIT */
/*
 * Describes the volumes of a cube.  Headers of grids without a log of puts have no generation.
 */
#include "base/err.h"
#include "cube/file/volumes.h"

_Static_assert(SP_CUBE_VOLUMES_MAX <= SP__CELLVOLUMES_MAX,
	       "all volumes of a superblock have a place");

static bool has_generation(const struct sp__cube_superblock *h)
{
	return h->log_bytes || h->points;
}

static struct sp__volume_set set_of(const struct sp__cube_superblock *h, const char *path)
{
	return (struct sp__volume_set){ .magic = "SPCUBEV\n",
					.version = SP__CUBE_VERSION +
						   (h->points	   ? SP__CUBE_VERSION_BUILT
						    : h->log_bytes ? SP__CUBE_VERSION_LOG
								   : 0),
					.id = h->id,
					.volumes = h->mapping.basic.volumes,
					.has_generation = has_generation(h),
					.marking = h->marking,
					.generation = h->generation,
					.noun = "cube",
					.path = path,
					.names = h->volumes };
}

char *sp__cube_volume_name(const struct sp__cube_superblock *h, const char *path, unsigned i)
{
	const struct sp__volume_set s = set_of(h, path);

	return sp__volume_set_name(&s, i);
}

int sp__cube_volume_mark(const struct sp__cube_superblock *h, unsigned i, int fd, const char *name,
			 struct sp_errinfo *err)
{
	const struct sp__volume_set s = set_of(h, NULL);

	return sp__volume_set_mark(&s, i, fd, name, err);
}

int sp__cube_volume_check(const struct sp__cube_superblock *h, unsigned i, int fd, const char *name,
			  const char *first, struct sp_errinfo *err)
{
	const struct sp__volume_set s = set_of(h, first);

	return sp__volume_set_check(&s, i, fd, name, err);
}

int sp__cube_volumes_list(struct sp__cubefile *c, struct sp_errinfo *err)
{
	const struct sp__volume_set s = set_of(&c->superblock, c->path);

	return sp__cellfile_list(&c->cells, &s, err);
}

int sp__cube_volumes_mark(const struct sp__cubefile *c, struct sp_errinfo *err)
{
	const struct sp__volume_set s = set_of(&c->superblock, c->path);

	return sp__cellfile_mark(&c->cells, &s, err);
}
