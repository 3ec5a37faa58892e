/* SPDX-License-Identifier: MIT */
/*
 * Where the bytes go: standard output, or a file that appears under its name
 * only when it is complete.
 */
#ifndef OUTFILE_H
#define OUTFILE_H

#include <stddef.h>
#include <stdlib.h>

struct outfile {
	int fd;
	const char *name; /* for messages */
	char *path;	  /* the real target; NULL: written in place */
	char *temporary;
};

/* path NULL: standard output.  All return 0 or -errno. */
int outfile_open(struct outfile *o, const char *path);
int outfile_write(struct outfile *o, const char *buf, size_t bytes);
/* Gives the file its name; on failure nothing is left behind. */
int outfile_close(struct outfile *o);
void outfile_abandon(struct outfile *o);

#endif
