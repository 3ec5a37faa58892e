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
#include "datafile/lock.h"
#include "table/file/open.h"
#include "table/file/volumes.h"

/* A file that is created, and the members for it. */
struct newfile {
	const char *name;
	uint64_t wait_ns;
	int *fd, *replaced;
	struct sp_outfile **out;
};

/* Locks the file that has the name now: no other program may use it. */
static int lock_replaced(const struct newfile *n, struct sp_errinfo *err)
{
	int fd = sp__file_open_locked(n->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC,
				      SP__LOCK_EXCLUSIVE, n->wait_ns);

	*n->replaced = fd >= 0 ? fd : -1;
	if (fd == -EINTR)
		return sp__err(err, fd, "create", n->name, -1);
	return fd == SP_ESTATE
		       ? sp__errf(err, fd, "create", n->name, -1, "another program is using it")
		       : 0;
}

/* Creates a new file; *in_place: it must be written in place instead. */
static int create_aside(const struct newfile *n, bool *in_place, struct sp_errinfo *err)
{
	int rc = lock_replaced(n, err);

	if (!rc)
		rc = sp_outfile_open(n->out, n->name, 0, err);
	if (rc)
		return rc;
	*in_place = sp_outfile_in_place(*n->out);
	if (*in_place) {
		sp_outfile_close(*n->out, NULL);
		*n->out = NULL;
		close(*n->replaced);
		*n->replaced = -1;
		return 0;
	}
	*n->fd = sp_outfile_begin(*n->out, err);
	return *n->fd < 0 ? *n->fd : 0;
}

static int create_in_place(struct sp__tablefile *f, const struct newfile *n)
{
	const struct sp__newfile *file = &f->creation.files[f->creation.n];
	int rc = sp__creation_add(&f->creation, strdup(n->name));

	*n->fd = file->opened ? file->fd : -1;
	return rc;
}

static int create_file(struct sp__tablefile *f, const struct newfile *n, struct sp_errinfo *err)
{
	struct stat st;
	bool exists = !stat(n->name, &st), in_place = exists && S_ISBLK(st.st_mode);
	int rc = 0;

	if (exists && !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return sp__errf(err, SP_EUNSUP, "create", n->name, -1,
				"is neither a plain file nor a block device");
	if (!in_place)
		rc = create_aside(n, &in_place, err);
	return rc || !in_place ? rc : create_in_place(f, n);
}

/* Refuses a volume that is named twice, or that exists and may not be replaced. */
static int check_volume(const struct sp__tablefile *f, unsigned i, struct sp_errinfo *err)
{
	const char *name = f->further[i].name;
	struct sp_output_set own = { 0 };
	struct stat st;
	int rc = sp_output_set_add(&own, name, "volume", false, err);

	if (!rc && sp_output_set_check_input(&own, f->path, NULL))
		rc = SP_ESYNTAX;
	for (unsigned k = 0; !rc && k < i; k++)
		if (sp_output_set_check_input(&own, f->further[k].name, NULL))
			rc = SP_ESYNTAX;
	if (rc == SP_ESYNTAX)
		return sp__errf(err, rc, "create", name, -1,
				"is another volume of the table, too: name each one once");
	if (!rc && !f->run.overwrite && !stat(name, &st) && S_ISREG(st.st_mode))
		return sp__errf(err, -EEXIST, "create", name, -1,
				"exists; --overwrite allows to replace it");
	return rc;
}

/* Creates all files, those in place empty. */
static int create_files(struct sp__tablefile *f, struct sp_errinfo *err)
{
	const uint64_t front = sp__table_superblock_front(&f->superblock) * f->layout.cell_bytes;
	const struct newfile first = { f->path, f->run.wait_ns, &f->fd, &f->replaced, &f->out };
	int rc = 0;

	f->creation = (struct sp__creation){ .noun = "the table",
					     .err = err,
					     .overwrite = f->run.overwrite,
					     .wait_ns = f->run.wait_ns,
					     .need_bytes = front,
					     .clear_bytes = front };
	/* Cells are on the tracks of whole drives. */
	if (f->nfurther && !f->env.device)
		f->creation.need_bytes = f->map.lanemap->volume_cells * f->layout.cell_bytes;
	for (unsigned i = 0; !rc && i < f->nfurther; i++)
		rc = check_volume(f, i, err);
	if (!rc)
		rc = create_file(f, &first, err);
	for (unsigned i = 0; !rc && i < f->nfurther; i++) {
		struct sp__tablevolume *v = &f->further[i];

		rc = create_file(
			f,
			&(struct newfile){ v->name, f->run.wait_ns, &v->fd, &v->replaced, &v->out },
			err);
	}
	return rc ? rc : sp__creation_empty(&f->creation);
}

/* Sets the names of the drives after the first one. */
static int name_volumes(struct sp__tablefile *f, const char *const *names, struct sp_errinfo *err)
{
	struct sp__table_superblock *s = &f->superblock;

	for (unsigned i = 1; names && i < sp__table_drives(s); i++) {
		s->volumes[i] = strdup(names[i - 1]);
		if (!s->volumes[i])
			return sp__err(err, -ENOMEM, "create", f->path, -1);
	}
	return sp__tablevolumes_list(f, err);
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
			 struct sp__table_schema *schema, struct sp__table_layout *layout,
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
	*schema = (struct sp__table_schema){ 0 };
	*layout = (struct sp__table_layout){ 0 };
	f->creating = true;
	if (!rc)
		rc = name_volumes(f, names, err);
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
	unsigned named = 0;
	int rc = 0;

	while (!rc && named < f->nfurther)
		rc = sp_outfile_commit(f->further[named++].out, err);
	if (!rc)
		rc = sp_outfile_commit(f->out, err);
	while (rc && named-- > 0)
		if (f->further[named].out && f->further[named].replaced < 0)
			(void)!unlink(f->further[named].name);
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
	f->fd = -1;
	return rc;
}
