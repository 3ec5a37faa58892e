/* SPDX-License-Identifier: MIT */
/*
 * Scans a source record by record, on several threads if it can be read by parts (keyscan.h).
 *
 * A worker that fails lets no further part begin.  Parts are taken in the order of the source, so
 * the error of the lowest part is the first one.
 */
#include <stdio.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "base/task.h"
#include "index/keyscan.h"
#include "rec/recfmt.h"

#define PART_BYTES (UINT64_C(4) << 20)	  /* maximum */
#define PARTS_EACH 16			  /* per worker */
#define WORKER_BYTES (UINT64_C(64) << 10) /* minimum of each buffer of a worker */

struct sp__keyworker {
	struct sp__keyscan *k;
	struct sp__parts *parts; /* NULL: it reads the whole source */
	unsigned number;
	struct sp__keybuf key;
	uint64_t checksum, records, bytes; /* bytes of the source */
	struct sp__part part;
	int rc;
};

/* The scan can add a terminator to the last record; the file does not have it. */
static void add_bytes(struct sp__keyworker *w, const char *data, size_t bytes, uint64_t offset)
{
	uint64_t size = w->k->source_bytes, n = sp__min(bytes, size - sp__min(offset, size));

	w->checksum += sp__mix64(sp__checksum(data, n) + offset);
	w->bytes += n;
}

/*
 * Takes records from the beginning of the batch, which is at this offset, until it is empty or
 * `each` returns a code.
 */
static int take_records(struct sp__keyworker *w, struct sp_batch *batch, uint64_t offset,
			struct sp_errinfo *err)
{
	const struct sp__keyscan *k = w->k;
	const struct sp_recfmt *f = &k->scan.format;
	const char *at = batch->data, *end = at + batch->bytes, *next;
	int rc = 0;

	for (; !rc && at < end; at = next) {
		struct sp__keymatch match = { .offset = offset };

		next = sp__rec_end(f, at, (size_t)(end - at));
		match.bytes = (size_t)(next - at) - sp__rec_term(f);
		if (sp__indexkey_of_record(k->key, at, match.bytes, &w->key))
			return sp__err(err, -ENOMEM, "read", k->scan.inputs[0], -1);
		rc = k->each(k->arg, w->number, w->key.data, w->key.bytes, &match, err);
		add_bytes(w, at, (size_t)(next - at), offset);
		offset += (uint64_t)(next - at);
		w->records++;
	}
	sp__progress_add(k->progress, (uint64_t)(at - (const char *)batch->data));
	*batch = (struct sp_batch){ at, (size_t)(end - at) };
	return rc;
}

int sp__keyscan_take(struct sp__keyscan *k, unsigned worker, struct sp__part *part,
		     struct sp_batch *batch)
{
	return take_records(&k->workers[worker], batch, part->from + sp__part_at(part, batch),
			    &part->err);
}

static void add_header(struct sp__keyworker *w, const struct sp_batch *header)
{
	if (header->bytes)
		add_bytes(w, header->data, header->bytes, 0);
}

/* Reads parts until there are no more, or until an error. */
static int read_parts(struct sp__keyworker *w)
{
	struct sp__part *part = &w->part;
	struct sp_batch batch;
	int rc;

	while ((rc = sp__parts_next(w->parts, part)) == SP_READY) {
		while ((rc = sp__part_read(part, &batch)) == SP_READY) {
			rc = sp__keyscan_take(w->k, w->number, part, &batch);
			if (rc)
				return rc;
		}
		if (rc < 0)
			return rc;
	}
	return rc;
}

static void work(void *arg)
{
	struct sp__keyworker *w = arg;

	w->rc = read_parts(w);
	if (w->rc)
		sp__parts_stop(w->parts);
	sp__part_close(w->parts, &w->part);
}

static void close_worker(struct sp__keyworker *w)
{
	w->k->checksum += w->checksum;
	w->k->records += w->records;
	w->k->read_bytes += w->bytes;
	sp__keybuf_release(&w->key);
}

static int run_workers(struct sp__keyscan *k, unsigned n)
{
	struct sp__keyworker *w = k->workers, *first = NULL;

	sp__tasks_run(n, work, w, sizeof(*w));
	for (unsigned i = 0; i < n; i++) {
		if (w[i].rc && (!first || w[i].part.number < first->part.number))
			first = &w[i];
	}
	if (first && k->scan.err && !k->scan.err->code)
		*k->scan.err = first->part.err;
	return first ? first->rc : 0;
}

/* Returns the number of workers that the memory permits, and sets the size of their buffers. */
static unsigned count_workers(const struct sp__keyscan *k, struct sp__rstream_opts *stream)
{
	const uint64_t each = (stream->depth + 1) * WORKER_BYTES;
	uint64_t n = sp__min(k->threads, k->memory_bytes / each);

	n = sp__max(sp__min(n, SP__KEYSCAN_WORKERS), 1);
	if (n > 1)
		stream->chunk_bytes = (uint32_t)sp__min(stream->chunk_bytes,
							k->memory_bytes / n / (stream->depth + 1) /
								WORKER_BYTES * WORKER_BYTES);
	return (unsigned)n;
}

static int make_workers(struct sp__keyscan *k, unsigned n)
{
	k->workers = calloc(n, sizeof(*k->workers));
	for (unsigned i = 0; k->workers && i < n; i++) {
		k->workers[i].k = k;
		k->workers[i].number = i;
	}
	return k->workers ? 0 : sp__err(k->scan.err, -ENOMEM, "allocate", NULL, -1);
}

static int read_by_workers(struct sp__keyscan *k, struct sp__parts *parts, unsigned n)
{
	struct sp_batch header;
	int rc;

	sp__parts_header(parts, &header);
	add_header(&k->workers[0], &header);
	for (unsigned i = 0; i < n; i++)
		k->workers[i].parts = parts;
	rc = k->read ? k->read(k->arg, parts) : run_workers(k, n);
	snprintf(k->engine, sizeof(k->engine), "%s", sp__parts_engine(parts));
	sp__parts_counters(parts, &k->io);
	return rc;
}

/* Returns SP_EUNSUP if the source must be read in order. */
static int run_parts(struct sp__keyscan *k)
{
	struct sp__scan_opts o = k->scan;
	unsigned n = k->read ? k->threads : count_workers(k, &o.stream);
	struct sp__parts *parts;
	int rc;

	if (k->read)
		o.stream = k->reading;
	if (n < 2)
		return SP_EUNSUP;
	rc = sp__parts_open(&parts, &o, sp__min(k->source_bytes / (n * PARTS_EACH), PART_BYTES));
	if (rc)
		return rc;
	rc = make_workers(k, n);
	if (!rc)
		rc = read_by_workers(k, parts, n);
	for (unsigned i = 0; k->workers && i < n; i++)
		close_worker(&k->workers[i]);
	free(k->workers);
	sp__parts_close(parts);
	return rc;
}

static int read_whole(struct sp__keyworker *w, struct sp__scan **scan)
{
	struct sp__scan_opts o = w->k->scan;
	struct sp_batch batch, header = { NULL, 0 };
	struct sp__waits waits = { 0 };
	bool header_seen = false;
	uint64_t offset = 0;
	size_t bytes;
	int rc;

	o.waits = &waits;
	rc = sp__scan_open(scan, &o);
	while (rc >= 0 && (rc = sp__iter_next(&(struct sp__iter){ *scan, sp__scan_next }, &waits,
					      &batch)) >= 0) {
		if (!header_seen) {
			sp__scan_header(*scan, &header);
			add_header(w, &header);
			offset = header.bytes;
		}
		header_seen = true;
		if (rc == SP_END)
			return 0;
		bytes = batch.bytes;
		rc = take_records(w, &batch, offset, o.err);
		if (rc)
			return rc;
		offset += bytes;
	}
	return rc;
}

/* Reads the source in order. */
static int run_whole(struct sp__keyscan *k)
{
	struct sp__keyworker w = { .k = k };
	struct sp__scan *scan = NULL;
	int rc = read_whole(&w, &scan);

	close_worker(&w);
	if (scan) {
		k->read_bytes = sp__scan_bytes(scan);
		snprintf(k->engine, sizeof(k->engine), "%s", sp__scan_engine(scan));
		sp__scan_counters(scan, &k->io);
	}
	sp__scan_close(scan);
	return rc;
}

int sp__keyscan_run(struct sp__keyscan *k)
{
	int rc = run_parts(k);

	if (rc == SP__MISCUT) {
		*k->scan.err = (struct sp_errinfo)SP_ERRINFO_INIT;
		k->checksum = k->records = k->read_bytes = 0;
		rc = k->again(k->arg);
		return rc ? rc : run_whole(k);
	}
	return rc == SP_EUNSUP ? run_whole(k) : rc;
}
