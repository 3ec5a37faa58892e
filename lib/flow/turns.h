/* SPDX-License-Identifier: MIT */
/*
 * Limits how many of several threads read from a device at a time.
 *
 * A thread takes a turn before it reads a part of the input, and gives it back when it has
 * requested the whole part, or has other work.  So the requests of consecutive parts reach the
 * device one after the other, and the device has work while a thread sorts what it has read.
 *
 * There is one turn at first.  A reader that seldom waited for the device adds one; a reader that
 * mostly waited removes one.
 *
 * Thread rule: any thread may call any function between opening and closing.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <spindle/api.h>

struct sp__turns {
	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t changed;
	unsigned allowed, max, taken;
	bool stopped;
};

/* max: turns at a time. */
void sp__turns_open(struct sp__turns *t, unsigned max);
void sp__turns_close(struct sp__turns *t);

/* Waits for a turn and takes it; after sp__turns_stop() without waiting. */
void sp__turns_take(struct sp__turns *t);
/* Gives a turn back in which the reader took so many chunks, and waited for some of them. */
void sp__turns_give(struct sp__turns *t, uint64_t chunks, uint64_t waited);
/* No thread waits any more. */
void sp__turns_stop(struct sp__turns *t);
