/* SPDX-License-Identifier: MIT */
/*
 * Engines: ways of handing requests to the system.  Only the queue (queue.c)
 * and the fault wrapper call them.
 *
 * HACKING.md says how to add one.  Semantics are those of sync.c; when in doubt,
 * do what it does.
 *
 * What an engine moves of a request is its rest: the bytes from `moved` to
 * `bytes`.  It reports one transfer, as the system made it: it sets `result`
 * to the bytes of that transfer, -errno, or SP_ETHREAD if the system refused it
 * a thread that moves them; and touches nothing else.  Short transfers, EINTR,
 * EAGAIN, another engine after SP_ETHREAD, the depth, times, counters and the
 * trace are handled by the queue.
 *
 * Table entries are constants; an engine never edits its own.
 */
#ifndef SP__IO_ENGINE_H
#define SP__IO_ENGINE_H

#include "io/queue.h"

enum sp__engine_caps {
	SP__CAP_ASYNC = 1,  /* submit returns before the bytes have moved */
	SP__CAP_PRIO = 2,   /* passes the priority on */
	SP__CAP_MOVES = 4,  /* the bytes really move */
	SP__CAP_AUTO = 8,   /* one of those that "auto" tries */
	SP__CAP_WRAPS = 16, /* named as "NAME:SPEC:INNER" */
	SP__CAP_FD = 32,    /* holds a descriptor while open */
	SP__CAP_SIM = 64,   /* serves simulated volumes, and no others */
};

struct sp__engine_opts {
	const char *spec;		 /* what followed the name and its colon; or "" */
	unsigned depth;			 /* most requests ever outstanding at once */
	const struct sp__volume *device; /* of simulated volumes; or NULL */
	bool bound;			 /* as in struct sp__queue_opts */
};

struct sp__engine_ops {
	const char *name;
	unsigned caps;

	/*
	 * Required.  Makes *engine ready for depth requests: no later call
	 * allocates.  A wrapper gives its reason in err; the others do not
	 * touch it and return -errno or SP_EUNSUP.
	 */
	int (*open)(void **engine, const struct sp__engine_opts *opts, struct sp_errinfo *err);

	/* Required.  Called once, with nothing outstanding. */
	void (*close)(void *engine);

	/*
	 * Optional (sp__engine_no_register).  Called at most once, right after
	 * open: requests will use this page-aligned memory, which outlives the
	 * engine.  An error means only that it is not registered.
	 */
	int (*register_pool)(void *engine, void *pool, size_t bytes);

	/*
	 * Optional (sp__engine_no_files).  Called at most once, right after open: requests will
	 * use these descriptors.  An error means only that they are not registered.
	 */
	int (*register_files)(void *engine, const int *fds, unsigned n);

	/*
	 * Required.  Takes requests in order, as many as one system call will;
	 * never more than depth are outstanding.  Returns how many were taken
	 * (at least 1), or -EAGAIN: none now, reap first; or another error:
	 * none, now or later.  A request that the system refuses for itself
	 * (bad descriptor, bad alignment) is taken and completes with the error.
	 */
	int (*submit)(void *engine, struct sp__request *const *reqs, size_t n);

	/*
	 * Required.  Collects up to max completions; waits for min (never more
	 * than are outstanding) or until timeout_ns has passed (-1: no limit).
	 * Returns how many, possibly fewer than min after a signal or a
	 * timeout, or an error of the engine itself.
	 */
	int (*reap)(void *engine, struct sp__request **done, size_t max, size_t min,
		    int64_t timeout_ns);

	/*
	 * Optional (sp__engine_no_fd).  A descriptor that poll(2) finds readable when a reap
	 * would return something; -1: there is none, or not now.
	 */
	int (*fd)(void *engine);

	/*
	 * Optional (sp__engine_no_signal).  Called at most once, right after open: from now on
	 * each completion adds to the counter of this event file descriptor.
	 */
	int (*signal)(void *engine, int event);
};

extern const struct sp__engine_ops sp__uring_engine, sp__aio_engine, sp__sync_engine,
	sp__null_engine, sp__sim_engine, sp__fault_engine;

/*
 * Opens the engine that name asks for (NULL and "auto": the first of the table
 * that opens; with a device, the one that simulates).  On success *ops and
 * *engine go together.  opts->spec comes from the name.
 */
SP_MUST_CHECK int sp__engine_open(const struct sp__engine_ops **ops, void **engine,
				  const char *name, const struct sp__engine_opts *opts,
				  struct sp_errinfo *err);

/* Is the choice of an engine left to us? */
bool sp__engine_is_auto(const char *name);

/*
 * Closes the engine, which has nothing outstanding, and opens the next that
 * "auto" tries in its place.  On an error it stays open.
 */
SP_MUST_CHECK int sp__engine_next(const struct sp__engine_ops **ops, void **engine,
				  const struct sp__engine_opts *opts);

/* Moves the rest of a request at once (sync.c): bytes or -errno. */
int32_t sp__engine_transfer(const struct sp__request *r);

/* The hook of engines that cannot register memory: -ENOTSUP. */
int sp__engine_no_register(void *engine, void *pool, size_t bytes);
/* The hook of engines that cannot register descriptors: -ENOTSUP. */
int sp__engine_no_files(void *engine, const int *fds, unsigned n);
/* The hook of engines that cannot signal: SP_EUNSUP. */
int sp__engine_no_signal(void *engine, int event);
/* The hook of engines without a descriptor: -1. */
int sp__engine_no_fd(void *engine);

#endif
