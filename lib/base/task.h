/* SPDX-License-Identifier: MIT */
/*
 * A task: one function call on a thread of its own, started, watched and
 * joined by one owner.  Starting costs some 20 us, so tasks are for work of
 * milliseconds and more.  If the system has no thread, sp__task_start() runs
 * the function at once, in the caller: slower, never wrong.
 *
 * The owner sees all that the function wrote once sp__task_done() has returned
 * true or sp__task_join() has returned.
 *
 * Every thread of the library is a task, so that delay.h can delay all of them in tests.
 */
#ifndef SP__BASE_TASK_H
#define SP__BASE_TASK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct sp__task {
	void (*fn)(void *arg);
	void *arg;
	pthread_t thread;
	bool active;   /* started and not yet joined */
	bool threaded; /* there is a thread to join */
	_Atomic bool finished;
};

/* False: there is no thread to be had and nothing was started. */
bool sp__task_try_start(struct sp__task *t, void (*fn)(void *arg), void *arg);
/* The task must not be active. */
void sp__task_start(struct sp__task *t, void (*fn)(void *arg), void *arg);
/* True if not active, or finished (still to be joined). */
bool sp__task_done(struct sp__task *t);
/* Waits for the end; nothing to do if not active. */
void sp__task_join(struct sp__task *t);

#endif
