/* SPDX-License-Identifier: MIT */
/*
 * Opens, locks, marks, lengthens and closes the files of a dataset, and its run environment.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "cells/cellfile.h"
#include "cells/lock.h"
#include "run/volume_spec.h"

int sp__cellfile_begin(struct sp__cellfile *s, const char *noun, const char *path,
		       const struct sp_run_opts *run, bool write, struct sp_errinfo *err)
{
	*s = (struct sp__cellfile){ .noun = noun,
				    .write = write,
				    .keep_lock = run->keep_lock,
				    .wait_ns = run->wait_ns,
				    .n = 1 };
	for (unsigned i = 0; i < SP__CELLVOLUMES_MAX; i++)
		s->volumes[i].fd = -1;
	s->first.name = strdup(path);
	return s->first.name ? 0 : sp__err(err, -ENOMEM, "open", path, -1);
}

int sp__cellfile_list(struct sp__cellfile *s, const struct sp__volume_set *set,
		      struct sp_errinfo *err)
{
	while (s->n < set->volumes) {
		s->volumes[s->n].name = sp__volume_set_name(set, s->n);
		if (!s->volumes[s->n].name)
			return sp__err(err, -ENOMEM, "open", set->path, -1);
		s->n++;
	}
	return 0;
}

static enum sp__lock kind_of(const struct sp__cellfile *s)
{
	return s->write ? SP__LOCK_EXCLUSIVE : SP__LOCK_SHARED;
}

static int refuse(const struct sp__cellfile *s, const char *name, struct sp_errinfo *err)
{
	return sp__errf(err, SP_ESTATE, "open", name, -1,
			s->write ? "another program is using it"
				 : "another program is changing it");
}

/* Opens a file and locks it.  Returns a descriptor or an error. */
static int open_locked(struct sp__cellfile *s, const char *name)
{
	/* Other kinds of files could block forever. */
	const int flags = (s->write ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC;
	int fd = s->busy ? SP_ESTATE : sp__file_open_locked(name, flags, kind_of(s), s->wait_ns);

	if (fd != SP_ESTATE || !s->describe || s->write)
		return fd;
	s->busy = true;
	fd = open(name, flags);
	return fd < 0 ? -errno : fd;
}

int sp__cellfile_open(struct sp__cellfile *s, unsigned i, struct sp_errinfo *err)
{
	struct sp__cellvolume *v = &s->volumes[i];
	int rc = open_locked(s, v->name);
	struct stat st;

	if (rc == SP_ESTATE)
		return refuse(s, v->name, err);
	if (rc == -ENOENT)
		return rc;
	if (rc >= 0) {
		v->fd = rc;
		rc = fstat(v->fd, &st) || fcntl(v->fd, F_SETFL, 0) ? -errno : 0;
	}
	if (rc)
		return sp__volume_open_err(err, rc, v->name);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return sp__errf(err, SP_EUNSUP, "open", v->name, -1,
				"is neither a plain file nor a block device");
	return 0;
}

void sp__cellfile_close(struct sp__cellfile *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct sp__cellvolume *v = &s->volumes[i];

		sp__volume_close(v->volume);
		if (v->fd >= 0)
			close(v->fd);
		free(v->name);
	}
	free(s->array);
	*s = (struct sp__cellfile){ 0 };
}

int sp__cellfile_set_volume(struct sp__cellfile *s, struct sp_run_opts *run, const char *volume,
			    struct sp_errinfo *err)
{
	if (!run->volume)
		run->volume = volume;
	if (run->volume && !sp__volume_spec_simulated(run))
		return sp__errf(err, SP_ESYNTAX, "open", s->first.name, -1,
				"the volume of a %s must be simulated or its own file", s->noun);
	s->drive = run->volume;
	return 0;
}

int sp__cellfile_open_env(struct sp__cellfile *s, struct sp__env *env, struct sp_run_opts *run,
			  const struct sp__env *plan, unsigned drives, struct sp_errinfo *err)
{
	int rc;

	if (s->drive && drives > 1 && !plan) {
		s->array = sp__volume_spec_array(s->drive, drives);
		if (!s->array)
			return sp__err(err, -ENOMEM, "open", s->first.name, -1);
		run->volume = s->array;
	}
	rc = plan ? sp__env_share(env, run, plan) : sp__env_open(env, run, err);
	env->err = err; /* each call sets it from now on */
	return rc;
}

void sp__cellfile_place(const struct sp__cellfile *s, const struct sp__volume *device,
			uint64_t drive_bytes)
{
	for (unsigned i = 1; i < s->n; i++) {
		sp__volume_place(s->volumes[i].volume, device, s->first.volume->sim_file);
		s->volumes[i].volume->sim_begin = i * drive_bytes;
	}
}

static int lock_file(const struct sp__cellfile *s, const struct sp__cellvolume *v,
		     struct sp_errinfo *err)
{
	int rc = v->fd < 0 ? 0 : sp__file_lock(v->fd, kind_of(s), s->wait_ns);

	if (rc == SP_ESTATE)
		return refuse(s, v->name, err);
	return rc == -EINTR ? sp__err(err, rc, "open", v->name, -1) : 0;
}

int sp__cellfile_begin_reading(const struct sp__cellfile *s, const struct sp__superblocks *slots,
			       struct sp_errinfo *err)
{
	int rc = 0;

	if (s->write || s->first.fd < 0)
		return 0;
	if (s->busy)
		return refuse(s, s->first.name, err);
	for (unsigned i = 0; !rc && !s->keep_lock && i < s->n; i++)
		rc = lock_file(s, &s->volumes[i], err);
	if (!rc && !sp__superblocks_current(slots, s->first.fd))
		rc = sp__errf(err, SP_ESTATE, "open", s->first.name, -1,
			      "it has changed since it was opened: open it again");
	if (rc)
		sp__cellfile_end_reading(s);
	return rc;
}

void sp__cellfile_end_reading(const struct sp__cellfile *s)
{
	if (!s->write && !s->keep_lock)
		sp__cellfile_unlock(s);
}

void sp__cellfile_unlock(const struct sp__cellfile *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->volumes[i].fd >= 0)
			sp__file_unlock(s->volumes[i].fd);
}

int sp__cellfile_replaced(const struct sp__cellvolume *v, struct sp_errinfo *err)
{
	return sp__errf(err, SP_ESTATE, "open", v->name, -1,
			"another program has replaced it: open it again");
}

bool sp__cellfile_has(const struct sp__cellfile *s, const struct stat *st)
{
	bool has = false;

	for (unsigned i = 0; i < s->n; i++) {
		struct stat own;

		has |= s->volumes[i].fd >= 0 && !fstat(s->volumes[i].fd, &own) &&
		       sp__file_same(&own, st);
	}
	return has;
}

int sp__cellvolume_check_length(const struct sp__cellvolume *v, uint64_t need,
				struct sp_errinfo *err)
{
	const off_t has = lseek(v->fd, 0, SEEK_END);

	if (has < 0)
		return sp__err(err, -errno, "open", v->name, -1);
	if ((uint64_t)has >= need)
		return 0;
	return sp__errf(err, SP_ECORRUPT, "open", v->name, -1,
			"it was truncated: it has %llu bytes, not %llu", (unsigned long long)has,
			(unsigned long long)need);
}

int sp__cellvolume_lengthen(const struct sp__cellvolume *v, uint64_t need, off_t *before,
			    struct sp_errinfo *err)
{
	struct stat st;

	if (fstat(v->fd, &st))
		return sp__err(err, -errno, "stat", v->name, -1);
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size >= need)
		return 0;
	if (before)
		*before = st.st_size;
	return ftruncate(v->fd, (off_t)need) ? sp__err(err, -errno, "truncate", v->name, -1) : 0;
}

void sp__cellvolume_shorten(const struct sp__cellvolume *v, uint64_t end)
{
	struct stat st;

	if (!fstat(v->fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size > end)
		(void)!ftruncate(v->fd, (off_t)end);
}

int sp__cellfile_sync(const struct sp__cellfile *s, unsigned first, struct sp_errinfo *err)
{
	for (unsigned i = first; i < s->n; i++)
		if (s->volumes[i].fd >= 0 && fdatasync(s->volumes[i].fd))
			return sp__err(err, -errno, "write", s->volumes[i].name, -1);
	return 0;
}

int sp__cellfile_mark(const struct sp__cellfile *s, const struct sp__volume_set *set,
		      struct sp_errinfo *err)
{
	int rc = 0;

	for (unsigned i = 1; !rc && i < s->n; i++)
		rc = sp__volume_set_mark(set, i, s->volumes[i].fd, s->volumes[i].name, err);
	return rc;
}
