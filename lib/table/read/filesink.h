/* SPDX-License-Identifier: MIT */
/*
 * A regular file that gets the output of a query: a sink, and bytes that tasks write at offsets of
 * their own.
 *
 * Owner: the thread that reads.  Tasks write bytes whose places it has taken.
 */
#pragma once

#include <spindle/table.h>

struct sp__filesink {
	int fd;		  /* borrowed */
	uint64_t at;	  /* where the next bytes belong */
	uint64_t old_end; /* of the file, before */
	uint64_t failed;  /* offset of the first bytes that could not be written */
	struct sp_errinfo *err;
};

/*
 * Opens a sink from the offset of a descriptor on.  Returns false if bytes cannot be written at
 * offsets: it is not a regular file, or is open for appending.
 */
bool sp__filesink_open(struct sp__filesink *s, int fd, struct sp_errinfo *err);
/* Takes the place of the next bytes. */
static inline uint64_t sp__filesink_take(struct sp__filesink *s, size_t bytes)
{
	s->at += bytes;
	return s->at - bytes;
}
/* Writes bytes: a sp_table_sink. */
int sp__filesink_put(void *filesink, const char *data, size_t bytes);
/* Notes that bytes taken at this offset were not written.  Returns rc, recorded in err. */
int sp__filesink_fail(struct sp__filesink *s, uint64_t at, int rc);
/*
 * Ends the output: moves the offset of the descriptor behind it.  After an error, rc, the file ends
 * before the first bytes that are missing, unless it was longer.  Returns rc, or an error of the
 * file, recorded in err.
 */
SP_MUST_CHECK int sp__filesink_close(struct sp__filesink *s, int rc);
