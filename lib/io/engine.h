/* SPDX-License-Identifier: MIT */
/*
 * Defines engines, which hand requests to the system.  Only the queue (queue.c) and the fault
 * engine call them.
 *
 * HACKING.md describes how to add one.  sync.c defines the semantics.
 *
 * An engine moves the rest of a request: the bytes from `moved` to `bytes`.  It reports one
 * transfer, as the system made it: it sets `result` to the bytes of that transfer, to -errno, or to
 * SP_ETHREAD if the system refused it a thread that moves them.  It changes nothing else.  The
 * queue handles short transfers, EINTR, EAGAIN, another engine after SP_ETHREAD, the depth, times,
 * counters and the trace.
 *
 * Invariants: table entries are constants; an engine never edits its own.
 */
#pragma once

#include <stdlib.h>
#include <spindle/api.h>
#include "io/queue.h"

enum sp__engine_caps {
	SP__CAP_ASYNC = 1,  /* submit returns before the bytes have moved */
	SP__CAP_PRIO = 2,   /* passes the priority on */
	SP__CAP_MOVES = 4,  /* the bytes are transferred */
	SP__CAP_AUTO = 8,   /* "auto" tries it */
	SP__CAP_WRAPS = 16, /* named as "NAME:SPEC:INNER" */
	SP__CAP_FD = 32,    /* holds a descriptor while open */
	SP__CAP_SIM = 64,   /* serves only simulated volumes */
};

struct sp__engine_opts {
	const char *spec;		 /* the text after the name and its colon; or "" */
	unsigned depth;			 /* maximum number of outstanding requests */
	const struct sp__volume *device; /* device of simulated volumes; or NULL */
	bool bound;			 /* see struct sp__queue_opts */
};

struct sp__engine_ops {
	const char *name;
	unsigned caps;

	/*
	 * Required.  Makes *engine ready for depth requests; no later call allocates.  A wrapper
	 * describes an error in err; the others do not change err and return -errno or SP_EUNSUP.
	 */
	int (*open)(void **engine, const struct sp__engine_opts *opts, struct sp_errinfo *err);

	/* Required.  Called once, with nothing outstanding. */
	void (*close)(void *engine);

	/*
	 * Optional.  Called at most once, right after open.  Requests will
	 * use this page-aligned memory, which outlives the engine.  An error only means that it is
	 * not registered.
	 */
	int (*register_pool)(void *engine, void *pool, size_t bytes);

	/*
	 * Optional.  Called at most once, right after open.  Requests will
	 * use these descriptors.  An error only means that they are not registered.
	 */
	int (*register_files)(void *engine, const int *fds, unsigned n);

	/*
	 * Required.  Takes requests in order, as many as one system call accepts; never more than
	 * depth are outstanding.  Returns how many were taken (at least 1); -EAGAIN: none can be
	 * taken before a reap; or another error: none can ever be taken.  A request with an error
	 * of its own (bad descriptor, bad alignment) is taken and completes with the error.
	 */
	int (*submit)(void *engine, struct sp__request *const *reqs, size_t n);

	/*
	 * Required.  Collects up to max completions.  Waits for min (never more than are
	 * outstanding) or until timeout_ns has passed (-1: no limit).  Returns their number, fewer
	 * than min after a signal or a timeout; or an error of the engine itself.
	 */
	int (*reap)(void *engine, struct sp__request **done, size_t max, size_t min,
		    int64_t timeout_ns);

	/*
	 * Optional.  Returns a descriptor that poll(2) finds readable when a
	 * reap would return something; -1: there is none now.
	 */
	int (*fd)(void *engine);

	/*
	 * Optional.  Called at most once, right after open.  From then on
	 * each completion adds to the counter of this event file descriptor.
	 */
	int (*signal)(void *engine, int event);
};

extern const struct sp__engine_ops sp__uring_engine, sp__aio_engine, sp__sync_engine,
	sp__null_engine, sp__sim_engine, sp__fault_engine;

/*
 * Opens the engine called name.  NULL and "auto" open the first of the table that opens; with a
 * device, the engine that simulates.  Sets *ops and *engine.  opts->spec comes from the name.
 */
SP_MUST_CHECK int sp__engine_open(const struct sp__engine_ops **ops, void **engine,
				  const char *name, const struct sp__engine_opts *opts,
				  struct sp_errinfo *err);

/* True if the library chooses the engine. */
bool sp__engine_is_auto(const char *name);

/*
 * Closes the engine, which must have nothing outstanding, and opens the next one that "auto" tries.
 * On an error the old engine stays open.
 */
SP_MUST_CHECK int sp__engine_next(const struct sp__engine_ops **ops, void **engine,
				  const struct sp__engine_opts *opts);

/* Moves the rest of a request immediately (sync.c).  Returns bytes or -errno. */
int32_t sp__engine_transfer(const struct sp__request *r);

/* Calls the hook of the engine; -ENOTSUP: it has none. */
static inline int sp__engine_register_pool(const struct sp__engine_ops *ops, void *engine,
					   void *pool, size_t bytes)
{
	return ops->register_pool ? ops->register_pool(engine, pool, bytes) : -ENOTSUP;
}

static inline int sp__engine_register_files(const struct sp__engine_ops *ops, void *engine,
					    const int *fds, unsigned n)
{
	return ops->register_files ? ops->register_files(engine, fds, n) : -ENOTSUP;
}

/*
 * Holds completed requests in a ring, first in first out, for engines that complete requests within
 * submit.  Never holds more than the engine's depth.
 */
struct sp__donering {
	unsigned depth, head, count;
	struct sp__request *done[];
};

/* Allocates a ring, to be freed with free(); NULL: out of memory. */
static inline struct sp__donering *sp__donering_new(unsigned depth)
{
	struct sp__donering *d = calloc(1, sizeof(*d) + depth * sizeof(d->done[0]));

	if (d)
		d->depth = depth;
	return d;
}

static inline void sp__donering_put(struct sp__donering *d, struct sp__request *r)
{
	d->done[(d->head + d->count++) % d->depth] = r;
}

/* Takes out up to max requests; returns their number. */
static inline size_t sp__donering_take(struct sp__donering *d, struct sp__request **done,
				       size_t max)
{
	size_t n = 0;

	for (; n < max && d->count; n++, d->count--) {
		done[n] = d->done[d->head];
		d->head = (d->head + 1) % d->depth;
	}
	return n;
}

/* Hooks of an engine whose state is only such a ring (sync.c); free() closes it. */
int sp__donering_open(void **engine, const struct sp__engine_opts *opts, struct sp_errinfo *err);
int sp__donering_reap(void *engine, struct sp__request **done, size_t max, size_t min,
		      int64_t timeout_ns);

/*
 * Sets the I/O priority of the calling thread, for engines whose requests cannot carry one; prio as
 * in ioprio_set(2), 0 leaves it unchanged.  Returns 0 or -errno.
 */
SP_MUST_CHECK int sp__ioprio_set(uint16_t prio);
/* Returns the priority, for sp__ioprio_restore(); negative: unknown, which restores nothing. */
long sp__ioprio_get(void);
void sp__ioprio_restore(long before);
/* True if this thread is permitted to use class RT.  Tries it, and restores the priority. */
bool sp__ioprio_rt_allowed(void);
