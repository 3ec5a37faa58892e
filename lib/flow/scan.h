/* SPDX-License-Identifier: MIT */
/*
 * Scan: the records of a list of inputs, one after the other, as batches.
 *
 * Batches are spans of what the read stream gives; only a record that crosses
 * two spans is copied, to be a batch of its own.  A last record without
 * terminator gets one.  Inputs are opened when their turn comes.
 */
#ifndef SP__FLOW_SCAN_H
#define SP__FLOW_SCAN_H

#include <stdbool.h>
#include <spindle/rec.h>
#include "flow/iter.h"
#include "io/rstream.h"

struct sp__scan_opts {
	struct sp_recfmt format;
	const char *const *inputs; /* paths; "-": standard input */
	size_t ninputs;
	/*
	 * The first of each input are its header: kept aside once, the same in all
	 * inputs.  header_first: the first input alone has one.
	 */
	uint64_t header_records;
	bool header_first;
	struct sp__rstream_opts stream; /* sim_file: of the first input; the others follow it */
	struct sp__waits *waits;
	struct sp_errinfo *err;
};

struct sp__scan;

SP_MUST_CHECK int sp__scan_open(struct sp__scan **scan, const struct sp__scan_opts *opts);
void sp__scan_close(struct sp__scan *scan); /* accepts NULL */
/* Opens the first input now; else that is done when the first batch is asked for. */
SP_MUST_CHECK int sp__scan_begin(struct sp__scan *scan);
/* The descriptor of the present input, which may have something to read after SP_LATER. */
int sp__scan_fd(const struct sp__scan *scan);
/* A sp__iter's next. */
SP_MUST_CHECK int sp__scan_next(void *scan, struct sp_batch *batch);
/* The header, complete once next() has given anything. */
void sp__scan_header(const struct sp__scan *scan, struct sp_batch *header);
uint64_t sp__scan_bytes(const struct sp__scan *scan); /* read so far */
/* At the end: the bytes that all batches together must have had. */
uint64_t sp__scan_owed(const struct sp__scan *scan);
void sp__scan_counters(const struct sp__scan *scan, struct sp__io_counters *c);
const char *sp__scan_engine(const struct sp__scan *scan);

/*
 * Bytes in those inputs that are regular files; *all is false if some are not.
 */
uint64_t sp__inputs_bytes(const char *const *inputs, size_t n, bool *all);
/*
 * Gives inputs that lie on a simulated machine their places there, before anything else
 * gets one; *first is the number of the first, the others follow it.  m may be NULL.
 */
SP_MUST_CHECK int sp__inputs_lay(struct sp__machine *m, const char *const *inputs, size_t n,
				 unsigned *first, struct sp_errinfo *err);
/* Opens an input ("-": 0) for reading; the descriptor or -errno, told in err. */
SP_MUST_CHECK int sp__input_open(const char *name, struct sp_errinfo *err);
void sp__input_close(const char *name, int fd);

#endif
