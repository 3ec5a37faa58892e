/* SPDX-License-Identifier: MIT */
#include "base/delay.h"
#include "sort/ring.h"

void sp__ring_init(struct sp__ring *r)
{
	*r = (struct sp__ring){ 0 };
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
}

void sp__ring_use(struct sp__ring *r, char *mem, size_t bytes)
{
	r->bytes = bytes;
	for (unsigned i = 0; i < SP__RING_BUFFERS; i++)
		r->buf[i].mem = mem + i * bytes;
}

void sp__ring_destroy(struct sp__ring *r)
{
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->changed);
}

/* Waits until the buffer is empty: true; false: abandoned. */
static bool await_empty(struct sp__ring *r, const struct sp__outbuf *out)
{
	bool wanted;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&r->lock);
	while (out->full && !r->abandoned)
		pthread_cond_wait(&r->changed, &r->lock);
	wanted = !r->abandoned;
	pthread_mutex_unlock(&r->lock);
	return wanted;
}

struct sp__outbuf *sp__ring_room(struct sp__ring *r)
{
	struct sp__outbuf *out = &r->buf[r->put];

	return await_empty(r, out) ? out : NULL;
}

bool sp__ring_settled(struct sp__ring *r, const struct sp__outbuf *out)
{
	return out->data == out->mem || await_empty(r, out);
}

void sp__ring_publish(struct sp__ring *r, int rc)
{
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&r->lock);
	if (rc == SP_READY) {
		r->buf[r->put].full = true;
		r->put = (r->put + 1) % SP__RING_BUFFERS;
	} else {
		r->ended = true;
		r->error = rc < 0 ? rc : 0;
	}
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

static void await_locked(struct sp__ring *r)
{
	while (!r->buf[r->get].full && !r->ended)
		pthread_cond_wait(&r->changed, &r->lock);
}

void sp__ring_await(struct sp__ring *r)
{
	pthread_mutex_lock(&r->lock);
	await_locked(r);
	pthread_mutex_unlock(&r->lock);
}

bool sp__ring_ready(struct sp__ring *r)
{
	bool ready;

	pthread_mutex_lock(&r->lock);
	ready = r->buf[r->get].full || r->ended;
	pthread_mutex_unlock(&r->lock);
	return ready;
}

int sp__ring_get(struct sp__ring *r, bool wait, const char **data, size_t *bytes)
{
	struct sp__outbuf *out = &r->buf[r->get];
	int rc = SP_READY;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&r->lock);
	if (wait)
		await_locked(r);
	if (!out->full)
		rc = !r->ended ? SP_LATER : r->error ? r->error : SP_END;
	pthread_mutex_unlock(&r->lock);
	if (rc == SP_READY) {
		*data = out->data;
		*bytes = out->bytes;
		r->lent = true;
	}
	return rc;
}

void sp__ring_release(struct sp__ring *r)
{
	struct sp__outbuf *out = &r->buf[r->get];

	if (!r->lent)
		return;
	r->lent = false;
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&r->lock);
	out->full = false;
	out->bytes = 0;
	r->get = (r->get + 1) % SP__RING_BUFFERS;
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
