/* SPDX-License-Identifier: MIT */
/*
 * A piece of a file as a whole, however many calls that takes.
 */
#ifndef SP__BASE_WHOLE_H
#define SP__BASE_WHOLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <spindle/api.h>

/* Bytes read, less than asked for only at the end of the file; or -errno. */
SP_MUST_CHECK ssize_t sp__read_whole(int fd, void *to, size_t bytes, uint64_t at);
/* 0 or -errno. */
SP_MUST_CHECK int sp__write_whole(int fd, const void *from, size_t bytes, uint64_t at);

#endif
