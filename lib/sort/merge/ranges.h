/* SPDX-License-Identifier: MIT */
/*
 * Declares the final merge in ranges that are merged and written concurrently (ranges.c), with or
 * without checkpoints (marks.c), and how keys and memory are divided (divide.c).
 *
 * Owner: the thread that runs the sort, or the task of the output.
 */
#pragma once

#include "sort/merge/cut.h"
#include "sort/merge/merging.h"

/* Where the result goes. */
struct sp__ranges_out {
	/*
	 * A function that writes bytes, one call at a time, and describes its errors in put_err; or
	 * NULL.
	 */
	int (*put)(void *put_arg, const char *data, size_t bytes);
	void *put_arg;
	struct sp_errinfo *put_err;
	/* Otherwise a regular file: */
	int fd;
	const char *name;
	uint64_t at;		    /* file offset where the result starts */
	struct sp__io_counters *io; /* receives the requests */
	struct sp__wstream_opts writing;
	void (*tell)(void *arg, uint64_t done_bytes); /* or NULL */
	void *arg;
	/* Not NULL: the caller holds it; it is released while nothing of the sort changes. */
	pthread_mutex_t *busy;
};

/*
 * Called after sp__final_reduce(): merges all remaining inputs, writes the result, and checks it.
 * If the sort has checkpoints, continues at the last ones and makes new ones; its runs must be
 * spilled, and the result goes to a file.  Returns 1; 0, never with checkpoints, if this is not
 * possible or does not pay (nothing has been written); or an error.
 */
SP_MUST_CHECK int sp__ranges_write(struct sp__merging *merging, const struct sp__ranges_out *out);

/* How the final merge is divided into ranges, and the memory among threads. */
struct sp__division {
	unsigned workers;
	struct sp__freemem where; /* memory of pages and buffers */
	size_t mapped_bytes;	  /* its bytes if it is not a part of the arena, or 0 */
	struct sp__budget *budget;
	size_t pages_bytes;	    /* bytes of pages for each worker, from the start of `where` */
	size_t buffer_bytes;	    /* each buffer of the output, after them */
	unsigned buffers;	    /* 0: none, with checkpoints */
	size_t chunk_bytes;	    /* chunk of each worker's write stream */
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
