/* SPDX-License-Identifier: MIT */
/*
 * Scan: the records of a list of inputs, one after the other, as batches.
 *
 * Batches are spans of the read stream's data; only a record that crosses two
 * spans is copied, into a batch of its own.  A last record without terminator
 * gets one.  Inputs are opened when their turn comes.
 */
#ifndef SP__FLOW_SCAN_H
#define SP__FLOW_SCAN_H

#include <stdbool.h>
#include <spindle/rec.h>
#include "base/tally.h"
#include "flow/iter.h"
#include "io/rstream.h"

/* In any order: memory beside the stream's, in chunks: of tables, and of pieces of records. */
#define SP__SCAN_ANY_CHUNKS 2

struct sp__scan_opts {
	struct sp_recfmt format;
	const char *const *inputs; /* paths; "-": standard input */
	size_t ninputs;
	/*
	 * The number of records at the start of each input that are its header: kept
	 * aside once, and the same in all inputs.  header_first: only the first input
	 * has one.
	 */
	uint64_t header_records;
	bool header_first;
	int separator; /* of names in a header of lines; -1: runs of blanks */
	/*
	 * What was read from the first input before, such as its header: it comes first.  If inputs
	 * are unpacked, these bytes are too.
	 */
	struct sp_batch ahead;
	/* Of records, that many bytes are left out: the first.  They are added to *skipped. */
	uint64_t skip_bytes;
	struct sp__tally *skipped;
	/*
	 * The records of an input may come in any order, after its header: those that are in memory
	 * first.  Of pipes, small files and CSV they come in order.
	 */
	bool any_order;
	/*
	 * NULL; or for each input: gets the checksum of its bytes (base/hash.h) when it has been
	 * read to its end.  Not with any_order, and not of inputs that are unpacked.
	 */
	uint64_t *checksums;
	bool remove_blank;		/* CSV: blank lines, where records have several columns */
	struct sp__rstream_opts stream; /* sim_file: of the first input; the others follow it */
	struct sp__waits *waits;
	struct sp_errinfo *err;
};

struct sp__scan;

SP_MUST_CHECK int sp__scan_open(struct sp__scan **scan, const struct sp__scan_opts *opts);
void sp__scan_close(struct sp__scan *scan); /* accepts NULL */
/* Opens the first input now instead of at the first next(). */
SP_MUST_CHECK int sp__scan_begin(struct sp__scan *scan);
/* The descriptor of the current input, which may have data to read after SP_LATER. */
int sp__scan_fd(const struct sp__scan *scan);
/* The next() of a sp__iter. */
SP_MUST_CHECK int sp__scan_next(void *scan, struct sp_batch *batch);
/*
 * The header, complete once next() has returned a batch or SP_END.  In CSV it begins with the byte
 * order mark of the first input, if there is one, even if no record is a header.
 */
void sp__scan_header(const struct sp__scan *scan, struct sp_batch *header);
/* True if the first input begins with a byte order mark; known with its first batch, or its end. */
bool sp__scan_marked(const struct sp__scan *scan);
uint64_t sp__scan_bytes(const struct sp__scan *scan);	    /* read so far */
uint64_t sp__scan_blank_lines(const struct sp__scan *scan); /* removed so far */
/* At the end: the total bytes that all batches must have had. */
uint64_t sp__scan_owed(const struct sp__scan *scan);
void sp__scan_counters(const struct sp__scan *scan, struct sp__io_counters *c);
const char *sp__scan_engine(const struct sp__scan *scan);
/* True if a file system has refused direct I/O for an input. */
bool sp__scan_refused(const struct sp__scan *scan);

/*
 * Total bytes of the inputs that are regular files, and are read as they are; *all is false if some
 * are not.
 */
uint64_t sp__inputs_bytes(const char *const *inputs, size_t n, enum sp_packed unpack, bool *all);
/*
 * Allocates places for inputs on a simulated device, before any other file; *first is
 * the number of the first, the others follow it.  device may be NULL.
 */
SP_MUST_CHECK int sp__inputs_lay(const struct sp__volume *device, const char *const *inputs,
				 size_t n, unsigned *first, struct sp_errinfo *err);
/* Opens an input ("-": 0) for reading; returns the descriptor or -errno, recorded in err. */
SP_MUST_CHECK int sp__input_open(const char *name, struct sp_errinfo *err);
void sp__input_close(const char *name, int fd);

#endif
