/* SPDX-License-Identifier: MIT */
/*
 * Scans through an index (byindex.h): the leaves of the range give record numbers, which are
 * sorted, and the records are got by number.  The value of each is compared with the range.
 * Records appended since are scanned.
 *
 * Memory: a quarter for sorting numbers, half for getting records.
 */
#include <endian.h>
#include <spindle/table.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "columns/predicate.h"
#include "columns/predicate_program.h"
#include "index/indexfile.h"
#include "index/indexwrite.h"
#include "index/leafscan.h"
#include "index/lookup.h"
#include "io/queue.h"
#include "rec/key.h"
#include "run/memory.h"
#include "table/file/directory.h"
#include "table/index/build.h"
#include "table/index/byindex.h"
#include "table/index/columnkey.h"
#include "table/read/scan.h"

/*
 * Finds the range of keys that a predicate chooses: each comparison narrows the range
 * of all keys.  The successor of a key in the order of bytes is the key and a byte 0, so that the
 * lower bound is always in the range.
 */

/* Where the first entry is that is not less than a bound. */
struct position {
	uint64_t page;
	double below, count; /* entries of the page before it, and all */
};

struct finder {
	const struct sp__index *index;
	struct sp__waits waits;
	struct sp__requests reads;
};

static int find(struct finder *f, const struct sp__bytes *key, struct position *p)
{
	const struct sp__lookup_opts opts = {
		.index = f->index, .reads = &f->reads, .waits = &f->waits, .max = 1
	};
	struct sp__lookup *l;
	struct sp__found found;
	int rc = sp__lookup_open(&l, &opts);

	if (!rc)
		rc = sp__lookup_put(l, key->data, key->bytes, 0);
	while (!rc) {
		rc = sp__lookup_get(l, &found);
		if (rc == SP_LATER)
			rc = sp__waits_block(&f->waits);
	}
	if (rc == SP_READY)
		*p = (struct position){ found.leaf, found.below, found.count };
	sp__lookup_close(l);
	return rc == SP_READY ? 0 : rc;
}

/* Finds the end of the range: the position of high, or if high is in it, of its successor. */
static int find_end(struct finder *f, const struct sp__keyrange *r, struct position *p)
{
	struct sp__bytes key = { 0 };
	int rc = sp__bytes_set(&key, r->high.data, r->high.bytes, NULL);

	if (!rc && !r->open)
		rc = sp__bytes_append(&key, "", 1, NULL);
	if (!rc)
		rc = find(f, &key, p);
	sp__bytes_release(&key, NULL);
	return rc;
}

static double pages_before(const struct position *p)
{
	return (double)p->page + (p->count > 0 ? p->below / p->count : 0);
}

static int estimate(struct finder *f, const struct sp__keyrange *r, struct sp__keyrange_estimate *e)
{
	const struct sp__index_header *h = &f->index->header;
	const uint64_t first = h->header_bytes / h->page_bytes;
	struct position low = { .page = first }, high = { .page = h->last_leaf };
	int rc = 0;

	if (r->has_low)
		rc = find(f, &r->low, &low);
	high.below = high.count = low.page == high.page && low.count > 0 ? low.count : 1;
	if (!rc && r->has_high)
		rc = find_end(f, r, &high);
	if (rc)
		return rc;
	e->pages = (double)(sp__max(high.page, low.page) - low.page + 1);
	if (!r->has_low && !r->has_high)
		e->records = (double)h->records;
	else if (low.page == high.page)
		e->records = high.below - low.below;
	else
		e->records = (pages_before(&high) - pages_before(&low)) * (double)h->records /
			     (double)(h->end_page - first);
	return 0;
}

/* Sets the estimate of a range without records: the least that a scan reads. */
static void keyrange_min(struct sp__keyrange_estimate *e, const struct sp__index *ix)
{
	*e = (struct sp__keyrange_estimate){ .pages = 1,
					     .levels = ix->header.levels,
					     .page_bytes = ix->header.page_bytes,
					     .table_records = ix->header.table_records };
}

int sp__keyrange_estimate(struct sp__keyrange_estimate *e, const struct sp__keyrange *r,
			  const struct sp__index *ix, const struct sp__queue_opts *queue,
			  struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct finder finder = { .index = ix };
	int rc;

	keyrange_min(e, ix);
	if (r->empty)
		return 0;
	rc = sp__requests_open(&finder.reads, queue, err);
	if (!rc)
		rc = estimate(&finder, r, e);
	if (finder.reads.queue)
		sp__env_note_io(&stats->run, sp__queue_counters(finder.reads.queue));
	sp__requests_close(&finder.reads);
	return rc;
}

#define NO_RANGE 1

static int narrow_low(struct sp__keyrange *r, struct sp__slice key, bool open)
{
	/* No key is between a key and the one with a byte 0 behind it. */
	const int order = r->has_low ? sp__order_bytes(key.p, key.n, r->low.data, r->low.bytes) : 1;

	if (order < 0 || (!order && !open))
		return 0;
	r->has_low = true;
	if (sp__bytes_set(&r->low, key.p, key.n, NULL))
		return -ENOMEM;
	return open ? sp__bytes_append(&r->low, "", 1, NULL) : 0;
}

static int narrow_high(struct sp__keyrange *r, struct sp__slice key, bool open)
{
	const int order =
		r->has_high ? sp__order_bytes(key.p, key.n, r->high.data, r->high.bytes) : -1;

	if (order > 0 || (!order && !open))
		return 0;
	r->has_high = true;
	r->open = open;
	return sp__bytes_set(&r->high, key.p, key.n, NULL);
}

/* Narrows the range to keys that have one of these orders to a key. */
static int narrow(struct sp__keyrange *r, struct sp__slice key, unsigned orders)
{
	const bool open = !(orders & SP__ORDER_EQUAL);
	int rc = 0;

	if (orders == (SP__ORDER_LESS | SP__ORDER_MORE))
		return NO_RANGE;
	r->empty |= !orders;
	if (!(orders & SP__ORDER_LESS))
		rc = narrow_low(r, key, open);
	if (!rc && !(orders & SP__ORDER_MORE))
		rc = narrow_high(r, key, open);
	return rc;
}

/* Narrows the range to keys that begin with a text. */
static int narrow_prefix(struct sp__keyrange *r, struct sp__slice text)
{
	struct sp__bytes end = { 0 };
	int rc = narrow_low(r, text, false);

	while (text.n && (uint8_t)text.p[text.n - 1] == UINT8_MAX)
		text.n--;
	if (rc || !text.n)
		return rc;
	rc = sp__bytes_set(&end, text.p, text.n, NULL);
	if (!rc) {
		end.data[text.n - 1] = (char)((uint8_t)end.data[text.n - 1] + 1);
		rc = narrow_high(r, (struct sp__slice){ end.data, end.bytes }, true);
	}
	sp__bytes_release(&end, NULL);
	return rc;
}

/* NULL, which has no key, is the least number of a type with a sign, or the greatest one. */
static int narrow_numbers(struct sp__keyrange *r, const struct sp__column *c,
			  const struct sp__predicate_step *s)
{
	const struct sp__vector low = { .data = (const uint8_t *)&s->low };
	const struct sp__vector high = { .data = (const uint8_t *)&s->high };
	uint8_t space[SP__COLUMNKEY_SPACE];
	struct sp__slice key;
	int rc = 0;

	if (s->negated)
		return NO_RANGE;
	key = sp__columnkey(c, &low, 0, space);
	r->empty |= s->empty || (!key.p && sp__predicate_unsigned(&c->type));
	if (key.p)
		rc = narrow_low(r, key, false);
	key = sp__columnkey(c, &high, 0, space);
	r->empty |= !key.p && !sp__predicate_unsigned(&c->type);
	return rc || !key.p ? rc : narrow_high(r, key, false);
}

static int narrow_floats(struct sp__keyrange *r, const struct sp__column *c,
			 const struct sp__predicate_step *s)
{
	const float narrow_number = (float)s->number;
	const bool is_narrow = c->type.bytes == sizeof(narrow_number);
	const struct sp__vector v = { .data = is_narrow ? (const uint8_t *)&narrow_number
							: (const uint8_t *)&s->number };
	uint8_t space[SP__COLUMNKEY_SPACE];
	const struct sp__slice key = sp__columnkey(c, &v, 0, space);

	return key.p ? narrow(r, key, s->orders) : NO_RANGE;
}

/* Finds the least and the greatest word that are chosen.  False: a word between them is not. */
static bool chosen_words(const struct sp__dictionary *d, const struct sp__predicate_step *s,
			 struct sp__slice *least, struct sp__slice *greatest)
{
	*least = *greatest = (struct sp__slice){ NULL, 0 };
	for (uint32_t code = 1; code < s->n; code++) {
		const struct sp__slice word = sp__dictionary_word(d, code);

		if (s->words[code] != SP__TRUE)
			continue;
		if (!least->p || sp__order_bytes(word.p, word.n, least->p, least->n) < 0)
			*least = word;
		if (!greatest->p || sp__order_bytes(word.p, word.n, greatest->p, greatest->n) > 0)
			*greatest = word;
	}
	for (uint32_t code = 1; least->p && code < s->n; code++) {
		const struct sp__slice word = sp__dictionary_word(d, code);

		if (s->words[code] != SP__TRUE &&
		    sp__order_bytes(word.p, word.n, least->p, least->n) > 0 &&
		    sp__order_bytes(word.p, word.n, greatest->p, greatest->n) < 0)
			return false;
	}
	return true;
}

static int narrow_words(struct sp__keyrange *r, const struct sp__column *c,
			const struct sp__predicate_step *s)
{
	struct sp__slice least, greatest;
	int rc;

	if (!chosen_words(&c->words, s, &least, &greatest))
		return NO_RANGE;
	r->empty |= !least.p;
	if (!least.p)
		return 0;
	rc = narrow_low(r, least, false);
	return rc ? rc : narrow_high(r, greatest, false);
}

static int narrow_step(struct sp__keyrange *r, const struct sp__column *c,
		       const struct sp__predicate_step *s)
{
	const struct sp__slice text = { s->text, s->text_bytes };

	switch (s->kind) {
	case SP__STEP_RANGE:
		return narrow_numbers(r, c, s);
	case SP__STEP_FLOAT:
		return narrow_floats(r, c, s);
	case SP__STEP_TEXT:
		return s->orders & SP__ORDER_PREFIX ? narrow_prefix(r, text)
						    : narrow(r, text, s->orders);
	case SP__STEP_WORD:
		return narrow_words(r, c, s);
	default:
		return NO_RANGE;
	}
}

/*
 * Finds the range of a predicate: comparisons of one column with literals, joined by "and", each of
 * which is true for consecutive values.  The predicate is true for the records of these keys, and
 * for no other one.  Returns 0; 1: the predicate is not such a range; or -ENOMEM.  To be freed in
 * each case.
 */
static int keyrange_find(struct sp__keyrange *r, const struct sp__predicate *w,
			 const struct sp__schema *schema)
{
	int rc = 0, order;

	*r = (struct sp__keyrange){ .column = w->steps[0].column };
	for (size_t i = 0; !rc && i < w->n; i++) {
		const struct sp__predicate_step *s = &w->steps[i];

		if (s->kind != SP__STEP_AND)
			rc = s->column == r->column ? narrow_step(r, &schema->columns[r->column], s)
						    : NO_RANGE;
	}
	if (rc)
		return rc;
	r->has_low &= r->low.bytes > 0; /* no key is less than an empty one */
	if (r->has_high) {
		order = sp__order_bytes(r->low.data, r->low.bytes, r->high.data, r->high.bytes);
		r->empty |= order > 0 || (!order && r->open);
	}
	return 0;
}

/* True if a key is in the range; that of NULL, NULL, is not. */
static bool keyrange_has(const struct sp__keyrange *r, struct sp__slice key)
{
	int order;

	if (!key.p || r->empty ||
	    (r->has_low && sp__order_bytes(key.p, key.n, r->low.data, r->low.bytes) < 0))
		return false;
	order = r->has_high ? sp__order_bytes(key.p, key.n, r->high.data, r->high.bytes) : -1;
	return order < 0 || (!order && !r->open);
}

static void keyrange_free(struct sp__keyrange *r)
{
	sp__bytes_release(&r->low, NULL);
	sp__bytes_release(&r->high, NULL);
}

#define DEPTH 128 /* requests outstanding */
#define SORT_SHARE 4

struct byindex {
	struct sp__tablefile *file;
	const struct sp__tablescan_opts *opts;
	const struct sp__byindex_opts *by;
	struct sp_errinfo hidden; /* error of an index that need not be used */
	struct sp__reading to;
	struct sp__keyrange range;
	struct sp__index index;
	struct sp__waits waits;
	struct sp__requests reads;
	struct sp__leafscan *leaves;
	struct sp_run_opts sorting;
	struct sp__entrysort sort; /* sort of record numbers */
	uint64_t left;		   /* records that the limit leaves */
	uint64_t least;		   /* number that can be the next one */
};

/* An empty bound has an address, too. */
static struct sp__slice bound(const struct sp__bytes *b, bool there)
{
	return (struct sp__slice){ !there ? NULL : b->bytes ? b->data : "", b->bytes };
}

static int open_leaves(struct byindex *b, const struct sp__keyrange *r)
{
	const struct sp__queue_opts queue = sp__tablefile_queue(b->file, DEPTH);
	const struct sp__leafscan_opts leaves = { .index = &b->index,
						  .reads = &b->reads,
						  .waits = &b->waits,
						  .lo_key = bound(&r->low, r->has_low),
						  .hi_key = bound(&r->high, r->has_high),
						  .hi_open = r->open };
	int rc = sp__requests_open(&b->reads, &queue, b->to.err);

	return rc ? rc : sp__leafscan_open(&b->leaves, &leaves);
}

static void close_leaves(struct byindex *b)
{
	if (b->leaves)
		sp__leafscan_note(b->leaves, &b->to.stats->run);
	if (b->reads.queue)
		sp__env_note_io(&b->to.stats->run, sp__queue_counters(b->reads.queue));
	sp__requests_close(&b->reads);
	sp__leafscan_close(b->leaves);
	b->leaves = NULL;
}

/* Puts the numbers of a leaf that are in the records of the scan. */
static int put_numbers(struct byindex *b, const struct sp__keymatch *matches, size_t n)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		const uint64_t record = matches[i].offset, key = htobe64(record);

		if (record >= b->opts->lo && record <= b->opts->hi)
			rc = sp__entrysort_put(&b->sort, (const uint8_t *)&key, sizeof(key),
					       &matches[i]);
	}
	return rc;
}

/* Sorts the numbers of all records in the range. */
static int sort_numbers(struct byindex *b, const struct sp__keyrange *r)
{
	const struct sp_run_opts *run = &b->file->run;
	const struct sp__keymatch *matches;
	size_t n;
	int rc;

	b->sorting = *run;
	b->sorting.memory_bytes = sp__working_memory(run, run->memory_bytes) / SORT_SHARE;
	rc = sp__entrysort_open(&b->sort, &b->sorting, &b->file->env, b->to.err);
	if (!rc && !r->empty)
		rc = open_leaves(b, r);
	while (!rc && !r->empty) {
		rc = sp__leafscan_find(b->leaves, &matches, &n);
		if (rc == SP_LATER)
			rc = sp__waits_block(&b->waits);
		else if (rc == SP_READY)
			rc = put_numbers(b, matches, n);
		else
			break; /* SP_END, or an error */
	}
	close_leaves(b);
	if (!rc)
		rc = sp__sorter_finish(&b->sort.sorter);
	return rc ? sp__err(b->to.err, rc, "scan", b->file->path, -1) : 0;
}

static int next(void *byindex, uint64_t *record)
{
	struct byindex *b = byindex;
	struct sp__keymatch match;
	int rc = 0;

	while (!rc) {
		if (!b->left)
			return SP_END;
		rc = sp__entrysort_get(&b->sort, &match);
		if (rc == SP_END)
			return rc;
		if (rc < 0)
			return sp__err(b->to.err, rc, "scan", b->file->path, -1);
		*record = match.offset;
		rc = sp__tableindex_number(&b->index, b->file, b->range.column, b->by->path,
					   *record, &b->least, b->to.err);
		if (!rc)
			rc = sp__tombstones_exists(b->file, *record, b->to.err);
	}
	b->left--;
	return rc < 0 ? rc : SP_READY;
}

/* Scans the records that the index does not have. */
static int scan_appended(const struct byindex *b)
{
	struct sp__tablescan_opts o = *b->opts;

	o.lo = sp__max(o.lo, b->index.header.table_records);
	o.limit = b->left;
	o.continued = true;
	if (!o.limit || o.lo > o.hi || o.lo >= b->file->superblock.records)
		return 0;
	return sp__tablescan_scattered(b->file, &o, &b->to);
}

/* Sorts the numbers of the range, if the scan must take place or is wanted. */
static int begin(struct byindex *b)
{
	const struct sp__queue_opts queue = sp__tablefile_queue(b->file, 1);
	struct sp__keyrange_estimate estimate;
	int rc = keyrange_find(&b->range, b->opts->where, &b->file->schema);

	if (rc < 0)
		return sp__err(b->to.err, rc, "scan", b->file->path, -1);
	if (rc)
		return b->by->wanted ? SP__NO_INDEX
				     : sp__errf(b->to.err, SP_EUNSUP, "scan", b->file->path, -1,
						"only a range of values of one column can be read "
						"through an index");
	rc = sp__tableindex_open(&b->index, b->file, b->range.column, b->by->path, b->to.err);
	if (!rc && b->by->wanted) {
		keyrange_min(&estimate, &b->index);
		if (!b->by->wanted(b->by->arg, &estimate))
			return SP__NO_INDEX;
		rc = sp__keyrange_estimate(&estimate, &b->range, &b->index, &queue, b->to.stats,
					   b->to.err);
		if (!rc && !b->by->wanted(b->by->arg, &estimate))
			return SP__NO_INDEX;
	}
	return rc ? rc : sort_numbers(b, &b->range);
}

/* Hides errors of an index that the user has not named, and that need not be used. */
static int begin_quietly(struct byindex *b)
{
	struct sp_errinfo *err = b->to.err;
	struct sp_errinfo *recorded = b->file->env.err;
	int rc;

	b->to.err = b->file->env.err = &b->hidden;
	rc = begin(b);
	b->to.err = err;
	b->file->env.err = recorded;
	return rc ? SP__NO_INDEX : 0;
}

/* Evaluates the predicate, which is true for the keys of the range, for a record. */
static int check(const void *byindex, uint64_t unused, const struct sp__rows *rows,
		 struct sp_errinfo *err)
{
	const struct byindex *b = byindex;
	const uint32_t column = b->range.column;
	uint8_t space[SP__COLUMNKEY_SPACE];

	(void)unused;
	if (keyrange_has(&b->range, sp__columnkey(&b->file->schema.columns[column],
						  &rows->vectors[column], 0, space)))
		return 0;
	return sp__tableindex_misfit(b->file, column, b->by->path, rows->first, err);
}

static int run(struct byindex *b)
{
	int rc = b->by->wanted && !b->by->path ? begin_quietly(b) : begin(b);
	const struct sp__tableget_check fits = { .column = b->range.column,
						 .check = check,
						 .arg = b };

	if (!rc && !b->opts->sums)
		rc = sp__tablescan_header(b->file, b->opts->output, &b->to);
	if (!rc)
		rc = sp__tablescan_chosen(b->file, b->opts, next, b, &fits, &b->to);
	return rc ? rc : scan_appended(b);
}

/* Adds the requests and bytes of temporary data. */
static void note_sort(const struct byindex *b)
{
	struct sp_sort_stats sorted;

	if (!b->sort.sorter.sort)
		return;
	sp_sort_stats(b->sort.sorter.sort, &sorted);
	b->to.stats->run.read_requests += sorted.run.read_requests;
	b->to.stats->run.read_bytes += sorted.run.read_bytes;
	b->to.stats->run.write_requests += sorted.run.write_requests;
	b->to.stats->run.write_bytes += sorted.run.write_bytes;
}

int sp__tablescan_by_index(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
			   const struct sp__byindex_opts *by, const struct sp__reading *to)
{
	struct byindex b = { .file = f,
			     .opts = o,
			     .by = by,
			     .hidden = SP_ERRINFO_INIT,
			     .to = *to,
			     .left = o->limit };
	int rc = run(&b), closed;

	note_sort(&b);
	closed = sp__entrysort_close(&b.sort);
	sp__index_close(&b.index);
	keyrange_free(&b.range);
	return rc ? rc : closed;
}
