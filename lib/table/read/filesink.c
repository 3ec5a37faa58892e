/* SPDX-License-Identifier: MIT */
/*
 * Writes the output of a query to a regular file (filesink.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "table/read/filesink.h"

bool sp__filesink_open(struct sp__filesink *s, int fd, struct sp_errinfo *err)
{
	const off_t at = lseek(fd, 0, SEEK_CUR);
	const int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (at < 0 || flags < 0 || (flags & O_APPEND) || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*s = (struct sp__filesink){ .fd = fd,
				    .at = (uint64_t)at,
				    .old_end = (uint64_t)st.st_size,
				    .failed = UINT64_MAX,
				    .err = err };
	return true;
}

int sp__filesink_fail(struct sp__filesink *s, uint64_t at, int rc)
{
	if (at < s->failed) {
		s->failed = at;
		(void)sp__errf(s->err, rc, "write", NULL, -1, "write error: %s", sp_strerror(rc));
	}
	return rc;
}

int sp__filesink_put(void *filesink, const char *data, size_t bytes)
{
	struct sp__filesink *s = filesink;
	const uint64_t at = sp__filesink_take(s, bytes);
	int rc = sp__write_whole(s->fd, data, bytes, at);

	return rc ? sp__filesink_fail(s, at, rc) : 0;
}

int sp__filesink_close(struct sp__filesink *s, int rc)
{
	const uint64_t end = sp__min(s->at, s->failed);

	if (rc && s->failed != UINT64_MAX)
		(void)!ftruncate(s->fd, (off_t)sp__max(end, s->old_end));
	if (lseek(s->fd, (off_t)end, SEEK_SET) < 0 && !rc)
		rc = sp__filesink_fail(s, end, -errno);
	return rc;
}
