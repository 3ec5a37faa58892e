/* SPDX-License-Identifier: MIT */
/*
 * Blocks that a thread reads from a scan: whole records in order, long ones too, its errors, and
 * takers that stop early.
 */
#define TAP_THREADS
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "base/task.h"
#include "flow/blocks.h"
#include "tap.h"

#define BLOCKS 4
#define BYTES 4096
#define TAKERS 3
#define MAX_BLOCKS 4096

static const struct sp_recfmt lines = { .kind = SP_REC_LINE, .eol = '\n' };
static char text[1 << 20], mem[BLOCKS * BYTES], got[MAX_BLOCKS][1 << 14];
static size_t sizes[MAX_BLOCKS];

/* An operator that gives the text in batches of some records, then its end or an error. */
struct source {
	size_t at, bytes;
	uint64_t state;
	int end;
};

static int next(void *operator, struct sp_batch * batch)
{
	struct source *s = operator;
	struct sp__rng rng = { s->state += 77 };
	size_t n = sp__rng_below(&rng, 9000) + 1;
	const char *end;

	if (s->at == s->bytes)
		return s->end;
	n = s->bytes - s->at < n ? s->bytes - s->at : n;
	end = memchr(text + s->at + n - 1, '\n', s->bytes - s->at - n + 1);
	*batch = (struct sp_batch){ text + s->at, (size_t)(end + 1 - text) - s->at };
	s->at += batch->bytes;
	return SP_READY;
}

static void make_text(struct source *s)
{
	struct sp__rng rng = { 5 };
	size_t at = 0;

	while (at < sizeof(text) - 16000) {
		size_t n = sp__rng_below(&rng, 50) ? sp__rng_below(&rng, 300)
						   : sp__rng_below(&rng, 12000);

		memset(text + at, 'a' + (int)(n % 26), n);
		text[at + n] = '\n';
		at += n + 1;
	}
	s->bytes = at;
}

struct taker {
	struct sp__blocks *blocks;
	struct sp__task task;
	unsigned most;
	int rc;
};

static void take(void *arg)
{
	struct taker *t = arg;
	struct sp__block *b;

	for (unsigned n = 0; (t->rc = sp__blocks_take(t->blocks, &b)) == SP_READY; n++) {
		if (b->number >= MAX_BLOCKS || b->batch.bytes > sizeof(got[0]))
			abort();
		memcpy(got[b->number], b->batch.data, b->batch.bytes);
		sizes[b->number] = b->batch.bytes;
		sp__blocks_give_back(t->blocks, b);
		if (n == t->most)
			sp__blocks_stop(t->blocks);
	}
}

/* Runs all takers; returns the status of the first. */
static int run(struct source *s, unsigned most)
{
	struct taker t[TAKERS];
	struct sp__waits waits = { 0 };
	struct sp__blocks *b;

	memset(sizes, 0, sizeof(sizes));
	if (sp__blocks_open(&b, &lines, &(struct sp__iter){ s, next }, &waits, mem, BLOCKS, BYTES))
		return -ENOMEM;
	for (unsigned i = 0; i < TAKERS; i++) {
		t[i] = (struct taker){ .blocks = b, .most = most };
		sp__task_start(&t[i].task, take, &t[i]);
	}
	for (unsigned i = 0; i < TAKERS; i++)
		sp__task_join(&t[i].task);
	sp__blocks_close(b);
	return t[0].rc;
}

static bool is_text(size_t bytes)
{
	size_t at = 0;

	for (unsigned i = 0; i < MAX_BLOCKS && sizes[i]; i++) {
		if (at + sizes[i] > bytes || memcmp(got[i], text + at, sizes[i]) ||
		    text[at + sizes[i] - 1] != '\n')
			return false;
		at += sizes[i];
	}
	return at == bytes;
}

int main(void)
{
	struct source s = { .end = SP_END };

	sp__tasks_open(TAKERS);
	make_text(&s);
	ok(run(&s, UINT32_MAX) == SP_END && is_text(s.bytes), "all records, in order");
	s = (struct source){ .bytes = 0, .end = SP_END };
	ok(run(&s, UINT32_MAX) == SP_END && !sizes[0], "no records give no block");
	make_text(&s);
	s.at = 0;
	s.end = -EIO;
	ok(run(&s, UINT32_MAX) == -EIO, "the error of the scan ends the blocks");
	s.at = 0;
	ok(run(&s, 3) == -ECANCELED, "a taker that stops ends the others and the reader");
	sp__tasks_close();
	return done();
}
