/* SPDX-License-Identifier: MIT */
/*
 * Moves bytes of a file to a lower offset, a chunk at a time.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "base/whole.h"
#include "sort/merge/moveup.h"

#define MOVE_BYTES ((uint64_t)256 << 10)

static int move_piece(int fd, char *buf, size_t bytes, uint64_t from, uint64_t to)
{
	ssize_t n = sp__read_whole(fd, buf, bytes, from);

	if (n < 0 || (size_t)n < bytes)
		return n < 0 ? (int)n : -EIO;
	return sp__write_whole(fd, buf, bytes, to);
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
