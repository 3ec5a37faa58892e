/* SPDX-License-Identifier: MIT */
/*
 * Sorts, cuts and merges data in memory.  The sort itself sorts it, binary search finds the cuts,
 * and the loser tree of the final merge merges it; its cursors read each buffer as one span.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/buffers.h>
#include "base/array.h"
#include "base/err.h"
#include "rec/collate.h"
#include "run/memory.h"
#include "sort/result.h"
#include "sort/splitters.h"
#include "sort/state.h"

#define BLOCK_BYTES ((size_t)1 << 20)
#define BLOCKS_WRITTEN 4 /* outstanding, to a file */

static struct sp_tally public_tally(const struct sp__tally *t)
{
	return (struct sp_tally){ t->records, t->bytes, t->sum };
}

static int not_whole(struct sp_errinfo *err)
{
	return sp__errf(err, SP_EFORMAT, "read", NULL, -1, "the last record is not whole");
}

/* Returns the length of the whole records at the start of a buffer. */
static size_t whole_bytes(const struct sp_recfmt *f, const struct sp_batch *b)
{
	struct sp__splitter s;
	size_t bytes;

	sp__splitter_init(&s, f);
	bytes = sp__splitter_feed(&s, b->data, b->bytes);
	sp__splitter_release(&s);
	return bytes;
}

int sp_tally_buffer(struct sp_tally *tally, const struct sp_recfmt *format,
		    const struct sp_batch *buffer, struct sp_errinfo *err)
{
	const char *at = buffer->data, *end = at + buffer->bytes, *next;
	struct sp__tally t = { 0 };

	for (; at < end; at = next) {
		next = sp__rec_end(format, at, (size_t)(end - at));
		if (!next)
			return not_whole(err);
		sp__tally_add(&t, at, (size_t)(next - at));
	}
	*tally = public_tally(&t);
	return 0;
}

size_t sp_head_buffer(const struct sp_recfmt *format, const struct sp_batch *buffer,
		      uint64_t records)
{
	const char *at = buffer->data, *end = at + buffer->bytes;

	for (; records && at && at < end; records--)
		at = sp__rec_end(format, at, (size_t)(end - at));
	return at ? (size_t)(at - buffer->data) : buffer->bytes;
}

static int no_count(const struct sp_sort_opts *opts, struct sp_errinfo *err)
{
	return opts->count ? sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				      "--count needs files: buffers cannot hold counts")
			   : 0;
}

/* Puts the last record, which lacks its terminator. */
static int put_rest(struct sp_sort *s, const struct sp_batch *buffer, size_t whole)
{
	const char *data = buffer->data + whole;
	size_t bytes = buffer->bytes - whole;
	const struct sp_recfmt *f = &s->shared.opts.format;
	struct sp_errinfo *err = s->shared.env.err;
	struct sp__bytes rec = { 0 };
	char eol = f->kind == SP_REC_LINE ? f->eol : '\n';
	int rc;

	if (f->kind == SP_REC_FIXED)
		return sp__rec_partial(f, NULL, err);
	if (sp__bytes_set(&rec, data, bytes, &s->shared.env.budget) ||
	    sp__bytes_append(&rec, &eol, 1, &s->shared.env.budget))
		rc = sp__err(err, -ENOMEM, "allocate", NULL, -1);
	else if (!sp__rec_end(f, rec.data, rec.bytes))
		rc = sp__rec_unclosed(f, data, bytes, NULL,
				      sp__count_lines(buffer->data, buffer->bytes), err);
	else
		rc = sp__sort_put_all(s, &(struct sp_batch){ rec.data, rec.bytes });
	sp__bytes_release(&rec, &s->shared.env.budget);
	return rc;
}

static int put(struct sp_sort *s, const struct sp_batch *buffer)
{
	struct sp_batch whole = { buffer->data, whole_bytes(&s->shared.opts.format, buffer) };
	int rc = whole.bytes ? sp__sort_put_all(s, &whole) : SP_READY;

	if (rc >= 0 && whole.bytes < buffer->bytes)
		rc = put_rest(s, buffer, whole.bytes);
	return rc < 0 ? rc : 0;
}

static int give(struct sp_sort *s, char *out, size_t capacity)
{
	struct sp_batch batch;
	int rc;

	while ((rc = sp__sort_get_next(s, &batch)) == SP_READY) {
		if (batch.bytes > capacity)
			return sp__errf(s->shared.env.err, SP_EBUDGET, "write", NULL, -1,
					"the result buffer is too small");
		memcpy(out, batch.data, batch.bytes);
		out += batch.bytes;
		capacity -= batch.bytes;
	}
	return rc;
}

int sp_sort_buffer(const struct sp_sort_opts *opts, const struct sp_batch *buffers, size_t n,
		   char *out, size_t capacity, struct sp_tally *read, struct sp_tally *given,
		   struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_sort_opts o = *opts;
	struct sp_sort *s = NULL;
	struct sp__tally in;
	int rc = no_count(opts, err);

	o.input_bytes = 1;
	for (size_t i = 0; i < n; i++)
		o.input_bytes += buffers[i].bytes;
	if (!rc)
		rc = sp_sort_new(&s, &o, err ? err : &own);
	for (size_t i = 0; !rc && i < n; i++)
		rc = put(s, &buffers[i]);
	if (!rc)
		rc = sp_sort_finish(s);
	if (!rc)
		rc = give(s, out, capacity);
	if (!rc && read) {
		in = sp__balance_read(&s->merging);
		*read = public_tally(&in);
	}
	if (!rc && given)
		*given = public_tally(&s->shared.balance.given);
	sp_sort_free(s);
	return rc;
}

int sp_splitters_read(struct sp_splitters **splitters, const struct sp_sort_opts *opts,
		      const struct sp_batch *buffer, struct sp_errinfo *err)
{
	int rc = sp__splitters_new(splitters, opts, err);

	if (!rc && whole_bytes(&opts->format, buffer) < buffer->bytes)
		rc = not_whole(err);
	if (!rc)
		rc = sp__splitters_load_batch(*splitters, buffer, NULL, err);
	if (!rc)
		rc = sp__collate_check(opts->keys, err);
	return sp__splitters_keep(splitters, rc);
}

int sp_split_buffer(const struct sp_splitters *splitters, const struct sp_batch *sorted,
		    size_t *offsets, struct sp_errinfo *err)
{
	size_t at = 0;

	if (whole_bytes(&splitters->format, sorted) < sorted->bytes)
		return not_whole(err);
	for (size_t i = 0; i < splitters->n; i++) {
		const struct sp_batch rest = { sorted->data + at, sorted->bytes - at };

		at += rest.bytes ? sp__splitters_search(splitters, i, &rest) : 0;
		offsets[i] = at;
	}
	return sp__collate_check(splitters->keys, err);
}

struct sp_merge {
	struct sp__merge merge;
	struct sp__budget budget;
	struct sp_errinfo *err, own;
	struct sp_batch *buffers; /* empty once their cursors have them */
	bool unique, coded;
	struct sp__tally read, given, dropped;
	struct sp__wstream_opts writing;
	char *block;
	size_t capacity;
	bool held; /* the winner did not fit into the previous block */
	int ended;
};

/* Returns a whole buffer as one span, then SP_END. */
static int span(void *merge, size_t index, bool wait, const char **data, size_t *bytes)
{
	struct sp_merge *m = merge;
	struct sp_batch *b = &m->buffers[index];

	(void)wait;
	if (!b->bytes)
		return SP_END;
	*data = b->data;
	*bytes = b->bytes;
	b->bytes = 0;
	return SP_READY;
}

static int set_up(struct sp_merge *m, const struct sp_sort_opts *opts,
		  const struct sp_batch *buffers, size_t n)
{
	int rc;

	m->buffers = calloc(n + 1, sizeof(*m->buffers));
	m->block = malloc(m->capacity = BLOCK_BYTES);
	if (!m->buffers || !m->block)
		return sp__err(m->err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_init(&m->budget, sp__working_memory(&opts->run, opts->run.memory_bytes));
	rc = sp__merge_init(&m->merge, opts->keys, (unsigned)n, &m->budget, m->err);
	m->writing = (struct sp__wstream_opts){ .engine = opts->run.engine,
						.direct = sp__direct_of(opts->run.direct),
						.chunk_bytes = BLOCK_BYTES,
						.depth = BLOCKS_WRITTEN };
	for (size_t i = 0; !rc && i < n; i++) {
		m->buffers[i] = buffers[i];
		m->writing.expected_bytes += buffers[i].bytes;
		if (whole_bytes(&opts->format, &buffers[i]) < buffers[i].bytes)
			rc = not_whole(m->err);
		m->merge.cursors[i].feed =
			(struct sp__feed){ .ctx = m, .index = i, .get = span, .read = &m->read };
	}
	m->unique = opts->unique;
	m->coded = m->merge.coded;
	return rc;
}

int sp_merge_open(struct sp_merge **merge, const struct sp_sort_opts *opts,
		  const struct sp_batch *buffers, size_t n, struct sp_errinfo *err)
{
	struct sp_merge *m = calloc(1, sizeof(*m));
	int rc = no_count(opts, err);

	*merge = NULL;
	if (!m)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	m->own = (struct sp_errinfo)SP_ERRINFO_INIT;
	m->err = err ? err : &m->own;
	if (!rc)
		rc = set_up(m, opts, buffers, n);
	if (rc < 0)
		sp_merge_close(m);
	else
		*merge = m;
	return rc;
}

void sp_merge_close(struct sp_merge *m)
{
	if (!m)
		return;
	sp__merge_release(&m->merge);
	free(m->buffers);
	free(m->block);
	free(m);
}

/* True if the winner does not precede the previous record, by its code or by comparison. */
static bool in_order(const struct sp_merge *m)
{
	size_t term = sp__rec_term(&sp__ks(m->merge.keys)->format);

	if (m->coded || !m->merge.prev)
		return m->merge.coded == m->coded;
	return sp_keyset_compare(m->merge.keys, m->merge.prev, m->merge.prev_bytes - term,
				 m->merge.rec, m->merge.bytes - term) <= 0;
}

/* Moves to the next record that is not dropped. */
static int next_record(struct sp_merge *m)
{
	int rc;

	while ((rc = sp__merge_next(&m->merge, true)) == SP_READY) {
		if (!in_order(m))
			return sp__errf(m->err, SP_EFORMAT, "merge", NULL, -1,
					"the buffers are not in order");
		if (!m->unique || !m->merge.equal)
			return rc;
		sp__tally_add(&m->dropped, m->merge.rec, m->merge.bytes);
	}
	return rc;
}

static int fits(struct sp_merge *m, size_t bytes)
{
	return SP__ARRAY_GROW(m->block, m->capacity, bytes)
		       ? 0
		       : sp__err(m->err, -ENOMEM, "allocate", NULL, -1);
}

static int ended(struct sp_merge *m)
{
	struct sp__tally all = m->given;

	sp__tally_join(&all, &m->dropped);
	if (all.records != m->read.records || all.bytes != m->read.bytes || all.sum != m->read.sum)
		return sp__err(m->err, SP_EBALANCE, "merge", NULL, -1);
	return SP_END;
}

int sp_merge_next(struct sp_merge *m, struct sp_batch *block)
{
	size_t used = 0;
	int rc = m->ended ? SP_END : SP_READY;

	if (m->ended)
		return m->ended < 0 ? m->ended : SP_END;
	while (rc == SP_READY) {
		if (!m->held)
			rc = next_record(m);
		if (rc == SP_READY && !used)
			rc = fits(m, m->merge.bytes) ? -ENOMEM : rc;
		m->held = rc == SP_READY && used + m->merge.bytes > m->capacity;
		if (rc != SP_READY || m->held)
			break;
		memcpy(m->block + used, m->merge.rec, m->merge.bytes);
		used += m->merge.bytes;
		sp__tally_add(&m->given, m->merge.rec, m->merge.bytes);
	}
	if (rc == SP_END)
		rc = ended(m);
	if (rc < 0) {
		m->ended = sp__err(m->err, rc, "merge", NULL, -1);
		return rc;
	}
	m->ended = rc == SP_END;
	*block = (struct sp_batch){ m->block, used };
	return used ? SP_READY : SP_END;
}

void sp_merge_tally(const struct sp_merge *m, struct sp_tally *read, struct sp_tally *given)
{
	*read = public_tally(&m->read);
	*given = public_tally(&m->given);
}

int sp_merge_write(struct sp_merge *m, const char *path, const struct sp_batch *header)
{
	const struct sp_sort_io io = { .output = path };
	struct sp__sort_result r = { .io = &io, .err = m->err };
	struct sp_batch block;
	int rc = sp__result_begin(&r, &m->writing);

	if (!rc)
		rc = sp__result_put_header(&r, header);
	while (!rc && (rc = sp_merge_next(m, &block)) == SP_READY)
		rc = sp__result_put(&r, &block);
	if (!rc)
		rc = sp__result_finish(&r);
	if (!rc)
		rc = sp__result_commit(&r);
	sp__result_close(&r);
	if (rc < 0) /* records taken from it are in no file */
		m->ended = rc;
	return rc;
}
