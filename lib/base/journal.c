/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/whole.h"
#include "base/journal.h"

#define PIECES_MAX 8

struct head {
	uint64_t type;
	uint64_t bytes;
	uint64_t checksum; /* of the two above and the pieces */
};

/* Of a record, without the place of the checksum itself; 0 or -ENOMEM. */
static int sum(const struct head *h, const struct iovec *pieces, int n, uint64_t *checksum)
{
	XXH3_state_t *d = sp__digest_new();

	if (!d)
		return -ENOMEM;
	sp__digest_add(d, h, offsetof(struct head, checksum));
	for (int i = 0; i < n; i++)
		sp__digest_add(d, pieces[i].iov_base, pieces[i].iov_len);
	*checksum = sp__digest_take(d);
	sp__digest_free(d);
	return 0;
}

static int failed(struct sp__journal *j, int code, const char *op)
{
	return sp__err(j->err, code, op, j->name, (long long)j->end);
}

/* All bytes; 1; 0: there are fewer; or an error. */
static int read_at(struct sp__journal *j, void *to, size_t bytes, uint64_t at)
{
	ssize_t n = sp__read_whole(j->fd, to, bytes, at);

	return n < 0 ? failed(j, (int)n, "read") : (size_t)n == bytes;
}

static int read_record(struct sp__journal *j, struct sp__journal_record *rec)
{
	struct stat st;
	struct head h;
	int rc = read_at(j, &h, sizeof(h), j->end);

	if (rc <= 0)
		return rc;
	if (!j->limit && fstat(j->fd, &st) < 0)
		return failed(j, -errno, "read");
	if (h.bytes > (j->limit ? j->limit - j->end - sizeof(h) : (uint64_t)st.st_size))
		return 0;
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

int sp__journal_append(struct sp__journal *j, uint32_t type, const struct iovec *pieces, int n)
{
	struct iovec all[PIECES_MAX + 1];
	struct head h = { .type = type };
	ssize_t done;

	for (int i = 0; i < n; i++) {
		h.bytes += pieces[i].iov_len;
		all[i + 1] = pieces[i];
	}
	if (sum(&h, pieces, n, &h.checksum) < 0)
		return failed(j, -ENOMEM, "allocate");
	all[0] = (struct iovec){ &h, sizeof(h) };
	/* What is missing of a record that was written in part does not count, but is an error. */
	done = pwritev(j->fd, all, n + 1, (off_t)j->end);
	if (done < 0)
		return failed(j, -errno, "write");
	if ((uint64_t)done != sizeof(h) + h.bytes)
		return failed(j, -ENOSPC, "write");
	if (fdatasync(j->fd) < 0)
		return failed(j, -errno, "fsync");
	j->end += (uint64_t)done;
	return 0;
}
