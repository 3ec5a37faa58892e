/* SPDX-License-Identifier: MIT */
/*
 * A read stream in queued mode: a ring of slots, one for each chunk.  A slot is requested (busy),
 * then read (done), then with the caller (lent) until the next call, which requests the next chunk
 * into it.  So all slots but one are ahead of the caller.
 *
 * Requests begin and end at aligned offsets, the first one at or before the beginning of the
 * stream, the last one at or after the known size.
 */
#include <errno.h>
#include <unistd.h>
#include "io/rstream_state.h"

static int collect(struct sp__rstream *rs, bool wait)
{
	struct sp__request *done[SP__RSTREAM_DEPTH_MAX];
	int n = sp__queue_reap(rs->q, done, SP__RSTREAM_DEPTH_MAX, wait ? 1 : 0, wait ? -1 : 0);

	for (int i = 0; i < n; i++)
		rs->slots[done[i]->tag].done = true;
	return n < 0 ? n : 0;
}

/* Asks for the next chunk into each of n slots from first on, as one batch. */
static int ask(struct sp__rstream *rs, unsigned first, unsigned n)
{
	struct sp__request *batch[SP__RSTREAM_DEPTH_MAX];
	unsigned i;

	for (i = 0; i < n && rs->ask < rs->known; i++) {
		unsigned at = (first + i) % rs->depth;
		struct sp__request *r = &rs->slots[at].req;
		uint64_t align = rs->volume->align_bytes;
		uint64_t rest = (rs->known - rs->ask + align - 1) / align * align;

		*r = (struct sp__request){ .op = SP__OP_READ,
					   .volume = rs->volume,
					   .offset = rs->ask,
					   .data = rs->buf + at * rs->chunk_bytes,
					   .tag = at };
		r->bytes = (uint32_t)(rest < rs->chunk_bytes ? rest : rs->chunk_bytes);
		rs->slots[at].busy = true;
		rs->slots[at].done = false;
		rs->ask += r->bytes;
		batch[i] = r;
	}
	return i ? sp__queue_submit(rs->q, batch, i) : 0;
}

static int go_plain(struct sp__rstream *rs, const char **data, size_t *bytes, bool wait)
{
	struct sp__request *drop[SP__RSTREAM_DEPTH_MAX];

	while (sp__queue_outstanding(rs->q)) {
		int rc = sp__queue_reap(rs->q, drop, SP__RSTREAM_DEPTH_MAX, 1, -1);

		if (rc < 0)
			return sp__rstream_fail(rs, rc, rs->offset);
	}
	rs->queued = false;
	if (lseek(rs->fd, (off_t)rs->offset, SEEK_SET) < 0)
		return sp__rstream_fail(rs, -errno, rs->offset);
	return sp__rplain_next(rs, data, bytes, wait);
}

int sp__rqueued_next(struct sp__rstream *rs, const char **data, size_t *bytes, bool wait)
{
	struct sp__rslot *s = &rs->slots[rs->head];
	uint64_t skip;
	int rc = 0;

	if (rs->short_read)
		return go_plain(rs, data, bytes, wait);
	if (rs->lent)
		rc = ask(rs, (rs->head + rs->depth - 1) % rs->depth, 1);
	rs->lent = false;
	while (rc == 0 && s->busy && !s->done) {
		rc = collect(rs, wait);
		if (rc == 0 && !wait && !s->done)
			return SP_LATER;
	}
	if (rc)
		return sp__rstream_fail(rs, rc, rs->offset);
	if (!s->busy || (s->req.result == -EINVAL && rs->volume->direct))
		return go_plain(rs, data, bytes, wait);
	if (s->req.result < 0)
		return sp__rstream_fail(rs, s->req.result, s->req.offset);
	/* The first chunk begins at an aligned place before the stream. */
	skip = rs->offset - s->req.offset;
	if ((uint64_t)s->req.result <= skip)
		return go_plain(rs, data, bytes, wait);
	*data = (char *)s->req.data + skip;
	*bytes = (size_t)s->req.result - skip;
	rs->offset += *bytes;
	if ((uint32_t)s->req.result < s->req.bytes)
		rs->short_read = true;
	s->busy = false;
	rs->head = (rs->head + 1) % rs->depth;
	rs->lent = true;
	return SP_READY;
}

int sp__rqueued_begin(struct sp__rstream *rs)
{
	int rc;

	rs->ask = rs->offset - rs->offset % rs->volume->align_bytes;
	rc = ask(rs, 0, rs->depth);
	rs->queued = rc == 0;
	return rc;
}
