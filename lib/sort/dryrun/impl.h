/* SPDX-License-Identifier: MIT */
/* Declares the state of a sort's dry run: dryrun.c, merge.c. */
#pragma once

#include "base/rng.h"
#include "predict/dryrun.h"
#include "run/charge.h"
#include "sort/plan/predict.h"

struct sp__drysort {
	const struct sp__sort_sizes *s;
	uint64_t bytes; /* bytes of the input */
	double scale;	/* length of the sort's runs / those of the dry run */
	struct sp__env env;
	struct sp__spill *store; /* NULL: nothing is spilled */
	struct sp__run **runs;
	struct sp__runwriter write; /* writer of the run that is being written */
	bool writing;
	char *write_mem;
	size_t write_bytes;
	struct sp__drystream in, out;
	uint64_t input; /* bytes got and not yet taken */
	uint64_t taken; /* bytes of the input that are in memory or were */
	double records; /* owed to the charges */
	struct sp__rng rng;
	/* Replacement selection: */
	uint64_t held; /* in memory */
	bool drains;
};

/* Returns the bytes that are computed at a time. */
static inline uint64_t sp__drysort_slice(const struct sp__drysort *t)
{
	return sp__max(16384u, t->s->plan->page_bytes / 8);
}

/* Returns the whole records in the bytes; the rest is owed. */
static inline uint64_t sp__drysort_records(struct sp__drysort *t, uint64_t bytes)
{
	uint64_t n;

	t->records += (double)bytes / t->s->record_bytes;
	n = (uint64_t)t->records;
	t->records -= (double)n;
	return n;
}

/* Charges the merging of bytes from n runs. */
static inline void sp__drysort_charge(struct sp__drysort *t, uint64_t bytes, unsigned n)
{
	struct sp__pace pace = { sp__drysort_records(t, bytes), bytes };

	sp__charge_merge(&t->env, &pace, n);
}

/* All return 0 or an error. */
/* dryrun.c: begins a run with this number, after ending the one that is being written. */
SP_MUST_CHECK int sp__drysort_begin_run(struct sp__drysort *t, unsigned id, unsigned level);
SP_MUST_CHECK int sp__drysort_end_run(struct sp__drysort *t);
/* merge.c: merge() of struct sp__steps. */
SP_MUST_CHECK int sp__drysort_merge(void *drysort, const struct sp__merge_step *step,
				    uint64_t *bytes);
/* Writes the result of n sorted strips in memory. */
SP_MUST_CHECK int sp__drysort_write(struct sp__drysort *t, unsigned n);
