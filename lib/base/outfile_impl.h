/* SPDX-License-Identifier: MIT */
/*
 * Declares the parts of base/outfile: staged outputs, temporary names, and checks that outputs
 * differ.
 */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <spindle/outfile.h>
#include "base/owndir.h"

struct stat;

/*
 * Opens an output like sp_outfile_open().  Until it is committed, the file has the name `staged` in
 * a directory of the user, on the same file system.  An existing file is reused as it is, and an
 * uncommitted one stays.  Returns SP_EUNSUP if path would be written in place.  dir NULL: the same
 * as sp_outfile_open().
 */
SP_MUST_CHECK int sp__outfile_staged(struct sp_outfile **out, const char *path,
				     const struct sp__owndir *dir, const char *staged, int flags,
				     struct sp_errinfo *err);

/* A temporary name, stored where handlers of fatal signals find it. */
struct sp__outname {
	struct sp__outname *next;
	_Atomic int state;
	size_t stem; /* bytes that stay the same */
	char name[PATH_MAX];
};

/* Allocates a name next to path.  Returns 0, -ENOMEM or -ENAMETOOLONG. */
int sp__outname_take(struct sp__outname **n, const char *path);
/*
 * Chooses a name that did not exist; make() gives it to a new file. make() returns -1 and errno;
 * EEXIST means to try another name.  Returns the result of make(), or -errno.
 */
int sp__outname_make(struct sp__outname *n, int (*make)(const char *, void *), void *arg);
/*
 * Creates a file, which must not exist, under its own name; handlers of fatal signals remove it
 * until the name is forgotten.  Returns a descriptor; or -errno, and *n is NULL.
 */
int sp__outname_create(struct sp__outname **n, const char *path, int flags, mode_t mode);
/* Forgets a name that the file no longer has, or that stays: handlers ignore it. */
void sp__outname_forget(struct sp__outname **n);

/*
 * Resolves the path of a file to be created under this name: follows symbolic links at its end,
 * whose target can be missing. *resolved is to be freed.  Returns 0 or -errno.
 */
int sp__outname_resolve(const char *path, char **resolved);
/* Returns the directory of path, "." if it has none; to be freed.  NULL: no memory. */
char *sp__outname_directory(const char *path);

#define SP__OUTOLD_STAYS 1 /* not an error: the old file cannot be replaced */

/*
 * Checks that the files differ. output, trace and tasks, the log of tasks, may be NULL; the output
 * may be an input.
 */
SP_MUST_CHECK int sp__output_set_check(const char *output, const char *trace, const char *tasks,
				       const char *const *inputs, size_t n, struct sp_errinfo *err);

/* Two paths lead to one file, which need not exist, if their identifications are the same. */
bool sp__output_set_identify(struct sp_output_set_file *f,
			     const char *path); /* false: no file to lose */
bool sp__output_set_same(const struct sp_output_set_file *a, const struct sp_output_set_file *b);
