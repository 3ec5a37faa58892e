/* SPDX-License-Identifier: MIT */
/*
 * Implements the public functions on an open index.
 *
 * Lookups run ahead of the fetch of records, which runs ahead of the sink; all reads are on one
 * queue.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/index.h>
#include "base/err.h"
#include "flow/operator.h"
#include "index/indexfile.h"
#include "index/leafscan.h"
#include "index/matched.h"
#include "obs/progress.h"
#include "run/charge.h"

#define DEPTH 128

/*
 * The operator of a plan that returns the records of a range.  A batch has the records that have
 * arrived, so it is returned as early as possible.
 */

/* Large enough that the call of an operator costs little compared with its records. */
#define BATCH_BYTES ((size_t)32 << 10)

struct range {
	struct sp_operator op;
	struct sp__index index;
	struct sp__requests reads;
	struct sp__leafscan *leaves;
	struct sp__matched matched;
	struct sp__bytes batch;
	int status; /* status at the end of the batch; SP_READY: the batch was full */
};

static int next(void *operator, struct sp_batch * batch)
{
	struct range *r = operator;
	struct sp_flow *flow = r->op.flow;
	const char eol = sp__operator_eol(&r->op);
	struct sp__keymatch m;
	const char *record;
	uint64_t records = 0;
	int rc = r->status == SP_READY || r->status == SP_LATER ? SP_READY : r->status;

	r->batch.bytes = 0;
	while (rc == SP_READY && r->batch.bytes < BATCH_BYTES) {
		rc = sp__matched_next(&r->matched, &m, &record);
		if (rc != SP_READY)
			break;
		records++;
		if (sp__flow_append(flow, &r->batch, record, m.bytes) ||
		    (r->op.format.kind != SP_REC_FIXED &&
		     sp__flow_append(flow, &r->batch, &eol, 1)))
			rc = -ENOMEM;
	}
	sp__charge_work(&flow->env, records, 0, r->batch.bytes);
	r->status = rc;
	*batch = (struct sp_batch){ r->batch.data, r->batch.bytes };
	return r->batch.bytes && rc >= 0 ? SP_READY : rc;
}

static void note_run(const void *operator, struct sp_run_stats * st)
{
	const struct range *r = operator;

	if (!r->leaves)
		return;
	sp__leafscan_note(r->leaves, st);
	sp__env_note_io(st, sp__queue_counters(r->reads.queue));
	snprintf(st->input_engine, sizeof(st->input_engine), "%s",
		 sp__queue_engine(r->reads.queue));
}

static void close_range(void *operator)
{
	struct range *r = operator;

	sp__requests_close(&r->reads);
	sp__matched_close(&r->matched);
	sp__leafscan_close(r->leaves);
	sp__index_close(&r->index);
	sp__bytes_release(&r->batch, &r->op.flow->env.budget);
}

static void set_fields(struct range *r)
{
	const struct sp__index_header *h = &r->index.header;
	char separator = (char)h->separator;

	r->op.format = h->format;
	sp__cut_init(&r->op.cut, h->separator >= 0 ? &separator : NULL, h->separator >= 0,
		     h->format.kind == SP_REC_CSV);
}

static int open_range(struct range *r, const char *path, const char *lo, const char *hi)
{
	struct sp_flow *flow = r->op.flow;
	struct sp__queue_opts qo = { .engine = flow->run.engine,
				     .depth = DEPTH + 1,
				     .trace = flow->env.trace,
				     .device = sp__env_reading(&flow->env).device };
	struct sp__leafscan_opts so = { .index = &r->index,
					.reads = &r->reads,
					.waits = &flow->waits,
					.lo = lo,
					.hi = hi,
					.hi_open = true,
					.sums = true };
	int rc = sp__index_open(&r->index, path, &flow->env);

	if (!rc)
		rc = sp__requests_open(&r->reads, &qo, flow->env.err);
	if (rc)
		return rc;
	set_fields(r);
	rc = sp__leafscan_open(&r->leaves, &so);
	r->matched.find = sp__leafscan_find;
	r->matched.arg = r->leaves;
	return rc ? rc
		  : sp__matched_fetch(&r->matched, &r->index, DEPTH,
				      flow->env.budget.limit_bytes / 8);
}

int sp_index_operator(struct sp_operator **op, struct sp_flow *flow, const char *path,
		      const char *lo, const char *hi)
{
	int rc;
	struct range *r = sp__operator_new(flow, sizeof(*r), NULL, 0, &rc);

	if (!r)
		return rc;
	r->op.next = next;
	r->op.close = close_range;
	r->op.note = note_run;
	r->matched.reads = &r->reads;
	r->matched.waits = &flow->waits;
	r->matched.status = r->status = SP_READY;
	*op = &r->op;
	return open_range(r, path, lo, hi);
}

struct sp_index {
	struct sp_index_opts opts;
	struct sp__env env;
	bool env_open;
	struct sp__index file;
};

#define DEPTH_MAX 1024

int sp_index_open(struct sp_index **index, const char *path, const struct sp_index_opts *opts,
		  struct sp_errinfo *err)
{
	struct sp_index *ix = calloc(1, sizeof(*ix));
	int rc;

	if (!ix)
		return sp__err(err, -ENOMEM, "open", path, -1);
	ix->opts = *opts;
	if (!ix->opts.depth)
		ix->opts.depth = DEPTH;
	rc = ix->opts.depth > DEPTH_MAX ? sp__errf(err, -EINVAL, "open", path, -1,
						   "depth must be at most %d", DEPTH_MAX)
					: 0;
	if (!rc) {
		rc = sp__env_open(&ix->env, &ix->opts.run, err);
		ix->env_open = true;
	}
	if (!rc)
		rc = sp__index_open_any(&ix->file, path, &ix->env, ix->opts.any_source);
	if (rc) {
		(void)sp_index_close(ix);
		return rc;
	}
	*index = ix;
	return 0;
}

int sp_index_close(struct sp_index *ix)
{
	int rc = 0;

	if (!ix)
		return 0;
	sp__index_close(&ix->file);
	if (ix->env_open)
		rc = sp__env_close(&ix->env);
	free(ix);
	return rc;
}

void sp_index_info(const struct sp_index *ix, struct sp_index_info *info)
{
	const struct sp__index_header *h = &ix->file.header;

	*info = (struct sp_index_info){ .source = ix->file.source,
					.key = h->key,
					.format = h->format,
					.separator = h->separator,
					.header_records = h->header_records,
					.page_bytes = h->page_bytes,
					.pages = h->end_page,
					.levels = h->levels,
					.records = h->records,
					.keys = h->keys,
					.source_bytes = h->source_state.bytes,
					.source_checksum = h->source_checksum,
					.source_mtime_ns = sp__file_state_time(&h->source_state),
					.stale = *ix->file.stale ? ix->file.stale : NULL };
}

int sp_index_check(struct sp_index *ix, struct sp_index_stats *stats)
{
	struct sp__progress_phase progress =
		SP__PROGRESS_PHASE_INIT(ix->opts.progress, ix->opts.progress_arg);
	int rc = sp__index_check(&ix->file, stats, &progress);

	return rc ? rc : sp__index_accept(&ix->file);
}

/* A call of lookup or range. */
struct query {
	struct sp_index *ix;
	struct sp__waits waits;
	struct sp__requests reads;
	struct sp__lookup *lookup;
	struct sp__leafscan *leaves;
	struct sp__matched matched;
	sp_index_sink sink;
	void *arg;
	struct sp_index_stats *stats, own;

	sp_index_keys keys;
	void *keys_arg;
	struct sp__keybuf key;
	bool keys_end;
	bool counted; /* the key found last is in st->found */
};

static int begin(struct query *q, bool records)
{
	struct sp_index *ix = q->ix;
	struct sp__rstream_opts reading = sp__env_reading(&ix->env);
	struct sp__queue_opts o = { .engine = ix->opts.run.engine,
				    .depth = 2 * ix->opts.depth,
				    .trace = ix->env.trace,
				    .device = reading.device };
	int rc;

	q->stats = q->stats ? q->stats : &q->own;
	*q->stats = (struct sp_index_stats){ 0 };
	if (*ix->file.stale)
		return sp__index_stale_err(&ix->file);
	q->matched.reads = &q->reads;
	q->matched.waits = &q->waits;
	rc = sp__requests_open(&q->reads, &o, ix->env.err);
	if (!rc && records)
		rc = sp__matched_fetch(&q->matched, &ix->file, ix->opts.depth,
				       ix->env.budget.limit_bytes / 4);
	return rc;
}

static void note(struct query *q)
{
	struct sp_index_stats *st = q->stats;

	sp__env_note(&q->ix->env, &st->run, true);
	if (!q->ix->file.nodes->direct && !q->ix->env.device)
		sp__env_note_cached(&q->ix->env, &st->run, q->ix->file.path);
	if (q->reads.queue) {
		sp__env_note_io(&st->run, sp__queue_counters(q->reads.queue));
		snprintf(st->run.input_engine, sizeof(st->run.input_engine), "%s",
			 sp__queue_engine(q->reads.queue));
	}
	if (q->leaves)
		sp__leafscan_note(q->leaves, &st->run);
	if (q->lookup)
		sp__lookup_counts(q->lookup, &st->nodes_in_memory, &st->nodes_read);
	st->levels = q->ix->file.header.levels;
	st->pages = q->ix->file.header.end_page;
}

static int end(struct query *q, int rc)
{
	note(q);
	sp__requests_close(&q->reads);
	sp__lookup_close(q->lookup);
	sp__leafscan_close(q->leaves);
	sp__matched_close(&q->matched);
	sp__keybuf_release(&q->key);
	return rc;
}

/* Passes all matches to the sink. */
static int run(struct query *q)
{
	struct sp__keymatch m;
	const char *record;
	int rc;

	q->matched.status = SP_READY;
	while ((rc = sp__matched_next(&q->matched, &m, &record)) != SP_END) {
		if (rc == SP_READY) {
			struct sp_index_match match = { m.offset, m.bytes, record };

			q->stats->records++;
			sp__charge_work(&q->ix->env, 1, 0, record ? m.bytes : 0);
			rc = q->sink(q->arg, &match);
		} else if (rc == SP_LATER) {
			rc = sp__waits_block(&q->waits);
		}
		if (rc < 0)
			break;
	}
	return rc;
}

/* Puts keys while the lookup has space. */
static int put_keys(struct query *q)
{
	const char *key;
	size_t bytes;
	int rc = 0;

	while (!rc && !q->keys_end && sp__lookup_has_space(q->lookup)) {
		rc = q->keys(q->keys_arg, &key, &bytes);
		q->keys_end = rc == 0;
		if (rc <= 0)
			break;
		rc = sp__indexkey_of_text(&q->ix->file.key, key, bytes, &q->key, q->ix->env.err);
		if (!rc)
			rc = sp__lookup_put(q->lookup, q->key.data, q->key.bytes, q->stats->keys++);
	}
	return rc;
}

static int find_keys(void *arg, const struct sp__keymatch **matches, size_t *n)
{
	struct query *q = arg;
	struct sp__found found;
	int rc;

	do {
		rc = put_keys(q);
		if (rc)
			return rc;
		rc = sp__lookup_get(q->lookup, &found);
	} while (rc == SP_END && !q->keys_end);
	if (rc != SP_READY)
		return rc;
	*matches = found.matches;
	*n = found.n;
	if (found.n && !q->counted)
		q->stats->found++;
	q->counted = found.n && !found.last;
	return SP_READY;
}

int sp_index_lookup(struct sp_index *ix, sp_index_keys keys, void *keys_arg, bool records,
		    sp_index_sink sink, void *arg, struct sp_index_stats *stats)
{
	struct query q = { .ix = ix,
			   .sink = sink,
			   .arg = arg,
			   .stats = stats,
			   .keys = keys,
			   .keys_arg = keys_arg };
	struct sp__lookup_opts o = { .index = &ix->file,
				     .reads = &q.reads,
				     .waits = &q.waits,
				     .max = ix->opts.depth,
				     .bytes = ix->env.budget.limit_bytes / 2,
				     .ordered = true,
				     .sums = records };
	int rc = begin(&q, records);

	if (!rc)
		rc = sp__lookup_open(&q.lookup, &o);
	q.matched.find = find_keys;
	q.matched.arg = &q;
	return end(&q, rc ? rc : run(&q));
}

int sp_index_range(struct sp_index *ix, const char *lo, const char *hi, bool records,
		   sp_index_sink sink, void *arg, struct sp_index_stats *stats)
{
	struct query q = { .ix = ix, .sink = sink, .arg = arg, .stats = stats };
	struct sp__leafscan_opts o = { .index = &ix->file,
				       .reads = &q.reads,
				       .waits = &q.waits,
				       .lo = lo,
				       .hi = hi,
				       .hi_open = true,
				       .sums = records };
	int rc = begin(&q, records);

	if (!rc)
		rc = sp__leafscan_open(&q.leaves, &o);
	q.matched.find = sp__leafscan_find;
	q.matched.arg = q.leaves;
	return end(&q, rc ? rc : run(&q));
}
