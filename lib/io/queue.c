/* SPDX-License-Identifier: MIT */
/*
 * Implements the queue: everything that all engines have in common.
 *
 * States: a request is with the engine (with_engine counts these), in the list of requests that the
 * engine has yet to take, in the list of finished requests that have not been reaped, or with its
 * owner.  A request that comes back partly moved, or interrupted, goes to the engine again with its
 * rest.  So a request is finished when all its bytes have moved, at the end of the file, or by an
 * error.
 *
 * Invariants: the engine and the list before it together never hold more than depth requests.
 *
 * Under direct I/O a rest must begin aligned.  A write cut at an unaligned offset goes back to the
 * last aligned byte and writes up to one alignment unit twice.  A read cut at an unaligned offset
 * has reached the end of the file.
 *
 * If "auto" chose the engine and the system refuses it a thread, the next engine replaces it: the
 * request waits, nothing more is submitted, and the engine is changed when the last request is
 * back.
 *
 * Waiting in the engine is the default.  The paper compares it with two other ways: polling uses a
 * processor, and an event descriptor costs one more call for each wait.
 *
 * Memory: otherwise nothing is allocated after opening.  The array has depth entries, and the lists
 * are linked through the requests.
 */
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/tasklog.h"
#include "io/engine.h"
#include "obs/trace.h"

#define DEPTH_MAX 4096

struct list {
	STAILQ_HEAD(, sp__request) requests;
	unsigned count;
};

struct sp__queue {
	const struct sp__engine_ops *ops;
	void *engine;
	enum sp__completion completion;
	int event; /* SP__COMPLETE_EVENT: the descriptor */
	struct sp__trace *trace;
	const struct sp__volume *device;
	int pool_rc, files_rc; /* results of registering them */
	bool changeable;       /* another engine can replace it */
	bool changing;	       /* the engine changes when it has no request */
	unsigned depth;
	unsigned with_engine;
	struct list waiting;  /* for the engine to take */
	struct list finished; /* for the owner to reap */
	struct sp__io_counters counters;
	struct sp__request *array[]; /* depth: arguments of submit and reap */
};

static uint64_t now(const struct sp__queue *q)
{
	return q->trace && !q->device ? sp__trace_now_ns(q->trace) : sp__volume_now_ns(q->device);
}

/* Prepares signals of completions; SP_EUNSUP: the engine cannot signal. */
static int open_event(struct sp__queue *q)
{
	q->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->event < 0)
		return -errno;
	return q->ops->signal ? q->ops->signal(q->engine, q->event) : SP_EUNSUP;
}

/* Sleeps until a signal has come or the time is up. */
static void await_event(int event, int64_t timeout_ns)
{
	struct timespec t = { timeout_ns / 1000000000, timeout_ns % 1000000000 };
	struct pollfd p = { .fd = event, .events = POLLIN };
	uint64_t count;

	if (ppoll(&p, 1, timeout_ns < 0 ? NULL : &t, NULL) == 1)
		(void)!read(event, &count, sizeof(count));
}

/*
 * Reaps like reap() of the engine, into the array; waits in the way of the queue.  A request that
 * libaio refuses completes without a signal, so a wait for a signal checks for completions first.
 */
static int reap(struct sp__queue *q, size_t max, size_t min, int64_t timeout_ns)
{
	uint64_t until;
	size_t n = 0;

	if (q->completion == SP__COMPLETE_WAIT || !min || !timeout_ns)
		return q->ops->reap(q->engine, q->array, max, min, timeout_ns);
	until = timeout_ns < 0 ? UINT64_MAX : sp__now_ns() + (uint64_t)timeout_ns;
	for (;;) {
		int rc = q->ops->reap(q->engine, q->array + n, max - n, 0, 0);
		uint64_t now_ns = timeout_ns < 0 ? 0 : sp__now_ns();

		if (rc < 0)
			return n ? (int)n : rc;
		n += (size_t)rc;
		if (n >= min || now_ns >= until)
			return (int)n;
		if (q->completion == SP__COMPLETE_EVENT)
			await_event(q->event, timeout_ns < 0 ? -1 : (int64_t)(until - now_ns));
	}
}

static void append(struct list *l, struct sp__request *r)
{
	STAILQ_INSERT_TAIL(&l->requests, r, link);
	l->count++;
}

static struct sp__request *take_first(struct list *l)
{
	struct sp__request *r = STAILQ_FIRST(&l->requests);

	STAILQ_REMOVE_HEAD(&l->requests, link);
	l->count--;
	return r;
}

int sp__queue_open(struct sp__queue **out, const struct sp__queue_opts *opts,
		   struct sp_errinfo *err)
{
	unsigned depth = opts->depth;
	struct sp__queue *q;
	int rc;

	if (depth < 1 || depth > DEPTH_MAX)
		return sp__errf(err, -EINVAL, "open", opts->engine, -1,
				"queue depth %u is not within 1 and %d", depth, DEPTH_MAX);
	q = calloc(1, sizeof(*q) + depth * sizeof(q->array[0]));
	if (!q)
		return sp__err(err, -ENOMEM, "open", opts->engine, -1);
	q->depth = depth;
	q->trace = opts->trace;
	q->device = opts->device;
	q->changeable = sp__engine_is_auto(opts->engine) && !opts->device &&
			opts->completion != SP__COMPLETE_EVENT;
	STAILQ_INIT(&q->waiting.requests);
	STAILQ_INIT(&q->finished.requests);
	rc = sp__engine_open(&q->ops, &q->engine, opts->engine,
			     &(struct sp__engine_opts){
				     .depth = depth, .device = opts->device, .bound = opts->bound },
			     err);
	if (rc) {
		free(q);
		return rc;
	}
	q->completion = opts->completion;
	q->event = -1;
	rc = q->completion == SP__COMPLETE_EVENT ? open_event(q) : 0;
	if (rc) {
		sp__queue_close(q);
		return sp__errf(err, rc, "open", opts->engine, -1,
				"the engine cannot signal completions by an event descriptor");
	}
	if (opts->pool)
		q->pool_rc =
			sp__engine_register_pool(q->ops, q->engine, opts->pool, opts->pool_bytes);
	if (opts->nfds)
		q->files_rc = sp__engine_register_files(q->ops, q->engine, opts->fds, opts->nfds);
	*out = q;
	return 0;
}

static void finish(struct sp__queue *q, struct sp__request *r, int32_t result, uint64_t now_ns)
{
	bool write = r->op == SP__OP_WRITE;

	r->result = result;
	r->done_ns = now_ns;
	if (result > 0) {
		sp__log_request(write, (uint32_t)result);
		*(write ? &q->counters.write_bytes : &q->counters.read_bytes) += (uint32_t)result;
	}
	if (q->trace)
		sp__trace_request(q->trace, write ? 'W' : 'R',
				  r->volume->trace_name ? r->volume->trace_name : r->volume->name,
				  r->offset, r->bytes, r->prio, r->submit_ns, r->done_ns, result);
	append(&q->finished, r);
}

/* True if the request has more bytes to move; else *result is its result. */
static bool unfinished(struct sp__queue *q, struct sp__request *r, int32_t *result)
{
	uint32_t odd;

	*result = r->result;
	if (r->result == -EINTR || r->result == -EAGAIN)
		return true;
	if (r->result == SP_ETHREAD && q->changeable)
		return q->changing = true;
	if (r->result < 0)
		return false;
	r->moved += (uint32_t)r->result;
	*result = (int32_t)r->moved;
	if (r->moved >= r->bytes)
		return false;
	if (r->result == 0) {
		if (r->op == SP__OP_WRITE)
			*result = -EIO;
		return false;
	}
	odd = r->volume->direct ? r->moved % r->volume->align_bytes : 0;
	if (odd && r->op == SP__OP_READ)
		return false;
	r->moved -= odd;
	return true;
}

static bool full_now(int rc)
{
	return rc == -EAGAIN || rc == -EINTR;
}

/* Changes to the next engine.  If there is none, a repeated refusal is the request's result. */
static void change_engine(struct sp__queue *q)
{
	const struct sp__engine_opts opts = { .depth = q->depth, .spec = "" };

	q->changing = false;
	if (sp__engine_next(&q->ops, &q->engine, &opts))
		q->changeable = false;
	else
		q->pool_rc = q->files_rc = -ENOTSUP;
}

/* Offers the waiting requests to the engine; a request that it refuses for good is finished. */
static void offer(struct sp__queue *q)
{
	if (q->changing && q->with_engine)
		return;
	if (q->changing)
		change_engine(q);
	while (q->waiting.count) {
		struct sp__request *r;
		size_t n = 0;
		int rc;

		STAILQ_FOREACH(r, &q->waiting.requests, link)
		q->array[n++] = r;
		rc = q->ops->submit(q->engine, q->array, n);
		if (full_now(rc))
			return;
		if (rc <= 0)
			finish(q, take_first(&q->waiting), rc ? rc : -EIO, now(q));
		for (; rc > 0; rc--, q->with_engine++)
			take_first(&q->waiting);
	}
}

/* Pauses while the kernel lacks something that none of our completions will free. */
static void pause_for_others(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

/*
 * Runs one round: waits for at least one completion from the engine, if any is due.  Takes at most
 * max; the others are not yet complete for their owner.
 */
static int collect(struct sp__queue *q, size_t min, size_t max, int64_t timeout_ns)
{
	uint64_t now_ns;
	int n, i;

	offer(q);
	if (q->with_engine == 0) {
		if (q->waiting.count && min)
			pause_for_others();
		return 0;
	}
	n = reap(q, sp__min(max, q->depth), sp__min(min, q->with_engine), timeout_ns);
	if (n <= 0)
		return full_now(n) ? 0 : n;
	q->with_engine -= (unsigned)n;
	now_ns = now(q);
	for (i = 0; i < n; i++) {
		int32_t result;

		if (unfinished(q, q->array[i], &result))
			append(&q->waiting, q->array[i]);
		else
			finish(q, q->array[i], result, now_ns);
	}
	offer(q);
	return 0;
}

static unsigned in_flight(const struct sp__queue *q)
{
	return q->with_engine + q->waiting.count;
}

static int make_space(struct sp__queue *q, size_t n)
{
	while (q->depth - in_flight(q) < n) {
		int rc = collect(q, in_flight(q) + n - q->depth, q->depth, -1);

		if (rc)
			return rc;
	}
	return 0;
}

/* Submits at most depth requests. */
static int submit_some(struct sp__queue *q, struct sp__request *const *reqs, size_t n)
{
	int rc = make_space(q, n), taken = 0;
	uint64_t now_ns;

	if (rc)
		return rc;
	now_ns = now(q);
	for (size_t i = 0; i < n; i++) {
		reqs[i]->moved = 0;
		reqs[i]->submit_ns = now_ns;
	}
	if (!q->waiting.count) {
		taken = q->ops->submit(q->engine, reqs, n);
		if (taken <= 0 && !full_now(taken))
			return taken ? taken : -EIO;
		taken = taken < 0 ? 0 : taken;
		q->with_engine += (unsigned)taken;
	}
	for (size_t i = (size_t)taken; i < n; i++)
		append(&q->waiting, reqs[i]);
	return 0;
}

static void count(struct sp__queue *q, struct sp__request *const *reqs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (reqs[i]->op == SP__OP_WRITE)
			q->counters.write_requests++;
		else
			q->counters.read_requests++;
	}
}

int sp__queue_submit(struct sp__queue *q, struct sp__request *const *reqs, size_t n)
{
	size_t done = 0;
	int rc = 0;

	while (done < n) {
		size_t some = sp__min(n - done, q->depth);

		rc = submit_some(q, reqs + done, some);
		if (rc && done == 0)
			return rc;
		if (rc)
			break;
		done += some;
	}
	count(q, reqs, n);
	/* Earlier requests are submitted: the failure becomes the result of the others. */
	for (; done < n; done++) {
		reqs[done]->submit_ns = now(q);
		finish(q, reqs[done], rc, reqs[done]->submit_ns);
	}
	return 0;
}

/* Waits until min requests are finished, none is in flight, or the time is up. */
static int wait_for(struct sp__queue *q, size_t min, size_t max, int64_t timeout_ns)
{
	uint64_t until = 0;

	while (q->finished.count < min && in_flight(q)) {
		int rc;

		if (timeout_ns >= 0) {
			uint64_t now_ns = now(q);

			until = until ? until : now_ns + (uint64_t)timeout_ns;
			if (now_ns >= until)
				break;
			timeout_ns = (int64_t)(until - now_ns);
		}
		rc = collect(q, min - q->finished.count, max - q->finished.count, timeout_ns);
		if (rc)
			return rc;
	}
	return 0;
}

int sp__queue_reap(struct sp__queue *q, struct sp__request **done, size_t max, size_t min,
		   int64_t timeout_ns)
{
	size_t n = 0;
	int rc = 0;

	if (q->finished.count < min && timeout_ns)
		rc = wait_for(q, min, max, timeout_ns);
	/* Even when enough requests have finished, poll the engine once. */
	else if (q->finished.count < max)
		rc = collect(q, 0, max - q->finished.count, 0);
	if (rc)
		return rc;
	for (; n < max && q->finished.count; n++)
		done[n] = take_first(&q->finished);
	return (int)n;
}

int sp__queue_complete(struct sp__queue *q, size_t min, int64_t timeout_ns)
{
	struct sp__request *done[SP__QUEUE_COMPLETE_MAX];
	const size_t max = SP__QUEUE_COMPLETE_MAX;
	int n = sp__queue_reap(q, done, max, sp__min(min, max), timeout_ns);

	sp__io_notify(done, n);
	return n;
}

int sp__queue_wait(struct sp__queue *q, int64_t timeout_ns)
{
	int rc = 0;

	if (!sp__queue_outstanding(q))
		return SP_ESTATE;
	if (!q->finished.count)
		rc = timeout_ns < 0 ? wait_for(q, 1, q->depth, -1)
				    : collect(q, timeout_ns > 0, q->depth, timeout_ns);
	return rc < 0 ? rc : q->finished.count > 0;
}

/* A request that the engine has not taken is offered again only by a reap. */
int sp__queue_fd(const struct sp__queue *q)
{
	return q->waiting.count || !q->ops->fd ? -1 : q->ops->fd(q->engine);
}

void sp__queue_close(struct sp__queue *q)
{
	if (!q)
		return;
	while (in_flight(q) && collect(q, in_flight(q), q->depth, -1) == 0)
		;
	q->ops->close(q->engine);
	if (q->event >= 0)
		close(q->event);
	free(q);
}

const char *sp__queue_engine(const struct sp__queue *q)
{
	return q->ops->name;
}

int sp__queue_pool_rc(const struct sp__queue *q)
{
	return q->pool_rc;
}

int sp__queue_files_rc(const struct sp__queue *q)
{
	return q->files_rc;
}

unsigned sp__queue_outstanding(const struct sp__queue *q)
{
	return in_flight(q) + q->finished.count;
}

const struct sp__io_counters *sp__queue_counters(const struct sp__queue *q)
{
	return &q->counters;
}
