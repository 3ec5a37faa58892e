/* SPDX-License-Identifier: MIT */
/*
 * Records the progress of ranges in the journal of a sort that can be resumed.
 *
 * A mark of a range states that its bytes up to an offset are on the device.  It has their
 * checksum, and the offset in each run at which the rest starts.  These offsets are exact, so marks
 * work for any order and any key.  Records that are dropped belong to the group before, so a mark
 * is between groups.
 *
 * After a crash, the same runs are merged from the offsets of the last marks on, in the same
 * ranges, for any number of threads.  The bytes written before are read and verified.  If they are
 * damaged, or if more runs had to be merged because there is less memory, the final merge starts
 * over.
 */
#include <stdlib.h>
#include <unistd.h>
#include "base/err.h"
#include "sort/merge/writing.h"

/* Bytes between two checks of whether another worker has failed. */
#define STRIDE_BYTES (64u << 10)

/* Returns 1 if the existing result can be continued, 0 if not, or an error. */
static int continues(struct sp__writing *w)
{
	const struct sp__ranges *g = w->ranges;
	int rc;

	if (!g->list || g->runs != w->merging->runs_left)
		return 0;
	rc = sp__ranges_verify(g, w->out->fd);
	return rc < 0 ? sp__err(w->merging->sort->env.err, rc, "read", w->out->name, -1) : rc;
}

int sp__marks_begin(struct sp__writing *w)
{
	int rc = continues(w);

	if (rc)
		return rc < 0 ? rc : 0;
	sp__ranges_forget(w->ranges);
	rc = sp__divide_marked(w->merging, w->out, w->ranges);
	return rc < 0 ? rc : sp__resume_begin_ranges(w->resume);
}

int sp__marks_open(struct sp__range_worker *k)
{
	const unsigned runs = k->all->ranges->runs;

	k->digest = sp__digest_new();
	k->offsets.at = calloc(runs + 1, sizeof(*k->offsets.at));
	if (!k->digest || !k->offsets.at)
		return sp__err(&k->err, -ENOMEM, "allocate", NULL, -1);
	return 0;
}

static void close_stream(struct sp__range_worker *k)
{
	struct sp__io_counters c;

	if (!k->stream)
		return;
	sp__wstream_counters(k->stream, &c);
	pthread_mutex_lock(&k->all->lock);
	sp__io_add(k->all->out->io, &c);
	pthread_mutex_unlock(&k->all->lock);
	sp__wstream_close(k->stream);
	k->stream = NULL;
}

void sp__marks_close(struct sp__range_worker *k)
{
	close_stream(k);
	free(k->offsets.at);
	sp__digest_free(k->digest);
}

bool sp__marks_complete(const struct sp__writing *w, uint64_t i)
{
	const struct sp__range *r = &w->ranges->list[i];

	for (unsigned j = 0; j < w->ranges->runs; j++)
		if (r->spans[j].from < r->spans[j].to)
			return false;
	return true;
}

/* Opens a stream at an offset of the file. */
static int open_stream(struct sp__range_worker *k, uint64_t at)
{
	struct sp__writing *w = k->all;
	struct sp__wstream_opts o = w->out->writing;
	int rc;

	o.chunk_bytes = w->division.chunk_bytes;
	o.expected_bytes = w->marked_bytes;
	o.piece = w->nranges > 1;
	o.digest = k->digest;
	if (!o.piece && lseek(w->out->fd, (off_t)at, SEEK_SET) < 0)
		return sp__err(&k->err, -errno, "write", w->out->name, -1);
	rc = sp__wstream_open(&k->stream, w->out->fd, w->out->name, &o, &k->err);
	return rc < 0 || !o.piece ? rc : sp__wstream_move(k->stream, at);
}

/*
 * Makes a mark: the range is written up to offset `to`, and continues with the merge's current
 * record. given: the records up to there.
 */
static int set_mark(struct sp__range_worker *k, uint64_t range, uint64_t to,
		    const struct sp__tally *given)
{
	struct sp__writing *w = k->all;
	struct sp__range *r = &w->ranges->list[range];
	int rc = sp__wstream_finish(k->stream);
	struct sp__written written = { r->at, to, sp__digest_take(k->digest) };

	close_stream(k);
	if (!rc && fdatasync(w->out->fd) < 0)
		rc = sp__err(&k->err, -errno, "fsync", w->out->name, -1);
	if (rc < 0)
		return rc;
	r->at = to;
	r->given = *given;
	pthread_mutex_lock(&w->lock);
	/* Several ranges drop and count nothing. */
	if (w->ranges->n == 1) {
		w->ranges->dropped = k->balance.dropped;
		w->ranges->counted = k->balance.counted;
	}
	rc = sp__resume_mark(w->resume, (unsigned)range, k->offsets.at, &written);
	if (rc < 0)
		k->err = *w->merging->sort->env.err;
	pthread_mutex_unlock(&w->lock);
	return rc;
}

static int put(struct sp__range_worker *k, uint64_t *at)
{
	const struct sp__sequence *q = &k->sequence;

	*at += q->bytes;
	return sp__wstream_put_near(k->stream, q->rec, q->bytes, q->reach);
}

/*
 * Makes a mark at the record that the sequence has returned.  The rest of a range starts with the
 * merge's current record.  Without --count that is the record returned, so the mark precedes it.
 * With --count a group is returned when the merge has passed it, so the mark follows it.
 */
static int mark_and_put(struct sp__range_worker *k, uint64_t i, uint64_t *at)
{
	const struct sp__sequence *q = &k->sequence;
	struct sp__tally given = q->balance->given, last = { 0 };
	int rc = 0;

	if (q->sort->opts.count) {
		rc = put(k, at);
	} else {
		sp__tally_add(&last, q->rec, q->bytes);
		given = sp__tally_since(given, &last);
	}
	if (!rc)
		rc = set_mark(k, i, *at, &given);
	if (!rc)
		rc = open_stream(k, *at);
	return rc < 0 || q->sort->opts.count ? rc : put(k, at);
}

/* Reports bytes that have been put.  Returns -ECANCELED if another worker has failed. */
static int look_round(struct sp__range_worker *k, uint64_t bytes)
{
	struct sp__writing *w = k->all;
	uint64_t done = atomic_fetch_add(&w->done_bytes, bytes) + bytes;

	if (atomic_load_explicit(&w->failed, memory_order_relaxed))
		return -ECANCELED;
	if (!k->number)
		w->out->tell(w->out->arg, done);
	return 0;
}

/* Writes all records of the sequence; *at: up to which offset. */
static int put_all(struct sp__range_worker *k, uint64_t i, uint64_t *at)
{
	struct sp__writing *w = k->all;
	const struct sp__range *r = &w->ranges->list[i];
	uint64_t looked = *at;
	int rc;

	while ((rc = sp__sequence_next(&k->sequence, true)) == SP_READY) {
		rc = *at - r->at >= w->marked_bytes ? mark_and_put(k, i, at) : put(k, at);
		if (!rc && *at - looked >= STRIDE_BYTES) {
			rc = look_round(k, *at - looked);
			looked = *at;
		}
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? sp__err(&k->err, rc, "merge", NULL, -1) : 0;
}

int sp__marks_write(struct sp__range_worker *k, uint64_t i)
{
	const struct sp__range *r = &k->all->ranges->list[i];
	uint64_t at = r->at;
	int rc = open_stream(k, at);

	k->sequence.offsets = &k->offsets;
	k->offsets.last = 0;
	k->offsets.bytes = 0;
	for (unsigned j = 0; j < k->all->ranges->runs; j++)
		k->offsets.at[j] = r->spans[j].from;
	if (!rc)
		rc = put_all(k, i, &at);
	if (!rc && r->end != UINT64_MAX && at != r->end)
		rc = sp__errf(&k->err, SP_EBALANCE, "merge", NULL, -1,
			      "an output range has %llu bytes too many or too few",
			      (unsigned long long)sp__absdiff(at, r->end));
	return rc < 0 ? rc : set_mark(k, i, at, &k->sequence.balance->given);
}

int sp__marks_end(struct sp__writing *w)
{
	const uint64_t to = w->ranges->list[w->nranges - 1].at;

	w->merging->sort->stats.output_bytes = to - w->out->at;
	if (ftruncate(w->out->fd, (off_t)to) < 0 || lseek(w->out->fd, (off_t)to, SEEK_SET) < 0)
		return sp__err(w->merging->sort->env.err, -errno, "write", w->out->name, -1);
	return 0;
}
