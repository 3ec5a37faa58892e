/* SPDX-License-Identifier: MIT */
/*
 * Files that are written: results, reports, traces, pictures.  All tools write them, and the
 * library writes its own, through these functions.
 *
 * A new file, or a regular file with one link in a directory that may be written, appears
 * under its name when it is complete, symbolic links resolved; a file that it replaces
 * gives it mode, owner and extended attributes.  Until then it has no name (O_TMPFILE), or
 * a temporary one where the file system knows no such files.
 *
 * Written in place is what cannot be replaced so: a device, a FIFO, a file with several
 * links, in a directory that may not be written, or whose owner cannot be kept; and a
 * file that is open already as standard output or standard error, which is written where these
 * stand.  If that fails, the error says that the old content is gone.
 *
 * Whatever else keeps a file from being made beside the old one (space, inodes, memory,
 * descriptors) is an error, and the old file stays.
 *
 * Thread rule: an output, or a set, belongs to one thread at a time.
 */
#ifndef SPINDLE_OUTFILE_H
#define SPINDLE_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>
#include <spindle/api.h>
#include <spindle/error.h>

struct sp_outfile;

enum {
	SP_OUTFILE_LIVE = 1, /* written in place: others read while it grows */
};

/*
 * Finds out how path can be written, and makes the new file; no content of an old one is
 * touched.  Opening a FIFO waits for a reader.  path is borrowed until the output is closed.
 * Errors: those of open(2).
 */
SP_API SP_MUST_CHECK int sp_outfile_open(struct sp_outfile **out, const char *path, int flags,
					 struct sp_errinfo *err);
/* False: it appears when complete. */
SP_API bool sp_outfile_in_place(const struct sp_outfile *o);
/*
 * The descriptor to write to, or a negative code.  A file in place is emptied.  Later calls
 * give the same descriptor.
 */
SP_API SP_MUST_CHECK int sp_outfile_begin(struct sp_outfile *o, struct sp_errinfo *err);
/* The same with a stream, which the next two functions close. */
SP_API SP_MUST_CHECK int sp_outfile_stream(struct sp_outfile *o, FILE **f, struct sp_errinfo *err);
/* All has been written: gives it its name.  NULL is accepted. */
SP_API SP_MUST_CHECK int sp_outfile_commit(struct sp_outfile *o, struct sp_errinfo *err);
/*
 * Frees it.  Without a commit before, what has been written is discarded; if that was in
 * place of something, the error in err (or NULL) says so.  NULL is accepted.
 */
SP_API void sp_outfile_close(struct sp_outfile *o, struct sp_errinfo *err);

/*
 * Removes all outputs that are incomplete and have a temporary name.  Async-signal-safe: for
 * handlers of fatal signals, and for atexit().
 */
SP_API void sp_outfile_cleanup_signal(void);

/*
 * The outputs of one command, so that none of them overwrites another or what the command
 * reads.  Files are told apart by device and inode; one that does not exist yet, by its
 * directory and name.  Only regular files and block devices matter.  It begins as { 0 }.
 */
#define SP_OUTSET_MAX 8

struct sp_outset_file {
	const char *label;
	bool input_allowed;
	unsigned long long dev, ino; /* of the file, or of its directory ... */
	char name[256];		     /* ... and its name there; "": it exists */
};

struct sp_outset {
	unsigned n;
	struct sp_outset_file files[SP_OUTSET_MAX];
};

/*
 * Adds an output; refused, with SP_EUNSUP, if another one is the same file.  label is what
 * messages call it, such as "--stats".  input_allowed: it may be a file that is read.
 * A path of NULL is none.
 */
SP_API SP_MUST_CHECK int sp_outset_add(struct sp_outset *set, const char *path, const char *label,
				       bool input_allowed, struct sp_errinfo *err);
/* The same for standard output. */
SP_API SP_MUST_CHECK int sp_outset_add_stdout(struct sp_outset *set, struct sp_errinfo *err);
/*
 * A file that is read, or is worked on: refused, with SP_EUNSUP, if it is one of the outputs.
 * "-" is standard input, NULL no file.
 */
SP_API SP_MUST_CHECK int sp_outset_spare(const struct sp_outset *set, const char *path,
					 struct sp_errinfo *err);

#endif
