/* SPDX-License-Identifier: MIT */
/*
 * Merges points in buckets of extents (merge.h).
 *
 * Algorithm.  The blocks of a sample of the points are the borders of buckets with similar numbers
 * of points.  Threads count the points of each chunk per bucket, and then move them to their
 * buckets, which keeps the order of points in a bucket.  Each bucket is sorted and merged by one
 * thread at a time, in groups of extents.
 *
 * If the load can be repeated, marks must be on the device before cells change, and cells before
 * their checksums.  So all buckets do the same step of their groups, and the device is synced
 * between two steps.
 *
 * With one thread there is one bucket.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bisect.h"
#include "base/err.h"
#include "base/minmax.h"
#include "cube/elements/merge.h"
#include "cube/mapping/boxcut.h"

#define CHUNK_POINTS ((size_t)32768)
#define BUCKETS_EACH 4			   /* per thread */
#define BUCKET_BYTES (UINT64_C(256) << 10) /* minimum of the extents of several buckets */
#define SAMPLES 32			   /* per bucket */

static size_t chunks_of(size_t points)
{
	return points / CHUNK_POINTS + 1;
}

int sp__pointmerge_open(struct sp__pointmerge *m, size_t points, uint64_t bytes,
			struct sp_cube_stats *stats)
{
	int rc = sp__transfers_open(&m->transfers, m->file, stats, m->err);
	uint64_t n = m->transfers.share > 1 ? m->transfers.share * BUCKETS_EACH : 1;

	n = sp__min(sp__min(n, SP__POINTMERGE_BUCKETS), sp__max(bytes / BUCKET_BYTES, 1));
	m->buckets = calloc(n, sizeof(*m->buckets));
	m->sorted = n > 1 ? malloc(points * sizeof(*m->sorted)) : NULL;
	m->starts = calloc(chunks_of(points), sizeof(*m->starts));
	if (!rc && (!m->buckets || !m->starts || (n > 1 && !m->sorted)))
		rc = sp__err(m->err, -ENOMEM, "malloc", NULL, -1);
	for (; !rc && m->n < n; m->n++) {
		struct sp__change *ch = &m->buckets[m->n].change;

		*ch = (struct sp__change){ .file = m->file,
					   .err = m->err,
					   .sum = m->sum,
					   .repeatable = m->repeatable,
					   .again = m->again };
		rc = sp__change_open(ch, bytes / n);
	}
	return rc;
}

void sp__pointmerge_close(struct sp__pointmerge *m)
{
	for (unsigned i = 0; i < m->n; i++)
		sp__change_close(&m->buckets[i].change);
	sp__transfers_close(&m->transfers);
	free(m->buckets);
	free(m->sorted);
	free(m->starts);
}

static int deal(struct sp__pointmerge *m, uint64_t items, sp__deal_fn *fn)
{
	return sp__deal(sp__transfers_for(&m->transfers, items), items, fn, m, m->err);
}

/* Prepares the change of a bucket for a thread. */
static struct sp__pointmerge_bucket *bucket_of(struct sp__pointmerge *m, unsigned worker,
					       uint64_t bucket, struct sp_errinfo *err)
{
	struct sp__pointmerge_bucket *b = &m->buckets[bucket];

	b->change.err = err;
	b->change.transfer = sp__transfers_of(&m->transfers, worker, err);
	return b;
}

static int end_bucket(void *arg, unsigned worker, uint64_t bucket, struct sp_errinfo *err)
{
	return sp__change_end(&bucket_of(arg, worker, bucket, err)->change);
}

static int write_bucket(void *arg, unsigned worker, uint64_t bucket, struct sp_errinfo *err)
{
	return sp__change_write(&bucket_of(arg, worker, bucket, err)->change);
}

/* Makes and reads the next group of a bucket; writes it, if no mark must be on the device first. */
static int read_bucket(void *arg, unsigned worker, uint64_t bucket, struct sp_errinfo *err)
{
	struct sp__pointmerge *m = arg;
	struct sp__pointmerge_bucket *b = bucket_of(m, worker, bucket, err);
	int rc = 0;

	if (m->filling && b->more) {
		rc = sp__change_absent(&b->change, &b->box, b->x);
		b->more = rc > 0;
	} else if (!m->filling) {
		(void)sp__change_next(&b->change);
	}
	if (rc >= 0)
		rc = sp__change_read(&b->change);
	if (!rc && !m->repeatable)
		rc = sp__change_write(&b->change);
	return rc || m->repeatable ? rc : sp__change_end(&b->change);
}

static bool has_more(const struct sp__pointmerge *m)
{
	bool more = false;

	for (unsigned i = 0; i < m->used; i++)
		more |= m->filling ? m->buckets[i].more : m->buckets[i].change.npoints > 0;
	return more;
}

/* Carries out the groups of all buckets. */
static int run(struct sp__pointmerge *m)
{
	int rc = 0;

	while (!rc && has_more(m)) {
		rc = deal(m, m->used, read_bucket);
		if (rc || !m->repeatable)
			continue;
		rc = sp__cube_sync(m->file, m->err);
		if (!rc)
			rc = deal(m, m->used, write_bucket);
		if (!rc)
			rc = sp__cube_sync(m->file, m->err);
		if (!rc)
			rc = deal(m, m->used, end_bucket);
	}
	return rc;
}

static int by_value(const void *a, const void *b)
{
	return SP__ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Chooses the borders of buckets. */
static void choose_splitters(struct sp__pointmerge *m)
{
	uint64_t sample[SP__POINTMERGE_BUCKETS * SAMPLES];
	size_t n = (size_t)m->used * SAMPLES;

	for (size_t i = 0; i < n; i++)
		sample[i] = m->points[i * (m->npoints / n)].block;
	qsort(sample, n, sizeof(*sample), by_value);
	for (unsigned i = 1; i < m->used; i++)
		m->splitters[i - 1] = sample[i * SAMPLES];
}

static unsigned bucket_of_block(const struct sp__pointmerge *m, uint64_t block)
{
	return (unsigned)SP__BISECT(m->used - 1, i, m->splitters[i] <= block);
}

static int count_chunk(void *arg, unsigned worker, uint64_t chunk, struct sp_errinfo *err)
{
	struct sp__pointmerge *m = arg;
	size_t begin = chunk * CHUNK_POINTS, end = sp__min(begin + CHUNK_POINTS, m->npoints);
	size_t counts[SP__POINTMERGE_BUCKETS] = { 0 };

	(void)worker;
	(void)err;
	for (size_t i = begin; i < end; i++)
		counts[bucket_of_block(m, m->points[i].block)]++;
	memcpy(m->starts[chunk], counts, sizeof(counts));
	return 0;
}

static int move_chunk(void *arg, unsigned worker, uint64_t chunk, struct sp_errinfo *err)
{
	struct sp__pointmerge *m = arg;
	size_t begin = chunk * CHUNK_POINTS, end = sp__min(begin + CHUNK_POINTS, m->npoints);
	size_t to[SP__POINTMERGE_BUCKETS];

	(void)worker;
	(void)err;
	memcpy(to, m->starts[chunk], sizeof(to));
	for (size_t i = begin; i < end; i++)
		m->sorted[to[bucket_of_block(m, m->points[i].block)]++] = m->points[i];
	return 0;
}

/* Turns the counts of chunks into the offsets of their points.  Sets the borders of buckets. */
static void set_starts(struct sp__pointmerge *m, size_t *borders)
{
	size_t at = 0;

	for (unsigned b = 0; b < m->used; b++) {
		borders[b] = at;
		for (size_t c = 0; c < chunks_of(m->npoints); c++) {
			size_t count = m->starts[c][b];

			m->starts[c][b] = at;
			at += count;
		}
	}
	borders[m->used] = at;
}

struct sorting {
	struct sp__pointmerge *merge;
	size_t borders[SP__POINTMERGE_BUCKETS + 1];
};

static int sort_bucket(void *arg, unsigned worker, uint64_t bucket, struct sp_errinfo *err)
{
	struct sorting *s = arg;
	struct sp__pointmerge *m = s->merge;
	struct sp__point *points = m->used > 1 ? m->sorted : m->points;
	size_t begin = s->borders[bucket];

	(void)worker;
	(void)err;
	sp__change_begin(&m->buckets[bucket].change, points + begin, s->borders[bucket + 1] - begin,
			 m->values);
	return 0;
}

/* Distributes the points among the buckets, and sorts each bucket. */
static int sort_points(struct sp__pointmerge *m)
{
	struct sorting s = { .merge = m, .borders = { 0, m->npoints } };
	int rc = 0;

	if (m->used > 1) {
		choose_splitters(m);
		rc = deal(m, chunks_of(m->npoints), count_chunk);
		set_starts(m, s.borders);
		if (!rc)
			rc = deal(m, chunks_of(m->npoints), move_chunk);
	}
	return rc ? rc
		  : sp__deal(sp__transfers_for(&m->transfers, m->used), m->used, sort_bucket, &s,
			     m->err);
}

int sp__pointmerge_points(struct sp__pointmerge *m, struct sp__point *points, size_t n,
			  const uint8_t *values)
{
	int rc;

	m->filling = false;
	m->points = points;
	m->npoints = n;
	m->values = values;
	m->used = n < 2 * CHUNK_POINTS ? 1 : m->n;
	rc = sort_points(m);
	return rc ? rc : run(m);
}

int sp__pointmerge_absent(struct sp__pointmerge *m)
{
	const struct sp__cube_superblock *h = &m->file->superblock;
	struct sp_cube_box all = { 0 };
	struct sp__boxcut cut;

	for (unsigned i = 0; i < h->shape.ndims; i++) {
		all.hi[i] = (h->shape.dims[i] - 1) / h->shape.tile[i];
		all.stride[i] = i ? 1 : h->extent_cells;
	}
	m->filling = true;
	m->used = (unsigned)sp__boxcut_init(&cut, &all, h->shape.ndims, 1, m->n);
	for (unsigned i = 0; i < m->used; i++) {
		struct sp__pointmerge_bucket *b = &m->buckets[i];

		sp__change_begin(&b->change, NULL, 0, NULL);
		b->box = sp__boxcut_item(&cut, i);
		memcpy(b->x, b->box.lo, sizeof(b->x));
		b->more = true;
	}
	return run(m);
}
