/* SPDX-License-Identifier: MIT */
/*
 * Logs the tasks of a run.
 *
 * Each thread knows its task, so there is no list of tasks.  A task that its owner runs within
 * itself has a processor time of its own: enter() notes the clock of the thread, and leave() moves
 * the beginning of the outer task by the time that passed.
 *
 * Logs have numbers: a task or a thread that still has the number of a closed log has no effect.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/linefile.h"
#include "base/tasklog.h"

#define SCHEMA "spindle.tasks/1"
#define LIBRARY "lib/"

_Thread_local struct sp__logging sp__logging;

static struct {
	pthread_mutex_t lock;
	struct sp__linefile *lines; /* NULL: no log is open */
	uint64_t number;	    /* number of the last log */
	uint64_t tasks;		    /* count of started tasks */
	uint64_t opened_ns, opened_cpu_ns;
} logs = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t thread_cpu_ns(void)
{
	return sp__clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Writes an event of the running task, with the lock held; format: the members that follow. */
__attribute__((format(printf, 2, 0))) static void write_event(const char *name, const char *format,
							      va_list ap)
{
	uint64_t cpu_ns = thread_cpu_ns() - sp__logging.begin_ns;
	uint64_t time_ns = sp__now_ns() - logs.opened_ns;
	char *to = sp__linefile_begin(logs.lines), *end = to + SP__LINEFILE_MAX - 2;

	to += snprintf(to, (size_t)(end - to),
		       "{\"event\":\"%s\",\"task\":%" PRIu64 ",\"cpu_ns\":%" PRIu64
		       ",\"time_ns\":%" PRIu64,
		       name, sp__logging.task.id, cpu_ns, time_ns);
	to += vsnprintf(to, (size_t)(end - to), format, ap);
	sp__linefile_end(logs.lines, stpcpy(to, "}\n"));
}

__attribute__((format(printf, 2, 3))) static void event(const char *name, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	pthread_mutex_lock(&logs.lock);
	if (logs.lines && sp__logging.task.log == logs.number)
		write_event(name, format, ap);
	pthread_mutex_unlock(&logs.lock);
	va_end(ap);
}

int sp__tasklog_open(const char *path, unsigned threads, struct sp_errinfo *err)
{
	int rc;

	pthread_mutex_lock(&logs.lock);
	rc = logs.lines ? sp__errf(err, -EBUSY, "open", path, -1,
				   "another run of this process logs its tasks")
			: sp__linefile_open(&logs.lines, path, err);
	if (!rc) {
		logs.number++;
		logs.tasks = 0;
		logs.opened_ns = sp__now_ns();
		logs.opened_cpu_ns = sp__cpu_ns();
		sp__logging = (struct sp__logging){ .task.log = logs.number,
						    .begin_ns = thread_cpu_ns() };
	}
	pthread_mutex_unlock(&logs.lock);
	if (!rc)
		event("open", ",\"schema\":\"%s\",\"threads\":%u", SCHEMA, threads);
	return rc;
}

int sp__tasklog_close(struct sp_errinfo *err)
{
	struct sp__linefile *lines;

	event("close", ",\"process_cpu_ns\":%" PRIu64, sp__cpu_ns() - logs.opened_cpu_ns);
	sp__logging = (struct sp__logging){ 0 };
	pthread_mutex_lock(&logs.lock);
	lines = logs.lines;
	logs.lines = NULL;
	pthread_mutex_unlock(&logs.lock);
	/* Without the lock: this can fork, and the pool, which can log, is locked during a fork. */
	return sp__linefile_close(lines, err);
}

uint64_t sp__tasklog_channels(void)
{
	static _Atomic uint64_t channels;

	return atomic_fetch_add(&channels, 2);
}

struct sp__logging sp__log_enter(const struct sp__logged *t)
{
	struct sp__logging outer = sp__logging;

	if (t->log || outer.task.log)
		sp__logging = (struct sp__logging){ .task = *t, .begin_ns = thread_cpu_ns() };
	return outer;
}

void sp__log_leave(struct sp__logging outer)
{
	if (sp__logging.task.log)
		event("end", "%s", "");
	if (outer.task.log)
		outer.begin_ns += thread_cpu_ns() - sp__logging.begin_ns;
	sp__logging = outer;
}

/* Returns the number of a new task, or 0 if the thread's log is closed. */
static uint64_t new_task(void)
{
	uint64_t id = 0;

	pthread_mutex_lock(&logs.lock);
	if (logs.lines && sp__logging.task.log == logs.number)
		id = ++logs.tasks;
	pthread_mutex_unlock(&logs.lock);
	return id;
}

void sp__log_started(struct sp__logged *t, const char *kind, bool own_thread)
{
	uint64_t id = new_task();

	if (!id)
		return;
	if (!strncmp(kind, LIBRARY, sizeof(LIBRARY) - 1))
		kind += sizeof(LIBRARY) - 1;
	*t = (struct sp__logged){ .log = sp__logging.task.log, .id = id };
	event("start", ",\"started\":%" PRIu64 ",\"kind\":\"%s\",\"own_thread\":%s", id, kind,
	      own_thread ? "true" : "false");
}

void sp__log_joined(const struct sp__logged *t, bool runs)
{
	if (t->log == sp__logging.task.log)
		event("join", ",\"joined\":%" PRIu64 ",\"runs\":%s", t->id,
		      runs ? "true" : "false");
}

void sp__log_handover(const char *name, uint64_t channel, uint64_t number)
{
	event(name, ",\"channel\":%" PRIu64 ",\"number\":%" PRIu64, channel, number);
}

void sp__log_moved(bool write, uint64_t bytes)
{
	event("request", ",\"operation\":\"%s\",\"bytes\":%" PRIu64, write ? "write" : "read",
	      bytes);
}
