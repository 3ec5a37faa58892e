/* SPDX-License-Identifier: MIT */
/*
 * Hands blocks of records from one reading thread to several others.
 *
 * States of a block: EMPTY, the reader fills it; FULL, until a thread takes it; TAKEN, until it is
 * given back.  Blocks are filled and taken in the order of the ring, but are given back in any
 * order; the reader waits for the one that it fills next.
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
	struct sp_batch left; /* of the scan's batch */
	struct sp__task task;
	pthread_mutex_t lock; /* protects the states of blocks, and: */
	pthread_cond_t changed;
	uint64_t filled, taken; /* blocks so far */
	uint64_t taken_bytes;
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

/* Copies the first record that is left, which is longer than a block. */
static int copy_long(struct sp__blocks *b, struct sp__block *block)
{
	size_t bytes =
		(size_t)(sp__rec_end(&b->format, b->left.data, b->left.bytes) - b->left.data);

	block->own = malloc(bytes);
	if (!block->own)
		return -ENOMEM;
	memcpy(block->own, b->left.data, bytes);
	block->batch = (struct sp_batch){ block->own, bytes };
	pass(b, bytes);
	return SP_READY;
}

/* Fills a block.  Returns SP_READY, SP_END if nothing was left, or an error. */
static int fill(struct sp__blocks *b, struct sp__block *block)
{
	char *to = b->mem + (size_t)(block - b->list) * b->bytes;
	size_t used = 0, n;
	int rc = SP_READY;

	while (!b->left.bytes || used < b->bytes) {
		if (!b->left.bytes)
			rc = sp__iter_next(&b->scan, b->waits, &b->left);
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
		return copy_long(b, block);
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
	free(block->own);
	block->own = NULL;
	pthread_mutex_lock(&b->lock);
	block->taken = false;
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
