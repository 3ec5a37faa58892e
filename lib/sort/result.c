/* SPDX-License-Identifier: MIT */
/*
 * Writes the outputs of a sort.
 *
 * A single output is opened when its first batch is available; a merge, which reads while it
 * writes, prepares it before.  Files of parts are all prepared before anything is read, so that a
 * sort of an hour does not fail at the ninth of ten names.  They stay open until they are committed
 * together; each takes a descriptor.  They are written one after the other, in the order of the
 * merge.
 *
 * While files get their names, signals are blocked, so a signal leaves all parts or none.  If the
 * system then refuses a name, the sort fails, and the parts before it stay.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/err.h"
#include "base/outfile_impl.h"
#include "base/whole.h"
#include "rec/collate.h"
#include "sort/result.h"
#include "sort/splitters.h"

/* Descriptors that the sort needs in addition to those of its parts. */
#define DESCRIPTORS_LEFT 16

/* NULL: the caller's descriptor. */
static const char *name_of(const struct sp__sort_result *r, size_t part)
{
	return r->io->splitters ? r->io->parts[part] : r->io->output;
}

/* Two names of one file, by any path, would lose a part. */
static int check_distinct(const struct sp__sort_result *r)
{
	struct sp_output_set_file *seen = calloc(r->nfiles, sizeof(*seen)), *f = seen;
	int rc = 0;

	if (!seen)
		return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; !rc && i < r->nfiles; i++) {
		if (!sp__output_set_identify(f, r->io->parts[i]))
			continue;
		for (const struct sp_output_set_file *o = seen; !rc && o < f; o++)
			if (sp__output_set_same(o, f))
				rc = sp__errf(r->err, SP_EUNSUP, "open", r->io->parts[i], -1,
					      "another part has the same file");
		f++;
	}
	free(seen);
	return rc;
}

/* Records the error of a part for which there is no descriptor; `opened` parts have one. */
static int too_many(const struct sp__sort_result *r, size_t part, size_t opened)
{
	struct rlimit limit = { 0 };
	size_t used = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		used = limit.rlim_cur - sp__fds_free(UINT_MAX);
	return sp__errf(r->err, -EMFILE, "open", name_of(r, part), -1,
			"Too many open files: %zu parts need a limit (ulimit -n) of %zu", r->nfiles,
			used - opened + r->nfiles + DESCRIPTORS_LEFT);
}

static int open_file(struct sp__sort_result *r, size_t part)
{
	struct sp_errinfo refusal = SP_ERRINFO_INIT;
	const char *name = name_of(r, part);
	int rc = sp__outfile_staged(&r->files[part], name, r->staging, r->staged, 0, &refusal);

	if (rc == -EMFILE && r->io->splitters)
		return too_many(r, part, part);
	if (rc < 0)
		*r->err = refusal;
	return rc;
}

int sp__result_prepare(struct sp__sort_result *r)
{
	int rc = 0;

	if (r->nfiles)
		return 0;
	r->nfiles = r->io->splitters ? sp_splitters_count(r->io->splitters) + 1 : 1;
	r->files = calloc(r->nfiles, sizeof(struct sp_outfile *));
	if (!r->files) {
		r->nfiles = 0;
		return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
	}
	if (r->io->splitters)
		rc = check_distinct(r);
	for (size_t i = 0; !rc && i < r->nfiles && name_of(r, i); i++)
		rc = open_file(r, i);
	if (!rc && r->io->splitters && sp__fds_free(DESCRIPTORS_LEFT) < DESCRIPTORS_LEFT)
		rc = too_many(r, r->nfiles - 1, r->nfiles);
	return rc;
}

bool sp__result_overwrites(const struct sp__sort_result *r, const struct stat *st)
{
	struct stat out;

	for (size_t i = 0; i < r->nfiles; i++)
		if (r->files[i] && sp_outfile_in_place(r->files[i]) &&
		    stat(name_of(r, i), &out) == 0 && out.st_dev == st->st_dev &&
		    out.st_ino == st->st_ino)
			return true;
	return false;
}

static int begin_part(struct sp__sort_result *r)
{
	const char *name = name_of(r, r->at);
	int fd = name ? sp_outfile_begin(r->files[r->at], r->err) : r->io->output_fd;

	if (fd < 0)
		return fd;
	/* Data that an interrupted sort left in the file is not continued here. */
	if (r->staging && ftruncate(fd, 0) < 0)
		return sp__err(r->err, -errno, "write", name, -1);
	return sp__wstream_open(&r->stream, fd, name ? name : "standard output", &r->writing,
				r->err);
}

static void close_stream(struct sp__sort_result *r)
{
	struct sp__io_counters c;

	if (!r->stream)
		return;
	sp__wstream_counters(r->stream, &c);
	sp__io_add(&r->done, &c);
	sp__wstream_close(r->stream);
	r->stream = NULL;
}

static int next_part(struct sp__sort_result *r)
{
	int rc = sp__wstream_finish(r->stream);

	if (rc < 0)
		return rc;
	close_stream(r);
	r->at++;
	rc = begin_part(r);
	return rc < 0 || !r->header.bytes
		       ? rc
		       : sp__wstream_put(r->stream, r->header.data, r->header.bytes);
}

int sp__result_begin(struct sp__sort_result *r, const struct sp__wstream_opts *writing)
{
	int rc = sp__result_prepare(r);

	r->writing = *writing;
	if (!rc)
		r->writing.expected_bytes /= r->nfiles;
	return rc < 0 ? rc : begin_part(r);
}

int sp__result_put_header(struct sp__sort_result *r, const struct sp_batch *header)
{
	r->header_bytes = header->bytes;
	/* A byte order mark alone does not begin the other parts. */
	if (r->io->splitters && r->io->header_records &&
	    sp__bytes_set(&r->header, header->data, header->bytes, NULL) < 0)
		return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
	return header->bytes ? sp__wstream_put(r->stream, header->data, header->bytes) : 0;
}

static struct sp__ranges_out place(struct sp__sort_result *r, int fd, uint64_t at)
{
	return (struct sp__ranges_out){ .fd = fd,
					.name = r->io->output ? r->io->output : "standard output",
					.at = at,
					.writing = r->writing,
					.io = &r->done };
}

static int put_range(void *arg, const char *data, size_t bytes)
{
	return sp__result_put(arg, &(struct sp_batch){ data, bytes });
}

void sp__result_place(struct sp__sort_result *r, struct sp__ranges_out *out)
{
	int fd = r->io->output ? sp_outfile_begin(r->files[0], r->err) : r->io->output_fd, flags;
	struct stat st;
	off_t at;

	*out = (struct sp__ranges_out){
		.put = put_range, .put_arg = r, .put_err = r->err, .writing = r->writing
	};
	/* A longer header can still be in a queue. */
	if (r->io->splitters || r->writing.pack || r->header_bytes > r->writing.chunk_bytes ||
	    sp__wstream_flush(r->stream) < 0)
		return;
	flags = fcntl(fd, F_GETFL);
	if (flags >= 0 && !(flags & O_APPEND) && (flags & O_ACCMODE) != O_RDONLY &&
	    fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (at = lseek(fd, 0, SEEK_CUR)) >= 0)
		*out = place(r, fd, (uint64_t)at);
}

int sp__result_continue(struct sp__sort_result *r, const struct sp__wstream_opts *writing,
			const struct sp_batch *header, struct sp__ranges_out *out)
{
	int rc = sp__result_prepare(r), fd;

	if (rc < 0)
		return rc;
	fd = sp_outfile_begin(r->files[0], r->err);
	if (fd >= 0)
		rc = sp__write_whole(fd, header->data, header->bytes, 0);
	if (rc < 0)
		return sp__err(r->err, rc, "write", r->io->output, -1);
	r->writing = *writing;
	*out = place(r, fd, header->bytes);
	return fd < 0 ? fd : 0;
}

int sp__result_put(struct sp__sort_result *r, const struct sp_batch *batch)
{
	struct sp_batch rest = *batch;
	int rc;

	if (!r->io->splitters)
		return sp__wstream_put(r->stream, batch->data, batch->bytes);
	for (;;) {
		size_t bytes = sp__splitters_cut(r->io->splitters, r->at, &rest, r->counted);

		rc = bytes ? sp__wstream_put(r->stream, rest.data, bytes) : 0;
		rest.data += bytes;
		rest.bytes -= bytes;
		if (rc < 0 || !rest.bytes)
			return rc;
		rc = next_part(r);
		if (rc < 0)
			return rc;
	}
}

int sp__result_finish(struct sp__sort_result *r)
{
	int rc = 0;

	while (rc == 0 && r->at + 1 < r->nfiles)
		rc = next_part(r);
	if (rc == 0 && r->stream)
		rc = sp__wstream_finish(r->stream);
	if (rc == 0 && r->io->splitters)
		rc = sp__collate_check(r->io->splitters->keys, r->err);
	return rc;
}

int sp__result_commit(struct sp__sort_result *r)
{
	sigset_t all, before;
	int rc = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (size_t i = 0; !rc && i < r->nfiles; i++)
		rc = sp_outfile_commit(r->files[i], r->err);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

void sp__result_counters(const struct sp__sort_result *r, struct sp__io_counters *c)
{
	struct sp__io_counters now = { 0 };

	if (r->stream)
		sp__wstream_counters(r->stream, &now);
	*c = r->done;
	sp__io_add(c, &now);
}

void sp__result_close(struct sp__sort_result *r)
{
	close_stream(r);
	sp__bytes_release(&r->header, NULL);
	for (size_t i = 0; i < r->nfiles; i++)
		sp_outfile_close(r->files[i], r->err);
	free(r->files);
}
