/* SPDX-License-Identifier: MIT */
/*
 * Opens, marks and closes the volumes of a table after the first one.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "base/err.h"
#include "base/minmax.h"
#include "datafile/volumes.h"
#include "table/file/lock.h"
#include "table/file/volumes.h"

static struct sp__volume_set set_of(const struct sp__tablefile *f)
{
	const struct sp__table_superblock *s = &f->superblock;

	return (struct sp__volume_set){ .magic = "SPTABLEV",
					.version = SP__TABLE_VERSION,
					.id = sp__table_identity(s),
					.volumes = f->nfurther + 1,
					.has_generation = true,
					.marking = s->marking,
					.generation = s->state,
					.noun = "table",
					.path = f->path,
					.names = s->volumes };
}

int sp__tablevolumes_list(struct sp__tablefile *f, struct sp_errinfo *err)
{
	const unsigned n = sp__table_own_volumes(&f->superblock) - 1;
	struct sp__volume_set set;

	f->further = n ? calloc(n, sizeof(*f->further)) : NULL;
	if (n && !f->further)
		return sp__err(err, -ENOMEM, "open", f->path, -1);
	f->nfurther = n;
	for (unsigned i = 0; i < n; i++)
		f->further[i] = (struct sp__tablevolume){ .fd = -1, .replaced = -1 };
	set = set_of(f);
	for (unsigned i = 0; i < n; i++) {
		f->further[i].name = sp__volume_set_name(&set, i + 1);
		if (!f->further[i].name)
			return sp__err(err, -ENOMEM, "open", f->path, -1);
	}
	return 0;
}

static int check_length(const struct sp__tablefile *f, const struct sp__tablevolume *v,
			struct sp_errinfo *err)
{
	const uint64_t need = sp__tablefile_length(f, f->superblock.end);
	const off_t has = lseek(v->fd, 0, SEEK_END);

	if (has < 0)
		return sp__err(err, -errno, "open", v->name, -1);
	return (uint64_t)has < need ? sp__errf(err, SP_ECORRUPT, "open", v->name, -1,
					       "it was truncated: it has %llu bytes, not %llu",
					       (unsigned long long)has, (unsigned long long)need)
				    : 0;
}

/* Opens volume i > 0.  Other kinds of files could block forever. */
static int open_volume(struct sp__tablefile *f, unsigned i, struct sp_errinfo *err)
{
	struct sp__tablevolume *v = &f->further[i - 1];
	const struct sp__volume_set set = set_of(f);
	struct stat st;
	int rc = sp__tablefile_open_locked(f, v->name, &v->fd, err);

	if (rc == -ENOENT)
		return sp__errf(err, -ENOENT, "open", v->name, -1,
				"is missing: it is volume %u of %s; put it back under this name", i,
				f->path);
	if (!rc && fstat(v->fd, &st))
		rc = -errno;
	if (rc)
		return rc == SP_ESTATE ? rc : sp__volume_open_err(err, rc, v->name);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return sp__errf(err, SP_EUNSUP, "open", v->name, -1,
				"is neither a plain file nor a block device");
	rc = sp__volume_set_check(&set, i, v->fd, v->name, err);
	return rc ? rc : check_length(f, v, err);
}

int sp__tablevolumes_open(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = sp__tablevolumes_list(f, err);

	for (unsigned i = 1; !rc && i <= f->nfurther; i++)
		rc = open_volume(f, i, err);
	return rc;
}

int sp__tablevolumes_adopt(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < f->nfurther; i++) {
		struct sp__tablevolume *v = &f->further[i];

		rc = sp__volume_adopt(&v->volume, v->fd, false, v->name, err);
		if (rc || !f->env.device)
			continue;
		sp__volume_place(v->volume, f->env.device, f->volume->sim_file);
		v->volume->sim_begin =
			(i + 1) * f->map.lanemap->volume_cells * f->layout.cell_bytes;
	}
	return rc;
}

/* Opens the files once more, direct; *align_bytes: the largest of their units. */
static int reopen(const struct sp__tablefile *f, struct sp__volume **direct, uint32_t *align_bytes)
{
	int rc = sp__volume_reopen_direct(&direct[0], f->fd, false, f->path);

	for (unsigned i = 0; !rc && i < f->nfurther; i++)
		rc = sp__volume_reopen_direct(&direct[i + 1], f->further[i].fd, false,
					      f->further[i].name);
	*align_bytes = 0;
	for (unsigned i = 0; !rc && i <= f->nfurther; i++)
		*align_bytes = sp__max(*align_bytes, direct[i]->align_bytes);
	return rc;
}

int sp__tablevolumes_open_direct(struct sp__tablefile *f)
{
	struct sp__volume *direct[SP__LANEMAP_VOLUMES_MAX] = { 0 };
	uint32_t align_bytes;
	const int rc = reopen(f, direct, &align_bytes);

	for (unsigned i = 0; i <= f->nfurther; i++) {
		struct sp__volume **v = i ? &f->further[i - 1].volume : &f->volume;

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
	int rc = 0;

	for (unsigned i = 1; !rc && i <= f->nfurther; i++) {
		const struct sp__tablevolume *v = &f->further[i - 1];

		rc = sp__volume_set_mark(&set, i, v->fd, v->name, err);
		if (!rc)
			rc = sp__tablefile_spend(f, i * f->map.lanemap->volume_cells, 0,
						 SP__VOLUME_HEADER_BYTES, err);
	}
	return rc;
}

int sp__tablevolumes_sync(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	for (unsigned i = 0; i < f->nfurther; i++)
		if (fdatasync(f->further[i].fd))
			return sp__err(err, -errno, "write", f->further[i].name, -1);
	return 0;
}

void sp__tablevolumes_close(struct sp__tablefile *f)
{
	for (unsigned i = 0; i < f->nfurther; i++) {
		struct sp__tablevolume *v = &f->further[i];

		sp__volume_close(v->volume);
		sp_outfile_close(v->out, NULL);
		if (!f->creating && v->fd >= 0)
			close(v->fd);
		if (v->replaced >= 0)
			close(v->replaced);
		free(v->name);
	}
	free(f->further);
	f->further = NULL;
	f->nfurther = 0;
}
