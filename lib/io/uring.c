/* SPDX-License-Identifier: MIT */
/*
 * Implements the io_uring engine; the only file that includes liburing.
 *
 * The submission ring holds the whole depth, so a batch always fits and goes to the kernel with one
 * system call.  Requests that the kernel does not take immediately (it is short of memory, or a
 * signal came) stay in the ring, count as taken, and go with the next call.  Each reap submits
 * them.
 *
 * COOP_TASKRUN saves processor interrupts: completions run when we enter the kernel anyway.
 * TASKRUN_FLAG shows a reap that does not wait when it must enter the kernel.  SINGLE_ISSUER and
 * DEFER_TASKRUN save a little more, but bind the ring to the thread that opened it.  So only queues
 * opened as bound have them; a submission then also collects the completions available.
 *
 * Requests that cannot be carried out immediately (mostly buffered writes) go to a kernel worker, a
 * thread that counts against the limit on processes.  If the limit forbids one, the kernel cancels
 * the request.  The library never cancels, so -ECANCELED has only this cause.  The kernel retries
 * for about 50 ms first, so the queue changes the engine instead of carrying out such requests
 * itself.
 *
 * Assumptions: IORING_FEAT_EXT_ARG (Linux 5.11; waiting with a timeout without a request of its
 * own), and the opcodes, which are probed.
 *
 * Rejected: submitting together with the wait that follows.  It saves a call, but the device idles
 * while the caller works.
 */
#include <liburing.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/loaded.h"
#include "io/engine.h"

/* Maximum size of a buffer that the kernel registers. */
#define FIXED_MAX ((size_t)1 << 30)
#define FIXED_COUNT_MAX 1024
#define FILES_MAX 16

struct uring {
	struct io_uring ring;
	char *pool; /* registered memory, or NULL */
	size_t pool_bytes;
	bool deferred; /* completions run only when a reap requests them */
	unsigned nfds;
	int fds[FILES_MAX]; /* registered: the kernel knows them by index */
};

static bool has_opcodes(struct io_uring *ring)
{
	struct io_uring_probe *p = io_uring_get_probe_ring(ring);
	bool has;

	if (!p)
		return false;
	has = io_uring_opcode_supported(p, IORING_OP_READ) &&
	      io_uring_opcode_supported(p, IORING_OP_WRITE);
	io_uring_free_probe(p);
	return has;
}

/*
 * Open rings.  liburing maps their memory without the C library, so ThreadSanitizer does not see
 * that an address is first freed by one thread and then mapped by another; it sees the order of
 * changes of this number.
 */
static _Atomic unsigned rings;

static void close_ring(struct io_uring *ring)
{
	atomic_fetch_sub(&rings, 1);
	io_uring_queue_exit(ring);
}

static int init_ring(struct uring *u, const struct sp__engine_opts *opts)
{
	/* An old kernel refuses the first ones; the first one is for a queue of one thread. */
	static const unsigned flags[] = {
		IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
		IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
		0,
	};
	struct io_uring_params p;
	struct io_uring *ring = &u->ring;
	int rc = -EINVAL;

	for (unsigned i = !opts->bound; rc == -EINVAL && i < 3; i++) {
		p = (struct io_uring_params){ .flags = flags[i] };
		rc = io_uring_queue_init_params(opts->depth, ring, &p);
		u->deferred = !rc && !i;
	}
	if (rc)
		return rc;
	atomic_fetch_add(&rings, 1);
	if ((p.features & IORING_FEAT_EXT_ARG) && (p.features & IORING_FEAT_NODROP) &&
	    has_opcodes(ring) && io_uring_get_events(ring) >= 0)
		return 0;
	close_ring(ring);
	return SP_EUNSUP;
}

static int file_index(const struct uring *u, int fd)
{
	for (unsigned i = 0; i < u->nfds; i++)
		if (u->fds[i] == fd)
			return (int)i;
	return -1;
}

static int uring_open(void **engine, const struct sp__engine_opts *opts, struct sp_errinfo *err)
{
	int rc = sp__library_load(SP__LIB_URING, err);
	struct uring *u;

	if (rc)
		return rc;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	rc = init_ring(u, opts);
	if (rc) {
		free(u);
		/* The kernel's memory for rings is exhausted, not ours. */
		return rc == -ENOMEM ? SP_EUNSUP : rc;
	}
	*engine = u;
	return 0;
}

static void uring_close(void *engine)
{
	struct uring *u = engine;

	close_ring(&u->ring);
	free(u);
}

static int uring_register(void *engine, void *pool, size_t bytes)
{
	struct uring *u = engine;
	size_t n = (bytes + FIXED_MAX - 1) / FIXED_MAX;
	struct iovec *v;
	int rc;

	if (n > FIXED_COUNT_MAX)
		return -E2BIG;
	v = calloc(n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		v[i].iov_base = (char *)pool + i * FIXED_MAX;
		v[i].iov_len = i + 1 < n ? FIXED_MAX : bytes - i * FIXED_MAX;
	}
	rc = io_uring_register_buffers(&u->ring, v, (unsigned)n);
	free(v);
	if (rc)
		return rc;
	u->pool = pool;
	u->pool_bytes = bytes;
	return 0;
}

static int uring_register_files(void *engine, const int *fds, unsigned n)
{
	struct uring *u = engine;
	int rc = n > FILES_MAX ? -E2BIG : io_uring_register_files(&u->ring, fds, n);

	if (rc)
		return rc;
	for (unsigned i = 0; i < n; i++)
		u->fds[i] = fds[i];
	u->nfds = n;
	return 0;
}

/* Returns the index of the registered buffer that holds all of the bytes, or -1. */
static int fixed_index(const struct uring *u, const char *at, size_t bytes)
{
	size_t begin;

	if (!u->pool || at < u->pool || at >= u->pool + u->pool_bytes)
		return -1;
	begin = (size_t)(at - u->pool);
	if (bytes > u->pool_bytes - begin || begin / FIXED_MAX != (begin + bytes - 1) / FIXED_MAX)
		return -1;
	return (int)(begin / FIXED_MAX);
}

static void prepare(const struct uring *u, struct io_uring_sqe *sqe, struct sp__request *r)
{
	char *at = (char *)r->data + r->moved;
	unsigned rest = r->bytes - r->moved;
	uint64_t offset = r->offset + r->moved;
	int fixed = rest ? fixed_index(u, at, rest) : -1;
	int file = u->nfds ? file_index(u, r->volume->fd) : -1;
	int fd = file >= 0 ? file : r->volume->fd;

	if (r->op == SP__OP_READ && fixed >= 0)
		io_uring_prep_read_fixed(sqe, fd, at, rest, offset, fixed);
	else if (r->op == SP__OP_READ)
		io_uring_prep_read(sqe, fd, at, rest, offset);
	else if (fixed >= 0)
		io_uring_prep_write_fixed(sqe, fd, at, rest, offset, fixed);
	else
		io_uring_prep_write(sqe, fd, at, rest, offset);
	if (file >= 0)
		sqe->flags |= IOSQE_FIXED_FILE;
	sqe->ioprio = r->prio;
	io_uring_sqe_set_data(sqe, r);
}

static bool transient(int rc)
{
	return rc == -EAGAIN || rc == -EBUSY || rc == -EINTR;
}

static int uring_submit(void *engine, struct sp__request *const *reqs, size_t n)
{
	struct uring *u = engine;
	size_t i;

	for (i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

		if (!sqe)
			break;
		prepare(u, sqe, reqs[i]);
	}
	/* The requests are in the ring even after an error; reap retries and reports. */
	if (u->deferred)
		io_uring_submit_and_get_events(&u->ring);
	else
		io_uring_submit(&u->ring);
	return i ? (int)i : -EAGAIN;
}

static size_t collect(struct uring *u, struct sp__request **done, size_t max)
{
	struct io_uring_cqe *cqe;
	size_t n = 0;

	while (n < max && io_uring_peek_cqe(&u->ring, &cqe) == 0) {
		done[n] = io_uring_cqe_get_data(cqe);
		done[n++]->result = cqe->res == -ECANCELED ? SP_ETHREAD : cqe->res;
		io_uring_cqe_seen(&u->ring, cqe);
	}
	return n;
}

static int uring_wait(struct uring *u, unsigned count, int64_t timeout_ns)
{
	struct __kernel_timespec ts = { timeout_ns / 1000000000, timeout_ns % 1000000000 };
	struct io_uring_cqe *cqe;

	if (timeout_ns < 0)
		return io_uring_submit_and_wait(&u->ring, count);
	return io_uring_submit_and_wait_timeout(&u->ring, &cqe, count, &ts, NULL);
}

static int uring_reap(void *engine, struct sp__request **done, size_t max, size_t min,
		      int64_t timeout_ns)
{
	struct uring *u = engine;
	size_t n = collect(u, done, max);
	int rc = 0;

	if (n >= min && io_uring_sq_ready(&u->ring) == 0 && (n || !u->deferred))
		return (int)n;
	if (n >= min || timeout_ns == 0)
		rc = u->deferred ? io_uring_submit_and_get_events(&u->ring)
				 : io_uring_submit(&u->ring);
	else
		rc = uring_wait(u, (unsigned)(min - n), timeout_ns);
	n += collect(u, done + n, max - n);
	if (n || rc >= 0 || transient(rc) || rc == -ETIME)
		return (int)n;
	return rc;
}

/*
 * Requests left in the ring must be submitted by the next reap first, so there is no descriptor
 * then.  For a deferred ring, poll(2) sees completions that exist when it begins, but later ones do
 * not wake it.
 */
static int uring_fd(void *engine)
{
	struct uring *u = engine;

	return u->deferred || io_uring_sq_ready(&u->ring) ? -1 : u->ring.ring_fd;
}

static int uring_signal(void *engine, int event)
{
	struct uring *u = engine;

	return io_uring_register_eventfd(&u->ring, event);
}

const struct sp__engine_ops sp__uring_engine = {
	.name = "io_uring",
	.caps = SP__CAP_ASYNC | SP__CAP_PRIO | SP__CAP_MOVES | SP__CAP_AUTO | SP__CAP_FD,
	.open = uring_open,
	.close = uring_close,
	.register_pool = uring_register,
	.register_files = uring_register_files,
	.submit = uring_submit,
	.reap = uring_reap,
	.fd = uring_fd,
	.signal = uring_signal,
};
