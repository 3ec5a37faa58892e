/* SPDX-License-Identifier: MIT */
/*
 * Writes a file line by line, from several threads.
 *
 * Lines are made under a lock in a buffer of BUF_BYTES; a full buffer is written by write(2).
 * After the first failure no more is written; closing returns its error.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "base/err.h"
#include "base/linefile.h"

#define BUF_BYTES 65536

struct sp__linefile {
	pthread_mutex_t lock;
	struct sp_outfile *out;
	const char *path;
	int fd;
	int error; /* the first one; stops all writing */
	size_t used;
	char buf[BUF_BYTES];
};

int sp__linefile_open(struct sp__linefile **out, const char *path, struct sp_errinfo *err)
{
	struct sp__linefile *l = malloc(sizeof(*l));
	int rc;

	if (!l)
		return sp__err(err, -ENOMEM, "open", path, -1);
	l->path = path;
	rc = sp_outfile_open(&l->out, path, 0, err);
	if (rc == 0)
		rc = l->fd = sp_outfile_begin(l->out, err);
	if (rc < 0) {
		sp_outfile_close(l->out, err);
		free(l);
		return rc;
	}
	pthread_mutex_init(&l->lock, NULL);
	l->error = 0;
	l->used = 0;
	*out = l;
	return 0;
}

static void flush(struct sp__linefile *l)
{
	size_t at = 0;

	while (at < l->used && !l->error) {
		ssize_t n = write(l->fd, l->buf + at, l->used - at);

		if (n >= 0)
			at += (size_t)n;
		else if (errno != EINTR)
			l->error = -errno;
	}
	l->used = 0;
}

char *sp__linefile_begin(struct sp__linefile *l)
{
	pthread_mutex_lock(&l->lock);
	if (BUF_BYTES - l->used < SP__LINEFILE_MAX)
		flush(l);
	return l->buf + l->used;
}

void sp__linefile_end(struct sp__linefile *l, const char *end)
{
	l->used = (size_t)(end - l->buf);
	pthread_mutex_unlock(&l->lock);
}

int sp__linefile_close(struct sp__linefile *l, struct sp_errinfo *err)
{
	int rc;

	if (!l)
		return 0;
	flush(l);
	rc = l->error;
	rc = rc ? sp__err(err, rc, "write", l->path, -1) : sp_outfile_commit(l->out, err);
	sp_outfile_close(l->out, err);
	pthread_mutex_destroy(&l->lock);
	free(l);
	return rc;
}
