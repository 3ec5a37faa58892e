/* SPDX-License-Identifier: MIT */
/*
 * The file a result goes to.
 *
 * A named output is written beside its place under a temporary name and
 * renamed when complete, wherever that keeps what people rely on: a regular
 * file with one link (or none yet), in a writable directory, symlinks
 * resolved; mode, owner and extended attributes are kept.  Else it is written
 * in place, which the caller begins only when all input has been read.
 */
#ifndef SP__SORT_OUTFILE_H
#define SP__SORT_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <spindle/error.h>

struct sp__tempname;

struct sp__outfile {
	int fd;
	bool owned;		    /* close it */
	char *path;		    /* resolved */
	char *temp;		    /* NULL: written in place, or no name */
	struct sp__tempname *place; /* where handlers find temp */
	const char *name;	    /* as given, for messages; borrowed */
};

/*
 * Looks whether the output can be renamed into place and begins it then
 * (o->temp is set); touches nothing else.  path NULL: fd is the output.
 */
void sp__outfile_prepare(struct sp__outfile *o, const char *path, int fd);
/* Opens what has been prepared: from now on an output in place is cut. */
int sp__outfile_open(struct sp__outfile *o, struct sp_errinfo *err);
/* Complete: into place. */
int sp__outfile_commit(struct sp__outfile *o, struct sp_errinfo *err);
/* Whatever state it is in; not committed: what is there under a temporary name goes. */
void sp__outfile_close(struct sp__outfile *o);

#endif
