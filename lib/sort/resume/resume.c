/* SPDX-License-Identifier: MIT */
/*
 * Opens, identifies and removes the checkpoints of a sort, a directory of three files:
 *
 *	spindle.journal	what is sorted and what has been done; locked while in use
 *	spindle.runs	the store's runs, one after the other
 *	spindle.result	the result, until it is complete
 *
 * A run has consecutive records of the input, and only neighbouring runs are merged; so the range
 * of the input identifies a run.  A run counts once its bytes are on the device, and a record of it
 * with its description (spill/run.h) is in the journal.  A run that covers the range of
 * earlier ones replaces them.  Runs count as far as they cover the input from its start without a
 * gap.  After a crash they are read and verified, and the rest of the input is read again.  So a
 * crash loses at most the run being formed or merged, and the slots in memory.
 *
 * Runs do not depend on memory and threads, except for the size of their pages, which is that of
 * the first one.  The settings that do determine the result are the first record, and are compared.
 *
 * Without checkpoints, all temporary data can stay in the page cache and never reach the device.
 * With checkpoints it must reach the device, so the sort takes as much longer as the device needs.
 * If the data exceeds the cache anyway, checkpoints cost little.
 *
 * Rejected:
 * - a file for each run, which needs a descriptor and a name;
 * - resuming at a record within a run;
 * - reusing space in the file of runs: the inputs of a merge are needed until it is complete, so
 *   holes are punched instead.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/outfile_impl.h"
#include "cells/lock.h"
#include "rec/key.h"
#include "sort/plan/plan.h"
#include "sort/resume/resume.h"

/* Version of the journal, and of the encoded keys in images of runs. */
#define FORMAT_VERSION 5
#define JOURNAL_NAME "spindle.journal"

/* The first record; the state of each input follows. */
struct identity {
	uint64_t version;
	uint64_t order; /* sp__keyset_identity() */
	uint64_t unique;
	uint64_t count; /* 0: not counted; else checksum of the column's name */
	uint64_t top, header_records, header_first, compression;
	uint64_t ninputs;
};

/* Returns SP_EUNSUP: the directory cannot be used. */
static int resume_refuse(const struct sp__resume *r, const char *what)
{
	return sp__errf(r->err, SP_EUNSUP, "resume", r->dir.path, -1, "%s", what);
}

int sp__resume_foreign(const struct sp__resume *r, const char *what)
{
	return sp__errf(r->err, SP_EUNSUP, "resume", r->dir.path, -1,
			"%s: remove this directory to start again", what);
}

int sp__resume_changed(const struct sp__resume *r, const char *input)
{
	return sp__errf(r->err, SP_EUNSUP, "resume", input, -1,
			"has changed since the checkpoints in %.60s: remove %.60s to start again",
			r->dir.path, r->dir.path);
}

static int check_what(const struct sp__resume *r, const struct sp_sort_opts *o,
		      const struct sp_sort_io *io)
{
	if (!io->output || io->splitters)
		return resume_refuse(r, "only a sort into one named output can be resumed");
	if (o->run.decompress || o->run.compress_output)
		return resume_refuse(r,
				     "a sort with compressed inputs or output cannot be resumed");
	if (o->format.array)
		return resume_refuse(r, "a sort of arrays of JSON cannot be resumed");
	if (io->merge || o->compress_program || o->run.volume)
		return resume_refuse(r, "a merge, or a sort with a compress program or a "
					"volume, cannot be resumed");
	if (o->formation == SP_FORM_REPLACEMENT || sp__plan_policy(o) != SP_MERGE_LAZY)
		return resume_refuse(r,
				     "only run formation by load with lazy merges can be resumed");
	return 0;
}

static int identify_inputs(const struct sp__resume *r, const struct sp_sort_io *io)
{
	struct stat st;

	for (size_t i = 0; i < io->ninputs; i++) {
		const char *name = io->inputs[i];

		if (strcmp(name, "-") ? stat(name, &st) : fstat(STDIN_FILENO, &st))
			return sp__err(r->err, -errno, "open", name, -1);
		if (!strcmp(name, "-") || !S_ISREG(st.st_mode))
			return sp__errf(r->err, SP_EUNSUP, "resume", name, -1,
					"only a sort of named regular files can be resumed");
		r->inputs[i] = sp__file_state(&st);
	}
	return 0;
}

static struct identity identify(const struct sp_sort_opts *o, const struct sp_sort_io *io)
{
	const char *name = io->count_name ? io->count_name : "";

	return (struct identity){ .version = FORMAT_VERSION,
				  .order = sp__keyset_identity(o->keys),
				  .unique = o->unique,
				  .count = o->count ? sp__checksum(name, strlen(name)) : 0,
				  .top = o->top,
				  .header_records = io->header_records,
				  .header_first = io->header_first,
				  .compression = o->run.compression,
				  .ninputs = io->ninputs };
}

/* Called before any other record is read, since their meaning depends on the version. */
static int check_version(const struct sp__resume *r, const struct sp__journal_record *rec)
{
	uint64_t version;

	if (rec->type != SP__RECORD_IDENTITY || rec->bytes < sizeof(version))
		return resume_refuse(r, "is not a directory of checkpoints");
	memcpy(&version, rec->data, sizeof(version));
	if (version != FORMAT_VERSION)
		return sp__resume_foreign(r, "was started by another version");
	return rec->bytes < sizeof(struct identity) ? sp__resume_foreign(r, "has a damaged journal")
						    : 0;
}

static int compare_identity(const struct sp__resume *r, const struct sp_sort_io *io,
			    const struct identity *now, const struct sp__journal_record *rec)
{
	const struct sp__file_state *then = (const void *)(rec->data + sizeof(*now));
	struct identity old;

	memcpy(&old, rec->data, sizeof(old));
	if (old.ninputs != now->ninputs || rec->bytes != sizeof(old) + old.ninputs * sizeof(*then))
		return sp__resume_foreign(r, "was started with other inputs");
	for (size_t i = 0; i < now->ninputs; i++)
		if (!sp__file_state_same(&then[i], &r->inputs[i]) &&
		    !(r->committed && r->ends[i].replaced))
			return sp__resume_changed(r, io->inputs[i]);
	if (memcmp(&old, now, sizeof(old)))
		return sp__resume_foreign(
			r, "was started with other keys or options, or in another locale");
	return 0;
}

/* Checks that the directory has only the files that a sort creates first. */
static int check_empty(const struct sp__resume *r)
{
	int fd = openat(r->dir.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d) {
		rc = sp__err(r->err, -errno, "open", r->dir.path, -1);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while (!rc && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    strcmp(e->d_name, JOURNAL_NAME))
			rc = resume_refuse(r, "is not empty and has no checkpoints");
	closedir(d);
	return rc;
}

/* Reads the journal, or starts it. */
static int load(struct sp__resume *r, const struct sp_sort_opts *o, const struct sp_sort_io *io)
{
	const struct identity now = identify(o, io);
	const struct iovec fields[] = { { (void *)(uintptr_t)&now, sizeof(now) },
					{ r->inputs, io->ninputs * sizeof(*r->inputs) } };
	struct sp__journal_record rec, first;
	int rc = sp__journal_next(&r->journal, &first);

	if (rc < 0)
		return rc;
	if (rc == 0) {
		rc = check_empty(r);
		if (rc == 0)
			rc = sp__journal_append(&r->journal, SP__RECORD_IDENTITY, fields, 2);
		r->begin_bytes = rc == 0 ? r->journal.end : 0;
		return rc;
	}
	rc = check_version(r, &first);
	r->begin_bytes = rc == 0 ? r->journal.end : 0;
	while (rc >= 0 && (rc = sp__journal_next(&r->journal, &rec)) > 0) {
		rc = sp__checkpoints_take(r, &rec);
		free(rec.data);
		if (rc < 0)
			break;
	}
	if (rc == 0)
		rc = sp__resume_find_result(r, io);
	if (rc == 0)
		rc = compare_identity(r, io, &now, &first);
	free(first.data);
	return rc;
}

/*
 * Opens the directory and its journal.  Returns 0, -ENOENT if the directory was removed, or an
 * error.
 */
static int open_journal(struct sp__resume *r, const char *path)
{
	int rc;

	if (r->journal.fd >= 0)
		close(r->journal.fd);
	sp__owndir_close(&r->dir);
	r->journal.fd = -1;
	rc = sp__owndir_open(&r->dir, path, r->err);
	if (rc < 0)
		return rc;
	rc = r->journal.fd = sp__owndir_file(&r->dir, JOURNAL_NAME, O_RDWR | O_CREAT, 0600, r->err);
	return rc < 0 ? rc : 0;
}

static int lock(struct sp__resume *r, const char *path)
{
	bool made = false;
	int rc, locked = 0;

	do {
		rc = open_journal(r, path);
		made |= r->dir.made;
		if (rc < 0 && (rc != -ENOENT || r->err->code))
			return rc;
		if (!rc)
			locked = sp__file_lock(r->journal.fd, SP__LOCK_EXCLUSIVE, 0);
		if (locked == SP_ESTATE)
			return resume_refuse(r, "is in use by another process");
		if (locked)
			return sp__err(r->err, locked, "lock", r->journal_path, -1);
	} while (rc < 0 || !sp__owndir_has(&r->dir, JOURNAL_NAME, r->journal.fd));
	r->dir.made = made;
	r->locked = true;
	return 0;
}

static int sync_directory(const struct sp__resume *r, const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0 || fsync(fd) < 0)
		rc = sp__err(r->err, -errno, "fsync", dir, -1);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Returns the directory of the output. */
static int output_directory(const struct sp__resume *r, const char *output, char **dir)
{
	struct stat st;
	char *path = NULL;
	int rc = lstat(output, &st) == 0 && S_ISLNK(st.st_mode)
			 ? (path = realpath(output, NULL)) ? 0 : -errno
			 : 0;

	if (rc == -ENOENT)
		rc = sp__outname_resolve(output, &path);
	if (rc < 0)
		return sp__err(r->err, rc, "open", output, -1);
	*dir = sp__outname_directory(path ? path : output);
	free(path);
	return *dir ? 0 : sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
}

/* The result can be renamed only within a file system. */
static int check_place(const struct sp__resume *r, const char *output)
{
	struct stat here, there;
	char *dir = NULL;
	int rc = output_directory(r, output, &dir);

	if (!rc && (fstat(r->dir.fd, &here) < 0 || stat(dir, &there) < 0))
		rc = sp__err(r->err, -errno, "open", dir, -1);
	if (!rc && here.st_dev != there.st_dev)
		rc = sp__errf(r->err, SP_EUNSUP, "resume", r->dir.path, -1,
			      "is not on the file system of %.200s", output);
	if (!rc)
		rc = sync_directory(r, dir);
	free(dir);
	return rc;
}

static int remove_files(const struct sp__resume *r)
{
	/*
	 * The journal is the last, after a power failure too: a directory that has one can be
	 * resumed, or removed.
	 */
	int rc = sp__owndir_unlink(&r->dir, SP__RESUME_RUNS);

	if (!rc)
		rc = sp__owndir_unlink(&r->dir, SP__RESUME_RESULT);
	if (!rc && fsync(r->dir.fd) < 0)
		rc = -errno;
	return rc ? rc : sp__owndir_unlink(&r->dir, JOURNAL_NAME);
}

/* Removes the files that were created, if nothing has been done. */
static void take_back(const struct sp__resume *r)
{
	struct stat st;

	if (!r->locked || fstat(r->journal.fd, &st) < 0)
		return;
	if (st.st_size && r->journal.end == r->begin_bytes)
		(void)remove_files(r);
	else if (!st.st_size)
		(void)sp__owndir_unlink(&r->dir, JOURNAL_NAME);
	else
		return;
	if (r->dir.made)
		rmdir(r->dir.path);
}

static int open_all(struct sp__resume *r, const struct sp_sort_opts *o, const struct sp_sort_io *io)
{
	int rc = check_what(r, o, io);

	if (!rc)
		rc = identify_inputs(r, io);
	if (!rc)
		rc = lock(r, io->resume);
	if (!rc)
		rc = check_place(r, io->output);
	if (!rc)
		rc = load(r, o, io);
	return rc < 0 ? rc : sp__owndir_sync(&r->dir, r->err);
}

int sp__resume_open(struct sp__resume **resume, struct sp_sort_opts *opts,
		    const struct sp_sort_io *io, struct sp_errinfo *err)
{
	struct sp__resume *r = calloc(1, sizeof(*r));
	int rc;

	if (r) {
		*r = (struct sp__resume){ .dir = { io->resume, -1, false }, .err = err };
		r->journal = (struct sp__journal){ .fd = -1, .err = err };
		if (asprintf(&r->journal_path, "%s/" JOURNAL_NAME, io->resume) < 0)
			r->journal_path = NULL;
		r->journal.name = r->journal_path;
		r->inputs = calloc(io->ninputs + 1, sizeof(*r->inputs));
	}
	rc = r && r->inputs && r->journal_path ? open_all(r, opts, io)
					       : sp__err(err, -ENOMEM, "allocate", NULL, -1);
	if (rc < 0) {
		sp__resume_close(r);
		return rc;
	}
	opts->formation = SP_FORM_LOAD;
	opts->policy = SP_MERGE_LAZY;
	opts->recycle = SP_RECYCLE_NONE;
	if (r->page_bytes)
		opts->run.page_bytes = r->page_bytes;
	*resume = r;
	return 0;
}

void sp__resume_close(struct sp__resume *r)
{
	if (!r)
		return;
	take_back(r);
	if (r->journal.fd >= 0)
		close(r->journal.fd);
	sp__owndir_close(&r->dir);
	sp__checkpoints_free(r);
	sp__ranges_forget(&r->ranges);
	free(r->runs);
	free(r->inputs);
	free(r->ends);
	free(r->journal_path);
	free(r);
}

int sp__resume_remove(struct sp__resume *r, const char *output)
{
	char *dir = NULL;
	int rc = output_directory(r, output, &dir);

	if (!rc)
		rc = sync_directory(r, dir);
	free(dir);
	if (rc < 0)
		return rc;
	rc = remove_files(r);
	if (rc < 0)
		return sp__err(r->err, rc, "remove", r->dir.path, -1);
	rmdir(r->dir.path);
	r->locked = false;
	return 0;
}
