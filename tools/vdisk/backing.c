/* SPDX-License-Identifier: MIT */
/*
 * Stores the bytes of the disk in a sparse file, without a name in memory or with a name.  An
 * existing file keeps its contents.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vdisk.h"

static int open_memory(uint64_t bytes)
{
	int fd = memfd_create("vdisk", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		die_sys(errno, "memory for the disk");
	return fd;
}

/* True if the file is inside the folder, where a mount would hide it; sets its full name. */
static bool inside(int fd, const char *folder, char name[PATH_MAX])
{
	size_t n = strlen(folder);

	return name_of(fd, name) && !strncmp(name, folder, n) &&
	       (name[n] == '/' || !strcmp(folder, "/"));
}

static int open_file(const char *path, uint64_t bytes, const char *folder)
{
	bool created = access(path, F_OK) < 0 && errno == ENOENT;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char name[PATH_MAX];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		die_sys(errno, "%s", quote_file(path));
	if (inside(fd, folder, name)) {
		if (created)
			unlink(name);
		die("%s: is inside the folder to mount on, and would be hidden: "
		    "choose another location for --backing",
		    quote_file(path));
	}
	if (!S_ISREG(st.st_mode))
		die("%s: not a regular file", quote_file(path));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		die_sys(errno == EWOULDBLOCK ? EBUSY : errno, "%s", quote_file(path));
	if ((uint64_t)st.st_size < bytes && ftruncate(fd, (off_t)bytes) < 0)
		die_sys(errno, "%s", quote_file(path));
	return fd;
}

int backing_open(const char *path, uint64_t bytes, const char *folder)
{
	return path ? open_file(path, bytes, folder) : open_memory(bytes);
}

int backing_read(int fd, char *buf, size_t bytes, uint64_t offset)
{
	ssize_t n;

	for (; bytes; buf += n, bytes -= (size_t)n, offset += (uint64_t)n) {
		n = pread(fd, buf, bytes, (off_t)offset);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0)
			n = 0;
		else if (n == 0)
			return -EIO; /* the file has been truncated */
	}
	return 0;
}

int backing_write(int fd, const char *buf, size_t bytes, uint64_t offset)
{
	ssize_t n;

	for (; bytes; buf += n, bytes -= (size_t)n, offset += (uint64_t)n) {
		n = pwrite(fd, buf, bytes, (off_t)offset);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0)
			n = 0;
	}
	return 0;
}
