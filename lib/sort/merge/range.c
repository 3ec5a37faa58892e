/* SPDX-License-Identifier: MIT */
/*
 * Merges one range and writes it at its own offset of the file.
 *
 * The inputs are spans of the runs, read by a reader of the writer's own, and parts of the slots in
 * memory.  With checkpoints, its stream ends at each mark, and another one continues.  Without
 * them, the stream stays open: its end is written when all other ranges are written (ranges.c).
 */
#include <unistd.h>
#include "base/err.h"
#include "sort/merge/writing.h"

/* Bytes between two checks of whether another writer has failed. */
#define STRIDE_BYTES (64u << 10)

int sp__range_open_stream(struct sp__range_writer *k, unsigned i, uint64_t at)
{
	struct sp__writing *w = k->all;
	struct sp__range_file *f = &w->files[i];
	struct sp__wstream_opts o = w->out->writing;

	f->writer = k;
	o.chunk_bytes = sp__divide_chunk(&o, w->nwriters);
	o.expected_bytes = w->resume ? w->marked_bytes : w->ranges->list[i].end - at;
	o.piece = w->ranges->n > 1;
	o.digest = k->digest;
	if (lseek(f->fd, (off_t)at, SEEK_SET) < 0)
		return sp__err(&k->err, -errno, "write", w->out->name, -1);
	return sp__wstream_open(&f->stream, f->fd, w->out->name, &o, &k->err);
}

void sp__range_close_stream(struct sp__writing *w, struct sp__range_file *f)
{
	struct sp__io_counters c;

	if (!f->stream)
		return;
	sp__wstream_counters(f->stream, &c);
	pthread_mutex_lock(&w->lock);
	sp__io_add(w->out->io, &c);
	pthread_mutex_unlock(&w->lock);
	sp__wstream_close(f->stream);
	f->stream = NULL;
}

static void empty_store(void *store)
{
	sp__spill_empty(store);
}

/*
 * Freeing the temporary space takes a twentieth of a short sort.  The writer that has read the last
 * page starts it, while all writers merge records in memory.
 */
static void note_reading(struct sp__range_writer *k)
{
	struct sp__writing *w = k->all;

	if (!k->reading || !sp__pool_has_all(k->in.pool))
		return;
	k->reading = false;
	if (atomic_fetch_sub(&w->unread, 1) == 1)
		sp__task_start(&w->emptying, empty_store, w->merging->spilled->store);
}

/* Reports bytes that have been put.  Returns -ECANCELED if another writer has failed. */
static int look_round(struct sp__range_writer *k, uint64_t bytes)
{
	struct sp__writing *w = k->all;
	uint64_t done = atomic_fetch_add(&w->done_bytes, bytes) + bytes;

	if (atomic_load_explicit(&w->failed, memory_order_relaxed))
		return -ECANCELED;
	note_reading(k);
	if (!k->number)
		w->out->tell(w->out->arg, done);
	return 0;
}

static int put(struct sp__range_writer *k, unsigned i, uint64_t *at)
{
	const struct sp__sequence *q = &k->sequence;

	*at += q->bytes;
	return sp__wstream_put_near(k->all->files[i].stream, q->rec, q->bytes, q->reach);
}

/*
 * Makes a mark at the record that the sequence has returned.  The rest of a range starts with the
 * merge's current record.  Without --count that is the record returned, so the mark precedes it.
 * With --count a group is returned when the merge has passed it, so the mark follows it.
 */
static int mark_and_put(struct sp__range_writer *k, unsigned i, uint64_t *at)
{
	const struct sp__sequence *q = &k->sequence;
	struct sp__tally given = q->balance->given, last = { 0 };
	int rc = 0;

	if (q->sort->opts.count) {
		rc = put(k, i, at);
	} else {
		sp__tally_add(&last, q->rec, q->bytes);
		given = sp__tally_since(given, &last);
	}
	if (!rc)
		rc = sp__marks_set(k, i, *at, &given);
	if (!rc)
		rc = sp__range_open_stream(k, i, *at);
	return rc < 0 || q->sort->opts.count ? rc : put(k, i, at);
}

/* Writes all records of a range, until another writer fails. */
static int put_range(struct sp__range_writer *k, unsigned i)
{
	struct sp__writing *w = k->all;
	struct sp__range *r = &w->ranges->list[i];
	uint64_t at = r->at, looked = at;
	int rc;

	while ((rc = sp__sequence_next(&k->sequence, true)) == SP_READY) {
		rc = w->resume && at - r->at >= w->marked_bytes ? mark_and_put(k, i, &at)
								: put(k, i, &at);
		if (!rc && at - looked >= STRIDE_BYTES) {
			rc = look_round(k, at - looked);
			looked = at;
		}
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return sp__err(&k->err, rc, "merge", NULL, -1);
	if (w->resume)
		return sp__marks_set(k, i, at, &k->sequence.balance->given);
	r->at = at;
	return 0;
}

static int open_sequence(struct sp__range_writer *k, unsigned i)
{
	struct sp__writing *w = k->all;
	struct sp__spilled *spilled = w->merging->spilled;
	struct sp__range *r = &w->ranges->list[i];
	const unsigned runs = w->ranges->runs;
	struct sp__cursor *cursors;
	int rc = sp__sequence_open(&k->sequence, w->merging->sort, runs + w->cuts.nbufs,
				   &k->balance, &k->err);

	if (rc < 0)
		return rc;
	cursors = k->sequence.merge.cursors;
	for (unsigned j = 0; j < w->cuts.nbufs; j++)
		sp__cursor_part(&cursors[runs + j], w->cuts.bufs[j],
				sp__cuts_at(&w->cuts, i, runs + j),
				sp__cuts_at(&w->cuts, i + 1, runs + j));
	if (w->resume) {
		k->sequence.offsets = &k->offsets;
		k->offsets.last = 0;
		k->offsets.bytes = 0;
		for (unsigned j = 0; j < runs; j++)
			k->offsets.at[j] = r->spans[j].from;
	}
	k->reading = runs && !w->resume;
	if (!runs)
		return 0;
	return sp__step_open(spilled, k->reader, &k->in, spilled->ids, r->spans, runs, k->where,
			     cursors);
}

int sp__range_write(struct sp__range_writer *k, unsigned i)
{
	struct sp__writing *w = k->all;
	int rc = sp__range_open_stream(k, i, w->ranges->list[i].at);

	k->balance = w->files[i].balance;
	if (!rc)
		rc = open_sequence(k, i);
	if (!rc)
		rc = put_range(k, i);
	w->files[i].balance = k->balance;
	sp__step_close(w->merging->spilled, &k->in);
	sp__sequence_close(&k->sequence);
	k->sequence = (struct sp__sequence){ 0 };
	return rc;
}
