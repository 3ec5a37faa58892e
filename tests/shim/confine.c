/* SPDX-License-Identifier: MIT */
/*
 * An LD_PRELOAD library that takes something away from the program, for ever,
 * before it begins:
 *
 *	CONFINE=threads LD_PRELOAD=.../confine.so xsort ...
 *
 * The words, with commas:
 *	threads		the system refuses threads, to the program and to
 *			io_uring (RLIMIT_NPROC is 1).  Since root is exempt from that,
 *			root becomes nobody, but may still open every file.
 *	eperm, enosys	each system call of io_uring fails so (a seccomp filter),
 *			as in a container, or in an older kernel.
 *
 *	group		its control group is that of /proc/self/cgroup and
 *			/sys/fs/cgroup below the working directory.
 *
 * Exit status 77: that is not possible here.  The variables are taken out of
 * the environment, so that children run free of it, except of what they inherit.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "forbid.h"

#define NOBODY 65534

/* Keeps root's access to files; drops all other rights. */
static bool become_nobody(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2] = { 0 };

	caps[0].effective = caps[0].permitted = 1u << CAP_DAC_OVERRIDE;
	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0 &&
	       syscall(SYS_capset, &head, caps) == 0;
}

static bool take_threads(void)
{
	struct rlimit one = { 1, 1 };

	return (getuid() != 0 || become_nobody()) && setrlimit(RLIMIT_NPROC, &one) == 0;
}

static bool grouped;

/* A path of control groups from there on. */
static const char *moved(const char *path)
{
	bool group =
		strncmp(path, "/sys/fs/cgroup/", 15) == 0 || strcmp(path, "/proc/self/cgroup") == 0;

	return grouped && group ? path + 1 : path;
}

#define OPEN(name)                                                                                 \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		va_list ap;                                                                        \
		va_start(ap, flags);                                                               \
		if (flags & (O_CREAT | O_TMPFILE))                                                 \
			mode = va_arg(ap, mode_t);                                                 \
		va_end(ap);                                                                        \
		return (int)syscall(SYS_openat, AT_FDCWD, moved(path), flags, mode);               \
	}

OPEN(open)
OPEN(open64)

static bool confine(const char *word)
{
	if (strcmp(word, "group") == 0)
		return grouped = true;
	if (strcmp(word, "threads") == 0)
		return take_threads();
	if (strcmp(word, "eperm") == 0)
		return forbid_calls(SYS_io_uring_setup, SYS_io_uring_register, EPERM);
	if (strcmp(word, "enosys") == 0)
		return forbid_calls(SYS_io_uring_setup, SYS_io_uring_register, ENOSYS);
	return false;
}

__attribute__((constructor)) static void begin(void)
{
	const char *words = getenv("CONFINE");
	char *copy = words ? strdup(words) : NULL, *rest = NULL;

	if (words && !copy)
		_exit(77);
	for (char *w = copy ? strtok_r(copy, ",", &rest) : NULL; w; w = strtok_r(NULL, ",", &rest))
		if (!confine(w))
			_exit(77);
	free(copy);
	unsetenv("CONFINE");
	unsetenv("LD_PRELOAD");
}
