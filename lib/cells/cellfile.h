/* SPDX-License-Identifier: MIT */
/*
 * The open files of a dataset: the first one has the superblock, further volumes have headers
 * (cells/volumes.h).
 *
 * Locks: a writer has exclusive locks of all files until it closes them.  A reader shares the locks
 * while it opens the dataset and during each command, or with keep_lock while the dataset is open.
 * Between two commands a writer can come and go, so each one first checks that the superblock is
 * the one that was opened.
 *
 * Assumption: if the file system has no locks, the user prevents concurrent changes.
 *
 * Thread rule: one thread at a time; any thread may read the members meanwhile.
 */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include "cells/superblocks.h"
#include "cells/volumes.h"
#include "io/volume.h"
#include "run/env.h"

#define SP__CELLVOLUMES_MAX 64

struct sp__cellvolume {
	char *name;
	int fd;			   /* locked, and not direct; -1: not open */
	struct sp__volume *volume; /* for cells; NULL: not open */
};

struct sp__cellfile {
	const char *noun; /* the dataset in messages: "cube" */
	bool write, keep_lock;
	bool describe; /* set by the caller: a reader opens a locked file, too */
	bool busy;     /* another process has locked the file: only the superblock is read */
	uint64_t wait_ns;
	char *array;	   /* several simulated devices as one array; NULL: not needed */
	const char *drive; /* the simulated device of each volume; NULL: none */
	unsigned n;	   /* volumes that are listed */
	union {
		struct sp__cellvolume first; /* the volume with the superblock */
		struct sp__cellvolume volumes[SP__CELLVOLUMES_MAX]; /* all of them */
	};
};

/*
 * Initialises the struct, of which the first volume has this path.  Returns 0 or -ENOMEM.  After an
 * error, too, it must be closed.
 */
SP_MUST_CHECK int sp__cellfile_begin(struct sp__cellfile *s, const char *noun, const char *path,
				     const struct sp_run_opts *run, bool write,
				     struct sp_errinfo *err);
/* Lists and names the volumes of the set.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__cellfile_list(struct sp__cellfile *s, const struct sp__volume_set *set,
				    struct sp_errinfo *err);
/*
 * Opens and locks volume i.  Returns 0; -ENOENT, which is not described in err; SP_ESTATE if
 * another process has it; SP_EUNSUP if it is neither a plain file nor a block device; or -errno.
 */
SP_MUST_CHECK int sp__cellfile_open(struct sp__cellfile *s, unsigned i, struct sp_errinfo *err);
/* Closes all files, and zeroes the struct.  Accepts a struct that is all zero. */
void sp__cellfile_close(struct sp__cellfile *s);

/*
 * Opens the run environment.  A run without a volume uses the one of the dataset; NULL: its own
 * files.  sp__cellfile_set_volume() returns SP_ESYNTAX for a volume that is not simulated.  Then
 * sp__cellfile_open_env() makes an array of several drives.  plan: whose device and trace are
 * shared; NULL: none.
 */
SP_MUST_CHECK int sp__cellfile_set_volume(struct sp__cellfile *s, struct sp_run_opts *run,
					  const char *volume, struct sp_errinfo *err);
SP_MUST_CHECK int sp__cellfile_open_env(struct sp__cellfile *s, struct sp__env *env,
					struct sp_run_opts *run, const struct sp__env *plan,
					unsigned drives, struct sp_errinfo *err);
/* Places the volumes after the first one at the beginnings of their drives. */
void sp__cellfile_place(const struct sp__cellfile *s, const struct sp__volume *device,
			uint64_t drive_bytes);

/*
 * Enclose a command that reads: it locks the files, unless they are locked, and checks that the
 * superblock is the one that was opened.  Returns 0, SP_ESTATE or -EINTR.
 */
SP_MUST_CHECK int sp__cellfile_begin_reading(const struct sp__cellfile *s,
					     const struct sp__superblocks *slots,
					     struct sp_errinfo *err);
void sp__cellfile_end_reading(const struct sp__cellfile *s);
/* Releases the locks of all files that are open. */
void sp__cellfile_unlock(const struct sp__cellfile *s);
/* Refuses a file that another program has replaced.  Returns SP_ESTATE. */
int sp__cellfile_replaced(const struct sp__cellvolume *v, struct sp_errinfo *err);
/* True if a file that has this state is one of the dataset. */
bool sp__cellfile_has(const struct sp__cellfile *s, const struct stat *st);

/* Returns 0, or SP_ECORRUPT if a file has fewer bytes than `need`. */
SP_MUST_CHECK int sp__cellvolume_check_length(const struct sp__cellvolume *v, uint64_t need,
					      struct sp_errinfo *err);
/*
 * Gives a plain file that is shorter this length.  *before: its length, if it was extended; may be
 * NULL.  Returns 0 or -errno.
 */
SP_MUST_CHECK int sp__cellvolume_lengthen(const struct sp__cellvolume *v, uint64_t need,
					  off_t *before, struct sp_errinfo *err);
/* Ends a plain file that is longer at this offset, if possible. */
void sp__cellvolume_shorten(const struct sp__cellvolume *v, uint64_t end);
/* Waits until volumes from `first` on are on their devices.  Returns 0 or -errno. */
SP_MUST_CHECK int sp__cellfile_sync(const struct sp__cellfile *s, unsigned first,
				    struct sp_errinfo *err);
/* Writes the headers of further volumes.  Returns 0 when all are on the devices, or -errno. */
SP_MUST_CHECK int sp__cellfile_mark(const struct sp__cellfile *s, const struct sp__volume_set *set,
				    struct sp_errinfo *err);
