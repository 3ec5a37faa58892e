/* SPDX-License-Identifier: MIT */
/*
 * Output files: results, reports, traces, plots.  All tools, and the library
 * itself, write through these functions.
 *
 * A new file, or a regular file with one link in a writable directory, appears under its
 * name when it is complete, symbolic links resolved; it gets the mode, owner and extended
 * attributes of a file that it replaces.  Until then it has no name (O_TMPFILE), or a
 * temporary one if the file system does not support that.
 *
 * These are written in place: a device, a FIFO, a mount point, a file with several links, in
 * a read-only directory, of another user in a sticky one, or whose owner cannot be kept; and
 * a file that is already open as standard output or standard error, which is written at its
 * current offset.  If that fails, the error says that the old contents are lost.
 *
 * If a new file cannot be created for any other reason (space, inodes, memory,
 * descriptors), that is an error, and the old file stays.  If the system refuses the name only
 * when the new file is complete (EBUSY, EXDEV, EPERM, EACCES), its content is copied into the
 * old file.
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
 * Determines how path can be written, and creates the new file; does not change the
 * contents of an old one.  Opening a FIFO waits for a reader.  path is borrowed until the
 * output is closed.  Errors: those of open(2).
 */
SP_API SP_MUST_CHECK int sp_outfile_open(struct sp_outfile **out, const char *path, int flags,
					 struct sp_errinfo *err);
/* Whether the file is written in place; false: it appears when complete. */
SP_API bool sp_outfile_in_place(const struct sp_outfile *o);
/*
 * The descriptor to write to, or a negative code; one of a file that is not written in place
 * can read, too.  A file written in place is truncated.  Later calls return the same descriptor.
 */
SP_API SP_MUST_CHECK int sp_outfile_begin(struct sp_outfile *o, struct sp_errinfo *err);
/* The same with a stream, which the next two functions close. */
SP_API SP_MUST_CHECK int sp_outfile_stream(struct sp_outfile *o, FILE **f, struct sp_errinfo *err);
/* After everything was written: gives the file its name.  NULL is accepted. */
SP_API SP_MUST_CHECK int sp_outfile_commit(struct sp_outfile *o, struct sp_errinfo *err);
/*
 * Frees the output, and discards it if it was not committed; if it was written in place
 * of old contents, the error in err (or NULL) says so.  NULL is accepted.
 */
SP_API void sp_outfile_close(struct sp_outfile *o, struct sp_errinfo *err);

/*
 * Removes all incomplete outputs that have a temporary name.  Async-signal-safe: for
 * handlers of fatal signals, and for atexit().
 */
SP_API void sp_outfile_cleanup_signal(void);

/*
 * The outputs of one command, to prevent that one of them overwrites another or an
 * input.  Existing files are identified by device and inode, others by directory and
 * name.  Only regular files and block devices are checked.  Initialise with { 0 }.
 */
#define SP_OUTPUT_SET_MAX 8

struct sp_output_set_file {
	const char *label;
	bool input_allowed;
	unsigned long long dev, ino; /* of the file, or of its directory ... */
	char name[256];		     /* ... and its name there; "": it exists */
};

struct sp_output_set {
	unsigned n;
	struct sp_output_set_file files[SP_OUTPUT_SET_MAX];
};

/*
 * Adds an output; SP_EUNSUP if another one is the same file.  label is its name in
 * messages, such as "--stats".  input_allowed: it may be an input.  A path of NULL is
 * ignored.
 */
SP_API SP_MUST_CHECK int sp_output_set_add(struct sp_output_set *set, const char *path,
					   const char *label, bool input_allowed,
					   struct sp_errinfo *err);
/* The same for standard output. */
SP_API SP_MUST_CHECK int sp_output_set_add_stdout(struct sp_output_set *set,
						  struct sp_errinfo *err);
/*
 * Checks an input or target: SP_EUNSUP if it is one of the outputs.  "-" is standard
 * input; NULL is ignored.
 */
SP_API SP_MUST_CHECK int sp_output_set_check_input(const struct sp_output_set *set,
						   const char *path, struct sp_errinfo *err);

#endif
