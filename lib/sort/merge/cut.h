/* SPDX-License-Identifier: MIT */
/*
 * Declares cuts of sorted data: spilled runs and slots in memory, or sorted files (-m).
 *
 * A cut is a key.  Its position in each input is that of the first record whose key does not
 * precede it.  Only keys are compared, never the last resort, so equal keys are never separated.
 *
 * Owner: the thread that works on the sort, before its final merge.  Afterwards nothing changes,
 * and several threads can find positions.
 */
#pragma once

#include <sys/stat.h>
#include "sort/form/forming.h"

/* A sorted regular file (filecut.c). */
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

/* A normalised key, and its prefix as in an entry.  COLLATED: a whole record, and its code. */
struct sp__cut_key {
	const void *data;
	size_t bytes;
	uint64_t prefix;
	const unsigned char *code; /* the key of the record as bytes; NULL: it has none */
	size_t code_bytes;
	double share; /* about the part of all bytes that precede it */
};

struct sp__cuts {
	const struct sp__forming *forming;
	const unsigned *ids; /* spilled runs */
	unsigned n;
	const struct sp__runbuf **bufs; /* sorted buffers after them, oldest first */
	unsigned nbufs;
	const struct sp__cut_file *files; /* then n and nbufs are 0 */
	unsigned nfiles;
	char *file_keys; /* memory of their keys */
	unsigned parts;
	struct sp__cut_key *keys; /* cut i, between parts i - 1 and i, is at keys[i - 1] */
	struct sp__keybuf *codes; /* COLLATED: of keys; or NULL */
};

/*
 * True if all runs can be cut: the last keys of their pages and checksums of single pages are kept.
 * COLLATED: at most half of the last keys are truncated.
 */
bool sp__cuts_possible(const struct sp__spilled *spilled, const unsigned *ids, unsigned n);
/*
 * Chooses cuts of the spilled runs ids[0..n) and all sorted slots into at most that many parts of
 * about equal length.  A large group of equal keys makes fewer parts, at least one.  Returns 0 or
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__cuts_choose(struct sp__cuts *c, const struct sp__forming *forming,
				  const unsigned *ids, unsigned n, unsigned parts);
/* Does the same for files. */
SP_MUST_CHECK int sp__cuts_choose_files(struct sp__cuts *c, const struct sp__forming *forming,
					const struct sp__cut_file *files, unsigned n,
					unsigned parts);
void sp__cuts_release(struct sp__cuts *c);

static inline unsigned sp__cuts_inputs(const struct sp__cuts *c)
{
	return c->n + c->nbufs + c->nfiles;
}

/*
 * Finds the position of cut i in each input, i from 0 (the start) to parts (the end): of a run or
 * file a byte, of a buffer an entry.  reader: a reader of the store, if there are runs; where:
 * memory for two pages of each run.  Returns 0, or an error that err describes.
 */
SP_MUST_CHECK int sp__cuts_find(const struct sp__cuts *c, unsigned i, struct sp__spill *reader,
				struct sp__freemem where, uint64_t *at, struct sp_errinfo *err);
/* Returns the bytes that all records between positions have in a result. */
uint64_t sp__cuts_bytes(const struct sp__cuts *c, const uint64_t *from, const uint64_t *to);
