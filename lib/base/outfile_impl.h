/* SPDX-License-Identifier: MIT */
/*
 * The parts of base/outfile: temporary names, and the old file.
 */
#ifndef SP__BASE_OUTFILE_IMPL_H
#define SP__BASE_OUTFILE_IMPL_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <spindle/outfile.h>
#include "base/owndir.h"

struct stat;

/*
 * sp_outfile_open() of a file that has the name `staged` in a directory of the user's own, on the
 * same file system, until it is committed; it is used as it is if it exists, and stays if it is not
 * committed.  SP_EUNSUP: it would be written in place.
 */
SP_MUST_CHECK int sp__outfile_staged(struct sp_outfile **out, const char *path,
				     const struct sp__owndir *dir, const char *staged,
				     struct sp_errinfo *err);

/* A temporary name, where handlers of fatal signals find it. */
struct sp__outname {
	struct sp__outname *next;
	_Atomic int state;
	size_t stem; /* bytes that stay the same */
	char name[PATH_MAX];
};

/* Room for a name beside path; -ENOMEM, -ENAMETOOLONG. */
int sp__outname_take(struct sp__outname **n, const char *path);
/*
 * A name that did not exist, given to a new file by make(), which returns -1 and errno, EEXIST
 * meaning that another is to be tried.  Returns what make() returned, or -errno.
 */
int sp__outname_make(struct sp__outname *n, int (*make)(const char *, void *), void *arg);
/* The file has another name, or none: handlers look for it no more. */
void sp__outname_forget(struct sp__outname **n);

/*
 * The path that a file made under this name will have: what symbolic links at its end lead
 * to, which need not exist.  To be freed; -errno.
 */
int sp__outname_resolve(const char *path, char **resolved);
/* The directory of path, "." if it names none; to be freed, NULL: no memory. */
char *sp__outname_directory(const char *path);

#define SP__OUTOLD_STAYS 1 /* not an error: the old file cannot be replaced */

/* True if rename() cannot replace the regular file at path, which has the status `old`. */
bool sp__outold_stays(const char *path, const struct stat *old);
/*
 * Gives fd the mode, owner and extended attributes of the old file at path.  0,
 * SP__OUTOLD_STAYS if that is not permitted, or -errno.
 */
SP_MUST_CHECK int sp__outold_attributes(const char *path, const struct stat *old, int fd);
/*
 * Replaces the content of `to` by that of `from`.  Sets *lost once the old content is gone.
 * 0 or -errno; if there is no space for it, the old content stays.
 */
SP_MUST_CHECK int sp__outold_copy(int from, int to, bool *lost);

#endif
