/* SPDX-License-Identifier: MIT */
/*
 * The file of --timeline, which is opened before the join and appears after it.  What fails is
 * the end of the program.
 */
#ifndef XJOIN_TIMELINE_H
#define XJOIN_TIMELINE_H

#include <stdint.h>
#include <spindle/outfile.h>

struct timeline {
	struct sp_outfile *out; /* NULL: there is no such file */
	FILE *file;
};

/* A name of NULL is no file. */
void timeline_open(struct timeline *t, const char *name);
/* Of struct sp_join_io. */
void timeline_row(void *timeline, uint64_t row, double elapsed_s);
void timeline_close(struct timeline *t);

#endif
