/* SPDX-License-Identifier: MIT */
/*
 * A journal: records appended to a file, each on the device before the call returns.
 *
 * A record is whole if its checksum is right; the first one that is not, torn by a crash, ends the
 * journal, and the next one takes its place.
 *
 * Owner: one thread at a time.
 */
#ifndef SP__BASE_JOURNAL_H
#define SP__BASE_JOURNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <spindle/error.h>

struct sp__journal {
	int fd;
	const char *name; /* for messages */
	uint64_t end;	  /* of the whole records found or appended so far */
	/*
	 * Where the journal is inside a file: the offset that no record passes, and nothing is cut
	 * off.  0: it is the rest of the file.
	 */
	uint64_t limit;
	struct sp_errinfo *err;
};

struct sp__journal_record {
	uint32_t type;
	size_t bytes;
	char *data; /* to be freed */
};

/* The record at `end`, which it passes: 1; 0: there is none, and what follows is cut off; or an
 * error. */
SP_MUST_CHECK int sp__journal_next(struct sp__journal *j, struct sp__journal_record *rec);
/* Appends a record made of these pieces. */
SP_MUST_CHECK int sp__journal_append(struct sp__journal *j, uint32_t type,
				     const struct iovec *pieces, int n);

#endif
