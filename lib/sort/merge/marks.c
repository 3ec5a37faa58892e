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
	struct sp__merging *merging = w->merging;
	const struct sp_sort_opts *o = &merging->sort->opts;
	int rc = continues(w);

	if (rc)
		return rc < 0 ? rc : 0;
	/* The offsets in the file must be known. */
	if (!o->unique && !o->top)
		rc = sp__divide_cut(merging, &w->out->writing, &w->cuts);
	if (rc < 0)
		return rc;
	sp__ranges_forget(w->ranges);
	rc = sp__divide_ranges(merging, &w->cuts, rc > 1 ? (unsigned)rc : 1, w->out->at, w->ranges);
	return rc < 0 ? rc : sp__resume_begin_ranges(w->resume);
}

int sp__marks_open(struct sp__range_writer *k)
{
	const unsigned runs = k->all->ranges->runs;

	k->digest = sp__digest_new();
	k->offsets.at = calloc(runs + 1, sizeof(*k->offsets.at));
	if (!k->digest || !k->offsets.at)
		return sp__err(&k->err, -ENOMEM, "allocate", NULL, -1);
	return 0;
}

void sp__marks_close(struct sp__range_writer *k)
{
	free(k->offsets.at);
	sp__digest_free(k->digest);
}

int sp__marks_set(struct sp__range_writer *k, unsigned range, uint64_t to,
		  const struct sp__tally *given)
{
	struct sp__writing *w = k->all;
	struct sp__range_file *f = &w->files[range];
	struct sp__range *r = &w->ranges->list[range];
	int rc = sp__wstream_finish(f->stream);
	struct sp__written written = { r->at, to, sp__digest_take(k->digest) };

	sp__range_close_stream(w, f);
	if (!rc && fdatasync(f->fd) < 0)
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
	rc = sp__resume_mark(w->resume, range, k->offsets.at, &written);
	if (rc < 0)
		k->err = *w->merging->sort->env.err;
	pthread_mutex_unlock(&w->lock);
	return rc;
}
