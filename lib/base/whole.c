/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes ranges of files completely.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/whole.h"

#define SUMMED_BYTES (256u << 10)

ssize_t sp__read_whole(int fd, void *to, size_t bytes, uint64_t at)
{
	size_t done = 0;
	ssize_t n = 1;

	while (done < bytes && n) {
		n = pread(fd, (char *)to + done, bytes - done, (off_t)(at + done));
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)done;
}

int sp__write_whole(int fd, const void *from, size_t bytes, uint64_t at)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = pwrite(fd, (const char *)from + done, bytes - done, (off_t)(at + done));

		if (!n || (n < 0 && errno != EINTR))
			return n ? -errno : -EIO;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int sp__write_zeros(int fd, uint64_t from, uint64_t to, const char *name, struct sp_errinfo *err)
{
	static const uint8_t zeros[65536];
	int rc = 0;

	for (uint64_t n; !rc && from < to; from += n) {
		n = sp__min(sizeof(zeros), to - from);
		rc = sp__write_whole(fd, zeros, n, from);
	}
	return rc ? sp__err(err, rc, "write", name, (long long)from) : 0;
}

static int digest_range(int fd, uint64_t at, uint64_t to, XXH3_state_t *digest, char *buffer)
{
	while (at < to) {
		size_t bytes = sp__min(SUMMED_BYTES, to - at);
		ssize_t n = sp__read_whole(fd, buffer, bytes, at);

		if (n < 0 || (size_t)n < bytes)
			return n < 0 ? (int)n : 0;
		sp__digest_add(digest, buffer, bytes);
		at += bytes;
	}
	return 1;
}

int sp__checksum_range(int fd, uint64_t from, uint64_t to, uint64_t *checksum)
{
	XXH3_state_t *digest = sp__digest_new();
	char *buffer = malloc(SUMMED_BYTES);
	int rc = -ENOMEM;

	if (digest && buffer) {
		rc = digest_range(fd, from, to, digest, buffer);
		*checksum = sp__digest_take(digest);
	}
	sp__digest_free(digest);
	free(buffer);
	return rc;
}

uint64_t sp__file_bytes(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

int sp__file_changed(uint64_t before, uint64_t now, const char *name, struct sp_errinfo *err)
{
	return sp__errf(err, SP_EFORMAT, "read", name, -1,
			now < before ? "has become shorter while it was read"
				     : "has changed while it was read");
}

bool sp__file_continues(const struct stat *before, const struct stat *now)
{
	return before->st_dev == now->st_dev && before->st_ino == now->st_ino &&
	       before->st_size <= now->st_size;
}

int sp__check_continues(int fd, const struct stat *before, const char *name, struct sp_errinfo *err)
{
	struct stat now;

	if (fstat(fd, &now) < 0)
		return sp__err(err, -errno, "read", name, -1);
	if (sp__file_continues(before, &now))
		return 0;
	return sp__file_changed((uint64_t)before->st_size, (uint64_t)now.st_size, name, err);
}

int sp__check_uncut(int fd, uint64_t before, const char *name, struct sp_errinfo *err)
{
	uint64_t now = before ? sp__file_bytes(fd) : 0;

	return now < before ? sp__file_changed(before, now, name, err) : 0;
}
