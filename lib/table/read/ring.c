/* SPDX-License-Identifier: MIT */
/*
 * Reads windows ahead, and writes the output of a query to a regular file.
 *
 * Algorithm: the thread that reads fills free slots, and gives away the output of the oldest slot.
 * If the cells of a slot are in the page cache, the task of the slot copies them.  Otherwise the
 * thread requests them, and starts the task when they are in memory.
 *
 * A task copies nothing on a simulated machine, from frames of a pool, with direct I/O, with a
 * trace, with an engine that the caller chose, and for windows of few records.
 *
 * Memory: slots have equal shares of three quarters of the working memory.  There are fewer slots
 * if a share would be less than four times the cells that a window has at least.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/table.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/task.h"
#include "base/whole.h"
#include "io/engine.h"
#include "run/memory.h"
#include "run/volume_spec.h"
#include "table/read/frames.h"
#include "table/read/ring.h"

bool sp__filesink_open(struct sp__filesink *s, int fd, struct sp_errinfo *err)
{
	const off_t at = lseek(fd, 0, SEEK_CUR);
	const int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (at < 0 || flags < 0 || (flags & O_APPEND) || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*s = (struct sp__filesink){ .fd = fd,
				    .at = (uint64_t)at,
				    .old_end = (uint64_t)st.st_size,
				    .failed = UINT64_MAX,
				    .err = err };
	return true;
}

/* Notes that bytes taken at this offset were not written.  Returns rc, recorded in err. */
static int filesink_fail(struct sp__filesink *s, uint64_t at, int rc)
{
	if (at < s->failed) {
		s->failed = at;
		(void)sp__errf(s->err, rc, "write", NULL, -1, "write error: %s", sp_strerror(rc));
	}
	return rc;
}

int sp__filesink_put(void *filesink, const char *data, size_t bytes)
{
	struct sp__filesink *s = filesink;
	const uint64_t at = sp__filesink_take(s, bytes);
	int rc = sp__write_whole(s->fd, data, bytes, at);

	return rc ? filesink_fail(s, at, rc) : 0;
}

int sp__filesink_close(struct sp__filesink *s, int rc)
{
	const uint64_t end = sp__min(s->at, s->failed);

	if (rc && s->failed != UINT64_MAX)
		(void)!ftruncate(s->fd, (off_t)sp__max(end, s->old_end));
	if (lseek(s->fd, (off_t)end, SEEK_SET) < 0 && !rc)
		rc = filesink_fail(s, end, -errno);
	return rc;
}

#define SHARE 4	  /* cells can have this share of the memory of a slot */
#define DEPTH 128 /* requests outstanding */
#define COPY_BYTES                                                                                 \
	(UINT64_C(1)                                                                               \
	 << 20) /* bytes of a window that is copied: small, so that threads have enough */

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

/* True if tasks can copy cells that are in the page cache. */
static bool copies(const struct sp__window_ring *r)
{
	const struct sp__volume *v = r->file->cells.first.volume;

	return !r->few && !r->file->pool && !v->machine && !v->direct && !r->file->env.trace &&
	       sp__engine_is_auto(r->run.engine);
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
	r->copies = r->cached = copies(r);
	r->helps = sp__threads(run->parallel) == 1;
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
		sp__env_note_io(&stats->run, &r->slots[i].window.io);
		if (r->slots[i].window.file)
			sp__window_close(&r->slots[i].window);
		sp__bytes_release(&r->slots[i].out, &r->file->env.budget);
	}
}

int sp__ring_fill(void *unused, struct sp__window_slot *s)
{
	struct sp__window_ring *r = s->ring;
	const uint64_t bytes = r->ranges.window_bytes;
	int rc;

	(void)unused;
	if (r->cached)
		r->ranges.window_bytes = sp__min(bytes, COPY_BYTES);
	rc = sp__ranges_next(&r->ranges, &s->window, r->err);
	r->ranges.window_bytes = bytes;
	return rc;
}

static void work(void *arg)
{
	struct sp__window_slot *s = arg;

	s->rc = sp__window_check(&s->window, &s->err);
	if (!s->rc)
		s->rc = s->ring->ops->work(s->ring->arg, s);
}

static void copy_and_work(void *arg)
{
	struct sp__window_slot *s = arg;

	s->rc = sp__window_copy(&s->window, &s->err);
	if (s->rc == SP_READY)
		work(s);
}

static void write_out(void *arg)
{
	struct sp__window_slot *s = arg;

	s->rc = sp__write_whole(s->file->fd, s->out.data, s->out.bytes, s->at);
}

/* Ends the task that writes the output of a slot, if there is one. */
static int end_write(struct sp__window_slot *s)
{
	if (s->state != SP__SLOT_WRITING)
		return 0;
	sp__task_join(&s->task);
	s->state = SP__SLOT_FREE;
	return s->rc ? filesink_fail(s->file, s->at, s->rc) : 0;
}

static int fill(struct sp__window_ring *r)
{
	struct sp__window_slot *s = &r->slots[(r->head + r->used) % r->nslots];
	int rc;

	rc = end_write(s);
	if (rc)
		return rc;
	sp__window_begin(&s->window);
	s->out.bytes = 0;
	s->records = s->matched = 0;
	s->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = r->ops->fill(r->arg, s);
	if (rc != SP_READY) {
		r->ended = true;
		return rc;
	}
	r->used++;
	r->cached = r->copies && sp__window_cached(&s->window);
	if (r->cached) {
		s->state = SP__SLOT_WORKING;
		sp__task_start(&s->task, copy_and_work, s);
		return 0;
	}
	s->state = SP__SLOT_READING;
	rc = sp__window_submit(&s->window);
	return rc ? sp__err(r->err, rc, "read", r->file->path, -1) : 0;
}

/* Takes back a slot whose task has copied its values, but not its texts. */
static void take_back(struct sp__window_slot *s)
{
	sp__task_join(&s->task);
	s->state = SP__SLOT_READING;
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

		if (s->state == SP__SLOT_WORKING && sp__task_done(&s->task) && s->rc == SP_LATER)
			take_back(s);
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
 * Waits for the task of the oldest slot.  If there is one thread for tasks, this one meanwhile runs
 * those that it has not begun, the oldest first.
 */
static void help(struct sp__window_ring *r)
{
	const struct sp__task *head = &r->slots[r->head].task;

	for (unsigned i = 0; r->helps && i < r->used && !sp__task_done(head); i++) {
		struct sp__window_slot *s = &r->slots[(r->head + i) % r->nslots];

		if (s->state == SP__SLOT_WORKING && sp__task_waits(&s->task))
			sp__task_join(&s->task);
	}
	if (!r->helps)
		sp__task_leave(head);
	sp__task_join(&r->slots[r->head].task);
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
	help(r);
	if (s->rc == SP_LATER) {
		take_back(s);
		return 0;
	}
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

/* True if the next slot is being written, and half of the others are in use. */
static bool is_writing(const struct sp__window_ring *r)
{
	const struct sp__window_slot *s = &r->slots[(r->head + r->used) % r->nslots];

	return s->state == SP__SLOT_WRITING && 2 * r->used > r->nslots && !sp__task_done(&s->task);
}

int sp__ring_next(struct sp__window_ring *r, struct sp__window_slot **slot)
{
	int rc = 0;

	while (!rc) {
		while (!rc && !r->ended && r->used < r->ahead && !is_writing(r))
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

int sp__ring_written(struct sp__window_ring *r)
{
	int rc = 0;

	for (unsigned i = 0; i < r->nslots; i++) {
		int other = end_write(&r->slots[(r->head + i) % r->nslots]);

		rc = rc ? rc : other;
	}
	return rc;
}

void sp__ring_write(struct sp__window_slot *s, struct sp__filesink *file)
{
	s->file = file;
	s->at = sp__filesink_take(file, s->out.bytes);
	s->state = SP__SLOT_WRITING;
	sp__task_start(&s->task, write_out, s);
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
