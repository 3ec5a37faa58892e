/* SPDX-License-Identifier: MIT */
/*
 * Declares sorted regular files that are merged in ranges (-m): how a key is located in them, and
 * how a part of one is read (filecut.c).
 *
 * Owner: the thread that lists the files; afterwards nothing changes, and several threads can read
 * them.
 */
#pragma once

#include <sys/stat.h>
#include <spindle/error.h>
#include "io/queue.h"
#include "rec/key.h"
#include "sort/tree/cursor.h"

struct sp__cut_file {
	const char *name; /* borrowed, like fd */
	int fd;
	uint64_t bytes;
	bool unended; /* its last record has no terminator */
	struct stat st;
};

/*
 * Sets the description of an open file.  Returns 1, 0 if it cannot be merged in ranges, or an
 * error.
 */
SP_MUST_CHECK int sp__cut_file_describe(struct sp__cut_file *f, const struct sp_recfmt *format,
					const char *name, int fd, struct sp_errinfo *err);
/* Returns 0, or an error if the file is not as it was described. */
SP_MUST_CHECK int sp__cut_file_check(const struct sp__cut_file *f, struct sp_errinfo *err);

/* Examines files in one thread. */
struct sp__finder {
	const struct sp_keyset *keys;
	struct sp_errinfo *err;
	const struct sp__cut_file *file;
	char *window;
	size_t capacity, filled;
	uint64_t from; /* file offset of the window */
	struct sp__keybuf keybuf;
};

/* Returns 0 or -ENOMEM; release it in both cases. */
SP_MUST_CHECK int sp__finder_open(struct sp__finder *f, const struct sp_keyset *keys,
				  struct sp_errinfo *err);
void sp__finder_release(struct sp__finder *f);
/*
 * Finds the key of the first record that starts at an offset or later; it is valid until the next
 * call.  Returns 1, 0 if none is near, or an error.
 */
SP_MUST_CHECK int sp__finder_sample(struct sp__finder *f, const struct sp__cut_file *file,
				    uint64_t at, const void **key, size_t *bytes);
/*
 * Finds where the records start that do not precede a key, near `guess`.  In an unsorted file, the
 * record before that offset precedes the key, and the one there does not.
 */
SP_MUST_CHECK int sp__finder_find(struct sp__finder *f, const struct sp__cut_file *file,
				  const void *key, size_t key_bytes, uint64_t guess, uint64_t *at);

/* Bytes of a file that a cursor reads. */
struct sp__file_span {
	const struct sp__cut_file *file;
	uint64_t at, to;
	char *mem;
	size_t bytes;
	struct sp_errinfo *err;
	struct sp__io_counters *io;
};

/* Makes a zeroed cursor read spans[index].  read: receives the tally of its records. */
void sp__file_cursor(struct sp__cursor *c, struct sp__file_span *spans, size_t index,
		     struct sp__tally *read);
