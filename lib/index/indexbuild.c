/* SPDX-License-Identifier: MIT */
/*
 * Builds an index: scans the source, sorts its entries, and has the file written (indexwrite.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <spindle/index.h>
#include <spindle/outfile.h>
#include "base/err.h"
#include "base/whole.h"
#include "index/indexfile.h"
#include "index/indexwrite.h"
#include "index/keyscan.h"
#include "run/memory.h"

#define RECORD_MAX (UINT64_C(1) << 30)	 /* can be read with one request */
#define ENTRIES_BYTES ((size_t)64 << 10) /* put at once */

/* Entries of one worker, in a cache line of its own. */
struct worker_part {
	_Alignas(64) struct sp__bytes entries;
};

struct build {
	const struct sp_index_build_opts *opts;
	const char *source, *path;
	struct sp_errinfo *err;
	struct sp__file_state source_state; /* before the scan */
	struct sp__index_header header;
	struct sp__indexkey key;
	struct sp__entrysort sort; /* its run environment serves the whole build */
	struct sp__keyscan scan;
	struct worker_part *parts; /* one per thread that reads the source; or NULL */
	struct sp__indexwrite write;
	struct sp__progress_phase progress;
};

static struct sp__env *env_of(struct build *b)
{
	return sp__sort_env(b->sort.sorter.sort);
}

/* Refuses an index that is the source, another output, or not a regular file. */
static int check_files(struct build *b)
{
	const bool unnamed = strcmp(b->source, "-") == 0; /* standard input */
	struct sp_output_set set = { 0 };
	struct stat st;
	int rc = sp_output_set_add(&set, b->path, "the index", false, b->err);

	if (!rc)
		rc = sp_output_set_add(&set, b->opts->run.trace_path, "the trace", false, b->err);
	if (!rc)
		rc = sp_output_set_add(&set, b->opts->run.trace_tasks_path, "the log of tasks",
				       false, b->err);
	if (!rc)
		rc = sp_output_set_check_input(&set, b->source, b->err);
	if (!rc && !stat(b->path, &st) && !S_ISREG(st.st_mode))
		rc = sp__errf(b->err, SP_EUNSUP, "open", b->path, -1,
			      "an index must be a regular file");
	if (!rc && (b->opts->run.decompress || b->opts->run.compress_output))
		rc = sp__errf(b->err, SP_EUNSUP, "plan", b->source, -1,
			      "a compressed file has no record offsets to index");
	if (rc)
		return rc;
	if (!unnamed && stat(b->source, &st))
		return sp__err(b->err, -errno, "open", b->source, -1);
	if (unnamed || !S_ISREG(st.st_mode))
		return sp__errf(b->err, SP_EUNSUP, "open", b->source, -1,
				"the source of an index must be a regular file: lookups read it");
	b->source_state = sp__file_state(&st);
	return 0;
}

static int make_header(struct build *b)
{
	const struct sp_index_build_opts *o = b->opts;
	struct sp__index_header *h = &b->header;
	const char *key = o->key ? o->key : "";
	uint32_t page = o->page_bytes ? o->page_bytes : SP_INDEX_PAGE_BYTES;
	int rc;

	if (page < SP__NODE_MIN || page > SP__NODE_MAX || (page & (page - 1)))
		return sp__errf(b->err, SP_EUNSUP, "build", b->path, -1,
				"page size must be a power of two from %d to %d bytes",
				SP__NODE_MIN, SP__NODE_MAX);
	if (strlen(key) >= sizeof(h->key))
		return sp__err(b->err, -ENAMETOOLONG, "key", NULL, -1);
	*h = (struct sp__index_header){ .page_bytes = page,
					.format = o->format,
					.separator = o->separator,
					.header_records = o->header_records,
					.source_state = b->source_state };
	strcpy(h->key, key);
	rc = sp__indexkey_init(&b->key, key, &o->format, o->separator, b->err);
	if (!rc)
		rc = sp__index_relative(b->path, b->source, h->source, b->err);
	if (rc)
		return rc;
	h->locale = sp__keyset_locale(b->key.records);
	sp__index_header_size(h);
	return 0;
}

/* Describes the page size that a key needs, if there is one. */
static int key_too_long(const struct build *b, size_t bytes, const struct sp__keymatch *match,
			struct sp_errinfo *err)
{
	uint32_t page = SP__NODE_MIN;
	char cure[64] = "";

	while (page < SP__NODE_MAX && bytes > sp__node_key_max(page))
		page *= 2;
	if (bytes <= sp__node_key_max(page))
		snprintf(cure, sizeof(cure), "; pages of %" PRIu32 " would do", page);
	return sp__errf(err, SP_EUNSUP, "read", b->source, (long long)match->offset,
			"the record at byte %" PRIu64 " has a key of %zu bytes, too long for "
			"pages of %" PRIu32 "%s",
			match->offset, bytes, b->header.page_bytes, cure);
}

static int take_key(void *arg, unsigned worker, const uint8_t *key, size_t bytes,
		    const struct sp__keymatch *match, struct sp_errinfo *err)
{
	struct build *b = arg;
	struct sp__bytes *entries = b->parts ? &b->parts[worker].entries : NULL;
	int rc;

	if (bytes > sp__node_key_max(b->header.page_bytes))
		return key_too_long(b, bytes, match, err);
	if (match->bytes > RECORD_MAX)
		return sp__errf(err, SP_EUNSUP, "read", b->source, (long long)match->offset,
				"the record at byte %" PRIu64 " is longer than 1 GiB",
				match->offset);
	rc = entries ? sp__entry_append(entries, key, bytes, match)
		     : sp__entrysort_put(&b->sort, key, bytes, match);
	if (rc)
		return sp__err(err, rc, "build", b->path, -1);
	return entries && entries->bytes >= ENTRIES_BYTES;
}

/* Makes the entries of the first records of a part. */
static int make_entries(void *arg, unsigned worker, struct sp__part *part, struct sp_batch *from,
			struct sp_batch *records)
{
	struct build *b = arg;
	struct sp__bytes *entries = &b->parts[worker].entries;
	int rc;

	entries->bytes = 0;
	rc = sp__keyscan_take(&b->scan, worker, part, from);
	*records = (struct sp_batch){ entries->data, entries->bytes };
	return rc < 0 ? rc : 0;
}

static int read_parts(void *arg, struct sp__parts *parts)
{
	struct build *b = arg;
	const unsigned n = b->scan.threads;
	int rc;

	b->parts = aligned_alloc(_Alignof(struct worker_part), n * sizeof(*b->parts));
	if (!b->parts)
		return sp__err(b->err, -ENOMEM, "allocate", NULL, -1);
	memset(b->parts, 0, n * sizeof(*b->parts));
	rc = sp__sort_put_parts(b->sort.sorter.sort, parts, b->scan.source_bytes, make_entries, b);
	for (unsigned i = 0; i < n; i++)
		sp__bytes_release(&b->parts[i].entries, NULL);
	free(b->parts);
	b->parts = NULL;
	return rc;
}

/* Opens the sort, and has the scan read with its environment. */
static int open_sort(struct build *b)
{
	struct sp__rstream_opts *reading = &b->scan.scan.stream;
	int rc = sp__entrysort_open(&b->sort, &b->opts->run, NULL, b->err);

	if (rc)
		return rc;
	*reading = sp__env_reading(env_of(b));
	return sp__inputs_lay(reading->device, &b->source, 1, &reading->sim_file, b->err);
}

/* Begins with an empty sort again. */
static int begin_again(void *arg)
{
	struct build *b = arg;
	int rc = sp__entrysort_close(&b->sort);

	return rc ? rc : open_sort(b);
}

static int read_source(struct build *b)
{
	struct sp__file_state now;
	struct stat st;
	int rc;

	b->scan = (struct sp__keyscan){ .scan = { .format = b->opts->format,
						  .inputs = &b->source,
						  .ninputs = 1,
						  .header_records = b->opts->header_records,
						  .keys = b->key.records,
						  .stream = b->scan.scan.stream,
						  .err = b->err },
					.key = &b->key,
					.source_bytes = b->source_state.bytes,
					.threads = sp__threads(b->opts->run.parallel),
					.progress = &b->progress,
					.each = take_key,
					.read = read_parts,
					.again = begin_again,
					.arg = b };
	b->scan.reading = b->scan.scan.stream;
	if (!sp__sort_reads_parts(b->sort.sorter.sort, &b->scan.reading))
		b->scan.threads = 1;
	sp__progress_begin(&b->progress, 0, b->source_state.bytes);
	rc = sp__keyscan_run(&b->scan);
	if (rc)
		return rc;
	if (stat(b->source, &st))
		return sp__err(b->err, -errno, "open", b->source, -1);
	now = sp__file_state(&st);
	if (b->scan.read_bytes != now.bytes || !sp__file_state_same(&now, &b->source_state))
		return sp__file_changed(b->source_state.bytes, now.bytes, b->source, b->err);
	b->header.source_checksum = b->scan.checksum;
	rc = sp__sorter_finish(&b->sort.sorter);
	return rc ? sp__err(b->err, rc, "build", b->path, -1) : 0;
}

static int run(struct build *b)
{
	struct sp_sort_stats sorted;
	int rc = check_files(b);

	if (!rc)
		rc = make_header(b);
	if (!rc)
		rc = sp_outfile_open(&b->write.out, b->path, 0, b->err);
	if (!rc)
		rc = open_sort(b);
	if (!rc)
		rc = read_source(b);
	if (rc)
		return rc;
	sp_sort_stats(b->sort.sorter.sort, &sorted);
	sp__progress_begin(&b->progress, 1, sorted.input_bytes);
	b->write.records = b->scan.records;
	return sp__indexwrite_run(&b->write);
}

static void note(struct build *b, struct sp_index_stats *st)
{
	struct sp_sort_stats sorted;

	*st = (struct sp_index_stats){ 0 };
	if (!b->sort.sorter.sort)
		return;
	sp_sort_stats(b->sort.sorter.sort, &sorted);
	st->run = sorted.run;
	sp__env_note_io(&st->run, &b->scan.io);
	snprintf(st->run.input_engine, sizeof(st->run.input_engine), "%s", b->scan.engine);
	sp__indexwrite_note(&b->write, &st->run);
	st->records = b->header.records;
	st->keys = b->header.keys;
	st->pages = b->header.end_page;
	st->levels = b->header.levels;
}

int sp_index_build(const struct sp_index_build_opts *opts, const char *source, const char *index,
		   struct sp_index_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct build b = { .opts = opts,
			   .source = source,
			   .path = index,
			   .progress =
				   SP__PROGRESS_PHASE_INIT(opts->progress, opts->progress_arg) };
	struct sp_index_stats unwanted;
	int rc, closed;

	b.err = err ? err : &own;
	b.write = (struct sp__indexwrite){ .path = index,
					   .sort = &b.sort,
					   .header = &b.header,
					   .err = b.err,
					   .progress = &b.progress };
	rc = run(&b);
	note(&b, stats ? stats : &unwanted);
	sp__indexwrite_close(&b.write);
	closed = sp__entrysort_close(&b.sort);
	sp__indexkey_free(&b.key);
	return rc < 0 ? rc : closed;
}
