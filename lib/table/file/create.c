/* SPDX-License-Identifier: MIT */
/*
 * Creates the files of a table: new files that get their names when all are complete, or devices.
 * The superblock is written last, and the first file, which has it, gets its name last.
 *
 * Assumption: between the names of two files neither the power nor the system fails.  Otherwise new
 * volumes can be next to an old first file, which refuses them, or next to none.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "base/err.h"
#include "base/rng.h"
#include "cells/lock.h"
#include "table/file/directory.h"
#include "table/file/open.h"
#include "table/file/volumes.h"

/*
 * Makes a table without data: takes the cells of its records and directory rows, as a load does.
 */

/* Takes the cells of all records and directory rows, in the order in which a load takes them. */
static int take_all(struct sp__tablefile *f, uint64_t records, struct sp_errinfo *err)
{
	const struct sp__table_layout *l = &f->layout;
	const uint64_t pages = sp__layout_pages(l, records);
	int rc = f->map.lanemap && pages ? sp__tablefile_reserve_page(f, pages - 1, err) : 0;

	for (uint64_t page = 0; !rc && page < pages; page++) {
		rc = sp__tablefile_reserve_page(f, page, err);
		if (!rc && ((page + 1) % l->row_pages == 0 || page + 1 == pages))
			rc = sp__areastream_reserve(f, &f->directory,
						    sp__directory_cells(f, page / l->row_pages + 1),
						    err);
	}
	return rc;
}

int sp__tablefile_leave_blank(struct sp__tablefile *f, uint64_t records, struct sp_errinfo *err)
{
	int rc;

	for (uint32_t i = 0; i < f->schema.n; i++)
		if (f->schema.columns[i].type.kind == 't')
			return sp__errf(err, SP_EUNSUP, "create", f->path, -1,
					"column '%.64s': the length of a text is not known without "
					"data: choose char(N)",
					f->schema.columns[i].name);
	f->superblock.no_data = f->cells.first.volume->hollow = true;
	rc = take_all(f, records, err);
	if (!rc && sp__tablefile_release(f, records))
		rc = sp__err(err, -ENOMEM, "create", f->path, -1);
	f->superblock.records = records;
	return rc;
}

int sp__tablefile_blank(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	return f->superblock.no_data ? sp__errf(err, SP_EUNSUP, "read", f->path, -1,
						"the table has no data: scan, get and update of "
						"record numbers run "
						"on it, with --discard")
				     : 0;
}

/* Locks the file that has the name of volume i now: no other program may use it. */
static int lock_replaced(struct sp__tablefile *f, unsigned i, struct sp_errinfo *err)
{
	const char *name = f->cells.volumes[i].name;
	int fd = sp__file_open_locked(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC, SP__LOCK_EXCLUSIVE,
				      f->run.wait_ns);

	f->created[i].replaced = fd >= 0 ? fd : -1;
	if (fd == -EINTR)
		return sp__err(err, fd, "create", name, -1);
	return fd == SP_ESTATE
		       ? sp__errf(err, fd, "create", name, -1, "another program is using it")
		       : 0;
}

/* Creates a new file; *in_place: it must be written in place instead. */
static int create_aside(struct sp__tablefile *f, unsigned i, bool *in_place, struct sp_errinfo *err)
{
	struct sp__cellvolume *v = &f->cells.volumes[i];
	struct sp__newvolume *n = &f->created[i];
	int rc = lock_replaced(f, i, err);

	if (!rc)
		rc = sp_outfile_open(&n->out, v->name, 0, err);
	if (rc)
		return rc;
	*in_place = sp_outfile_in_place(n->out);
	if (*in_place) {
		sp_outfile_close(n->out, NULL);
		n->out = NULL;
		close(n->replaced);
		n->replaced = -1;
		return 0;
	}
	v->fd = sp_outfile_begin(n->out, err);
	return v->fd < 0 ? v->fd : 0;
}

static int create_in_place(struct sp__tablefile *f, struct sp__cellvolume *v)
{
	const struct sp__newfile *file = &f->creation.files[f->creation.n];
	int rc = sp__creation_add(&f->creation, strdup(v->name));

	v->fd = file->opened ? file->fd : -1;
	return rc;
}

static int create_file(struct sp__tablefile *f, unsigned i, struct sp_errinfo *err)
{
	struct sp__cellvolume *v = &f->cells.volumes[i];
	struct stat st;
	bool exists = !stat(v->name, &st), in_place = exists && S_ISBLK(st.st_mode);
	int rc = 0;

	if (exists && !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return sp__errf(err, SP_EUNSUP, "create", v->name, -1,
				"is neither a plain file nor a block device");
	if (!in_place)
		rc = create_aside(f, i, &in_place, err);
	return rc || !in_place ? rc : create_in_place(f, v);
}

/* Refuses a further volume that is named twice, or that exists and may not be replaced. */
static int check_volume(const struct sp__tablefile *f, unsigned i, struct sp_errinfo *err)
{
	const char *name = f->cells.volumes[i].name;
	struct sp_output_set own = { 0 };
	struct stat st;
	int rc = sp_output_set_add(&own, name, "volume", false, err);

	if (!rc && sp_output_set_check_input(&own, f->path, NULL))
		rc = SP_ESYNTAX;
	for (unsigned k = 1; !rc && k < i; k++)
		if (sp_output_set_check_input(&own, f->cells.volumes[k].name, NULL))
			rc = SP_ESYNTAX;
	if (rc == SP_ESYNTAX)
		return sp__errf(err, rc, "create", name, -1,
				"is named for two volumes of the table: name each one once");
	if (!rc && !f->run.overwrite && !stat(name, &st) && S_ISREG(st.st_mode))
		return sp__errf(err, -EEXIST, "create", name, -1,
				"exists; --overwrite allows to replace it");
	return rc;
}

/* Creates all files, those in place empty. */
static int create_files(struct sp__tablefile *f, struct sp_errinfo *err)
{
	const uint64_t front = sp__table_superblock_front(&f->superblock) * f->layout.cell_bytes;
	int rc = 0;

	f->creation = (struct sp__creation){ .noun = "the table",
					     .err = err,
					     .overwrite = f->run.overwrite,
					     .wait_ns = f->run.wait_ns,
					     .need_bytes = front,
					     .clear_bytes = front };
	/* Cells are on the tracks of whole drives. */
	if (f->cells.n > 1 && !f->env.device)
		f->creation.need_bytes = f->map.lanemap->volume_cells * f->layout.cell_bytes;
	for (unsigned i = 1; !rc && i < f->cells.n; i++)
		rc = check_volume(f, i, err);
	for (unsigned i = 0; !rc && i < f->cells.n; i++)
		rc = create_file(f, i, err);
	return rc ? rc : sp__creation_empty(&f->creation);
}

/* Lists the volumes; names: of the drives after the first one. */
static int list_volumes(struct sp__tablefile *f, const char *const *names, struct sp_errinfo *err)
{
	struct sp__table_superblock *s = &f->superblock;
	int rc;

	for (unsigned i = 1; names && i < sp__table_drives(s); i++) {
		s->volumes[i] = strdup(names[i - 1]);
		if (!s->volumes[i])
			return sp__err(err, -ENOMEM, "create", f->path, -1);
	}
	rc = sp__tablevolumes_list(f, err);
	f->created = calloc(f->cells.n, sizeof(*f->created));
	if (!f->created)
		return sp__err(err, -ENOMEM, "create", f->path, -1);
	for (unsigned i = 0; i < f->cells.n; i++)
		f->created[i].replaced = -1;
	return rc;
}

/* Fills in the first state of the superblock, without records. */
static int begin_superblock(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct sp__table_superblock *s = &f->superblock;
	int rc;

	s->ncolumns = f->schema.n;
	for (uint32_t i = 0; i < f->schema.n; i++)
		f->schema.arrow |= f->schema.columns[i].arrow != NULL;
	s->arrow = f->schema.arrow;
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
			 struct sp__schema *schema, struct sp__table_layout *layout,
			 struct sp__lanemap **lanemap, const char *const *names,
			 struct sp_errinfo *err)
{
	int rc = sp__tablefile_prepare(f, path, run, true, err);

	f->schema = *schema;
	f->layout = *layout;
	if (lanemap) {
		f->superblock.lanemap = *lanemap;
		*lanemap = NULL;
	}
	*schema = (struct sp__schema){ 0 };
	*layout = (struct sp__table_layout){ 0 };
	f->creating = true;
	if (!rc)
		rc = list_volumes(f, names, err);
	if (!rc)
		rc = begin_superblock(f, err);
	if (!rc)
		rc = sp__tablefile_open_env(f, err);
	if (!rc)
		rc = sp__tablefile_open_areas(f, err);
	if (!rc)
		rc = create_files(f, err);
	return rc ? rc : sp__tablefile_open_cells(f, SP__SIM_OUTPUT, 0, err);
}

/* Gives all new files their names; after an error those that replaced none have none. */
static int give_names(struct sp__tablefile *f, struct sp_errinfo *err)
{
	unsigned named = 1;
	int rc = 0;

	while (!rc && named < f->cells.n)
		rc = sp_outfile_commit(f->created[named++].out, err);
	if (!rc)
		rc = sp_outfile_commit(f->created[0].out, err);
	while (rc && --named > 0)
		if (f->created[named].out && f->created[named].replaced < 0)
			(void)!unlink(f->cells.volumes[named].name);
	return rc;
}

int sp__tablefile_publish(struct sp__tablefile *f, struct sp_errinfo *err)
{
	sigset_t all, before;
	int rc;

	/* A signal comes before all names, or after them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = give_names(f, err);
	f->creation.err = err;
	f->published = true;
	rc = sp__creation_end(&f->creation, rc);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	f->cells.first.fd = -1;
	return rc;
}
