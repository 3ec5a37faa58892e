/* SPDX-License-Identifier: MIT */
/*
 * Unmounts a mount if its folder, or one above it, was renamed. libfuse knows only the old name, so
 * its mount would stay without a server.
 */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vdisk.h"

extern char **environ;

bool name_of(int fd, char name[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, PATH_MAX - 1);
	if (n < 0)
		return false;
	name[n] = '\0';
	return true;
}

/* True if something is mounted on the folder of this name. */
static bool covered(int folder, const char *name)
{
	struct stat below, now;

	if (fstat(folder, &below) < 0)
		return false;
	if (stat(name, &now) < 0)
		return errno == ENOTCONN;
	return below.st_dev != now.st_dev;
}

/* Calls the helper of libfuse, for a user without the right to unmount. */
static void call_helper(char *name)
{
	char helper[] = "fusermount3", how[] = "-uqz", end[] = "--";
	char *argv[] = { helper, how, end, name, NULL };
	pid_t pid;

	if (posix_spawnp(&pid, helper, NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
}

int unmount_moved(int folder)
{
	char name[PATH_MAX];

	if (!name_of(folder, name) || !covered(folder, name))
		return 0;
	if (umount2(name, MNT_DETACH) < 0)
		call_helper(name);
	if (!covered(folder, name))
		return 0;
	msg("%s: is still mounted, as its name has changed: unmount it", quote_file(name));
	return -1;
}
