/* SPDX-License-Identifier: MIT */
/*
 * Calls of the system that change a table, and allocations, of which one can be made to fail (the
 * Makefile wraps them).
 */
#ifndef TABLEWRAPS_H
#define TABLEWRAPS_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

static _Atomic unsigned calls;
static unsigned fail_at; /* 0: none fails */
static bool stay_failed; /* all later calls fail, too */
static _Atomic unsigned allocations;
static unsigned fail_allocation;
static _Atomic uint64_t written; /* bytes */
static bool read_only;		 /* no file can be opened to write */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	errno = EROFS;
	return read_only && (flags & O_ACCMODE) != O_RDONLY ? -1 : __real_open(path, flags, mode);
}

/* What was done to the file, while it is recorded (crashstates.h). */
struct event {
	enum { EVENT_WRITE, EVENT_LENGTH, EVENT_SYNC } kind;
	off_t at; /* or the length */
	size_t bytes;
	uint8_t *data;
};

#define EVENTS_MAX 4096
static struct event events[EVENTS_MAX];
static unsigned nevents;
static bool recording;

void *__real_malloc(size_t bytes);

static void record(struct event e, const void *data)
{
	if (!recording)
		return;
	if (nevents == EVENTS_MAX)
		abort();
	e.data = __real_malloc(e.bytes + 1);
	if (!e.data)
		abort();
	if (e.bytes)
		memcpy(e.data, data, e.bytes);
	events[nevents++] = e;
}

static bool fails(void)
{
	errno = EIO;
	calls++;
	return fail_at && (stay_failed ? calls >= fail_at : calls == fail_at);
}

ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at)
{
	written += bytes;
	record((struct event){ EVENT_WRITE, at, bytes, NULL }, data);
	return fails() ? -1 : __real_pwrite(fd, data, bytes, at);
}

ssize_t __real_pwritev(int fd, const struct iovec *parts, int n, off_t at);
ssize_t __wrap_pwritev(int fd, const struct iovec *parts, int n, off_t at);
ssize_t __wrap_pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
	off_t end = at;

	for (int i = 0; i < n; end += (off_t)parts[i++].iov_len) {
		written += parts[i].iov_len;
		record((struct event){ EVENT_WRITE, end, parts[i].iov_len, NULL },
		       parts[i].iov_base);
	}
	return fails() ? -1 : __real_pwritev(fd, parts, n, at);
}

int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	(void)fd;
	record((struct event){ EVENT_SYNC, 0, 0, NULL }, NULL);
	return fails() ? -1 : 0;
}

int __real_ftruncate(int fd, off_t bytes);
int __wrap_ftruncate(int fd, off_t bytes);
int __wrap_ftruncate(int fd, off_t bytes)
{
	record((struct event){ EVENT_LENGTH, bytes, 0, NULL }, NULL);
	return fails() ? -1 : __real_ftruncate(fd, bytes);
}

static bool lacks(void)
{
	errno = ENOMEM;
	return ++allocations == fail_allocation;
}

void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
	return lacks() ? NULL : __real_malloc(bytes);
}

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes)
{
	return lacks() ? NULL : __real_calloc(n, bytes);
}

void *__real_reallocarray(void *p, size_t n, size_t bytes);
void *__wrap_reallocarray(void *p, size_t n, size_t bytes);
void *__wrap_reallocarray(void *p, size_t n, size_t bytes)
{
	return lacks() ? NULL : __real_reallocarray(p, n, bytes);
}

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__wrap_strdup(const char *s)
{
	return lacks() ? NULL : __real_strdup(s);
}

#endif
