/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of an index (indexwrite.h).
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "index/indexwrite.h"
#include "run/memory.h"

static struct sp__env *env_of(const struct sp__indexwrite *w)
{
	return sp__sort_env(w->sort->sorter.sort);
}

/* Opens ranges: several if there are threads, and memory for their entries and leaves. */
static int open_ranges(struct sp__indexwrite *w)
{
	const struct sp__env *env = env_of(w);
	uint64_t n = env->device ? 1 : sp__threads(env->opts->parallel);
	int rc = 0;

	n = n > 1 ? sp__min(n + 2, env->budget.limit_bytes / 16 / (2 * SP__LEAFRANGE_BYTES)) : 1;
	n = sp__max(n, 1);
	w->ranges = calloc(n, sizeof(*w->ranges));
	for (; w->ranges && !rc && w->nranges < n; w->nranges++)
		rc = sp__leafrange_init(&w->ranges[w->nranges].leaves, w->header->page_bytes);
	return w->ranges ? rc : -ENOMEM;
}

static int put_range(struct sp__indexwrite *w, struct sp__indexwrite_range *r)
{
	sp__task_join(&r->task);
	if (!r->busy)
		return 0;
	r->busy = false;
	return r->leaves.rc ? r->leaves.rc : sp__tree_put(&w->tree, &r->leaves);
}

/* Fills ranges with entries; while tasks make leaves of others, puts the oldest into the tree. */
static int write_leaves(struct sp__indexwrite *w)
{
	unsigned i = 0;
	int rc = 0, end = SP_READY;

	for (; !rc && end == SP_READY; i = (i + 1) % w->nranges) {
		struct sp__indexwrite_range *r = &w->ranges[i];

		rc = put_range(w, r);
		if (rc)
			return rc;
		end = sp__entrysort_lines(w->sort, &r->leaves.entries, SP__LEAFRANGE_BYTES);
		r->busy = end == SP_READY;
		if (r->busy && w->nranges > 1)
			sp__task_start(&r->task, sp__leafrange_make, &r->leaves);
		else if (r->busy)
			sp__leafrange_make(&r->leaves);
	}
	for (unsigned k = 0; !rc && end == SP_END && k < w->nranges; k++)
		rc = put_range(w, &w->ranges[(i + k) % w->nranges]);
	return end < 0 ? end : rc;
}

/* Writes the tree after the space of the header. */
static int write_tree(struct sp__indexwrite *w)
{
	uint8_t *nothing = calloc(1, w->header->header_bytes);
	int rc = nothing ? sp__wstream_put(w->stream, nothing, w->header->header_bytes) : -ENOMEM;

	free(nothing);
	if (!rc)
		rc = sp__tree_init(&w->tree, w->stream, w->header);
	if (!rc)
		rc = open_ranges(w);
	if (!rc)
		rc = write_leaves(w);
	if (!rc)
		rc = sp__tree_finish(&w->tree);
	if (!rc)
		rc = sp__wstream_finish(w->stream);
	if (!rc && w->header->records != w->records)
		rc = SP_EBALANCE;
	return rc;
}

static int write_header(const struct sp__indexwrite *w, int fd)
{
	struct sp__index_header *h = w->header;
	uint8_t *data = malloc(h->header_bytes);
	int rc;

	if (!data)
		return -ENOMEM;
	sp__index_header_encode(h, data);
	rc = sp__write_whole(fd, data, h->header_bytes, 0);
	free(data);
	return rc;
}

int sp__indexwrite_run(struct sp__indexwrite *w)
{
	struct sp__wstream_opts o = sp__env_writing(env_of(w));
	struct sp_sort_stats sorted;
	int fd = sp_outfile_begin(w->out, w->err), rc;

	if (fd < 0)
		return fd;
	/* The tree is about as long as its entries. */
	sp_sort_stats(w->sort->sorter.sort, &sorted);
	o.expected_bytes = w->header->header_bytes + sorted.input_bytes;
	rc = sp__wstream_open(&w->stream, fd, w->path, &o, w->err);
	if (!rc)
		rc = write_tree(w);
	if (!rc)
		rc = write_header(w, fd);
	if (rc)
		return sp__err(w->err, rc, "write", w->path, -1);
	sp__sort_sync(w->sort->sorter.sort);
	return sp_outfile_commit(w->out, w->err);
}

void sp__indexwrite_note(const struct sp__indexwrite *w, struct sp_run_stats *st)
{
	struct sp__io_counters c;

	if (!w->stream)
		return;
	sp__wstream_counters(w->stream, &c);
	sp__env_note_io(st, &c);
}

void sp__indexwrite_close(struct sp__indexwrite *w)
{
	for (unsigned i = 0; i < w->nranges; i++) {
		sp__task_join(&w->ranges[i].task);
		sp__leafrange_free(&w->ranges[i].leaves);
	}
	free(w->ranges);
	sp__wstream_close(w->stream);
	sp__tree_free(&w->tree);
	sp_outfile_close(w->out, w->err);
}
