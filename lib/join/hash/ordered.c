/* SPDX-License-Identifier: MIT */
/*
 * Runs a hash join whose result is in the order of an input.
 *
 * Algorithm: if possible, the ordered file is the probe side.  While the whole build side is in
 * memory, pairs come in the order of the probe records, and ties in the order of the build file,
 * because the chains of the table keep it.  Unpaired build records follow at the end, merged from
 * the partitions by number.
 *
 * Once something is spilled, or if the ordered file builds, all records are numbered, and the
 * result goes through a sort.  Its records begin with the numbers of their two input records, the
 * ordered input's first (keys/keying.h), and the sort of this library sorts them by these numbers.
 * It sorts lines; newlines in records are escaped as two bytes meanwhile.  The sort takes its
 * memory from the table, which evicts partitions.  Within one stage most input of the sort is
 * already in order, which makes sorting cheaper.
 *
 * Records are also numbered when a merge has been abandoned and only the other pairs are joined.
 *
 * Rejected: sorting only pairs of numbers and then fetching the records, which costs one seek per
 * record if the result exceeds memory.
 */
#include <stdlib.h>
#include "join/hash/stage.h"

#define BATCH_BYTES (64u << 10)
#define TAGS_BYTES (2 * SP__TAG_BYTES)
#define PARTIAL_BYTES (64u << 10)
#define ESCAPE '\x01'
#define ITSELF "\x01\x02"
#define NEWLINE "\x01\x03"

/* Numbers. */

static void number(struct sp__hash *h, int side)
{
	if (h->tag[side])
		return;
	h->tag[side] = SP__TAG_BYTES;
	if (h->format[side].kind == SP_REC_FIXED)
		h->format[side].fixed_bytes += SP__TAG_BYTES;
}

void sp__numbers_begin(struct sp__hash *h, int build_side)
{
	for (int i = 0; i < 2; i++) {
		h->format[i] = h->in->source[i].format;
		sp__tag_set(h->written[i], h->in->merged[i]);
	}
	if (h->opts->ordered || h->in->resumed)
		number(h, build_side);
	if (h->in->resumed)
		number(h, !build_side);
	if (sp__join_sorts(h->opts, &h->layout, build_side))
		sp__ordered_spill(h);
}

bool sp__numbers_omit(struct sp__hash *h, int build_side)
{
	struct sp_recfmt *f = &h->format[build_side];

	if (!h->tag[build_side] || h->in->resumed || h->sorting || h->opts->unpaired[build_side])
		return false;
	h->tag[build_side] = 0;
	if (f->kind == SP_REC_FIXED)
		f->fixed_bytes -= SP__TAG_BYTES;
	return true;
}

void sp__numbers_restore(struct sp__hash *h, int build_side)
{
	number(h, build_side);
}

void sp__ordered_spill(struct sp__hash *h)
{
	if (!h->opts->ordered || h->sorting)
		return;
	h->sorting = true;
	number(h, 0);
	number(h, 1);
	/* Data read ahead from pipes can take part of the table's memory. */
	h->layout.order_bytes = sp__min(h->layout.order_bytes, h->layout.table_bytes / 2);
	h->layout.table_bytes -= h->layout.order_bytes;
	h->table.limit_bytes = h->layout.table_bytes;
}

static int add_numbered(struct sp__numbered *n, const char *data, size_t bytes, size_t term)
{
	char tag[SP__TAG_BYTES];
	int rc;

	sp__tag_set(tag, n->records++);
	rc = sp__bytes_append(&n->batch, data, bytes, NULL);
	if (!rc)
		rc = sp__bytes_append(&n->batch, tag, sizeof(tag), NULL);
	if (!rc)
		rc = sp__bytes_append(&n->batch, data + bytes, term, NULL);
	return rc < 0 ? sp__join_no_memory(n->h->env) : 0;
}

int sp__numbered_next(void *numbered, struct sp_batch *batch)
{
	struct sp__numbered *n = numbered;
	struct sp__source *src = &n->h->in->source[n->side];
	const size_t term = sp__rec_term(&src->format);
	int rc;

	sp__bytes_empty(&n->batch, NULL);
	rc = src->at == src->end ? sp__source_fill(src) : SP_READY;
	if (rc != SP_READY)
		return rc;
	if (!n->h->tag[n->side]) {
		*batch = (struct sp_batch){ src->at, (size_t)(src->end - src->at) };
		src->at = src->end;
		return SP_READY;
	}
	while (src->at < src->end && n->batch.bytes < BATCH_BYTES) {
		const char *data = src->at;
		size_t bytes;

		src->at = sp__record_next(&src->format, data, src->end, &bytes);
		rc = add_numbered(n, data, bytes, term);
		if (rc < 0)
			return rc;
	}
	*batch = (struct sp_batch){ n->batch.data, n->batch.bytes };
	return SP_READY;
}

/* Sorting the result. */

/* True if a record can contain line terminators; some fillers and separators do. */
static bool spans_lines(const struct sp_join_opts *opts)
{
	if (sp__join_format(opts, 0).kind != SP_REC_LINE || opts->rows == SP_JOIN_ROWS_CSV)
		return true;
	return (opts->separator && memchr(opts->separator, opts->eol, opts->separator_bytes)) ||
	       (opts->filler && memchr(opts->filler, opts->eol, strlen(opts->filler)));
}

/* memory_bytes: for the sort. */
static int order_open(struct sp__order *o, const struct sp_join_opts *opts, uint64_t memory_bytes,
		      struct sp_errinfo *err)
{
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts ko = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				     .keys = &key,
				     .nkeys = 1,
				     .separator = -1,
				     .stable = true,
				     .bytes = true };
	struct sp_sort_opts so = SP_SORT_OPTS_INIT;

	*o = (struct sp__order){ .err = err };
	o->escape = spans_lines(opts);
	if (!o->escape)
		ko.format.eol = opts->eol;
	o->eol = ko.format.eol;
	key.eword = 0;
	key.echar = TAGS_BYTES;
	so.run = opts->run;
	so.run.memory_bytes = memory_bytes;
	so.run.page_bytes = 0;
	so.run.geometry = NULL;
	so.run.trace_path = so.run.trace_tasks_path = NULL;
	so.run.decompress = so.run.compress_output = SP_PACKED_NONE;
	return sp__sorter_open(&o->sorter, &ko, &so, NULL, err);
}

static int put_partial(struct sp__order *o)
{
	o->bytes += o->sorter.part.bytes;
	return sp__sorter_flush(&o->sorter);
}

static int put_whole(struct sp__order *o, const char *data, size_t bytes)
{
	int rc = bytes ? sp__sort_put_all(o->sorter.sort, &(struct sp_batch){ data, bytes }) : 0;

	o->bytes += bytes;
	return rc < 0 ? rc : 0;
}

/* Length of the prefix that needs no escape in a line. */
static size_t plain_bytes(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] != ESCAPE && p[i] != '\n')
		i++;
	return i;
}

static int put_escaped(struct sp__order *o, const char *data, size_t bytes, bool whole)
{
	int rc = 0;

	for (size_t n; bytes && !rc; data += n, bytes -= n) {
		n = plain_bytes(data, bytes);
		rc = sp__bytes_append(&o->sorter.part, data, n, NULL);
		if (!rc && n < bytes)
			rc = sp__bytes_append(&o->sorter.part, data[n++] == '\n' ? NEWLINE : ITSELF,
					      2, NULL);
	}
	if (!rc && whole)
		rc = sp__bytes_append(&o->sorter.part, "\n", 1, NULL);
	if (rc < 0)
		return sp__err(o->err, -ENOMEM, "allocate", NULL, -1);
	return whole && o->sorter.part.bytes >= PARTIAL_BYTES ? put_partial(o) : 0;
}

/*
 * Sink of an emit: accepts records; whole: the last one ends here.  If it does not, the next call
 * puts at most its rest; with escape, a call never puts more than one record.
 */
static int order_put(void *order, const char *data, size_t bytes, bool whole)
{
	struct sp__order *o = order;

	if (o->escape)
		return put_escaped(o, data, bytes, whole);
	if (whole && !o->sorter.part.bytes)
		return put_whole(o, data, bytes);
	if (sp__bytes_append(&o->sorter.part, data, bytes, NULL) < 0)
		return sp__err(o->err, -ENOMEM, "allocate", NULL, -1);
	return whole ? put_partial(o) : 0;
}

static void write_escaped(struct sp__emit *emit, const char *p, size_t n)
{
	const char *end = p + n, *stop;

	for (; (stop = memchr(p, ESCAPE, (size_t)(end - p))); p = stop + 2) {
		sp__emit_raw(emit, p, (size_t)(stop - p));
		sp__emit_raw(emit, stop[1] == NEWLINE[1] ? "\n" : ITSELF, 1);
	}
	sp__emit_raw(emit, p, (size_t)(end - p));
}

static int write_batch(const struct sp__order *o, const struct sp_batch *batch,
		       struct sp__emit *emit)
{
	const char *at = batch->data, *end = at + batch->bytes, *stop;

	for (; at < end && !emit->error; at = stop + 1) {
		at += TAGS_BYTES;
		stop = sp__find_byte(at, end, o->eol);
		if (o->escape)
			write_escaped(emit, at, (size_t)(stop - at));
		else
			sp__emit_raw(emit, at, (size_t)(stop + 1 - at));
		sp__emit_count(emit);
	}
	return emit->error;
}

/* Writes all records in order, without the numbers, to the previous sink of the emit. */
static int order_write(struct sp__hash *h)
{
	struct sp__order *o = &h->order;
	struct sp_batch batch;
	uint64_t done = 0;
	int rc = put_partial(o);

	if (!rc)
		rc = sp__sorter_finish(&o->sorter);
	while (!rc && (rc = sp__sort_get_next(o->sorter.sort, &batch)) == SP_READY) {
		rc = write_batch(o, &batch, &h->out->emit);
		done += batch.bytes;
		sp__progress_report(&h->counts->progress, SP_JOIN_PHASE_ORDER, done, o->bytes);
	}
	return rc ? rc : sp__balance_bytes(h->in, "sort by numbers", o->bytes, done);
}

int sp__ordered_begin(struct sp__hash *h)
{
	int rc;

	if (!h->opts->ordered)
		return 0;
	h->counts->stats.ordered_by = h->sorting ? SP_JOIN_BY_SORTING : SP_JOIN_BY_PROBING;
	if (!h->sorting)
		return 0;
	/* A header comes before all records. */
	rc = sp__emit_flush(&h->out->emit);
	if (!rc)
		rc = order_open(&h->order, h->opts, h->layout.order_bytes, h->env->err);
	if (rc < 0)
		return rc;
	h->order.before = h->out->emit.records;
	h->order.sink = h->out->emit.sink;
	h->order.sink_arg = h->out->emit.sink_arg;
	h->out->emit.sink = order_put;
	h->out->emit.sink_arg = &h->order;
	h->out->emit.each = h->order.escape;
	h->out->emit.tags_of = h->opts->ordered;
	return 0;
}

/* The records of one partition, in a merge by number. */
struct head {
	const struct sp__reclist *list;
	struct sp__recwalk walk;
	struct sp__rec *rec;
	const char *tag;
};

static void advance(const struct sp__hash *h, struct head *head)
{
	head->rec = sp__table_walk(&h->table, head->list, &head->walk);
	if (head->rec)
		head->tag = sp__rec_line(head->rec) + (head->rec->bytes & ~SP__REC_MATCHED) -
			    SP__TAG_BYTES;
}

static struct head *first_head(struct head *heads, size_t n)
{
	struct head *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (heads[i].rec && (!best || sp__tag_compare(heads[i].tag, best->tag) < 0))
			best = &heads[i];
	return best;
}

/* Copies the mark of the last record of each chain to all its records. */
static void mark_chains(const struct sp__table *t)
{
	for (uint64_t i = 0; i < t->nslots; i++) {
		struct sp__rec *last = t->slots[i] ? sp__table_rec(t, (uint32_t)t->slots[i]) : NULL;

		if (!last || !(last->bytes & SP__REC_MATCHED))
			continue;
		for (struct sp__rec *r = sp__chain_first(t, last); r;
		     r = sp__chain_next(t, r, last))
			r->bytes |= SP__REC_MATCHED;
	}
}

int sp__ordered_rest(struct sp__stage *s)
{
	struct sp__hash *h = s->h;
	int side = s->side[SP__BUILD];
	struct sp__tally walked = { .sum = s->balance[SP__BUILD].kept.sum };
	struct head *heads, *head;
	struct sp__line l;

	if (!h->opts->unpaired[side])
		return 0;
	heads = calloc(s->npartitions, sizeof(*heads));
	if (!heads)
		return sp__join_no_memory(h->env);
	mark_chains(&h->table);
	for (unsigned i = 0; i < s->npartitions; i++) {
		heads[i].list = &s->partitions[i].list;
		advance(h, &heads[i]);
	}
	while ((head = first_head(heads, s->npartitions)) && !h->out->emit.error) {
		if (!(head->rec->bytes & SP__REC_MATCHED)) {
			sp__hash_line(h, side, head->rec, &l);
			sp__emit_sides(&h->out->emit, side, &l, NULL);
		}
		walked.records++;
		advance(h, head);
	}
	free(heads);
	if (h->out->emit.error)
		return h->out->emit.error;
	return sp__balance_same(h->in, side, "records by number", &s->balance[SP__BUILD].kept,
				&walked);
}

/* Passes the result so far to the sort, and directs the rest to its destination. */
static int leave_sort(struct sp__hash *h, int rc)
{
	struct sp__emit *e = &h->out->emit;

	if (!h->order.sorter.sort)
		return rc;
	if (!rc)
		rc = sp__emit_flush(e);
	e->sink = h->order.sink;
	e->sink_arg = h->order.sink_arg;
	e->tags_of = 0;
	e->records = h->order.before;
	e->each = e->begun = false;
	e->at = e->whole = e->buf;
	return rc;
}

int sp__ordered_end(struct sp__hash *h, int rc)
{
	struct sp_run_stats *run = &h->counts->stats.run;
	struct sp_sort_stats st;
	uint64_t since = sp__env_now_ns(h->env);

	rc = leave_sort(h, rc);
	if (h->order.sorter.sort) {
		if (!rc)
			rc = order_write(h);
		sp_sort_stats(h->order.sorter.sort, &st);
		run->spill_read_bytes += st.run.spill_read_bytes;
		run->spill_write_bytes += st.run.spill_write_bytes;
		if (st.run.spill_peak_bytes > run->spill_peak_bytes)
			run->spill_peak_bytes = st.run.spill_peak_bytes;
		h->counts->stats.sort_runs = st.spilled_runs;
	}
	(void)!sp__sorter_close(&h->order.sorter);
	h->counts->phase_ns[SP_JOIN_PHASE_ORDER] = sp__env_now_ns(h->env) - since;
	return rc;
}
