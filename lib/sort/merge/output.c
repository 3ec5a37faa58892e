/* SPDX-License-Identifier: MIT */
/*
 * Collects the records of the final merge into output buffers.
 *
 * With threads the merge runs ahead of get() in the background task, as far as the
 * ring of output buffers allows, so that merging and the caller's writing overlap.
 * Without threads get() itself merges until a buffer is full.
 */
#include <string.h>
#include "base/err.h"
#include "sort/merge/output.h"

/* Merging less than this takes less time than starting a thread. */
#define INLINE_BYTES (1u << 20)

/* One step of the final merge, charged even if the record is dropped. */
static int step(struct sp__output *output, bool wait)
{
	struct sp__merging *merging = output->merging;
	int rc = sp__merge_next(&merging->merge, wait);

	if (rc == SP_READY) {
		merging->pace.records++;
		merging->pace.bytes += merging->merge.bytes;
	}
	if (merging->offsets)
		sp__run_offsets_step(merging->offsets, &merging->merge, rc);
	return rc;
}

static int hold(struct sp__output *output)
{
	struct sp__merging *merging = output->merging;
	const struct sp__merge *m = &merging->merge;

	output->group_due = false;
	return sp__group_hold(&output->group, m->rec, m->bytes, 1 + sp__merge_current(m)->more,
			      &merging->sort->env.budget);
}

/* One output record for each group of equal keys: the first, and their number. */
static int next_counted(struct sp__output *output, bool wait, const char **data, size_t *bytes)
{
	struct sp__merging *merging = output->merging;
	struct sp__sort_shared *s = merging->sort;
	int rc = output->group_due ? hold(output) : 0;

	if (rc < 0)
		return rc;
	while ((rc = step(output, wait)) == SP_READY && merging->merge.equal) {
		sp__tally_add(&s->balance.dropped, merging->merge.rec, merging->merge.bytes);
		output->group.number += 1 + sp__merge_current(&merging->merge)->more;
	}
	if (rc < 0 || rc == SP_LATER)
		return rc;
	/* The held record is output first, so that only one record is copied. */
	output->group_due = rc == SP_READY;
	if (!output->group.number)
		return rc == SP_READY ? next_counted(output, wait, data, bytes) : rc;
	sp__group_give(&output->group, &s->opts.format, &s->balance, data, bytes);
	return SP_READY;
}

int sp__output_next(void *arg, bool wait, const char **data, size_t *bytes)
{
	struct sp__output *output = arg;
	const struct sp__merging *merging = output->merging;
	struct sp__sort_shared *s = merging->sort;
	int rc;

	if (s->opts.top && s->balance.given.records == s->opts.top)
		return SP_END;
	if (s->opts.count) {
		rc = next_counted(output, wait, data, bytes);
	} else {
		while ((rc = step(output, wait)) == SP_READY && s->opts.unique &&
		       merging->merge.equal)
			sp__tally_add(&s->balance.dropped, merging->merge.rec,
				      merging->merge.bytes);
		*data = merging->merge.rec;
		*bytes = merging->merge.bytes;
		if (rc == SP_READY)
			sp__tally_add(&s->balance.given, *data, *bytes);
	}
	if (rc == SP_READY)
		s->stats.output_bytes += *bytes;
	return rc;
}

static int fill(struct sp__output *output, struct sp__ring_buffer *out, bool wait)
{
	struct sp__merging *merging = output->merging;
	int rc = sp__ring_pack(&output->ring, out, sp__output_next, output, wait);

	sp__charge_merge(&merging->sort->env, &merging->pace, merging->merge.n);
	return rc < 0 ? sp__err(merging->sort->env.err, rc, "merge", NULL, -1) : rc;
}

/* The background task. */
static void run_ahead(void *arg)
{
	struct sp__output *output = arg;
	struct sp__merging *merging = output->merging;
	struct sp__ring *ring = &output->ring;
	struct sp__ring_buffer *out;
	int rc;

	pthread_mutex_lock(&output->busy);
	rc = sp__final_prepare(merging, true);
	pthread_mutex_unlock(&output->busy);
	if (rc < 0) {
		sp__ring_publish(ring, rc);
		return;
	}
	do {
		out = sp__ring_empty(ring);
		if (!out)
			return;
		pthread_mutex_lock(&output->busy);
		rc = fill(output, out, true);
		/* Before the end is published, so that all their reads are counted. */
		if (rc != SP_READY)
			sp__branches_close(merging);
		pthread_mutex_unlock(&output->busy);
		sp__ring_publish(ring, rc);
	} while (rc == SP_READY && sp__ring_settled(ring, out));
}

/* Is it worth while?  A thread that waits for a pipe could not be stopped. */
static bool run_beside(const struct sp__output *output)
{
	const struct sp__merging *merging = output->merging;

	if (merging->inputs.n)
		return merging->inputs.files && merging->inputs.total_bytes > INLINE_BYTES;
	return merging->spilled->store || merging->sort->stats.input_bytes > INLINE_BYTES;
}

int sp__output_start(struct sp__output *output)
{
	struct sp__merging *merging = output->merging;

	output->threaded = merging->sort->threads > 1 && run_beside(output);
	output->threaded =
		output->threaded && sp__task_start_thread(&output->task, run_ahead, output);
	/* If threaded, get() returns its errors. */
	return output->threaded ? 0 : sp__final_prepare(merging, false);
}

int sp__output_get(struct sp__output *output, struct sp_batch *batch)
{
	struct sp__ring_buffer *out;
	int rc;

	sp__ring_release(&output->ring);
	if (!output->threaded) {
		out = sp__ring_empty(&output->ring);
		rc = fill(output, out, false);
		if (rc != SP_READY)
			return rc;
		sp__ring_publish(&output->ring, rc);
	}
	return sp__ring_get(&output->ring, false, &batch->data, &batch->bytes);
}

int sp__output_wait(struct sp__output *output)
{
	const struct sp__merging *merging = output->merging;
	int rc;

	if (!output->threaded) {
		rc = merging->spilled->store ? sp__spill_reap(merging->spilled->store, 1)
					     : SP_ESTATE;
		return rc < 0 ? rc : 0;
	}
	(void)sp__ring_await(&output->ring, -1);
	return 0;
}

void sp__output_stop(struct sp__output *output)
{
	sp__ring_abandon(&output->ring);
	sp__task_join(&output->task);
	sp__branches_close(output->merging);
}

void sp__output_close(struct sp__output *output)
{
	sp__bytes_release(&output->group.held, &output->merging->sort->env.budget);
}
