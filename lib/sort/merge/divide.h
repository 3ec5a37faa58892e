/* SPDX-License-Identifier: MIT */
/*
 * Declares how the final merge is divided into ranges of keys, and the memory among the threads
 * that merge them (divide.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include "sort/merge/cut.h"
#include "sort/merge/ranges.h"

struct sp__division {
	unsigned workers;
	struct sp__freemem where; /* memory of pages and buffers */
	size_t mapped_bytes;	  /* its bytes if it is not a part of the arena, or 0 */
	struct sp__budget *budget;
	size_t pages_bytes;	    /* of it for each worker, from the start */
	size_t buffer_bytes;	    /* each buffer of the output, after them */
	unsigned buffers;	    /* 0: none, with checkpoints */
	size_t chunk_bytes;	    /* of each worker's write stream */
	bool announces;		    /* the length of a range is known before it is merged */
	struct sp__cut_file *files; /* sorted files that are merged; or NULL */
};

/* False if there is one range in any case. */
bool sp__divide_possible(const struct sp__merging *merging);
/*
 * Divides the memory, and cuts all remaining inputs into ranges.  Returns 1; 0 if there is to be
 * one range; or an error.  The cuts and the division must be released.
 */
SP_MUST_CHECK int sp__divide(struct sp__merging *merging, const struct sp__ranges_out *out,
			     struct sp__division *d, struct sp__cuts *cuts);
void sp__divide_release(struct sp__division *d);
/*
 * With checkpoints: makes ranges of known lengths and, if dropped records do not forbid that, as
 * many as there are workers.  Otherwise one range of everything.  The first one starts at this
 * offset of the file.  If records can be missing from a range, its end is unknown.
 */
SP_MUST_CHECK int sp__divide_marked(struct sp__merging *merging, const struct sp__ranges_out *out,
				    struct sp__ranges *ranges);
/* Divides the memory among at most that many workers, for ranges with checkpoints. */
void sp__divide_memory(const struct sp__merging *merging, const struct sp__wstream_opts *writing,
		       unsigned workers, struct sp__division *d);
