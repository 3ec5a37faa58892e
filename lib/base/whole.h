/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes a range of a file completely, in as many calls as needed, and checks that a file
 * has not changed, or that one that was read to its end was not truncated.
 */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <spindle/error.h>

/* Returns the bytes read, fewer than requested only at the end of the file, or -errno. */
SP_MUST_CHECK ssize_t sp__read_whole(int fd, void *to, size_t bytes, uint64_t at);
/* Returns 0 or -errno. */
SP_MUST_CHECK int sp__write_whole(int fd, const void *from, size_t bytes, uint64_t at);
/* Writes zeros to bytes [from, to) of the file of this name.  Returns 0 or -errno. */
SP_MUST_CHECK int sp__write_zeros(int fd, uint64_t from, uint64_t to, const char *name,
				  struct sp_errinfo *err);

/*
 * Computes the checksum of bytes [from, to) of a file.  Returns 1; 0 if the file ends before `to`;
 * or -errno.
 */
SP_MUST_CHECK int sp__checksum_range(int fd, uint64_t from, uint64_t to, uint64_t *checksum);

/* Returns the size of a regular file in bytes, or 0 for anything else. */
uint64_t sp__file_bytes(int fd);
/* Records that a file of this size before has changed; it has `now` bytes.  Returns SP_EFORMAT. */
int sp__file_changed(uint64_t before, uint64_t now, const char *name, struct sp_errinfo *err);
/* True if both describe one file, which has not become shorter; it can be longer. */
bool sp__file_continues(const struct stat *before, const struct stat *now);
/*
 * Checks that an open file is the one that `before` describes, and has not become shorter.  Returns
 * 0, SP_EFORMAT, or the error of reading its state.
 */
SP_MUST_CHECK int sp__check_continues(int fd, const struct stat *before, const char *name,
				      struct sp_errinfo *err);
/*
 * Checks an input at its end. before: its sp__file_bytes() at the beginning.  Returns 0, or
 * SP_EFORMAT if the file is smaller now: a reader cannot tell which records are missing.
 */
SP_MUST_CHECK int sp__check_uncut(int fd, uint64_t before, const char *name,
				  struct sp_errinfo *err);
