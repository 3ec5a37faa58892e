/* SPDX-License-Identifier: MIT */
/*
 * Schedules the work of the library on one pool of threads for the whole process.
 *
 * A task is one function call, started, watched and joined by one owner.  Tasks are for work of at
 * least milliseconds.  There are two kinds:
 *
 *	queued      sp__task_start(): computes, or waits for devices or for tasks that it started.
 *	            At most as many run at a time as sp__tasks_open() allows. An owner that joins
 *	            a task that no thread has begun runs it itself: a full pool cannot deadlock.
 *	own thread  sp__task_start_thread(): may also wait for other threads, for pipes and for
 *	            programs. It immediately gets its own thread, an idle one or a new one.
 *
 * Both kinds run on the same threads, which are created when needed and then kept.
 *
 * The owner sees all that the function wrote once sp__task_done() has returned true or
 * sp__task_join() has returned.  A function restores the state of its thread (locale, priority).
 *
 * A run can log its tasks, their processor times and their waits (tasklog.h).
 *
 * Threads have all signals blocked and a stack of 1 MiB.  Every thread of the library runs tasks of
 * this pool, so that delay.h can delay all of them in tests.
 */
#pragma once

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/queue.h>
#include <spindle/error.h>
#include "base/tasklog.h"

enum sp__task_state { SP__TASK_IDLE, SP__TASK_WAITING, SP__TASK_RUNNING, SP__TASK_FINISHED };

struct sp__task {
	void (*fn)(void *arg);
	void *arg;
	bool own_thread;
	_Atomic enum sp__task_state state;
	struct sp__logged logged;
	TAILQ_ENTRY(sp__task) link; /* while it is WAITING */
};

/*
 * Keeps the threads of the pool until sp__tasks_close(), and allows at least that many queued tasks
 * to run at a time.  While calls are nested or come from several threads, the largest limit holds.
 * Without a call, one queued task runs at a time, and threads last while tasks are active.
 */
void sp__tasks_open(unsigned threads);
/* Returns the number of queued tasks that can run at a time. */
unsigned sp__tasks_limit(void);
/* Ends an sp__tasks_open().  The last call without an active task joins the threads of the pool. */
void sp__tasks_close(void);

/*
 * Queues a task, which must not be active.  If the system refuses a thread, the function runs
 * immediately in the caller: slower, but with the same result.
 */
#define sp__task_start(t, fn, arg) sp__task_start_as(t, SP__TASK_KIND(fn), fn, arg)
void sp__task_start_as(struct sp__task *t, const char *kind, void (*fn)(void *arg), void *arg);
/*
 * Starts a task with its own thread.  Returns false if the system refuses a thread; the task is
 * then not active.
 */
#define sp__task_start_thread(t, fn, arg) sp__task_start_thread_as(t, SP__TASK_KIND(fn), fn, arg)
bool sp__task_start_thread_as(struct sp__task *t, const char *kind, void (*fn)(void *arg),
			      void *arg);
/*
 * Calls fn for n workers: for the first in this thread, for the others in tasks with their own
 * threads, and waits for all.  The arguments are `each` bytes apart.  If the system refuses a
 * thread, the workers that have none are left out; the others must be able to do their work.
 */
#define sp__tasks_run(n, fn, args, each) sp__tasks_run_as(n, SP__TASK_KIND(fn), fn, args, each)
void sp__tasks_run_as(unsigned n, const char *kind, void (*fn)(void *arg), void *args, size_t each);
/* True if not active, or finished (still to be joined). */
bool sp__task_done(const struct sp__task *t);
/* True if it is queued and no thread has begun it: sp__task_join() would probably run it. */
static inline bool sp__task_waits(const struct sp__task *t)
{
	return !t->own_thread && atomic_load(&t->state) == SP__TASK_WAITING;
}
/*
 * Lets other threads run until one has begun a queued task, for some time.  To be called before
 * sp__task_join() by an owner that has more to do for its tasks than they have: otherwise it would
 * run many of them itself while the threads of the pool are being woken.
 */
static inline void sp__task_leave(const struct sp__task *t)
{
	for (unsigned i = 0; i < 64 && sp__task_waits(t); i++)
		sched_yield();
}
/*
 * Waits for the end, or runs a queued task that has not begun.  Has no effect if it is not active.
 */
void sp__task_join(struct sp__task *t);

/*
 * Divides numbered items of work among threads: a thread that is free takes the next item.
 *
 * Items are begun in the order of their numbers.  After an error no further item is begun, so all
 * items before the one that failed are complete, and the error that is first in this order is the
 * result.
 *
 * Thread rule: fn is called by several threads concurrently, each time for another item.  `worker`
 * is below the number of threads, and no two threads have the same one at a time.  All that fn
 * wrote is visible to the caller after sp__deal() has returned.
 */
#define SP__DEAL_MAX 64u /* threads that one call uses */

/* Does the work of an item.  Returns 0, or an error that is recorded in err. */
typedef int sp__deal_fn(void *arg, unsigned worker, uint64_t item, struct sp_errinfo *err);
/*
 * Calls fn for the items 0 to items - 1, on the calling thread and on up to threads - 1 queued
 * tasks.  If there is no memory for tasks, the caller does all the work.  Returns 0, or the error
 * of the first item that failed, which err then describes.  err may be NULL.
 */
SP_MUST_CHECK int sp__deal(unsigned threads, uint64_t items, sp__deal_fn *fn, void *arg,
			   struct sp_errinfo *err);
