/* SPDX-License-Identifier: MIT */
/*
 * Schedules tasks on the threads of the process's pool, and deals numbered items to tasks.
 *
 * States of a task (under the lock; the owner may read FINISHED without it):
 *
 *	IDLE	  not active
 *	WAITING	  in one of the two lists; a thread first takes tasks with their own thread
 *	RUNNING	  a thread of the pool or, if queued, its owner runs the function
 *	FINISHED  no thread touches the task any more; its owner has to join it
 *
 * Invariants.
 * - The pool has an idle thread for each waiting task that is allowed to run now: each task with
 *   its own thread, and as many queued tasks as the limit leaves.  A thread that is being created
 *   counts as idle.  A start without such a thread is refused (provide()).
 * - A running task waits only for work that proceeds without the queue: devices, tasks with their
 *   own thread, and queued tasks that it joins, which it runs if they wait.
 * - An owner only runs the task that it joins: it can hold locks, and its stack is as deep as if it
 *   called the function.
 *
 * Lifetime.  The pool is in use while an sp__tasks_open() or an active task is counted.  The last
 * use joins all threads, so no thread outlives the library's work, and programs may fork or unload
 * the library.  A child of a fork has none of the threads: it begins with an empty pool.
 *
 * Rejected: a pool per run.  The operators of one plan would have more threads than processors, and
 * streams would have to know the run.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <spindle/error.h>
#include "base/delay.h"
#include "base/minmax.h"
#include "base/task.h"

#define STACK_BYTES (1024u << 10)
#define THREAD_NAME "spindle"

TAILQ_HEAD(tasks, sp__task);
SLIST_HEAD(threads, thread);

struct waiting {
	struct tasks tasks;
	unsigned n;
};

struct thread {
	pthread_t id;
	bool leave;
	SLIST_ENTRY(thread) link;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work, finished;
	struct waiting own, queued; /* tasks with their own thread; queued tasks */
	struct threads threads;
	unsigned idle;		 /* threads that run no task */
	unsigned running, limit; /* queued tasks that threads of the pool run */
	unsigned opened, active; /* calls of sp__tasks_open() without a close; active tasks */
} pool = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.work = PTHREAD_COND_INITIALIZER,
	.finished = PTHREAD_COND_INITIALIZER,
	.own = { .tasks = TAILQ_HEAD_INITIALIZER(pool.own.tasks) },
	.queued = { .tasks = TAILQ_HEAD_INITIALIZER(pool.queued.tasks) },
	.limit = 1,
};

/* Tasks.  These functions are called with the lock held. */

static struct waiting *list_of(const struct sp__task *t)
{
	return t->own_thread ? &pool.own : &pool.queued;
}

static void put(struct sp__task *t)
{
	TAILQ_INSERT_TAIL(&list_of(t)->tasks, t, link);
	list_of(t)->n++;
	atomic_store(&t->state, SP__TASK_WAITING);
}

static void take(struct sp__task *t)
{
	TAILQ_REMOVE(&list_of(t)->tasks, t, link);
	list_of(t)->n--;
	atomic_store(&t->state, SP__TASK_RUNNING);
}

/* Returns the number of waiting tasks that are allowed to run now. */
static unsigned count_due(void)
{
	unsigned left = pool.limit > pool.running ? pool.limit - pool.running : 0;

	return pool.own.n + (pool.queued.n < left ? pool.queued.n : left);
}

static struct sp__task *take_due(void)
{
	struct sp__task *t = TAILQ_FIRST(&pool.own.tasks);

	if (!count_due())
		return NULL;
	t = t ? t : TAILQ_FIRST(&pool.queued.tasks);
	take(t);
	return t;
}

/* Runs a task.  Ends with the lock held, and does not touch the task again. */
static void run(struct sp__task *t)
{
	struct sp__logging outer;

	pthread_mutex_unlock(&pool.lock);
	sp__delay(SP__DELAY_TASK);
	outer = sp__log_enter(&t->logged);
	t->fn(t->arg);
	sp__log_leave(outer);
	sp__delay(SP__DELAY_TASK);
	pthread_mutex_lock(&pool.lock);
	atomic_store(&t->state, SP__TASK_FINISHED);
	pthread_cond_broadcast(&pool.finished);
}

/* Threads. */

static void *thread_main(void *arg)
{
	const struct thread *self = arg;

	pthread_setname_np(pthread_self(), THREAD_NAME);
	pthread_mutex_lock(&pool.lock);
	while (!self->leave) {
		struct sp__task *t = take_due();
		bool queued = t && !t->own_thread;

		if (!t) {
			pthread_cond_wait(&pool.work, &pool.lock);
			continue;
		}
		pool.idle--;
		pool.running += queued;
		run(t);
		pool.running -= queued;
		pool.idle++;
	}
	pthread_mutex_unlock(&pool.lock);
	return NULL;
}

static void lock_before_fork(void)
{
	pthread_mutex_lock(&pool.lock);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&pool.lock);
}

/* The child only has the thread that forked; tasks and runs of other threads never end in it. */
static void empty_after_fork(void)
{
	for (struct thread *t; (t = SLIST_FIRST(&pool.threads));) {
		SLIST_REMOVE_HEAD(&pool.threads, link);
		free(t);
	}
	TAILQ_INIT(&pool.own.tasks);
	TAILQ_INIT(&pool.queued.tasks);
	pool.own.n = pool.queued.n = pool.idle = pool.running = 0;
	pool.opened = pool.active = 0;
	pthread_cond_init(&pool.work, NULL);
	pthread_cond_init(&pool.finished, NULL);
	pthread_mutex_unlock(&pool.lock);
}

static void prepare_forks(void)
{
	pthread_atfork(lock_before_fork, unlock_after_fork, empty_after_fork);
}

/*
 * Creates a thread with signals blocked: signals are for the main thread, whose handlers clean up.
 */
static int create(struct thread *t)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int rc;

	rc = pthread_attr_init(&attr);
	if (rc)
		return rc;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&t->id, &attr, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

static bool add_thread(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct thread *t = calloc(1, sizeof(*t));

	pthread_once(&once, prepare_forks);
	if (!t || create(t)) {
		free(t);
		return false;
	}
	SLIST_INSERT_HEAD(&pool.threads, t, link);
	pool.idle++;
	return true;
}

/* Releases the lock.  The last use of the pool joins its threads, which are all idle then. */
static void leave_pool(void)
{
	struct threads all = SLIST_HEAD_INITIALIZER(all);
	struct thread *t;

	if (!pool.opened)
		pool.limit = 1;
	if (!pool.opened && !pool.active) {
		all = pool.threads;
		SLIST_INIT(&pool.threads);
		pool.idle = 0;
		for (t = SLIST_FIRST(&all); t; t = SLIST_NEXT(t, link))
			t->leave = true;
		pthread_cond_broadcast(&pool.work);
	}
	pthread_mutex_unlock(&pool.lock);
	while ((t = SLIST_FIRST(&all))) {
		SLIST_REMOVE_HEAD(&all, link);
		pthread_join(t->id, NULL);
		free(t);
	}
}

void sp__tasks_open(unsigned threads)
{
	pthread_mutex_lock(&pool.lock);
	pool.opened++;
	if (pool.limit < threads)
		pool.limit = threads;
	while (count_due() > pool.idle && add_thread())
		;
	pthread_cond_broadcast(&pool.work);
	pthread_mutex_unlock(&pool.lock);
}

unsigned sp__tasks_limit(void)
{
	unsigned limit;

	pthread_mutex_lock(&pool.lock);
	limit = pool.limit;
	pthread_mutex_unlock(&pool.lock);
	return limit;
}

void sp__tasks_close(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.opened--;
	leave_pool();
}

/* Tasks: the functions for their owners. */

/* Starts a task.  Returns false, with the task in neither list, if the system refuses a thread. */
static bool start(struct sp__task *t, void (*fn)(void *arg), void *arg)
{
	t->fn = fn;
	t->arg = arg;
	put(t);
	pool.active++;
	if (count_due() > pool.idle && !add_thread()) {
		take(t);
		return false;
	}
	pthread_cond_signal(&pool.work);
	return true;
}

void sp__task_start_as(struct sp__task *t, const char *kind, void (*fn)(void *arg), void *arg)
{
	pthread_mutex_lock(&pool.lock);
	t->own_thread = false;
	sp__log_start(&t->logged, kind, false);
	if (!start(t, fn, arg))
		run(t);
	pthread_mutex_unlock(&pool.lock);
	sp__delay(SP__DELAY_TASK);
}

bool sp__task_start_thread_as(struct sp__task *t, const char *kind, void (*fn)(void *arg),
			      void *arg)
{
	bool started;

	pthread_mutex_lock(&pool.lock);
	t->own_thread = true;
	started = start(t, fn, arg);
	if (started) {
		sp__log_start(&t->logged, kind, true);
	} else {
		atomic_store(&t->state, SP__TASK_IDLE);
		pool.active--;
	}
	pthread_mutex_unlock(&pool.lock);
	sp__delay(SP__DELAY_TASK);
	return started;
}

bool sp__task_done(const struct sp__task *t)
{
	enum sp__task_state state = atomic_load(&t->state);

	return state == SP__TASK_IDLE || state == SP__TASK_FINISHED;
}

void sp__task_join(struct sp__task *t)
{
	bool runs;

	if (atomic_load(&t->state) == SP__TASK_IDLE)
		return;
	sp__delay(SP__DELAY_TASK);
	pthread_mutex_lock(&pool.lock);
	runs = atomic_load(&t->state) == SP__TASK_WAITING && !t->own_thread;
	sp__log_join(&t->logged, runs);
	if (runs) {
		take(t);
		run(t);
	}
	while (atomic_load(&t->state) != SP__TASK_FINISHED)
		pthread_cond_wait(&pool.finished, &pool.lock);
	atomic_store(&t->state, SP__TASK_IDLE);
	pool.active--;
	leave_pool();
}

void sp__tasks_run_as(unsigned n, const char *kind, void (*fn)(void *arg), void *args, size_t each)
{
	struct sp__task *tasks = n > 1 ? calloc(n - 1, sizeof(*tasks)) : NULL;
	unsigned started = 0;

	while (tasks && started + 1 < n &&
	       sp__task_start_thread_as(&tasks[started], kind, fn,
					(char *)args + (started + 1) * each))
		started++;
	fn(args);
	for (unsigned i = 0; i < started; i++)
		sp__task_join(&tasks[i]);
	free(tasks);
}

/*
 * Dealing items: the number of the next item is the only state that workers share while they work.
 * Each worker keeps its first error; the one of the lowest item is chosen when all workers have
 * ended.
 */
struct deal {
	sp__deal_fn *fn;
	void *arg;
	uint64_t items;
	_Atomic uint64_t next;
	atomic_bool failed;
};

struct worker {
	struct deal *deal;
	unsigned number;
	uint64_t item; /* the one that failed */
	int rc;
	struct sp_errinfo err;
	struct sp__task task;
};

static void work(void *arg)
{
	struct worker *w = arg;
	struct deal *d = w->deal;

	while (!w->rc && !atomic_load(&d->failed)) {
		w->item = atomic_fetch_add(&d->next, 1);
		if (w->item >= d->items)
			return;
		sp__delay(SP__DELAY_BUFFER);
		w->rc = d->fn(d->arg, w->number, w->item, &w->err);
	}
	if (w->rc)
		atomic_store(&d->failed, true);
}

static int run_alone(const struct deal *d, struct sp_errinfo *err)
{
	int rc = 0;

	for (uint64_t item = 0; !rc && item < d->items; item++)
		rc = d->fn(d->arg, 0, item, err);
	return rc;
}

int sp__deal(unsigned threads, uint64_t items, sp__deal_fn *fn, void *arg, struct sp_errinfo *err)
{
	struct deal d = { .fn = fn, .arg = arg, .items = items };
	unsigned n = (unsigned)sp__min(sp__min(threads, SP__DEAL_MAX), items);
	struct worker *w = n > 1 ? calloc(n, sizeof(*w)) : NULL, *first = NULL;
	int rc;

	if (!w)
		return run_alone(&d, err);
	for (unsigned i = 0; i < n; i++) {
		w[i].deal = &d;
		w[i].number = i;
		w[i].err = (struct sp_errinfo)SP_ERRINFO_INIT;
		if (i)
			sp__task_start(&w[i].task, work, &w[i]);
	}
	work(&w[0]);
	for (unsigned i = 0; i < n; i++) {
		if (i)
			sp__task_join(&w[i].task);
		if (w[i].rc && (!first || w[i].item < first->item))
			first = &w[i];
	}
	rc = first ? first->rc : 0;
	if (first && err && !err->code)
		*err = first->err;
	free(w);
	return rc;
}
