/* SPDX-License-Identifier: MIT */
/*
 * Plans: trees of operators that pass batches of records upward without blocking.
 *
 * A plan is built from its leaves.  Each function below opens one operator over its inputs.  If an
 * input has no batch yet, an operator does its other work, or else returns SP_LATER.  Only the
 * caller that holds the root waits, for the completions of the whole plan.  Sorts, joins and index
 * ranges are operators, too: sp_sort_operator() of spindle/sort.h, sp_join_operator() of
 * spindle/join.h, sp_index_operator() of spindle/index.h, sp_table_operator() of spindle/table.h.
 * The library does not choose a plan: the caller builds it.
 *
 * Ownership: operators belong to the plan, which closes them.  An operator is the input of at most
 * one other.  Options are copied; their pointers are borrowed until the plan is closed.
 * Errors: err of sp_flow_open() also receives the errors of operators.  After an error the plan can
 * only be closed.
 * Thread rule: one thread at a time uses a plan and its operators.
 *
 * Source: Iyengar et al. 2008, sections 4 and 6.
 */
#ifndef SPINDLE_FLOW_H
#define SPINDLE_FLOW_H

#include <spindle/batch.h>
#include <spindle/rec.h>
#include <spindle/run.h>

struct sp_flow;
struct sp_operator;

/*
 * Opens a plan without operators.
 * run: memory_bytes limits the buffers of scans and the data that operators keep, in bytes; sorts
 * and joins have memory of their own. volume is a simulated machine or NULL.  Borrowed until the
 * plan is closed.
 * err: also receives the errors of later calls, so it must outlive the plan; may be NULL.
 * Returns 0 or an error:
 *   SP_ESYNTAX: the volume or the simulated machine is specified wrongly
 *   SP_EUNSUP: run has options that do not go with the volume
 *   -errno: a model or the trace file could not be opened
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_flow_open(struct sp_flow **flow, const struct sp_run_opts *run,
				      struct sp_errinfo *err);

/*
 * Closes all operators and the plan; NULL is accepted.
 * Returns 0, or -errno if the trace could not be written.
 */
SP_API int sp_flow_close(struct sp_flow *flow);

/*
 * Records that are not in a file of text, as the input of a command: sp_call_group_source() of
 * spindle/call.h opens those of a table.
 */
struct sp_source;
/* Closes a source; NULL is accepted. */
SP_API void sp_source_close(struct sp_source *source);

/* A scan: it reads the records of files, one file after the other. */
struct sp_flow_scan {
	const char *const *inputs; /* paths; "-": standard input */
	size_t ninputs;
	struct sp_recfmt format;
	/* Text between the fields of lines; 0 bytes: runs of blanks.  CSV: as in format. */
	const char *separator;
	size_t separator_bytes;	 /* at most 16 */
	uint64_t header_records; /* at the beginning of each input: skipped */
	/*
	 * Allow any order of the records of a file.  Blocks in the page cache come first, while
	 * the other blocks are read, and these come as they arrive.  So the order differs between
	 * runs.  Operators that do not depend on the order are filters, aggregations without
	 * groups, sp_flow_group() and the build side of a hash join.  A limit takes any records.
	 *
	 * Pipes, small files, CSV and headers keep their order.  If a file shrinks during the
	 * scan, next() returns SP_EFORMAT; records appended meanwhile are not read.  Opening an
	 * operator that needs an order (merge join, sp_flow_aggregate() with groups) above such a
	 * scan returns SP_EUNSUP, except above a sort.
	 */
	bool any_order;
};

/*
 * Opens a scan of files.
 * Returns 0 or an error:
 *   -EINVAL: there are no inputs, or the separator is longer than 16 bytes
 *   SP_EBUDGET: the buffers exceed the memory of the plan
 *   SP_EUNSUP: this build lacks the compressed format of an input
 *   SP_EFORMAT: a compressed input is damaged
 *   -errno: an input could not be opened or read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_flow_scan(struct sp_operator **op, struct sp_flow *flow,
				      const struct sp_flow_scan *scan);

/*
 * Decides about a record, passed without its terminator.  Returns 1 to keep it, 0 to drop it, or a
 * negative error, which ends the plan.
 */
typedef int sp_flow_predicate(void *arg, const char *record, size_t bytes);

/*
 * Opens an operator that passes on the records for which `keep` returns 1, in their order.
 * arg: the first argument of keep; borrowed until the plan is closed.
 * Returns 0; SP_ESTATE if input is in another plan or already the input of an operator; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_flow_filter(struct sp_operator **op, struct sp_operator *input,
					sp_flow_predicate *keep, void *arg);

/*
 * Opens an operator that passes on the named fields of each record, unchanged.  Missing fields are
 * empty.  The separator stands between them, or a blank if the separator is runs of blanks.
 * fields: field numbers, counted from 0; copied.
 * Returns 0; SP_EUNSUP if records have a fixed length; SP_ESTATE if input is in another plan or
 * already the input of an operator; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_flow_project(struct sp_operator **op, struct sp_operator *input,
					 const size_t *fields, size_t nfields);

/*
 * Opens an operator that passes on the first `records` records and then the end.  After them it
 * does not read its input.
 * Returns 0; SP_ESTATE if input is in another plan or already the input of an operator; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_flow_limit(struct sp_operator **op, struct sp_operator *input,
				       uint64_t records);

/* Functions of the records of a group.  Empty fields do not count. */
enum sp_flow_function {
	SP_FLOW_COUNT, /* number of records; the field is ignored */
	SP_FLOW_SUM,   /* exact sum of decimal numbers; empty if all fields are empty, as below */
	SP_FLOW_MIN,
	SP_FLOW_MAX,
	SP_FLOW_AVG, /* mean, rounded half away from 0 to at least 6 decimal places */
};

struct sp_flow_value {
	enum sp_flow_function function;
	size_t field; /* counted from 0 */
};

/*
 * Opens an operator that returns one record for each series of consecutive records with equal group
 * fields: these fields, then the values.  If the input is sorted by the group fields, each group
 * gives one record.  Without group fields it returns exactly one record, even of no records.
 * groups: field numbers, counted from 0; copied, as are values.
 * Returns 0 or an error:
 *   SP_EUNSUP: records have a fixed length, or the input is a scan in any order and there are
 *       groups
 *   SP_ESTATE: input is in another plan or already the input of an operator
 *   -ENOMEM: memory is short
 * SP_EFORMAT, from next(): a field is not a number, or a sum exceeds 10^27.  A number has an
 * optional sign and at most 9 decimal places.
 */
SP_API SP_MUST_CHECK int sp_flow_aggregate(struct sp_operator **op, struct sp_operator *input,
					   const size_t *groups, size_t ngroups,
					   const struct sp_flow_value *values, size_t nvalues);

/*
 * Opens an operator that aggregates an input in any order.  It returns one record for each group,
 * in the order of their first records, and keeps all groups in memory until the input ends.  A sort
 * below sp_flow_aggregate() needs memory for one group only.
 * Returns 0 or an error of sp_flow_aggregate(), except that any order is allowed.  SP_EBUDGET, from
 * next(): the groups exceed the memory of the plan.  SP_EFORMAT: see sp_flow_aggregate().
 */
SP_API SP_MUST_CHECK int sp_flow_group(struct sp_operator **op, struct sp_operator *input,
				       const size_t *groups, size_t ngroups,
				       const struct sp_flow_value *values, size_t nvalues);

/*
 * Finds a field of a record of an operator.  A CSV field keeps its quotes.
 * record: `bytes` bytes without the terminator.
 * k: field number, counted from 0.
 * field, field_bytes: receive the position in record and the length in bytes.
 * Returns true if the record has the field; always false for records of fixed length.
 */
SP_API bool sp_flow_field(const struct sp_operator *op, const char *record, size_t bytes, size_t k,
			  const char **field, size_t *field_bytes);

/* Returns the record format of an operator. */
SP_API struct sp_recfmt sp_flow_format(const struct sp_operator *op);

/*
 * Fetches the next batch, which is valid until the next call on the plan.
 * Returns SP_READY, SP_LATER, SP_END or an error of an operator: SP_EFORMAT, SP_EBUDGET,
 * SP_ECORRUPT, SP_EBALANCE, -errno.
 */
SP_API SP_MUST_CHECK int sp_flow_next(struct sp_operator *op, struct sp_batch *batch);

/*
 * Blocks until a plan that returned SP_LATER can continue.
 * Returns 0; SP_ESTATE if nothing is pending; -errno if waiting failed.
 */
SP_API SP_MUST_CHECK int sp_flow_wait(struct sp_flow *flow);

/*
 * Calls sp_flow_next() and sp_flow_wait() until there is a batch or the end.
 * Returns SP_READY, SP_END or an error of these functions.
 */
SP_API SP_MUST_CHECK int sp_flow_get(struct sp_operator *op, struct sp_batch *batch);

/*
 * Reports the resources that the plan has used: elapsed time, memory, and the requests of inputs
 * that have ended.
 */
SP_API void sp_flow_stats(const struct sp_flow *flow, struct sp_run_stats *stats);

#endif
