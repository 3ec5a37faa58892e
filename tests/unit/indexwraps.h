/* SPDX-License-Identifier: MIT */
/*
 * Reads, writes and allocations, of which one can be made to fail (the Makefile wraps them).
 */
#ifndef INDEXWRAPS_H
#define INDEXWRAPS_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

static atomic_uint left; /* calls up to the one that fails; 0: none */
static atomic_bool allocations;
static _Thread_local bool spared; /* calls of this thread do not fail */

/* Call n from now on fails. */
static inline void upset(unsigned n, bool allocating)
{
	left = n;
	allocations = allocating;
}

/* Stops that.  Returns whether a call has failed. */
static inline bool calm(void)
{
	const bool failed = !left;

	left = 0;
	return failed;
}

static bool fails(bool allocation, int code)
{
	unsigned n = left;

	errno = code;
	if (spared || allocation != allocations)
		return false;
	while (n && !atomic_compare_exchange_weak(&left, &n, n - 1))
		;
	return n == 1;
}

#define WRAP(call, result, error, allocation, code, arguments, ...)                                \
	result __real_##call arguments;                                                            \
	result __wrap_##call arguments;                                                            \
	result __wrap_##call arguments                                                             \
	{                                                                                          \
		return fails(allocation, code) ? error : __real_##call(__VA_ARGS__);               \
	}

WRAP(pread, ssize_t, -1, false, EIO, (int fd, void *data, size_t n, off_t at), fd, data, n, at)
WRAP(preadv, ssize_t, -1, false, EIO, (int fd, const struct iovec *v, int n, off_t at), fd, v, n,
     at)
WRAP(pwrite, ssize_t, -1, false, EIO, (int fd, const void *data, size_t n, off_t at), fd, data, n,
     at)
WRAP(pwritev, ssize_t, -1, false, EIO, (int fd, const struct iovec *v, int n, off_t at), fd, v, n,
     at)
WRAP(malloc, void *, NULL, true, ENOMEM, (size_t n), n)
WRAP(calloc, void *, NULL, true, ENOMEM, (size_t n, size_t bytes), n, bytes)
WRAP(realloc, void *, NULL, true, ENOMEM, (void *p, size_t n), p, n)
WRAP(reallocarray, void *, NULL, true, ENOMEM, (void *p, size_t n, size_t bytes), p, n, bytes)
WRAP(strdup, char *, NULL, true, ENOMEM, (const char *s), s)

/* The tests do not wait for the device. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	(void)fd;
	return fails(false, EIO) ? -1 : 0;
}

int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	return __wrap_fsync(fd);
}

#endif
