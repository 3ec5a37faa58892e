/* SPDX-License-Identifier: MIT */
/*
 * Makes the index of a column, and opens it.
 *
 * Pages have SP_INDEX_PAGE_BYTES, or more if the longest key needs them.
 *
 * Memory: half for sorting, a quarter for reading.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/index.h>
#include "base/err.h"
#include "base/minmax.h"
#include "index/indexfile.h"
#include "index/indexwrite.h"
#include "run/memory.h"
#include "table/file/file.h"
#include "table/index/build.h"
#include "table/index/columnkey.h"

#define COMMAND_BYTES 160

/* Appends an argument as a shell takes it; nothing if it does not fit, which spoils the command. */
static bool put_argument(struct sp__bytes *b, const char *text)
{
	const bool plain = *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
						       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
						       "0123456789_./+:@%,-")];
	bool good = !sp__bytes_append(b, plain ? " " : " '", plain ? 1 : 2, NULL);

	for (; good && *text; text++)
		good = *text == '\'' ? !sp__bytes_append(b, "'\\''", 4, NULL)
				     : !sp__bytes_append(b, text, 1, NULL);
	return good && (plain || !sp__bytes_append(b, "'", 1, NULL)) && b->bytes < COMMAND_BYTES;
}

int sp__tableindex_refuse(const struct sp__tablefile *f, uint32_t column, const char *path,
			  int code, const char *reason, struct sp_errinfo *err)
{
	char *own = path ? NULL : sp__tableindex_path(f, column);
	struct sp__bytes command = { 0 };
	bool whole = put_argument(&command, f->path) &&
		     put_argument(&command, f->schema.columns[column].name);

	if (whole && path)
		whole = !sp__bytes_append(&command, " -o", 3, NULL) && put_argument(&command, path);
	code = sp__errf(err, code, "open", path ? path : own, -1,
			"%s: make it with: xtable index%.*s", reason,
			whole ? (int)command.bytes : 13, whole ? command.data : " TABLE COLUMN");
	sp__bytes_release(&command, NULL);
	free(own);
	return code;
}

int sp__tableindex_number(const struct sp__index *ix, const struct sp__tablefile *f,
			  uint32_t column, const char *path, uint64_t record, uint64_t *least,
			  struct sp_errinfo *err)
{
	const bool strange = record >= ix->header.table_records;
	char reason[100];

	if (!strange && record >= *least) {
		*least = record + 1;
		return 0;
	}
	snprintf(reason, sizeof(reason), "does not fit the table: it %s record %llu",
		 strange ? "has the unknown" : "repeats", (unsigned long long)record);
	return sp__tableindex_refuse(f, column, path, SP_ECORRUPT, reason, err);
}

int sp__tableindex_misfit(const struct sp__tablefile *f, uint32_t column, const char *path,
			  uint64_t record, struct sp_errinfo *err)
{
	char reason[80];

	snprintf(reason, sizeof(reason), "does not fit the table: record %llu has another value",
		 (unsigned long long)record);
	return sp__tableindex_refuse(f, column, path, SP_ECORRUPT, reason, err);
}

/* Returns the reason for which the index is not of the column as it is; NULL: none. */
static const char *difference(const struct sp__index_header *h, const struct sp__tablefile *f,
			      uint32_t column)
{
	const struct sp__column *c = &f->schema.columns[column];

	if (!sp__table_has_records(&f->superblock, h->table_id, h->table_records))
		return "is the index of another table, or of another state of it";
	if (strcmp(h->key, c->name) != 0)
		return "is the index of another column";
	if (h->column_changed != c->changed)
		return "is older than the last change of the column in place, or is the index of "
		       "another copy of the table";
	return NULL;
}

int sp__tableindex_open(struct sp__index *ix, struct sp__tablefile *f, uint32_t column,
			const char *path, struct sp_errinfo *err)
{
	char *own = path ? NULL : sp__tableindex_path(f, column);
	const char *name = path ? path : own, *reason;
	int rc;

	*ix = (struct sp__index){ 0 };
	if (!name)
		return sp__err(err, -ENOMEM, "open", f->path, -1);
	if (access(name, F_OK) && errno == ENOENT)
		rc = sp__tableindex_refuse(f, column, path, -ENOENT, "there is no such index", err);
	else
		rc = sp__index_open_column(ix, name, &f->env);
	free(own);
	reason = rc ? NULL : difference(&ix->header, f, column);
	return reason ? sp__tableindex_refuse(f, column, path, -ESTALE, reason, err) : rc;
}

#define SCAN_SHARE 3 /* share of the memory of a scan, which has three quarters */

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
	for (unsigned i = 1; !rc && i < b->file->cells.n; i++)
		rc = sp_output_set_check_input(&set, b->file->cells.volumes[i].name, b->err);
	if (!rc && !stat(path, &st) && !S_ISREG(st.st_mode))
		rc = sp__errf(b->err, SP_EUNSUP, "open", path, -1,
			      "an index must be a regular file");
	return rc;
}

static int make_header(struct build *b)
{
	const struct sp__tablefile *f = b->file;
	const struct sp__column *c = &f->schema.columns[b->column];
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
