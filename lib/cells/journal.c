/* SPDX-License-Identifier: MIT */
/*
 * Reads and appends records with checksums.
 *
 * A record is written by one call, header and data together; what is missing of one that was
 * written in part makes its checksum wrong.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "cells/journal.h"

struct header {
	uint64_t type;
	uint64_t bytes;
	uint64_t checksum; /* checksum of the two members above and of the data */
};

_Static_assert(sizeof(struct header) == SP__JOURNAL_HEADER_BYTES, "a header has no padding");

/* Computes the checksum of a record.  Returns 0 or -ENOMEM. */
static int sum(const struct header *h, const struct iovec *parts, int n, uint64_t *checksum)
{
	XXH3_state_t *d = sp__digest_new();

	if (!d)
		return -ENOMEM;
	sp__digest_add(d, h, offsetof(struct header, checksum));
	for (int i = 0; i < n; i++)
		sp__digest_add(d, parts[i].iov_base, parts[i].iov_len);
	*checksum = sp__digest_take(d);
	sp__digest_free(d);
	return 0;
}

static int failed(const struct sp__journal *j, int code, const char *op)
{
	return sp__err(j->err, code, op, j->name, (long long)j->end);
}

/* Reads all bytes.  Returns 1, 0 if there are fewer, or -errno. */
static int read_at(const struct sp__journal *j, void *to, size_t bytes, uint64_t at)
{
	ssize_t n = sp__read_whole(j->fd, to, bytes, at);

	return n < 0 ? failed(j, (int)n, "read") : (size_t)n == bytes;
}

/* Computes how many bytes the record at j->end can have.  Returns 0 or -errno. */
static int space(const struct sp__journal *j, uint64_t *bytes)
{
	uint64_t end = j->limit;
	struct stat st;

	if (!end) {
		if (fstat(j->fd, &st) < 0)
			return failed(j, -errno, "read");
		end = (uint64_t)st.st_size;
	}
	*bytes = end - sp__min(end, j->end);
	return 0;
}

static int read_record(struct sp__journal *j, struct sp__journal_record *rec)
{
	uint64_t bytes = 0;
	struct header h;
	int rc = space(j, &bytes);

	if (rc < 0 || bytes < sizeof(h))
		return rc;
	rc = read_at(j, &h, sizeof(h), j->end);
	if (rc <= 0 || h.bytes > bytes - sizeof(h))
		return rc < 0 ? rc : 0;
	rec->data = malloc(h.bytes + 1);
	if (!rec->data)
		return failed(j, -ENOMEM, "allocate");
	rc = read_at(j, rec->data, h.bytes, j->end + sizeof(h));
	if (rc > 0) {
		struct iovec piece = { rec->data, h.bytes };
		uint64_t checksum = 0;

		rc = sum(&h, &piece, 1, &checksum);
		rc = rc < 0 ? failed(j, rc, "allocate") : checksum == h.checksum;
	}
	if (rc <= 0) {
		free(rec->data);
		return rc;
	}
	rec->type = (uint32_t)h.type;
	rec->bytes = h.bytes;
	j->end += sizeof(h) + h.bytes;
	return 1;
}

int sp__journal_next(struct sp__journal *j, struct sp__journal_record *rec)
{
	int rc = read_record(j, rec);

	if (rc == 0 && !j->limit && ftruncate(j->fd, (off_t)j->end) < 0)
		return failed(j, -errno, "write");
	return rc;
}

int sp__journal_sync(const struct sp__journal *j)
{
	return fdatasync(j->fd) < 0 ? failed(j, -errno, "fsync") : 0;
}

int sp__journal_append(struct sp__journal *j, uint32_t type, const struct iovec *parts, int n)
{
	struct iovec all[SP__JOURNAL_PARTS_MAX + 1];
	struct header h = { .type = type };
	uint64_t bytes;
	ssize_t done;
	int rc;

	for (int i = 0; i < n; i++) {
		h.bytes += parts[i].iov_len;
		all[i + 1] = parts[i];
	}
	bytes = sizeof(h) + h.bytes;
	if (j->limit && bytes > j->limit - sp__min(j->limit, j->end))
		return failed(j, -ENOSPC, "write");
	if (sum(&h, parts, n, &h.checksum) < 0)
		return failed(j, -ENOMEM, "allocate");
	all[0] = (struct iovec){ &h, sizeof(h) };
	/* A record that was written in part does not count, but is an error. */
	done = pwritev(j->fd, all, n + 1, (off_t)j->end);
	if (done < 0)
		return failed(j, -errno, "write");
	if ((uint64_t)done != bytes)
		return failed(j, -ENOSPC, "write");
	rc = j->unsynced ? 0 : sp__journal_sync(j);
	if (!rc)
		j->end += bytes;
	return rc;
}
