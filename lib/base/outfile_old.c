/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a new file can replace an old output, gives it the attributes of the old one, and
 * copies into the old one.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "base/outfile_impl.h"
#include "base/whole.h"

#define COPY_BYTES 65536

/* True if the system reports one of these attributes of path (STATX_ATTR_...). */
static bool has_attribute(const char *path, uint64_t attributes)
{
	struct statx stx;

	return statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &stx) == 0 &&
	       stx.stx_attributes & stx.stx_attributes_mask & attributes;
}

/* rename() fails on a mount point, and on an append-only file or in such a directory. */
bool sp__outold_stays(const char *path, const struct stat *old)
{
	char *dir = sp__outname_directory(path);
	uid_t user = geteuid();
	struct stat st;
	bool stays;

	stays = has_attribute(path, STATX_ATTR_MOUNT_ROOT | STATX_ATTR_APPEND) ||
		(dir && has_attribute(dir, STATX_ATTR_APPEND)) ||
		(dir && user && stat(dir, &st) == 0 && st.st_mode & S_ISVTX && st.st_uid != user &&
		 old->st_uid != user);
	free(dir);
	return stays;
}

/* Some attributes are not ours to set, or have disappeared. */
static bool attribute_optional(int error)
{
	return error == EPERM || error == EACCES || error == EOPNOTSUPP || error == ENODATA ||
	       error == EINVAL;
}

static int copy_xattr(const char *from, const char *name, int to)
{
	ssize_t len = getxattr(from, name, NULL, 0);
	char *value = malloc(len > 0 ? (size_t)len : 1);
	int rc;

	if (!value)
		return -ENOMEM;
	if (len >= 0)
		len = getxattr(from, name, value, (size_t)len);
	rc = len < 0 || fsetxattr(to, name, value, (size_t)len, 0) < 0 ? -errno : 0;
	free(value);
	return attribute_optional(-rc) ? 0 : rc;
}

static int copy_xattrs(const char *from, int to)
{
	ssize_t n = listxattr(from, NULL, 0);
	char *names;
	int rc = 0;

	if (n <= 0)
		return n < 0 && !attribute_optional(errno) ? -errno : 0;
	names = malloc((size_t)n);
	if (!names)
		return -ENOMEM;
	n = listxattr(from, names, (size_t)n);
	if (n < 0)
		rc = -errno;
	for (ssize_t i = 0; rc == 0 && i < n; i += (ssize_t)strlen(names + i) + 1)
		rc = copy_xattr(from, names + i, to);
	free(names);
	return rc;
}

int sp__outold_attributes(const char *path, const struct stat *old, int fd)
{
	struct stat now;

	if (fstat(fd, &now) < 0)
		return -errno;
	if (((old->st_uid != now.st_uid || old->st_gid != now.st_gid) &&
	     fchown(fd, old->st_uid, old->st_gid) < 0) ||
	    fchmod(fd, old->st_mode & 07777) < 0)
		return errno == EPERM || errno == EINVAL ? SP__OUTOLD_STAYS : -errno;
	return copy_xattrs(path, fd);
}

static int copy_all(int from, int to, uint64_t bytes)
{
	char buf[COPY_BYTES];

	for (uint64_t at = 0; at < bytes;) {
		ssize_t n = sp__read_whole(from, buf, sizeof(buf), at);
		int rc = n > 0 ? sp__write_whole(to, buf, (size_t)n, at) : n < 0 ? (int)n : -EIO;

		if (rc < 0)
			return rc;
		at += (uint64_t)n;
	}
	return 0;
}

int sp__outold_copy(int from, int to, bool *lost)
{
	struct stat result, old;
	int rc;

	if (fstat(from, &result) < 0 || fstat(to, &old) < 0)
		return -errno;
	/* A full device is detected before the old content is touched. */
	if (result.st_size > old.st_size && fallocate(to, 0, 0, result.st_size) < 0 &&
	    errno != EOPNOTSUPP && errno != ENOSYS) {
		rc = -errno;
		(void)!ftruncate(to, old.st_size);
		return rc;
	}
	*lost = old.st_size > 0;
	rc = copy_all(from, to, (uint64_t)result.st_size);
	return rc == 0 && ftruncate(to, result.st_size) < 0 ? -errno : rc;
}
