/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of an index (indexwrite.h).
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/whole.h"
#include "index/indexwrite.h"

static struct sp__env *env_of(const struct sp__indexwrite *w)
{
	return sp__sort_env(w->sort->sorter.sort);
}

/* Writes the tree after the space of the header. */
static int write_tree(struct sp__indexwrite *w)
{
	struct sp__keymatch match;
	uint8_t *nothing = calloc(1, w->header->header_bytes);
	int rc = nothing ? sp__wstream_put(w->stream, nothing, w->header->header_bytes) : -ENOMEM;

	free(nothing);
	if (!rc)
		rc = sp__tree_init(&w->tree, w->stream, w->header);
	while (!rc && (rc = sp__entrysort_get(w->sort, &match)) == SP_READY)
		rc = sp__tree_put(&w->tree, (const uint8_t *)w->sort->key.data, w->sort->key.bytes,
				  match.offset, match.bytes);
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
	int fd = sp_outfile_begin(w->out, w->err), rc;

	if (fd < 0)
		return fd;
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
	sp__wstream_close(w->stream);
	sp__tree_free(&w->tree);
	sp_outfile_close(w->out, w->err);
}
