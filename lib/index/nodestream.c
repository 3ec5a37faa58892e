/* SPDX-License-Identifier: MIT */
/*
 * Cuts a read stream into pages and checks each; joins pages that cross two spans.
 */
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "index/nodestream.h"

/* A range can end soon after it begins. */
#define FIRST_BYTES ((size_t)64 << 10)

static int until(void *stream, int64_t timeout_ns)
{
	return sp__rstream_wait(((struct sp__nodestream *)stream)->stream, timeout_ns);
}

static int descriptor(void *stream)
{
	return sp__rstream_fd(((struct sp__nodestream *)stream)->stream);
}

int sp__nodestream_open(struct sp__nodestream *s, const struct sp__index *ix,
			struct sp__waits *waits, uint64_t page, bool whole)
{
	static const struct sp__wait_ops ops = { until, descriptor };
	struct sp__rstream_opts o = sp__env_reading(ix->env);

	*s = (struct sp__nodestream){
		.index = ix, .waits = waits, .wait = { .ops = &ops, .source = s }, .page = page
	};
	if (lseek(ix->fd, (off_t)(page * ix->header.page_bytes), SEEK_SET) < 0)
		return sp__err(ix->env->err, -errno, "read", ix->path, -1);
	o.unpack = SP_PACKED_NONE;
	if (ix->header.of_table)
		o.device = ix->env->device;
	o.sim_file = ix->nodes->sim_file;
	o.whole = whole;
	if (!whole) {
		o.depth *= (unsigned)(o.chunk_bytes / sp__min(o.chunk_bytes, FIRST_BYTES));
		o.chunk_bytes = sp__min(o.chunk_bytes, FIRST_BYTES);
	}
	return sp__rstream_open(&s->stream, ix->fd, ix->path, &o, ix->env->err);
}

void sp__nodestream_close(struct sp__nodestream *s)
{
	if (!s->index)
		return;
	sp__waits_withdraw(&s->wait);
	sp__rstream_close(s->stream);
	sp__bytes_release(&s->cut, &s->index->env->budget);
	*s = (struct sp__nodestream){ 0 };
}

void sp__nodestream_note(const struct sp__nodestream *s, struct sp_run_stats *st)
{
	struct sp__io_counters c;

	if (!s->stream)
		return;
	sp__rstream_counters(s->stream, &c);
	sp__env_note_io(st, &c);
}

static int read_span(struct sp__nodestream *s)
{
	int rc = sp__rstream_next(s->stream, &s->span, &s->span_bytes, false);

	if (rc == SP_LATER)
		sp__waits_add(s->waits, &s->wait);
	else
		sp__waits_withdraw(&s->wait);
	if (rc == SP_END)
		return sp__index_page_err(s->index, SP_ECORRUPT, s->page, NULL);
	return rc;
}

/* Returns the next page: in the span, or joined from several spans. */
static int next_page(struct sp__nodestream *s, const char **page)
{
	const struct sp__index *ix = s->index;
	size_t bytes = ix->header.page_bytes, n;
	int rc;

	if (s->cut.bytes == bytes)
		s->cut.bytes = 0;
	while (s->cut.bytes || s->span_bytes < bytes) {
		n = sp__min(s->span_bytes, bytes - s->cut.bytes);
		if (n && sp__bytes_append(&s->cut, s->span, n, &ix->env->budget))
			return sp__err(ix->env->err, -ENOMEM, "read", ix->path, -1);
		s->span += n;
		s->span_bytes -= n;
		*page = s->cut.data;
		if (s->cut.bytes == bytes)
			return SP_READY;
		rc = read_span(s);
		if (rc != SP_READY)
			return rc;
	}
	*page = s->span;
	s->span += bytes;
	s->span_bytes -= bytes;
	return SP_READY;
}

int sp__nodestream_page(struct sp__nodestream *s, const char **page)
{
	int rc = next_page(s, page);

	s->page += rc == SP_READY;
	return rc;
}

int sp__nodestream_next(struct sp__nodestream *s, struct sp__node *node)
{
	const char *page = NULL, *reason;
	int rc = sp__nodestream_page(s, &page);

	if (rc != SP_READY)
		return rc;
	reason = sp__node_open(node, (const uint8_t *)page, s->index->header.page_bytes,
			       s->page - 1);
	if (!reason)
		return SP_READY;
	s->page--;
	return sp__index_page_err(s->index, 0, s->page, reason);
}
