/* SPDX-License-Identifier: MIT */
/*
 * Scans a table (scan.h).
 *
 * Slots form a ring: each has a window, and the output of its records.  The thread that scans fills
 * free slots with the next records, starts the task of a slot when its cells are in memory, and
 * gives the output of the oldest slot to the sink.  Nothing else crosses threads.
 *
 * Memory: the cells of all windows have half of the working memory, their outputs the rest.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/task.h"
#include "run/charge.h"
#include "run/memory.h"
#include "table/file/tombstones.h"
#include "table/read/scan.h"

#define SLOTS_MAX 16
#define SHARE 4	  /* of the memory of a slot, that its cells have */
#define DEPTH 128 /* requests outstanding */

struct scan;

struct slot {
	struct scan *scan;
	enum { FREE, READING, WORKING } state;
	struct sp__window window;
	uint8_t *dead; /* tombstones of the window's records, from a multiple of 8 on */
	size_t dead_bytes;
	uint64_t dead_first;
	uint32_t *selected; /* offsets in rows */
	struct sp__bytes out;
	uint64_t records, matched;
	struct sp__task task;
	struct sp_errinfo err;
	int rc;
};

struct scan {
	struct sp__tablefile *file;
	const struct sp__tablescan_opts *opts;
	struct sp_table_stats *stats;
	struct sp_errinfo *err;
	sp_table_sink sink;
	void *arg;
	struct sp__requests requests;
	struct sp__scan_ranges ranges;
	unsigned nslots, head, used; /* the oldest slot; slots in use */
	uint64_t left;		     /* of the limit */
	bool ended;		     /* no records are left to read */
	struct slot slots[SLOTS_MAX];
};

static bool is_dead(const struct slot *s, uint64_t record)
{
	uint64_t i = record - s->dead_first;

	return s->dead[i / 8] >> i % 8 & 1;
}

/* Sets s->selected to the records of rows that are in the output.  Returns their number. */
static uint32_t select_rows(struct slot *s, const struct sp__rows *rows)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rows->n; i++)
		if (!is_dead(s, rows->first + i))
			s->selected[n++] = i;
	return n;
}

/* Prints the records of a window, at most `limit`. */
static int print(struct slot *s, uint64_t limit)
{
	struct scan *c = s->scan;
	struct sp__budget *budget = &c->file->env.budget;
	struct sp__window *w = &s->window;

	s->out.bytes = 0;
	s->matched = s->records = 0;
	sp__window_rewind(w);
	for (size_t i = 0; i < w->nranges; i++) {
		const uint64_t end = w->ranges[i].first + w->ranges[i].n;

		for (uint64_t at = w->ranges[i].first; at < end && s->matched < limit;) {
			struct sp__rows rows = sp__window_rows(w, at);
			uint32_t n = s->dead ? select_rows(s, &rows) : rows.n;

			n = (uint32_t)sp__min(n, limit - s->matched);
			if (sp__output_rows(c->opts->output, &rows, s->dead ? s->selected : NULL, n,
					    &s->out, budget))
				return sp__err(&s->err, -ENOMEM, "scan", c->file->path, -1);
			s->matched += n;
			s->records += rows.n;
			at += rows.n;
		}
	}
	return 0;
}

static void work(void *arg)
{
	struct slot *s = arg;

	s->rc = sp__window_check(&s->window, &s->err);
	if (!s->rc)
		s->rc = print(s, UINT64_MAX);
}

/* Reads the tombstones of a window. */
static int read_dead(struct scan *c, struct slot *s)
{
	const struct sp__window *w = &s->window;
	const struct sp__window_range *last = &w->ranges[w->nranges - 1];
	uint64_t n;
	size_t bytes;

	if (!c->file->superblock.deleted)
		return 0;
	s->dead_first = w->ranges[0].first / 8 * 8;
	n = last->first + last->n - s->dead_first;
	bytes = (size_t)(n + 7) / 8;
	if (!s->selected)
		s->selected = malloc(SP__ROWS_MAX * sizeof(*s->selected));
	if (bytes > s->dead_bytes) {
		free(s->dead);
		s->dead = malloc(bytes);
		s->dead_bytes = s->dead ? bytes : 0;
	}
	if (!s->dead || !s->selected)
		return sp__err(c->err, -ENOMEM, "scan", c->file->path, -1);
	return sp__tombstones_read(c->file, s->dead_first, n, s->dead, c->err);
}

/* Begins to read the next records into a free slot. */
static int fill(struct scan *c)
{
	struct slot *s = &c->slots[(c->head + c->used) % c->nslots];
	int rc;

	sp__window_begin(&s->window);
	rc = sp__ranges_next(&c->ranges, &s->window, c->err);
	if (rc != SP_READY) {
		c->ended = true;
		return rc;
	}
	rc = read_dead(c, s);
	if (rc)
		return rc;
	rc = sp__window_submit(&s->window);
	if (rc)
		return sp__err(c->err, rc, "read", c->file->path, -1);
	s->state = READING;
	s->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	c->used++;
	return 0;
}

/* Starts the tasks of windows that have been read. */
static int start_tasks(struct scan *c)
{
	int rc = sp__requests_collect(&c->requests);

	if (rc)
		return sp__err(c->err, rc, "read", c->file->path, -1);
	for (unsigned i = 0; i < c->used; i++) {
		struct slot *s = &c->slots[(c->head + i) % c->nslots];

		if (s->state != READING)
			continue;
		rc = sp__window_ready(&s->window, c->err);
		if (rc < 0)
			return rc;
		if (rc == SP_LATER)
			continue;
		s->state = WORKING;
		sp__task_start(&s->task, work, s);
	}
	return 0;
}

static int give(struct scan *c, struct slot *s)
{
	int rc = s->rc;

	if (rc < 0) {
		*c->err = s->err;
		return rc;
	}
	if (s->matched > c->left) {
		rc = print(s, c->left);
		if (rc)
			return rc;
	}
	c->left -= s->matched;
	c->ended |= !c->left;
	c->stats->records_read += s->records;
	c->stats->records_matched += s->matched;
	c->stats->cells_read += s->window.cells_read;
	c->stats->output_bytes += s->out.bytes;
	sp__charge_work(&c->file->env, s->records, 0, s->out.bytes);
	return s->out.bytes ? c->sink(c->arg, s->out.data, s->out.bytes) : 0;
}

/* Takes the oldest slot when its task has ended, or waits for its requests. */
static int take(struct scan *c)
{
	struct slot *s = &c->slots[c->head];
	int rc;

	if (s->state == READING) {
		rc = sp__queue_complete(c->requests.queue, 1, -1);
		return rc < 0 ? sp__err(c->err, rc, "read", c->file->path, -1) : 0;
	}
	sp__task_join(&s->task);
	rc = give(c, s);
	s->state = FREE;
	c->head = (c->head + 1) % c->nslots;
	c->used--;
	return rc;
}

static int run(struct scan *c)
{
	struct sp__bytes header = { 0 };
	int rc = sp__output_header(c->opts->output, &header, NULL);

	if (rc)
		rc = sp__err(c->err, rc, "scan", c->file->path, -1);
	else if (header.bytes)
		rc = c->sink(c->arg, header.data, header.bytes);
	c->stats->output_bytes += header.bytes;
	sp__bytes_release(&header, NULL);
	while (!rc && c->left) {
		while (!rc && !c->ended && c->used < c->nslots)
			rc = fill(c);
		if (!rc)
			rc = start_tasks(c);
		if (rc || !c->used)
			break;
		rc = take(c);
	}
	return rc;
}

static int open_slots(struct scan *c)
{
	const struct sp_run_opts *run = &c->file->run;
	const uint64_t memory = sp__working_memory(run, run->memory_bytes);
	const struct sp__queue_opts q = { .engine = run->engine,
					  .depth = DEPTH,
					  .trace = c->file->env.trace,
					  .device = c->file->env.device };
	int rc;

	c->nslots = sp__min(2 * sp__threads(run->parallel) + 1, SLOTS_MAX);
	c->ranges.window_bytes = memory / c->nslots / SHARE;
	rc = sp__requests_open(&c->requests, &q, c->err);
	for (unsigned i = 0; !rc && i < c->nslots; i++) {
		c->slots[i].scan = c;
		rc = sp__window_open(&c->slots[i].window, c->file, &c->requests, c->opts->columns);
	}
	if (!rc) {
		c->ranges.groups = c->slots[0].window.groups;
		c->ranges.rows_needed = c->slots[0].window.ntexts;
		rc = sp__ranges_open(&c->ranges);
	}
	return rc < 0 ? sp__err(c->err, rc, "scan", c->file->path, -1) : 0;
}

static void close_slots(struct scan *c)
{
	for (unsigned i = 0; i < c->nslots; i++)
		sp__task_join(&c->slots[i].task);
	if (c->requests.queue)
		sp__env_note_io(&c->stats->run, sp__queue_counters(c->requests.queue));
	sp__requests_close(&c->requests);
	for (unsigned i = 0; i < c->nslots; i++) {
		struct slot *s = &c->slots[i];

		sp__window_close(&s->window);
		sp__bytes_release(&s->out, &c->file->env.budget);
		free(s->dead);
		free(s->selected);
	}
	sp__ranges_close(&c->ranges);
}

int sp__tablescan(struct sp__tablefile *f, const struct sp__tablescan_opts *o, sp_table_sink sink,
		  void *arg, struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct scan c = { .file = f,
			  .opts = o,
			  .stats = stats,
			  .err = err,
			  .sink = sink,
			  .arg = arg,
			  .left = o->limit,
			  .ranges = { .file = f, .at = o->lo } };
	int rc;

	c.ranges.end = o->hi < f->superblock.records ? o->hi + 1 : f->superblock.records;
	rc = open_slots(&c);
	if (!rc)
		rc = run(&c);
	close_slots(&c);
	stats->pages_skipped = c.ranges.pages_skipped;
	return rc;
}
