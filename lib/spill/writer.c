/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/hash.h"
#include "spill/codec.h"
#include "spill/writer.h"

#define BLOCK 4096u
/* Packing less than this takes hardly longer than starting a thread for it. */
#define BESIDE_BYTES (64u << 10)

/* A request, and the chunk whose bytes it writes. */
struct chunk_request {
	struct sp__request req;
	struct sp__chunk *chunk;
};

/* Results of packing a page. */
struct packed_page {
	uint64_t checksum;
	uint32_t bytes;
};

struct sp__chunk {
	struct sp__runwriter *writer;
	char *data;
	uint32_t pages; /* capacity */
	struct chunk_request *reqs;
	struct sp__request **batch;
	unsigned in_flight;
	/* Under compression: */
	size_t first, payload; /* packed data: number of the first page, and total bytes; */
	char *packed;	       /* its pages one after the other in whole blocks, */
	size_t packed_bytes;
	struct packed_page *each;
};

static int fail(struct sp__runwriter *w, int rc, const char *op)
{
	return w->error = sp__err(w->spill->opts.err, rc, op,
				  w->spill->opts.dirs[w->file % w->spill->opts.ndirs], -1);
}

static void completed(struct sp__io_owner *owner, struct sp__request *req)
{
	struct sp__runwriter *w = (void *)((char *)owner - offsetof(struct sp__runwriter, owner));

	((struct chunk_request *)(void *)req)->chunk->in_flight--;
	if (req->result < 0 && !w->error)
		w->error = sp__volume_err(w->spill->opts.err, req->volume, req->result, "write",
					  (long long)req->offset);
	else if ((uint32_t)req->result != req->bytes && !w->error)
		w->error = sp__err(w->spill->opts.err, -ENOSPC, "write", req->volume->name,
				   (long long)req->offset);
}

static void begin_chunk(struct sp__runwriter *w)
{
	struct sp__chunk *c = &w->chunks[w->now];

	w->at = c->data;
	w->page_end = c->data + w->spill->opts.page_bytes;
	w->chunk_end = c->data + (size_t)c->pages * w->spill->opts.page_bytes;
}

/* Chunks of this many pages, followed by as many packed ones. */
static int open_chunks(struct sp__runwriter *w, char *mem, size_t pages)
{
	size_t bytes = pages * w->spill->opts.page_bytes;

	w->chunks = calloc(w->nchunks, sizeof(*w->chunks));
	for (unsigned i = 0; w->chunks && i < w->nchunks; i++) {
		struct sp__chunk *c = &w->chunks[i];

		*c = (struct sp__chunk){ .writer = w,
					 .data = mem + i * bytes,
					 .pages = (uint32_t)pages };
		c->reqs = calloc(pages, sizeof(*c->reqs));
		c->batch = calloc(pages, sizeof(struct sp__request *));
		if (!c->reqs || !c->batch)
			return -ENOMEM;
		for (size_t k = 0; k < pages; k++)
			c->reqs[k].chunk = c;
		if (!w->codec)
			continue;
		c->packed = c->data + w->nchunks * bytes;
		c->each = calloc(pages, sizeof(*c->each));
		if (!c->each)
			return -ENOMEM;
	}
	return w->chunks ? 0 : -ENOMEM;
}

int sp__runwriter_open(struct sp__runwriter *w, struct sp__spill *spill, struct sp__run *run,
		       void *mem, size_t mem_bytes, sp__lastkey_fn *lastkey, void *ctx)
{
	uint32_t page = spill->opts.page_bytes;
	size_t pages = mem_bytes / page;
	unsigned most = SP__WRITER_CHUNKS;
	int file = sp__spill_next_file(spill), rc;

	*w = (struct sp__runwriter){ .spill = spill,
				     .run = run,
				     .lastkey = lastkey,
				     .lastkey_ctx = ctx,
				     .owner.completed = completed };
	if (file < 0)
		return w->error = file;
	w->file = run->file = (uint32_t)file;
	run->group_shift = spill->group_shift;
	if (spill->opts.codec) {
		most = SP__WRITER_PACKED_CHUNKS;
		pages /= 2;
		rc = sp__codec_new(&w->codec, spill->opts.codec, page, SP__CODEC_PACKS);
		if (rc < 0)
			return fail(w, rc, "allocate");
	}
	w->nchunks = pages < most ? (unsigned)pages : most;
	if (!w->nchunks)
		return fail(w, SP_EBUDGET, "write");
	rc = open_chunks(w, mem, pages / w->nchunks);
	if (rc < 0)
		return fail(w, rc, "allocate");
	begin_chunk(w);
	if (spill->opts.program)
		w->error = sp__packer_open(&w->packer, spill, run,
					   spill->opts.dirs[w->file % spill->opts.ndirs]);
	return w->error;
}

size_t sp__runwriter_chunk(const struct sp__runwriter *w)
{
	return w->chunks[0].pages;
}

/* Describes the page that ends at page_end (the last one: at w->at). */
static int end_page(struct sp__runwriter *w, const char *rec, size_t bytes, bool ends_here)
{
	const void *key = NULL;
	size_t key_bytes = 0;
	int rc = 0;

	if (w->lastkey && ends_here)
		rc = w->lastkey(w->lastkey_ctx, rec, bytes, &key, &key_bytes);
	else if (w->lastkey && w->prev_here)
		rc = w->lastkey(w->lastkey_ctx, w->prev, w->prev_bytes, &key, &key_bytes);
	if (rc >= 0 && w->lastkey)
		rc = sp__run_add_key(w->run, key, key_bytes);
	if (rc >= 0)
		rc = sp__run_add_page(w->run, w->codec != NULL);
	w->prev_here = false;
	return rc < 0 ? fail(w, rc, "allocate") : 0;
}

/* Sets a request for bytes of a chunk from page `from` on, which is unit `unit` of the run. */
static void set_request(struct sp__runwriter *w, struct sp__chunk *c, unsigned at, uint32_t from,
			uint64_t unit, size_t bytes)
{
	struct sp__request *r = &c->reqs[at].req;

	*r = (struct sp__request){ .op = SP__OP_WRITE,
				   .data = c->data + (size_t)from * w->spill->opts.page_bytes,
				   .bytes =
					   (uint32_t)((bytes + BLOCK - 1) & ~(size_t)(BLOCK - 1)) };
	sp__spill_locate(w->spill, w->run, unit, r);
	c->batch[at] = r;
}

/* Gathers the writes, page by page. */
static int put_off(struct sp__runwriter *w, struct sp__chunk *c, uint32_t pages, size_t payload)
{
	const uint32_t size = w->spill->opts.page_bytes;

	for (uint32_t i = 0; i < pages; i++) {
		uint64_t unit = w->run->units;
		size_t left = payload - (size_t)i * size;
		uint32_t got;
		int rc = sp__spill_take(w->spill, w->run, w->file, 1, &got);

		if (rc < 0)
			return w->error = rc;
		set_request(w, c, i, i, unit, left < size ? left : size);
		c->in_flight++;
		rc = sp__spill_put_off(w->spill, &w->owner, c->batch[i],
				       sp__spill_unit(w->run, unit));
		if (rc < 0) {
			c->in_flight--;
			return w->error = rc;
		}
	}
	return 0;
}

/* Raw pages: one request for each piece of space. */
static int submit_raw(struct sp__runwriter *w, struct sp__chunk *c, uint32_t pages, size_t payload)
{
	const uint32_t size = w->spill->opts.page_bytes;
	unsigned n = 0;

	for (uint32_t done = 0; done < pages;) {
		uint64_t unit = w->run->units;
		size_t left = payload - (size_t)done * size;
		uint32_t got;
		int rc = sp__spill_take(w->spill, w->run, w->file, pages - done, &got);

		if (rc < 0)
			return w->error = rc;
		if (left > (size_t)got * size)
			left = (size_t)got * size;
		set_request(w, c, n++, done, unit, left);
		done += got;
	}
	c->in_flight += n;
	if (sp__spill_submit(w->spill, &w->owner, c->batch, n) < 0) {
		c->in_flight -= n;
		return w->error = -EIO;
	}
	return 0;
}

/* The task that packs a chunk. */
static void pack(void *arg)
{
	struct sp__chunk *c = arg;
	const size_t size = c->writer->spill->opts.page_bytes;
	char *to = c->packed;

	for (size_t done = 0; done < c->payload; done += size) {
		struct packed_page *page = &c->each[done / size];
		size_t left = c->payload - done, raw = left < size ? left : size;
		/* A page that saves no block is not worth unpacking. */
		size_t room = (raw - 1) / BLOCK * BLOCK, n;

		page->checksum = sp__checksum(c->data + done, raw);
		n = sp__codec_pack(c->writer->codec, to, room, c->data + done, raw);
		if (!n) {
			memcpy(to, c->data + done, raw);
			n = raw;
		}
		page->bytes = (uint32_t)n;
		memset(to + n, 0, (BLOCK - n % BLOCK) % BLOCK);
		to += (n + BLOCK - 1) / BLOCK * BLOCK;
	}
	c->packed_bytes = (size_t)(to - c->packed);
}

/* Waits for the task, and submits the packed chunk as one request. */
static int submit_packed(struct sp__runwriter *w)
{
	const size_t size = w->spill->opts.page_bytes;
	struct sp__chunk *c = w->packed;
	uint64_t unit = w->run->units;
	struct sp__request *r;
	uint32_t got;
	int rc;

	if (!c)
		return 0;
	sp__task_join(&w->packing);
	w->packed = NULL;
	for (size_t i = 0; i * size < c->payload; i++) {
		sp__run_note_page(w->run, c->first + i, c->each[i].checksum);
		w->run->packed[c->first + i] = c->each[i].bytes;
	}
	rc = sp__spill_take(w->spill, w->run, w->file, (uint32_t)(c->packed_bytes / BLOCK), &got);
	if (rc < 0)
		return rc;
	r = &c->reqs->req;
	*r = (struct sp__request){ .op = SP__OP_WRITE,
				   .data = c->packed,
				   .bytes = (uint32_t)c->packed_bytes };
	sp__spill_locate(w->spill, w->run, unit, r);
	c->in_flight++;
	if (sp__spill_submit(w->spill, &w->owner, &r, 1) < 0) {
		c->in_flight--;
		return -EIO;
	}
	return 0;
}

/* Starts packing a chunk, after submitting the one before it. */
static int send_packed(struct sp__runwriter *w, struct sp__chunk *c, size_t first, size_t payload)
{
	int rc = submit_packed(w);

	while (rc >= 0 && c->in_flight && !w->error)
		rc = sp__spill_reap(w->spill, 1);
	if (rc < 0 || w->error)
		return rc < 0 ? rc : w->error;
	c->first = first;
	c->payload = payload;
	w->packed = c;
	if (w->spill->opts.pack_beside && w->nchunks > 1 && payload >= BESIDE_BYTES && !w->ended) {
		sp__task_start(&w->packing, pack, c);
		return 0;
	}
	pack(c);
	return submit_packed(w);
}

static void note_pages(struct sp__runwriter *w, const struct sp__chunk *c, size_t first,
		       size_t payload)
{
	const size_t size = w->spill->opts.page_bytes;

	for (size_t done = 0; done < payload; done += size) {
		size_t left = payload - done;

		sp__run_note_page(w->run, first++,
				  sp__checksum(c->data + done, left < size ? left : size));
	}
}

/* Submits the current chunk. */
static int send(struct sp__runwriter *w)
{
	struct sp__chunk *c = &w->chunks[w->now];
	const uint32_t size = w->spill->opts.page_bytes;
	size_t payload = (size_t)(w->at - c->data);
	uint32_t pages = (uint32_t)((payload + size - 1) / size);
	size_t first = w->run->npages - pages;
	int rc;

	if (!pages)
		return 0;
	w->bytes += payload;
	if (w->codec) {
		rc = send_packed(w, c, first, payload);
	} else {
		memset(w->at, 0, (BLOCK - payload % BLOCK) % BLOCK);
		note_pages(w, c, first, payload);
		rc = w->spill->opts.program
			     ? sp__packer_write(&w->packer, w->spill, c->data, payload)
		     : w->spill->gather ? put_off(w, c, pages, payload)
					: submit_raw(w, c, pages, payload);
	}
	if (rc < 0)
		w->error = rc;
	return w->error;
}

/* Submits the current chunk and waits until the next one is free. */
static int flush(struct sp__runwriter *w)
{
	int rc = send(w);

	w->now = (w->now + 1) % w->nchunks;
	/* A packed chunk can be filled again while its packed copy is written. */
	while (rc >= 0 && !w->codec && w->chunks[w->now].in_flight && !w->error)
		rc = sp__spill_reap(w->spill, 1);
	if (rc < 0)
		return w->error = rc;
	begin_chunk(w);
	return w->error;
}

int sp__runwriter_put_slow(struct sp__runwriter *w, const char *rec, size_t bytes)
{
	size_t left = bytes;
	const char *p = rec;
	int rc;

	while (left >= (size_t)(w->page_end - w->at)) {
		size_t part = (size_t)(w->page_end - w->at);

		memcpy(w->at, p, part);
		w->at += part;
		p += part;
		left -= part;
		rc = end_page(w, rec, bytes, left == 0);
		if (rc < 0)
			return rc;
		if (w->page_end == w->chunk_end) {
			rc = flush(w);
			if (rc < 0)
				return rc;
		} else {
			w->page_end += w->spill->opts.page_bytes;
		}
	}
	memcpy(w->at, p, left);
	w->at += left;
	w->records++;
	w->prev = rec;
	w->prev_bytes = bytes;
	w->prev_here = left > 0;
	return 0;
}

static void drain(struct sp__runwriter *w)
{
	sp__task_join(&w->packing);
	for (unsigned i = 0; i < w->nchunks; i++)
		while (w->chunks[i].in_flight)
			if (sp__spill_reap(w->spill, 1) < 0)
				return;
}

int sp__runwriter_end(struct sp__runwriter *w)
{
	int rc = 0;

	if (w->error || w->ended)
		return w->error;
	w->ended = true;
	if (w->at > w->page_end - w->spill->opts.page_bytes)
		rc = end_page(w, NULL, 0, false);
	if (!rc)
		rc = send(w);
	if (!rc)
		rc = submit_packed(w);
	return rc < 0 ? w->error = rc : 0;
}

int sp__runwriter_finish(struct sp__runwriter *w)
{
	int rc = w->error;

	if (rc)
		return rc;
	rc = sp__runwriter_end(w);
	drain(w);
	if (!rc && !w->error && w->spill->opts.program)
		rc = sp__packer_finish(&w->packer, w->spill, w->run);
	w->run->bytes = w->bytes;
	w->run->records = w->records;
	sp__spill_give_spare(w->spill, w->run);
	sp__run_trim(w->run);
	return rc < 0 ? rc : w->error;
}

void sp__runwriter_close(struct sp__runwriter *w)
{
	if (w->spill && w->chunks)
		drain(w);
	sp__packer_close(&w->packer);
	for (unsigned i = 0; w->chunks && i < w->nchunks; i++) {
		free(w->chunks[i].reqs);
		free(w->chunks[i].batch);
		free(w->chunks[i].each);
	}
	free(w->chunks);
	sp__codec_free(w->codec);
	*w = (struct sp__runwriter){ 0 };
}
