/* SPDX-License-Identifier: MIT */
/*
 * Reads windows ahead (ring.h).
 *
 * The thread that reads fills free slots, starts the task of a slot when its cells are in memory,
 * and gives away the output of the oldest slot.  Nothing else crosses threads.
 *
 * Memory: slots have equal shares of three quarters of the working memory.  There are fewer slots
 * if a share would be less than four times the cells that a window has at least.
 */
#include "base/err.h"
#include "base/minmax.h"
#include "base/task.h"
#include "run/memory.h"
#include "run/volume_spec.h"
#include "table/read/frames.h"
#include "table/read/ring.h"

#define SHARE 4	  /* of the memory of a slot, that its cells can have */
#define DEPTH 128 /* requests outstanding */

unsigned sp__ring_slots(const struct sp_run_opts *run, const struct sp__table_layout *l,
			const bool *groups, uint32_t ntexts, uint64_t *slot_bytes)
{
	const uint64_t memory = sp__working_memory(run, run->memory_bytes) / 4 * 3;
	/* Virtual time does not depend on the threads of the host. */
	unsigned threads = sp__volume_spec_simulated(run) ? 1 : sp__threads(run->parallel);
	unsigned n = (unsigned)sp__min(2 * threads + 1, SP__RING_SLOTS);
	uint64_t cells = 2 * ntexts;

	for (uint32_t f = 0; f < l->ngroups; f++)
		cells += groups[f];
	while (n > 1 && memory / n < SHARE * cells * l->cell_bytes)
		n--;
	*slot_bytes = sp__max(memory / n, cells * l->cell_bytes);
	return n;
}

/* Limits what is read ahead to one window, with so many bytes of each column group. */
static void limit_ahead(struct sp__window_ring *r, const struct sp__window *w)
{
	uint64_t groups = 0;

	for (uint32_t f = 0; f < r->file->layout.ngroups; f++)
		groups += w->groups[f];
	r->nslots = (unsigned)sp__min(r->nslots, 2);
	r->slot_bytes = sp__min(r->slot_bytes,
				sp__max(r->ahead_bytes, r->file->layout.cell_bytes) * groups);
}

/* Finds the number of slots.  Those of a scan have the share of a query of the frames of a pool. */
static void set_slots(struct sp__window_ring *r, const struct sp__window *w)
{
	const struct sp__clotho_file *pool = r->file->pool;
	uint64_t share;

	r->nslots = sp__ring_slots(&r->run, &r->file->layout, w->groups, w->ntexts, &r->slot_bytes);
	if (r->ahead_bytes)
		limit_ahead(r, w);
	if (!pool || r->few)
		return;
	share = sp__clotho_share(&pool->user);
	r->nslots = (unsigned)sp__min(r->nslots, share);
	r->max_frames = share / r->nslots;
}

/* Finds whether the ranges exceed the pool. */
static void set_passes(struct sp__window_ring *r)
{
	const uint64_t records = r->ranges.end - sp__min(r->ranges.at, r->ranges.end);
	struct sp__window *first = &r->slots[0].window;

	for (unsigned i = 0; i < r->nslots; i++)
		r->slots[i].window.passes =
			sp__clotho_exceeds(&r->file->pool->user, &first->set, records);
}

int sp__ring_open(struct sp__window_ring *r, const bool *columns, void *own, size_t size)
{
	const struct sp_run_opts *run = &r->file->run;
	const struct sp__queue_opts q =
		sp__tablefile_queue(r->file, r->file->depth ? r->file->depth : DEPTH);
	int rc = sp__requests_open(&r->requests, &q, r->err);

	r->run = *run;
	if (r->parts > 1)
		r->run.memory_bytes = sp__working_memory(run, run->memory_bytes) / r->parts;
	r->nslots = r->ahead = 1;
	for (unsigned i = 0; !rc && i < r->nslots; i++) {
		struct sp__window *w = &r->slots[i].window;

		r->slots[i].ring = r;
		r->slots[i].own = (char *)own + i * size;
		rc = sp__window_open(w, r->file, &r->requests, columns);
		if (!rc && !i)
			set_slots(r, w);
		w->max_frames = r->max_frames;
		w->few = r->few;
	}
	r->ranges.file = r->file;
	r->ranges.rows_needed = r->slots[0].window.ntexts;
	r->ranges.window_bytes = r->slot_bytes;
	if (!rc && r->file->pool && !r->few) {
		rc = sp__clotho_begin(&r->file->pool->user, &r->slots[0].window.set);
		r->begun = !rc;
		set_passes(r);
	}
	return rc ? sp__err(r->err, rc, "read", r->file->path, -1) : 0;
}

void sp__ring_close(struct sp__window_ring *r, struct sp_table_stats *stats)
{
	for (unsigned i = 0; i < r->nslots; i++)
		sp__task_join(&r->slots[i].task);
	if (r->requests.queue)
		sp__env_note_io(&stats->run, sp__queue_counters(r->requests.queue));
	sp__requests_close(&r->requests);
	if (r->begun)
		sp__clotho_end(&r->file->pool->user, &r->slots[0].window.set);
	sp__ranges_close(&r->ranges);
	stats->pages_skipped += r->ranges.pages_skipped;
	for (unsigned i = 0; i < r->nslots; i++) {
		if (r->slots[i].window.file)
			sp__window_close(&r->slots[i].window);
		sp__bytes_release(&r->slots[i].out, &r->file->env.budget);
	}
}

int sp__ring_fill(void *unused, struct sp__window_slot *s)
{
	(void)unused;
	return sp__ranges_next(&s->ring->ranges, &s->window, s->ring->err);
}

static int fill(struct sp__window_ring *r)
{
	struct sp__window_slot *s = &r->slots[(r->head + r->used) % r->nslots];
	int rc;

	sp__window_begin(&s->window);
	s->out.bytes = 0;
	s->records = s->matched = 0;
	s->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = r->ops->fill(r->arg, s);
	if (rc != SP_READY) {
		r->ended = true;
		return rc;
	}
	rc = sp__window_submit(&s->window);
	if (rc)
		return sp__err(r->err, rc, "read", r->file->path, -1);
	s->state = SP__SLOT_READING;
	r->used++;
	return 0;
}

static void work(void *arg)
{
	struct sp__window_slot *s = arg;

	s->rc = sp__window_check(&s->window, &s->err);
	if (!s->rc)
		s->rc = s->ring->ops->work(s->ring->arg, s);
}

/* Starts the tasks of windows that have been read. */
static int start_tasks(struct sp__window_ring *r)
{
	int rc = sp__requests_collect(&r->requests);
	struct sp__requests *requests;

	if (rc)
		return sp__err(r->err, rc, "read", r->file->path, -1);
	for (unsigned i = 0; i < r->used; i++) {
		struct sp__window_slot *s = &r->slots[(r->head + i) % r->nslots];

		if (s->state != SP__SLOT_READING)
			continue;
		requests = sp__frames_requests(&s->window);
		rc = requests == &r->requests ? 0 : sp__requests_collect(requests);
		if (rc)
			return sp__err(r->err, rc, "read", r->file->path, -1);
		rc = sp__window_ready(&s->window, r->err);
		if (rc < 0)
			return rc;
		if (rc == SP_LATER)
			continue;
		s->state = SP__SLOT_WORKING;
		sp__task_start(&s->task, work, s);
	}
	return 0;
}

/*
 * Takes the oldest slot when its task has ended: SP_READY; or waits for requests: 0, or SP_LATER.
 * Returns an error otherwise.
 */
static int take(struct sp__window_ring *r, struct sp__window_slot **slot)
{
	struct sp__window_slot *s = &r->slots[r->head];
	int rc;

	if (s->state == SP__SLOT_READING && r->waits) {
		sp__requests_later(sp__frames_requests(&s->window), r->waits);
		return SP_LATER;
	}
	if (s->state == SP__SLOT_READING) {
		rc = sp__queue_complete(sp__frames_requests(&s->window)->queue, 1, -1);
		return rc < 0 ? sp__err(r->err, rc, "read", r->file->path, -1) : 0;
	}
	sp__task_join(&s->task);
	s->state = SP__SLOT_FREE;
	r->head = (r->head + 1) % r->nslots;
	r->used--;
	r->ahead = sp__min(2 * r->ahead, r->nslots);
	if (s->rc < 0) {
		*r->err = s->err;
		return s->rc;
	}
	*slot = s;
	return SP_READY;
}

int sp__ring_next(struct sp__window_ring *r, struct sp__window_slot **slot)
{
	int rc = 0;

	while (!rc) {
		while (!rc && !r->ended && r->used < r->ahead)
			rc = fill(r);
		if (!rc)
			rc = start_tasks(r);
		if (!rc && !r->used)
			return SP_END;
		if (!rc)
			rc = take(r, slot);
	}
	return rc;
}

int sp__ring_run(struct sp__window_ring *r)
{
	struct sp__window_slot *s;
	int rc;

	for (r->ended = false;;) {
		rc = sp__ring_next(r, &s);
		if (rc != SP_READY)
			return rc;
		rc = r->ops->give(r->arg, s);
		if (rc)
			return rc < 0 ? rc : 0;
	}
}
