/* SPDX-License-Identifier: MIT */
/*
 * Reads the records of a list of inputs, one after the other, as batches.
 *
 * Batches are spans of the read stream's data; a record that crosses two spans is copied into a
 * batch of its own.  A last record without terminator gets one.  An input is opened when the scan
 * reaches it.
 */
#pragma once

#include "base/tally.h"
#include "flow/iter.h"
#include "flow/condition.h"
#include "io/rstream.h"
#include "rec/key.h"
#include "rec/recfmt.h"

/* Records that are not returned, and the first of those that are not what the keys need. */
struct sp__left_out {
	uint64_t filtered; /* the condition is not true */
	uint64_t skipped;  /* they do not fit the keys */
	size_t input;	   /* of the first one */
	uint64_t from;	   /* the offset from which its line is counted */
	uint64_t line;
	char reason[SP__BADTEXT_BYTES];
};

/* Adds; the first one is that of the lower place. */
void sp__left_out_join(struct sp__left_out *sum, const struct sp__left_out *more);
/* Names the first record that was skipped: its line in the input, and what is wrong. */
void sp__left_out_name(const struct sp__left_out *l, const char *input, char eol, char *text,
		       size_t room);

/*
 * Removes blank lines from records of several columns, CSV or lines with a separator, where a blank
 * line is not a record (inputs.c).  The first record of an input that is not blank sets the number
 * of columns.  With one column a blank line is a record with an empty field, and stays.
 *
 * Zeroed at the beginning of each input, except removed and bytes.
 */
struct sp__blank {
	bool decided, remove;
	struct sp_batch rest; /* the part of the batch after the records returned */
	uint64_t removed;     /* lines */
	uint64_t bytes;	      /* in removed lines */
};

/* Sets a new batch; the previous one must be used up. */
void sp__blank_put(struct sp__blank *b, const struct sp_recfmt *f, const struct sp_batch *batch);
/* Returns the next records without a blank line.  False: the batch is used up. */
bool sp__blank_next(struct sp__blank *b, const struct sp_recfmt *f, struct sp_batch *batch);

/*
 * In any order: chunks of memory in addition to the stream's: for tables, and for partial records.
 */
#define SP__SCAN_ANY_CHUNKS 2

/* A part of the only input, from the start of a record to the end of one: see parts.h. */
struct sp__scan_part {
	int fd; /* open for reading, with an offset of its own; the caller closes it */
	uint64_t from, to;
	bool last;	    /* the file ends there */
	bool decided;	    /* with remove_blank: it is known whether ... */
	bool removes_blank; /* ... the input has several columns */
};

struct sp__scan_opts {
	struct sp_recfmt format;
	const char *const *inputs; /* paths; "-": standard input */
	size_t ninputs;
	/*
	 * Number of header records at the start of each input.  They are kept once and must be
	 * equal in all inputs.  header_first: only the first input has a header.
	 */
	uint64_t header_records;
	bool header_first;
	int separator; /* separator of names in the header of lines; -1: runs of blanks */
	/*
	 * Data read from the first input before, such as its header; it comes first.  If inputs are
	 * unpacked, this data is unpacked too.
	 */
	struct sp_batch ahead;
	/* Skips this many bytes of records at the beginning, and adds them to *skipped. */
	uint64_t skip_bytes;
	struct sp__tally *skipped;
	/*
	 * Records can come in any order after the header of their input: cached ones first.
	 * Records of pipes, small files and CSV come in order.
	 */
	bool any_order;
	/*
	 * NULL, or for each input: set to the checksum of its bytes (base/hash.h) when the input
	 * has been read to its end.  Not with any_order, and not for inputs that are unpacked.
	 */
	uint64_t *checksums;
	const struct sp_keyset *keys; /* records must fit these keys (sp_key.checked); or NULL */
	bool skip_invalid;	      /* ... or are left out */
	/*
	 * The caller finds those that do not fit, as sp__keyset.encode_checks permits, and calls
	 * sp__scan_refuse().  Not with skip_bytes.
	 */
	bool caller_checks;
	/* Only records for which it is true are returned; or NULL. */
	const struct sp__condition *where;
	bool remove_blank; /* remove blank lines of inputs with several columns */
	bool count_lines;  /* for sp__scan_place() */
	bool drop_mark;	   /* remove the byte order mark of lines, too; not with any_order */
	const struct sp__scan_part *part; /* NULL: whole inputs */
	/* NULL, or for each input: the offset to which it is read; 0: its end.  Not any_order. */
	const uint64_t *lengths;
	/*
	 * Parts: threads take turns (parts.h) to read what is not in the page cache, at most so
	 * many at a time.  One that has a turn must not wait for one that waits for the next part:
	 * it calls sp__part_rest() before.  0: all read at any time.
	 */
	unsigned turns;
	struct sp__rstream_opts
		stream; /* sim_file: of the first input; the others get the next numbers */
	struct sp__waits *waits;
	struct sp_errinfo *err;
};

struct sp__scan;

SP_MUST_CHECK int sp__scan_open(struct sp__scan **scan, const struct sp__scan_opts *opts);
void sp__scan_close(struct sp__scan *scan); /* accepts NULL */
/* Opens the first input now, not at the first next(). */
SP_MUST_CHECK int sp__scan_begin(struct sp__scan *scan);
/* Descriptor of the current input, readable after SP_LATER when data has arrived. */
int sp__scan_fd(const struct sp__scan *scan);
/* next() of a struct sp__iter. */
SP_MUST_CHECK int sp__scan_next(void *scan, struct sp_batch *batch);
/*
 * Refuses a record of the last batch, which does not fit the keys; those before it were taken.
 * Returns 0 if it is left out: the records behind it are in the next batch; or an error, recorded.
 */
SP_MUST_CHECK int sp__scan_refuse(struct sp__scan *scan, const char *rec);
/* From now on, the scan checks records itself. */
void sp__scan_check_records(struct sp__scan *scan);
/*
 * Returns the header, complete once next() has returned a batch or SP_END.  If marks are dropped,
 * it begins with the byte order mark of the first input, if any, even if no record is a header.
 */
void sp__scan_header(const struct sp__scan *scan, struct sp_batch *header);
/* True if the first input begins with a byte order mark; known with its first batch or its end. */
bool sp__scan_marked(const struct sp__scan *scan);
uint64_t sp__scan_bytes(const struct sp__scan *scan);	    /* read so far */
uint64_t sp__scan_blank_lines(const struct sp__scan *scan); /* removed so far, ... */
uint64_t sp__scan_blank_bytes(const struct sp__scan *scan); /* ... and their bytes */
/* Adds the records left out so far. */
void sp__scan_left_out(const struct sp__scan *scan, struct sp__left_out *sum);
/* True if blank lines of the current input are removed; known with its first batch. */
bool sp__scan_removes_blank(const struct sp__scan *scan);
/* Sets *lines of input *input that are before the last batch; with opts.count_lines. */
void sp__scan_place(const struct sp__scan *scan, size_t *input, uint64_t *lines);
/* Adds the lines of a file before an offset.  Returns 0, or -errno with what it could read. */
SP_MUST_CHECK int sp__lines_before(int fd, uint64_t offset, char eol, uint64_t *lines);
/* Total bytes that all batches must have had; valid at the end. */
uint64_t sp__scan_owed(const struct sp__scan *scan);
void sp__scan_counters(const struct sp__scan *scan, struct sp__io_counters *c);
const char *sp__scan_engine(const struct sp__scan *scan);
/* Describes reading the present input by a stream; zeroed if there is none. */
void sp__scan_state(const struct sp__scan *scan, struct sp__read_state *r);
/* True if a file system has refused direct I/O for an input. */
bool sp__scan_refused(const struct sp__scan *scan);

/*
 * Total bytes of the inputs that are regular files read without unpacking; *all is false if there
 * are other inputs.
 */
uint64_t sp__inputs_bytes(const char *const *inputs, size_t n, enum sp_packed unpack, bool *all);
/* True if all inputs but short ones are files that are read directly from their devices. */
bool sp__inputs_on_device(const char *const *inputs, size_t n);
/*
 * Allocates space for inputs on a simulated device, before any other file; *first is the number of
 * the first input, the others follow.  device may be NULL.
 */
SP_MUST_CHECK int sp__inputs_lay(const struct sp__volume *device, const char *const *inputs,
				 size_t n, unsigned *first, struct sp_errinfo *err);
/*
 * Opens an input ("-": descriptor 0) for reading.  Returns the descriptor, or -errno recorded in
 * err.
 */
SP_MUST_CHECK int sp__input_open(const char *name, struct sp_errinfo *err);
void sp__input_close(const char *name, int fd);
