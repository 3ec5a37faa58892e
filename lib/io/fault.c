/* SPDX-License-Identifier: MIT */
/*
 * Wraps another engine and injects faults, the same ones in each run.
 *
 * The name of the engine is
 *
 *	fault:SETTING[,SETTING...]:INNER	or	fault::INNER
 *
 * where INNER is any engine ("auto" and "fault:..." too) and a setting is
 *
 *	KIND=READ|WRITE|ANY	requests that count; default ANY
 *	NTH=n			the first faulty one, counted from 1; default 1
 *	COUNT=n			number of faulty ones from there on; default 1; 0: all
 *	SCOPE=QUEUE|PROCESS	each queue counts its own requests (default), or all
 *				queues with PROCESS count together
 *	ERROR=NONE		(default) no error; only delayed or reordered
 *	ERROR=EIO|ENOSPC|...	fails with this error, before any byte moves
 *	ERROR=SHORT		half of the bytes move; of a direct request a multiple of
 *				the volume's alignment, and all if there is only one
 *	ERROR=FLIP		the first byte of a read is inverted
 *	DELAY=us		faulty ones complete no earlier than this after submission
 *	REORDER[=seed]		all requests complete in random order, several at a time
 *
 * Requests are counted when they reach the engine.  The rest of a short transfer, which the queue
 * submits again, counts as another request.
 *
 * States: each request has a slot with a copy for the inner engine, since a short request must look
 * shorter to it.  A slot is free, inside (with the inner engine), or held: complete, but not
 * reported yet.  To reorder, a reap waits until no slot is inside and draws from the held ones.  So
 * the order depends on the seed and the requests, never on the device.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/keyval.h"
#include "base/rng.h"
#include "io/engine.h"

/* Values of an injected error; other values are negative error codes. */
enum { FAULT_NONE = 0, FAULT_SHORT = 1, FAULT_FLIP = 2 };
enum { FAULT_READS = 1, FAULT_WRITES = 2, FAULT_ANY = 3 };

struct slot {
	struct sp__request copy;
	struct sp__request *outer;
	uint64_t release_ns;
	bool flip;
};

struct fault {
	const struct sp__engine_ops *ops;
	void *inner;
	int kind; /* FAULT_READS and so on */
	bool process, reorder;
	uint64_t nth, count, delay_ns;
	int error;
	struct sp__rng rng;
	uint64_t seen;
	unsigned depth, nfree, inside, nheld;
	struct slot *slots;	   /* depth */
	struct slot **free;	   /* depth: stack */
	struct slot **held;	   /* depth: in order of completion */
	struct sp__request **back; /* depth: of the inner engine's reap */
};

static _Atomic uint64_t process_seen;

/* Reading the specification. */

static const struct sp_enum_value kinds[] = {
	{ "READ", FAULT_READS }, { "WRITE", FAULT_WRITES }, { "ANY", FAULT_ANY }, { NULL, 0 }
};
static const struct sp_enum_value scopes[] = { { "QUEUE", false },
					       { "PROCESS", true },
					       { NULL, 0 } };
static const struct sp_enum_value errors[] = {
	{ "NONE", FAULT_NONE },	     { "SHORT", FAULT_SHORT },
	{ "FLIP", FAULT_FLIP },	     { "EAGAIN", -EAGAIN },
	{ "EBADF", -EBADF },	     { "EDQUOT", -EDQUOT },
	{ "EFBIG", -EFBIG },	     { "EINTR", -EINTR },
	{ "EINVAL", -EINVAL },	     { "EIO", -EIO },
	{ "ENOMEM", -ENOMEM },	     { "ENOSPC", -ENOSPC },
	{ "EPERM", -EPERM },	     { "EROFS", -EROFS },
	{ "ETIMEDOUT", -ETIMEDOUT }, { NULL, 0 }
};
static const struct sp__unit microseconds[] = { { "", 1000 }, { NULL, 0 } };

static bool set_reorder(void *fault, const char *seed)
{
	struct fault *f = fault;

	f->reorder = true;
	return !seed || sp__number_parse(seed, sp__unit_none, 0, UINT64_MAX, &f->rng.state);
}

#define AT(member) SP__KEY_AT(struct fault, member)
static const struct sp__setting keys[] = {
	{ "KIND", "READ, WRITE or ANY", SP__KEY_WORD, AT(kind), .words = kinds },
	{ "NTH", "a number from 1", SP__KEY_NUMBER, AT(nth), 1 },
	{ "COUNT", "a number; 0: all", SP__KEY_NUMBER, AT(count) },
	{ "SCOPE", "QUEUE or PROCESS", SP__KEY_WORD, AT(process), .words = scopes },
	{ "ERROR", "NONE, SHORT, FLIP or the name of an error", SP__KEY_WORD, AT(error),
	  .words = errors },
	{ "DELAY", "a number of us", SP__KEY_NUMBER, AT(delay_ns), .units = microseconds },
	{ "REORDER", "a seed, or nothing", .set = set_reorder, .alone = true },
	{ NULL },
};

/* Fills f from the specification and points *inner at the name of the inner engine. */
static int read_spec(struct fault *f, const char *spec, const char **inner, struct sp_errinfo *err)
{
	const char *colon = strchr(spec, ':');
	char *text;
	int rc = 0;

	if (!colon)
		return sp__errf(err, SP_ESYNTAX, "open", spec, -1,
				"fault engine without an inner engine");
	*inner = colon + 1;
	text = strndup(spec, (size_t)(colon - spec));
	if (!text)
		return -ENOMEM;
	if (*text)
		rc = sp__keyval_parse(&(struct sp__keytext){ "fault engine", ",", keys, NULL }, f,
				      text, err);
	free(text);
	return rc;
}

static void fault_free(struct fault *f)
{
	free(f->slots);
	free(f->free);
	free(f->held);
	free(f->back);
	free(f);
}

static int fault_open(void **engine, const struct sp__engine_opts *opts, struct sp_errinfo *err)
{
	struct fault *f = calloc(1, sizeof(*f));
	const char *inner = "";
	int rc;

	if (!f)
		return -ENOMEM;
	f->kind = FAULT_ANY;
	f->nth = f->count = 1;
	f->depth = opts->depth;
	f->slots = calloc(f->depth, sizeof(*f->slots));
	f->free = calloc(f->depth, sizeof(*f->free));
	f->held = calloc(f->depth, sizeof(*f->held));
	f->back = calloc(f->depth, sizeof(*f->back));
	rc = f->slots && f->free && f->held && f->back ? 0 : -ENOMEM;
	if (rc == 0)
		rc = read_spec(f, opts->spec, &inner, err);
	if (rc == 0)
		rc = sp__engine_open(
			&f->ops, &f->inner, inner,
			&(struct sp__engine_opts){ .depth = f->depth, .device = opts->device },
			err);
	if (rc) {
		fault_free(f);
		return rc;
	}
	for (; f->nfree < f->depth; f->nfree++)
		f->free[f->nfree] = &f->slots[f->nfree];
	*engine = f;
	return 0;
}

static void fault_close(void *engine)
{
	struct fault *f = engine;

	f->ops->close(f->inner);
	fault_free(f);
}

static int fault_register(void *engine, void *pool, size_t bytes)
{
	struct fault *f = engine;

	return sp__engine_register_pool(f->ops, f->inner, pool, bytes);
}

static int fault_register_files(void *engine, const int *fds, unsigned n)
{
	struct fault *f = engine;

	return sp__engine_register_files(f->ops, f->inner, fds, n);
}

/* Submitting. */

static bool chosen(struct fault *f, const struct sp__request *r)
{
	uint64_t number;

	if (!(f->kind & (r->op == SP__OP_READ ? FAULT_READS : FAULT_WRITES)))
		return false;
	number = f->process ? atomic_fetch_add(&process_seen, 1) + 1 : ++f->seen;
	return number >= f->nth && (f->count == 0 || number - f->nth < f->count);
}

static void shorten(struct sp__request *r)
{
	uint32_t half = (r->bytes - r->moved) / 2;

	if (r->volume->direct)
		half -= half % r->volume->align_bytes;
	if (half)
		r->bytes = r->moved + half;
}

/* Submits one request; 1: taken; else the inner engine's refusal. */
static int submit_one(struct fault *f, struct sp__request *r)
{
	struct slot *s = f->free[--f->nfree];
	struct sp__request *copy = &s->copy;
	bool spoil = chosen(f, r);
	int rc;

	*s = (struct slot){ .copy = *r, .outer = r };
	if (spoil) {
		s->release_ns = f->delay_ns ? sp__now_ns() + f->delay_ns : 0;
		s->flip = f->error == FAULT_FLIP && r->op == SP__OP_READ;
		if (f->error == FAULT_SHORT)
			shorten(copy);
	}
	if (spoil && f->error < 0) {
		copy->result = f->error;
		f->held[f->nheld++] = s;
		return 1;
	}
	copy->tag = (uint64_t)(s - f->slots);
	rc = f->ops->submit(f->inner, &copy, 1);
	if (rc == 1) {
		f->inside++;
		return 1;
	}
	f->free[f->nfree++] = s;
	return rc ? rc : -EAGAIN;
}

static int fault_submit(void *engine, struct sp__request *const *reqs, size_t n)
{
	struct fault *f = engine;

	for (size_t i = 0; i < n; i++) {
		int rc = submit_one(f, reqs[i]);

		if (rc != 1)
			return i ? (int)i : rc;
	}
	return (int)n;
}

/* Reaping. */

static int pull_some(struct fault *f, size_t min, int64_t timeout_ns)
{
	int n = f->inside ? f->ops->reap(f->inner, f->back, f->depth, min, timeout_ns) : 0;

	for (int i = 0; i < n; i++) {
		struct slot *s = &f->slots[f->back[i]->tag];
		char *first = (char *)s->copy.data + s->copy.moved;

		if (s->flip && s->copy.result > 0)
			*first = (char)~*first;
		f->held[f->nheld++] = s;
		f->inside--;
	}
	return n < 0 ? n : 0;
}

/* Fetches completions of the inner engine: all to reorder, else at least one if `one`. */
static int pull(struct fault *f, bool one, int64_t timeout_ns)
{
	int rc = 0;

	if (!f->reorder)
		return pull_some(f, one, timeout_ns);
	while (rc == 0 && f->inside)
		rc = pull_some(f, f->inside, -1);
	return rc;
}

/* Returns the index in held of the next to report, or nheld; *wait_ns: time until one is due. */
static unsigned next_due(struct fault *f, uint64_t *wait_ns)
{
	unsigned first = f->reorder && f->nheld ? (unsigned)sp__rng_below(&f->rng, f->nheld) : 0;
	uint64_t now_ns = f->delay_ns ? sp__now_ns() : 0;

	*wait_ns = UINT64_MAX;
	for (unsigned i = 0; i < f->nheld; i++) {
		unsigned at = (first + i) % f->nheld;
		uint64_t release_ns = f->held[at]->release_ns;

		if (release_ns <= now_ns)
			return at;
		if (release_ns - now_ns < *wait_ns)
			*wait_ns = release_ns - now_ns;
	}
	return f->nheld;
}

static struct sp__request *tell(struct fault *f, unsigned at)
{
	struct slot *s = f->held[at];

	memmove(&f->held[at], &f->held[at + 1], (--f->nheld - at) * sizeof(f->held[0]));
	f->free[f->nfree++] = s;
	s->outer->result = s->copy.result;
	return s->outer;
}

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) }, NULL);
}

static int fault_reap(void *engine, struct sp__request **done, size_t max, size_t min,
		      int64_t timeout_ns)
{
	struct fault *f = engine;
	uint64_t until = sp__now_ns() + (uint64_t)(timeout_ns < 0 ? 0 : timeout_ns);
	uint64_t wait_ns = 0;
	size_t n = 0;
	int rc;

	if (f->reorder && max > min)
		max = min ? min : 1;
	for (;;) {
		unsigned at;

		rc = pull(f, n + f->nheld < min, timeout_ns);
		if (rc < 0)
			return n ? (int)n : rc;
		while (n < max && (at = next_due(f, &wait_ns)) < f->nheld)
			done[n++] = tell(f, at);
		if (n >= min || (f->inside == 0 && f->nheld == 0))
			return (int)n;
		if (timeout_ns >= 0) {
			uint64_t now_ns = sp__now_ns();

			if (now_ns >= until)
				return (int)n;
			timeout_ns = (int64_t)(until - now_ns);
			wait_ns = wait_ns < until - now_ns ? wait_ns : until - now_ns;
		}
		if (f->nheld)
			sleep_ns(wait_ns);
	}
}

const struct sp__engine_ops sp__fault_engine = {
	.name = "fault",
	.caps = SP__CAP_ASYNC | SP__CAP_PRIO | SP__CAP_MOVES | SP__CAP_WRAPS,
	.open = fault_open,
	.close = fault_close,
	.register_pool = fault_register,
	.register_files = fault_register_files,
	.submit = fault_submit,
	.reap = fault_reap,
};
