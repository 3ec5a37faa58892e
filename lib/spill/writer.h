/* SPDX-License-Identifier: MIT */
/*
 * Writes one run: records are put in order, pages are written asynchronously.
 *
 * The memory is divided into chunks of whole pages.  Records are copied into the current chunk; a
 * full one is sent while the next one fills (writer.c).
 */
#pragma once

#include <string.h>
#include "base/few.h"
#include "base/minmax.h"
#include "base/task.h"
#include "spill/filterrun.h"
#include "spill/store.h"

#define SP__WRITER_CHUNKS 3
#define SP__WRITER_PACKED_CHUNKS 2

struct sp__codec;
struct sp__chunk;

/* Finds the last key of a record, as bytes.  Returns 0 or an error. */
typedef int sp__lastkey_fn(void *ctx, const char *rec, size_t bytes, const void **key,
			   size_t *key_bytes);

struct sp__runwriter {
	struct sp__spill *spill;
	struct sp__run *run;
	struct sp__chunk *chunks;
	unsigned nchunks, now;
	char *at;	/* position of the next byte */
	char *page_end; /* end of the page that at is in */
	char *chunk_end;
	const char *prev; /* the record put before; its owner keeps it until the next put */
	size_t prev_bytes;
	bool prev_here;		 /* it ended in the current page */
	sp__lastkey_fn *lastkey; /* NULL: no last keys */
	void *lastkey_ctx;
	uint64_t records;
	uint64_t described; /* records that ended in earlier pages */
	struct sp__codec *codec;
	struct sp__task packing;
	struct sp__chunk *packed; /* packed or being packed, and not yet submitted */
	struct sp__packer packer; /* the store's program, if it has one */
	bool ended;
	int error;
	struct sp__io_owner owner;
};

/* Opens a writer.  mem: memory for the chunks, whole pages: at least one, under compression two. */
int sp__runwriter_open(struct sp__runwriter *w, struct sp__spill *spill, struct sp__run *run,
		       void *mem, size_t mem_bytes, sp__lastkey_fn *lastkey, void *ctx);
/* Returns the number of pages of a chunk. */
size_t sp__runwriter_chunk(const struct sp__runwriter *w);
/* Appends bytes without data, to a hollow store.  Returns 0 or an error. */
int sp__runwriter_skip(struct sp__runwriter *w, uint64_t bytes);
int sp__runwriter_put_slow(struct sp__runwriter *w, const char *rec, size_t bytes);
/*
 * Submits the rest without waiting; nothing more can be put.  End all of several writers before
 * finishing the first.
 */
int sp__runwriter_end(struct sp__runwriter *w);
/* Ends the run if necessary, and waits for all its writes. */
int sp__runwriter_finish(struct sp__runwriter *w);
/* Frees the writer; the run is kept as far as it was written. */
void sp__runwriter_close(struct sp__runwriter *w);

/*
 * Appends a record, terminator included.  reach: the bytes that can be read from rec on.  rec must
 * stay unchanged until the next put or finish returns.  Returns 0 or an error.
 */
static inline int sp__runwriter_put_near(struct sp__runwriter *w, const char *rec, size_t bytes,
					 size_t reach)
{
	size_t room = (size_t)(w->page_end - w->at);

	if (__builtin_expect(bytes >= room, 0))
		return sp__runwriter_put_slow(w, rec, bytes);
	sp__copy_near(w->at, rec, bytes, sp__min(reach, room));
	w->at += bytes;
	w->records++;
	w->prev = rec;
	w->prev_bytes = bytes;
	w->prev_here = true;
	return 0;
}

/* Appends a record of which no further bytes can be read. */
static inline int sp__runwriter_put(struct sp__runwriter *w, const char *rec, size_t bytes)
{
	return sp__runwriter_put_near(w, rec, bytes, bytes);
}

/* Appends bytes in which the given number of records begin; the last can be incomplete. */
static inline int sp__runwriter_put_part(struct sp__runwriter *w, const char *data, size_t bytes,
					 unsigned records)
{
	int rc = sp__runwriter_put(w, data, bytes);

	w->records += records;
	w->records--;
	return rc;
}
