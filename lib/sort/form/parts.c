/* SPDX-License-Identifier: MIT */
/*
 * Forms runs by several threads.
 *
 * Algorithm: each worker takes a part of the input, or a block of a pipe, fills a slot with its
 * records, sorts it, and takes the next part.  A part has about as many bytes as fill a slot;
 * measured slots set the length of later parts.  If equal records can differ, a slot continues into
 * the next part only if the same worker has taken it, so its records are consecutive in the input;
 * its age is where they begin.  A worker without an empty slot stores the oldest sorted one as a
 * run, in a store of its own.  So nothing is stored before memory is short, and reading, sorting
 * and storing overlap in different workers.
 *
 * At the end the workers store more slots until the final merge has memory for its pages.  The
 * stores become one, and runs get the order of their ages.  If the order of equal records matters,
 * slots that are older than a stored one are stored, too: a merge takes runs before slots.
 *
 * States of slots change under the lock; only a worker that has set FILLING or STORING touches the
 * slot until it sets the next state (forming.h).
 */
#include <pthread.h>
#include <stdlib.h>
#include "base/err.h"
#include "sort/form/parts.h"
#include "sort/plan/plan.h"

/* An age is the number of a part, and that of the slot among those that begin in it. */
#define AGE_SHIFT 24
#define MIN_INPUT_BYTES (UINT64_C(1) << 20)
#define FEW_WORKERS 2 /* leave slots unused, which full ones can be extended by */
/* Descriptors of a worker: its input, twice if it is read directly, its run file, and queues. */
#define DESCRIPTORS 6
#define DESCRIPTORS_LEFT 24
/* Slots that stay free if records have their expected length. */
#define SLOTS_LEFT 2
/* Of the slot's length, that parts have: longer records than expected still fit. */
#define FILLED 0.95

struct filling;

struct worker {
	struct filling *all;
	struct sp__spilled spilled; /* the runs that it stores */
	struct sp__part part;
	struct sp__block *block; /* instead of the part */
	uint64_t number;	 /* number of the part or block */
	struct sp__slot *slot;	 /* being filled; or NULL */
	uint64_t slot_bytes;	 /* bytes that the slot has taken from the input */
	uint64_t last;		 /* number of its last part or block */
	uint64_t begun;		 /* slots that begin in its part */
	uint64_t records, bytes, runs;
	uint64_t source_bytes; /* from which those bytes have been encoded */
	bool stored;
	uint64_t youngest; /* age of the youngest slot stored */
	struct sp_errinfo err;
	int rc;
};

struct filling {
	struct sp__forming *forming;
	const struct sp__form_source *from;
	struct sp__blocks *blocks; /* blocks of a source without parts */
	struct worker *workers;
	unsigned n;
	char *chunks;		      /* memory of the workers' streams, or of blocks */
	struct sp__chunks_plan chunk; /* chunks of each worker */
	bool stable;		      /* the order of equal records matters */
	pthread_mutex_t lock;	      /* protects states of slots, and: */
	pthread_cond_t changed;
	bool failed;
	bool giant;	 /* a record larger than a slot is in memory */
	uint64_t stored; /* slots */
};

/* Slots. */

/* Returns the slots that are not parts of others. */
static unsigned count_slots(const struct sp__forming *forming)
{
	unsigned n = 0;

	for (unsigned i = 0; i < forming->nslots; i++)
		n += forming->slots[i].state != SP__SLOT_ANNEXED &&
		     forming->slots[i].state != SP__SLOT_GONE;
	return n;
}

static struct sp__slot *empty_slot(struct filling *f)
{
	sp__slots_divide(f->forming);
	return sp__slot_oldest(f->forming, SP__SLOT_EMPTY);
}

/* Called with the lock, which it releases meanwhile: stores a slot of the worker and empties it. */
static int store(struct worker *w, struct sp__slot *slot)
{
	struct filling *f = w->all;
	int rc;

	slot->state = SP__SLOT_STORING;
	pthread_mutex_unlock(&f->lock);
	rc = sp__form_write(f->forming, &w->spilled, slot);
	pthread_mutex_lock(&f->lock);
	w->youngest = w->stored ? sp__max(w->youngest, slot->age) : slot->age;
	w->stored = true;
	f->stored++;
	f->giant &= !slot->giant;
	sp__slot_empty(f->forming, slot);
	pthread_cond_broadcast(&f->changed);
	return rc;
}

/* Takes an empty slot, or empties one, to be filled from the worker's part. */
static int take_slot(struct worker *w)
{
	struct filling *f = w->all;
	struct sp__slot *slot = NULL, *full;
	int rc = 0;

	pthread_mutex_lock(&f->lock);
	if (!sp__slot_oldest(f->forming, SP__SLOT_EMPTY))
		sp__part_rest(&w->part);
	while (!rc && !f->failed && !(slot = empty_slot(f))) {
		full = sp__slot_oldest(f->forming, SP__SLOT_SORTED);
		if (full)
			rc = store(w, full);
		else
			pthread_cond_wait(&f->changed, &f->lock);
	}
	if (slot)
		sp__slot_begin(f->forming, slot, w->number << AGE_SHIFT | w->begun++);
	pthread_mutex_unlock(&f->lock);
	w->slot = slot;
	w->slot_bytes = 0;
	return rc < 0 ? rc : slot ? 0 : -ECANCELED;
}

/* Sorts the worker's slot and gives it away.  A giant record is stored immediately. */
static int end_slot(struct worker *w)
{
	struct filling *f = w->all;
	struct sp__slot *slot = w->slot;
	int rc = 0;

	w->slot = NULL;
	sp__part_rest(&w->part);
	sp__form_sort_slot(f->forming, slot);
	w->runs++;
	pthread_mutex_lock(&f->lock);
	/* A single long record says nothing about the others. */
	f->forming->distinct |= !slot->giant && !sp__runbuf_collapses(&slot->buf);
	if (slot->giant)
		rc = store(w, slot);
	else
		slot->state = SP__SLOT_SORTED;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

/*
 * Extends a full slot whose keys are collapsed.  Each of many workers keeps to its own slots, since
 * the others need theirs.  A worker with a block must always get a slot, without waiting for those
 * that wait for later blocks.
 */
static bool extend(struct worker *w)
{
	struct filling *f = w->all;
	bool extended;

	if (f->n > FEW_WORKERS)
		return false;
	pthread_mutex_lock(&f->lock);
	extended = (!f->blocks || count_slots(f->forming) > f->n) &&
		   sp__slot_annex(f->forming, w->slot);
	pthread_mutex_unlock(&f->lock);
	return extended;
}

/* Gives the empty slot memory for a record that is larger; there is one such record at a time. */
static int make_giant(struct worker *w, const char *data, size_t bytes)
{
	struct filling *f = w->all;
	bool failed;

	sp__part_rest(&w->part);
	pthread_mutex_lock(&f->lock);
	while (f->giant && !f->failed)
		pthread_cond_wait(&f->changed, &f->lock);
	failed = f->failed;
	f->giant |= !failed;
	pthread_mutex_unlock(&f->lock);
	return failed ? -ECANCELED : sp__slot_make_giant(f->forming, w->slot, data, bytes, &w->err);
}

/* Adds records of a batch to the worker's slot; *took: their bytes. */
static int add(struct worker *w, const char *data, size_t bytes, size_t *took)
{
	struct sp__runbuf *rb = &w->slot->buf;
	uint64_t before = rb->added.records;
	int rc = sp__runbuf_add(rb, data, bytes, took);

	w->records += rb->added.records - before;
	w->bytes += *took;
	w->slot_bytes += *took;
	return rc < 0 && rc != SP_EFORMAT ? sp__err(&w->err, rc, "allocate", NULL, -1) : rc;
}

/* Sets the length of parts by that of a slot that is full, or not yet. */
static void note_length(struct worker *w, bool full)
{
	struct filling *f = w->all;
	const struct sp__runbuf *rb = &w->slot->buf;
	double used = (double)rb->used + (double)rb->n * SP__ENTRY_COST, bytes;

	if (f->blocks || (f->from->encode && !f->stable) || f->forming->sort->plan.in_memory ||
	    used < 1)
		return;
	bytes = (double)w->slot_bytes * (full ? 1 : (double)w->slot->bytes / used) * FILLED;
	if (f->from->encode)
		bytes *= (double)w->source_bytes / (double)w->bytes;
	bytes = sp__min(bytes, (double)(f->from->input_bytes / f->n));
	sp__parts_resize(f->from->parts, (uint64_t)bytes, f->n);
}

/*
 * Puts records, and removes them from the batch.  Returns 0, SP_EFORMAT if the next record has no
 * key, or another error, recorded.
 */
static int put(struct worker *w, struct sp_batch *batch)
{
	size_t took;
	int rc = 0;

	while (!rc && batch->bytes) {
		took = 0;
		rc = w->slot ? 0 : take_slot(w);
		if (!rc)
			rc = add(w, batch->data, batch->bytes, &took);
		*batch = (struct sp_batch){ batch->data + took, batch->bytes - took };
		if (rc || (!batch->bytes && !w->slot->giant))
			break;
		if (!w->slot->buf.n) {
			rc = make_giant(w, batch->data, batch->bytes);
		} else if (!extend(w)) {
			if (!w->slot->giant)
				note_length(w, true);
			rc = end_slot(w);
		}
	}
	return rc;
}

static int put_encoded(struct worker *w, struct sp_batch *batch)
{
	const struct sp__form_source *from = w->all->from;
	const unsigned number = (unsigned)(w - w->all->workers);
	struct sp_batch records;
	int rc = 0;

	w->source_bytes += batch->bytes;
	while (!rc && batch->bytes) {
		rc = from->encode(from->arg, number, &w->part, batch, &records);
		if (rc && rc != -ENOMEM)
			return sp__part_doubt(&w->part, rc);
		if (!rc)
			rc = put(w, &records);
	}
	return rc;
}

/* Workers. */

/* Takes the next part or block.  Returns SP_READY, SP_END or an error. */
static int take(struct worker *w)
{
	struct filling *f = w->all;
	int rc;

	if (f->blocks) {
		if (w->block)
			sp__blocks_give_back(f->blocks, w->block);
		w->block = NULL;
		rc = sp__blocks_take(f->blocks, &w->block);
		/* Slots filled before have the lowest ages. */
		w->number = w->block ? w->block->number + 1 : UINT64_MAX;
		return rc;
	}
	rc = sp__parts_next(f->from->parts, &w->part);
	w->number = w->part.number;
	return rc;
}

static int fill_from_part(struct worker *w)
{
	struct sp_batch batch;
	int rc = 0;

	if (w->slot && w->all->stable && w->number != w->last + 1)
		rc = end_slot(w);
	while (!rc && (rc = sp__part_read(&w->part, &batch)) == SP_READY) {
		rc = w->all->from->encode ? put_encoded(w, &batch) : put(w, &batch);
		if (rc == SP_EFORMAT && !w->all->from->encode)
			rc = sp__part_refuse(&w->part, &batch);
	}
	if (rc >= 0 && w->slot)
		note_length(w, false);
	return rc;
}

/* Fills slots from the worker's part or block. */
static int fill(struct worker *w)
{
	struct filling *f = w->all;
	struct sp_batch records;
	int rc;

	w->begun = 0;
	if (w->block)
		records = w->block->batch;
	rc = w->block ? put(w, &records) : fill_from_part(w);
	w->last = w->number;
	if (rc >= 0 && w == f->workers && f->from->tell)
		f->from->tell(f->from->arg, f->blocks ? sp__blocks_bytes(f->blocks)
						      : sp__parts_bytes(f->from->parts));
	return rc;
}

/* True if each thread of the final merge has memory for pages of all runs. */
static bool has_pages(const struct filling *f)
{
	const struct sp__sort_shared *s = f->forming->sort;
	uint64_t each = SP__PAGES_KEPT * (uint64_t)s->threads;

	return sp__free_region(f->forming, true).bytes >= f->stored * each * s->plan.page_bytes;
}

/* Stores sorted slots if there are runs, until there is memory for their pages. */
static int store_for_pages(struct worker *w)
{
	struct filling *f = w->all;
	struct sp__slot *full;
	int rc = 0;

	pthread_mutex_lock(&f->lock);
	while (!rc && f->stored && !f->failed && !has_pages(f) &&
	       (full = sp__slot_oldest(f->forming, SP__SLOT_SORTED)))
		rc = store(w, full);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

/* Gives back what the worker reads; if it has failed, no other gets more. */
static void end_reading(struct worker *w)
{
	struct filling *f = w->all;

	if (w->block)
		sp__blocks_give_back(f->blocks, w->block);
	if (f->from->parts)
		sp__part_close(f->from->parts, &w->part);
	if (w->rc < 0 && f->from->parts)
		sp__parts_stop(f->from->parts);
	else if (w->rc < 0)
		sp__blocks_stop(f->blocks);
}

/* Body of a task. */
static void work(void *arg)
{
	struct worker *w = arg;
	struct filling *f = w->all;
	int rc;

	while ((rc = take(w)) == SP_READY)
		if ((rc = fill(w)) < 0)
			break;
	if (!rc && w->slot)
		rc = end_slot(w);
	if (!rc)
		rc = store_for_pages(w);
	if (!rc)
		rc = sp__runs_end(&w->spilled);
	w->rc = rc;
	if (rc < 0 && w->part.err.code)
		w->err = w->part.err;
	/* The error of the scan is in that of the sort. */
	if (rc < 0 && rc != -ECANCELED && f->blocks && !w->err.code)
		w->err = *f->forming->sort->env.err;
	if (rc < 0) {
		pthread_mutex_lock(&f->lock);
		f->failed = true;
		pthread_cond_broadcast(&f->changed);
		pthread_mutex_unlock(&f->lock);
	}
	end_reading(w);
}

/* Runs all workers.  Returns the error of the first part that has one. */
static int run_workers(struct filling *f)
{
	const struct worker *bad = NULL;

	sp__tasks_run(f->n, work, f->workers, sizeof(*f->workers));
	for (unsigned i = 0; i < f->n; i++) {
		const struct worker *w = &f->workers[i];

		if (w->rc < 0 && w->rc != -ECANCELED && (!bad || w->number < bad->number))
			bad = w;
	}
	if (bad)
		*f->forming->sort->env.err = bad->err;
	return bad ? bad->rc : 0;
}

/* Stores the slots that are older than a stored one, if the order of equal records matters. */
static int store_older(struct filling *f)
{
	struct sp__slot *slot;
	uint64_t youngest = 0;
	int rc = 0;

	for (unsigned i = 0; i < f->n; i++)
		youngest = sp__max(youngest, f->workers[i].youngest);
	if (!f->stable)
		return 0;
	while (!rc && (slot = sp__slot_oldest(f->forming, SP__SLOT_SORTED)) &&
	       slot->age < youngest) {
		rc = sp__form_write(f->forming, &f->workers[0].spilled, slot);
		sp__slot_empty(f->forming, slot);
	}
	if (!rc)
		rc = sp__runs_end(&f->workers[0].spilled);
	if (rc < 0)
		*f->forming->sort->env.err = f->workers[0].err;
	return rc;
}

/* Slots that are filled later are younger than all of the workers: no two have the same age. */
static void set_next_age(const struct filling *f)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < f->n; i++)
		last = sp__max(last, f->workers[i].last);
	f->forming->next_age = (last + 1) << AGE_SHIFT;
}

/* Adds up what the workers have done. */
static int gather(struct filling *f)
{
	struct sp__sort_shared *s = f->forming->sort;
	struct sp__spilled *spilled = f->forming->spilled;
	int rc = 0;

	for (unsigned i = 0; !rc && i < f->n; i++) {
		struct worker *w = &f->workers[i];

		s->stats.records += w->records;
		s->stats.input_bytes += w->bytes;
		s->stats.runs += w->runs;
		rc = sp__runs_take_over(spilled, &w->spilled);
	}
	return rc ? rc : sp__runs_arrange(spilled);
}

static int open_workers(struct filling *f)
{
	const size_t each = f->chunk.n * f->chunk.bytes;

	f->workers = calloc(f->n, sizeof(*f->workers));
	f->chunks = sp__pages_alloc(f->n * each, true);
	if (!f->workers || !f->chunks)
		return sp__err(f->forming->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; i < f->n; i++) {
		struct worker *w = &f->workers[i];

		w->all = f;
		w->err = (struct sp_errinfo)SP_ERRINFO_INIT;
		w->part.memory = f->from->parts ? f->chunks + i * each : NULL;
		sp__runs_beside(&w->spilled, f->forming->spilled, i, f->n, &w->err);
	}
	return 0;
}

static void close_workers(struct filling *f)
{
	for (unsigned i = 0; f->workers && i < f->n && f->workers[i].all; i++)
		sp__runs_close(&f->workers[i].spilled);
	free(f->workers);
	sp__pages_free(f->chunks, f->n * f->chunk.n * f->chunk.bytes);
}

/* Returns the number of workers: limited by memory, slots, parts and descriptors. */
static unsigned workers_for(const struct sp__forming *forming, uint64_t input_bytes)
{
	const struct sp_sort_plan *plan = &forming->sort->plan;
	uint64_t n = sp__min(plan->threads, count_slots(forming));
	unsigned all, free_fds;

	if (input_bytes)
		n = sp__min(n, input_bytes / sp__form_part_bytes(forming, input_bytes) + 1);
	all = (unsigned)n * DESCRIPTORS + DESCRIPTORS_LEFT;
	free_fds = sp__fds_free(all);
	n = sp__min(n, (free_fds - sp__min(free_fds, DESCRIPTORS_LEFT)) / DESCRIPTORS);
	return (unsigned)sp__max(n, 1);
}

uint64_t sp__form_part_bytes(const struct sp__forming *forming, uint64_t input_bytes)
{
	const struct sp_sort_opts *o = &forming->sort->opts;
	const struct sp_sort_plan *plan = &forming->sort->plan;
	uint64_t slots = forming->nslots - sp__min(SLOTS_LEFT, forming->nslots - 1);
	double bytes = (double)plan->run_bytes * FILLED / sp__plan_record_weight(o);

	if (plan->in_memory)
		return sp__max(input_bytes / slots + 1, SP__PART_MIN_BYTES);
	return sp__max((uint64_t)bytes, SP__PART_MIN_BYTES);
}

struct sp__chunks_plan sp__form_part_chunks(const struct sp__forming *forming)
{
	return sp__plan_part_chunks(&forming->sort->opts, forming->sort->plan.memory_bytes);
}

bool sp__form_by_parts(const struct sp__forming *forming)
{
	const uint64_t bytes = forming->sort->plan.input_bytes;

	return !forming->replacing && (!bytes || bytes >= MIN_INPUT_BYTES) &&
	       workers_for(forming, bytes) > 1;
}

bool sp__form_by_blocks(struct sp__forming *forming)
{
	/* Until its tasks have ended, they own the states of slots. */
	return !forming->replacing && !sp__runs_stable(forming->spilled) &&
	       sp__form_join(forming) >= 0 && !forming->spilled->store &&
	       sp__form_by_parts(forming);
}

/* The slot that was being filled goes to the first worker, the others are empty or sorted. */
static void take_up(struct filling *f)
{
	struct sp__slot *slot = &f->forming->slots[f->forming->filling];

	if (slot->state != SP__SLOT_FILLING)
		return;
	if (slot->buf.n) {
		slot->age = f->forming->next_age++;
		f->workers[0].slot = slot;
	} else {
		slot->state = SP__SLOT_EMPTY;
	}
}

static int open_source(struct filling *f)
{
	/* If nothing was known of the length, the memory was mapped for a short input. */
	if (!f->from->parts || f->from->encode)
		sp__pages_huge(f->forming->arena, f->forming->arena_bytes);
	if (f->from->parts)
		return 0;
	return sp__blocks_open(&f->blocks, &f->forming->sort->opts.format, &f->from->scan,
			       f->from->waits, f->chunks, f->n * f->chunk.n, f->chunk.bytes);
}

int sp__form_parts(struct sp__forming *forming, const struct sp__form_source *source)
{
	struct filling f = { .forming = forming,
			     .from = source,
			     .n = workers_for(forming, source->input_bytes),
			     .chunk = sp__form_part_chunks(forming),
			     .stable = sp__runs_stable(forming->spilled) };
	int rc;

	sp__form_stop(forming);
	pthread_mutex_init(&f.lock, NULL);
	pthread_cond_init(&f.changed, NULL);
	rc = open_workers(&f);
	if (!rc)
		rc = open_source(&f);
	if (!rc) {
		take_up(&f);
		rc = run_workers(&f);
	}
	sp__blocks_close(f.blocks);
	if (!rc)
		rc = store_older(&f);
	if (!rc)
		rc = gather(&f);
	set_next_age(&f);
	close_workers(&f);
	pthread_cond_destroy(&f.changed);
	pthread_mutex_destroy(&f.lock);
	return rc;
}
