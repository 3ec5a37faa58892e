/* SPDX-License-Identifier: MIT */
/*
 * A journal: records appended to a file, or to an area inside a file.
 *
 * Each record has a type, a length and a checksum.  The first record that is not whole ends the
 * journal, and the next one takes its place.  So a crash loses at most the record that was being
 * written, or, with `unsynced`, those after the last sync.
 *
 * Format: type, length of the data and checksum (XXH3) of both and of the data, 8 bytes each in the
 * byte order of the host; then the data.  No padding.
 *
 * An area inside a file is never cut off, so whole records of an earlier time can follow the last
 * one.  A record in an area must therefore say to which state of the file it belongs, and its
 * reader compares that.
 *
 * Thread rule: one thread at a time.  Another process must not append (cells/lock.h).
 */
#pragma once

#include <sys/uio.h>
#include <spindle/error.h>

#define SP__JOURNAL_HEADER_BYTES 24 /* bytes of the header of a record, before its data */
#define SP__JOURNAL_PARTS_MAX 8	    /* maximum parts of one record */

/* The caller fills this in, and keeps and closes fd. */
struct sp__journal {
	int fd;		  /* read and written at offsets; its own offset does not change */
	const char *name; /* for messages; borrowed */
	uint64_t end;	/* at first the offset of the first record; then after the last one known */
	uint64_t limit; /* the end of the area; 0: the journal is the rest of the file */
	bool unsynced;	/* appends do not wait for the device; sp__journal_sync() does */
	struct sp_errinfo *err; /* borrowed; describes the error of each call */
};

struct sp__journal_record {
	uint32_t type; /* type as appended */
	size_t bytes;  /* bytes of data */
	char *data;    /* the caller frees it */
};

/*
 * Reads the record at j->end, and moves j->end after it.  Returns 1 with a record; or 0 if there
 * is none, and then cuts off the rest of a file without a limit; or -ENOMEM or -errno of the
 * system, and then j->end is unchanged.
 */
SP_MUST_CHECK int sp__journal_next(struct sp__journal *j, struct sp__journal_record *rec);

/*
 * Appends a record at j->end, made of n <= SP__JOURNAL_PARTS_MAX parts, and moves j->end after
 * it.  All records must have been read before.  Returns 0 when the record is on the device, unless
 * j->unsynced; -ENOSPC if the device or the area is full; -ENOMEM; or -errno.  After an error
 * j->end is unchanged, and the record might or might not be found by a later reader.
 */
SP_MUST_CHECK int sp__journal_append(struct sp__journal *j, uint32_t type,
				     const struct iovec *parts, int n);

/* Waits until all records are on the device.  Returns 0 or -errno. */
SP_MUST_CHECK int sp__journal_sync(const struct sp__journal *j);
