/* SPDX-License-Identifier: MIT */
/*
 * Probes with several threads, by a ring of bundles: copies of whole records of the probe input,
 * and their results.
 *
 * States of a bundle:
 *
 *	FREE	the join's thread fills it
 *	READY	waits for a worker, or for the join's thread if it has nothing to fill
 *	TAKEN	a thread probes its records, with its own emit, keys and tallies
 *	FULL	has no memory for more results: waits for the join's thread to take them
 *	DONE	all its results wait for the join's thread
 *
 * Algorithm: the join's thread owns input, temporary space and output.  It takes results in the
 * order of the bundles, so a FULL bundle waits until it is the oldest.  The bundles before it make
 * progress, so no bundle waits for ever.
 *
 * Invariant: stage, table and filter are shared without a lock.  They do not change during probing,
 * except for the marks of the table's records (sp__rec_mark()).
 *
 * In the log of tasks a bundle is a task, since any thread can probe its records.
 *
 * Memory: a share of the writers' memory (spill.c), divided equally among the bundles: a quarter
 * for records, an eighth for the list of records to spill, the rest for results.
 *
 * Rejected: joining pairs of partitions concurrently, each with a table.  Each table has less
 * memory, a large pair occupies one thread to the end, and partitions in memory gain nothing.
 */
#include <pthread.h>
#include <stdlib.h>
#include "base/delay.h"
#include "base/minmax.h"
#include "base/task.h"
#include "join/hash/workers.h"
#include "run/memory.h"

/* Share of the writers' memory, and the minimum and maximum size of a bundle. */
#define SHARE 4
#define BUNDLE_MIN (64u << 10)
#define BUNDLE_MAX (512u << 10)
#define BUNDLES_MIN 3u
#define WORKERS_MAX 15u

/* Minimum bytes of probe records that justify starting threads. */
#define ENOUGH_BYTES (64u << 10)

enum state { FREE, READY, TAKEN, FULL, DONE };

struct sp__bundle {
	struct sp__workers *workers;
	enum state state; /* changes only under the lock */
	bool own;	  /* taken by the join's thread */
	struct sp__logged logged;
	uint64_t number;
	char *in;
	size_t in_bytes;
	struct sp__emit emit;
	struct sp__keymem keymem;
	struct sp__join_balance balance;
	uint64_t probed; /* bytes of records */
	struct sp_errinfo err;
	int error;
	struct sp__deferred *deferred;
	size_t ndeferred;
	/* FULL: */
	const char *data;
	size_t bytes;
	bool whole;
	uint64_t passing; /* number of its results in the log of tasks */
};

struct sp__workers {
	struct sp__hash *h;
	struct sp__stage *stage;
	struct sp__bundle *bundles;
	unsigned nbundles;
	size_t in_max, deferred_max;
	struct sp__task tasks[WORKERS_MAX];
	unsigned ntasks;
	uint64_t full, emptied; /* channels of the log of tasks, for FULL bundles */

	pthread_mutex_t lock; /* protects the following members, and the states */
	pthread_cond_t work, results, go_on;
	uint64_t filled, begun, taken; /* counts of bundles */
	uint64_t passed;	       /* count of results of FULL bundles */
	bool stopped, closing;
};

static struct sp__bundle *bundle(struct sp__workers *c, uint64_t number)
{
	return &c->bundles[number % c->nbundles];
}

/* Functions of any thread. */

static void change(struct sp__bundle *b, enum state to, pthread_cond_t *signal)
{
	sp__delay(SP__DELAY_BUFFER);
	b->state = to;
	pthread_cond_broadcast(signal);
}

static void process(struct sp__bundle *b)
{
	const struct sp__prober by = { .stage = b->workers->stage,
				       .emit = &b->emit,
				       .keymem = &b->keymem,
				       .balance = &b->balance,
				       .bytes = &b->probed,
				       .err = &b->err,
				       .bundle = b };
	const struct sp_batch batch = { b->in, b->in_bytes };
	struct sp__logging outer = sp__log_enter(&b->logged);

	b->error = sp__probe(&by, &batch);
	sp__log_leave(outer);
}

static void work(void *workers)
{
	struct sp__workers *c = workers;

	pthread_mutex_lock(&c->lock);
	while (!c->closing) {
		struct sp__bundle *b;

		if (c->begun == c->filled) {
			pthread_cond_wait(&c->work, &c->lock);
			continue;
		}
		b = bundle(c, c->begun++);
		b->state = TAKEN;
		pthread_mutex_unlock(&c->lock);
		sp__delay(SP__DELAY_BUFFER);
		process(b);
		pthread_mutex_lock(&c->lock);
		change(b, DONE, &c->results);
	}
	pthread_mutex_unlock(&c->lock);
}

/* Functions of the join's thread. */

/* Takes the results of a bundle that are ready: whole records, or bytes of one. */
static int take(struct sp__bundle *b, const char *data, size_t bytes, bool whole)
{
	struct sp__workers *c = b->workers;
	struct sp__emit *e = &c->h->out->emit;
	int rc = 0;

	for (size_t i = 0; i < b->ndeferred && !rc; i++)
		rc = sp__stage_spill_deferred(c->stage, &b->deferred[i]);
	b->ndeferred = 0;
	if (rc < 0)
		return rc;
	sp__emit_append(e, data, bytes, whole, b->emit.records);
	b->emit.records = 0;
	return e->error;
}

static void add_balance(struct sp__join_balance *to, struct sp__join_balance *from)
{
	sp__tally_join(&to->read, &from->read);
	sp__tally_join(&to->looked_up, &from->looked_up);
	sp__tally_join(&to->filtered, &from->filtered);
	*from = (struct sp__join_balance){ 0 };
}

static int take_rest(struct sp__bundle *b)
{
	struct sp__workers *c = b->workers;
	struct sp__emit *e = &b->emit;
	int rc = take(b, e->buf, (size_t)(e->at - e->buf), true);

	add_balance(&c->stage->balance[SP__PROBE], &b->balance);
	c->stage->bytes[SP__PROBE] += b->probed;
	b->probed = 0;
	e->at = e->whole = e->buf;
	if (b->error && c->h->env->err && !c->h->env->err->code)
		*c->h->env->err = b->err;
	return rc ? rc : b->error;
}

/*
 * Takes the results of the oldest bundle, which is FULL or DONE.  Holds the lock on call and
 * return.
 */
static int take_oldest(struct sp__workers *c)
{
	struct sp__bundle *b = bundle(c, c->taken);
	bool done = b->state == DONE;
	int rc;

	pthread_mutex_unlock(&c->lock);
	if (done)
		sp__log_join(&b->logged, false);
	else
		sp__log_need(c->full, b->passing);
	rc = done ? take_rest(b) : take(b, b->data, b->bytes, b->whole);
	pthread_mutex_lock(&c->lock);
	if (done) {
		b->state = FREE;
		c->taken++;
	} else if (!rc) {
		sp__log_give(c->emptied, b->passing);
		change(b, TAKEN, &c->go_on);
	}
	return rc;
}

static bool is_due(struct sp__workers *c)
{
	const struct sp__bundle *b = bundle(c, c->taken);

	return b->state == FULL || b->state == DONE;
}

/* Takes the results of all bundles before b; the join's thread is in the middle of b. */
static int take_earlier(struct sp__workers *c, const struct sp__bundle *b)
{
	int rc = 0;

	pthread_mutex_lock(&c->lock);
	while (!rc && c->taken < b->number) {
		if (is_due(c))
			rc = take_oldest(c);
		else
			pthread_cond_wait(&c->results, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

/* Sink of a bundle's emit: passes on results before the bundle's end. */
static int hand_over(void *of, const char *data, size_t bytes, bool whole)
{
	struct sp__bundle *b = of;
	struct sp__workers *c = b->workers;
	int rc;

	if (b->own) {
		rc = take_earlier(c, b);
		return rc ? rc : take(b, data, bytes, whole);
	}
	pthread_mutex_lock(&c->lock);
	b->data = data;
	b->bytes = bytes;
	b->whole = whole;
	b->passing = c->passed++;
	sp__log_give(c->full, b->passing);
	change(b, FULL, &c->results);
	while (b->state == FULL && !c->stopped)
		pthread_cond_wait(&c->go_on, &c->lock);
	rc = b->state == FULL ? -ECANCELED : 0;
	pthread_mutex_unlock(&c->lock);
	if (!rc)
		sp__log_need(c->emptied, b->passing);
	return rc;
}

int sp__bundle_defer(struct sp__bundle *b, const struct sp__deferred *record)
{
	if (b->ndeferred == b->workers->deferred_max) {
		int rc = sp__emit_flush(&b->emit);

		/* The flush does nothing if the buffer is empty. */
		if (!rc && b->ndeferred)
			rc = hand_over(b, NULL, 0, true);
		if (rc < 0)
			return rc;
	}
	b->deferred[b->ndeferred++] = *record;
	return 0;
}

/* Takes results, or probes a bundle, or waits.  Holds the lock on call and return. */
static int step(struct sp__workers *c)
{
	struct sp__bundle *b;

	if (is_due(c))
		return take_oldest(c);
	if (c->begun == c->filled) {
		pthread_cond_wait(&c->results, &c->lock);
		return 0;
	}
	b = bundle(c, c->begun++);
	b->state = TAKEN;
	b->own = true;
	pthread_mutex_unlock(&c->lock);
	process(b);
	pthread_mutex_lock(&c->lock);
	b->own = false;
	b->state = DONE;
	return 0;
}

/* Steps until at most max bundles are in use. */
static int steps(struct sp__workers *c, unsigned max)
{
	int rc = 0;

	pthread_mutex_lock(&c->lock);
	while (!rc && c->filled - c->taken > max)
		rc = step(c);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

/*
 * Returns the bytes of whole records at the beginning of a batch that fit; 0: the first does not.
 */
static size_t cut(const struct sp_recfmt *f, const char *at, size_t bytes, size_t max)
{
	const char *end = at + bytes, *to = at, *next;
	size_t n;

	if (bytes <= max)
		return bytes;
	if (f->kind == SP_REC_FIXED)
		return max - max % f->fixed_bytes;
	if (f->kind == SP_REC_LINE) {
		to = memrchr(at, f->eol, max);
		return to ? (size_t)(to + 1 - at) : 0;
	}
	while ((next = sp__record_next(f, to, end, &n)) <= at + max)
		to = next;
	return (size_t)(to - at);
}

static int put(struct sp__workers *c, const char *data, size_t bytes)
{
	int rc = steps(c, c->nbundles - 1);
	struct sp__bundle *b = bundle(c, c->filled);

	if (rc < 0)
		return rc;
	memcpy(b->in, data, bytes);
	b->in_bytes = bytes;
	b->number = c->filled;
	sp__log_start(&b->logged, SP__TASK_KIND(process), false);
	pthread_mutex_lock(&c->lock);
	c->filled++;
	change(b, READY, &c->work);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

int sp__workers_probe(struct sp__workers *c, const struct sp__prober *alone,
		      const struct sp_batch *batch)
{
	const struct sp_recfmt *f = &c->h->format[c->stage->side[SP__PROBE]];
	const char *at = batch->data, *end = at + batch->bytes;
	int rc = 0;

	while (at < end && !rc) {
		size_t n = cut(f, at, (size_t)(end - at), c->in_max);

		if (n) {
			rc = put(c, at, n);
		} else {
			struct sp_batch large = { at, 0 };

			n = large.bytes = (size_t)(sp__record_next(f, at, end, &n) - at);
			rc = steps(c, 0);
			rc = rc ? rc : sp__probe(alone, &large);
		}
		at += n;
	}
	return rc;
}

/* Drops the bundles that are READY, and makes the workers abandon the others. */
static void stop(struct sp__workers *c)
{
	pthread_mutex_lock(&c->lock);
	c->stopped = true;
	pthread_cond_broadcast(&c->go_on);
	c->filled = c->begun;
	while (c->taken < c->filled) {
		struct sp__bundle *b = bundle(c, c->taken);

		while (b->state != DONE && b->state != FREE)
			pthread_cond_wait(&c->results, &c->lock);
		c->taken++;
	}
	pthread_mutex_unlock(&c->lock);
}

int sp__workers_end(struct sp__workers *c, int rc)
{
	if (!c || !c->stage)
		return rc;
	rc = rc < 0 ? rc : steps(c, 0);
	if (rc < 0)
		stop(c);
	c->stage = NULL;
	return rc;
}

/* Beginning and end. */

static unsigned workers_wanted(const struct sp__hash *h)
{
	return (unsigned)sp__min(sp__threads(h->opts->run.parallel) - 1, WORKERS_MAX);
}

/*
 * 0, so that one thread probes, for a simulated machine, whose time would depend on the threads;
 * for a limit or a timeline, which count single records; and for a plan, which needs early rows
 * early.
 */
uint64_t sp__workers_bytes(const struct sp__hash *h)
{
	const struct sp__join_layout *l = &h->layout;
	uint64_t bytes = l->write_bytes / SHARE, rest = l->write_bytes - bytes;

	if (h->env->device || h->opts->limited || h->in->io->row || !h->in->source[0].scan)
		return 0;
	return workers_wanted(h) && bytes / BUNDLE_MIN >= BUNDLES_MIN &&
			       rest >= sp__max(l->read_bytes, l->page_bytes * l->partitions_max)
		       ? bytes
		       : 0;
}

/* Assigns memory for deferred records, input and results, each at a multiple of 64. */
static void lay_out(struct sp__workers *c, char *mem, uint64_t each)
{
	size_t list = (size_t)(each / 8) & ~(size_t)63, in = (size_t)(each / 4) & ~(size_t)63;

	c->in_max = in;
	c->deferred_max = list / sizeof(struct sp__deferred);
	for (unsigned i = 0; i < c->nbundles; i++, mem += each) {
		struct sp__bundle *b = &c->bundles[i];

		b->workers = c;
		b->err = (struct sp_errinfo)SP_ERRINFO_INIT;
		b->deferred = (struct sp__deferred *)(void *)mem;
		b->in = mem + list;
		sp__emit_share(&b->emit, &c->h->out->emit, b->in + in, each - list - in);
		b->emit.err = &b->err;
		b->emit.sink = hand_over;
		b->emit.sink_arg = b;
	}
}

static struct sp__workers *workers_new(struct sp__hash *h)
{
	unsigned workers = workers_wanted(h), n;
	uint64_t each;
	struct sp__workers *c;

	n = (unsigned)sp__min(2 * workers + BUNDLES_MIN, h->workers_bytes / BUNDLE_MIN);
	each = sp__min(h->workers_bytes / n, BUNDLE_MAX) & ~UINT64_C(63);
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->bundles = calloc(n, sizeof(*c->bundles));
	if (!c->bundles) {
		free(c);
		return NULL;
	}
	c->h = h;
	c->nbundles = n;
	c->full = sp__tasklog_channels();
	c->emptied = c->full + 1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->work, NULL);
	pthread_cond_init(&c->results, NULL);
	pthread_cond_init(&c->go_on, NULL);
	lay_out(c, h->write_mem + h->layout.write_bytes - h->workers_bytes, each);
	while (c->ntasks < workers && sp__task_start_thread(&c->tasks[c->ntasks], work, c))
		c->ntasks++;
	return c;
}

bool sp__workers_begin(struct sp__stage *s, size_t bytes)
{
	struct sp__hash *h = s->h;

	/*
	 * Workers cannot probe if records are known by numbers, or are put into a sort one by one.
	 */
	if (!h->workers_bytes || s->had || h->out->emit.each)
		return false;
	if (!h->workers && s->bytes[SP__PROBE] + bytes >= ENOUGH_BYTES)
		h->workers = workers_new(h);
	/* All threads read the stage from now on. */
	if (h->workers && !h->workers->stage)
		h->workers->stage = s;
	return h->workers;
}

void sp__workers_close(struct sp__workers *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->closing = true;
	pthread_cond_broadcast(&c->work);
	pthread_mutex_unlock(&c->lock);
	for (unsigned i = 0; i < c->ntasks; i++)
		sp__task_join(&c->tasks[i]);
	for (unsigned i = 0; i < c->nbundles; i++) {
		c->bundles[i].emit.buf = NULL;
		sp__emit_release(&c->bundles[i].emit);
		sp__keymem_release(&c->bundles[i].keymem);
	}
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->work);
	pthread_cond_destroy(&c->results);
	pthread_cond_destroy(&c->go_on);
	free(c->bundles);
	free(c);
}
