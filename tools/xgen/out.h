/* SPDX-License-Identifier: MIT */
/*
 * Where the bytes go: standard output, or a file that appears under its name
 * only when it is complete.
 */
#ifndef XGEN_OUT_H
#define XGEN_OUT_H

#include <stddef.h>
#include <stdlib.h>

struct out {
	int fd;
	const char *name; /* for messages */
	char *path;	  /* the real target; NULL: written in place */
	char *temporary;
};

/* path NULL: standard output.  All return 0 or -errno. */
int out_open(struct out *o, const char *path);
int out_write(struct out *o, const char *buf, size_t bytes);
/* Gives the file its name; on failure nothing is left behind. */
int out_close(struct out *o);
void out_abandon(struct out *o);

#endif
