/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/minmax.h"
#include "sort/moveup.h"

#define MOVE_BYTES ((uint64_t)256 << 10)

static int move_piece(int fd, char *buf, size_t bytes, uint64_t from, uint64_t to)
{
	size_t got = 0, put = 0;
	ssize_t n = 1;

	while (got < bytes && n) {
		n = pread(fd, buf + got, bytes - got, (off_t)(from + got));
		if (n < 0 && errno != EINTR)
			return -errno;
		got += n > 0 ? (size_t)n : 0;
	}
	if (got < bytes)
		return -EIO;
	while (put < bytes) {
		n = pwrite(fd, buf + put, bytes - put, (off_t)(to + put));
		if (!n || (n < 0 && errno != EINTR))
			return n ? -errno : -EIO;
		put += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int sp__move_up(int fd, uint64_t from, uint64_t to, uint64_t bytes, struct sp__io_counters *io)
{
	char *buf = malloc(MOVE_BYTES);
	int rc = buf ? 0 : -ENOMEM;

	for (uint64_t done = 0, n; done < bytes && !rc; done += n) {
		n = sp__min(bytes - done, MOVE_BYTES);
		rc = move_piece(fd, buf, n, from + done, to + done);
		sp__io_add(io, &(struct sp__io_counters){ 1, n, 1, n });
	}
	free(buf);
	return rc;
}
