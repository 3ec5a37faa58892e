/* SPDX-License-Identifier: MIT */
/*
 * The folders of a run: work/ with tables and databases, which is removed at the end, and logs/.
 */
#pragma once

#include <spindle/error.h>

struct sp__dbm_folders {
	char *work, *logs, *sim; /* absolute paths; sim is in work */
	char *t1, *t2;
	bool made; /* work was made by this run */
};

/*
 * Makes the folders.  Returns 0; -EEXIST if work is there already; -ENOMEM; or -errno.  To be
 * closed after an error, too.
 */
SP_MUST_CHECK int sp__folders_open(struct sp__dbm_folders *f, const char *folder,
				   struct sp_errinfo *err);
/* Removes work with all that is in it.  Returns 0 or -errno. */
int sp__folders_close(struct sp__dbm_folders *f, struct sp_errinfo *err);
/* Removes a folder and all that is in it, without following links.  Returns 0 or -errno. */
int sp__folder_remove(const char *path);
/* Adds the bytes of the files in a folder.  Returns 0 or -errno. */
int sp__folder_bytes(const char *path, uint64_t *bytes);
/* Writes the files of a folder to the device and lets them leave the page cache. */
int sp__folder_cool(const char *path);
