/* SPDX-License-Identifier: MIT */
/*
 * Plans: trees of operators that pass batches of records upward and need not wait.
 *
 * A plan is built from the leaves: each function below opens one operator over those that it
 * reads from.  Asked for a batch, an operator whose input has nothing yet does other work that
 * it has, or else says SP_LATER; only who holds the root waits, on the completions of the whole
 * plan at once (Iyengar et al. 2008, sections 4 and 6).  The sort, joins and the
 * range of an index are operators too: sp_sort_operator() of spindle/sort.h, sp_join_operator() of
 * spindle/join.h, sp_index_operator() of spindle/index.h.
 *
 * Ownership: operators belong to the plan, which closes them; each is the input of at most one
 * other.  Options are copied, what they point to is borrowed until the plan is closed.
 * Thread rule: one thread at a time uses a plan and its operators.
 * Errors: 0 or SP_READY, SP_LATER, SP_END, else a negative code (spindle/error.h), described
 * in the err given at opening.
 */
#ifndef SPINDLE_FLOW_H
#define SPINDLE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/batch.h>
#include <spindle/error.h>
#include <spindle/rec.h>
#include <spindle/run.h>

struct sp_flow;
struct sp_operator;

/*
 * Opens a plan without operators.  run: memory_bytes is for the buffers of its scans and what its
 * operators keep (sorts and joins have memory of their own), volume a simulated machine or NULL.
 * err, which may be NULL, must outlive the plan.
 */
SP_API SP_MUST_CHECK int sp_flow_open(struct sp_flow **flow, const struct sp_run_opts *run,
				      struct sp_errinfo *err);
/* Closes all operators and the plan.  0, or the error of writing the trace.  Accepts NULL. */
SP_API int sp_flow_close(struct sp_flow *flow);

/* The records of files, one after the other, in their order; or, of each file, in any. */
struct sp_flow_scan {
	const char *const *inputs; /* paths; "-": standard input */
	size_t ninputs;
	struct sp_recfmt format;
	/* Between the fields of lines; 0 bytes: runs of blanks.  CSV: as in format. */
	const char *separator;
	size_t separator_bytes;	 /* at most 16 */
	uint64_t header_records; /* at the beginning of each input: left out */
	/*
	 * For what needs no order (a filter, an aggregation without groups, sp_flow_group(), the
	 * build side of a hash join): the parts of a large file that the page cache has come first,
	 * while the others are read, and these as they arrive.  Then the order differs from one
	 * run to the next.  Pipes, small files and CSV, which can be cut only from its beginning,
	 * keep theirs, as do headers.  A file that shrinks meanwhile is SP_EFORMAT; what is
	 * appended is not read.  What needs an order is SP_EUNSUP above it: a merge join, groups of
	 * neighbours; a sort makes one.  A limit takes any records.
	 */
	bool any_order;
};

/* -EINVAL: no inputs; SP_EBUDGET: the memory of the plan does not hold its buffers. */
SP_API SP_MUST_CHECK int sp_flow_scan(struct sp_operator **op, struct sp_flow *flow,
				      const struct sp_flow_scan *scan);

/* Is the record (without its terminator) kept?  1, 0, or a negative error, which ends the plan. */
typedef int sp_flow_predicate(void *arg, const char *record, size_t bytes);

/* The records that are kept, in their order. */
SP_API SP_MUST_CHECK int sp_flow_filter(struct sp_operator **op, struct sp_operator *input,
					sp_flow_predicate *keep, void *arg);

/*
 * Records of these fields, counted from 0, as they are; missing ones are empty.  Between them
 * is the separator, or a blank.  SP_EUNSUP: fixed-length records.
 */
SP_API SP_MUST_CHECK int sp_flow_project(struct sp_operator **op, struct sp_operator *input,
					 const size_t *fields, size_t nfields);

/* The first `records` records; then the end, and its input is not asked for more. */
SP_API SP_MUST_CHECK int sp_flow_limit(struct sp_operator **op, struct sp_operator *input,
				       uint64_t records);

/* Functions of the records of a group. */
enum sp_flow_function {
	SP_FLOW_COUNT, /* their number; field is not used */
	SP_FLOW_SUM,   /* of decimal numbers in a field, exact; empty fields do not count, */
	SP_FLOW_MIN,   /* ... and the result is empty if all are */
	SP_FLOW_MAX,
	SP_FLOW_AVG, /* rounded half away from 0 to 6 decimal places, or as many as they have */
};

struct sp_flow_value {
	enum sp_flow_function function;
	size_t field; /* counted from 0 */
};

/*
 * One record for each series of records that agree in the bytes of their group fields: these,
 * then the values.  So an input sorted by these fields gives one for each group.  Without group
 * fields: exactly one, of all records, even of none.  Numbers have an optional sign and at most 9
 * decimal places; a field that holds something else, or a sum beyond 10^27, is SP_EFORMAT.
 * SP_EUNSUP: fixed-length records.
 */
SP_API SP_MUST_CHECK int sp_flow_aggregate(struct sp_operator **op, struct sp_operator *input,
					   const size_t *groups, size_t ngroups,
					   const struct sp_flow_value *values, size_t nvalues);

/*
 * The same of an input in any order: one record for each group, in the order of their first
 * records.  All groups are kept until the input ends.  SP_EBUDGET: they do not fit into the memory
 * of the plan; a sort below sp_flow_aggregate() needs no more than one of them.
 */
SP_API SP_MUST_CHECK int sp_flow_group(struct sp_operator **op, struct sp_operator *input,
				       const size_t *groups, size_t ngroups,
				       const struct sp_flow_value *values, size_t nvalues);

/*
 * Field k, counted from 0, of a record (without its terminator) of the operator; false if it has
 * none.  In CSV a field keeps its quotes.  Of fixed-length records there are no fields.
 */
SP_API bool sp_flow_field(const struct sp_operator *op, const char *record, size_t bytes, size_t k,
			  const char **field, size_t *field_bytes);
/* How the records of an operator end. */
SP_API struct sp_recfmt sp_flow_format(const struct sp_operator *op);

/* The next batch, valid until the next call on the plan: a status or an error. */
SP_API SP_MUST_CHECK int sp_flow_next(struct sp_operator *op, struct sp_batch *batch);
/* After SP_LATER: waits until next() can do more.  0 or an error. */
SP_API SP_MUST_CHECK int sp_flow_wait(struct sp_flow *flow);
/* next() and wait() until there is a batch or the end: SP_READY, SP_END or an error. */
SP_API SP_MUST_CHECK int sp_flow_get(struct sp_operator *op, struct sp_batch *batch);

/* What the plan has used: elapsed time, memory, and the requests of inputs that have ended. */
SP_API void sp_flow_stats(const struct sp_flow *flow, struct sp_run_stats *stats);

#endif
