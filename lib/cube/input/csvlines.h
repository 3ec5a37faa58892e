/* SPDX-License-Identifier: MIT */
/*
 * Reads lines of coordinates and a value, X0,X1,...,VALUE, from a file or standard input.
 *
 * Blank lines are skipped and counted.  A header, a first record without any number, is
 * skipped, too.  A byte order mark at the beginning is ignored.
 *
 * The caller's thread only copies bytes into slots of whole lines.  Tasks parse the slots, which
 * are returned in the order of the input.
 *
 * Memory: an eighth of a slab's memory, or a few lines if that is more; charged to the budget.
 */
#pragma once

#include <stdio.h>
#include "base/task.h"
#include "cube/file/file.h"

/* Lines that one task parses. */
struct sp__csvslot {
	struct sp__csvlines *all;
	struct sp__task task;
	bool busy; /* it has lines that were not returned yet */
	char *text;
	size_t from, bytes;    /* where the lines begin and end in text */
	uint64_t lines, blank; /* found */
	const char *bad;       /* the first invalid line; NULL: none */
	size_t bad_bytes;
	size_t n;	 /* points */
	uint8_t *places; /* what `place` made of their coordinates */
	uint8_t *values;
};

struct sp__csvlines {
	struct sp__cubefile *file;
	const uint64_t *rollup; /* divisors of coordinates; 0: none */
	const char *name;
	struct sp_errinfo *err;
	/* Makes place_bytes of the coordinates of a point; called by tasks. */
	void (*place)(const struct sp__cubefile *c, const uint64_t *x, void *to);
	size_t place_bytes;
	int fd;
	off_t begin;		       /* offset of the first line; -1: a pipe */
	uint64_t file_bytes;	       /* length of a regular file at opening; else 0 */
	size_t line_max;	       /* bytes of a line and its end */
	size_t text_bytes, points_max; /* bytes of text, and maximum points, of a slot */
	struct sp__csvslot *slots;
	unsigned nslots, next;	  /* next: the oldest slot that is busy, or to be filled */
	struct sp__csvslot *held; /* its points were returned last */
	char *rest;		  /* the first bytes of the next slot */
	size_t nrest;
	uint64_t charged; /* bytes of memory */
	uint64_t number;  /* lines of the slots that were returned */
	uint64_t blank;	  /* blank lines that were skipped */
	bool header;	  /* the first record was skipped */
	uint8_t *header_value;
	bool begun; /* the first line that is not blank was found */
	bool ended;
	int read_rc; /* error of reading, reported after the lines before it */
	struct sp_errinfo read_err;
};

/* Points of consecutive lines. */
struct sp__csvpoints {
	size_t n;
	const uint8_t *places, *values;
};

/* Opens an input as a stream, which the caller closes.  Errors as sp__cubeinput_open(), -ENOMEM. */
SP_MUST_CHECK int sp__cubeinput_stream(FILE **in, const struct sp__cubefile *c, const char *name,
				       struct sp_errinfo *err);

/*
 * Opens the input; members before fd are set, fd is -1, and the rest is 0.  Close it after an
 * error, too, or without having opened it.
 */
SP_MUST_CHECK int sp__csvlines_open(struct sp__csvlines *l);
/*
 * Reads the next points, at least one, which are valid until the next call.  Returns 0; 1: there
 * are none; or the error of the first invalid line.
 */
SP_MUST_CHECK int sp__csvlines_next(struct sp__csvlines *l, struct sp__csvpoints *points);
/*
 * Makes lines readable a second time, before the first one is read: copies a pipe to a temporary
 * file.
 */
SP_MUST_CHECK int sp__csvlines_keep(struct sp__csvlines *l);
/* Continues with the first line. */
SP_MUST_CHECK int sp__csvlines_rewind(struct sp__csvlines *l);
void sp__csvlines_close(struct sp__csvlines *l);
