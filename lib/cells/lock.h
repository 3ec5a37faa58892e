/* SPDX-License-Identifier: MIT */
/*
 * Locks of whole files between processes: one writer, or any number of readers.
 *
 * A process that changes a file locks it exclusively while the file is open.  A process that reads
 * shares the lock during each read.  It then checks whether the state that it read on opening still
 * counts (sp__superblocks_current()), since a writer may have come and gone between two reads.
 * A caller whose lock is refused reports that the file is in use, immediately or after a time that
 * it chooses.
 *
 * A lock belongs to the open file description, so descriptors of two calls of open(2) exclude each
 * other, in one process too, and closing the last duplicate releases the lock.  A process that is
 * killed leaves no lock.
 *
 * Thread rule: any thread.
 */
#pragma once

#include <stdint.h>
#include <sys/stat.h>
#include <spindle/error.h>

enum sp__lock { SP__LOCK_SHARED, SP__LOCK_EXCLUSIVE };

/*
 * Locks a file, or changes the lock that fd has.  wait_ns: as of struct sp_run_opts.  Returns 0;
 * SP_ESTATE if another one has a lock that excludes this; -EINTR if a signal was handled during the
 * wait; or -errno, mostly of a file system without locks: then the caller decides whether to go on
 * without.
 */
SP_MUST_CHECK int sp__file_lock(int fd, enum sp__lock kind, uint64_t wait_ns);
/*
 * Opens a file and locks it.  If another process gives the name to another file meanwhile, that one
 * is opened and locked.  A file whose file system has no locks is opened without.
 * Returns a descriptor; SP_ESTATE or -EINTR, as sp__file_lock(); or -errno of open(2).
 */
SP_MUST_CHECK int sp__file_open_locked(const char *path, int flags, enum sp__lock kind,
				       uint64_t wait_ns);
/* Releases the lock, if fd has one. */
void sp__file_unlock(int fd);
/*
 * True if path names the file or device of fd.  To be called when it has been locked: between
 * opening and locking, another process may have given the name to a new file.
 */
bool sp__file_named(int fd, const char *path);
/* True if two results of stat(2) describe the same file, or nodes of the same device. */
bool sp__file_same(const struct stat *a, const struct stat *b);
