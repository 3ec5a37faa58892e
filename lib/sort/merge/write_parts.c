/* SPDX-License-Identifier: MIT */
/*
 * The final merge in parts.
 *
 * One loser tree keeps one processor busy, and one stream writes its result.  If the result is a
 * file and its bytes are those of the runs, and numbers, all of them are cut at the same keys into
 * a part for each thread (parts.h).  The lengths of the parts are known exactly before
 * anything is written, so each part merges its own spans of the runs and writes them at its own
 * offset, with its own pages, read plan, reader of the store, and write stream.  The parts share
 * nothing but the file.
 *
 * Under -u parts pay if hardly any record is dropped, which is taken for likely if none was until
 * then.  Each part is written where it would lie if none were; afterwards those behind one that
 * dropped some are moved up.  At worst most of the result is read and written once more.  Under
 * --count each record has a number of one length before it then, so the number of records makes
 * the length; numbers that are longer have dropped more than that.
 *
 * The end of the last part is written when all others have been written, so a file that was
 * abandoned is not of full length, but for luck, or while parts are moved up.  After an error it
 * gets its old length back.
 *
 * Memory.  Pages are taken from the free part of the arena, the same number for each part.  Write
 * streams divide what the output buffers and the one stream would have.
 *
 * Rejected: giving the file its length and space before.  Writing was slower then.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/err.h"
#include "sort/merge/group.h"
#include "sort/merge/write_parts.h"
#include "sort/merge/moveup.h"
#include "sort/merge/parts.h"

/* Between two looks at whether the others have failed. */
#define STRIDE_BYTES (64u << 10)

struct part {
	struct parts *all;
	unsigned number;
	uint64_t bytes; /* its length if nothing is dropped */
	struct sp__spill *reader;
	struct sp__run_span *spans;
	struct sp__freemem where;
	struct sp__step_inputs in;
	bool reading; /* not all of its pages are in memory yet */
	struct sp__merge merge;
	int fd;
	struct sp__wstream *stream;
	struct sp__group group; /* --count */
	struct sp__balance balance;
	uint64_t written; /* bytes */
	struct sp__task task;
	struct sp_errinfo err;
	int rc;
	_Atomic uint64_t done_bytes;
};

struct parts {
	struct sp__merging *merging;
	const struct sp__parts_out *out;
	struct sp__cuts cuts;
	unsigned n;
	struct part *part;
	struct sp__run_span *spans;
	uint64_t bytes, old_bytes; /* of all records; of the file before */
	bool begun;		   /* something may have been written */
	_Atomic bool failed;
	_Atomic unsigned reading; /* parts */
	struct sp__task emptying;
};

/* Opens what a part needs; 0: there is not enough of something. */
static int open_part(struct parts *p, struct part *part, uint64_t at)
{
	struct sp__merging *merging = p->merging;
	struct sp__sort_shared *s = merging->sort;
	const struct sp__cuts *c = &p->cuts;
	unsigned inputs = c->n + c->nbufs;
	struct sp__wstream_opts writing = p->out->writing;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->out->fd);
	part->fd = open(path, (s->opts.unique ? O_RDWR : O_WRONLY) | O_CLOEXEC);
	if (part->fd < 0 || lseek(part->fd, (off_t)at, SEEK_SET) < 0)
		return 0;
	writing.chunk_bytes = sp__parts_chunk(&writing, p->n);
	writing.expected_bytes = part->bytes;
	writing.piece = true;
	if (sp__wstream_open(&part->stream, part->fd, p->out->name, &writing, &part->err) < 0 ||
	    sp__merge_init(&part->merge, s->opts.keys, inputs, &s->env.budget, &part->err) < 0)
		return 0;
	part->merge.plain = !s->opts.unique;
	for (unsigned j = 0; j < inputs; j++) {
		uint64_t from = sp__cuts_at(c, part->number, j);
		uint64_t to = sp__cuts_at(c, part->number + 1, j);

		if (j < c->n)
			part->spans[j] = (struct sp__run_span){ from, to };
		else
			sp__cursor_part(&part->merge.cursors[j], c->bufs[j - c->n], from, to);
	}
	return !c->n ||
	       sp__spill_reader_open(&part->reader, merging->spilled->store, &part->err) == 0;
}

static void close_part(struct parts *p, struct part *part)
{
	struct sp__io_counters c;

	if (part->stream) {
		sp__wstream_counters(part->stream, &c);
		sp__io_add(p->out->io, &c);
	}
	sp__wstream_close(part->stream);
	if (part->fd >= 0)
		close(part->fd);
	if (part->reader)
		sp__spill_reader_close(part->reader, p->merging->spilled->store);
	sp__merge_release(&part->merge);
	sp__bytes_release(&part->group.held, &p->merging->sort->env.budget);
}

/* Divides the free memory; opens all parts or, with 0, not. */
static int open_parts(struct parts *p, struct sp__freemem where)
{
	unsigned pages = p->cuts.n ? sp__parts_pages(p->merging, where, p->n) : 0;
	size_t each = (size_t)pages * p->merging->sort->plan.page_bytes;
	uint64_t at = p->out->at;
	int rc = 1;

	p->part = calloc(p->n, sizeof(*p->part));
	p->spans = calloc((size_t)p->n * p->cuts.n + 1, sizeof(*p->spans));
	if (!p->part || !p->spans)
		return sp__err(p->merging->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; i < p->n; i++)
		p->part[i].fd = -1;
	for (unsigned i = 0; i < p->n && rc > 0; i++) {
		struct part *part = &p->part[i];

		part->all = p;
		part->number = i;
		part->bytes = sp__part_bytes(&p->cuts, i);
		part->spans = p->spans + (size_t)i * p->cuts.n;
		part->where = (struct sp__freemem){ where.mem + i * each, each };
		part->err = (struct sp_errinfo)SP_ERRINFO_INIT;
		rc = open_part(p, part, at);
		at += part->bytes;
		p->bytes += part->bytes;
	}
	return rc;
}

static void tell(const struct parts *p)
{
	uint64_t done = 0;

	for (unsigned i = 0; i < p->n; i++)
		done += atomic_load_explicit(&p->part[i].done_bytes, memory_order_relaxed);
	p->out->tell(p->out->arg, done);
}

static int put(struct part *part, const char *data, size_t bytes, size_t reach)
{
	part->written += bytes;
	return sp__wstream_put_near(part->stream, data, bytes, reach);
}

/* --count: the group that has ended. */
static int put_group(struct part *part)
{
	const char *data;
	size_t bytes;

	if (!part->group.number)
		return 0;
	sp__group_give(&part->group, &part->all->merging->sort->opts.format, &part->balance, &data,
		       &bytes);
	return put(part, data, bytes, bytes);
}

/* --count: the record that the merge is at. */
static int count(struct part *part)
{
	const struct sp__merge *m = &part->merge;
	uint64_t number = 1 + sp__merge_current(m)->more;
	int rc;

	if (m->equal) {
		sp__tally_add(&part->balance.dropped, m->rec, m->bytes);
		part->group.number += number;
		return 0;
	}
	rc = put_group(part);
	return rc < 0 ? rc
		      : sp__group_hold(&part->group, m->rec, m->bytes, number,
				       &part->all->merging->sort->env.budget);
}

static int take(struct part *part)
{
	const struct sp__merge *m = &part->merge;
	struct sp__balance *b = &part->balance;

	if (part->all->merging->sort->opts.count)
		return count(part);
	sp__tally_add_near(m->equal ? &b->dropped : &b->given, m->rec, m->bytes, m->reach);
	return m->equal ? 0 : put(part, m->rec, m->bytes, m->reach);
}

static void empty_store(void *store)
{
	sp__spill_empty(store);
}

/*
 * Freeing what has been spilled takes a twentieth of a short sort.  The last part that reads has
 * it done while all merge what is in memory.
 */
static void note_reading(struct part *part)
{
	struct parts *p = part->all;

	if (!part->reading || !sp__pool_has_all(part->in.pool))
		return;
	part->reading = false;
	if (atomic_fetch_sub(&p->reading, 1) == 1)
		sp__task_start(&p->emptying, empty_store, p->merging->spilled->store);
}

/* Its records, as far as no other part fails. */
static int merge_part(struct part *part)
{
	struct sp__merge *m = &part->merge;
	uint64_t done = 0, look = 0;
	int rc;

	while ((rc = sp__merge_next(m, true)) == SP_READY) {
		rc = take(part);
		if (rc < 0)
			return rc;
		done += m->bytes;
		if (done < look)
			continue;
		look = done + STRIDE_BYTES;
		atomic_store_explicit(&part->done_bytes, done, memory_order_relaxed);
		if (atomic_load_explicit(&part->all->failed, memory_order_relaxed))
			return -ECANCELED;
		note_reading(part);
		if (!part->number)
			tell(part->all);
	}
	rc = rc < 0 ? rc : put_group(part);
	return rc < 0 ? sp__err(&part->err, rc, "merge", NULL, -1) : 0;
}

/* The task of a part.  It must reap all its own reads. */
static void run_part(void *arg)
{
	struct part *part = arg;
	struct sp__merging *merging = part->all->merging;
	struct sp__spilled *spilled = merging->spilled;

	part->reading = part->all->cuts.n > 0;
	if (part->reading)
		part->rc = sp__step_open(spilled, part->reader, &part->in, part->all->cuts.ids,
					 part->spans, part->all->cuts.n, part->where,
					 part->merge.cursors);
	if (!part->rc)
		part->rc = merge_part(part);
	sp__step_close(spilled, &part->in);
	if (part->rc < 0)
		atomic_store(&part->all->failed, true);
}

/* Nothing of the result remains, as far as it extended the file. */
static void restore_file(const struct parts *p)
{
	if (ftruncate(p->out->fd, (off_t)p->old_bytes) < 0)
		return; /* it is no worse than a file whose writing failed */
}

/* What it has given and dropped would be as long as it. */
static int check_part(const struct sp__sort_shared *s, const struct part *part)
{
	struct sp__tally all = part->balance.given;

	sp__tally_join(&all, &part->balance.dropped);
	return sp__balance_compare(s, "bytes of a part", part->bytes,
				   all.bytes + sp__numbers_bytes(s, all.records));
}

/* Runs all parts, the first in this thread; the first error. */
static int run_parts(struct parts *p)
{
	const struct part *bad = NULL;
	int rc;

	atomic_store(&p->reading, p->n);
	for (unsigned i = 1; i < p->n; i++)
		sp__task_start(&p->part[i].task, run_part, &p->part[i]);
	run_part(&p->part[0]);
	for (unsigned i = 0; i < p->n; i++) {
		struct part *part = &p->part[i];

		sp__task_join(&part->task);
		sp__balance_join(&p->merging->sort->balance, &part->balance);
		if (part->rc < 0 && (!bad || bad->rc == -ECANCELED))
			bad = part;
	}
	for (unsigned i = 0; !bad && i < p->n; i++) {
		struct part *part = &p->part[i];

		rc = check_part(p->merging->sort, part);
		if (rc < 0)
			return rc;
		part->rc = sp__wstream_finish(part->stream);
		if (part->rc < 0)
			bad = part;
	}
	if (bad)
		*p->merging->sort->env.err = bad->err;
	return bad ? bad->rc : 0;
}

/* Moves parts up behind those from which records were dropped. */
static int close_up(const struct parts *p)
{
	uint64_t from = p->out->at, to = from;
	int rc = 0;

	for (unsigned i = 0; i < p->n && !rc; i++) {
		const struct part *part = &p->part[i];

		if (from > to)
			rc = sp__move_up(part->fd, from, to, part->written, p->out->io);
		from += part->bytes;
		to += part->written;
	}
	if (!rc && from > to && ftruncate(p->out->fd, (off_t)to) < 0)
		rc = -errno;
	return rc < 0 ? sp__err(p->merging->sort->env.err, rc, "write", p->out->name, -1) : 0;
}

static void note(struct parts *p)
{
	struct sp__merging *merging = p->merging;
	struct sp__sort_shared *s = merging->sort;

	s->stats.merge_parts = p->n;
	s->stats.merges++;
	s->stats.merge_passes++;
	if (p->cuts.n)
		sp__step_replan(merging->spilled, p->cuts.ids, p->cuts.n,
				p->n * (unsigned)(p->part[0].where.bytes / s->plan.page_bytes));
}

/* For as many bytes as the result would have if nothing were dropped. */
static bool has_space(const struct parts *p)
{
	struct rlimit limit;
	struct statvfs fs;

	return fstatvfs(p->out->fd, &fs) == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       p->bytes < (uint64_t)fs.f_bavail * fs.f_frsize &&
	       (limit.rlim_cur == RLIM_INFINITY || p->out->at + p->bytes < limit.rlim_cur);
}

static int write_parts(struct parts *p, struct sp__freemem where)
{
	struct stat st;
	int rc = open_parts(p, where);

	if (rc <= 0 || fstat(p->out->fd, &st) < 0)
		return rc < 0 ? rc : 0;
	p->old_bytes = (uint64_t)st.st_size;
	/* What is to stay behind the result must not be written over. */
	if (p->merging->sort->opts.unique && (p->old_bytes > p->out->at || !has_space(p)))
		return 0;
	p->begun = true;
	note(p);
	rc = run_parts(p);
	if (rc == 0)
		rc = close_up(p);
	for (unsigned i = 0; i < p->n; i++)
		p->merging->sort->stats.output_bytes += p->part[i].written;
	if (!rc && lseek(p->out->fd, (off_t)(p->out->at + p->merging->sort->stats.output_bytes),
			 SEEK_SET) < 0)
		rc = sp__err(p->merging->sort->env.err, -errno, "write", p->out->name, -1);
	return rc < 0 ? rc : 1;
}

int sp__parts_write(struct sp__merging *merging, const struct sp__parts_out *out)
{
	struct parts p = { .merging = merging, .out = out };
	int rc = sp__parts_cut(merging, &out->writing, &p.cuts);

	p.n = rc > 0 ? (unsigned)rc : 0;
	if (rc > 0)
		rc = write_parts(&p, sp__free_region(merging->forming, true));
	sp__task_join(&p.emptying);
	for (unsigned i = 0; p.part && i < p.n; i++)
		close_part(&p, &p.part[i]);
	/* No write is on its way any more. */
	if (rc < 0 && p.begun)
		restore_file(&p);
	free(p.part);
	free(p.spans);
	sp__cuts_release(&p.cuts);
	return rc;
}
