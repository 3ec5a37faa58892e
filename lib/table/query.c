/* SPDX-License-Identifier: MIT */
/*
 * Answers questions: turns the texts of a query into what the inner rooms take.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "columns/schema_text.h"
#include "table/cost/indexscan.h"
#include "table/cost/scan.h"
#include "table/index/build.h"
#include "table/index/byindex.h"
#include "table/index/keyfind.h"
#include "table/layout/layout.h"
#include "table/read/get.h"
#include "table/read/scan.h"
#include "table/state.h"

/* A query, ready to run. */
struct query {
	struct sp__table_output output;
	bool *columns; /* columns that are read, by number */
	struct sp__predicate *where;
	struct sp__aggregates *aggregates;
	struct sp__scan_sums sums;
	struct sp__platform device; /* device of the table; open if ways of reading are compared */
	struct sp__tablescan_opts scan;
};

static int open_query(struct query *q, const struct sp__tablefile *f, const char *list,
		      enum sp_table_format format, struct sp_errinfo *err)
{
	uint32_t *columns, n;
	int rc = sp__names_find(&f->schema, list, &columns, &n, err);

	if (rc)
		return rc;
	q->columns = calloc(f->schema.n, sizeof(*q->columns));
	for (uint32_t i = 0; q->columns && i < n; i++)
		q->columns[columns[i]] = true;
	rc = sp__output_open(&q->output, &f->schema, format, columns, n, err);
	return q->columns || rc ? rc : sp__err(err, -ENOMEM, "read", f->path, -1);
}

static int open_where(struct query *q, const struct sp__tablefile *f, const char *where,
		      struct sp_errinfo *err)
{
	int rc = sp__predicate_parse(&q->where, where, &f->schema, err);

	if (!rc)
		sp__predicate_columns(q->where, q->columns);
	return rc;
}

/* A scan reads one column at least: the narrowest one if only records are counted. */
static void choose_column(struct query *q, const struct sp__schema *s)
{
	uint32_t narrowest = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		if (q->columns[i])
			return;
		if (s->columns[i].type.bytes < s->columns[narrowest].type.bytes)
			narrowest = i;
	}
	q->columns[narrowest] = true;
}

/* Makes the states of aggregates; the output has no columns. */
static int open_aggregates(struct query *q, const struct sp__tablefile *f, const char *list,
			   struct sp_errinfo *err)
{
	int rc = sp__aggregates_parse(&q->aggregates, list, &f->schema, err);

	if (rc)
		return rc;
	q->columns = calloc(f->schema.n, sizeof(*q->columns));
	if (!q->columns || sp__scan_sums_open(&q->sums, q->aggregates))
		return sp__err(err, -ENOMEM, "scan", f->path, -1);
	sp__aggregates_columns(q->aggregates, q->columns);
	return sp__output_open(&q->output, &f->schema, SP_TABLE_AS_LOADED, NULL, 0, err);
}

static void close_query(struct query *q)
{
	sp__scan_sums_close(&q->sums);
	sp__aggregates_free(q->aggregates);
	sp__output_close(&q->output);
	sp__predicate_free(q->where);
	sp__platform_close(&q->device);
	free(q->columns);
}

/* Opens the device of the table, and finds the longest gap between cells that is read. */
static int open_device(struct query *q, const struct sp__tablefile *f, uint64_t *gap_bytes,
		       struct sp_errinfo *err)
{
	int rc = sp__platform_open(&q->device, &f->run, err);

	if (!rc)
		*gap_bytes = sp__platform_gap_bytes(&q->device);
	return rc;
}

/*
 * Computes the share of chosen records below which reading only the cells that have one takes less
 * time; 0: the predicate needs all column groups.
 */
static int switch_share(const struct query *q, const struct sp__tablefile *f, double *share,
			struct sp_errinfo *err)
{
	const struct sp__table_layout *l = &f->layout;
	bool *columns = calloc(f->schema.n, sizeof(*columns));
	bool *first = calloc(l->ngroups, sizeof(*first)), *all = calloc(l->ngroups, sizeof(*all));
	int rc = columns && first && all ? 0 : sp__err(err, -ENOMEM, "scan", f->path, -1);

	if (!rc) {
		sp__predicate_columns(q->where, columns);
		(void)sp__layout_groups(l, columns, first);
		(void)sp__layout_groups(l, q->columns, all);
		*share = sp__cost_switch_share(&q->device, l, all, first);
	}
	free(columns);
	free(first);
	free(all);
	return rc;
}

/* A scan that may use an index. */
struct choice {
	struct sp__tablefile *file;
	const struct query *query;
	bool counted; /* kept is known */
	struct sp__rows_kept kept;
};

static bool is_cheaper(void *choice, const struct sp__keyrange_estimate *e)
{
	struct choice *c = choice;
	struct sp_errinfo unused = SP_ERRINFO_INIT;
	struct sp__indexscan scan = { .file = c->file,
				      .opts = &c->query->scan,
				      .platform = &c->query->device };

	if (!c->counted && sp__choice_count_kept(c->file, c->query->where, &c->kept, &unused))
		return false;
	c->counted = true;
	scan.kept = c->kept;
	return sp__indexscan_is_cheaper(&scan, e);
}

/* Scans through an index if that is cheaper; otherwise returns SP__NO_INDEX. */
static int try_index(struct sp__tablefile *f, const struct query *q, const char *path,
		     const struct sp__reading *to)
{
	struct choice choice = { .file = f, .query = q };
	const struct sp__byindex_opts by = { .path = path, .wanted = is_cheaper, .arg = &choice };

	return sp__tablescan_by_index(f, &q->scan, &by, to);
}

static int scan(struct sp__tablefile *f, const struct query *q, const struct sp_table_query *query,
		const struct sp__reading *to)
{
	const struct sp__tablescan_opts *o = &q->scan;
	enum sp_table_access access = query->access;
	double share = 0;
	const struct sp__byindex_opts by = { .path = query->index };
	int rc = 0;

	if (access == SP_TABLE_BY_INDEX)
		return o->where ? sp__tablescan_by_index(f, o, &by, to)
				: sp__errf(to->err, SP_EUNSUP, "scan", f->path, -1,
					   "a scan through an index needs a predicate");
	if (o->where && access == SP_TABLE_ACCESS_AUTO && f->superblock.records) {
		rc = try_index(f, q, query->index, to);
		if (rc != SP__NO_INDEX)
			return rc;
	}
	rc = 0;
	if (o->sums && !sp__aggregates_ncolumns(o->sums->aggregates))
		access = SP_TABLE_S_SCAN; /* all columns are the predicate's */
	if (o->where && access == SP_TABLE_SI_SCAN)
		return sp__tablescan_scattered(f, o, to);
	if (o->where && access == SP_TABLE_ACCESS_AUTO)
		rc = switch_share(q, f, &share, to->err);
	if (rc)
		return rc;
	return share > 0 ? sp__tablescan_adaptive(f, o, share, to) : sp__tablescan(f, o, to);
}

static int begin(struct sp_table *t, bool values, const struct sp__reading *to)
{
	*to->stats = (struct sp_table_stats){ 0 };
	return sp__table_begin_reading(t, values, to->err);
}

static void end(struct sp_table *t, const struct sp__reading *to)
{
	if (t->file.pool)
		sp__clotho_note(&t->pool, to->stats);
	sp__tablefile_note(&t->file, &to->stats->run);
	sp__table_end_reading(t);
}

int sp_table_scan(struct sp_table *t, const struct sp_table_query *query, sp_table_sink sink,
		  void *arg, struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	struct sp__reading to = { sink, arg, stats ? stats : &unused, err ? err : &own, NULL };
	struct sp__filesink file;
	struct query q = { 0 };
	int rc = begin(t, !query->discard || query->where || query->agg, &to);

	if (rc)
		return rc;
	if (query->fd && sp__filesink_open(&file, *query->fd, to.err)) {
		to.sink = sp__filesink_put;
		to.arg = to.file = &file;
	}
	rc = query->agg ? open_aggregates(&q, &t->file, query->agg, to.err)
			: open_query(&q, &t->file, query->columns, query->format, to.err);
	if (!rc && query->where)
		rc = open_where(&q, &t->file, query->where, to.err);
	if (!rc)
		choose_column(&q, &t->file.schema);
	q.output.discard = query->discard;
	/* All columns as they were loaded: the last line ends as in the input. */
	if (!query->columns && query->format == SP_TABLE_AS_LOADED &&
	    t->file.schema.style.no_final_newline)
		q.output.unterminated = sp__max(t->file.superblock.records, 1) - 1;
	q.scan = (struct sp__tablescan_opts){ .ahead_bytes = query->ahead_bytes,
					      .lo = query->lo,
					      .hi = query->hi,
					      .limit = q.aggregates ? UINT64_MAX : query->limit,
					      .columns = q.columns,
					      .where = q.where,
					      .output = &q.output,
					      .sums = q.aggregates ? &q.sums : NULL };
	if (!rc && q.where)
		rc = open_device(&q, &t->file, &q.scan.gap_bytes, to.err);
	if (!rc)
		rc = scan(&t->file, &q, query, &to);
	if (!rc && q.aggregates)
		rc = sp__scan_sums_print(&q.sums, &t->file, query->format, &to);
	if (to.file)
		rc = sp__filesink_close(to.file, rc);
	close_query(&q);
	end(t, &to);
	return rc;
}

/* The keys of a get. */
struct numbers {
	const struct sp_table_get *get;
	struct sp_errinfo *err;
	const char *key; /* the last one */
	size_t bytes;
};

static int next_number(void *numbers, uint64_t *record)
{
	static const struct sp__value_type number = { .kind = 'u', .bytes = sizeof(*record) };
	struct numbers *n = numbers;
	int rc = n->get->keys(n->get->keys_arg, &n->key, &n->bytes);

	if (rc <= 0)
		return rc;
	*record = UINT64_MAX; /* no record has a number that is out of range */
	if (sp__value_read(&number, n->key, n->bytes, record) == SP__VALUE_MALFORMED)
		return sp__errf(n->err, SP_ESYNTAX, "get", NULL, -1,
				"'%.*s' is not a record number", n->bytes < 40 ? (int)n->bytes : 40,
				n->key);
	return SP_READY;
}

/* A number is looked up before the next one is taken. */
static int absent_number(void *numbers, uint64_t record)
{
	const struct numbers *n = numbers;

	(void)record;
	return n->get->absent ? n->get->absent(n->get->absent_arg, n->key, n->bytes) : 0;
}

static int get_by_number(struct sp__tablefile *f, const struct sp__tableget_opts *o,
			 const struct sp_table_get *get, const struct sp__reading *to)
{
	struct numbers n = { .get = get, .err = to->err };
	struct sp__tableget_opts by_number = *o;

	by_number.next = next_number;
	by_number.absent = absent_number;
	by_number.arg = &n;
	return sp__tableget(f, &by_number, to);
}

/* columns: of o, to which that of the keys is added. */
static int get_by_key(struct sp__tablefile *f, struct sp__tableget_opts *o, bool *columns,
		      const struct sp_table_get *get, const struct sp__reading *to)
{
	const int column = sp__names_column(&f->schema, get->by, strlen(get->by), to->err);
	const struct sp__keyfind_opts find = { .file = f,
					       .column = (uint32_t)column,
					       .path = get->index,
					       .keys = get->keys,
					       .keys_arg = get->keys_arg,
					       .absent = get->absent,
					       .absent_arg = get->absent_arg,
					       .stats = to->stats,
					       .err = to->err };
	struct sp__tableget_check check;
	struct sp__keyfind *k;
	int rc;

	if (column < 0)
		return column;
	columns[column] = true;
	k = calloc(1, sizeof(*k));
	if (!k)
		return sp__err(to->err, -ENOMEM, "get", f->path, -1);
	rc = sp__keyfind_open(k, &find);
	o->next = sp__keyfind_next;
	o->exist = true;
	o->arg = k;
	check = sp__keyfind_check(k);
	o->check = &check;
	if (!rc)
		rc = sp__tableget(f, o, to);
	sp__keyfind_close(k);
	free(k);
	return rc;
}

int sp_table_get(struct sp_table *t, const struct sp_table_get *get, sp_table_sink sink, void *arg,
		 struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	const struct sp__reading to = { sink, arg, stats ? stats : &unused, err ? err : &own,
					NULL };
	struct query q = { 0 };
	int rc = begin(t, !get->discard || get->by, &to);

	if (rc)
		return rc;
	rc = open_query(&q, &t->file, get->columns, get->format, to.err);
	if (!rc) {
		struct sp__tableget_opts o = { .columns = q.columns, .output = &q.output };

		q.output.discard = get->discard;
		rc = open_device(&q, &t->file, &o.gap_bytes, to.err);
		if (!rc)
			rc = get->by ? get_by_key(&t->file, &o, q.columns, get, &to)
				     : get_by_number(&t->file, &o, get, &to);
	}
	close_query(&q);
	end(t, &to);
	return rc;
}

int sp_table_index(struct sp_table *t, const char *column, const char *output,
		   struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	const struct sp__reading to = { NULL, NULL, stats ? stats : &unused, err ? err : &own,
					NULL };
	char *path = NULL;
	int rc = begin(t, true, &to), number;

	if (rc)
		return rc;
	number = sp__names_column(&t->file.schema, column, strlen(column), to.err);
	if (number >= 0 && !output) {
		path = sp__tableindex_path(&t->file, (uint32_t)number);
		rc = path ? 0 : sp__err(to.err, -ENOMEM, "index", t->file.path, -1);
	}
	if (number < 0)
		rc = number;
	if (!rc)
		rc = sp__tableindex_build(&t->file, (uint32_t)number, output ? output : path,
					  to.stats, to.err);
	free(path);
	end(t, &to);
	return rc;
}
