/* SPDX-License-Identifier: MIT */
/*
 * Creates the file of a table: a new file that gets its name when it is complete, or a device, on
 * which the superblock is written last.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "base/err.h"
#include "base/rng.h"
#include "datafile/lock.h"
#include "table/file/open.h"

/* Locks the file that has the name now: nobody else may be using it. */
static int lock_replaced(struct sp__tablefile *f, struct sp_errinfo *err)
{
	f->replaced = open(f->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (f->replaced >= 0 && sp__file_lock(f->replaced, SP__LOCK_EXCLUSIVE) == SP_ESTATE)
		return sp__errf(err, SP_ESTATE, "create", f->path, -1,
				"another program is using it");
	return 0;
}

/* Creates a new file; *in_place: it must be written in place instead. */
static int create_aside(struct sp__tablefile *f, bool *in_place, struct sp_errinfo *err)
{
	int rc = lock_replaced(f, err);

	if (!rc)
		rc = sp_outfile_open(&f->out, f->path, 0, err);
	if (rc)
		return rc;
	*in_place = sp_outfile_in_place(f->out);
	if (*in_place) {
		sp_outfile_close(f->out, NULL);
		f->out = NULL;
		close(f->replaced);
		f->replaced = -1;
		return 0;
	}
	f->fd = sp_outfile_begin(f->out, err);
	return f->fd < 0 ? f->fd : 0;
}

static int create_in_place(struct sp__tablefile *f, struct sp_errinfo *err)
{
	uint64_t front = sp__table_superblock_front(&f->superblock) * f->layout.cell_bytes;
	int rc;

	f->creation = (struct sp__creation){ .noun = "the table",
					     .err = err,
					     .overwrite = f->run.overwrite,
					     .need_bytes = front,
					     .clear_bytes = front };
	rc = sp__creation_add(&f->creation, strdup(f->path));
	if (!rc)
		rc = sp__creation_empty(&f->creation);
	f->fd = f->creation.n && f->creation.files[0].opened ? f->creation.files[0].fd : -1;
	return rc;
}

static int create_file(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct stat st;
	bool exists = !stat(f->path, &st), in_place = exists && S_ISBLK(st.st_mode);
	int rc = 0;

	if (exists && !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return sp__errf(err, SP_EUNSUP, "create", f->path, -1,
				"is neither a plain file nor a block device");
	if (!in_place)
		rc = create_aside(f, &in_place, err);
	return rc || !in_place ? rc : create_in_place(f, err);
}

/* Fills in the first state of the superblock, without records. */
static int begin_superblock(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct sp__table_superblock *s = &f->superblock;
	int rc;

	s->ncolumns = f->schema.n;
	s->changed = calloc(s->ncolumns, sizeof(*s->changed));
	s->volume = f->run.volume ? strdup(f->run.volume) : NULL;
	if (!s->changed || (f->run.volume && !s->volume))
		return sp__err(err, -ENOMEM, "create", f->path, -1);
	s->layout = f->layout;
	f->map.lanemap = s->lanemap;
	sp__layout_follow(&f->layout, f->map.lanemap);
	rc = sp__table_superblock_size(s);
	s->layout = (struct sp__table_layout){ .cell_bytes = f->layout.cell_bytes };
	if (rc)
		return sp__err(err, rc, "create", f->path, -1);
	f->map.end = sp__table_superblock_front(s);
	f->map.changed = f->schema_changed = true;
	if (f->run.seed)
		s->id = sp__mix64(f->run.seed);
	else if (getrandom(&s->id, sizeof(s->id), 0) != (ssize_t)sizeof(s->id))
		return sp__err(err, -errno, "getrandom", f->path, -1);
	return 0;
}

int sp__tablefile_create(struct sp__tablefile *f, const char *path, const struct sp_run_opts *run,
			 struct sp__table_schema *schema, struct sp__table_layout *layout,
			 struct sp__lanemap **lanemap, struct sp_errinfo *err)
{
	int rc = sp__tablefile_prepare(f, path, run, true, err);

	f->schema = *schema;
	f->layout = *layout;
	if (lanemap) {
		f->superblock.lanemap = *lanemap;
		*lanemap = NULL;
	}
	*schema = (struct sp__table_schema){ 0 };
	*layout = (struct sp__table_layout){ 0 };
	f->creating = true;
	if (!rc)
		rc = begin_superblock(f, err);
	if (!rc)
		rc = sp__tablefile_open_env(f, err);
	if (!rc)
		rc = sp__tablefile_open_areas(f, err);
	if (!rc)
		rc = create_file(f, err);
	return rc ? rc : sp__tablefile_open_cells(f, SP__SIM_OUTPUT, 0, err);
}

int sp__tablefile_publish(struct sp__tablefile *f, struct sp_errinfo *err)
{
	if (f->out)
		return sp_outfile_commit(f->out, err);
	f->creation.err = err;
	f->fd = -1;
	f->published = true;
	return sp__creation_end(&f->creation, 0);
}
