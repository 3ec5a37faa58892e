/* SPDX-License-Identifier: MIT */
/*
 * Performs the final merge into a file, in ranges.
 *
 * Algorithm: one loser tree keeps one processor busy, and one stream writes its result.  If the
 * result is a file that has only the bytes of the runs, and numbers, all runs are cut at the same
 * keys into a range for each thread (divide.c).  The lengths of ranges are known before anything is
 * written, so each range is written at its own offset of the file.  Threads, the writers, take
 * range after range.  A writer merges the range's spans of the runs with its own pages, read plan,
 * reader of the store and write stream.  Writers share only the file.
 *
 * With checkpoints (marks.c) the result is always written here, as one range if it cannot be cut.
 *
 * Under -u the final merge is cut if no record has been dropped yet, since few are then likely to
 * be dropped later.  Each range is written at its offset without drops.  Afterwards, ranges after
 * one that dropped records are moved up; at worst, most of the result is read and written once
 * more.  Under --count each record then has a number of one length before it, so the number of
 * records determines the length; longer numbers take less than the records that they stand for.
 *
 * Without checkpoints, the ends of all ranges are written when everything else is written.  So an
 * abandoned file does not have its full length, except by chance or while ranges are moved up.
 * After an error the file gets its old length.
 *
 * Memory: the writers divide the pages of the free part of the arena; their streams divide the
 * memory of the output buffers and of the single stream.
 *
 * Rejected: setting the length and allocating the space of the file first; writing was then slower.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "sort/merge/writing.h"

#define WRITERS_MAX 16
/* Bytes between two marks of a range: the memory, but at least this, or this share of the input. */
#define MARKED_BYTES (UINT64_C(256) << 20)
#define MARKED_SHARE 16
#define MOVE_BYTES ((uint64_t)256 << 10)

/* True if all records of a range are in marks. */
static bool finished(const struct sp__writing *w, const struct sp__range *r)
{
	for (unsigned i = 0; i < w->ranges->runs; i++)
		if (r->spans[i].from < r->spans[i].to)
			return false;
	return w->resume;
}

/* Returns where range i started, before any mark. */
static uint64_t begin_of(const struct sp__writing *w, unsigned i)
{
	return i ? w->ranges->list[i - 1].end : w->ranges->from;
}

static uint64_t written_of(const struct sp__writing *w, unsigned i)
{
	return w->ranges->list[i].at - begin_of(w, i);
}

/* Body of a writer's task. */
static void write_ranges(void *arg)
{
	struct sp__range_writer *k = arg;
	struct sp__writing *w = k->all;
	unsigned i;

	while (!k->rc && (i = atomic_fetch_add(&w->next, 1)) < w->ranges->n)
		if (!finished(w, &w->ranges->list[i]))
			k->rc = sp__range_write(k, i);
	if (k->rc < 0)
		atomic_store(&w->failed, true);
}

/* Opens descriptors of the file with offsets of their own. */
static int open_files(struct sp__writing *w)
{
	const bool reads = w->resume || w->merging->sort->opts.unique;
	char path[32];

	w->files = calloc(w->ranges->n, sizeof(*w->files));
	if (!w->files)
		return sp__err(&w->err, -ENOMEM, "allocate", NULL, -1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->out->fd);
	for (unsigned i = 0; i < w->ranges->n; i++)
		w->files[i].fd = -1;
	for (unsigned i = 0; i < w->ranges->n; i++) {
		int *fd = &w->files[i].fd;

		*fd = open(path, (reads ? O_RDWR : O_WRONLY) | O_CLOEXEC);
		/* Without /proc, one writer writes range after range. */
		if (*fd < 0 && w->nwriters == 1)
			*fd = fcntl(w->out->fd, F_DUPFD_CLOEXEC, 0);
		if (*fd < 0)
			return sp__err(&w->err, -errno, "open", w->out->name, -1);
	}
	return 0;
}

static int open_writer(struct sp__writing *w, unsigned number, struct sp__freemem where)
{
	struct sp__range_writer *k = &w->writers[number];

	*k = (struct sp__range_writer){ .all = w, .number = number, .where = where };
	k->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	if (w->resume && sp__marks_open(k) < 0)
		return -ENOMEM;
	return w->ranges->runs
		       ? sp__spill_reader_open(&k->reader, w->merging->spilled->store, &k->err)
		       : 0;
}

/* Opens what the ranges need, and divides the free memory. */
static int open_writers(struct sp__writing *w)
{
	struct sp__freemem where = sp__free_region(w->merging->forming, true);
	size_t each = 0;
	int rc = open_files(w);

	if (rc < 0)
		return rc;
	w->writers = calloc(w->nwriters, sizeof(*w->writers));
	if (!w->writers)
		return sp__err(&w->err, -ENOMEM, "allocate", NULL, -1);
	if (w->nwriters == 1)
		each = where.bytes;
	else if (w->ranges->runs)
		each = (size_t)sp__divide_pages(w->merging, where, w->nwriters) *
		       w->merging->sort->plan.page_bytes;
	for (unsigned i = 0; !rc && i < w->nwriters; i++) {
		rc = open_writer(w, i, (struct sp__freemem){ where.mem + i * each, each });
		if (rc < 0)
			w->err = w->writers[i].err;
	}
	return rc;
}

static void close_writers(struct sp__writing *w)
{
	for (unsigned i = 0; w->files && i < w->ranges->n; i++) {
		sp__range_close_stream(w, &w->files[i]);
		if (w->files[i].fd >= 0)
			close(w->files[i].fd);
	}
	for (unsigned i = 0; w->writers && i < w->nwriters; i++) {
		if (w->writers[i].reader)
			sp__spill_reader_close(w->writers[i].reader, w->merging->spilled->store);
		sp__marks_close(&w->writers[i]);
	}
	free(w->files);
	free(w->writers);
}

/* Returns the number of writers: limited by ranges, threads, and memory. */
static unsigned writers_for(const struct sp__writing *w)
{
	struct sp__freemem where = sp__free_region(w->merging->forming, true);
	unsigned left = 0, k;

	for (unsigned i = 0; i < w->ranges->n; i++)
		left += !finished(w, &w->ranges->list[i]);
	k = (unsigned)sp__min(sp__min(left, w->merging->sort->threads), WRITERS_MAX);
	while (k > 1 && !sp__divide_fits(w->merging, w->ranges->runs, where, &w->out->writing, k))
		k--;
	return k ? k : 1;
}

/* Runs all writers, the first in this thread; returns the first error. */
static int run_writers(struct sp__writing *w)
{
	const struct sp__range_writer *bad = NULL;

	for (unsigned i = 1; i < w->nwriters; i++)
		sp__task_start(&w->writers[i].task, write_ranges, &w->writers[i]);
	write_ranges(&w->writers[0]);
	for (unsigned i = 0; i < w->nwriters; i++) {
		const struct sp__range_writer *k = &w->writers[i];

		sp__task_join(&w->writers[i].task);
		if (k->rc < 0 && (!bad || bad->rc == -ECANCELED))
			bad = k;
	}
	sp__task_join(&w->emptying);
	if (bad)
		*w->merging->sort->env.err = bad->err;
	return bad ? bad->rc : 0;
}

/* Writes the ends of all ranges. */
static int finish_streams(struct sp__writing *w)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < w->ranges->n; i++) {
		rc = w->files[i].stream ? sp__wstream_finish(w->files[i].stream) : 0;
		if (rc < 0)
			*w->merging->sort->env.err = w->files[i].writer->err;
	}
	return rc;
}

/* Adds up the records that ranges have returned and dropped, and compares them with the lengths. */
static int check_ranges(struct sp__writing *w)
{
	struct sp__sort_shared *s = w->merging->sort;
	int rc = 0;

	for (unsigned i = 0; i < w->ranges->n; i++) {
		const struct sp__balance *b = &w->files[i].balance;
		uint64_t records = b->given.records + b->dropped.records;
		uint64_t bytes = b->given.bytes + b->dropped.bytes + sp__numbers_bytes(s, records);

		if (!rc && w->ranges->list[i].end != UINT64_MAX)
			rc = sp__balance_compare(s, "bytes of a range",
						 w->ranges->list[i].end - begin_of(w, i), bytes);
		sp__balance_join(&s->balance, b);
	}
	return rc;
}

static int move_piece(int fd, char *buf, size_t bytes, uint64_t from, uint64_t to)
{
	ssize_t n = sp__read_whole(fd, buf, bytes, from);

	if (n < 0 || (size_t)n < bytes)
		return n < 0 ? (int)n : -EIO;
	return sp__write_whole(fd, buf, bytes, to);
}

/* Moves range i to a lower offset, a chunk at a time. */
static int move_range(const struct sp__writing *w, unsigned i, uint64_t to)
{
	const uint64_t from = begin_of(w, i), bytes = written_of(w, i);
	char *buf = malloc(MOVE_BYTES);
	int rc = buf ? 0 : -ENOMEM;

	for (uint64_t done = 0, n; done < bytes && !rc; done += n) {
		n = sp__min(bytes - done, MOVE_BYTES);
		rc = move_piece(w->files[i].fd, buf, n, from + done, to + done);
		sp__io_add(w->out->io, &(struct sp__io_counters){ 1, n, 1, n });
	}
	free(buf);
	return rc;
}

/* Moves ranges up after those from which records were dropped, and ends the file. */
static int close_up(const struct sp__writing *w)
{
	const unsigned n = w->ranges->n;
	uint64_t to = w->out->at;
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		if (begin_of(w, i) > to)
			rc = move_range(w, i, to);
		to += written_of(w, i);
	}
	w->merging->sort->stats.output_bytes = to - w->out->at;
	if (!rc && (w->resume || w->ranges->list[n - 1].end > to) &&
	    ftruncate(w->out->fd, (off_t)to) < 0)
		rc = -errno;
	if (!rc && lseek(w->out->fd, (off_t)to, SEEK_SET) < 0)
		rc = -errno;
	return rc < 0 ? sp__err(w->merging->sort->env.err, rc, "write", w->out->name, -1) : 0;
}

/* True if there is space for all ranges at their length without drops. */
static bool has_space(const struct sp__writing *w)
{
	const uint64_t end = w->ranges->list[w->ranges->n - 1].end;
	struct rlimit limit;
	struct statvfs fs;

	return fstatvfs(w->out->fd, &fs) == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       end - w->out->at < (uint64_t)fs.f_bavail * fs.f_frsize &&
	       (limit.rlim_cur == RLIM_INFINITY || end < limit.rlim_cur);
}

/* Adds the records of the marks to the balance. */
static void take_up(struct sp__writing *w)
{
	for (unsigned i = 0; i < w->ranges->n; i++) {
		w->files[i].balance.given = w->ranges->list[i].given;
		w->done_bytes += written_of(w, i);
	}
	if (w->ranges->n == 1) {
		w->files[0].balance.dropped = w->ranges->dropped;
		w->files[0].balance.counted = w->ranges->counted;
	}
}

static void note(struct sp__writing *w)
{
	struct sp__merging *merging = w->merging;
	struct sp__sort_shared *s = merging->sort;

	s->stats.merge_parts = w->ranges->n > 1 ? w->ranges->n : 0;
	s->stats.merges += w->ranges->n > 1 || w->ranges->runs > 1;
	s->stats.merge_passes += w->ranges->n > 1 || w->ranges->runs > 1;
	if (w->ranges->runs)
		sp__step_replan(merging->spilled, merging->spilled->ids, w->ranges->runs,
				w->nwriters *
					(unsigned)(w->writers[0].where.bytes / s->plan.page_bytes));
}

/* Returns 0 if not all resources of the ranges are available; nothing has then changed. */
static int open_all(struct sp__writing *w)
{
	struct stat st;
	int rc;

	w->nwriters = writers_for(w);
	rc = open_writers(w);
	if (!rc && fstat(w->out->fd, &st) < 0)
		rc = sp__err(&w->err, -errno, "write", w->out->name, -1);
	if (rc < 0 && w->resume)
		*w->merging->sort->env.err = w->err;
	if (rc < 0 || w->resume)
		return rc < 0 && !w->resume ? 0 : rc ? rc : 1;
	w->old_bytes = (uint64_t)st.st_size;
	/* Bytes that stay after the result must not be overwritten. */
	return !w->merging->sort->opts.unique || (w->old_bytes <= w->out->at && has_space(w));
}

static int write_all(struct sp__writing *w)
{
	int rc;

	atomic_store(&w->unread, w->ranges->n);
	take_up(w);
	note(w);
	rc = run_writers(w);
	if (!rc)
		rc = check_ranges(w);
	if (!rc)
		rc = finish_streams(w);
	return rc < 0 ? rc : close_up(w);
}

/* Finds or makes the ranges.  Returns their number, 0 if none are needed, or an error. */
static int begin(struct sp__writing *w)
{
	struct sp__spilled *spilled = w->merging->spilled;
	int rc;

	w->ranges = &w->own;
	if (spilled->resume && spilled->store) {
		w->resume = spilled->resume;
		w->ranges = &w->resume->ranges;
		rc = sp__marks_begin(w);
		return rc < 0 ? rc : (int)w->ranges->n;
	}
	rc = sp__divide_cut(w->merging, &w->out->writing, &w->cuts);
	if (rc <= 0)
		return rc;
	rc = sp__divide_ranges(w->merging, &w->cuts, (unsigned)rc, w->out->at, w->ranges);
	return rc < 0 ? rc : (int)w->ranges->n;
}

int sp__ranges_write(struct sp__merging *merging, const struct sp__ranges_out *out)
{
	const struct sp__sort_shared *s = merging->sort;
	const uint64_t min = sp__min(s->stats.input_bytes / MARKED_SHARE, MARKED_BYTES);
	struct sp__writing w = { .merging = merging,
				 .out = out,
				 .marked_bytes = sp__max(s->plan.memory_bytes, min),
				 .err = SP_ERRINFO_INIT };
	bool begun;
	int rc;

	pthread_mutex_init(&w.lock, NULL);
	rc = begin(&w);
	if (rc > 0)
		rc = open_all(&w);
	begun = rc > 0;
	if (begun)
		rc = write_all(&w);
	close_writers(&w);
	/* No write is outstanding.  An extended file that stays is not worse than others. */
	if (rc < 0 && begun && !w.resume)
		(void)!ftruncate(out->fd, (off_t)w.old_bytes);
	sp__ranges_forget(&w.own);
	sp__cuts_release(&w.cuts);
	pthread_mutex_destroy(&w.lock);
	return rc < 0 ? rc : begun;
}
