/* SPDX-License-Identifier: MIT */
/*
 * A sort that goes on after a crash: its directory (resume.c), the checkpoints in it
 * (checkpoints.c), and the complete result (result.c).
 *
 * Writers.  Only this room writes struct sp__resume, except `ranges`, which belongs to the threads
 * that write the result (merge/ranges.c).  Otherwise the
 * thread that writes runs calls it (runs/spilled.h).
 */
#pragma once

#include <spindle/sort.h>
#include "base/tally.h"
#include "datafile/journal.h"
#include "datafile/source.h"
#include "base/owndir.h"
#include "spill/run.h"
#include "spill/store.h"

/* Names in the directory. */
#define SP__RESUME_RUNS "spindle.runs"
#define SP__RESUME_RESULT "spindle.result"

/* What a run has: these bytes of the records of all inputs, one after the other. */
struct sp__checkpoint {
	uint64_t from, to;
	struct sp__tally read;	  /* of these records, */
	struct sp__tally dropped; /* and those that are not in the run */
};

/* A part of the result; the rest of it, if some of it is written. */
struct sp__range {
	uint64_t at;		    /* the offset in the file where it goes on, */
	uint64_t end;		    /* and where it ends; UINT64_MAX: not known */
	struct sp__run_span *spans; /* what is left of each run */
	struct sp__tally given;	    /* so far */
};

/* A complete result: the marks have the checksums of its bytes behind `from`. */
struct sp__complete {
	struct sp__file_state file;
	uint64_t from, checksum; /* of the bytes before */
};

/* An input, when the result was complete. */
struct sp__input_end {
	uint64_t checksum;
	uint64_t replaced; /* true: by the result */
};

/* What has been written of the result: bytes of the file, and their checksum. */
struct sp__written {
	uint64_t from, to, checksum;
};

struct sp__ranges {
	struct sp__range *list; /* n of them; NULL: the final merge has not begun */
	unsigned n, runs;
	uint64_t from;		    /* where the first one begins in the file */
	struct sp__run_span *spans; /* theirs */
	struct sp__tally dropped;   /* by the final merge so far */
	uint64_t counted;
	struct sp__written *written; /* found */
	size_t nwritten;
};

/* A run in the journal. */
struct sp__kept_run {
	struct sp__checkpoint has;
	char *record, *image; /* in the record */
	size_t bytes;
};

struct sp__resume {
	struct sp__owndir dir;
	char *journal_path;   /* for messages */
	bool locked;	      /* the journal */
	uint64_t begin_bytes; /* of the journal when nothing had been done; 0: not begun */
	struct sp__journal journal;
	struct sp_errinfo *err;
	uint32_t page_bytes;	    /* of runs; 0: there are none */
	struct sp__kept_run *found; /* in the journal, in the order of the input */
	size_t nfound;
	struct sp__file_state *inputs; /* as they were when it was opened */
	struct sp__complete complete;
	struct sp__input_end *ends; /* of the inputs; NULL: no result has been complete */
	size_t nends;
	bool committed;		     /* the result has its name already */
	struct sp__checkpoint *runs; /* by number of the run */
	size_t runs_cap;
	uint64_t covered_bytes;		/* of the input, by runs */
	struct sp__tally read, dropped; /* of the runs found */
	struct sp__ranges ranges;
};

/*
 * Makes the directory or takes over what is in it: what is to be sorted must be the same.  In opts
 * sets what the runs found prescribe.  err receives the errors of later calls too.
 */
SP_MUST_CHECK int sp__resume_open(struct sp__resume **resume, struct sp_sort_opts *opts,
				  const struct sp_sort_io *io, struct sp_errinfo *err);
/* Closes; what has been done stays, and if nothing has, nothing does.  Accepts NULL. */
void sp__resume_close(struct sp__resume *r);
/*
 * The result is complete, and has this file: from now on it need only be given its name.
 * checksums: of the inputs, which must be as they were.
 */
SP_MUST_CHECK int sp__resume_complete(struct sp__resume *r, const struct sp_sort_io *io, int fd,
				      const uint64_t *checksums);
/* The result has its name: removes all. */
SP_MUST_CHECK int sp__resume_remove(struct sp__resume *r, const char *output);

/* A run found covers the input next, and is as it was written: it has this number from now on. */
SP_MUST_CHECK int sp__resume_add_found(struct sp__resume *r, size_t id,
				       const struct sp__checkpoint *has);
/* All runs found have been added or, with all false, those behind cannot be used. */
void sp__resume_adopted(struct sp__resume *r, bool all);
/* Bytes of the file of runs now: new runs are behind all that is there, known or not. */
uint64_t sp__resume_kept_bytes(const struct sp__resume *r);
/* Compares the records of the inputs that the runs found have with those that they had. */
SP_MUST_CHECK int sp__resume_compare(const struct sp__resume *r, const struct sp__tally *skipped);
/*
 * Run id has been formed of the records of the input behind those that are covered, up to has->to:
 * a checkpoint.  Sets has->from.
 */
SP_MUST_CHECK int sp__resume_formed(struct sp__resume *r, struct sp__spill *store,
				    const struct sp__run *run, size_t id,
				    struct sp__checkpoint *has);
/* Runs ids[0..n) have been merged into run. */
struct sp__merged_runs {
	const unsigned *ids;
	unsigned n;
	const struct sp__run *run;
	struct sp__tally dropped; /* meanwhile */
};
/* They are not needed any more: a checkpoint.  runs: all runs by number. */
SP_MUST_CHECK int sp__resume_merged(struct sp__resume *r, struct sp__spill *store,
				    struct sp__run *const *runs,
				    const struct sp__merged_runs *merged);

/* The final merge begins with resume->ranges, or one of them has come to `at`. */
SP_MUST_CHECK int sp__resume_begin_ranges(struct sp__resume *r);
SP_MUST_CHECK int sp__resume_mark(struct sp__resume *r, unsigned range, const uint64_t *offsets,
				  const struct sp__written *written);
void sp__ranges_forget(struct sp__ranges *r);
/* Compares what has been written with its checksums: 1; 0: it differs; or -errno. */
SP_MUST_CHECK int sp__ranges_verify(const struct sp__ranges *r, int fd);
