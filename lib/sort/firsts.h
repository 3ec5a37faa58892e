/* SPDX-License-Identifier: MIT */
/*
 * Declares sorts that keep the order of the input (firsts.c): inputs that are read several times
 * (reread.c), keys that occur more than once (repeated.c), and two sorts, by key and by number
 * (twosorts.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include <sys/stat.h>
#include <spindle/batch.h>
#include <spindle/rec.h>
#include <spindle/sort.h>
#include "base/keyhash.h"
#include "flow/parts.h"
#include "flow/runread.h"
#include "sort/result.h"
#include "sort/sort.h"

/* Does the work of sp_sort_run() if io->keep_order is set. */
SP_MUST_CHECK int sp__firsts_run(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
				 const struct sp__condition *where, struct sp_sort_stats *stats,
				 struct sp_errinfo *err);

/*
 * Numbers before records: where they begin in the input, in 8 bytes that no record format
 * interprets, and in CSV a separator after that.  Numbers have 48 bits.
 */
#define SP__NUMBER_BYTES 8u

struct sp__numbering {
	struct sp_recfmt format; /* of records without a number */
	size_t head;		 /* bytes of a number */
	char digit;		 /* bits that all digits of a number have */
};

/* Reports the bytes read so far, in the thread that opened the parts. */
typedef void sp__tell_fn(void *arg, uint64_t bytes);

/* Two sorts: the first record of each key, in the order in which the records were put. */
struct sp__twosorts {
	const struct sp_sort_opts *opts; /* options of the records without numbers; borrowed */
	size_t share;			 /* bytes of each sort */
	struct sp_errinfo *err;
	struct sp__numbering numbering;
	struct sp_recfmt format; /* of numbered records */
	struct sp_keyset *keys;	 /* behind the number */
	struct sp__sorter by_key, by_number;
	uint64_t next;		  /* number of the next record */
	struct sp__bytes records; /* records of the result, without numbers */
};

/* Returns 0 or an error, recorded in err.  close() is for both. */
SP_MUST_CHECK int sp__twosorts_open(struct sp__twosorts *n, const struct sp_sort_opts *opts,
				    size_t share, struct sp_errinfo *err);
/* Closes the sorts; accepts a struct that is all zero. */
void sp__twosorts_close(struct sp__twosorts *n);
static inline bool sp__twosorts_is_open(const struct sp__twosorts *n)
{
	return n->by_key.sort != NULL;
}

/* Puts the records of a batch. */
SP_MUST_CHECK int sp__twosorts_put(struct sp__twosorts *n, const char *data, size_t bytes);
/* Puts all records of parts, by the threads of the sort.  tell: called as parts are begun. */
SP_MUST_CHECK int sp__twosorts_put_parts(struct sp__twosorts *n, struct sp__parts *parts,
					 uint64_t input_bytes, sp__tell_fn *tell, void *arg);
/* Returns the bytes of the records that were put, without numbers. */
uint64_t sp__twosorts_bytes(const struct sp__twosorts *n);
/* Ends the input. */
SP_MUST_CHECK int sp__twosorts_finish(struct sp__twosorts *n);
/* Returns SP_READY with the next first records, without their numbers; SP_END; or an error. */
SP_MUST_CHECK int sp__twosorts_get(struct sp__twosorts *n, struct sp_batch *batch,
				   uint64_t *records);
/* Returns the number of first records. */
uint64_t sp__twosorts_given(const struct sp__twosorts *n);
/* Sets the counters and the resources of both sorts. */
void sp__twosorts_stats(const struct sp__twosorts *n, struct sp_sort_stats *stats);

/* Keeps records in temporary space, in their order, to be read several times. */
struct sp__spool {
	struct sp__spill *spill; /* NULL: it is closed */
	struct sp__run *run;
	struct sp__runwriter writer;
	struct sp__runread reader;
	bool writing, reading;
	char *memory; /* memory of the writer or of the reader */
	size_t memory_bytes;
	uint64_t bytes; /* bytes of the records */
};
/* Puts whole records, before the first reading. */
SP_MUST_CHECK int sp__spool_put(struct sp__spool *s, const char *data, size_t bytes);

/* Reads the inputs of a sort with keep_order, several times if necessary. */
struct sp__reread {
	const struct sp_sort_opts *opts; /* this and the following: borrowed */
	const struct sp_sort_io *io;
	const struct sp__condition *where; /* condition of the records, or NULL */
	struct sp__env *env;
	struct sp_errinfo *err;
	struct sp__scan *scan; /* the present one; NULL: the spool is read */
	bool again;	       /* the first one is closed, or cannot go on */
	struct sp__waits waits;
	struct stat *inputs;  /* state of the inputs before the first scan */
	uint64_t *lengths;    /* of files, when they were looked at first; 0: read to the end */
	off_t begin;	      /* where standard input was */
	uint64_t total_bytes; /* 0: unknown */
	struct sp__io_counters closed; /* of parts and closed scans */
	struct sp__left_out left_out;  /* records left out in the last reading that is closed */
	struct sp__bytes header;       /* header of the first scan; only with a spool */
	struct sp__spool spool;	       /* is read again, instead of the inputs, unless closed */
};

/* The members above scan must be set.  Learns of the inputs.  Returns 0 or -ENOMEM, recorded. */
SP_MUST_CHECK int sp__reread_open(struct sp__reread *s);
/* True if the result overwrites an input in place. */
bool sp__reread_overwritten(const struct sp__reread *s, const struct sp__sort_result *result);
void sp__reread_close(struct sp__reread *s);
void sp__reread_counters(const struct sp__reread *s, struct sp__io_counters *c);

/*
 * Called after the first batch: opens the spool, in which the caller puts what will be read again.
 * memory_bytes: as of sp__spool_open().
 */
SP_MUST_CHECK int sp__reread_spool(struct sp__reread *s, size_t memory_bytes);

/* Starts a scan at the beginning of the inputs or of the spool, and ends the one before. */
SP_MUST_CHECK int sp__reread_scan(struct sp__reread *s);
/* Returns the next batch of the scan as sp__iter_next() does. */
SP_MUST_CHECK int sp__reread_next(struct sp__reread *s, struct sp_batch *batch);
/* Returns the header, after the first batch of the first scan. */
void sp__reread_header(const struct sp__reread *s, struct sp_batch *header);
/* Returns the bytes that batches of the scan must have had at its end. */
uint64_t sp__reread_owed(const struct sp__reread *s);
/* Sets the records left out in the last reading. */
void sp__reread_left_out(const struct sp__reread *s, struct sp__left_out *sum);

/* True if all inputs are regular files, as they were before the first scan, and without a spool. */
bool sp__reread_same(const struct sp__reread *s);
/*
 * Called after the last scan, which had the result rc: returns SP_EFORMAT if the scans have not
 * read the same, which also explains SP_EBALANCE; otherwise rc.
 */
SP_MUST_CHECK int sp__reread_check(const struct sp__reread *s, int rc);

/* Puts the records of parts into a sort; sets *bytes to their length.  Returns 0 or an error. */
typedef int sp__put_parts_fn(void *arg, struct sp__parts *parts, uint64_t *bytes);
/*
 * Has the records of all inputs, read by parts, put into a sort.  Returns 0; SP_EUNSUP or
 * SP__MISCUT, if a scan must read them; or an error.
 */
SP_MUST_CHECK int sp__reread_put_parts(struct sp__reread *s, const struct sp__sorter *sorter,
				       sp__put_parts_fn *put, void *arg);

struct sp__hasher;

/* Finds the keys that occur more than once in records that can be read again. */
struct sp__repeated {
	const struct sp_sort_opts *opts; /* borrowed */
	struct sp__budget *budget;
	struct sp_errinfo *err;
	uint64_t max;			     /* keys that may be repeated */
	const struct sp__key_secret *secret; /* of their hashes */
	struct sp__bloom bloom;		     /* of their hashes */
	struct sp__sorter by_hash;
	struct sp__hasher *hashers; /* one for each thread */
	unsigned nhashers;
	struct sp__parts *parts; /* the parts being read, for tell() */
	sp__tell_fn *tell;
	void *arg;
	/* Of the first reading, and of the second one: */
	uint64_t records, records_again, sum, sum_again; /* sum: of the hashes */
	struct sp_sort_stats stats;			 /* of by_hash */
};

/*
 * share: bytes for the sort and for the filter, which has 8 bytes per key of max and is charged to
 * budget.  max: keys that may be repeated.  Returns 0 or an error, recorded in err.  close() is for
 * both.
 */
SP_MUST_CHECK int sp__repeated_open(struct sp__repeated *r, const struct sp_sort_opts *opts,
				    size_t share, uint64_t max, struct sp__budget *budget,
				    struct sp_errinfo *err);
void sp__repeated_close(struct sp__repeated *r); /* accepts a struct that is all zero */

/* Hashes the keys of a batch. */
SP_MUST_CHECK int sp__repeated_put(struct sp__repeated *r, const struct sp_batch *batch);
/* Hashes all keys of parts, by the threads of the sort.  tell: called as parts are begun. */
SP_MUST_CHECK int sp__repeated_put_parts(struct sp__repeated *r, struct sp__parts *parts,
					 uint64_t input_bytes, sp__tell_fn *tell, void *arg);
/* Returns the bytes of the records that were put. */
uint64_t sp__repeated_bytes(const struct sp__repeated *r);
/* Ends the input.  Returns 0; SP_EUNSUP: more keys than max are repeated; or an error. */
SP_MUST_CHECK int sp__repeated_finish(struct sp__repeated *r);
/*
 * Called after finish(), for each record of a second reading: returns 0 if its key is the key of no
 * other record; 1: that is not certain; or -ENOMEM.
 */
int sp__repeated_has(struct sp__repeated *r, const char *rec, size_t bytes);
/* Called after the second reading: true if it had the same keys as the first one. */
bool sp__repeated_agrees(const struct sp__repeated *r);
