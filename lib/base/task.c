/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stddef.h>
#include "base/delay.h"
#include "base/task.h"

#define STACK_BYTES (1024u << 10)

static void *run(void *arg)
{
	struct sp__task *t = arg;

	sp__delay(SP__DELAY_TASK);
	t->fn(t->arg);
	sp__delay(SP__DELAY_TASK);
	atomic_store(&t->finished, true);
	return NULL;
}

/* Signals are for the main thread, whose handlers clean up. */
static int create(struct sp__task *t)
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
	rc = pthread_create(&t->thread, &attr, run, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

bool sp__task_try_start(struct sp__task *t, void (*fn)(void *arg), void *arg)
{
	t->fn = fn;
	t->arg = arg;
	atomic_store(&t->finished, false);
	t->threaded = t->active = create(t) == 0;
	sp__delay(SP__DELAY_TASK);
	return t->active;
}

void sp__task_start(struct sp__task *t, void (*fn)(void *arg), void *arg)
{
	if (sp__task_try_start(t, fn, arg))
		return;
	t->active = true;
	run(t);
}

bool sp__task_done(struct sp__task *t)
{
	return !t->active || atomic_load(&t->finished);
}

void sp__task_join(struct sp__task *t)
{
	if (!t->active)
		return;
	sp__delay(SP__DELAY_TASK);
	if (t->threaded)
		pthread_join(t->thread, NULL);
	t->active = false;
}
