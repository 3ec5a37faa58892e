/* SPDX-License-Identifier: MIT */
/*
 * Output files: results, reports, traces, plots.  All tools, and the library itself, write through
 * these functions.  It does not write standard output.
 *
 * A new file appears under its name when it is complete; symbolic links are resolved.  It replaces
 * a regular file with one link in a writable directory, and gets the mode, owner and extended
 * attributes of that file.  Until it is complete it has no name (O_TMPFILE), or a temporary name if
 * the file system does not support that.
 *
 * Other files are written in place: devices, FIFOs, mount points, files with several links, files
 * in a read-only directory, files of another user in a sticky directory, and files whose owner
 * cannot be kept.  A file that is already open as standard output or standard error is written in
 * place at its current offset.  If writing in place fails, the error says that the old contents are
 * lost.
 *
 * If a new file cannot be created for any other reason (space, inodes, memory, descriptors), that
 * is an error, and the old file stays.  If the system refuses the name after the new file is
 * complete (EBUSY, EXDEV, EPERM, EACCES), its contents are copied into the old file.
 *
 * Thread rule: an output, or a set, belongs to one thread at a time.
 */
#ifndef SPINDLE_OUTFILE_H
#define SPINDLE_OUTFILE_H

#include <stdio.h>
#include <spindle/error.h>

struct sp_outfile;

enum {
	SP_OUTFILE_LIVE = 1, /* write in place: another process reads the file while it grows */
};

/*
 * Determines how path can be written and creates the new file.  The contents of an old file do not
 * change.  Opening a FIFO waits for a reader.  Release the output with sp_outfile_close().
 * path: borrowed until the output is closed.
 * flags: SP_OUTFILE_LIVE or 0.
 * Returns 0; -errno of open(2) if the file cannot be created or opened; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_outfile_open(struct sp_outfile **out, const char *path, int flags,
					 struct sp_errinfo *err);

/* Returns true if the file is written in place, false if it appears when it is complete. */
SP_API bool sp_outfile_in_place(const struct sp_outfile *o);

/*
 * Begins writing.  A file written in place is truncated.  The descriptor of any other file can also
 * be read.  The output owns the descriptor.
 * Returns the descriptor to write to, in later calls the same one, or -errno if the file could not
 * be truncated.
 */
SP_API SP_MUST_CHECK int sp_outfile_begin(struct sp_outfile *o, struct sp_errinfo *err);

/*
 * Begins writing, through a stream: see sp_outfile_begin(). sp_outfile_commit() and
 * sp_outfile_close() close the stream.
 * Returns 0, or -errno if the file could not be truncated or the stream opened.
 */
SP_API SP_MUST_CHECK int sp_outfile_stream(struct sp_outfile *o, FILE **f, struct sp_errinfo *err);

/*
 * Gives a completely written file its name; a NULL output is accepted.
 * Returns 0, or -errno if the file could not be written, closed or renamed.
 */
SP_API SP_MUST_CHECK int sp_outfile_commit(struct sp_outfile *o, struct sp_errinfo *err);

/*
 * Frees an output, and discards it if it was not committed; NULL is accepted.
 * err: may be NULL.  If old contents were lost in writing in place, the error in err says so.
 */
SP_API void sp_outfile_close(struct sp_outfile *o, struct sp_errinfo *err);

/*
 * Removes all incomplete outputs that have a temporary name.  It is async-signal-safe, for handlers
 * of fatal signals, and for atexit(3).
 */
SP_API void sp_outfile_cleanup_signal(void);

/* Maximum number of outputs of one command. */
#define SP_OUTPUT_SET_MAX 8

struct sp_output_set_file {
	const char *label;
	bool input_allowed;
	unsigned long long dev, ino; /* identify the file, or its directory */
	char name[256];		     /* name in the directory; "": the file exists */
};

/*
 * The outputs of one command; prevents one from overwriting another, or an input.  Existing files
 * are identified by device and inode, others by directory and name.  Only regular files and block
 * devices are checked.  Initialise with { 0 }.
 */

struct sp_output_set {
	unsigned n;
	struct sp_output_set_file files[SP_OUTPUT_SET_MAX];
};

/*
 * Adds an output; a NULL path is ignored.
 * label: name in messages, such as "--stats"; borrowed while the set lives.
 * input_allowed: true if the output may be an input, too.
 * Returns 0, or SP_EUNSUP if another output is the same file.
 */
SP_API SP_MUST_CHECK int sp_output_set_add(struct sp_output_set *set, const char *path,
					   const char *label, bool input_allowed,
					   struct sp_errinfo *err);

/*
 * Adds standard output.
 * input_allowed: true if it may be an input, too: all of that is read before anything is written,
 * or the records that are appended to it are not read.
 * Returns 0, or SP_EUNSUP if another output is the same file.
 */
SP_API SP_MUST_CHECK int sp_output_set_add_stdout(struct sp_output_set *set, bool input_allowed,
						  struct sp_errinfo *err);

/*
 * Checks an input or target; a NULL path is ignored.
 * path: "-": standard input.
 * Returns 0, or SP_EUNSUP if it is one of the outputs and that output may not be an input.
 */
SP_API SP_MUST_CHECK int sp_output_set_check_input(const struct sp_output_set *set,
						   const char *path, struct sp_errinfo *err);

#endif
