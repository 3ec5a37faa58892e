/* SPDX-License-Identifier: MIT */
/*
 * Writes a run in chunks of pages.
 *
 * Records fill a chunk; a full chunk goes to a sink, and the next one is filled.  There are four
 * sinks (struct sink): raw pages in as few requests as the space allows, raw pages that the store
 * gathers one by one, pages packed by a codec, and the pipe of a program.
 *
 * Under compression half of the memory is for packed chunks.  A full chunk is packed, by a task if
 * the store allows threads, and submitted when the next chunk is full.  The task touches only the
 * chunk and the codec.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/hash.h"
#include "spill/codec.h"
#include "spill/writer.h"

#define BLOCK 4096u
/* Packing less than this takes about as long as starting a thread for it. */
#define BESIDE_BYTES (64u << 10)

/* A request, and the chunk whose bytes it writes. */
struct chunk_request {
	struct sp__request req;
	struct sp__chunk *chunk;
};

/* Result of packing a page. */
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
	size_t first, payload; /* bytes to send: number of the first page, and total */
	/* Under compression: */
	char *packed; /* its packed pages, each in whole blocks */
	size_t packed_bytes;
	struct packed_page *each;
};

/* Sends chunks; hooks return 0 or an error. */
struct sink {
	int (*send)(struct sp__runwriter *w, struct sp__chunk *c);
	int (*end)(struct sp__runwriter *w);	/* sends the chunk held back; or NULL */
	int (*finish)(struct sp__runwriter *w); /* called when all has been written; or NULL */
	bool copies; /* the chunk can be filled again while its bytes are written */
};

static int fail(struct sp__runwriter *w, int rc, const char *op)
{
	return w->error = sp__err(w->spill->opts.err, rc, op,
				  w->spill->opts.dirs[w->run->file % w->spill->opts.ndirs], -1);
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

/* Allots chunks of this many pages, each followed by as many packed ones. */
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
	run->file = (uint32_t)file;
	run->group_shift = spill->group_shift;
	if (spill->opts.codec) {
		most = SP__WRITER_PACKED_CHUNKS;
		pages /= 2;
		rc = sp__codec_new(&w->codec, spill->opts.codec, page, SP__CODEC_PACKS,
				   spill->opts.err);
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
					   spill->opts.dirs[run->file % spill->opts.ndirs]);
	return w->error;
}

size_t sp__runwriter_chunk(const struct sp__runwriter *w)
{
	return w->chunks[0].pages;
}

/*
 * Describes the page that ends at page_end (the last one: at w->at).  tail: bytes of rec, the
 * record put now, in the page; 0: rec, or the record before it, ends there.
 */
static int end_page(struct sp__runwriter *w, const char *rec, size_t bytes, size_t tail)
{
	const uint64_t ended = w->records + (rec && !tail);
	const void *key = NULL;
	size_t key_bytes = 0;
	int rc = 0;

	if (w->lastkey && rec && !tail)
		rc = w->lastkey(w->lastkey_ctx, rec, bytes, &key, &key_bytes);
	else if (w->lastkey && w->prev_here)
		rc = w->lastkey(w->lastkey_ctx, w->prev, w->prev_bytes, &key, &key_bytes);
	if (rc >= 0 && w->lastkey)
		rc = sp__run_add_key(w->run, key, key_bytes, tail,
				     (uint32_t)(ended - w->described));
	if (rc >= 0)
		rc = sp__run_add_page(w->run, w->codec != NULL);
	w->described = ended;
	w->prev_here = false;
	return rc < 0 ? fail(w, rc, "allocate") : 0;
}

static uint32_t pages_of(const struct sp__runwriter *w, const struct sp__chunk *c)
{
	return (uint32_t)((c->payload + w->spill->opts.page_bytes - 1) / w->spill->opts.page_bytes);
}

/* Prepares raw pages: pads the last block and records the checksum of each page. */
static void seal(struct sp__runwriter *w, struct sp__chunk *c)
{
	const size_t size = w->spill->opts.page_bytes;
	size_t page = c->first;

	if (w->spill->opts.hollow)
		return;
	memset(c->data + c->payload, 0, (BLOCK - c->payload % BLOCK) % BLOCK);
	for (size_t done = 0; done < c->payload; done += size) {
		size_t left = c->payload - done;

		sp__run_note_page(w->run, page++,
				  sp__checksum(c->data + done, left < size ? left : size));
	}
}

/*
 * Sets request number `at` of a chunk to bytes of data, up to one extent of at most `most` units.
 */
static int set_request(struct sp__runwriter *w, struct sp__chunk *c, unsigned at, char *data,
		       size_t bytes, uint32_t most, uint32_t *got)
{
	uint64_t unit = w->run->units;
	struct sp__request *r = c->batch[at] = &c->reqs[at].req;
	int rc = sp__spill_take(w->spill, w->run, most, got);

	if (rc < 0)
		return rc;
	bytes = (size_t)sp__min(bytes, (uint64_t)*got * w->spill->unit_bytes);
	*r = (struct sp__request){ .op = SP__OP_WRITE,
				   .data = data,
				   .bytes =
					   (uint32_t)((bytes + BLOCK - 1) & ~(size_t)(BLOCK - 1)) };
	sp__spill_locate(w->spill, w->run, unit, r);
	return 0;
}

/* Submits the first n requests of a chunk. */
static int submit(struct sp__runwriter *w, struct sp__chunk *c, unsigned n)
{
	c->in_flight += n;
	if (sp__spill_submit(w->spill, &w->owner, c->batch, n) == 0)
		return 0;
	c->in_flight -= n;
	return -EIO;
}

/* Sends one request for each extent. */
static int send_raw(struct sp__runwriter *w, struct sp__chunk *c)
{
	const size_t size = w->spill->opts.page_bytes;
	uint32_t pages = pages_of(w, c), got;
	unsigned n = 0;

	seal(w, c);
	for (uint32_t done = 0; done < pages; done += got) {
		int rc = set_request(w, c, n++, c->data + done * size, c->payload - done * size,
				     pages - done, &got);

		if (rc < 0)
			return rc;
	}
	return submit(w, c, n);
}

/* Sends one request for each page; the store keeps them until a batch is worthwhile. */
static int send_gathered(struct sp__runwriter *w, struct sp__chunk *c)
{
	const size_t size = w->spill->opts.page_bytes;
	uint32_t pages = pages_of(w, c), got;

	seal(w, c);
	for (uint32_t i = 0; i < pages; i++) {
		uint64_t unit = w->run->units;
		int rc = set_request(w, c, i, c->data + i * size, c->payload - i * size, 1, &got);

		if (rc < 0)
			return rc;
		c->in_flight++;
		rc = sp__spill_put_off(w->spill, &w->owner, c->batch[i],
				       sp__spill_unit(w->run, unit));
		if (rc < 0) {
			c->in_flight--;
			return rc;
		}
	}
	return 0;
}

static int send_program(struct sp__runwriter *w, struct sp__chunk *c)
{
	seal(w, c);
	return sp__packer_write(&w->packer, w->spill, c->data, c->payload);
}

static int finish_program(struct sp__runwriter *w)
{
	return sp__packer_finish(&w->packer, w->spill, w->run);
}

/* Packs a chunk, as a task. */
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

/* Waits for the task and submits the packed chunk as one request. */
static int submit_packed(struct sp__runwriter *w)
{
	const size_t size = w->spill->opts.page_bytes;
	struct sp__chunk *c = w->packed;
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
	rc = set_request(w, c, 0, c->packed, c->packed_bytes, (uint32_t)(c->packed_bytes / BLOCK),
			 &got);
	return rc < 0 ? rc : submit(w, c, 1);
}

/* Starts packing a chunk, after submitting the one before it. */
static int send_packed(struct sp__runwriter *w, struct sp__chunk *c)
{
	int rc = submit_packed(w);

	while (rc >= 0 && c->in_flight && !w->error)
		rc = sp__spill_reap(w->spill, 1);
	if (rc < 0 || w->error)
		return rc < 0 ? rc : w->error;
	w->packed = c;
	if (w->spill->opts.pack_beside && w->nchunks > 1 && c->payload >= BESIDE_BYTES &&
	    !w->ended) {
		sp__task_start(&w->packing, pack, c);
		return 0;
	}
	pack(c);
	return submit_packed(w);
}

static const struct sink raw = { .send = send_raw };
static const struct sink gathered = { .send = send_gathered };
static const struct sink program = { .send = send_program, .finish = finish_program };
static const struct sink codec = { .send = send_packed, .end = submit_packed, .copies = true };

/* Chooses the sink; the store can start and stop gathering while a run is written. */
static const struct sink *sink_of(const struct sp__runwriter *w)
{
	return w->codec			? &codec
	       : w->spill->opts.program ? &program
	       : w->spill->gather	? &gathered
					: &raw;
}

/* Sends the current chunk. */
static int send(struct sp__runwriter *w)
{
	struct sp__chunk *c = &w->chunks[w->now];
	int rc;

	c->payload = (size_t)(w->at - c->data);
	if (!c->payload)
		return 0;
	c->first = w->run->npages - pages_of(w, c);
	w->run->bytes += c->payload;
	rc = sink_of(w)->send(w, c);
	if (rc < 0)
		w->error = rc;
	return w->error;
}

/* Sends the current chunk, and waits until the next one can be filled. */
static int flush(struct sp__runwriter *w)
{
	int rc = send(w);

	w->now = (w->now + 1) % w->nchunks;
	while (rc >= 0 && !sink_of(w)->copies && w->chunks[w->now].in_flight && !w->error)
		rc = sp__spill_reap(w->spill, 1);
	if (rc < 0)
		return w->error = rc;
	begin_chunk(w);
	return w->error;
}

/* Describes the page that is full, with the arguments of end_page(); sends a full chunk. */
static int fill_page(struct sp__runwriter *w, const char *rec, size_t bytes, size_t tail)
{
	int rc = end_page(w, rec, bytes, tail);

	if (rc < 0 || w->page_end == w->chunk_end)
		return rc < 0 ? rc : flush(w);
	w->page_end += w->spill->opts.page_bytes;
	return 0;
}

int sp__runwriter_skip(struct sp__runwriter *w, uint64_t bytes)
{
	int rc = 0;

	while (!rc && bytes >= (size_t)(w->page_end - w->at)) {
		bytes -= (size_t)(w->page_end - w->at);
		w->at = w->page_end;
		rc = fill_page(w, NULL, 0, 0);
	}
	if (!rc)
		w->at += bytes;
	return rc;
}

int sp__runwriter_put_slow(struct sp__runwriter *w, const char *rec, size_t bytes)
{
	size_t left = bytes;
	const char *p = rec;
	int rc;

	if (bytes > w->spill->opts.page_bytes) {
		w->run->largest = sp__max(w->run->largest, bytes);
		w->run->long_bytes += bytes;
	}
	while (left >= (size_t)(w->page_end - w->at)) {
		size_t part = (size_t)(w->page_end - w->at);

		memcpy(w->at, p, part);
		w->at += part;
		p += part;
		left -= part;
		rc = fill_page(w, rec, bytes, left ? part : 0);
		if (rc < 0)
			return rc;
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
		rc = end_page(w, NULL, 0, 0);
	if (!rc)
		rc = send(w);
	if (!rc && sink_of(w)->end)
		rc = sink_of(w)->end(w);
	return rc < 0 ? w->error = rc : 0;
}

int sp__runwriter_finish(struct sp__runwriter *w)
{
	int rc = w->error;

	if (rc)
		return rc;
	rc = sp__runwriter_end(w);
	drain(w);
	if (!rc && !w->error && sink_of(w)->finish)
		rc = sink_of(w)->finish(w);
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
