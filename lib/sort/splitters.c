/* SPDX-License-Identifier: MIT */
/*
 * Reads splitters, and finds where they cut sorted data.
 *
 * Algorithm: the result of a sort is a stream of batches in order.  A batch is in one part if its
 * last record is, so typically each batch costs one comparison.  Only if a splitter falls into a
 * batch are its records compared one by one.  The last record of a batch of lines is found from its
 * end.  In CSV a newline can be text, so the whole batch is read.
 *
 * Only keys are compared, never the last resort: a splitter represents all records with its key,
 * and a group of equal keys is never cut.  So -s, -u and --count have the same result as without
 * parts.
 *
 * Rejected: a splitter as a pair of key and record.  It would balance a key with many records, but
 * divide groups that -u collapses.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "flow/scan.h"
#include "rec/collate.h"
#include "run/memory.h"
#include "sort/merge/sequence.h"
#include "sort/splitters.h"

int sp__splitters_new(struct sp_splitters **splitters, const struct sp_sort_opts *opts,
		      struct sp_errinfo *err)
{
	struct sp_splitters *s = calloc(1, sizeof(*s));

	*splitters = s;
	if (!s)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	s->keys = opts->keys;
	s->format = opts->format;
	sp__budget_init(&s->budget, opts->run.memory_bytes);
	return 0;
}

void sp_splitters_free(struct sp_splitters *s)
{
	if (!s)
		return;
	sp__bytes_release(&s->text, &s->budget);
	free(s->ends);
	free(s);
}

int sp__splitters_keep(struct sp_splitters **splitters, int rc)
{
	if (rc < 0) {
		sp_splitters_free(*splitters);
		*splitters = NULL;
	}
	return rc;
}

size_t sp_splitters_count(const struct sp_splitters *s)
{
	return s->n;
}

int sp__splitters_add(struct sp_splitters *s, const char *rec, size_t bytes)
{
	if (!SP__ARRAY_GROW(s->ends, s->ends_cap, s->n + 1) ||
	    sp__bytes_append(&s->text, rec, bytes, &s->budget) < 0)
		return -ENOMEM;
	s->ends[s->n++] = s->text.bytes;
	return 0;
}

struct sp_batch sp_splitters_get(const struct sp_splitters *s, size_t i)
{
	size_t from = i ? s->ends[i - 1] : 0;

	return (struct sp_batch){ s->text.data + from, s->ends[i] - from };
}

/* Compares a record, with its terminator, with splitter i. */
static int compare(const struct sp_splitters *s, const char *rec, size_t bytes, size_t i)
{
	struct sp_batch at = sp_splitters_get(s, i);
	size_t term = sp__rec_term(&s->format);

	return sp__key_compare(s->keys, rec, bytes - term, at.data, at.bytes - term);
}

int sp__splitters_load_batch(struct sp_splitters *s, const struct sp_batch *batch, const char *path,
			     struct sp_errinfo *err)
{
	const char *at = batch->data, *end = at + batch->bytes, *next;

	for (; at < end; at = next) {
		next = sp__rec_end(&s->format, at, (size_t)(end - at));
		if (s->n && compare(s, at, (size_t)(next - at), s->n - 1) < 0)
			return sp__errf(err, SP_EFORMAT, "read", path, -1,
					"splitter %zu is out of order", s->n + 1);
		if (sp__splitters_add(s, at, (size_t)(next - at)) < 0)
			return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	return 0;
}

static int load(struct sp_splitters *s, const struct sp_sort_opts *opts, const char *path,
		struct sp_errinfo *err)
{
	struct sp__buffers b = sp__buffers(sp__working_memory(&opts->run, opts->run.memory_bytes));
	struct sp__waits waits = { 0 };
	struct sp__scan_opts o = {
		.format = opts->format,
		.inputs = &path,
		.ninputs = 1,
		.stream = { .direct = SP__DIRECT_NEVER, .chunk_bytes = b.chunk_bytes, .depth = 1 },
		.keys = s->keys,
		.waits = &waits,
		.err = err,
	};
	struct sp__scan *scan = NULL;
	struct sp_batch batch;
	int rc = sp__scan_open(&scan, &o);

	while (!rc && (rc = sp__iter_next(&(struct sp__iter){ scan, sp__scan_next }, &waits,
					  &batch)) == SP_READY)
		rc = sp__splitters_load_batch(s, &batch, path, err);
	sp__scan_close(scan);
	return rc < 0 ? rc : sp__collate_check(s->keys, err);
}

int sp_splitters_load(struct sp_splitters **splitters, const struct sp_sort_opts *opts,
		      const char *path, struct sp_errinfo *err)
{
	int rc = sp__splitters_new(splitters, opts, err);

	return sp__splitters_keep(splitters, rc ? rc : load(*splitters, opts, path, err));
}

/* A record of a batch.  Its number, if it has one, is before it. */
struct located {
	const char *rec, *end;
};

static struct located located_at(const struct sp_splitters *s, const char *at, const char *end,
				 bool counted)
{
	const char *rec = counted ? sp__uncounted(&s->format, at) : at;

	return (struct located){ rec, sp__rec_end(&s->format, rec, (size_t)(end - rec)) };
}

static struct located last_of(const struct sp_splitters *s, const struct sp_batch *batch,
			      bool counted)
{
	const char *at = batch->data, *end = at + batch->bytes, *before;
	struct located p;

	if (s->format.kind == SP_REC_FIXED)
		return (struct located){ end - s->format.fixed_bytes, end };
	if (s->format.kind == SP_REC_LINE) {
		before = memrchr(at, s->format.eol, batch->bytes - 1);
		return located_at(s, before ? before + 1 : at, end, counted);
	}
	do {
		p = located_at(s, at, end, counted);
		at = p.end;
	} while (at < end);
	return p;
}

size_t sp__splitters_cut(const struct sp_splitters *s, size_t part, const struct sp_batch *batch,
			 bool counted)
{
	const char *at = batch->data, *end = at + batch->bytes;
	struct located p;

	if (part == s->n)
		return batch->bytes;
	p = last_of(s, batch, counted);
	if (compare(s, p.rec, (size_t)(p.end - p.rec), part) < 0)
		return batch->bytes;
	for (;; at = p.end) {
		p = located_at(s, at, end, counted);
		if (compare(s, p.rec, (size_t)(p.end - p.rec), part) >= 0)
			return (size_t)(at - batch->data);
	}
}

/* Returns the record that contains this byte of the buffer. */
static struct located around(const struct sp_splitters *s, const struct sp_batch *b, size_t at)
{
	const char *data = b->data, *end = data + b->bytes, *before;
	size_t record = s->format.fixed_bytes;

	if (s->format.kind == SP_REC_FIXED)
		return (struct located){ data + at / record * record,
					 data + (at / record + 1) * record };
	before = at ? memrchr(data, s->format.eol, at) : NULL;
	return located_at(s, before ? before + 1 : data, end, false);
}

size_t sp__splitters_search(const struct sp_splitters *s, size_t part,
			    const struct sp_batch *sorted)
{
	size_t from = 0, to = sorted->bytes;
	struct located p;

	while (from < to) {
		/* In CSV, only a search from the start finds a record. */
		if (s->format.kind == SP_REC_CSV) {
			p = located_at(s, sorted->data + from, sorted->data + to, false);
			if (compare(s, p.rec, (size_t)(p.end - p.rec), part) >= 0)
				break;
			from = (size_t)(p.end - sorted->data);
			continue;
		}
		p = around(s, sorted, from + (to - from) / 2);
		if (compare(s, p.rec, (size_t)(p.end - p.rec), part) < 0)
			from = (size_t)(p.end - sorted->data);
		else
			to = (size_t)(p.rec - sorted->data);
	}
	return from;
}
