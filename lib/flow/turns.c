/* SPDX-License-Identifier: MIT */
/*
 * Limits how many of several threads read from a device at a time (turns.h).
 */
#include "base/delay.h"
#include "flow/turns.h"

/* A reader that waited for at most this share of its chunks is slower than the device. */
#define SELDOM_SHARE 8
/* One that waited for at least this share is faster. */
#define MOSTLY_SHARE 2

void sp__turns_open(struct sp__turns *t, unsigned max)
{
	*t = (struct sp__turns){ .allowed = 1, .max = max };
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
}

void sp__turns_close(struct sp__turns *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
}

void sp__turns_take(struct sp__turns *t)
{
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&t->lock);
	while (t->taken >= t->allowed && !t->stopped)
		pthread_cond_wait(&t->changed, &t->lock);
	t->taken++;
	pthread_mutex_unlock(&t->lock);
}

void sp__turns_give(struct sp__turns *t, uint64_t chunks, uint64_t waited)
{
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&t->lock);
	t->taken--;
	if (waited * SELDOM_SHARE <= chunks && t->allowed < t->max)
		t->allowed++;
	else if (waited * MOSTLY_SHARE >= chunks && t->allowed > 1)
		t->allowed--;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

void sp__turns_stop(struct sp__turns *t)
{
	pthread_mutex_lock(&t->lock);
	t->stopped = true;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}
