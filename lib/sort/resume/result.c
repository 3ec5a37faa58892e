/* SPDX-License-Identifier: MIT */
/*
 * Records the complete result of a sort with checkpoints, and recognizes it after a crash.
 *
 * A crash between the rename of the result and the removal of the checkpoints leaves both.  The
 * result is then accepted only if it is completely as recorded: device, inode, size, time and
 * content; its rename changes the time of its status.  An input must be unchanged in the same way,
 * unless it had the name of the result and was replaced.
 *
 * Rejected: to trust the inode alone, since a program that appends to the result, or truncates it,
 * keeps the inode.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/whole.h"
#include "sort/resume/records.h"

/* Checks that a file is as recorded.  Returns 1, 0 if it has changed or is missing, or an error. */
static int verify(const struct sp__resume *r, const char *name, const struct sp__file_state *then,
		  const struct sp__ranges *marks, uint64_t to, uint64_t checksum)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc;
	struct sp__file_state now;
	uint64_t found = 0;
	struct stat st;

	if (fd < 0)
		return 0;
	rc = fstat(fd, &st) < 0 ? -errno : 1;
	if (rc > 0) {
		now = sp__file_state(&st);
		rc = S_ISREG(st.st_mode) && sp__file_state_moved(&now, then);
	}
	if (rc > 0)
		rc = sp__checksum_range(fd, 0, to, &found);
	if (rc > 0)
		rc = found == checksum;
	if (rc > 0 && marks)
		rc = sp__ranges_verify(marks, fd);
	close(fd);
	return rc < 0 ? sp__err(r->err, rc, "read", name, -1) : rc;
}

static int verify_input(const struct sp__resume *r, const char *name, size_t i)
{
	const struct sp__file_state *now = &r->inputs[i];
	int rc;

	if (r->ends[i].replaced)
		return sp__file_state_moved(now, &r->complete.file);
	rc = verify(r, name, now, NULL, now->bytes, r->ends[i].checksum);
	return rc ? rc : sp__resume_changed(r, name);
}

/* True if the bytes before the marks, and those of the marks, are the whole result. */
static bool covers(const struct sp__complete *c, const struct sp__ranges *marks)
{
	uint64_t bytes = c->from;

	for (size_t i = 0; i < marks->nwritten; i++)
		bytes += marks->written[i].to - marks->written[i].from;
	return bytes == c->file.bytes;
}

int sp__resume_find_result(struct sp__resume *r, const struct sp_sort_io *io)
{
	const struct sp__complete *c = &r->complete;
	int rc;

	if (!r->ends || r->nends != io->ninputs || !covers(c, &r->ranges) ||
	    faccessat(r->dir.fd, SP__RESUME_RESULT, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	rc = verify(r, io->output, &c->file, &r->ranges, c->from, c->checksum);
	for (size_t i = 0; rc > 0 && i < io->ninputs; i++)
		rc = verify_input(r, io->inputs[i], i);
	r->committed = rc > 0;
	return rc < 0 ? rc : 0;
}

int sp__resume_compare(const struct sp__resume *r, const struct sp__tally *skipped)
{
	if (!memcmp(&r->read, skipped, sizeof(*skipped)))
		return 0;
	return sp__resume_foreign(r, "has records that are not in the inputs");
}

/* Checks that all inputs are as they were at the start. */
static int check_inputs(const struct sp__resume *r, const struct sp_sort_io *io,
			struct sp__input_end *ends)
{
	struct stat st, out;
	bool has_output = stat(io->output, &out) == 0;

	for (size_t i = 0; i < io->ninputs; i++) {
		struct sp__file_state now;

		if (stat(io->inputs[i], &st) < 0)
			return sp__err(r->err, -errno, "open", io->inputs[i], -1);
		now = sp__file_state(&st);
		if (!sp__file_state_same(&now, &r->inputs[i]))
			return sp__errf(r->err, SP_EUNSUP, "resume", io->inputs[i], -1,
					"has changed while it was sorted: remove %.100s to start "
					"again",
					r->dir.path);
		ends[i].replaced = has_output && out.st_dev == st.st_dev && out.st_ino == st.st_ino;
	}
	return 0;
}

int sp__resume_complete(struct sp__resume *r, const struct sp_sort_io *io, int fd,
			const uint64_t *checksums)
{
	struct sp__input_end *ends = calloc(io->ninputs + 1, sizeof(*ends));
	const struct iovec fields[] = { { &r->complete, sizeof(r->complete) },
					{ ends, io->ninputs * sizeof(*ends) } };
	struct sp__complete *c = &r->complete;
	struct stat st;
	int rc = ends ? check_inputs(r, io, ends) : sp__err(r->err, -ENOMEM, "allocate", NULL, -1);

	for (size_t i = 0; !rc && i < io->ninputs; i++)
		ends[i].checksum = checksums[i];
	if (!rc && (fsync(fd) < 0 || fstat(fd, &st) < 0))
		rc = sp__err(r->err, -errno, "fsync", r->dir.path, -1);
	if (!rc) {
		c->file = sp__file_state(&st);
		c->from = r->ranges.list ? r->ranges.from : c->file.bytes;
		rc = sp__checksum_range(fd, 0, c->from, &c->checksum);
		rc = rc <= 0 ? sp__err(r->err, rc ? rc : -EIO, "read", r->dir.path, -1) : 0;
	}
	if (!rc)
		rc = sp__journal_append(&r->journal, SP__RECORD_COMPLETE, fields, 2);
	free(ends);
	return rc;
}
