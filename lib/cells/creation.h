/* SPDX-License-Identifier: MIT */
/*
 * Creates the files and devices of a dataset: all of them, or none.
 *
 * 1. sp__creation_add() for each: a missing file is created; an existing one, or a device, needs
 *    `overwrite`, and must have the capacity.  Each is locked until it is closed.
 * 2. sp__creation_empty() discards the contents of existing files and zeroes the beginning of
 *    devices.
 * 3. The caller writes to the descriptors, the superblock last.
 * 4. sp__creation_end() closes all; after an error it undoes.
 *
 * Undoing removes files that did not exist.  An existing file keeps its contents if the error came
 * before step 2, and has none otherwise: no part of an old dataset next to a part of a new one.
 *
 * A dataset of one regular file that replaces an old one as a whole uses <spindle/outfile.h>.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <sys/stat.h>
#include <spindle/error.h>

#define SP__CREATION_MAX 64 /* files */

struct sp__newfile {
	char *name;
	int fd; /* for reading and writing */
	bool opened, existed, device, lengthened;
	struct stat st; /* before */
};

struct sp__creation {
	/* Set by the caller. */
	const char *noun; /* the dataset in messages: "the cube" */
	struct sp_errinfo *err;
	bool overwrite;
	const char *no_device; /* the reason to refuse block devices; NULL: they are allowed */
	uint64_t need_bytes;   /* space needed on each volume */
	uint64_t max_bytes;    /* maximum size of a volume; 0: unlimited */
	uint64_t file_bytes;   /* size of a new file */
	uint64_t clear_bytes;  /* bytes that are zeroed at the beginning of a device */
	uint64_t wait_ns;      /* for the lock of an existing file */
	/* Zero at first. */
	bool emptied;
	unsigned n;
	struct sp__newfile files[SP__CREATION_MAX];
};

/*
 * Opens one more file, and owns its name, which is allocated; NULL is -ENOMEM.  Returns 0; -EEXIST,
 * or -EPERM for a device, without `overwrite`; SP_EUNSUP if it is neither a regular file nor a
 * device, or a device that is refused; SP_ESYNTAX if it has been added before; SP_ESTATE if another
 * process has locked it; -ENOSPC if the volume is too small; or -errno.
 */
SP_MUST_CHECK int sp__creation_add(struct sp__creation *c, char *name);
/* Gives all files their size, without contents.  Returns 0 or -errno. */
SP_MUST_CHECK int sp__creation_empty(struct sp__creation *c);
/*
 * Closes all files.  rc: the first error since the creation began, or 0.  Returns rc, or -errno if
 * a file could not be closed; if that is not 0, all is undone.
 */
SP_MUST_CHECK int sp__creation_end(struct sp__creation *c, int rc);
