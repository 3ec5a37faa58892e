/* SPDX-License-Identifier: MIT */
/*
 * Lists, opens and marks the volumes of a table after the first one.
 */
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/volumes.h"

_Static_assert(SP__LANEMAP_VOLUMES_MAX <= SP__CELLVOLUMES_MAX,
	       "all volumes of a superblock have a place");

static struct sp__volume_set set_of(const struct sp__tablefile *f)
{
	const struct sp__table_superblock *s = &f->superblock;

	return (struct sp__volume_set){ .magic = "SPTABLEV",
					.version = SP__TABLE_VERSION,
					.id = sp__table_identity(s),
					.volumes = sp__table_own_volumes(s),
					.has_generation = true,
					.marking = s->marking,
					.generation = s->state,
					.noun = "table",
					.path = f->path,
					.names = s->volumes };
}

int sp__tablevolumes_list(struct sp__tablefile *f, struct sp_errinfo *err)
{
	const struct sp__volume_set set = set_of(f);

	return sp__cellfile_list(&f->cells, &set, err);
}

/* Opens volume i > 0. */
static int open_volume(struct sp__tablefile *f, unsigned i, struct sp_errinfo *err)
{
	const struct sp__cellvolume *v = &f->cells.volumes[i];
	const struct sp__volume_set set = set_of(f);
	int rc = sp__cellfile_open(&f->cells, i, err);

	if (rc == -ENOENT)
		return sp__errf(err, -ENOENT, "open", v->name, -1,
				"is missing: it is volume %u of %s; put it back under this name", i,
				f->path);
	if (!rc)
		rc = sp__volume_set_check(&set, i, v->fd, v->name, err);
	return rc ? rc
		  : sp__cellvolume_check_length(v, sp__tablefile_length(f, f->superblock.end), err);
}

int sp__tablevolumes_open(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = sp__tablevolumes_list(f, err);

	for (unsigned i = 1; !rc && i < f->cells.n; i++)
		rc = open_volume(f, i, err);
	return rc;
}

/* Opens the files once more, direct; *align_bytes: the largest of their units. */
static int reopen(const struct sp__tablefile *f, struct sp__volume **direct, uint32_t *align_bytes)
{
	int rc = 0;

	*align_bytes = 0;
	for (unsigned i = 0; !rc && i < f->cells.n; i++) {
		const struct sp__cellvolume *v = &f->cells.volumes[i];

		rc = sp__volume_reopen_direct(&direct[i], v->fd, false, v->name);
		if (!rc)
			*align_bytes = sp__max(*align_bytes, direct[i]->align_bytes);
	}
	return rc;
}

int sp__tablevolumes_open_direct(struct sp__tablefile *f)
{
	struct sp__volume *direct[SP__CELLVOLUMES_MAX] = { 0 };
	uint32_t align_bytes;
	const int rc = reopen(f, direct, &align_bytes);

	for (unsigned i = 0; i < f->cells.n; i++) {
		struct sp__volume **v = &f->cells.volumes[i].volume;

		if (rc) {
			sp__volume_close(direct[i]);
			continue;
		}
		sp__volume_close(*v);
		*v = direct[i];
		direct[i]->align_bytes = align_bytes;
	}
	return rc == -ENOMEM ? rc : 0;
}

int sp__tablevolumes_mark(struct sp__tablefile *f, struct sp_errinfo *err)
{
	const struct sp__volume_set set = set_of(f);
	int rc = sp__cellfile_mark(&f->cells, &set, err);

	for (unsigned i = 1; !rc && i < f->cells.n; i++)
		rc = sp__tablefile_spend(f, i * f->map.lanemap->volume_cells, 0,
					 SP__VOLUME_HEADER_BYTES, err);
	return rc;
}
