/* SPDX-License-Identifier: MIT */
/*
 * Maps virtual time to the real clock, and answers requests at the right time.
 *
 * Algorithm: the drive computes everything in virtual time.  Each of its moments has one real time,
 * counted from the beginning.  The pacer advances virtual time moment by moment, never ahead of the
 * clock.  If it wakes up late, later moments keep their real times, so lateness does not add up.
 *
 * A request counts as submitted at its arrival minus the floor (the time from a program to the
 * drive and back).  So a program that waits for each of its requests sees the drive's own times.
 *
 * The pacer polls the clock during the last SPIN_NS before a moment, since waking up takes about as
 * long.  A new request ends the polling, since it can have an earlier moment.
 */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include "vdisk.h"

/*
 * Counts late answers by size, and computes quantiles.
 */

#define SUB 16 /* classes of a power of two */

/* Returns the class of a value; each value below 2 * SUB is its own class. */
static unsigned class_of(uint64_t ns)
{
	unsigned shift = 0;

	while (ns >> shift >= 2 * SUB)
		shift++;
	return shift * SUB + (unsigned)(ns >> shift);
}

/* Returns the largest value of a class. */
static uint64_t top_of(unsigned class)
{
	unsigned shift = class < 2 * SUB ? 0 : class / SUB - 1;

	return ((uint64_t)(class - shift * SUB + 1) << shift) - 1;
}

void lateness_add(struct lateness *l, uint64_t ns)
{
	l->n++;
	l->count[class_of(ns)]++;
	if (ns > l->max_ns)
		l->max_ns = ns;
}

uint64_t lateness_quantile(const struct lateness *l, double share)
{
	uint64_t want = (uint64_t)((double)l->n * share), seen = 0, top;

	for (unsigned i = 0; i < LATENESS_CLASSES; i++) {
		seen += l->count[i];
		if (seen > want || (seen && seen == l->n)) {
			top = top_of(i);
			return top < l->max_ns ? top : l->max_ns;
		}
	}
	return 0;
}

#define SPIN_NS 60000
#define BATCH 32

uint64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Returns the real time of a virtual one; SP_VDRIVE_NEVER: beyond the range. */
static uint64_t real_ns(const struct pace *p, uint64_t virtual_ns)
{
	uint64_t ns;

	if (__builtin_mul_overflow(virtual_ns, p->dilation, &ns) ||
	    __builtin_add_overflow(ns, p->begin_ns, &ns))
		return SP_VDRIVE_NEVER;
	return ns;
}

static void answer(const struct job *job)
{
	/* a failure means that the kernel no longer wants the answer */
	if (job->op == SP_VDRIVE_READ)
		(void)fuse_reply_buf(job->req, job->data, job->bytes);
	else if (job->op == SP_VDRIVE_WRITE)
		(void)fuse_reply_write(job->req, job->bytes);
	else
		(void)fuse_reply_err(job->req, 0);
}

/* Advances to a moment; releases the lock while requests are answered. */
static void let_come(struct pace *p, uint64_t virtual_ns)
{
	struct sp_vdrive_done done[BATCH];
	size_t n = sp_vdrive_advance(p->drive, virtual_ns, done, BATCH);
	uint64_t now, due;

	for (size_t i = 0; i < n; i++) {
		struct job *job = done[i].cookie;

		due = real_ns(p, done[i].done_ns);
		now = clock_now_ns();
		lateness_add(&p->late, now > due ? now - due : 0);
		p->last_service_ns = done[i].done_ns - done[i].submit_ns;
		pthread_mutex_unlock(&p->lock);
		answer(job);
		free(job->data);
		free(job);
		pthread_mutex_lock(&p->lock);
	}
}

static void spin_until(struct pace *p, uint64_t due_ns)
{
	unsigned seen = atomic_load_explicit(&p->submissions, memory_order_relaxed);

	pthread_mutex_unlock(&p->lock);
	while (clock_now_ns() < due_ns &&
	       atomic_load_explicit(&p->submissions, memory_order_relaxed) == seen)
		;
	pthread_mutex_lock(&p->lock);
}

static void sleep_until(struct pace *p, uint64_t due_ns)
{
	struct timespec ts;

	if (due_ns == SP_VDRIVE_NEVER) {
		pthread_cond_wait(&p->changed, &p->lock);
		return;
	}
	due_ns -= SPIN_NS;
	ts.tv_sec = (time_t)(due_ns / 1000000000);
	ts.tv_nsec = (long)(due_ns % 1000000000);
	pthread_cond_timedwait(&p->changed, &p->lock, &ts);
}

static void *pacer(void *arg)
{
	struct pace *p = arg;
	uint64_t next, due, now;

	/* the kernel must not delay timers of this thread to save power */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		next = sp_vdrive_next_ns(p->drive);
		due = next == SP_VDRIVE_NEVER ? next : real_ns(p, next);
		now = clock_now_ns();
		if (due <= now)
			let_come(p, next);
		else if (due - now <= SPIN_NS)
			spin_until(p, due);
		else
			sleep_until(p, due);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int pace_submit(struct pace *p, const struct job *job, uint64_t offset, uint64_t arrived_ns)
{
	struct job *own = malloc(sizeof(*own));
	uint64_t since;
	int rc;

	if (!own)
		return -ENOMEM;
	*own = *job;
	pthread_mutex_lock(&p->lock);
	since = p->begin_ns + p->floor_ns;
	since = arrived_ns > since ? (arrived_ns - since) / p->dilation : 0;
	rc = sp_vdrive_submit(p->drive, since, job->op, offset, job->bytes, own);
	if (rc == 0) {
		atomic_fetch_add_explicit(&p->submissions, 1, memory_order_relaxed);
		pthread_cond_signal(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	if (rc < 0)
		free(own);
	return rc;
}

static struct sp_vdrive *open_drive(const char *spec)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_vdrive *v;
	int rc = sp_vdrive_open(&v, spec, &err);
	bool file = err.path[0] && rc != SP_ESYNTAX; /* whose text names arguments of the spec */

	if (rc < 0)
		die("%s%s%s", file ? quote_file(err.path) : "", file ? ": " : "",
		    err.text[0] ? err.text : sp_strerror(rc));
	return v;
}

/* Waits until no request is outstanding; the disk can be in use before it is announced. */
static void wait_until_idle(struct pace *p)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct sp_vdrive_stats stats;

	for (sp_vdrive_stats(p->drive, &stats); stats.outstanding;
	     sp_vdrive_stats(p->drive, &stats)) {
		pthread_mutex_unlock(&p->lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&p->lock);
	}
}

void pace_restart(struct pace *p, uint64_t dilation, uint64_t floor_ns)
{
	pthread_mutex_lock(&p->lock);
	wait_until_idle(p);
	sp_vdrive_close(p->drive);
	p->drive = open_drive(p->spec);
	p->dilation = dilation;
	p->floor_ns = floor_ns;
	p->begin_ns = clock_now_ns();
	p->late = (struct lateness){ 0 };
	pthread_mutex_unlock(&p->lock);
}

void pace_start(struct pace *p, const char *spec, uint64_t dilation)
{
	pthread_condattr_t attr;
	int rc;

	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	p->spec = spec;
	p->dilation = dilation;
	p->drive = open_drive(spec);
	p->begin_ns = clock_now_ns();
	rc = pthread_create(&p->thread, NULL, pacer, p);
	if (rc)
		die_sys(rc, "cannot start a thread");
}

void pace_stop(struct pace *p)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
}
