/* SPDX-License-Identifier: MIT */
/*
 * The states of a file that a power failure can leave: of the writes since the last sync any blocks
 * of 512 bytes, in any order, are on the device, and all writes before it.  A program that is
 * killed leaves all writes up to a point.
 *
 * The writes are recorded by tablewraps.h.
 */
#ifndef CRASHSTATES_H
#define CRASHSTATES_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/rng.h"
#include "tablewraps.h"

#define CRASH_BLOCK 512

struct crash {
	uint8_t *base, *state;
	size_t base_bytes, capacity, bytes;
};

/* Begins to record the writes to the only file that is written; path: its contents now. */
static inline void crash_begin(struct crash *c, const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		abort();
	c->base_bytes = (size_t)st.st_size;
	c->capacity = c->base_bytes + (16 << 20);
	c->base = malloc(c->base_bytes);
	c->state = malloc(c->capacity);
	if (!c->base || !c->state || pread(fd, c->base, c->base_bytes, 0) != (ssize_t)c->base_bytes)
		abort();
	close(fd);
	nevents = 0;
	recording = true;
}

static inline void crash_end(struct crash *c)
{
	recording = false;
	for (unsigned i = 0; i < nevents; i++)
		free(events[i].data);
	free(c->base);
	free(c->state);
}

static inline void crash_lengthen(struct crash *c, size_t bytes)
{
	if (bytes > c->capacity)
		abort();
	if (bytes > c->bytes)
		memset(c->state + c->bytes, 0, bytes - c->bytes);
	c->bytes = bytes;
}

/* Applies an event; rng: some of its blocks, NULL: all. */
static inline void crash_apply(struct crash *c, const struct event *e, struct sp__rng *rng)
{
	size_t end = (size_t)e->at + e->bytes;

	if (e->kind == EVENT_LENGTH && (!rng || sp__rng_next(rng) % 2))
		crash_lengthen(c, (size_t)e->at);
	if (e->kind != EVENT_WRITE)
		return;
	for (size_t at = (size_t)e->at; at < end;) {
		size_t part = CRASH_BLOCK - at % CRASH_BLOCK;

		part = part < end - at ? part : end - at;
		if (!rng || sp__rng_next(rng) % 2) {
			if (at + part > c->bytes)
				crash_lengthen(c, at + part);
			memcpy(c->state + at, e->data + (at - (size_t)e->at), part);
		}
		at += part;
	}
}

/* Writes a state to path, after so many events; rng: of a power failure, NULL: of a kill. */
static inline void crash_make(struct crash *c, const char *path, unsigned point,
			      struct sp__rng *rng)
{
	unsigned synced = 0;
	int fd = open(path, O_WRONLY | O_TRUNC);

	for (unsigned i = 0; i < point; i++)
		if (events[i].kind == EVENT_SYNC)
			synced = i;
	c->bytes = c->base_bytes;
	memcpy(c->state, c->base, c->base_bytes);
	for (unsigned i = 0; i < point; i++)
		crash_apply(c, &events[i], i < synced ? NULL : rng);
	if (fd < 0 || pwrite(fd, c->state, c->bytes, 0) != (ssize_t)c->bytes)
		abort();
	close(fd);
}

#endif
