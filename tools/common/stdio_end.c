/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "msg.h"
#include "stdio_end.h"

bool stdio_guard(void)
{
	bool input_closed = fcntl(STDIN_FILENO, F_GETFD) < 0;

	/* open() takes the lowest free number, so the order of these matters. */
	if (input_closed && open("/dev/null", O_WRONLY) < 0)
		return true;
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
		return input_closed;
	if (fcntl(STDERR_FILENO, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
		return input_closed;
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
