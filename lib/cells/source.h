/* SPDX-License-Identifier: MIT */
/*
 * The state of a file, recorded to find out later whether the file is still what it was.
 *
 * A file that has the same state was not written since, except within one step of the clock of its
 * file system.  A program can set the time of the last change back, but not the time of the last
 * change of its status.  That one also changes with the name, the mode and the number of links; so
 * a file that may be moved is compared without it.  Such a format records a checksum of the content
 * as well (sp__checksum_range() of base/whole.h).
 *
 * Thread rule: any thread; a state is a value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* No padding, as in a record of a journal. */
struct sp__file_state {
	uint64_t dev, ino; /* 0: a format that does not record them */
	uint64_t bytes;
	uint64_t mtime_s, mtime_ns; /* the time of the last change since 1970; ns < 10^9 */
	uint64_t ctime_s, ctime_ns; /* last change of the status of the file; 0: as for dev */
};

/* Returns the state of a file that stat(2) has described. */
static inline struct sp__file_state sp__file_state(const struct stat *st)
{
	return (struct sp__file_state){ st->st_dev,
					st->st_ino,
					(uint64_t)st->st_size,
					(uint64_t)st->st_mtim.tv_sec,
					(uint64_t)st->st_mtim.tv_nsec,
					(uint64_t)st->st_ctim.tv_sec,
					(uint64_t)st->st_ctim.tv_nsec };
}

/* True if all members are equal: the same file, not changed. */
static inline bool sp__file_state_same(const struct sp__file_state *a,
				       const struct sp__file_state *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* True if it can be the same file, not changed, but with another name, mode or number of links. */
static inline bool sp__file_state_moved(const struct sp__file_state *a,
					const struct sp__file_state *b)
{
	return memcmp(a, b, offsetof(struct sp__file_state, ctime_s)) == 0;
}

/* Returns the time as one number of nanoseconds, for formats that record it so. */
static inline int64_t sp__file_state_time(const struct sp__file_state *s)
{
	return (int64_t)(s->mtime_s * 1000000000 + s->mtime_ns);
}

/* Sets the time from one number of nanoseconds, before 1970 too. */
static inline void sp__file_state_set_time(struct sp__file_state *s, int64_t ns)
{
	int64_t second = ns / 1000000000 - (ns % 1000000000 < 0);

	s->mtime_s = (uint64_t)second;
	s->mtime_ns = (uint64_t)ns - s->mtime_s * 1000000000;
}
