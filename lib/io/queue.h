/* SPDX-License-Identifier: MIT */
/*
 * Defines the asynchronous request interface: batches of requests go in, completions come out.
 *
 * Thread rule: a queue belongs to one thread at a time.  It can be handed over (with the usual
 * happens-before) when nothing is outstanding; a thread that ends before its requests were reaped
 * can take them with it.
 *
 * Ownership: a request struct, and the bytes that it names, belong to the caller until submit, to
 * the queue until the request is reaped, and then to the caller again.  If submit fails, none of
 * the batch is outstanding and no completion comes for it.  A later failure is the result of the
 * request.  Short transfers and EINTR are resolved inside: a result smaller than requested means
 * end of file.
 *
 * Reads and writes can be outstanding in any number up to the depth.  Submitting more blocks until
 * there are free slots (completions that are reaped meanwhile are kept for sp__queue_reap).
 */
#pragma once

#include <sys/queue.h>
#include "io/volume.h"

enum sp__op { SP__OP_READ, SP__OP_WRITE };

struct sp__request;

/* Is notified of completed requests; usually within the struct that owns them. */
struct sp__io_owner {
	void (*completed)(struct sp__io_owner *owner, struct sp__request *req);
};

struct sp__request {
	enum sp__op op;
	uint16_t prio; /* Linux: class in bits 13-15, level in 0-2; 0: as the process has */
	struct sp__volume *volume;
	uint64_t offset; /* bytes */
	void *data;
	uint32_t bytes;
	int32_t result; /* after reaping: bytes moved, or -errno */
	union {
		uint64_t tag;		    /* for the caller that reaps, or */
		struct sp__io_owner *owner; /* called by sp__queue_complete() */
	};
	uint64_t submit_ns, done_ns;	/* times of sp__volume_now_ns() */
	uint32_t moved;			/* bytes done so far, kept by the queue */
	STAILQ_ENTRY(sp__request) link; /* in a list of the queue */
};

/* Ways of a queue to wait for completions (Iyengar et al. 2008, section 3). */
enum sp__completion {
	SP__COMPLETE_WAIT,  /* in a system call that ends with them */
	SP__COMPLETE_POLL,  /* checks for them repeatedly and never sleeps */
	SP__COMPLETE_EVENT, /* for the system to signal an event file descriptor */
};

struct sp__queue_opts {
	const char *engine;	 /* NULL or "auto"; else a name from the table, see engine.c */
	unsigned depth;		 /* maximum number of outstanding requests, 1 .. 4096 */
	void *pool;		 /* page-aligned memory that requests will use; */
	size_t pool_bytes;	 /* registered with the kernel if possible; or NULL, 0 */
	struct sp__trace *trace; /* NULL: no trace */
	const struct sp__volume *device; /* the volumes' simulated device; or NULL */
	enum sp__completion completion;	 /* SP_EUNSUP: an engine that cannot signal */
	bool bound; /* used only by the thread that opens it: cheaper in the kernel, not polled */
	const int *fds; /* volumes to register with the kernel; NULL: none */
	unsigned nfds;
};

/* Requests as submitted (a resubmitted rest does not count), bytes as moved. */
struct sp__io_counters {
	uint64_t read_requests, read_bytes;
	uint64_t write_requests, write_bytes;
};

static inline void sp__io_add(struct sp__io_counters *to, const struct sp__io_counters *c)
{
	to->read_requests += c->read_requests;
	to->read_bytes += c->read_bytes;
	to->write_requests += c->write_requests;
	to->write_bytes += c->write_bytes;
}

struct sp__queue;

/*
 * Opens a queue. "auto" tries io_uring, then libaio, then sync.  It returns an error only if none
 * of them opens, and changes to the next if the system refuses io_uring a thread.  A name selects
 * that engine alone.  With a simulated device "auto" is the engine "sim", and time is virtual.
 */
SP_MUST_CHECK int sp__queue_open(struct sp__queue **q, const struct sp__queue_opts *opts,
				 struct sp_errinfo *err);
/* Waits for all outstanding requests (results dropped), then frees the queue; accepts NULL. */
void sp__queue_close(struct sp__queue *q);

const char *sp__queue_engine(const struct sp__queue *q); /* the one in use */
/*
 * Return the registration result of the pool and of fds: 0, or -ENOTSUP: the engine cannot
 * register.
 */
int sp__queue_pool_rc(const struct sp__queue *q);
int sp__queue_files_rc(const struct sp__queue *q);
unsigned sp__queue_outstanding(const struct sp__queue *q);
const struct sp__io_counters *sp__queue_counters(const struct sp__queue *q);

/*
 * Submits n requests as one indivisible batch, in order, with one system call if n is within the
 * depth.  Returns 0 or an error.
 */
SP_MUST_CHECK int sp__queue_submit(struct sp__queue *q, struct sp__request *const *reqs, size_t n);

/*
 * Collects up to max completed requests.  Waits until at least min (<= max) have completed, or
 * timeout_ns has passed (-1: no limit), or nothing is outstanding.  Returns their number, or an
 * error of the queue itself.
 */
SP_MUST_CHECK int sp__queue_reap(struct sp__queue *q, struct sp__request **done, size_t max,
				 size_t min, int64_t timeout_ns);

static inline void sp__io_notify(struct sp__request *const *done, int n)
{
	for (int i = 0; i < n; i++)
		done[i]->owner->completed(done[i]->owner, done[i]);
}

/*
 * Collects up to SP__QUEUE_COMPLETE_MAX completed requests like sp__queue_reap(), and notifies
 * their owners.
 */
#define SP__QUEUE_COMPLETE_MAX 64
SP_MUST_CHECK int sp__queue_complete(struct sp__queue *q, size_t min, int64_t timeout_ns);

/*
 * Lets time of a simulated device pass until a request of any queue completes, or until a moment.
 * Reaps then return it without waiting.
 */
void sp__volume_pass(const struct sp__volume *device, uint64_t until_ns);

/*
 * Waits until a reap would return something.  Returns 1; 0 after timeout_ns (-1: no limit); in
 * virtual time a limit is the next completion of any queue.  SP_ESTATE: nothing is outstanding.  A
 * signal can end the wait early.
 */
SP_MUST_CHECK int sp__queue_wait(struct sp__queue *q, int64_t timeout_ns);
/*
 * Returns a descriptor that poll(2) finds readable when sp__queue_wait() would return 1, while that
 * has returned 0 and no other function was called since; -1: there is none now.
 */
int sp__queue_fd(const struct sp__queue *q);
