/* SPDX-License-Identifier: MIT */
/*
 * Divides the inputs of a scan into parts that several threads read concurrently.
 *
 * A part of an input begins and ends with a record, and is read by an ordinary scan.  Parts are
 * consecutive and are taken in the order of the inputs, so records have the order of (number of
 * the part, position in it), for any number of threads.  Inputs must be regular files that are not
 * unpacked.  Each is read to the length that it had when the parts were opened.
 *
 * Threads take one part after the other:
 *
 *	while ((rc = sp__parts_next(parts, &part)) == SP_READY)
 *		while ((rc = sp__part_read(&part, &batch)) == SP_READY)
 *			...
 *	sp__part_close(parts, &part);
 *
 * Cuts of CSV: whether a byte in the middle of a file is within quotes can only be assumed.  If an
 * assumption was wrong, the part before the cut does not end with a record, and its error is
 * SP__MISCUT; all later parts can have wrong records and errors, so an error in the format of a
 * part after the first is SP__MISCUT, too.  The error of the first part counts, and the caller then
 * reads the inputs again with one scan.  If each part ends with a record, so does each cut.
 *
 * Thread rule: any thread may take parts; each struct sp__part belongs to one thread.  The other
 * functions are for the thread that opened the parts, when no thread has a part.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include "base/err.h"
#include "flow/scan.h"
#include "flow/source.h"
#include "run/env.h"

/*
 * Sets *cut to the end of the line that has the byte before `at`, of CSV to the end of the record
 * that seems to be at `at`, or to the end of the file.  Returns 0 or a negative code.
 */
int sp__part_cut(const struct sp_recfmt *f, int fd, uint64_t at, uint64_t end, uint64_t *cut);

/*
 * Limits how many of several threads read from a device at a time.
 *
 * A thread takes a turn before it reads a part of the input, and gives it back when it has
 * requested the whole part, or has other work.  So the requests of consecutive parts reach the
 * device one after the other, and the device has work while a thread sorts what it has read.
 *
 * There is one turn at first.  A reader that seldom waited for the device adds one; a reader that
 * mostly waited removes one.
 *
 * Thread rule: any thread may call any function between opening and closing.
 */
struct sp__turns {
	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t changed;
	unsigned allowed, max, taken;
	bool stopped;
};

/* max: turns at a time. */
void sp__turns_open(struct sp__turns *t, unsigned max);
void sp__turns_close(struct sp__turns *t);

/* Waits for a turn and takes it; after sp__turns_stop() without waiting. */
void sp__turns_take(struct sp__turns *t);
/* Gives a turn back in which the reader took so many chunks, and waited for some of them. */
void sp__turns_give(struct sp__turns *t, uint64_t chunks, uint64_t waited);
/* No thread waits any more. */
void sp__turns_stop(struct sp__turns *t);

/* Shorter parts cost more than they save. */
#define SP__PART_MIN_BYTES (UINT64_C(256) << 10)

struct sp__parts;
struct sp__source_parts;

struct sp__part {
	uint64_t number;
	size_t input;
	uint64_t from, bytes; /* offset in the input, and length; of a source: of records */
	uint64_t before;      /* bytes of all parts before it; of a source: a bound of them */
	uint64_t read;	      /* bytes of its batches so far */
	struct sp__scan *scan;
	struct sp_errinfo err; /* error of taking and reading the part */
	/* Zeroed by the caller at first, except memory: for opts.stream.chunk_bytes, or NULL. */
	char *memory;
	struct sp__source_parts *records; /* of a source; NULL: of a file */
	void *reader;			  /* of the source; NULL: it is not open */
	struct sp__scan_part where;
	bool csv;
	size_t open; /* number of the input that where.fd is of, and 1 */
	struct sp__waits waits;
	struct sp__turns *turn; /* the thread has one of these turns; or NULL */
};

/*
 * Opens the inputs of a scan, whose options must stay valid, in parts of about part_bytes.
 * Returns 0; SP_EUNSUP if the inputs must be read in order (a pipe, an unpacked file, without
 * turns a disk that turns, a simulated machine, and the options ahead, skip_bytes, any_order and
 * checksums); or an error, recorded in opts->err.
 */
SP_MUST_CHECK int sp__parts_open(struct sp__parts **parts, const struct sp__scan_opts *opts,
				 uint64_t part_bytes);
/*
 * Opens the records of a source in parts of about part_bytes, which at most `readers` threads read:
 * fewer if their memory is short, and the others get no part.  plan: as of its readers.  Returns 0
 * or -ENOMEM, recorded in err.
 */
SP_MUST_CHECK int sp__parts_open_source(struct sp__parts **parts, struct sp_source *source,
					const struct sp__env *plan, uint64_t part_bytes,
					unsigned readers, struct sp_errinfo *err);
void sp__parts_close(struct sp__parts *p); /* accepts NULL */

/*
 * Takes the next part, after closing the one before.  Returns SP_READY, SP_END, or an error,
 * recorded in part->err; number is then that of the part.
 */
SP_MUST_CHECK int sp__parts_next(struct sp__parts *p, struct sp__part *part);
/* Returns SP_READY with a batch of whole records, SP_END, or an error, recorded in part->err. */
SP_MUST_CHECK int sp__part_read(struct sp__part *part, struct sp_batch *batch);
/*
 * Refuses the first record of a rest of the last batch, as sp__scan_refuse() does.  Returns 0, or
 * an error, recorded in part->err.
 */
SP_MUST_CHECK static inline int sp__part_refuse(struct sp__part *part, const struct sp_batch *rest)
{
	part->read -= rest->bytes;
	return sp__scan_refuse(part->scan, rest->data);
}
/* Returns where a rest of the last batch begins: the bytes of records before it in the part. */
static inline uint64_t sp__part_at(const struct sp__part *part, const struct sp_batch *rest)
{
	return part->read - rest->bytes;
}
/*
 * Returns an error of records of the part, or SP__MISCUT, if it can come from a wrong cut.  Whoever
 * refuses records of a part must ask.
 */
static inline int sp__part_doubt(const struct sp__part *part, int rc)
{
	return part->csv && part->number ? SP__MISCUT : rc;
}
/* Ends the part of a thread that takes no more; accepts one that is zeroed or closed. */
void sp__part_close(struct sp__parts *p, struct sp__part *part);
/*
 * Later parts have about this length; but at most 1 / share of what is left, if that is at least a
 * quarter of it.  Any thread may call it.
 */
void sp__parts_resize(struct sp__parts *p, uint64_t part_bytes, unsigned share);
/* The thread does other work before it reads more of the part: gives back a turn that it has. */
void sp__part_rest(struct sp__part *part);
/* No thread gets a further part: the work has failed, or needs no more records. */
void sp__parts_stop(struct sp__parts *p);

/*
 * Called after the last part: checks that no input was replaced or became shorter since it was
 * opened.  Returns 0 or SP_EFORMAT.
 */
SP_MUST_CHECK int sp__parts_end(struct sp__parts *p);

/* The following have the meaning of the functions of scan.h. */
void sp__parts_header(const struct sp__parts *p, struct sp_batch *header);
uint64_t sp__parts_owed(const struct sp__parts *p);
/* Bytes of an input that are read, with its header. */
uint64_t sp__parts_length(const struct sp__parts *p, size_t input);
uint64_t sp__parts_blank_lines(const struct sp__parts *p);
void sp__parts_left_out(const struct sp__parts *p, struct sp__left_out *sum);
void sp__parts_counters(const struct sp__parts *p, struct sp__io_counters *c);
const char *sp__parts_engine(const struct sp__parts *p);
/* Adds to a report what was read by parts; if they are NULL, by a scan, which can be NULL, too. */
void sp__parts_report(const struct sp__parts *p, const struct sp__scan *scan,
		      struct sp_run_stats *st);
/* Bytes of the parts closed so far, without headers; any thread may ask. */
uint64_t sp__parts_bytes(struct sp__parts *p);
