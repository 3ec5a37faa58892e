/* SPDX-License-Identifier: MIT */
/*
 * Hands blocks of records from one reading thread to several others.
 *
 * States of a block: EMPTY, the reader fills it; FULL, until a thread takes it; TAKEN, until it is
 * given back.  Blocks are filled and taken in the order of the ring, but are given back in any
 * order; the reader waits for the one that it fills next.
 *
 * Memory: records longer than a block are copied while their copies together are not longer than
 * all blocks.  Otherwise the block is the record where the scan has it, and the reader does not
 * move the scan before the block has been given back.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/delay.h"
#include "base/task.h"
#include "flow/blocks.h"

struct sp__blocks {
	struct sp_recfmt format;
	struct sp__iter scan;
	struct sp__waits *waits;
	char *mem;
	size_t bytes;
	unsigned n;
	struct sp__block *list;
	struct sp_batch left; /* unread part of the scan's batch */
	struct sp__task task;
	pthread_mutex_t lock; /* protects the states of blocks, and: */
	pthread_cond_t changed;
	uint64_t filled, taken; /* blocks so far */
	uint64_t taken_bytes;
	size_t own_bytes, pinned_bytes; /* bytes of long records: copied, and pinned in the scan */
	bool ended, stopped;
	int error;
};

static struct sp__block *block_at(const struct sp__blocks *b, uint64_t number)
{
	return &b->list[number % b->n];
}

/* Waits until the next block can be filled.  NULL: nobody wants it. */
static struct sp__block *next_empty(struct sp__blocks *b)
{
	struct sp__block *block = block_at(b, b->filled);
	bool wanted;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&b->lock);
	while ((block->full || block->taken) && !b->stopped)
		pthread_cond_wait(&b->changed, &b->lock);
	wanted = !b->stopped;
	pthread_mutex_unlock(&b->lock);
	return wanted ? block : NULL;
}

static void pass(struct sp__blocks *b, size_t bytes)
{
	b->left.data += bytes;
	b->left.bytes -= bytes;
}

/* Makes a block of the first record that is left, which is longer than a block. */
static int take_long(struct sp__blocks *b, struct sp__block *block)
{
	size_t bytes =
		(size_t)(sp__rec_end(&b->format, b->left.data, b->left.bytes) - b->left.data);

	pthread_mutex_lock(&b->lock);
	block->pinned = b->own_bytes + bytes > b->n * b->bytes;
	*(block->pinned ? &b->pinned_bytes : &b->own_bytes) += bytes;
	pthread_mutex_unlock(&b->lock);
	block->batch = (struct sp_batch){ b->left.data, bytes };
	pass(b, bytes);
	if (block->pinned)
		return SP_READY;
	block->own = malloc(bytes);
	if (!block->own)
		return -ENOMEM;
	block->batch.data = memcpy(block->own, block->batch.data, bytes);
	return SP_READY;
}

/* Moves the scan when none of its records is pinned.  Returns as the scan does, or -ECANCELED. */
static int read_on(struct sp__blocks *b)
{
	bool wanted;

	pthread_mutex_lock(&b->lock);
	while (b->pinned_bytes && !b->stopped)
		pthread_cond_wait(&b->changed, &b->lock);
	wanted = !b->pinned_bytes;
	pthread_mutex_unlock(&b->lock);
	return wanted ? sp__iter_next(&b->scan, b->waits, &b->left) : -ECANCELED;
}

/* Fills a block.  Returns SP_READY, SP_END if nothing was left, or an error. */
static int fill(struct sp__blocks *b, struct sp__block *block)
{
	char *to = b->mem + (size_t)(block - b->list) * b->bytes;
	size_t used = 0, n;
	int rc = SP_READY;

	while (!b->left.bytes || used < b->bytes) {
		if (!b->left.bytes)
			rc = read_on(b);
		if (rc != SP_READY)
			break;
		n = sp__rec_fitting(&b->format, b->left.data, b->left.bytes, b->bytes - used);
		if (!n)
			break;
		memcpy(to + used, b->left.data, n);
		used += n;
		pass(b, n);
	}
	block->batch = (struct sp_batch){ to, used };
	if (rc == SP_READY && !used)
		return take_long(b, block);
	return rc == SP_END && used ? SP_READY : rc;
}

/* Body of the reader's task. */
static void read_all(void *arg)
{
	struct sp__blocks *b = arg;
	struct sp__block *block;
	int rc = SP_READY;

	while (rc == SP_READY && (block = next_empty(b))) {
		rc = fill(b, block);
		pthread_mutex_lock(&b->lock);
		if (rc == SP_READY) {
			block->number = b->filled++;
			block->full = true;
		}
		pthread_cond_broadcast(&b->changed);
		pthread_mutex_unlock(&b->lock);
	}
	pthread_mutex_lock(&b->lock);
	b->ended = true;
	b->error = rc < 0 ? rc : 0;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

int sp__blocks_open(struct sp__blocks **blocks, const struct sp_recfmt *format,
		    const struct sp__iter *scan, struct sp__waits *waits, char *mem, unsigned n,
		    size_t bytes)
{
	struct sp__blocks *b = calloc(1, sizeof(*b));

	if (b)
		*b = (struct sp__blocks){ .format = *format,
					  .scan = *scan,
					  .waits = waits,
					  .mem = mem,
					  .bytes = bytes,
					  .n = n,
					  .list = calloc(n, sizeof(*b->list)) };
	if (!b || !b->list) {
		free(b);
		return -ENOMEM;
	}
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	if (!sp__task_start_thread(&b->task, read_all, b)) {
		sp__blocks_close(b);
		return SP_EUNSUP;
	}
	*blocks = b;
	return 0;
}

int sp__blocks_take(struct sp__blocks *b, struct sp__block **block)
{
	int rc = SP_READY;

	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&b->lock);
	while (b->taken == b->filled && !b->ended && !b->stopped)
		pthread_cond_wait(&b->changed, &b->lock);
	if (b->stopped)
		rc = -ECANCELED;
	else if (b->taken == b->filled)
		rc = b->error ? b->error : SP_END;
	if (rc == SP_READY) {
		*block = block_at(b, b->taken++);
		(*block)->full = false;
		(*block)->taken = true;
		b->taken_bytes += (*block)->batch.bytes;
	}
	pthread_mutex_unlock(&b->lock);
	return rc;
}

void sp__blocks_give_back(struct sp__blocks *b, struct sp__block *block)
{
	pthread_mutex_lock(&b->lock);
	if (block->pinned)
		b->pinned_bytes -= block->batch.bytes;
	else if (block->own)
		b->own_bytes -= block->batch.bytes;
	free(block->own);
	block->own = NULL;
	block->pinned = block->taken = false;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

uint64_t sp__blocks_bytes(struct sp__blocks *b)
{
	uint64_t bytes;

	pthread_mutex_lock(&b->lock);
	bytes = b->taken_bytes;
	pthread_mutex_unlock(&b->lock);
	return bytes;
}

void sp__blocks_stop(struct sp__blocks *b)
{
	pthread_mutex_lock(&b->lock);
	b->stopped = true;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

void sp__blocks_close(struct sp__blocks *b)
{
	if (!b)
		return;
	sp__task_join(&b->task);
	for (unsigned i = 0; i < b->n; i++)
		free(b->list[i].own);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	free(b->list);
	free(b);
}
