/* SPDX-License-Identifier: MIT */
/*
 * Reserves closed standard descriptors, and reports write errors of standard output.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "msg.h"

bool stdio_guard(void)
{
	bool input_closed = fcntl(STDIN_FILENO, F_GETFD) < 0;

	/*
	 * open() takes the lowest free number.  Opens a directory, since /dev/null could be
	 * reopened as /dev/stdin or /dev/stdout.
	 */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH) < 0)
			break;
	return input_closed;
}

void stdio_finish(void)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fclose(stdout) || failed)
		die_sys(failed ? 0 : errno, "write error");
}

void stdio_leave(void)
{
	stdio_finish();
	exit(0);
}
