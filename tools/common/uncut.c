/* SPDX-License-Identifier: MIT */
/*
 * Detects that a file was truncated while it was read.
 */
#include <sys/stat.h>
#include "msg.h"
#include "uncut.h"

unsigned long long uncut_bytes(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (unsigned long long)st.st_size : 0;
}

void uncut_check(int fd, unsigned long long before, const char *name)
{
	if (uncut_bytes(fd) < before)
		die("%s: has become shorter while it was read", quote_file(name));
}
