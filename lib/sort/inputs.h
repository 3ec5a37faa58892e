/* SPDX-License-Identifier: MIT */
/*
 * Sorted files as inputs of merges (-m): opened in groups no larger than the
 * descriptors and the fan-in allow.
 */
#ifndef SP__SORT_INPUTS_H
#define SP__SORT_INPUTS_H

#include "io/rstream.h"
#include "sort/cursor.h"

struct sp__input {
	const char *name;
	int fd;
	struct sp__rstream *stream; /* NULL: not open */
};

struct sp__inputs {
	struct sp__input *list;
	unsigned n;
	unsigned next;	     /* the first not merged yet */
	unsigned fan_in;     /* the most open at a time */
	size_t memory_bytes; /* for the streams of all that are open */
	const char *engine;
	const struct sp__volume *device; /* simulated: the files lie on it; or NULL */
	unsigned sim_file;		 /* number of the first one there; the others follow it */
	struct sp__io_counters done;
	uint64_t bytes;	       /* read so far */
	struct sp__tally read; /* records of all inputs; owned by the merging thread */
	struct sp_errinfo *err;
};

/*
 * Opens inputs next .. next + n - 1 as cursors[0..n) and advances next.  After a
 * failure sp__inputs_close() closes those that were opened.
 */
SP_MUST_CHECK int sp__inputs_open(struct sp__inputs *in, unsigned n, struct sp__cursor *cursors);
/* Closes all open inputs. */
void sp__inputs_close(struct sp__inputs *in);
void sp__inputs_release(struct sp__inputs *in);

#endif
