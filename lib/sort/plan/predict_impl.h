/* SPDX-License-Identifier: MIT */
/* A sort being predicted: predict.c, predict_form.c. */
#pragma once

#include <math.h>
#include "run/costs.h"
#include "sort/plan/layout.h"
#include "spill/writer.h"

struct sp__sort_prediction {
	struct sp__costs at;
	const struct sp_sort_opts *o;
	const struct sp_sort_plan *plan;
	struct sp__device_costs device;
	bool keys;
	double bytes, record_bytes, chunk_bytes, run_bytes;
	double max_bytes;	  /* of the result, and so of a run from memory or of runs: --top */
	double kept_bytes;	  /* the last run, if it stays in memory until the final merge */
	unsigned merge_pages;	  /* of the merge that is looked at */
	double clusters, seconds; /* so far */
	double described;	  /* bytes that describe runs */
};

static inline double sp__sort_predict_merging_s(const struct sp__sort_prediction *t, double bytes,
						double runs)
{
	const struct sp__costs *c = &t->at;
	double records = bytes / t->record_bytes;

	return records * (c->record_s + c->compare_s * log2(fmax(runs, 2))) + bytes * c->copy_s;
}

/* Pages or chunks that are dealt with one at a time. */
static inline double sp__sort_predict_requests_s(const struct sp__sort_prediction *t, double bytes,
						 double each)
{
	return bytes / each * t->at.request_s;
}

/* The writer's chunks, which are whole pages: with large ones there are fewer (spill/writer.c). */
static inline double sp__sort_predict_chunks(const struct sp__sort_prediction *t)
{
	const struct sp_sort_plan *p = t->plan;
	size_t bytes = sp__plan_spill_bytes(t->o, p->memory_bytes, p->page_bytes);

	return fmin(floor((double)bytes / p->page_bytes), SP__WRITER_CHUNKS);
}

static inline double sp__sort_predict_chunk_pages(const struct sp__sort_prediction *t)
{
	return fmax(floor(t->chunk_bytes / t->plan->page_bytes), 1);
}

static inline double sp__sort_predict_run_chunk(const struct sp__sort_prediction *t)
{
	return sp__sort_predict_chunk_pages(t) * t->plan->page_bytes;
}

/* Steps of more runs are not followed one by one. */
#define SP__PREDICT_RUNS_MAX 4096

/* predict.c: adds all merges of n runs.  0 or an error. */
SP_MUST_CHECK int sp__sort_predict_merges(struct sp__sort_prediction *t, uint64_t n);

/* predict_form.c */
/* Does replacement selection keep all in memory? */
bool sp__sort_predict_unspilled(const struct sp__sort_prediction *t);
double sp__sort_predict_in_memory_s(const struct sp__sort_prediction *t);
/* All runs. */
double sp__sort_predict_in_runs_s(const struct sp__sort_prediction *t);
/*
 * Storing bytes that go on where those before end, in chunks of each, at byte_s: with a bus slower
 * than the medium each chunk waits for a turn, as its last block comes too late.
 */
double sp__sort_predict_storing_s(const struct sp__sort_prediction *t, double bytes, double each,
				  double byte_s);
