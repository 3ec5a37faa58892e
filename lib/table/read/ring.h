/* SPDX-License-Identifier: MIT */
/*
 * A ring of windows: they are read ahead, tasks check and print their records, and the output keeps
 * the order in which they were filled.
 *
 * Owner: the thread that reads.  A slot belongs to its task from the start of the task to its end.
 */
#pragma once

#include <spindle/table.h>
#include "base/task.h"
#include "table/read/ranges.h"

/*
 * A regular file that gets the output of a query: a sink, and bytes that tasks write at offsets of
 * their own.
 *
 * Owner: the thread that reads.  Tasks write bytes whose places it has taken.
 */

struct sp__filesink {
	int fd;		  /* borrowed */
	uint64_t at;	  /* where the next bytes belong */
	uint64_t old_end; /* end of the file before the output */
	uint64_t failed;  /* offset of the first bytes that could not be written */
	struct sp_errinfo *err;
};

/* Takes the place of the next bytes. */
static inline uint64_t sp__filesink_take(struct sp__filesink *s, size_t bytes)
{
	s->at += bytes;
	return s->at - bytes;
}
/*
 * Opens a sink from the offset of a descriptor on.  Returns false if bytes cannot be written at
 * offsets: it is not a regular file, or is open for appending.
 */
bool sp__filesink_open(struct sp__filesink *s, int fd, struct sp_errinfo *err);
/* Writes bytes: a sp_table_sink. */
int sp__filesink_put(void *filesink, const char *data, size_t bytes);
/*
 * Ends the output: moves the offset of the descriptor behind it.  After an error, rc, the file ends
 * before the first bytes that are missing, unless it was longer.  Returns rc, or an error of the
 * file, recorded in err.
 */
SP_MUST_CHECK int sp__filesink_close(struct sp__filesink *s, int rc);

#define SP__RING_SLOTS 64

/* Of the call of a command that reads: who gets the output, its counters, and its errors. */
struct sp__reading {
	sp_table_sink sink;
	void *arg;
	struct sp_table_stats *stats;
	struct sp_errinfo *err;
	struct sp__filesink *file; /* NULL, or the sink is sp__filesink_put(), and arg this file */
};

struct sp__window_ring;

struct sp__window_slot {
	struct sp__window_ring *ring;
	enum { SP__SLOT_FREE, SP__SLOT_READING, SP__SLOT_WORKING, SP__SLOT_WRITING } state;
	struct sp__window window;
	void *own;	      /* element i of an array of the user */
	struct sp__bytes out; /* output */
	uint64_t records, matched;
	struct sp__task task;
	struct sp_errinfo err;	   /* error of the task */
	int rc;			   /* result of the task; SP_LATER: its texts are to be requested */
	struct sp__filesink *file; /* that gets the output, ... */
	uint64_t at;		   /* ... at this offset */
};

struct sp__window_ring_ops {
	/*
	 * Adds the next records to the empty window of a slot.  Returns SP_READY; SP_END; or an
	 * error, recorded in ring->err.
	 */
	int (*fill)(void *arg, struct sp__window_slot *s);
	/*
	 * Prints the records of a window, in a task.  Returns 0, or an error, recorded in s->err.
	 */
	int (*work)(void *arg, struct sp__window_slot *s);
	/*
	 * Uses the output, for sp__ring_run().  Returns 0; SP_READY to end the reading; or an
	 * error.
	 */
	int (*give)(void *arg, struct sp__window_slot *s);
};

struct sp__window_ring {
	/* Set by the caller. */
	struct sp__tablefile *file;
	const struct sp__window_ring_ops *ops;
	void *arg;
	struct sp_errinfo *err;
	uint64_t ahead_bytes; /* bytes read ahead per column group; 0: as memory allows */
	unsigned parts;	      /* the ring has one of so many parts of the memory; 0: 1 */
	bool few;	      /* records of the windows, which are ranges of one each */
	struct sp__waits
		*waits; /* waits of a plan, and sp__ring_next() does not wait; NULL: it does */
	/* at, end, printed_bytes and skip are the caller's; it calls sp__ranges_open(). */
	struct sp__scan_ranges ranges;
	/* Set here. */
	struct sp_run_opts run; /* options of the file, with the memory of the ring */
	struct sp__requests requests;
	uint64_t slot_bytes;	     /* memory of a slot */
	unsigned nslots, head, used; /* the oldest slot; slots in use */
	unsigned ahead;		     /* slots that may be in use: 1, 2, 4 ... nslots */
	bool ended;		     /* no records are left to read */
	bool helps;		     /* the thread that reads runs tasks while it waits */
	bool copies;		     /* tasks copy cells that are in the page cache */
	bool cached;		     /* the cells of the last window were in the page cache */
	bool begun;		     /* the query of the pool has begun */
	uint64_t max_frames;	     /* maximum frames of a window */
	struct sp__window_slot slots[SP__RING_SLOTS];
};

/*
 * Returns the slots of a ring that reads these column groups, ntexts columns of text among them,
 * and the memory of each slot: for cells, texts and output.
 */
unsigned sp__ring_slots(const struct sp_run_opts *run, const struct sp__table_layout *l,
			const bool *groups, uint32_t ntexts, uint64_t *slot_bytes);
/* Fills a window with the next records of the ranges: a hook of the ring. */
SP_MUST_CHECK int sp__ring_fill(void *unused, struct sp__window_slot *s);
/*
 * Opens the ring for columns, by number.  own: an array of elements of that size, one for each
 * slot.  Ranges get the memory of a slot, and rows of the directory if there are texts.  Returns 0,
 * -ENOMEM, or an error of the queue, recorded in err.  After an error, too, it must be closed.
 */
SP_MUST_CHECK int sp__ring_open(struct sp__window_ring *r, const bool *columns, void *own,
				size_t size);
/*
 * Returns SP_READY and the next slot, whose task has ended and whose memory is valid until the next
 * call; SP_LATER if there are waits, and they have one more; SP_END; or an error, recorded in err.
 */
SP_MUST_CHECK int sp__ring_next(struct sp__window_ring *r, struct sp__window_slot **slot);
/*
 * Has the task of the slot that sp__ring_next() returned write its output to a file, after all
 * output before.
 */
void sp__ring_write(struct sp__window_slot *s, struct sp__filesink *file);
/* Waits until all output has been written.  Returns 0 or the error of the first one, recorded. */
SP_MUST_CHECK int sp__ring_written(struct sp__window_ring *r);
/*
 * Reads until fill() returns SP_END, or give() SP_READY.  Returns 0 or an error, recorded in err.
 * After SP_END it can be called again.
 */
SP_MUST_CHECK int sp__ring_run(struct sp__window_ring *r);
/* Waits for tasks and requests, adds their counters to stats, and frees all, also the ranges. */
void sp__ring_close(struct sp__window_ring *r, struct sp_table_stats *stats);
