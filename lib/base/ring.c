/* SPDX-License-Identifier: MIT */
/*
 * Hands buffers from one thread to another under one lock.
 *
 * States of a buffer: EMPTY, the filling side fills it; FULL from publish() to release(), and taken
 * from get() on.  After the end has been published, buffers stay empty.
 */
#include <errno.h>
#include <time.h>
#include "base/delay.h"
#include "base/ring.h"
#include "base/tasklog.h"

void sp__ring_init(struct sp__ring *r)
{
	pthread_condattr_t attr;

	*r = (struct sp__ring){ .n = SP__RING_BUFFERS, .full = sp__tasklog_channels() };
	r->empty = r->full + 1;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
}

void sp__ring_use(struct sp__ring *r, char *mem, size_t bytes)
{
	r->bytes = bytes;
	for (unsigned i = 0; i < r->n; i++)
		r->buf[i].data = r->buf[i].mem = mem + i * bytes;
}

void sp__ring_use_own(struct sp__ring *r, unsigned n)
{
	r->n = n;
}

void sp__ring_destroy(struct sp__ring *r)
{
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->changed);
}

static struct sp__ring_buffer *buffer(struct sp__ring *r, uint64_t number)
{
	return &r->buf[number % r->n];
}

/* Waits until the buffer is empty.  Returns false if the ring is abandoned. */
static bool await_empty(struct sp__ring *r, uint64_t number)
{
	const struct sp__ring_buffer *out = buffer(r, number);
	bool wanted;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&r->lock);
	while (out->full && !r->abandoned)
		pthread_cond_wait(&r->changed, &r->lock);
	wanted = !r->abandoned;
	pthread_mutex_unlock(&r->lock);
	if (wanted && number >= r->n)
		sp__log_need(r->empty, number - r->n);
	return wanted;
}

struct sp__ring_buffer *sp__ring_empty(struct sp__ring *r)
{
	return await_empty(r, r->put) ? buffer(r, r->put) : NULL;
}

bool sp__ring_settled(struct sp__ring *r, const struct sp__ring_buffer *out)
{
	return out->data == out->mem || await_empty(r, r->put - 1 + r->n);
}

void sp__ring_publish(struct sp__ring *r, int rc)
{
	sp__delay(SP__DELAY_BUFFER);
	sp__log_give(r->full, r->put);
	pthread_mutex_lock(&r->lock);
	if (rc == SP_READY) {
		buffer(r, r->put++)->full = true;
	} else {
		r->ended = true;
		r->error = rc < 0 ? rc : 0;
	}
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

static bool is_ready(const struct sp__ring *r)
{
	return r->buf[r->get % r->n].full || r->ended || r->abandoned;
}

static struct timespec after(int64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += t.tv_nsec;
	t.tv_sec += ns / 1000000000;
	t.tv_nsec = ns % 1000000000;
	return t;
}

bool sp__ring_await(struct sp__ring *r, int64_t timeout_ns)
{
	struct timespec until = after(timeout_ns < 0 ? 0 : timeout_ns);
	bool ready;
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	while (!is_ready(r) && timeout_ns && rc != ETIMEDOUT)
		rc = timeout_ns < 0 ? pthread_cond_wait(&r->changed, &r->lock)
				    : pthread_cond_timedwait(&r->changed, &r->lock, &until);
	ready = is_ready(r);
	pthread_mutex_unlock(&r->lock);
	return ready;
}

int sp__ring_get(struct sp__ring *r, bool wait, const char **data, size_t *bytes)
{
	struct sp__ring_buffer *out = buffer(r, r->get);
	int rc = SP_READY;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&r->lock);
	while (wait && !is_ready(r))
		pthread_cond_wait(&r->changed, &r->lock);
	if (r->abandoned)
		rc = -ECANCELED;
	else if (!out->full)
		rc = !r->ended ? SP_LATER : r->error ? r->error : SP_END;
	pthread_mutex_unlock(&r->lock);
	if (rc != SP_LATER && rc != -ECANCELED)
		sp__log_need(r->full, r->get);
	if (rc == SP_READY) {
		*data = out->data;
		*bytes = out->bytes;
		r->taken = true;
	}
	return rc;
}

void sp__ring_release(struct sp__ring *r)
{
	struct sp__ring_buffer *out = buffer(r, r->get);

	if (!r->taken)
		return;
	r->taken = false;
	sp__log_give(r->empty, r->get);
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&r->lock);
	out->full = false;
	out->bytes = 0;
	r->get++;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

void sp__ring_abandon(struct sp__ring *r)
{
	pthread_mutex_lock(&r->lock);
	r->abandoned = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

bool sp__ring_abandoned(struct sp__ring *r)
{
	bool abandoned;

	pthread_mutex_lock(&r->lock);
	abandoned = r->abandoned;
	pthread_mutex_unlock(&r->lock);
	return abandoned;
}
