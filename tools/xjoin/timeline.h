/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of --timeline, which is opened before the join and appears after it.  Failure
 * ends the program.
 */
#pragma once

#include <spindle/outfile.h>

struct timeline {
	struct sp_outfile *out; /* NULL: no --timeline */
	FILE *file;
};

/* Opens the file; NULL: no --timeline. */
void timeline_open(struct timeline *t, const char *name);
/* Adds a row; a callback of struct sp_join_io. */
void timeline_row(void *timeline, uint64_t row, double elapsed_s);
void timeline_close(struct timeline *t);
