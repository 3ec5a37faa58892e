/* SPDX-License-Identifier: MIT */
/*
 * Reads one of the two inputs of a join, record by record or span by span.
 */
#pragma once

#include <string.h>
#include "flow/operator.h"
#include "flow/scan.h"

/* Kept data takes memory in chunks of this size, or of a larger record. */
#define SP__AHEAD_BYTES (64u << 10)

struct sp__join_inputs;

/* Records supplied by the caller of the join. */
struct sp__given {
	struct sp_operator op;
	struct sp__join_inputs *in;
	int side;
};

struct sp__source {
	struct sp__scan *scan;	      /* NULL: the operator supplies the records */
	struct sp_operator *operator; /* NULL: there is a scan */
	struct sp__given given;	      /* backs operator, if the caller supplies records */
	struct sp__waits *waits;      /* waits of both inputs; NULL: the operator uses the plan's */
	const char *input;	      /* its name */
	const char *at, *end;	      /* rest of the current batch */
	struct sp_recfmt format;
	uint64_t lines;	       /* cut off */
	uint64_t bytes;	       /* bytes of the batches begun */
	struct sp__tally done; /* records processed, and their bytes */
	bool ended;
	struct sp__ahead *ahead, *ahead_last; /* data read and kept, in order */
	bool ahead_pinned;		      /* the first is the current batch */
	uint64_t ahead_bytes;		      /* memory of the kept data */
	struct sp__budget
		*budget; /* charged for it; NULL: charged by the function that limits it */
	/*
	 * Of a part of a file: the part; where it is continued to after its end, or 0; and the
	 * bytes before this continuation.
	 */
	struct sp__scan_part part;
	uint64_t rest, before;
	struct sp__join_inputs *in;
	uint64_t charged; /* lines charged to a simulated machine */
	uint64_t batch_bytes;
};

/* Input 0 or 1 of the join. */
SP_MUST_CHECK int sp__source_open(struct sp__join_inputs *in, int side);
/* The options of its scan. */
void sp__source_scan_opts(const struct sp__source *s, struct sp__scan_opts *opts);
/* A part of it, a file. */
SP_MUST_CHECK int sp__source_open_part(struct sp__join_inputs *in, int side,
				       const struct sp__scan_part *part);
void sp__source_close(struct sp__source *s);
/*
 * Reads the next batch into at and end: SP_READY, SP_LATER (the wait is in waits), SP_END or an
 * error.
 */
SP_MUST_CHECK int sp__source_try(struct sp__source *s);
/* Reads the next batch, and waits if it has waits. */
SP_MUST_CHECK int sp__source_fill(struct sp__source *s);

/*
 * race.c: keeps data of inputs of unknown length for sp__source_fill(), at most limit_bytes for
 * both.  Returns the input that ends first, 0 or 1; 2: neither has ended; or an error.
 */
SP_MUST_CHECK int sp__source_race(struct sp__source s[2], const bool known[2], uint64_t limit_bytes,
				  struct sp_errinfo *err);
/*
 * Keeps all batches available now, in at most capacity bytes of memory plus one chunk: SP_END,
 * SP_LATER, SP_READY (enough) or an error.
 */
SP_MUST_CHECK int sp__source_take(struct sp__source *s, uint64_t capacity, struct sp_errinfo *err);
/* Keeps the rest of the current batch, unless it is kept already; the batch is then empty. */
SP_MUST_CHECK int sp__source_aside(struct sp__source *s, struct sp_errinfo *err);
/* Makes kept data the next batch; false: none is left. */
bool sp__source_ahead(struct sp__source *s);
