/* SPDX-License-Identifier: MIT */
/*
 * Makes the index of a column (build.h).
 *
 * Pages have SP_INDEX_PAGE_BYTES, or more if the longest key needs them.
 *
 * Memory: half for sorting, a quarter for reading.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <spindle/index.h>
#include "base/err.h"
#include "base/minmax.h"
#include "index/indexfile.h"
#include "index/indexwrite.h"
#include "run/memory.h"
#include "table/index/build.h"
#include "table/index/columnscan.h"

#define SCAN_SHARE 3 /* of the memory of a scan, which has three quarters */

struct build {
	struct sp__tablefile *file;
	uint32_t column;
	struct sp_errinfo *err;
	struct sp_run_opts sorting;
	struct sp__index_header header;
	struct sp__entrysort sort;
	struct sp__indexwrite write;
	size_t longest; /* key */
};

char *sp__tableindex_path(const struct sp__tablefile *f, uint32_t column)
{
	char *path;

	return asprintf(&path, "%s.%s.index", f->path, f->schema.columns[column].name) < 0 ? NULL
											   : path;
}

/* Refuses an index that is the table or the trace, or not a regular file. */
static int check_files(const struct build *b)
{
	const char *path = b->write.path;
	struct sp_output_set set = { 0 };
	struct stat st;
	int rc = sp_output_set_add(&set, path, "the index", false, b->err);

	if (!rc)
		rc = sp_output_set_add(&set, b->file->run.trace_path, "the trace", false, b->err);
	if (!rc)
		rc = sp_output_set_add(&set, b->file->run.trace_tasks_path, "the log of tasks",
				       false, b->err);
	if (!rc)
		rc = sp_output_set_check_input(&set, b->file->path, b->err);
	for (unsigned i = 0; !rc && i < b->file->nfurther; i++)
		rc = sp_output_set_check_input(&set, b->file->further[i].name, b->err);
	if (!rc && !stat(path, &st) && !S_ISREG(st.st_mode))
		rc = sp__errf(b->err, SP_EUNSUP, "open", path, -1,
			      "an index must be a regular file");
	return rc;
}

static int make_header(struct build *b)
{
	const struct sp__tablefile *f = b->file;
	const struct sp__table_column *c = &f->schema.columns[b->column];
	struct sp__index_header *h = &b->header;

	*h = (struct sp__index_header){ .separator = -1,
					.of_table = true,
					.table_id = sp__table_records_identity(&f->superblock),
					.column_changed = c->changed,
					.table_records = f->superblock.records };
	snprintf(h->key, sizeof(h->key), "%s", c->name);
	return sp__index_relative(b->write.path, f->path, h->source, b->err);
}

static int take_key(void *build, uint64_t record, const char *key, size_t bytes)
{
	struct build *b = build;
	const struct sp__keymatch match = { .offset = record };

	if (bytes > sp__node_key_max(SP__NODE_MAX))
		return sp__errf(b->err, SP_EUNSUP, "index", b->file->path, -1,
				"record %llu has a text of %zu bytes in column %.64s; an index "
				"takes at most %zu",
				(unsigned long long)record, bytes,
				b->file->schema.columns[b->column].name,
				sp__node_key_max(SP__NODE_MAX));
	b->longest = sp__max(b->longest, bytes);
	b->write.records++;
	return sp__entrysort_put(&b->sort, (const uint8_t *)key, bytes, &match);
}

static int open_sort(struct build *b)
{
	const struct sp_run_opts *run = &b->file->run;

	b->sorting = *run;
	b->sorting.memory_bytes = sp__working_memory(run, run->memory_bytes) / 2;
	return sp__entrysort_open(&b->sort, &b->sorting, &b->file->env, b->err);
}

static int run(struct build *b, struct sp_table_stats *stats)
{
	const struct sp__columnscan_opts scan = {
		.column = b->column, .memory_share = SCAN_SHARE, .each = take_key, .arg = b
	};
	uint32_t page = SP_INDEX_PAGE_BYTES;
	int rc = check_files(b);

	if (!rc)
		rc = make_header(b);
	if (!rc)
		rc = sp_outfile_open(&b->write.out, b->write.path, 0, b->err);
	if (!rc)
		rc = open_sort(b);
	if (!rc)
		rc = sp__columnscan(b->file, &scan, stats, b->err);
	if (!rc)
		rc = sp__sorter_finish(&b->sort.sorter);
	if (rc)
		return sp__err(b->err, rc, "index", b->file->path, -1);
	while (b->longest > sp__node_key_max(page))
		page *= 2;
	b->header.page_bytes = page;
	sp__index_header_size(&b->header);
	return sp__indexwrite_run(&b->write);
}

/* Adds the counters of the sort and of writing to those of the scan. */
static void note(const struct build *b, struct sp_table_stats *stats)
{
	const struct sp_run_stats scanned = stats->run;
	struct sp_sort_stats sorted;

	if (!b->sort.sorter.sort)
		return;
	sp_sort_stats(b->sort.sorter.sort, &sorted);
	stats->run = sorted.run;
	stats->run.read_requests += scanned.read_requests;
	stats->run.read_bytes += scanned.read_bytes;
	sp__indexwrite_note(&b->write, &stats->run);
	stats->records_written = b->header.records;
	stats->keys = b->header.keys;
	stats->output_bytes = b->header.end_page * b->header.page_bytes;
}

int sp__tableindex_build(struct sp__tablefile *f, uint32_t column, const char *path,
			 struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct build b = { .file = f, .column = column, .err = err };
	int rc, closed;

	b.write = (struct sp__indexwrite){
		.path = path, .sort = &b.sort, .header = &b.header, .err = err
	};
	rc = run(&b, stats);
	note(&b, stats);
	sp__indexwrite_close(&b.write);
	closed = sp__entrysort_close(&b.sort);
	return rc ? rc : closed;
}
