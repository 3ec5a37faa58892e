/* SPDX-License-Identifier: MIT */
/*
 * Logs how the work of a run divides into tasks, in the format of spindle-tasks(5).
 *
 * The process has at most one log.  It has the tasks that its opener starts, those that these
 * start, and so on.  An event names the running task and its processor time, so that the run can be
 * replayed on other numbers of processors.
 *
 * Thread rule: any thread, except for open() and close().  A thread without a log pays one branch
 * per event.
 */
#pragma once

#include "base/array.h"
#include <stdlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <spindle/error.h>

/* The name of a task in a log: file and function. */
#define SP__TASK_KIND(fn) __FILE__ ":" #fn

/* A task in a log. */
struct sp__logged {
	uint64_t log; /* the number of the log; 0: none */
	uint64_t id;
};

/* The task that the calling thread runs. */
struct sp__logging {
	struct sp__logged task;
	uint64_t begin_ns; /* processor time of the thread, less that of tasks within this one */
};
extern _Thread_local struct sp__logging sp__logging;

/*
 * Opens the log; the caller becomes its task 0 until it closes the log.  path is borrowed until
 * then.  threads is only noted.  Returns 0; -EBUSY if a log is open; or another error.
 */
SP_MUST_CHECK int sp__tasklog_open(const char *path, unsigned threads, struct sp_errinfo *err);
/* Closes the log, after its last task.  Returns 0, or the first error of writing, also in err. */
int sp__tasklog_close(struct sp_errinfo *err);

/* Returns the first of two numbers that name directions in which threads hand over items. */
uint64_t sp__tasklog_channels(void);

/* The thread begins to run a task.  Returns what leave() needs at the end of the task. */
struct sp__logging sp__log_enter(const struct sp__logged *t);
void sp__log_leave(struct sp__logging outer);

void sp__log_started(struct sp__logged *t, const char *kind, bool own_thread);
void sp__log_joined(const struct sp__logged *t, bool runs);
void sp__log_handover(const char *event, uint64_t channel, uint64_t number);
void sp__log_moved(bool write, uint64_t bytes);

/* The running task starts another one, before a thread can run that. */
static inline void sp__log_start(struct sp__logged *t, const char *kind, bool own_thread)
{
	*t = (struct sp__logged){ 0 };
	if (sp__logging.task.log)
		sp__log_started(t, kind, own_thread);
}

/* The running task cannot continue before that one has ended; runs: it runs that itself now. */
static inline void sp__log_join(const struct sp__logged *t, bool runs)
{
	if (sp__logging.task.log)
		sp__log_joined(t, runs);
}

/* The running task hands over an item. */
static inline void sp__log_give(uint64_t channel, uint64_t number)
{
	if (sp__logging.task.log)
		sp__log_handover("give", channel, number);
}

/* The running task cannot continue without an item; it may say so again. */
static inline void sp__log_need(uint64_t channel, uint64_t number)
{
	if (sp__logging.task.log)
		sp__log_handover("need", channel, number);
}

/* The running task has read or written a file. */
static inline void sp__log_request(bool write, uint64_t bytes)
{
	if (sp__logging.task.log)
		sp__log_moved(write, bytes);
}

/*
 * Parts of the work of a thread are logged as tasks, since another thread could have taken each of
 * them.  Thread rule: a list belongs to the thread that runs the parts, and after its end to the
 * caller of sp__log_parts_join().
 */

/* The parts that a thread has begun; zero to begin. */
struct sp__log_parts {
	struct sp__logged *list;
	size_t n, capacity;
};

/* The thread begins a part.  Returns what sp__log_leave() needs at its end. */
static inline struct sp__logging sp__log_part(struct sp__log_parts *l, const char *kind)
{
	struct sp__logged part;

	sp__log_start(&part, kind, false);
	if (part.log && SP__ARRAY_GROW(l->list, l->capacity, l->n + 1))
		l->list[l->n++] = part;
	return sp__log_enter(&part);
}

/* The running task cannot continue before these parts have ended.  Frees the list. */
static inline void sp__log_parts_join(struct sp__log_parts *l)
{
	for (size_t i = 0; i < l->n; i++)
		sp__log_join(&l->list[i], false);
	free(l->list);
	*l = (struct sp__log_parts){ 0 };
}
