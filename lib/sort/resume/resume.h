/* SPDX-License-Identifier: MIT */
/*
 * Declares sorts that continue after a crash: their directory (resume.c), the checkpoints in it
 * and the complete result (checkpoints.c).
 *
 * Writers: only this room writes struct sp__resume, except `ranges`, which belongs to the threads
 * that write the result (merge/ranges.c, merge/marks.c).  Its caller is the thread that writes
 * runs (runs/spilled.h).
 */
#pragma once

#include <spindle/sort.h>
#include "base/owndir.h"
#include "base/tally.h"
#include "cells/journal.h"
#include "cells/source.h"
#include "spill/store.h"

/* Names in the directory. */
#define SP__RESUME_RUNS "spindle.runs"
#define SP__RESUME_RESULT "spindle.result"

/* The records of a run: these bytes of all inputs, which are counted one after the other. */
struct sp__checkpoint {
	uint64_t from, to;
	struct sp__tally read;	  /* these records */
	struct sp__tally dropped; /* records of the input that are not in the run */
};

/* A range of the result; if some of it is written, the rest. */
struct sp__range {
	uint64_t at;		    /* file offset of the next byte to write */
	uint64_t end;		    /* file offset of the end; UINT64_MAX: unknown */
	struct sp__run_span *spans; /* rest of each run */
	struct sp__tally given;	    /* records returned so far */
};

/* A complete result.  The marks have the checksums of its bytes from `from` on. */
struct sp__complete {
	struct sp__file_state file;
	uint64_t from, checksum; /* checksum of the bytes before `from` */
};

/* An input, when the result was complete. */
struct sp__input_end {
	uint64_t checksum;
	uint64_t replaced; /* true: the result replaced it */
};

/* Bytes of the result that are written, and their checksum. */
struct sp__written {
	uint64_t from, to, checksum;
};

struct sp__ranges {
	struct sp__range *list; /* n of them; NULL: the final merge has not started */
	unsigned n, runs;
	uint64_t from;		    /* file offset of the first range */
	struct sp__run_span *spans; /* spans of all ranges */
	struct sp__tally dropped;   /* by the final merge so far */
	uint64_t counted;
	struct sp__written *written; /* in the journal */
	size_t nwritten;
};

/* A run in the journal. */
struct sp__kept_run {
	struct sp__checkpoint has;
	char *record, *image; /* image: within record */
	size_t bytes;
};

struct sp__resume {
	struct sp__owndir dir;
	char *journal_path;   /* for messages */
	bool locked;	      /* the journal is locked */
	uint64_t begin_bytes; /* length of the journal when nothing had been done; 0: not started */
	struct sp__journal journal;
	struct sp_errinfo *err;
	uint32_t page_bytes;	    /* of runs; 0: there are none */
	struct sp__kept_run *found; /* in the journal, in the order of the input */
	size_t nfound;
	struct sp__file_state *inputs; /* when the journal was opened */
	struct sp__complete complete;
	struct sp__input_end *ends; /* ends of the inputs; NULL: no result is complete */
	size_t nends;
	bool committed;		     /* the result already has its name */
	struct sp__checkpoint *runs; /* by number of the run */
	size_t runs_cap;
	uint64_t covered_bytes;		/* bytes of the input that runs cover */
	struct sp__tally read, dropped; /* tallies of the runs found */
	struct sp__ranges ranges;
};

/*
 * Creates the directory, or adopts the checkpoints in it; they must be of the same sort.  Sets the
 * options that existing runs require in opts.  err also receives the errors of later calls.
 */
SP_MUST_CHECK int sp__resume_open(struct sp__resume **resume, struct sp_sort_opts *opts,
				  const struct sp_sort_io *io, struct sp_errinfo *err);
/*
 * Closes the directory.  Completed work stays; if there is none, the directory is removed.  Accepts
 * NULL.
 */
void sp__resume_close(struct sp__resume *r);
/*
 * Records that the result is complete, in this file, and only has to get its name.  checksums: of
 * the inputs, which must not have changed.
 */
SP_MUST_CHECK int sp__resume_complete(struct sp__resume *r, const struct sp_sort_io *io, int fd,
				      const uint64_t *checksums);
/* Called when the result has its name: removes the checkpoints. */
SP_MUST_CHECK int sp__resume_remove(struct sp__resume *r, const char *output);

/* Adds a run found, which covers the input next and is as it was written, under this number. */
SP_MUST_CHECK int sp__resume_add_found(struct sp__resume *r, size_t id,
				       const struct sp__checkpoint *has);
/* Called when all runs found have been added; all is false if the following ones cannot be used. */
void sp__resume_adopted(struct sp__resume *r, bool all);
/* Returns the length of the file of runs: new runs are placed after it. */
uint64_t sp__resume_kept_bytes(const struct sp__resume *r);
/* Compares the records of the inputs that are skipped with those of the runs found. */
SP_MUST_CHECK int sp__resume_compare(const struct sp__resume *r, const struct sp__tally *skipped);
/*
 * Records a checkpoint: run id has the records of the input from the end of the previous run to
 * has->to.  Sets has->from.
 */
SP_MUST_CHECK int sp__resume_formed(struct sp__resume *r, struct sp__spill *store,
				    const struct sp__run *run, size_t id,
				    struct sp__checkpoint *has);
/* Runs ids[0..n) have been merged into run. */
struct sp__merged_runs {
	const unsigned *ids;
	unsigned n;
	const struct sp__run *run;
	struct sp__tally dropped; /* by the merge */
};
/* Records the merge, after which its inputs are not needed.  runs: all runs, by number. */
SP_MUST_CHECK int sp__resume_merged(struct sp__resume *r, struct sp__spill *store,
				    struct sp__run *const *runs,
				    const struct sp__merged_runs *merged);

/* Records the start of the final merge, with resume->ranges. */
SP_MUST_CHECK int sp__resume_begin_ranges(struct sp__resume *r);
/* Records that bytes of a range are written.  offsets: of the rest of each run. */
SP_MUST_CHECK int sp__resume_mark(struct sp__resume *r, unsigned range, const uint64_t *offsets,
				  const struct sp__written *written);
void sp__ranges_forget(struct sp__ranges *r);
/* Compares the written bytes with their checksums.  Returns 1, 0 if they differ, or -errno. */
SP_MUST_CHECK int sp__ranges_verify(const struct sp__ranges *r, int fd);

/* The following is used in this room only. */

enum sp__resume_record {
	SP__RECORD_IDENTITY = 1,
	SP__RECORD_RUN,
	SP__RECORD_RANGES,
	SP__RECORD_MARK,
	SP__RECORD_COMPLETE,
};

/* Accepts a record; can take ownership of its data, which is then NULL. */
SP_MUST_CHECK int sp__checkpoints_take(struct sp__resume *r, struct sp__journal_record *rec);
void sp__checkpoints_free(struct sp__resume *r);
/* Called after all records: sets r->committed if result and inputs are as recorded. */
SP_MUST_CHECK int sp__resume_find_result(struct sp__resume *r, const struct sp_sort_io *io);
/* Returns SP_EUNSUP: the directory has the checkpoints of another sort, and should be removed. */
int sp__resume_foreign(const struct sp__resume *r, const char *what);
/* Returns SP_EUNSUP: an input has changed. */
int sp__resume_changed(const struct sp__resume *r, const char *input);
