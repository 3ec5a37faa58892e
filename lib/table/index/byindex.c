/* SPDX-License-Identifier: MIT */
/*
 * Scans through an index (byindex.h): the leaves of the range give record numbers, which are
 * sorted, and the records are got by number.  The value of each is compared with the range.
 * Records appended since are scanned.
 *
 * Memory: a quarter for sorting numbers, half for getting records.
 */
#include <endian.h>
#include "base/err.h"
#include "base/minmax.h"
#include "index/entrysort.h"
#include "index/leafscan.h"
#include "run/memory.h"
#include "table/file/tombstones.h"
#include "table/index/attach.h"
#include "table/index/byindex.h"
#include "table/index/columnkey.h"
#include "table/index/keyrange.h"
#include "table/read/access.h"

#define DEPTH 128 /* requests outstanding */
#define SORT_SHARE 4

struct byindex {
	struct sp__tablefile *file;
	const struct sp__tablescan_opts *opts;
	const struct sp__byindex_opts *by;
	struct sp_errinfo hidden; /* of an index that need not be used */
	struct sp__reading to;
	struct sp__keyrange range;
	struct sp__index index;
	struct sp__waits waits;
	struct sp__requests reads;
	struct sp__leafscan *leaves;
	struct sp_run_opts sorting;
	struct sp__entrysort sort; /* of record numbers */
	uint64_t left;		   /* of the limit */
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
	struct sp__keyrange_estimate estimate;
	int rc = sp__keyrange_find(&b->range, b->opts->where, &b->file->schema);

	if (rc < 0)
		return sp__err(b->to.err, rc, "scan", b->file->path, -1);
	if (rc)
		return b->by->wanted ? SP__NO_INDEX
				     : sp__errf(b->to.err, SP_EUNSUP, "scan", b->file->path, -1,
						"only a range of values of one column can be read "
						"through an index");
	rc = sp__tableindex_open(&b->index, b->file, b->range.column, b->by->path, b->to.err);
	if (!rc && b->by->wanted) {
		sp__keyrange_min(&estimate, &b->index);
		if (!b->by->wanted(b->by->arg, &estimate))
			return SP__NO_INDEX;
		rc = sp__keyrange_estimate(&estimate, &b->range, &b->index, b->file, b->to.stats,
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
	if (sp__keyrange_has(&b->range, sp__columnkey(&b->file->schema.columns[column],
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
	sp__keyrange_free(&b.range);
	return rc ? rc : closed;
}
