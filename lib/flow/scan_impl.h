/* SPDX-License-Identifier: MIT */
/*
 * The state of a scan.  scan.c writes it, scanheader.c the members of the header, and scancheck.c
 * those of records left out.
 */
#pragma once

#include "base/hash.h"
#include "flow/scan.h"
#include "flow/stitch.h"
#include "rec/jsonarray.h"
#include "rec/jsonread.h"
#include "rec/key.h"

struct sp__scan {
	struct sp__scan_opts opts;
	size_t input; /* the current one, or the next */
	int fd;
	struct sp__rstream *stream; /* stream of an input read in order; otherwise NULL */
	struct sp__splitter splitter;
	struct sp__chunks *chunks; /* chunks of an input read in any order; otherwise NULL */
	struct sp__stitch *stitch;
	struct sp__waiter wait; /* for the stream or the chunks */
	size_t from;		/* input of the current batch */
	struct sp__bytes header;
	size_t header_from; /* the input that the header is from */
	size_t mark_bytes; /* bytes of the first input's byte order mark, which begins the header */
	bool marked;	   /* the byte order mark of this input has been counted */
	uint64_t header_left;	     /* records of the batch's input that belong to its header */
	size_t repeated;	     /* bytes of the header that this input has repeated so far */
	uint64_t bytes;		     /* read */
	uint64_t terminators;	     /* added to the last records of inputs that had none */
	uint64_t header_bytes;	     /* bytes of the headers of all inputs */
	uint64_t newlines;	     /* CSV: in the current input so far */
	bool checks;		     /* records must fit opts.keys */
	struct sp_batch last;	     /* that was returned */
	struct sp_batch unchecked;   /* records behind one that was skipped */
	struct sp__left_out skipped; /* records that do not fit, */
	uint64_t skipped_bytes;
	struct sp__json_array array; /* the input, if it is one, */
	struct sp__bytes lines;	     /* and the lines of the last span */
	struct sp__keybuf text;	     /* text of the record that is checked */
	struct sp__json_reader json; /* reads it */
	struct sp__io_counters done; /* requests of closed streams */
	char engine[32];
	bool refused; /* a closed stream was refused direct I/O */
	struct sp__blank blank;
	uint64_t place, passed; /* lines of this input before the last batch, and from it on */
	uint64_t blank_placed;	/* blank lines that are in these */
	struct sp__filtering chosen;
	XXH3_state_t *digest; /* checksum of the current input; NULL: not wanted */
	uint64_t skip_left;   /* bytes of records still to skip */
	int error;	      /* the final error */
};

static inline char sp__scan_line_end(const struct sp__scan *s)
{
	return s->opts.format.kind == SP_REC_LINE ? s->opts.format.eol : '\n';
}

/* Feeds the splitter with the lines of a span of an array.  SP_READY, or an error, recorded. */
SP_MUST_CHECK int sp__scan_take_array(struct sp__scan *s, const char *data, size_t bytes);
/* Records the error of an array that does not end.  0 if it does. */
SP_MUST_CHECK int sp__scan_end_array(const struct sp__scan *s);
/* Removes the header records from the batch.  SP_READY, or an error, recorded in opts.err. */
SP_MUST_CHECK int sp__scan_take_header(struct sp__scan *s, struct sp_batch *batch);
/* scancheck.c */
/* Adds the lines of the current input before the part that is read.  Returns 0 or an error. */
SP_MUST_CHECK int sp__scan_add_before(const struct sp__scan *s, uint64_t *lines);
/* Returns the number of a line of the input: the one of which `lines` follow the last place. */
SP_MUST_CHECK int sp__scan_line_number(const struct sp__scan *s, uint64_t lines, uint64_t *number);
/*
 * Leaves out the first record of those at `rest`, which does not fit; lines: of those before it,
 * since the last place.
 */
void sp__scan_leave_out(struct sp__scan *s, struct sp_batch *rest, uint64_t lines,
			const struct sp__badtext *bad);
/*
 * Checks the keys of a batch.  The records before one that does not fit are returned; the error is
 * the next result, unless the record is left out.
 */
SP_MUST_CHECK int sp__scan_check(struct sp__scan *s, struct sp_batch *batch);
/*
 * Counts the lines of a batch, which was read from data to end, and of the records behind it that
 * were left out.
 */
void sp__scan_pass(struct sp__scan *s, const char *data, const char *end);
