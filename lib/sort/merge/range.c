/* SPDX-License-Identifier: MIT */
/*
 * Merges ranges of the final merge, one after the other, in one worker.
 *
 * The inputs of a range are spans of the runs, read by a reader of the worker's own, and parts of
 * the slots in memory.  The worker that takes a range finds the cut after it.  The cut before it is
 * found by the worker that has taken the range before.
 *
 * Sorted files (-m): a file might not be sorted.  The merge notices that, since it compares each
 * record with the one before.  The cuts around a range are right even then: the record before a cut
 * precedes the key, the one after it does not.  So the ranges before it have the bytes of a merge
 * in one range, and ranges.c merges everything from there on in this way.
 */
#include <stdlib.h>
#include <string.h>
#include "base/delay.h"
#include "base/err.h"
#include "sort/merge/writing.h"

/* Bytes between two checks of whether the range is still wanted. */
#define STRIDE_BYTES (64u << 10)
#define VERIFY_BYTES ((size_t)64 << 10)

static void empty_files(void *emptying)
{
	const struct sp__emptying *e = emptying;

	sp__spill_empty(e->store, e->from, SP__EMPTYING);
}

/*
 * Freeing the temporary space takes a twentieth of a short sort.  The worker that has read the last
 * page starts it, while all workers merge records in memory.
 */
static void start_emptying(struct sp__writing *w)
{
	const struct sp__spill *store = w->merging->spilled->store;

	for (size_t i = 0; i < SP__EMPTYING && i < store->nfiles; i++) {
		w->emptying[i].store = store;
		w->emptying[i].from = i;
		sp__task_start(&w->emptying[i].task, empty_files, &w->emptying[i]);
	}
}

static void note_reading(struct sp__range_worker *k)
{
	struct sp__writing *w = k->all;

	if (!k->reading || !sp__pool_has_all(k->in.pool))
		return;
	k->reading = false;
	if (atomic_fetch_sub(&w->unread, 1) == 1)
		start_emptying(w);
}

/* What is written to a pipe cannot be corrected, so files must be known to be sorted. */
static bool must_verify(const struct sp__range_worker *k)
{
	return k->all->cuts.nfiles && k->all->out->put && !k->all->resting && !k->verified;
}

/* Reports bytes that have been put.  Returns -ECANCELED if the range is not wanted any more. */
static int look_round(struct sp__range_worker *k, uint64_t bytes)
{
	struct sp__writing *w = k->all;
	uint64_t done = atomic_fetch_add(&w->done_bytes, bytes) + bytes;

	note_reading(k);
	if (!k->number && w->out->tell)
		w->out->tell(w->out->arg, done);
	if (must_verify(k))
		return sp__inorder_stopped(&k->maker) ? -ECANCELED : 0;
	return sp__inorder_look(&k->maker);
}

/* Returns 0, SP__DISORDERED if a file's part of the range is not sorted, or an error. */
static int verify_file(struct sp__range_worker *k, unsigned j)
{
	struct sp__sort_shared *s = k->all->merging->sort;
	struct sp__file_span span = k->files[j];
	struct sp__merge m;
	int rc = sp__merge_init(&m, s->opts.keys, 1, &s->env.budget, &k->err);

	if (rc < 0)
		return rc;
	span.at = k->from[j];
	span.bytes = VERIFY_BYTES;
	span.mem = malloc(VERIFY_BYTES);
	rc = span.mem ? SP_READY : sp__err(&k->err, -ENOMEM, "allocate", NULL, -1);
	sp__file_cursor(&m.cursors[0], &span, 0, NULL);
	while (rc == SP_READY && m.coded)
		rc = sp__merge_next(&m, true);
	if (rc >= 0)
		rc = m.coded ? 0 : SP__DISORDERED;
	free(span.mem);
	sp__merge_release(&m);
	return rc;
}

/* Called before bytes of a range are written that has not ended. */
static int verify(struct sp__range_worker *k)
{
	int rc = 0;

	for (unsigned j = 0; !rc && must_verify(k) && j < k->all->cuts.nfiles; j++)
		rc = verify_file(k, j);
	k->verified = true;
	return rc;
}

/* Puts all records of a range.  Returns SP_END, or an error. */
static int put_range(struct sp__range_worker *k)
{
	const struct sp__sequence *q = &k->sequence;
	uint64_t bytes = 0;
	int rc;

	while ((rc = sp__sequence_next(&k->sequence, true)) == SP_READY) {
		if (q->bytes > sp__inorder_space(&k->maker) && !k->verified) {
			rc = verify(k);
			if (rc)
				return rc;
		}
		rc = sp__inorder_put(&k->maker, q->rec, q->bytes, q->reach);
		bytes += q->bytes;
		if (!rc && bytes >= STRIDE_BYTES) {
			rc = look_round(k, bytes);
			bytes = 0;
		}
		if (rc)
			return rc;
	}
	return rc < 0 ? sp__err(&k->err, rc, "merge", NULL, -1) : rc;
}

/* Gives the range after this one its positions.  NULL: they will not be known. */
static void hand_over(struct sp__writing *w, uint64_t range, uint64_t *at)
{
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&w->lock);
	w->found[range] = at;
	w->given_up |= !at;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

/* Finds the end of range i.  The next range gets a copy. */
static int find_end(struct sp__range_worker *k, uint64_t i)
{
	struct sp__writing *w = k->all;
	const size_t bytes = sp__cuts_inputs(&w->cuts) * sizeof(*k->to);
	int rc = sp__cuts_find(&w->cuts, (unsigned)i + 1, k->reader, k->where, k->to, &k->err);
	uint64_t *copy = NULL;

	if (i + 1 == w->nranges)
		return rc;
	if (!rc) {
		copy = malloc(bytes + 1);
		rc = copy ? 0 : sp__err(&k->err, -ENOMEM, "allocate", NULL, -1);
	}
	if (!rc)
		memcpy(copy, k->to, bytes);
	hand_over(w, i + 1, copy);
	return rc;
}

/* Waits for the start of range i, which the caller frees.  NULL: a worker has failed. */
static uint64_t *await_start(struct sp__writing *w, uint64_t i)
{
	uint64_t *at;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&w->lock);
	while (!w->found[i] && !w->given_up)
		pthread_cond_wait(&w->changed, &w->lock);
	at = w->found[i];
	w->found[i] = NULL;
	pthread_mutex_unlock(&w->lock);
	return at;
}

static int open_sequence(struct sp__range_worker *k)
{
	struct sp__writing *w = k->all;
	struct sp__spilled *spilled = w->merging->spilled;
	const unsigned runs = w->merging->runs_left;
	int rc = sp__sequence_open(&k->sequence, w->merging->sort,
				   runs + w->cuts.nbufs + w->cuts.nfiles, &k->balance, &k->err);

	if (rc < 0 || !runs)
		return rc;
	return sp__step_open(spilled, k->reader, &k->in, spilled->ids, k->spans, runs, k->where,
			     k->sequence.merge.cursors);
}

/* Opens the files between two cuts.  In one that is not sorted, these can be in wrong order. */
static int open_files(struct sp__range_worker *k)
{
	const struct sp__cuts *c = &k->all->cuts;
	const size_t each = c->nfiles ? k->where.bytes / c->nfiles & ~(size_t)4095 : 0;

	for (unsigned j = 0; j < c->nfiles; j++) {
		if (k->from[j] > k->to[j])
			return SP__DISORDERED;
		k->files[j] = (struct sp__file_span){ .file = &c->files[j],
						      .at = k->from[j],
						      .to = k->to[j],
						      .mem = k->where.mem + j * each,
						      .bytes = each,
						      .err = &k->err,
						      .io = &k->io };
		sp__file_cursor(&k->sequence.merge.cursors[j], k->files, j, &k->read);
	}
	return 0;
}

/* Opens the inputs between two cuts. */
static int open_between(struct sp__range_worker *k)
{
	struct sp__writing *w = k->all;
	const struct sp__cuts *c = &w->cuts;
	int rc;

	for (unsigned j = 0; j < c->n; j++)
		k->spans[j] = (struct sp__run_span){ k->from[j], k->to[j] };
	rc = open_sequence(k);
	for (unsigned j = c->n; !rc && j < c->n + c->nbufs; j++)
		sp__cursor_part(&k->sequence.merge.cursors[j], c->bufs[j - c->n], k->from[j],
				k->to[j]);
	if (!rc)
		rc = open_files(k);
	if (!rc && w->division.announces)
		sp__inorder_announce(&k->maker, sp__cuts_bytes(c, k->from, k->to));
	k->reading = !rc && c->n;
	return rc;
}

static int open_range(struct sp__range_worker *k, uint64_t i)
{
	int rc = find_end(k, i);

	if (rc < 0)
		return rc;
	k->from = await_start(k->all, i);
	return k->from ? open_between(k) : -ECANCELED;
}

static void close_sequence(struct sp__range_worker *k)
{
	sp__step_close(k->all->merging->spilled, &k->in);
	sp__sequence_close(&k->sequence);
	k->sequence = (struct sp__sequence){ 0 };
}

/* Keeps where the first range starts in which a file is not sorted. */
static void note_disorder(struct sp__range_worker *k, uint64_t i)
{
	struct sp__writing *w = k->all;

	pthread_mutex_lock(&w->lock);
	if (i < w->disordered) {
		w->disordered = i;
		memcpy(w->rest, k->from, sp__cuts_inputs(&w->cuts) * sizeof(*k->from));
	}
	pthread_mutex_unlock(&w->lock);
}

static void join_balance(struct sp__range_worker *k)
{
	pthread_mutex_lock(&k->all->lock);
	sp__balance_join(&k->all->balance, &k->balance);
	pthread_mutex_unlock(&k->all->lock);
}

/* Merges a range into the ordered output. */
static void merge_range(struct sp__range_worker *k, uint64_t i)
{
	struct sp__writing *w = k->all;
	int rc;

	k->balance = (struct sp__balance){ 0 };
	k->read = (struct sp__tally){ 0 };
	k->reading = k->verified = false;
	rc = open_range(k, i);
	if (!rc)
		rc = put_range(k);
	if (rc >= 0 && w->cuts.nfiles && !k->sequence.merge.coded && !w->resting)
		rc = SP__DISORDERED;
	if (rc == SP__DISORDERED)
		note_disorder(k, i);
	note_reading(k);
	close_sequence(k);
	free(k->from);
	k->from = NULL;
	w->sums[i] = (struct sp__range_sum){ k->balance, k->read };
	if (rc < 0)
		sp__inorder_fail(&k->maker, rc);
	else
		(void)!sp__inorder_end(&k->maker);
}

/* Writes what is not written yet of a range with checkpoints. */
static int write_marked(struct sp__range_worker *k, uint64_t i)
{
	struct sp__writing *w = k->all;
	const struct sp__ranges *g = w->ranges;
	int rc;

	k->balance = (struct sp__balance){ .given = g->list[i].given };
	if (g->n == 1) {
		k->balance.dropped = g->dropped;
		k->balance.counted = g->counted;
	}
	memcpy(k->spans, g->list[i].spans, g->runs * sizeof(*k->spans));
	rc = sp__marks_complete(w, i) ? 0 : open_sequence(k);
	if (!rc && k->sequence.sort)
		rc = sp__marks_write(k, i);
	close_sequence(k);
	join_balance(k);
	return rc;
}

void sp__range_work(void *worker)
{
	struct sp__range_worker *k = worker;
	struct sp__writing *w = k->all;
	uint64_t i;

	if (w->resume) {
		while (!k->rc && (i = atomic_fetch_add(&w->next, 1)) < w->nranges)
			k->rc = write_marked(k, i);
		if (k->rc < 0)
			atomic_store(&w->failed, true);
		return;
	}
	sp__inorder_join(&k->maker, &w->ordered, &k->err);
	while (sp__inorder_take(&k->maker, &i))
		merge_range(k, i);
	sp__inorder_leave(&k->maker);
}
