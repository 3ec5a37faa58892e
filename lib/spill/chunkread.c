/* SPDX-License-Identifier: MIT */
/* Reads a run chunk by chunk ahead (chunkread.h). */
#include <stdlib.h>
#include <spindle/batch.h>
#include "base/err.h"
#include "base/hash.h"
#include "spill/chunkread.h"

#define BLOCK 4096u

static void completed(struct sp__io_owner *owner, struct sp__request *req)
{
	struct sp__chunkread *r = (void *)((char *)owner - offsetof(struct sp__chunkread, owner));
	struct sp__chunkread_chunk *c = (void *)req;

	c->in_flight = false;
	r->in_flight--;
	if (!r->error)
		r->error = sp__spill_check_read(r->spill, req);
}

/* Number of contiguous pages from page on, at most a chunk. */
static uint32_t piece(const struct sp__chunkread *r, size_t page)
{
	uint64_t pages = r->run->npages - page;

	return sp__spill_piece(r->spill, r->run, page,
			       pages < r->chunk_pages ? (uint32_t)pages : r->chunk_pages);
}

static int ask(struct sp__chunkread *r, unsigned at)
{
	struct sp__chunkread_chunk *c = &r->chunks[at];
	struct sp__request *req = &c->req;
	const uint32_t page_bytes = r->spill->opts.page_bytes;
	size_t begin = (size_t)at * r->chunk_pages * page_bytes;
	uint64_t bytes;
	int rc;

	c->pages = 0;
	if (r->asked == r->run->npages)
		return 0;
	c->first = r->asked;
	c->pages = piece(r, r->asked);
	r->asked += c->pages;
	bytes = (uint64_t)(c->pages - 1) * page_bytes +
		sp__spill_page_stored(r->spill, r->run, r->asked - 1);
	*req = (struct sp__request){ .op = SP__OP_READ,
				     .data = r->mem ? r->mem + begin : NULL,
				     .bytes = (uint32_t)((bytes + BLOCK - 1) &
							 ~(uint64_t)(BLOCK - 1)) };
	sp__spill_locate(r->spill, r->run, c->first, req);
	rc = sp__spill_submit(r->spill, &r->owner, &req, 1);
	if (rc < 0)
		return r->error = rc;
	c->in_flight = true;
	r->in_flight++;
	return 0;
}

void sp__chunkread_open(struct sp__chunkread *r, struct sp__spill *spill, struct sp__run *run,
			bool last_time, void *mem, size_t mem_bytes)
{
	size_t pages = mem_bytes / spill->opts.page_bytes;

	*r = (struct sp__chunkread){ .spill = spill,
				     .run = run,
				     .owner.completed = completed,
				     .last_time = last_time,
				     .mem = mem };
	r->nchunks = pages < SP__CHUNKREAD_CHUNKS ? (unsigned)pages : SP__CHUNKREAD_CHUNKS;
	r->chunk_pages = (uint32_t)(pages / r->nchunks);
}

void sp__chunkread_close(struct sp__chunkread *r)
{
	while (r->in_flight)
		if (sp__spill_reap(r->spill, 1) < 0)
			break;
	*r = (struct sp__chunkread){ 0 };
}

static int verify(struct sp__chunkread *r, const struct sp__chunkread_chunk *c, const char *data)
{
	for (size_t p = c->first; p < c->first + c->pages; p++) {
		uint32_t bytes = sp__spill_page_payload(r->spill, r->run, p);

		if (!r->spill->opts.hollow &&
		    !sp__run_verify_page(r->run, &r->sum, p, sp__checksum(data, bytes)))
			return r->error = sp__errf(r->spill->opts.err, SP_ECORRUPT, "read",
						   c->req.volume->name, (long long)c->req.offset,
						   "spilled page is corrupted (checksum differs)");
		if (data)
			data += bytes;
		if (r->last_time)
			sp__spill_give_page(r->spill, r->run, p);
	}
	return 0;
}

int sp__chunkread_next(struct sp__chunkread *r, const char **data, size_t *bytes)
{
	struct sp__chunkread_chunk *c = &r->chunks[r->head];
	int rc = r->error;

	for (unsigned i = 0; i < r->nchunks && !r->begun && !rc; i++)
		rc = ask(r, i);
	r->begun = true;
	if (r->pinned && !rc) {
		rc = ask(r, r->head);
		r->head = (r->head + 1) % r->nchunks;
		c = &r->chunks[r->head];
	}
	r->pinned = false;
	if (!rc && !c->pages)
		return SP_END;
	while (!rc && c->in_flight && !r->error) {
		rc = sp__spill_reap(r->spill, 1);
		rc = rc < 0 ? (r->error = rc) : 0;
	}
	if (!rc && !r->error)
		rc = verify(r, c, c->req.data);
	if (rc < 0 || r->error)
		return rc < 0 ? rc : r->error;
	*data = c->req.data;
	*bytes = (size_t)(c->pages - 1) * r->spill->opts.page_bytes +
		 sp__spill_page_payload(r->spill, r->run, c->first + c->pages - 1);
	r->pinned = true;
	return SP_READY;
}
