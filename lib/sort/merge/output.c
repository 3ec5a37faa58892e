/* SPDX-License-Identifier: MIT */
/*
 * Collects the records of the final merge into output buffers.
 *
 * With threads, the merge runs in a background task ahead of get(), as far as the ring of output
 * buffers allows, so that merging overlaps with the caller's writes.  Without threads, get() itself
 * merges until a buffer is full.
 */
#include <string.h>
#include "base/err.h"
#include "sort/merge/ranges.h"

/* Merging fewer bytes takes less time than starting a thread. */
#define INLINE_BYTES (1u << 20)

/* Returns the next record, as sp__ring_source. */
static int next_record(void *arg, bool wait, const char **data, size_t *bytes)
{
	struct sp__merging *merging = arg;
	struct sp__sequence *q = &merging->sequence;
	int rc = sp__sequence_next(q, wait);

	*data = q->rec;
	*bytes = q->bytes;
	if (rc == SP_READY)
		merging->sort->stats.output_bytes += q->bytes;
	return rc;
}

static int fill(struct sp__output *output, struct sp__ring_buffer *out, bool wait)
{
	struct sp__merging *merging = output->merging;
	int rc = sp__ring_pack(&output->ring, out, next_record, merging, wait);

	sp__charge_merge(&merging->sort->env, &merging->sequence.pace, merging->sequence.merge.n);
	return rc < 0 ? sp__err(merging->sort->env.err, rc, "merge", NULL, -1) : rc;
}

/* Publishes bytes of a range, and waits until they are taken. */
static int publish_range(void *arg, const char *data, size_t bytes)
{
	struct sp__ring *ring = &((struct sp__output *)arg)->ring;
	struct sp__ring_buffer *out = sp__ring_empty(ring);

	if (!out)
		return -ECANCELED;
	out->data = data;
	out->bytes = bytes;
	sp__ring_publish(ring, SP_READY);
	return sp__ring_settled(ring, out) ? 0 : -ECANCELED;
}

/* Merges in ranges.  Returns 1, 0 if that is not possible, or an error. */
static int run_ranges(struct sp__output *output)
{
	struct sp__merging *merging = output->merging;
	const struct sp__ranges_out out = { .put = publish_range,
					    .put_arg = output,
					    .put_err = merging->sort->env.err,
					    .writing = sp__env_writing(&merging->sort->env),
					    .busy = &output->busy };
	int rc = sp__final_reduce(merging);

	return rc < 0 ? rc : sp__ranges_write(merging, &out);
}

/* Body of the background task. */
static void run_ahead(void *arg)
{
	struct sp__output *output = arg;
	struct sp__merging *merging = output->merging;
	struct sp__ring *ring = &output->ring;
	struct sp__ring_buffer *out;
	int rc;

	pthread_mutex_lock(&output->busy);
	rc = run_ranges(output);
	if (rc) {
		pthread_mutex_unlock(&output->busy);
		sp__ring_publish(ring, rc < 0 ? rc : SP_END);
		return;
	}
	rc = sp__final_prepare(merging);
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
		pthread_mutex_unlock(&output->busy);
		sp__ring_publish(ring, rc);
	} while (rc == SP_READY && sp__ring_settled(ring, out));
}

/* True if a task pays.  A thread that waits for a pipe could not be stopped. */
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
	return output->threaded ? 0 : sp__final_prepare(merging);
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
}
