/* SPDX-License-Identifier: MIT */
/*
 * Probes with several threads, the thread of the join among them.
 *
 * Algorithm: each thread is a maker of ranges of the result (io/ordered.h).  It takes the next part
 * of the probe input, probes with its records, and takes another one.  There are two kinds of
 * parts:
 *
 *	files	If all build records are in memory, each thread reads its part of the file
 *		(flow/parts.h).  The memory that the table does not need holds results.
 *	copies	Else a thread reads the input while it is its turn, and copies records.  The
 *		same is true of writing results.
 *
 * Records of spilled partitions are put into temporary space in the order of the input, too: a
 * thread waits until all earlier parts are spilled.
 *
 * Progress: the thread with the lowest part does not wait for others.
 *
 * Invariant: stage, table and filter are shared without a lock.  They do not change during probing,
 * except for the marks of the table's records (sp__rec_mark()).
 *
 * Memory of copies: a share of the writers' memory (spill.c), divided equally among the threads: a
 * quarter each for records and for two buffers of the result, an eighth each for the list of
 * records to spill and for collecting results.
 *
 * Rejected: joining pairs of partitions concurrently, each with a table.  Each table has less
 * memory, a large pair occupies one thread to the end, and partitions in memory gain nothing.
 */
#include <pthread.h>
#include <stdlib.h>
#include "base/delay.h"
#include "base/minmax.h"
#include "base/task.h"
#include "base/tasklog.h"
#include "flow/parts.h"
#include "io/ordered.h"
#include "join/hash/workers.h"

/* Maximum memory of each thread for copies. */
#define EACH_MAX (1u << 20)
#define COPY_MIN ((size_t)4 << 10)

/* Bytes of a part of a file. */
#define PART_BYTES (1u << 20)

struct sp__worker {
	struct sp__workers *all;
	struct sp__inorder_maker maker;
	uint64_t number; /* of its part */
	bool waits;	 /* for the turn of this part; protected by the lock */
	pthread_cond_t go;
	struct sp__part part;
	char *in; /* copied records */
	struct sp_batch batch;
	bool holds; /* the batch is the input's: no other thread takes a part */
	struct sp__emit emit;
	struct sp__keymem keymem;
	struct sp__join_balance balance;
	uint64_t probed; /* bytes of records */
	struct sp__deferred *deferred;
	size_t ndeferred;
	struct sp_errinfo err;
	struct sp__log_parts logged;
};

struct sp__workers {
	struct sp__stage *stage;
	struct sp__worker *workers;
	unsigned n;
	char *mem;
	uint64_t mem_bytes; /* of its own; 0: the writers' */
	size_t in_max, deferred_max, buffer_bytes;
	bool spills;
	struct sp__inorder ordered;
	struct sp__parts *parts; /* NULL: the input */

	pthread_mutex_t lock; /* protects the following members */
	uint64_t turn;	      /* number of the part that is taken next */
	struct sp__iter *input;
	struct sp_batch rest; /* of its current batch */
	bool ended;
	int error;	   /* of reading, or of spilling */
	uint64_t spilling; /* number of the part that is spilled next */
};

/* Waiting.  Called with the lock. */

static void await(struct sp__worker *w, const uint64_t *turn)
{
	w->waits = true;
	while (*turn != w->number && !(turn == &w->all->spilling && w->all->error))
		pthread_cond_wait(&w->go, &w->all->lock);
	w->waits = false;
}

/* Wakes the worker whose turn it is; after an error all. */
static void wake(struct sp__workers *c, uint64_t turn)
{
	for (unsigned i = 0; i < c->n; i++) {
		struct sp__worker *w = &c->workers[i];

		if (w->waits && (w->number == turn || c->error))
			pthread_cond_signal(&w->go);
	}
}

/* Taking parts. */

/* Bytes of whole records at the beginning of a batch that fit; 0: the first does not. */
static size_t cut(const struct sp_recfmt *f, const char *at, size_t bytes, size_t max)
{
	const char *end = at + bytes, *to = at, *next;
	size_t n;

	if (bytes <= max)
		return bytes;
	if (f->kind == SP_REC_FIXED)
		return max - max % f->fixed_bytes;
	if (f->kind == SP_REC_LINE) {
		to = memrchr(at, f->eol, max);
		return to ? (size_t)(to + 1 - at) : 0;
	}
	while ((next = sp__record_next(f, to, end, &n)) <= at + max)
		to = next;
	return (size_t)(to - at);
}

/* Bytes of a copy whose records, if all must be spilled, fit into the list. */
static size_t copy_max(const struct sp__worker *w)
{
	const struct sp__workers *c = w->all;
	const uint64_t records = w->balance.read.records;
	uint64_t bytes = c->in_max;

	if (c->spills && records)
		bytes = c->deferred_max * (w->probed / records);
	return sp__max(sp__min(bytes, c->in_max), sp__min(c->in_max, COPY_MIN));
}

/* Takes records of the input: SP_READY, SP_END or an error.  Called with the lock. */
static int take_copy(struct sp__worker *w)
{
	struct sp__workers *c = w->all;
	const struct sp_recfmt *f = &c->stage->h->format[c->stage->side[SP__PROBE]];
	int rc = c->error ? c->error : c->ended ? SP_END : SP_READY;
	size_t n;

	if (rc == SP_READY && !c->rest.bytes)
		rc = c->input->next(c->input->operator, & c->rest);
	c->ended = rc != SP_READY;
	if (rc < 0)
		c->error = rc;
	if (rc != SP_READY)
		return rc;
	n = cut(f, c->rest.data, c->rest.bytes, copy_max(w));
	w->holds = !n;
	if (n) {
		memcpy(w->in, c->rest.data, n);
		w->batch = (struct sp_batch){ w->in, n };
	} else {
		n = (size_t)(sp__record_next(f, c->rest.data, c->rest.data + c->rest.bytes, &n) -
			     c->rest.data);
		w->batch = (struct sp_batch){ c->rest.data, n };
	}
	c->rest.data += n;
	c->rest.bytes -= n;
	return rc;
}

static void end_turn(struct sp__workers *c)
{
	c->turn++;
	wake(c, c->turn);
}

/* Takes the part of the range that the maker has taken. */
static int take(struct sp__worker *w)
{
	struct sp__workers *c = w->all;
	int rc;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&c->lock);
	await(w, &c->turn);
	w->holds = false;
	rc = c->parts ? sp__parts_next(c->parts, &w->part) : take_copy(w);
	if (!w->holds)
		end_turn(c);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

/* Spilling. */

/*
 * Waits until all earlier parts are spilled, and spills the records of this one so far.  last: it
 * has no more.  0 or an error.
 */
static int spill(struct sp__worker *w, bool last)
{
	struct sp__workers *c = w->all;
	int rc;

	if (!c->spills)
		return 0;
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&c->lock);
	await(w, &c->spilling);
	rc = c->error;
	for (size_t i = 0; i < w->ndeferred && !rc; i++)
		rc = sp__stage_spill_deferred(c->stage, &w->deferred[i]);
	w->ndeferred = 0;
	if (!rc)
		sp__stage_bound(c->stage);
	if (last)
		c->spilling++;
	if (rc < 0)
		c->error = rc;
	if (last || rc < 0)
		wake(c, c->spilling);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

int sp__worker_defer(struct sp__worker *w, const struct sp__deferred *record)
{
	int rc = w->ndeferred == w->all->deferred_max ? spill(w, false) : 0;

	if (rc < 0)
		return rc;
	w->deferred[w->ndeferred++] = *record;
	return 0;
}

/* Probing. */

/* Sink of a worker's emit. */
static int put(void *worker, const char *data, size_t bytes, bool whole)
{
	struct sp__worker *w = worker;

	(void)whole;
	return sp__inorder_put(&w->maker, data, bytes, bytes);
}

static int probe(struct sp__worker *w)
{
	const struct sp__prober by = { .stage = w->all->stage,
				       .emit = &w->emit,
				       .keymem = &w->keymem,
				       .balance = &w->balance,
				       .bytes = &w->probed,
				       .err = &w->err,
				       .worker = w };
	int rc = SP_READY;

	if (!w->all->parts)
		return sp__probe(&by, &w->batch);
	while (rc == SP_READY && (rc = sp__part_read(&w->part, &w->batch)) == SP_READY) {
		int probed = sp__probe(&by, &w->batch);

		rc = probed < 0 ? probed : rc;
	}
	if (rc < 0 && !w->err.code)
		w->err = w->part.err;
	return rc;
}

/* Makes the range of the result of a part. */
static void make(struct sp__worker *w)
{
	struct sp__workers *c = w->all;
	int rc = take(w), spilled;

	if (rc != SP_READY) {
		if (rc < 0 && c->parts) {
			w->err = w->part.err;
			sp__inorder_fail(&w->maker, rc);
		} else {
			(void)sp__inorder_end_all(&w->maker);
		}
		return;
	}
	rc = probe(w);
	if (!rc)
		rc = sp__emit_flush(&w->emit);
	spilled = spill(w, true);
	rc = rc ? rc : spilled;
	if (w->holds) {
		pthread_mutex_lock(&c->lock);
		end_turn(c);
		pthread_mutex_unlock(&c->lock);
	}
	if (rc < 0)
		sp__inorder_fail(&w->maker, rc);
	else
		(void)sp__inorder_end(&w->maker);
}

static void report(struct sp__workers *c)
{
	const struct sp__hash *h = c->stage->h;

	if (c->parts)
		sp__progress_report(&h->counts->progress, SP_JOIN_PHASE_PROBE,
				    sp__parts_bytes(c->parts),
				    h->opts->input_bytes[c->stage->side[SP__PROBE]]);
}

static void work(void *worker)
{
	struct sp__worker *w = worker;
	struct sp__workers *c = w->all;

	sp__inorder_join(&w->maker, &c->ordered, &w->err);
	while (sp__inorder_take(&w->maker, &w->number)) {
		struct sp__logging outer = sp__log_part(&w->logged, SP__TASK_KIND(make));

		make(w);
		sp__log_leave(outer);
		if (w == c->workers)
			report(c);
	}
	sp__inorder_leave(&w->maker);
	if (c->parts)
		sp__part_close(c->parts, &w->part);
}

/* Functions of the join's thread. */

/*
 * 0, so that one thread probes, for a simulated machine, whose time would depend on the threads;
 * for a limit or a timeline, which count single records; and for a plan, which needs early rows
 * early.
 */
uint64_t sp__workers_bytes(const struct sp__hash *h)
{
	if (h->env->device || h->opts->limited || h->in->io->row || !h->in->source[0].scan)
		return 0;
	return sp__join_copies_bytes(h->opts, &h->layout);
}

bool sp__workers_wanted(const struct sp__stage *s)
{
	/*
	 * Workers cannot probe if records are known by numbers, or are put into a sort one by one.
	 */
	return s->h->workers_bytes && !s->had && !s->h->out->emit.each;
}

/* Assigns memory to the workers: for deferred records, copies, and results. */
static void lay_out(struct sp__workers *c, uint64_t each)
{
	size_t list = 0, in = 0, out = SP__EMIT_BYTES;
	char *mem = c->mem + 2 * c->buffer_bytes * c->n;

	if (!c->parts) {
		list = (size_t)(each / 8) & ~(size_t)63;
		in = c->buffer_bytes;
		out = list;
	}
	c->in_max = in;
	c->deferred_max = list / sizeof(struct sp__deferred);
	for (unsigned i = 0; i < c->n; i++, mem += list + in + out) {
		struct sp__worker *w = &c->workers[i];

		w->all = c;
		w->err = (struct sp_errinfo)SP_ERRINFO_INIT;
		w->deferred = (struct sp__deferred *)(void *)mem;
		w->in = mem + list;
		sp__emit_share(&w->emit, &c->stage->h->out->emit, mem + list + in, out);
		w->emit.err = &w->err;
		w->emit.sink = put;
		w->emit.sink_arg = w;
	}
}

static bool spills(const struct sp__stage *s)
{
	for (unsigned i = 0; i < s->npartitions; i++)
		if (s->partitions[i].spilled)
			return true;
	return false;
}

/* Adds what the workers have counted to the stage. */
static void add_counts(struct sp__workers *c)
{
	struct sp__stage *s = c->stage;
	struct sp__join_balance *to = &s->balance[SP__PROBE];

	for (unsigned i = 0; i < c->n; i++) {
		struct sp__worker *w = &c->workers[i];

		sp__tally_join(&to->read, &w->balance.read);
		sp__tally_join(&to->looked_up, &w->balance.looked_up);
		sp__tally_join(&to->filtered, &w->balance.filtered);
		s->bytes[SP__PROBE] += w->probed;
		s->h->out->emit.records += w->emit.records;
		s->h->out->emit.filtering.records += w->emit.filtering.records;
	}
}

static void workers_close(struct sp__workers *c)
{
	for (unsigned i = 0; c->workers && i < c->n; i++) {
		c->workers[i].emit.buf = NULL;
		sp__emit_release(&c->workers[i].emit);
		sp__keymem_release(&c->workers[i].keymem);
		pthread_cond_destroy(&c->workers[i].go);
	}
	if (c->mem_bytes && c->mem)
		sp__pages_free(c->mem, c->mem_bytes);
	pthread_mutex_destroy(&c->lock);
	free(c->workers);
}

/* Runs the workers; each: the memory of one. */
static int run(struct sp__workers *c, uint64_t each)
{
	struct sp__result *out = c->stage->h->out;
	int rc;

	pthread_mutex_init(&c->lock, NULL);
	c->spills = spills(c->stage);
	c->workers = calloc(c->n, sizeof(*c->workers));
	for (unsigned i = 0; c->workers && i < c->n; i++)
		pthread_cond_init(&c->workers[i].go, NULL);
	if (!c->workers || !c->mem) {
		workers_close(c);
		return sp__join_no_memory(c->stage->h->env);
	}
	lay_out(c, each);
	rc = sp__result_begin_ordered(out, &c->ordered, c->mem, c->buffer_bytes, 2 * c->n,
				      c->parts);
	if (!rc) {
		sp__tasks_run(c->n, work, c->workers, sizeof(*c->workers));
		for (unsigned i = 0; i < c->n; i++)
			sp__log_parts_join(&c->workers[i].logged);
		add_counts(c);
		rc = sp__result_end_ordered(out, &c->ordered);
	}
	sp__inorder_close(&c->ordered);
	rc = rc < 0 ? rc : c->error;
	workers_close(c);
	return rc;
}

int sp__workers_probe(struct sp__stage *s, struct sp__iter *input, const struct sp_batch *first)
{
	struct sp__hash *h = s->h;
	struct sp__workers c = { .stage = s, .input = input, .rest = *first };
	uint64_t each;

	c.n = sp__join_copiers(h->opts, h->workers_bytes);
	each = sp__min(h->workers_bytes / c.n, EACH_MAX) & ~UINT64_C(511);
	c.buffer_bytes = (size_t)(each / 4);
	c.mem = h->write_mem + h->layout.write_bytes - h->workers_bytes;
	return run(&c, each);
}

/* Files. */

/* Memory of the table that stays unused while its records are probed. */
static uint64_t unused(const struct sp__table *t)
{
	uint64_t used = (uint64_t)sp__max(t->touched, t->used) * t->page_bytes + t->giant_bytes +
			t->slots_bytes;

	return t->limit_bytes - sp__min(used, t->limit_bytes);
}

int sp__workers_parts(const struct sp__stage *s, int role, uint64_t part_bytes,
		      struct sp__parts **parts)
{
	const struct sp__hash *h = s->h;
	const struct sp__source *src = &h->in->source[s->side[role]];
	struct sp__scan_opts o;

	if (s->depth || spills(s) || h->tag[s->side[role]] || !src->scan || src->ahead ||
	    src->format.kind == SP_REC_CSV)
		return SP_EUNSUP;
	sp__source_scan_opts(src, &o);
	o.header_records = h->opts->header;
	return sp__parts_open(parts, &o, part_bytes);
}

int sp__workers_end_parts(struct sp__stage *s, int role, struct sp__parts *parts, int rc)
{
	struct sp__join_inputs *in = s->h->in;
	struct sp__source *src = &in->source[s->side[role]];
	struct sp__io_counters io;

	if (!rc)
		rc = sp__parts_end(parts);
	if (!rc)
		rc = sp__balance_bytes(in, "parts", sp__parts_owed(parts), s->bytes[role]);
	sp__parts_counters(parts, &io);
	sp__env_note_io(&in->counts->stats.run, &io);
	if (rc != SP_EUNSUP) {
		src->bytes = src->done.sum + s->bytes[role];
		src->at = src->end;
	}
	sp__parts_close(parts);
	return rc;
}

int sp__workers_probe_parts(struct sp__stage *s)
{
	struct sp__hash *h = s->h;
	struct sp__workers c = { .stage = s, .n = sp__join_probers(h->opts, unused(&h->table)) };
	int rc;

	if (c.n < 2)
		return SP_EUNSUP;
	rc = sp__workers_parts(s, SP__PROBE, PART_BYTES, &c.parts);
	if (rc < 0)
		return rc;
	c.buffer_bytes = SP__JOIN_RESULT_BYTES;
	c.mem_bytes = (uint64_t)SP__JOIN_PROBER_BYTES * c.n;
	c.mem = sp__pages_alloc(c.mem_bytes, true);
	return sp__workers_end_parts(s, SP__PROBE, c.parts, run(&c, SP__JOIN_PROBER_BYTES));
}
