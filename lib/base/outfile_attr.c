/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/xattr.h>
#include "base/outfile_impl.h"

/* Some are not for us to set, or gone meanwhile. */
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

int sp__outfile_keep_attributes(const char *path, const struct stat *old, int fd)
{
	struct stat now;

	if (fstat(fd, &now) < 0)
		return -errno;
	if (((old->st_uid != now.st_uid || old->st_gid != now.st_gid) &&
	     fchown(fd, old->st_uid, old->st_gid) < 0) ||
	    fchmod(fd, old->st_mode & 07777) < 0)
		return errno == EPERM || errno == EINVAL ? SP__IN_PLACE : -errno;
	return copy_xattrs(path, fd);
}
