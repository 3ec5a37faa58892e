/* SPDX-License-Identifier: MIT */
/*
 * The pool of threads.  Threads created and joined are counted, and their creation fails on demand.
 * Builds with delays (sanitizers) delay each hand-over.
 */
#define TAP_THREADS

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/task.h"
#include "tap.h"

#define MANY 60
#define LATER 10
#define LIMIT 3

typedef int create_fn(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
typedef int join_fn(pthread_t id, void **result);

static int created, joined;
static bool refuse;
static pthread_t owner;

int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	static create_fn *create;

	if (!create)
		create = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
	if (refuse)
		return EAGAIN;
	created++;
	return create(id, attr, fn, arg);
}

int pthread_join(pthread_t id, void **result)
{
	static join_fn *join;

	if (!join)
		join = (join_fn *)dlsym(RTLD_NEXT, "pthread_join");
	joined++;
	return join(id, result);
}

/* Notes of a task about its run. */
struct noted {
	struct sp__task task;
	int calls;
	pthread_t thread;
};

static void note(void *arg)
{
	struct noted *n = arg;

	n->calls++;
	n->thread = pthread_self();
}

static bool by_owner(const struct noted *n)
{
	return n->calls == 1 && pthread_equal(n->thread, owner);
}

/* A task that ends when the owner says so. */
struct blocker {
	struct sp__task task;
	sem_t begun, end;
};

static void block(void *arg)
{
	struct blocker *b = arg;

	sem_post(&b->begun);
	sem_wait(&b->end);
}

static void blocker_start(struct blocker *b)
{
	sem_init(&b->begun, 0, 0);
	sem_init(&b->end, 0, 0);
	sp__task_start(&b->task, block, b);
	sem_wait(&b->begun);
}

static void blocker_join(struct blocker *b)
{
	sem_post(&b->end);
	sp__task_join(&b->task);
	sem_destroy(&b->begun);
	sem_destroy(&b->end);
}

static _Atomic int busy, busiest;

static void count_busy(void *arg)
{
	int now, max = atomic_load(&busiest);

	note(arg);
	if (pthread_equal(pthread_self(), owner))
		return;
	now = atomic_fetch_add(&busy, 1) + 1;
	while (now > max && !atomic_compare_exchange_weak(&busiest, &max, now))
		;
	usleep(100);
	atomic_fetch_sub(&busy, 1);
}

static void many(void)
{
	static struct noted list[MANY];
	int before = created, calls = 0;

	sp__tasks_open(LIMIT);
	for (int i = 0; i < MANY; i++)
		sp__task_start(&list[i].task, count_busy, &list[i]);
	for (int i = 0; i < MANY; i++) {
		sp__task_join(&list[i].task);
		calls += list[i].calls;
	}
	ok(calls == MANY, "each of many tasks runs once");
	ok(busiest <= LIMIT, "no more run at a time than the limit allows");
	ok(created - before <= LIMIT, "there are no more threads than the limit");
	before = created;
	for (int i = 0; i < LATER; i++) {
		sp__task_start(&list[i].task, note, &list[i]);
		sp__task_join(&list[i].task);
	}
	ok(created == before, "later tasks run on the same threads");
	sp__tasks_close();
	ok(created == joined, "closing joins the threads");
}

static void without_opening(void)
{
	struct noted n = { 0 };
	int before = created;

	sp__task_join(&n.task);
	ok(sp__task_done(&n.task) && !n.calls, "joining an idle task has no effect");
	sp__task_start(&n.task, note, &n);
	while (!sp__task_done(&n.task))
		sched_yield();
	ok(n.calls == 1 && created == before + 1, "a task ends without being joined");
	sp__task_join(&n.task);
	ok(created == joined, "without sp__tasks_open() threads end with the last task");
}

/* Opens a pool of one thread, which the first task occupies, and queues the second. */
static void fill_pool(struct blocker *first, struct noted *second)
{
	sp__tasks_open(1);
	first->task = (struct sp__task){ 0 };
	blocker_start(first);
	sp__task_start(&second->task, note, second);
}

static void helping(void)
{
	struct blocker first;
	struct noted second = { 0 };

	fill_pool(&first, &second);
	ok(!sp__task_done(&second.task), "a task waits while others fill the pool");
	sp__task_join(&second.task);
	ok(by_owner(&second), "an owner runs the waiting task that it joins");
	blocker_join(&first);
	sp__tasks_close();
}

static void raising(void)
{
	struct blocker first;
	struct noted second = { 0 };

	fill_pool(&first, &second);
	sp__tasks_open(2);
	while (!sp__task_done(&second.task))
		sched_yield();
	ok(second.calls == 1, "a higher limit lets a waiting task begin");
	sp__task_join(&second.task);
	blocker_join(&first);
	sp__tasks_close();
	sp__tasks_close();
	ok(created == joined, "the last of nested closes joins the threads");
}

#define DEPTH 3
#define BRANCHES 3

struct nested {
	struct sp__task task;
	int depth, leaves;
};

static void branch(void *arg)
{
	struct nested *n = arg, under[BRANCHES] = { { { 0 }, 0, 0 } };

	n->leaves = n->depth == 0;
	for (int i = 0; n->depth && i < BRANCHES; i++) {
		under[i].depth = n->depth - 1;
		sp__task_start(&under[i].task, branch, &under[i]);
	}
	for (int i = 0; n->depth && i < BRANCHES; i++) {
		sp__task_join(&under[i].task);
		n->leaves += under[i].leaves;
	}
}

static void nesting(void)
{
	for (unsigned limit = 1; limit <= LIMIT; limit++) {
		struct nested root = { .depth = DEPTH };

		sp__tasks_open(limit);
		sp__task_start(&root.task, branch, &root);
		sp__task_join(&root.task);
		sp__tasks_close();
		ok(root.leaves == 27, "tasks start and join tasks with a limit of %u", limit);
	}
}

/* Tasks with threads of their own, each of which waits for the one behind it. */
struct link {
	struct sp__task task;
	sem_t go;
	struct link *before;
};

static void pass(void *arg)
{
	struct link *l = arg;

	sem_wait(&l->go);
	if (l->before)
		sem_post(&l->before->go);
}

static void own_threads(void)
{
	struct link chain[8] = { 0 };
	struct blocker full = { 0 };
	int before, started = 0;

	sp__tasks_open(1);
	blocker_start(&full);
	before = created;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 8; i++) {
			sem_init(&chain[i].go, 0, 0);
			chain[i].before = i ? &chain[i - 1] : NULL;
			started += sp__task_start_thread(&chain[i].task, pass, &chain[i]);
		}
		sem_post(&chain[7].go);
		for (int i = 0; i < 8; i++)
			sp__task_join(&chain[i].task);
	}
	ok(started == 24, "tasks with threads of their own do not wait for the pool");
	ok(created - before == 8, "they use the same threads again");
	blocker_join(&full);
	sp__tasks_close();
}

/* One of workers, the last of which lets the others end. */
struct fellow {
	struct link link;
	bool owners, done;
};

static void wait_for_next(void *arg)
{
	struct fellow *f = arg;

	f->owners = pthread_equal(pthread_self(), owner);
	pass(&f->link);
	f->done = true;
}

static void workers(void)
{
	struct fellow list[8] = { 0 };
	int done = 0, owners = 0;

	for (int i = 0; i < 8; i++) {
		sem_init(&list[i].link.go, 0, i == 7);
		list[i].link.before = i ? &list[i - 1].link : NULL;
	}
	sp__tasks_run(8, wait_for_next, list, sizeof(*list));
	for (int i = 0; i < 8; i++) {
		done += list[i].done;
		owners += list[i].owners;
	}
	ok(done == 8, "workers that wait for each other all run");
	ok(owners == 1 && list[0].owners, "the first one runs in its owner");
	ok(created == joined, "their threads are joined");
}

static void refused(void)
{
	struct noted n = { 0 }, with_thread = { 0 }, alone[3] = { { .calls = 0 } };

	refuse = true;
	sp__tasks_run(3, note, alone, sizeof(*alone));
	ok(by_owner(&alone[0]) && !alone[1].calls && !alone[2].calls,
	   "without threads only the first worker runs");
	sp__task_start(&n.task, note, &n);
	ok(sp__task_done(&n.task) && by_owner(&n), "without a thread a task runs in its owner");
	sp__task_join(&n.task);
	ok(!sp__task_start_thread(&with_thread.task, note, &with_thread) && !with_thread.calls,
	   "a task with a thread of its own is refused");
	sp__task_join(&with_thread.task);
	ok(sp__task_done(&with_thread.task), "it is not active then");
	refuse = false;
	sp__task_start(&n.task, note, &n);
	sp__task_join(&n.task);
	ok(n.calls == 2 && created == joined, "the pool works after a refusal");
}

static void check_mask(void *arg)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	*(bool *)arg = sigismember(&now, SIGINT) && sigismember(&now, SIGTERM);
}

static void signals(void)
{
	struct sp__task task = { 0 };
	bool blocked = false;

	if (!sp__task_start_thread(&task, check_mask, &blocked))
		return;
	sp__task_join(&task);
	ok(blocked, "threads of the pool block signals");
}

static void forking(void)
{
#ifdef __SANITIZE_THREAD__
	skip("a child of a fork has a pool of its own", "ThreadSanitizer refuses such children");
#else
	struct noted n = { 0 };
	int status = -1;
	pid_t pid;

	sp__tasks_open(2);
	sp__task_start(&n.task, note, &n);
	while (!sp__task_done(&n.task))
		sched_yield();
	sp__task_join(&n.task);
	pid = fork();
	if (!pid) {
		sp__task_start(&n.task, note, &n);
		while (!sp__task_done(&n.task))
			sched_yield();
		sp__task_join(&n.task);
		_exit(n.calls == 2 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ok(status == 0, "a child of a fork has a pool of its own");
	sp__task_start(&n.task, note, &n);
	sp__task_join(&n.task);
	sp__tasks_close();
	ok(n.calls == 2 && created == joined, "the pool of its parent continues");
#endif
}

int main(void)
{
	setenv("SP_TASK_DELAY", "1", 0);
	owner = pthread_self();
	many();
	without_opening();
	helping();
	raising();
	nesting();
	own_threads();
	workers();
	refused();
	signals();
	forking();
	return done();
}
