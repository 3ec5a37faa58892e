/* SPDX-License-Identifier: MIT */
/*
 * Unpacks an input: members side by side, their contents in order.
 *
 * A ring (base/ring.h) passes slots from the reader, a thread of its own, to the caller.  The
 * reader fills a slot in one of two ways:
 *
 *	members    It copies whole members, whose ends it finds without unpacking them, and starts a
 *		   task that unpacks them.  The caller joins the task when it takes the slot; it
 *		   unpacks them itself if no thread has begun.
 *	streaming  If the end of a member is unknown, if the member is too large for a slot, or if
 *		   its rest does not arrive within STALL_NS, the reader unpacks it itself, chunk by
 *		   chunk, up to its end.  It publishes a chunk before it is full if the caller would
 *		   otherwise wait for a pipe.  The same is done with damaged data and with the end
 *		   of a file that lacks bytes, so errors are found here, and in order.
 *
 * A slot belongs to the reader while it is filled, then to its task, and from the join on to the
 * caller.  The ring's lock covers the counters.
 *
 * If the system refuses a thread, the caller fills a slot when it requests one.
 *
 * Memory: half of the memory is for the members in slots, the rest for the reader's decoder, which
 * can use all of it once the members before have been taken.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/ring.h"
#include "base/task.h"
#include "io/rstream.h"
#include "pack/member.h"
#include "pack/unpack.h"

#define CHUNK_MAX (256u << 10)
/* Contents of a slot from which no further member is added. */
#define SLOT_TARGET (1u << 20)
/* Memory of a slot below which fewer slots are used. */
#define SLOT_MEMORY (4u << 20)
/* Time for which the reader waits for a pipe before it checks whether it must stop. */
#define STALL_NS 50000000

struct bytes {
	char *data;
	size_t bytes, capacity;
};

struct slot {
	struct sp__unpacking *unpacking;
	struct sp__task task;
	struct bytes in, out;
	uint64_t decoder_bytes; /* the largest need of its members */
	enum sp_packed format;
	struct sp__decoder *decoder;
	int error;
	struct sp_errinfo err;
};

struct sp__unpacking {
	/* Constant. */
	int fd;
	char *name;
	struct sp__rstream_opts read; /* options of the packed stream */
	struct sp__packmemory memory; /* for the reader's decoder */
	uint64_t slot_bytes;	      /* maximum memory of a slot */
	size_t chunk_bytes;
	struct sp_errinfo *err;
	bool threaded;
	struct sp__task task;
	unsigned n;
	struct slot *slots;

	struct sp__ring ring;
	struct sp__io_counters counters; /* under the ring's lock */

	int error; /* owned by the caller: the first one, which stays */

	/* Owned by the reader; the caller reads own_err too, once the end is published. */
	enum sp_packed format; /* the given one, then the one found; NONE: bytes are copied */
	struct sp__rstream *raw;
	struct sp__packspan span; /* its input: bytes read, in the stream's memory or in held */
	struct bytes held;	  /* the beginning of a member, until its end has been read */
	bool begun, raw_ended;
	bool streaming;
	struct sp__member member;    /* at span.in, unless streaming */
	struct sp__decoder *decoder; /* for streaming */
	struct sp_errinfo own_err;
};

static int no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

static int reserve(struct bytes *b, size_t capacity)
{
	char *data = b->data;

	if (capacity <= b->capacity)
		return 0;
	capacity = sp__max(capacity, 2 * b->bytes);
	data = realloc(data, capacity);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->capacity = capacity;
	return 0;
}

static int append(struct bytes *b, const char *data, size_t bytes)
{
	if (reserve(b, b->bytes + bytes))
		return -ENOMEM;
	memcpy(b->data + b->bytes, data, bytes);
	b->bytes += bytes;
	return 0;
}

static void drop(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}

/* A task: unpacks the members of a slot. */

static void unpack_members(void *arg)
{
	struct slot *s = arg;
	const struct sp__unpacking *p = s->unpacking;
	struct sp__packspan span = { s->in.data, s->in.bytes, s->out.data, s->out.capacity };

	if (sp__ring_abandoned(&s->unpacking->ring))
		return;
	if (!s->decoder)
		s->error = sp__decoder_new(&s->decoder, s->format, p->name, &p->memory, &s->err);
	if (!s->error)
		s->error = sp__decoder_members(s->decoder, &span);
	s->out.bytes = (size_t)(span.out - s->out.data);
}

/* The reader. */

/* How long it waits for bytes of a pipe. */
enum patience { NO_WAIT, A_WHILE, UNTIL_STOPPED };

/* Reads the next span: SP_READY; SP_END; SP_LATER: nothing has arrived; or an error. */
static int read_raw(struct sp__unpacking *p, enum patience patience)
{
	int rc;

	if (p->raw_ended)
		return SP_END;
	while ((rc = sp__rstream_next(p->raw, &p->span.in, &p->span.in_bytes, false)) == SP_LATER &&
	       patience != NO_WAIT) {
		if (sp__ring_abandoned(&p->ring))
			return SP_END;
		rc = sp__rstream_wait(p->raw, STALL_NS);
		if (rc < 0)
			return rc;
		if (!rc && patience == A_WHILE)
			return SP_LATER;
	}
	pthread_mutex_lock(&p->ring.lock);
	sp__rstream_counters(p->raw, &p->counters);
	pthread_mutex_unlock(&p->ring.lock);
	p->raw_ended = rc == SP_END;
	return rc;
}

/* Reads more bytes behind those of the span, which are kept. */
static int read_more(struct sp__unpacking *p, enum patience patience)
{
	const struct sp__packspan old = p->span;
	const size_t before = old.in_bytes;
	int rc = 0;

	if (before && (old.in < p->held.data || old.in >= p->held.data + p->held.bytes)) {
		p->held.bytes = 0;
		rc = append(&p->held, old.in, before);
	} else if (before) {
		memmove(p->held.data, old.in, before);
	}
	p->held.bytes = before;
	if (!rc)
		rc = read_raw(p, patience);
	if (rc == SP_READY && !before)
		return rc;
	if (rc == SP_READY && append(&p->held, p->span.in, p->span.in_bytes))
		rc = -ENOMEM;
	p->span.in = p->held.data;
	p->span.in_bytes = p->held.bytes;
	return rc == -ENOMEM ? no_memory(&p->own_err) : rc;
}

/*
 * Returns the format of the bytes read: the given one if they can have it; with AUTO the format of
 * the first frame that is not skipped.
 */
static enum sp_packed format_of(const struct sp__unpacking *p)
{
	bool frames = p->format == SP_PACKED_AUTO || p->format == SP_PACKED_ZSTD ||
		      p->format == SP_PACKED_LZ4;

	if (frames && sp__packed_skippable(p->span.in, p->span.in_bytes))
		return p->format;
	return sp_packed_by_magic(p->span.in, p->span.in_bytes);
}

/* Opens the stream and finds the format. */
static int begin(struct sp__unpacking *p)
{
	enum sp_packed is;
	int rc = sp__rstream_open(&p->raw, p->fd, p->name, &p->read, &p->own_err);

	p->begun = true;
	p->span.in = p->held.data;
	p->span.in_bytes = p->held.bytes;
	if (rc < 0)
		return rc;
	while (p->span.in_bytes < SP_PACKED_MAGIC_BYTES) {
		rc = read_more(p, UNTIL_STOPPED);
		if (rc == SP_END)
			break;
		if (rc < 0)
			return rc;
	}
	is = format_of(p);
	if (p->format != SP_PACKED_AUTO && is != p->format)
		return sp__errf(&p->own_err, SP_EFORMAT, "read", p->name, -1,
				"it is not in the format %s", sp_packed_name(p->format));
	p->format = is;
	return is == SP_PACKED_NONE
		       ? sp__packed_refuse(p->span.in, p->span.in_bytes, p->name, &p->own_err)
		       : 0;
}

/* True if the slot can take the member, as far as its sizes are known. */
static bool fits(const struct sp__unpacking *p, const struct slot *s)
{
	const struct sp__member *m = &p->member;
	const uint64_t limit = p->slot_bytes;

	return m->packed_bytes <= limit && m->unpacked_bytes <= limit && m->memory_bytes <= limit &&
	       s->in.bytes + m->packed_bytes + s->out.bytes + m->unpacked_bytes +
			       sp__max(s->decoder_bytes, m->memory_bytes) <=
		       limit;
}

static int take_member(struct sp__unpacking *p, struct slot *s)
{
	const size_t n = (size_t)p->member.packed_bytes;

	if (append(&s->in, p->span.in, n))
		return no_memory(&p->own_err);
	s->out.bytes += (size_t)p->member.unpacked_bytes;
	s->decoder_bytes = sp__max(s->decoder_bytes, p->member.memory_bytes);
	sp__packspan_advance(&p->span, n, 0);
	p->member = (struct sp__member){ 0 };
	return 0;
}

/* Measures the member at the span, which can find the format. */
static enum sp__member_state measure(struct sp__unpacking *p)
{
	const enum sp_packed before = p->format;
	enum sp__member_state state =
		sp__member_measure(&p->member, &p->format, p->span.in, p->span.in_bytes);

	if (p->format != before) {
		sp__decoder_free(p->decoder);
		p->decoder = NULL;
	}
	return state;
}

/*
 * Collects members into a slot; out.bytes is the sum of their contents.  SP_READY: the slot has
 * members; SP_LATER: the next member is to be streamed; SP_END; or an error.
 */
static int collect(struct sp__unpacking *p, struct slot *s)
{
	enum sp__member_state state;
	int rc = SP_READY;

	s->in.bytes = s->out.bytes = 0;
	s->decoder_bytes = 0;
	while (rc == SP_READY && s->out.bytes < SLOT_TARGET) {
		state = p->span.in_bytes ? measure(p) : SP__MEMBER_PARTIAL;
		if (state == SP__MEMBER_UNKNOWN || !fits(p, s))
			rc = SP_LATER;
		else if (state == SP__MEMBER_PARTIAL)
			rc = read_more(p, s->in.bytes	     ? NO_WAIT
					  : p->span.in_bytes ? A_WHILE
							     : UNTIL_STOPPED);
		else if (take_member(p, s))
			return -ENOMEM;
	}
	if (rc < 0 || s->in.bytes)
		return rc < 0 ? rc : SP_READY;
	return rc == SP_END && p->span.in_bytes ? SP_LATER : rc;
}

static int start_members(struct sp__unpacking *p, struct slot *s)
{
	const size_t bytes = s->out.bytes;

	s->out.bytes = 0;
	/* One byte more: a decoder that has output space left has returned all. */
	if (reserve(&s->out, bytes + 1))
		return no_memory(&p->own_err);
	s->format = p->format;
	sp__task_start(&s->task, unpack_members, s);
	return SP_READY;
}

/* Returns 1 at the end of a member. */
static int unpack(struct sp__unpacking *p)
{
	size_t n = sp__min(p->span.in_bytes, p->span.out_free);

	if (p->decoder)
		return sp__decoder_run(p->decoder, &p->span);
	if (n)
		memcpy(p->span.out, p->span.in, n);
	sp__packspan_advance(&p->span, n, n);
	return 0;
}

static int begin_chunk(struct sp__unpacking *p, struct slot *s)
{
	if (!p->decoder && p->format != SP_PACKED_NONE) {
		int rc = sp__decoder_new(&p->decoder, p->format, p->name, &p->memory, &p->own_err);

		if (rc)
			return rc;
	}
	/* The decoder can need the memory of members. */
	drop(&s->in);
	if (s->out.capacity > p->chunk_bytes)
		drop(&s->out);
	sp__decoder_free(s->decoder);
	s->decoder = NULL;
	s->out.bytes = 0;
	if (reserve(&s->out, p->chunk_bytes))
		return no_memory(&p->own_err);
	p->span.out = s->out.data;
	p->span.out_free = p->chunk_bytes;
	return 0;
}

/* True if the member that follows is known to be streamed, too. */
static bool must_stream(struct sp__unpacking *p)
{
	if (!p->span.in_bytes || measure(p) != SP__MEMBER_UNKNOWN)
		return false;
	p->member = (struct sp__member){ 0 };
	return true;
}

/* Fills a slot with a chunk.  SP_READY: it has bytes, or the member has ended; SP_END; an error. */
static int stream(struct sp__unpacking *p, struct slot *s)
{
	int rc = begin_chunk(p, s);

	/* Output that did not fit is still in the decoder, so the decoder comes first. */
	while (!rc) {
		rc = unpack(p);
		if (rc == 1 && must_stream(p)) {
			rc = 0;
			continue;
		}
		if (rc || !p->span.out_free)
			break;
		rc = read_raw(p, p->span.out_free == p->chunk_bytes ? UNTIL_STOPPED : NO_WAIT);
		if (rc != SP_READY)
			break;
		rc = 0;
	}
	s->out.bytes = p->chunk_bytes - p->span.out_free;
	p->streaming = rc != 1;
	if (rc < 0 || rc == 1 || s->out.bytes)
		return rc < 0 ? rc : SP_READY;
	rc = p->decoder ? sp__decoder_end(p->decoder) : 0;
	return rc < 0 ? rc : SP_END;
}

/* Fills a slot.  SP_READY: it has bytes, unless the reader must stop; SP_END; or an error. */
static int fill(struct sp__unpacking *p, struct slot *s)
{
	int rc = p->begun ? 0 : begin(p);

	if (rc < 0)
		return rc;
	if (!p->streaming) {
		rc = collect(p, s);
		if (rc == SP_READY)
			return start_members(p, s);
		if (rc != SP_LATER)
			return rc;
		p->streaming = true;
		p->member = (struct sp__member){ 0 };
	}
	return stream(p, s);
}

/* Fills and publishes a slot, or the end.  SP_READY: there can be more. */
static int fill_next(struct sp__unpacking *p)
{
	const struct sp__ring_buffer *empty = sp__ring_empty(&p->ring);
	int rc = empty ? fill(p, &p->slots[empty - p->ring.buf]) : -ECANCELED;

	sp__ring_publish(&p->ring, rc);
	return rc;
}

static void release(struct sp__unpacking *p)
{
	sp__decoder_free(p->decoder);
	sp__rstream_close(p->raw);
	drop(&p->held);
	p->decoder = NULL;
	p->raw = NULL;
}

static void fill_all(void *arg)
{
	struct sp__unpacking *p = arg;

	while (fill_next(p) == SP_READY)
		;
	release(p);
}

/* The caller. */

static int make_slots(struct sp__unpacking *p)
{
	const uint64_t memory = p->memory.bytes / 2;

	p->n = (unsigned)sp__min(memory / SLOT_MEMORY, sp__tasks_limit() + 2);
	p->n = sp__min(sp__max(p->n, SP__RING_BUFFERS), SP__RING_MAX);
	p->slot_bytes = memory / p->n;
	p->memory.bytes -= sp__min(p->memory.bytes, SP__RING_BUFFERS * p->chunk_bytes);
	p->slots = calloc(p->n, sizeof(*p->slots));
	for (unsigned i = 0; p->slots && i < p->n; i++) {
		p->slots[i].unpacking = p;
		p->slots[i].err = (struct sp_errinfo)SP_ERRINFO_INIT;
	}
	sp__ring_use_own(&p->ring, p->n);
	return p->slots ? 0 : -ENOMEM;
}

int sp__unpacking_open(struct sp__unpacking **unpacking, int fd, const char *name,
		       const struct sp__rstream_opts *opts, struct sp_errinfo *err)
{
	struct sp__unpacking *p = calloc(1, sizeof(*p));

	if (!p)
		return no_memory(err);
	sp__ring_init(&p->ring);
	p->own_err = (struct sp_errinfo)SP_ERRINFO_INIT;
	p->fd = fd;
	p->err = err;
	p->format = opts->unpack;
	p->chunk_bytes = sp__min(opts->chunk_bytes, CHUNK_MAX);
	p->memory = (struct sp__packmemory){
		.bytes = opts->unpack_bytes,
		.beside_bytes = SP__RING_BUFFERS * CHUNK_MAX, /* with a larger -S */
		.share = opts->unpack_share,
	};
	p->read = *opts;
	p->read.unpack = SP_PACKED_NONE;
	p->read.drop_mark = false; /* the mark is in the unpacked text */
	p->read.queue = NULL;	   /* a queue belongs to one thread */
	p->read.ahead = (struct sp_batch){ 0 };
	p->read.whole = true;
	p->name = strdup(name);
	if (!p->name || make_slots(p) ||
	    (opts->ahead.bytes && append(&p->held, opts->ahead.data, opts->ahead.bytes))) {
		sp__unpacking_close(p);
		return no_memory(err);
	}
	p->threaded = sp__task_start_thread(&p->task, fill_all, p);
	*unpacking = p;
	return 0;
}

void sp__unpacking_close(struct sp__unpacking *p)
{
	if (!p)
		return;
	sp__ring_abandon(&p->ring);
	sp__task_join(&p->task);
	release(p);
	for (unsigned i = 0; p->slots && i < p->n; i++) {
		sp__task_join(&p->slots[i].task);
		sp__decoder_free(p->slots[i].decoder);
		drop(&p->slots[i].in);
		drop(&p->slots[i].out);
	}
	sp__ring_destroy(&p->ring);
	free(p->slots);
	free(p->name);
	free(p);
}

bool sp__unpacking_wanted(int fd, const struct sp__rstream_opts *opts)
{
	char magic[SP_PACKED_MAGIC_BYTES];
	struct stat st;
	ssize_t n;
	off_t at;

	if (opts->unpack != SP_PACKED_AUTO || opts->ahead.bytes || fstat(fd, &st) ||
	    !S_ISREG(st.st_mode))
		return opts->unpack != SP_PACKED_NONE;
	at = lseek(fd, 0, SEEK_CUR);
	n = at < 0 ? -1 : pread(fd, magic, sizeof(magic), at);
	/* Reading it to unpack it will tell, or fail, too. */
	if (n < 0)
		return true;
	return sp_packed_by_magic(magic, (size_t)n) != SP_PACKED_NONE ||
	       sp__packed_cut(magic, (size_t)n) != SP_PACKED_NONE ||
	       sp_packed_foreign(magic, (size_t)n);
}

/* Keeps the first error, and returns it as the caller's. */
static int fail(struct sp__unpacking *p, int rc, const struct sp_errinfo *err)
{
	p->error = rc;
	if (p->err && !p->err->code)
		*p->err = *err;
	return rc;
}

/* Takes the next slot that has contents: SP_READY; SP_LATER; SP_END; or an error. */
int sp__unpacking_next(struct sp__unpacking *p, const char **data, size_t *bytes, bool wait)
{
	struct slot *s;
	int rc = p->error;

	while (!rc) {
		sp__ring_release(&p->ring);
		if (!p->threaded && !sp__ring_await(&p->ring, 0))
			(void)fill_next(p);
		s = &p->slots[p->ring.get % p->n];
		rc = sp__ring_get(&p->ring, wait, data, bytes);
		if (rc != SP_READY)
			return rc < 0 ? fail(p, rc, &p->own_err) : rc;
		sp__task_join(&s->task);
		if (s->error)
			return fail(p, s->error, &s->err);
		*data = s->out.data;
		*bytes = s->out.bytes;
		rc = *bytes ? SP_READY : 0;
	}
	return rc;
}

int sp__unpacking_wait(struct sp__unpacking *p, int64_t timeout_ns)
{
	return !p->threaded || sp__ring_await(&p->ring, timeout_ns);
}

void sp__unpacking_counters(struct sp__unpacking *p, struct sp__io_counters *c)
{
	pthread_mutex_lock(&p->ring.lock);
	*c = p->counters;
	pthread_mutex_unlock(&p->ring.lock);
}
