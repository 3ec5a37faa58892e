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
#include "sort/state.h"

/* Merging less than this takes less time than starting a thread. */
#define INLINE_BYTES (1u << 20)

/* One step of the final merge, charged even if the record is dropped. */
static int step(struct sp_sort *s, bool wait)
{
	int rc = sp__merge_next(&s->merging.merge, wait);

	if (rc == SP_READY) {
		s->merging.pace.records++;
		s->merging.pace.bytes += s->merging.merge.bytes;
	}
	if (s->merging.places)
		sp__run_places_step(s->merging.places, &s->merging.merge, rc);
	return rc;
}

static int hold(struct sp_sort *s)
{
	const struct sp__merge *m = &s->merging.merge;

	s->output.group_due = false;
	return sp__group_hold(&s->output.group, m->rec, m->bytes, 1 + sp__merge_current(m)->more,
			      &s->env.budget);
}

/* One output record for each group of equal keys: the first, and their number. */
static int next_counted(struct sp_sort *s, bool wait, const char **data, size_t *bytes)
{
	int rc = s->output.group_due ? hold(s) : 0;

	if (rc < 0)
		return rc;
	while ((rc = step(s, wait)) == SP_READY && s->merging.merge.equal) {
		sp__tally_add(&s->balance.dropped, s->merging.merge.rec, s->merging.merge.bytes);
		s->output.group.number += 1 + sp__merge_current(&s->merging.merge)->more;
	}
	if (rc < 0 || rc == SP_LATER)
		return rc;
	/* The held record is output first, so that only one record is copied. */
	s->output.group_due = rc == SP_READY;
	if (!s->output.group.number)
		return rc == SP_READY ? next_counted(s, wait, data, bytes) : rc;
	sp__group_give(&s->output.group, &s->opts.format, &s->balance, data, bytes);
	return SP_READY;
}

int sp__output_next(void *sort, bool wait, const char **data, size_t *bytes)
{
	struct sp_sort *s = sort;
	int rc;

	if (s->opts.top && s->balance.given.records == s->opts.top)
		return SP_END;
	if (s->opts.count) {
		rc = next_counted(s, wait, data, bytes);
	} else {
		while ((rc = step(s, wait)) == SP_READY && s->opts.unique && s->merging.merge.equal)
			sp__tally_add(&s->balance.dropped, s->merging.merge.rec,
				      s->merging.merge.bytes);
		*data = s->merging.merge.rec;
		*bytes = s->merging.merge.bytes;
		if (rc == SP_READY)
			sp__tally_add(&s->balance.given, *data, *bytes);
	}
	if (rc == SP_READY)
		s->stats.output_bytes += *bytes;
	return rc;
}

static int fill(struct sp_sort *s, struct sp__ring_buffer *out, bool wait)
{
	int rc = sp__ring_pack(&s->output.ring, out, sp__output_next, s, wait);

	sp__charge_merge(&s->env, &s->merging.pace, s->merging.merge.n);
	return rc < 0 ? sp__err(s->env.err, rc, "merge", NULL, -1) : rc;
}

/* The background task. */
static void run_ahead(void *arg)
{
	struct sp_sort *s = arg;
	struct sp__ring *ring = &s->output.ring;
	struct sp__ring_buffer *out;
	int rc;

	pthread_mutex_lock(&s->output.busy);
	rc = sp__finish_prepare(s, true);
	pthread_mutex_unlock(&s->output.busy);
	if (rc < 0) {
		sp__ring_publish(ring, rc);
		return;
	}
	do {
		out = sp__ring_empty(ring);
		if (!out)
			return;
		pthread_mutex_lock(&s->output.busy);
		rc = fill(s, out, true);
		/* Before the end is published, so that all their reads are counted. */
		if (rc != SP_READY)
			sp__branches_close(s);
		pthread_mutex_unlock(&s->output.busy);
		sp__ring_publish(ring, rc);
	} while (rc == SP_READY && sp__ring_settled(ring, out));
}

/* Is it worth while?  A thread that waits for a pipe could not be stopped. */
static bool run_beside(const struct sp_sort *s)
{
	if (s->merging.inputs.n)
		return s->merging.inputs.files && s->merging.inputs.total_bytes > INLINE_BYTES;
	return s->spilled.store || s->stats.input_bytes > INLINE_BYTES;
}

int sp__output_start(struct sp_sort *s)
{
	s->output.threaded = s->threads > 1 && run_beside(s);
	s->state = SP__SORT_OUTPUT;
	s->output.threaded = s->output.threaded && sp__task_start_thread(&s->task, run_ahead, s);
	/* If threaded, get() returns its errors. */
	return s->output.threaded ? 0 : sp__finish_prepare(s, false);
}

int sp__output_get(struct sp_sort *s, struct sp_batch *batch)
{
	struct sp__ring_buffer *out;
	int rc;

	sp__ring_release(&s->output.ring);
	if (!s->output.threaded) {
		out = sp__ring_empty(&s->output.ring);
		rc = fill(s, out, false);
		if (rc != SP_READY)
			return rc;
		sp__ring_publish(&s->output.ring, rc);
	}
	return sp__ring_get(&s->output.ring, false, &batch->data, &batch->bytes);
}

int sp__output_wait(struct sp_sort *s)
{
	int rc;

	if (!s->output.threaded) {
		rc = s->spilled.store ? sp__spill_reap(s->spilled.store, 1) : SP_ESTATE;
		return rc < 0 ? rc : 0;
	}
	(void)sp__ring_await(&s->output.ring, -1);
	return 0;
}

void sp__output_stop(struct sp_sort *s)
{
	sp__ring_abandon(&s->output.ring);
	sp__task_join(&s->forming.sorting);
	sp__task_join(&s->task);
	sp__branches_close(s);
}

void sp__output_close(struct sp_sort *s)
{
	sp__output_stop(s);
	sp__bytes_release(&s->output.group.held, &s->env.budget);
}
