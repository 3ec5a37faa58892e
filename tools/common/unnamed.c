/* SPDX-License-Identifier: MIT */
/* Temporary files without names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "msg.h"
#include "unnamed.h"

static int create(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	if (asprintf(&name, "%s/spindleXXXXXX", dir) < 0)
		die("memory exhausted");
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

int unnamed_file(const char *dir, char path[UNNAMED_PATH], const char *needing)
{
	int fd = create(dir);

	if (fd < 0)
		die_sys(errno, "cannot create temporary file in %s", quote_file_always(dir));
	snprintf(path, UNNAMED_PATH, "/proc/self/fd/%d", fd);
	if (access(path, W_OK) < 0)
		die("%s needs /proc", needing);
	return fd;
}
