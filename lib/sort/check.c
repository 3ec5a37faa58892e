/* SPDX-License-Identifier: MIT */
/*
 * Checks that an input is in order (-c), by comparing each record with the one before.
 *
 * The input is checked in pieces, consecutive records, by several threads.  Each piece notes its
 * first and its last record; pieces are joined in the order of the input, and there the first
 * record of one is compared with the last record of the one before.  So the first disorder is
 * found, for any number of threads.
 *
 *	a regular file	Each thread takes one part of the file after the other (flow/parts.h).
 *			After the first disorder no part is taken.
 *	other inputs	The caller reads, copies batches into pieces and starts a task for each; it
 *			checks batches itself if there are at most two threads, and batches that
 *			exceed a piece.  Before it waits for input, it joins all pieces.
 *
 * Memory: a stream for each thread, or the pieces, within half of the working memory; the first and
 * the last records of the pieces that wait for one before them.
 */
#include <pthread.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/task.h"
#include "base/utf8mark.h"
#include "flow/parts.h"
#include "rec/collate.h"
#include "run/memory.h"
#include "sort/plan/plan.h"

#define PART_MAX (UINT64_C(4) << 20)
#define PIECE_MAX (UINT64_C(1) << 20)
#define PIECES_MAX 66
/* Parts for each thread, so that none waits long at the end. */
#define PARTS_PER_THREAD 4

struct piece {
	SLIST_ENTRY(piece) link; /* while it waits for a piece before it */
	uint64_t number;
	uint64_t records, lines; /* lines: up to the last record checked */
	struct sp__bytes first, last;
	bool found; /* a disorder, of the last record checked; it is in last */
	int error;
	struct sp_errinfo err;
};

SLIST_HEAD(pieces, piece);

struct checker {
	const struct sp_sort_opts *opts;
	struct sp__scan_opts scan;
	struct sp__parts *parts;
	size_t working_bytes;
	unsigned threads;

	pthread_mutex_t lock;  /* protects the following members while threads have parts */
	struct pieces waiting; /* sorted by number */
	uint64_t next;	       /* number of the next piece to join */
	struct sp__bytes last; /* the last record joined, ... */
	bool any;	       /* ... if there is one */
	uint64_t lines;
	bool ended; /* by a disorder, which is in last, or an error */
	int error;
	struct sp_errinfo err;
};

/* A piece. */

static void release_piece(struct piece *k)
{
	sp__bytes_release(&k->first, NULL);
	sp__bytes_release(&k->last, NULL);
}

static bool is_disorder(const struct checker *c, const char *a, size_t a_bytes, const char *b,
			size_t b_bytes)
{
	int cmp = sp_keyset_compare(c->opts->keys, a, a_bytes, b, b_bytes);

	return cmp > 0 || (cmp == 0 && c->opts->unique);
}

/* Checks further records of a piece, up to a disorder.  Returns 0 or -ENOMEM. */
static int check_batch(const struct checker *c, struct piece *k, const struct sp_batch *batch)
{
	const struct sp_recfmt *f = &c->opts->format;
	const size_t term = sp__rec_term(f);
	const char *p = batch->data, *end = p + batch->bytes, *next;
	const char *prev = k->last.data;
	size_t prev_bytes = k->last.bytes;
	int rc = 0;

	for (; p < end && !k->found && !rc; p = next) {
		size_t bytes;

		next = sp__rec_end(f, p, (size_t)(end - p));
		bytes = (size_t)(next - p) - term;
		k->lines++;
		if (k->records++)
			k->found = is_disorder(c, prev, prev_bytes, p, bytes);
		else
			rc = sp__bytes_set(&k->first, p, bytes, NULL);
		if (f->kind == SP_REC_CSV && !k->found)
			k->lines += sp__count_lines(p, bytes);
		prev = p;
		prev_bytes = bytes;
	}
	return rc < 0 ? rc : sp__bytes_set(&k->last, prev, prev_bytes, NULL);
}

static void fail_piece(struct piece *k, int rc)
{
	k->error = rc;
	if (rc == -ENOMEM)
		sp__err(&k->err, rc, "allocate", NULL, -1);
}

/* Joining, with the lock. */

static void swap_bytes(struct sp__bytes *a, struct sp__bytes *b)
{
	const struct sp__bytes was = *a;

	*a = *b;
	*b = was;
}

/* Appends the next piece. */
static void append_piece(struct checker *c, struct piece *k)
{
	const bool border =
		k->records && c->any &&
		is_disorder(c, c->last.data, c->last.bytes, k->first.data, k->first.bytes);

	c->next++;
	if (c->ended)
		return;
	if (border)
		c->lines++;
	else
		c->lines += k->lines;
	if (k->records)
		swap_bytes(&c->last, border ? &k->first : &k->last);
	c->any |= k->records;
	c->ended = border || k->found || k->error;
	if (k->error && !border && !k->found) {
		c->error = k->error;
		c->err = k->err;
	}
}

static void join_waiting(struct checker *c)
{
	struct piece *k;

	while ((k = SLIST_FIRST(&c->waiting)) && k->number == c->next) {
		SLIST_REMOVE_HEAD(&c->waiting, link);
		append_piece(c, k);
		release_piece(k);
		free(k);
	}
}

static void insert_waiting(struct checker *c, struct piece *k)
{
	struct piece *before = NULL, *at;

	SLIST_FOREACH(at, &c->waiting, link)
	{
		if (at->number > k->number)
			break;
		before = at;
	}
	if (before)
		SLIST_INSERT_AFTER(before, k, link);
	else
		SLIST_INSERT_HEAD(&c->waiting, k, link);
}

/* Returns the lines of the header, which can begin with a byte order mark. */
static uint64_t header_lines(const struct checker *c, const struct sp_batch *header)
{
	const struct sp_recfmt *f = &c->opts->format;
	const char *p = header->data, *end = p + header->bytes, *next;
	uint64_t lines = 0;

	if (f->kind == SP_REC_CSV)
		return sp__count_lines(header->data, header->bytes);
	for (; p < end && (next = sp__rec_end(f, p, (size_t)(end - p))); p = next)
		lines++;
	return lines;
}

/* A regular file, by several threads. */

static void check_part(struct checker *c, struct sp__part *part, int taken, struct piece *k)
{
	struct sp_batch batch;
	int rc = taken;

	while (rc == SP_READY && !k->found && (rc = sp__part_read(part, &batch)) == SP_READY)
		rc = check_batch(c, k, &batch) < 0 ? -ENOMEM : SP_READY;
	if (rc < 0) {
		k->err = part->err;
		fail_piece(k, rc);
	}
}

/* A task: takes parts while there are any. */
static void check_parts(void *arg)
{
	struct checker *c = arg;
	struct sp__part part = { 0 };
	struct piece *k;
	bool stop;
	int rc;

	while ((rc = sp__parts_next(c->parts, &part)) != SP_END) {
		k = calloc(1, sizeof(*k));
		if (k) {
			k->number = part.number;
			k->err = (struct sp_errinfo)SP_ERRINFO_INIT;
			check_part(c, &part, rc, k);
		}
		stop = !k || k->found || k->error;
		pthread_mutex_lock(&c->lock);
		if (k)
			insert_waiting(c, k);
		else
			c->error = -ENOMEM;
		join_waiting(c);
		if (stop || c->ended)
			sp__parts_stop(c->parts);
		pthread_mutex_unlock(&c->lock);
		if (rc < 0)
			break;
	}
	sp__part_close(c->parts, &part);
}

/* Returns the part's size, for which each thread gets several. */
static uint64_t part_bytes(const struct checker *c)
{
	bool all;
	const uint64_t bytes = sp__inputs_bytes(c->scan.inputs, 1, c->scan.stream.unpack, &all);

	return sp__min(bytes / (c->threads * PARTS_PER_THREAD), PART_MAX);
}

static int check_file(struct checker *c)
{
	const uint64_t stream = (uint64_t)c->scan.stream.chunk_bytes * c->scan.stream.depth;
	const unsigned n = (unsigned)sp__max(sp__min(c->threads, c->working_bytes / 2 / stream), 1);
	struct sp_batch header;

	sp__parts_header(c->parts, &header);
	c->lines = header_lines(c, &header);
	/* All have one argument. */
	sp__tasks_run(n, check_parts, c, 0);
	return c->ended || c->error ? 0 : sp__parts_end(c->parts);
}

/* Other inputs. */

struct lane {
	struct sp__task task;
	struct checker *checker;
	struct piece piece;
	struct sp__bytes batch;
};

struct stream {
	struct checker *checker;
	struct sp__scan *scan;
	struct sp__waits waits;
	struct lane *lanes;
	unsigned n;	  /* lanes; 0: the caller checks all */
	unsigned filling; /* the others were started before, in the order of the ring */
	size_t lane_bytes;
};

static void check_lane(void *arg)
{
	struct lane *l = arg;
	const struct sp_batch batch = { l->batch.data, l->batch.bytes };
	const int rc = check_batch(l->checker, &l->piece, &batch);

	if (rc < 0)
		fail_piece(&l->piece, rc);
}

/* Waits for the records of a lane, which is then empty. */
static void join_lane(struct lane *l)
{
	sp__task_join(&l->task);
	if (l->batch.bytes)
		append_piece(l->checker, &l->piece);
	l->batch.bytes = 0;
	l->piece.records = l->piece.lines = 0;
	sp__bytes_empty(&l->piece.first, NULL);
	sp__bytes_empty(&l->piece.last, NULL);
}

/* Starts the lane that is being filled, and makes the next one empty. */
static void start_lane(struct stream *s)
{
	struct lane *l = &s->lanes[s->filling];

	if (!l->batch.bytes)
		return;
	sp__task_start(&l->task, check_lane, l);
	s->filling = (s->filling + 1) % s->n;
	join_lane(&s->lanes[s->filling]);
}

static void join_lanes(struct stream *s)
{
	if (s->n)
		start_lane(s);
	for (unsigned i = 0; i < s->n; i++)
		join_lane(&s->lanes[(s->filling + i) % s->n]);
}

static void check_here(struct checker *c, const struct sp_batch *batch)
{
	struct piece k = { .err = SP_ERRINFO_INIT };
	const int rc = check_batch(c, &k, batch);

	if (rc < 0)
		fail_piece(&k, rc);
	append_piece(c, &k);
	release_piece(&k);
}

static int put(struct stream *s, const struct sp_batch *batch)
{
	if (batch->bytes > s->lane_bytes) {
		join_lanes(s);
		check_here(s->checker, batch);
		return 0;
	}
	if (s->lanes[s->filling].batch.bytes + batch->bytes > s->lane_bytes)
		start_lane(s);
	return sp__bytes_append(&s->lanes[s->filling].batch, batch->data, batch->bytes, NULL);
}

static int open_lanes(struct stream *s)
{
	struct checker *c = s->checker;

	s->n = c->threads > 2 ? sp__min(c->threads + 2, PIECES_MAX) : 0;
	if (!s->n)
		return 0;
	s->lane_bytes = (size_t)sp__min(c->working_bytes / 2 / s->n, PIECE_MAX);
	s->lanes = calloc(s->n, sizeof(*s->lanes));
	if (!s->lanes)
		return -ENOMEM;
	for (unsigned i = 0; i < s->n; i++) {
		s->lanes[i].checker = c;
		s->lanes[i].piece.err = (struct sp_errinfo)SP_ERRINFO_INIT;
	}
	return 0;
}

static void close_stream(struct stream *s)
{
	for (unsigned i = 0; s->lanes && i < s->n; i++) {
		sp__task_join(&s->lanes[i].task);
		release_piece(&s->lanes[i].piece);
		sp__bytes_release(&s->lanes[i].batch, NULL);
	}
	free(s->lanes);
	sp__scan_close(s->scan);
}

/* Checks the next batch.  SP_READY: there can be more; SP_END; or an error. */
static int check_next(struct stream *s)
{
	struct checker *c = s->checker;
	struct sp_batch batch, header;
	int rc = sp__scan_next(s->scan, &batch);

	if (rc == SP_LATER) {
		join_lanes(s);
		rc = c->ended ? SP_READY : sp__waits_block(&s->waits);
		return rc < 0 ? rc : SP_READY;
	}
	if (rc != SP_READY)
		return rc;
	if (!c->lines) {
		sp__scan_header(s->scan, &header);
		c->lines = header_lines(c, &header);
	}
	return put(s, &batch) < 0 ? sp__err(c->scan.err, -ENOMEM, "allocate", NULL, -1) : SP_READY;
}

static int check_stream(struct checker *c)
{
	struct stream s = { .checker = c };
	int rc;

	c->scan.waits = &s.waits;
	rc = sp__scan_open(&s.scan, &c->scan);
	if (rc < 0)
		return rc;
	if (open_lanes(&s) < 0)
		rc = sp__err(c->scan.err, -ENOMEM, "allocate", NULL, -1);
	while (!rc && !c->ended && (rc = check_next(&s)) == SP_READY)
		rc = 0;
	join_lanes(&s);
	close_stream(&s);
	return c->ended ? 0 : rc;
}

/* All inputs. */

static void clear(struct checker *c)
{
	struct piece *k;

	while ((k = SLIST_FIRST(&c->waiting))) {
		SLIST_REMOVE_HEAD(&c->waiting, link);
		release_piece(k);
		free(k);
	}
	sp__bytes_release(&c->last, NULL);
	c->next = c->lines = 0;
	c->any = c->ended = false;
	c->error = 0;
}

/* Checks the parts of a file.  SP_EUNSUP: it must be read in order. */
static int try_file(struct checker *c)
{
	int rc = sp__parts_open(&c->parts, &c->scan, part_bytes(c));

	if (rc < 0)
		return rc;
	rc = check_file(c);
	sp__parts_close(c->parts);
	if (c->error != SP__MISCUT)
		return rc;
	clear(c);
	return SP_EUNSUP;
}

/* Returns 1 with the disorder, 0, or an error. */
static int conclude(struct checker *c, struct sp_disorder *where, struct sp_errinfo *err)
{
	if (c->error && err && !err->code)
		*err = c->err;
	if (c->error || !c->ended)
		return c->error;
	where->record = malloc(c->last.bytes + 1);
	if (!where->record)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	memcpy(where->record, c->last.data, c->last.bytes);
	where->record[c->last.bytes] = '\0';
	where->bytes = c->last.bytes;
	where->line = c->lines;
	return 1;
}

static struct sp__rstream_opts reading(const struct sp_run_opts *run, struct sp__buffers b)
{
	return (struct sp__rstream_opts){
		.engine = run->engine,
		.direct = SP__DIRECT_AUTO,
		.chunk_bytes = b.chunk_bytes,
		.depth = b.reads,
		.unpack = run->decompress,
		.unpack_bytes = sp__unpacking_memory(run, run->memory_bytes),
		.unpack_share = SP__UNPACKING_SHARE,
	};
}

int sp_sort_check(const struct sp_sort_opts *opts, const char *input, const struct sp_batch *ahead,
		  uint64_t header_records, struct sp_disorder *where, struct sp_errinfo *err)
{
	const uint64_t working = sp__working_memory(&opts->run, opts->run.memory_bytes);
	struct checker c = {
		.opts = opts,
		.scan = { .format = opts->format,
			  .inputs = &input,
			  .ninputs = 1,
			  .header_records = header_records,
			  .keys = opts->keys,
			  .stream = reading(&opts->run, sp__buffers(working)),
			  .err = err },
		.working_bytes = working,
		.threads = sp__threads(opts->run.parallel),
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.waiting = SLIST_HEAD_INITIALIZER(c.waiting),
		.err = SP_ERRINFO_INIT,
	};
	int rc;

	*where = (struct sp_disorder){ 0 };
	if (ahead)
		c.scan.ahead = *ahead;
	sp__tasks_open(c.threads);
	rc = c.threads > 1 ? try_file(&c) : SP_EUNSUP;
	if (rc == SP_EUNSUP)
		rc = check_stream(&c);
	sp__tasks_close();
	if (rc >= 0)
		rc = sp__collate_check(opts->keys, err);
	if (rc >= 0)
		rc = conclude(&c, where, err);
	clear(&c);
	pthread_mutex_destroy(&c.lock);
	return rc;
}
