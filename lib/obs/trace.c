/* SPDX-License-Identifier: MIT */
/*
 * Writes the trace of block requests.
 *
 * Lines are made under a lock in a buffer of BUF_BYTES; a full buffer is written by write(2).
 * After the first failure no more is written; closing returns its error.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "base/clock.h"
#include "base/err.h"
#include "obs/trace.h"

#define BUF_BYTES 65536
/* Maximum length of the numbers of a line, and some reserve. */
#define FIGURES_BYTES 160
/* A longer name, escaped, is cut; it stays one word of one line. */
#define NAME_BYTES 8192

struct sp__trace {
	pthread_mutex_t lock;
	struct sp_outfile *out;
	const char *path;
	int fd;
	int error; /* the first one; stops all writing */
	uint64_t opened_ns;
	sp__trace_clock_fn *virtual_ns; /* NULL: the real clock */
	const void *clock;
	size_t used;
	char buf[BUF_BYTES];
};

static void flush(struct sp__trace *t)
{
	size_t at = 0;

	while (at < t->used && !t->error) {
		ssize_t n = write(t->fd, t->buf + at, t->used - at);

		if (n >= 0)
			at += (size_t)n;
		else if (errno != EINTR)
			t->error = -errno;
	}
	t->used = 0;
}

int sp__trace_open(struct sp__trace **out, const char *path, struct sp_errinfo *err)
{
	static const char head[] = "# spindle-trace/1\n"
				   "# op volume offset bytes prio submit_ns done_ns result\n";
	struct sp__trace *t = malloc(sizeof(*t));
	int rc;

	if (!t)
		return sp__err(err, -ENOMEM, "open", path, -1);
	t->path = path;
	rc = sp_outfile_open(&t->out, path, 0, err);
	if (rc == 0)
		rc = t->fd = sp_outfile_begin(t->out, err);
	if (rc < 0) {
		sp_outfile_close(t->out, err);
		free(t);
		return rc;
	}
	pthread_mutex_init(&t->lock, NULL);
	t->error = 0;
	t->virtual_ns = NULL;
	t->clock = NULL;
	t->opened_ns = sp__now_ns();
	t->used = sizeof(head) - 1;
	memcpy(t->buf, head, t->used);
	*out = t;
	return 0;
}

/* Writes a name as one word of printable bytes; other bytes become %XX. */
static void put_name(struct sp__trace *t, const char *name)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t end = t->used + NAME_BYTES - 3;

	for (; *name && t->used < end; name++) {
		unsigned char c = (unsigned char)*name;

		if (c > ' ' && c != '%' && c != 0x7f) {
			t->buf[t->used++] = (char)c;
		} else {
			t->buf[t->used++] = '%';
			t->buf[t->used++] = hex[c >> 4];
			t->buf[t->used++] = hex[c & 15];
		}
	}
}

void sp__trace_virtual(struct sp__trace *t, sp__trace_clock_fn *now_ns, const void *clock)
{
	t->opened_ns = 0;
	t->virtual_ns = now_ns;
	t->clock = clock;
}

uint64_t sp__trace_now_ns(const struct sp__trace *t)
{
	return t->virtual_ns ? t->virtual_ns(t->clock) : sp__now_ns();
}

void sp__trace_request(struct sp__trace *t, char op, const char *volume, uint64_t offset,
		       uint32_t bytes, unsigned prio, uint64_t submit_ns, uint64_t done_ns,
		       int result)
{
	int n;

	pthread_mutex_lock(&t->lock);
	if (BUF_BYTES - t->used < NAME_BYTES + FIGURES_BYTES)
		flush(t);
	t->buf[t->used++] = op;
	t->buf[t->used++] = ' ';
	put_name(t, volume && *volume ? volume : "-");
	n = snprintf(t->buf + t->used, FIGURES_BYTES,
		     " %" PRIu64 " %" PRIu32 " %u %" PRId64 " %" PRId64 " %d\n", offset, bytes,
		     prio, (int64_t)(submit_ns - t->opened_ns), (int64_t)(done_ns - t->opened_ns),
		     result);
	t->used += (size_t)n;
	pthread_mutex_unlock(&t->lock);
}

int sp__trace_close(struct sp__trace *t, struct sp_errinfo *err)
{
	int rc;

	if (!t)
		return 0;
	flush(t);
	rc = t->error;
	rc = rc ? sp__err(err, rc, "write", t->path, -1) : sp_outfile_commit(t->out, err);
	sp_outfile_close(t->out, err);
	pthread_mutex_destroy(&t->lock);
	free(t);
	return rc;
}
