/* SPDX-License-Identifier: MIT */
/*
 * Reads the chunks of a file in any order: chunks in the page cache while missing ones are read.
 *
 * States of a chunk of the window, in this order: unknown; cached or missing; taken (requested);
 * given.  The window begins with the first chunk that is not given.
 *
 * Algorithm: a call returns a chunk that has been read.  If there is none, it requests a cached
 * chunk, which completes immediately in most cases.  So the processor has work while missing chunks
 * are read.  The device has work while cached chunks are used, since `ahead` missing chunks are
 * requested first. `ahead` is 1 at the beginning and doubles at each stall, up to the number of
 * slots minus one.  The last slot is for the chunk that the caller has, and then for a cached one.
 *
 * Missing chunks are read past the page cache, if the file system can do that.  The cache keeps its
 * contents, so the same part is cached for the next scan.  Cached chunks are requested from a
 * second volume, which is not direct.  If a cached chunk has been evicted, its request is a read
 * like any other.  The queue serves both volumes.  A simulated machine has a page cache of its own.
 *
 * A check of the page cache is one system call per chunk, at most once.
 *
 * Errors: a read shorter than the size at opening, or a smaller file at the end, is an error, since
 * no reader can tell which records are lost.  Bytes appended after opening are not read.
 *
 * Rejected: checking all chunks at opening (the cache changes while a large file is read); trying
 * each chunk with RWF_NOWAIT (the kernel then begins to read the missing part, in requests of its
 * own).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "io/volume.h"
#include "io/chunks.h"
#include "io/engine.h"

#define DEPTH_MAX 64
/* The order of fewer chunks does not matter. */
#define CHUNKS_MIN 4

enum state { CACHED, MISSING, TAKEN, GIVEN };

struct slot {
	struct sp__request req; /* first */
	uint64_t chunk;
	enum { FREE, BUSY, DONE, PINNED } use;
	uint64_t arrival; /* DONE: when it completed, in order */
};

struct sp__chunks {
	struct sp__io_owner owner; /* receives the completions of its requests */
	int fd;
	char *name;
	struct sp_errinfo *err;
	int status;			    /* SP_READY until the end or an error, which stay */
	struct sp__volume *cached, *direct; /* direct: NULL if impossible */
	bool refused;			    /* a direct read was refused after opening */
	bool bypass;			    /* the page cache is not checked */
	struct sp__queue *q;
	struct slot *slots;
	unsigned depth, ahead;
	bool stalled;
	uint64_t arrivals;
	char *buf;
	size_t buf_bytes, chunk_bytes;
	uint64_t known; /* size at opening */
	uint64_t count;
	unsigned window;
	unsigned char *state; /* state of chunk i of the window, at i modulo its size */
	uint64_t lowest;      /* first chunk that is not given */
	uint64_t looked;      /* chunks before this one have a known state */
	uint64_t cached_from, missing_from; /* no chunk before these has that state */
};

static int fail(struct sp__chunks *c, int code, uint64_t offset)
{
	c->status = sp__err(c->err, code, "read", c->name, (long long)offset);
	return c->status;
}

/* States. */

static unsigned char *state_of(struct sp__chunks *c, uint64_t chunk)
{
	return &c->state[chunk % c->window];
}

static uint64_t bytes_of(const struct sp__chunks *c, uint64_t chunk)
{
	return sp__min(c->known - chunk * c->chunk_bytes, c->chunk_bytes);
}

/* Checks the state of one more chunk; false: the window has no more. */
static bool look(struct sp__chunks *c)
{
	uint64_t at = c->looked;

	if (at == sp__min(c->count, c->lowest + c->window))
		return false;
	*state_of(c, at) =
		!c->bypass && sp__volume_cached(c->cached, at * c->chunk_bytes, bytes_of(c, at))
			? CACHED
			: MISSING;
	c->looked++;
	return true;
}

/* Finds the first chunk from *at on that is cached, missing, or either; false: there is none. */
static bool find(struct sp__chunks *c, bool cached, bool missing, uint64_t *at)
{
	for (*at = sp__max(*at, c->lowest); *at < c->looked || look(c); ++*at) {
		unsigned char state = *state_of(c, *at);

		if ((cached && state == CACHED) || (missing && state == MISSING))
			return true;
	}
	return false;
}

/* Requests. */

static struct slot *free_slot(struct sp__chunks *c, unsigned *used)
{
	struct slot *found = NULL;

	*used = 0;
	for (unsigned i = 0; i < c->depth; i++) {
		if (c->slots[i].use == FREE)
			found = &c->slots[i];
		else
			++*used;
	}
	return found;
}

static int request(struct sp__chunks *c, struct slot *s, uint64_t chunk)
{
	bool past = *state_of(c, chunk) == MISSING && c->direct && !c->refused;
	struct sp__request *r = &s->req;
	uint64_t align;
	int rc;

	*r = (struct sp__request){ .op = SP__OP_READ,
				   .volume = past ? c->direct : c->cached,
				   .offset = chunk * c->chunk_bytes,
				   .data = c->buf + (size_t)(s - c->slots) * c->chunk_bytes,
				   .owner = &c->owner };
	align = r->volume->align_bytes;
	r->bytes = (uint32_t)((bytes_of(c, chunk) + align - 1) / align * align);
	rc = sp__queue_submit(c->q, &r, 1);
	if (rc)
		return fail(c, rc, r->offset);
	s->chunk = chunk;
	s->use = BUSY;
	*state_of(c, chunk) = TAKEN;
	return 0;
}

/* Keeps `ahead` requests busy or done; 0 or an error. */
static int read_ahead(struct sp__chunks *c, bool in_order)
{
	uint64_t first = 0, *from = in_order ? &first : &c->missing_from;
	struct slot *s;
	unsigned used;
	int rc = 0;

	while (!rc && (s = free_slot(c, &used)) && used < c->ahead && find(c, in_order, true, from))
		rc = request(c, s, *from);
	return rc;
}

static void completed(struct sp__io_owner *owner, struct sp__request *r)
{
	struct sp__chunks *c = (void *)owner;
	struct slot *s = (struct slot *)r;

	s->use = DONE;
	s->arrival = c->arrivals++;
}

static int collect(struct sp__chunks *c)
{
	int n = sp__queue_complete(c->q, 0, 0);

	return n < 0 ? fail(c, n, 0) : 0;
}

/* Requests a cached chunk, if there is one and a free slot. */
static int request_cached(struct sp__chunks *c)
{
	unsigned used;
	struct slot *s = free_slot(c, &used);
	int rc;

	if (!s || !find(c, true, false, &c->cached_from))
		return 0;
	rc = request(c, s, c->cached_from);
	return rc ? rc : collect(c);
}

/* Returns the first complete chunk to arrive, or in order the first of the file; or NULL. */
static struct slot *pick(struct sp__chunks *c, bool in_order)
{
	struct slot *first = NULL;

	for (unsigned i = 0; i < c->depth; i++) {
		struct slot *s = &c->slots[i];

		if (s->use == BUSY && in_order && s->chunk == c->lowest)
			return NULL;
		if (s->use != DONE)
			continue;
		if (!first || (in_order ? s->chunk < first->chunk : s->arrival < first->arrival))
			first = s;
	}
	return first;
}

/*
 * Hands a chunk to the caller.  SP_LATER: direct reads are refused after opening, so it is read
 * again.
 */
static int give(struct sp__chunks *c, struct slot *s, struct sp__file_chunk *chunk)
{
	const struct sp__request *r = &s->req;
	uint64_t want = bytes_of(c, s->chunk);

	if (r->result == -EINVAL && r->volume->direct) {
		c->refused = true;
		s->use = FREE;
		*state_of(c, s->chunk) = MISSING;
		c->missing_from = sp__min(c->missing_from, s->chunk);
		return SP_LATER;
	}
	if (r->result < 0)
		return fail(c, r->result, r->offset);
	if ((uint64_t)r->result < want) {
		c->status = sp__errf(c->err, SP_EFORMAT, "read", c->name, (long long)r->offset,
				     "has become shorter while it was read");
		return c->status;
	}
	s->use = PINNED;
	c->stalled = false;
	*state_of(c, s->chunk) = GIVEN;
	while (c->lowest < c->looked && *state_of(c, c->lowest) == GIVEN)
		c->lowest++;
	*chunk = (struct sp__file_chunk){ s->chunk, r->data, want };
	return SP_READY;
}

/* Frees the slot of the chunk that the caller had. */
static void take_back(struct sp__chunks *c)
{
	for (unsigned i = 0; i < c->depth; i++)
		if (c->slots[i].use == PINNED)
			c->slots[i].use = FREE;
}

static int end(struct sp__chunks *c)
{
	int rc = sp__check_uncut(c->fd, c->known, c->name, c->err);

	if (rc < 0)
		return c->status = rc;
	if (lseek(c->fd, (off_t)c->known, SEEK_SET) < 0)
		return fail(c, -errno, c->known);
	return c->status = SP_END;
}

static int stall(struct sp__chunks *c, bool in_order)
{
	int rc = 0;

	if (!c->stalled) {
		c->stalled = true;
		c->ahead = sp__min(2 * c->ahead, c->depth - 1);
		rc = read_ahead(c, in_order);
	}
	return rc ? rc : SP_LATER;
}

int sp__chunks_next(struct sp__chunks *c, bool in_order, struct sp__file_chunk *chunk)
{
	struct slot *s;
	int rc = SP_LATER;

	if (c->status != SP_READY)
		return c->status;
	take_back(c);
	while (rc == SP_LATER) {
		if (c->lowest == c->count)
			return end(c);
		rc = read_ahead(c, in_order);
		if (!rc)
			rc = collect(c);
		s = rc ? NULL : pick(c, in_order);
		if (!rc && !s && !in_order) {
			rc = request_cached(c);
			s = rc ? NULL : pick(c, in_order);
		}
		if (!s)
			return rc ? rc : stall(c, in_order);
		rc = give(c, s, chunk);
	}
	return rc;
}

int sp__chunks_wait(struct sp__chunks *c, int64_t timeout_ns)
{
	int rc = sp__queue_wait(c->q, timeout_ns);

	return rc < 0 ? fail(c, rc, 0) : rc;
}

/* Opening. */

static int open_volumes(struct sp__chunks *c, const struct sp__rstream_opts *opts)
{
	int rc = sp__volume_adopt(&c->cached, c->fd, false, c->name, NULL);

	if (rc < 0)
		return rc;
	if (opts->device) {
		sp__volume_place(c->cached, opts->device, opts->sim_file);
		return 0;
	}
	if (sp__engine_is_auto(opts->engine) && !c->bypass &&
	    sp__volume_cached(c->cached, 0, c->known))
		return SP_EUNSUP;
	if (opts->direct == SP__DIRECT_NEVER)
		return 0;
	if (sp__volume_reopen_direct(&c->direct, c->fd, false, c->name) < 0)
		return 0;
	if (c->chunk_bytes % c->direct->align_bytes) {
		sp__volume_close(c->direct);
		c->direct = NULL;
	}
	return 0;
}

static int open_queue(struct sp__chunks *c, const struct sp__rstream_opts *opts,
		      struct sp_errinfo *err)
{
	struct sp__queue_opts qo = { .engine = opts->engine,
				     .depth = c->depth,
				     .trace = opts->trace,
				     .device = opts->device };
	int rc = sp__queue_open(&c->q, &qo, err);

	if (rc < 0)
		return rc;
	c->slots = calloc(c->depth, sizeof(*c->slots));
	c->state = malloc(c->window);
	c->buf_bytes = sp__pages_whole(c->depth * c->chunk_bytes);
	c->buf = sp__pages_alloc(c->buf_bytes, true);
	return c->slots && c->state && c->buf ? 0 : -ENOMEM;
}

static bool is_worth(struct sp__chunks *c, const struct sp__rstream_opts *opts)
{
	struct stat st;

	if (fstat(c->fd, &st) || !S_ISREG(st.st_mode) || lseek(c->fd, 0, SEEK_CUR) != 0 ||
	    opts->depth < 2 || (!opts->device && sp__fds_scarce()))
		return false;
	c->known = (uint64_t)st.st_size;
	c->count = (c->known + c->chunk_bytes - 1) / c->chunk_bytes;
	return c->count >= CHUNKS_MIN;
}

int sp__chunks_open(struct sp__chunks **out, int fd, const char *name,
		    const struct sp__rstream_opts *opts, struct sp_errinfo *err)
{
	struct sp__chunks *c = calloc(1, sizeof(*c));
	int rc = SP_EUNSUP;

	if (!c)
		return sp__err(err, -ENOMEM, "open", name, -1);
	c->owner.completed = completed;
	c->fd = fd;
	c->err = err;
	c->status = SP_READY;
	c->chunk_bytes = opts->chunk_bytes;
	c->bypass = opts->direct == SP__DIRECT_ALWAYS && !opts->device;
	c->depth = sp__min(opts->depth, DEPTH_MAX);
	c->ahead = 1;
	c->stalled = true; /* waiting for the first chunk is not a stall */
	if (is_worth(c, opts)) {
		c->window = (unsigned)sp__min(c->count, c->chunk_bytes / SP__CHUNKS_TABLE_BYTES);
		c->name = strdup(name);
		rc = c->name ? open_volumes(c, opts) : -ENOMEM;
		if (!rc)
			rc = open_queue(c, opts, err);
	}
	if (rc) {
		sp__chunks_close(c);
		return rc == SP_EUNSUP ? rc : sp__err(err, rc, "read", name, -1);
	}
	*out = c;
	return 0;
}

void sp__chunks_close(struct sp__chunks *c)
{
	if (!c)
		return;
	sp__queue_close(c->q);
	sp__volume_close(c->cached);
	sp__volume_close(c->direct);
	sp__pages_free(c->buf, c->buf ? c->buf_bytes : 0);
	free(c->slots);
	free(c->state);
	free(c->name);
	free(c);
}

uint64_t sp__chunks_count(const struct sp__chunks *c)
{
	return c->count;
}

unsigned sp__chunks_window(const struct sp__chunks *c)
{
	return c->window;
}

const struct sp__queue *sp__chunks_queue(const struct sp__chunks *c)
{
	return c->q;
}
