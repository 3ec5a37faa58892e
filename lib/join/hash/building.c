/* SPDX-License-Identifier: MIT */
/*
 * Builds the table of a hash join with several threads.
 *
 * Algorithm: first, each thread takes parts of the file (flow/parts.h), and puts their records into
 * pages of its own: a list for each partition, if there are several, and each band of the slots.
 * Then each thread takes bands, and puts their records into slots, in the order of one thread: by
 * partition, and in a partition by part.  If a table with one band is expected, a list holds the
 * records of all bands.
 *
 * If memory for the pages ends, a record is larger than a page, the table gets fewer bands than
 * expected, one of them too many keys, or a search is too long, everything is dropped, and one
 * thread reads the file again, which can spill partitions and sort slots.
 *
 * Memory: the table's; half a page per list of each thread is not used.
 */
#include <pthread.h>
#include <stdlib.h>
#include "base/delay.h"
#include "base/minmax.h"
#include "base/task.h"
#include "base/tasklog.h"
#include "flow/parts.h"
#include "join/hash/stage.h"
#include "join/hash/workers.h"

#define PART_BYTES (1u << 20)
#define BUILDERS_MAX 256u

struct builder {
	struct building *all;
	struct sp__table view;
	struct sp__reclist *lists; /* by band and partition */
	struct sp__keymem keymem;
	struct sp__part part;
	struct sp__tally read, made;
	uint64_t bytes;
	struct sp__recwalk *walks; /* walks of a band and partition, by builder */
	uint64_t *walked;	   /* records, by builder */
	struct sp_errinfo err;
	struct sp__log_parts logged;
};

/* The records that a builder's lists have at the end of a part. */
struct filled {
	struct builder *by;
	uint32_t *records; /* by band and partition */
};

struct building {
	struct sp__stage *s;
	struct builder *builders;
	unsigned n;
	uint64_t nbands; /* bands of the lists */
	size_t nlists;
	struct sp__parts *parts;

	pthread_mutex_t lock;	  /* protects the following members, and the table's pages */
	struct filled *filled;	  /* by part */
	size_t nfilled, capacity; /* parts taken */
	uint64_t failed;	  /* the lowest part with an error */
	int error;		  /* its error; SP_EUNSUP: one thread must read the file */
	struct sp_errinfo err;
	uint64_t band; /* the next one */
};

/* First: reading. */

static void fail(struct builder *b, int rc, const struct sp_errinfo *err)
{
	struct building *g = b->all;

	sp__parts_stop(g->parts);
	pthread_mutex_lock(&g->lock);
	if (!g->error || b->part.number < g->failed) {
		g->failed = b->part.number;
		g->error = rc;
		g->err = *err;
	}
	pthread_mutex_unlock(&g->lock);
}

/* Adds a record: 0; SP_EUNSUP: it does not fit; or an error. */
static int add(struct builder *b, struct sp__reclist *l, const char *line, size_t bytes,
	       const struct sp__slice *key)
{
	struct building *g = b->all;
	bool apart = !g->s->h->keying.plain, page;
	int rc;

	if (sp__rec_size(bytes, apart ? key->n : 0) > b->view.page_bytes)
		return SP_EUNSUP;
	rc = sp__table_add(&b->view, l, line, bytes, key, apart);
	if (rc <= 0)
		return rc;
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&g->lock);
	page = sp__table_refill(&g->s->h->table, &b->view);
	pthread_mutex_unlock(&g->lock);
	return page ? sp__table_add(&b->view, l, line, bytes, key, apart) : SP_EUNSUP;
}

static int take(struct builder *b, const char *line, size_t bytes)
{
	struct sp__stage *s = b->all->s;
	struct sp__hash *h = s->h;
	struct sp__slice key;
	uint64_t key_hash;
	size_t list;

	if (sp__key_find(&h->keying, s->side[SP__BUILD], line, bytes, &b->keymem, &key) < 0)
		return sp__err(&b->err, -ENOMEM, "allocate", NULL, -1);
	key_hash = sp__key_hash(key.p, key.n, h->key_seed);
	sp__tally_count(&b->read, key_hash);
	list = sp__table_band(key_hash, b->all->nbands) * s->npartitions;
	if (!s->whole)
		list += s->partition_of[sp__stage_hash(s, &key, key_hash) % SP__BUCKETS];
	return add(b, &b->lists[list], line, bytes, &key);
}

static int take_batch(struct builder *b, const struct sp_batch *batch)
{
	const struct sp__stage *s = b->all->s;
	const struct sp_recfmt *format = &s->h->format[s->side[SP__BUILD]];
	const char *at = batch->data, *end = at + batch->bytes, *stop;
	int rc = 0;

	for (; at < end && !rc; at = stop) {
		size_t bytes;

		stop = sp__record_next(format, at, end, &bytes);
		rc = take(b, at, bytes);
	}
	b->bytes += batch->bytes;
	return rc;
}

/* Notes what the lists have at the end of the builder's part. */
static int note(struct builder *b)
{
	struct building *g = b->all;
	uint32_t *records = malloc(g->nlists * sizeof(*records));
	uint64_t number = b->part.number;
	bool grown;

	if (!records)
		return sp__err(&b->err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < g->nlists; i++)
		records[i] = (uint32_t)b->lists[i].records;
	pthread_mutex_lock(&g->lock);
	grown = SP__ARRAY_GROW(g->filled, g->capacity, number + 1);
	if (grown) {
		for (; g->nfilled <= number; g->nfilled++)
			g->filled[g->nfilled] = (struct filled){ 0 };
		g->filled[number] = (struct filled){ b, records };
	}
	pthread_mutex_unlock(&g->lock);
	if (!grown)
		free(records);
	return grown ? 0 : sp__err(&b->err, -ENOMEM, "allocate", NULL, -1);
}

/* Reads the next part.  False: there is none, or an error. */
static bool read_part(struct builder *b)
{
	struct building *g = b->all;
	const struct sp__hash *h = g->s->h;
	struct sp_batch batch;
	int rc = sp__parts_next(g->parts, &b->part), taken = 0;

	if (rc == SP_END)
		return false;
	while (rc == SP_READY && !taken && (rc = sp__part_read(&b->part, &batch)) == SP_READY)
		taken = take_batch(b, &batch);
	if (!taken && rc == SP_END)
		taken = note(b);
	if (taken < 0)
		fail(b, taken, &b->err);
	else if (rc < 0)
		fail(b, rc, &b->part.err);
	if (b == g->builders)
		sp__progress_report(&h->counts->progress, SP_JOIN_PHASE_BUILD,
				    sp__parts_bytes(g->parts),
				    h->opts->input_bytes[g->s->side[SP__BUILD]]);
	return !taken && rc >= 0;
}

static void read_parts(void *builder)
{
	struct builder *b = builder;
	bool more;

	do {
		struct sp__logging outer = sp__log_part(&b->logged, SP__TASK_KIND(read_part));

		more = read_part(b);
		sp__log_leave(outer);
	} while (more);
	sp__part_close(b->all->parts, &b->part);
}

/* Second: slots. */

/* Inserts the records of one band and partition.  False: as of sp__table_insert(). */
static bool insert(struct builder *b, size_t list)
{
	struct building *g = b->all;
	const struct sp__stage *s = g->s;

	memset(b->walks, 0, g->n * sizeof(*b->walks));
	memset(b->walked, 0, g->n * sizeof(*b->walked));
	for (size_t i = 0; i < g->nfilled; i++) {
		const struct filled *f = &g->filled[i];
		size_t by = (size_t)(f->by - g->builders);

		if (!sp__table_insert(&s->h->table, &f->by->lists[list], &b->walks[by],
				      f->records[list] - b->walked[by], s->h->key_seed, &b->made))
			return false;
		b->walked[by] = f->records[list];
	}
	return true;
}

static void insert_bands(void *builder)
{
	struct builder *b = builder;
	struct building *g = b->all;
	const size_t npartitions = g->s->npartitions;

	for (;;) {
		struct sp__logging outer;
		uint64_t band;
		bool all = true;

		pthread_mutex_lock(&g->lock);
		band = g->band++;
		pthread_mutex_unlock(&g->lock);
		if (band >= g->nbands)
			return;
		outer = sp__log_part(&b->logged, SP__TASK_KIND(insert));
		for (size_t p = 0; p < npartitions && all; p++)
			all = insert(b, band * npartitions + p);
		sp__log_leave(outer);
		if (!all)
			fail(b, SP_EUNSUP, &b->err);
	}
}

/* The thread of the join. */

static void run(struct building *g, void (*fn)(void *builder))
{
	sp__tasks_run(g->n, fn, g->builders, sizeof(*g->builders));
	for (unsigned i = 0; i < g->n; i++)
		sp__log_parts_join(&g->builders[i].logged);
}

static int open_builder(struct building *g, struct builder *b)
{
	b->all = g;
	b->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	sp__table_view(&b->view, &g->s->h->table);
	b->lists = malloc(g->nlists * sizeof(*b->lists));
	b->walks = malloc(g->n * sizeof(*b->walks));
	b->walked = malloc(g->n * sizeof(*b->walked));
	if (!b->lists || !b->walks || !b->walked)
		return sp__join_no_memory(g->s->h->env);
	for (size_t i = 0; i < g->nlists; i++)
		sp__reclist_init(&b->lists[i]);
	return 0;
}

static int open_building(struct building *g)
{
	int rc = 0;

	g->builders = calloc(g->n, sizeof(*g->builders));
	if (!g->builders)
		return sp__join_no_memory(g->s->h->env);
	for (unsigned i = 0; i < g->n && !rc; i++)
		rc = open_builder(g, &g->builders[i]);
	return rc;
}

static void close_building(struct building *g)
{
	for (unsigned i = 0; g->builders && i < g->n; i++) {
		free(g->builders[i].lists);
		free(g->builders[i].walks);
		free(g->builders[i].walked);
		sp__keymem_release(&g->builders[i].keymem);
	}
	for (size_t i = 0; i < g->nfilled; i++)
		free(g->filled[i].records);
	free(g->filled);
	free(g->builders);
	pthread_mutex_destroy(&g->lock);
}

/* Adds what the builders have counted to the stage. */
static void add_counts(struct building *g)
{
	struct sp__stage *s = g->s;

	for (unsigned i = 0; i < g->n; i++) {
		struct builder *b = &g->builders[i];

		sp__table_join(&s->h->table, &b->view);
		sp__tally_join(&s->balance[SP__BUILD].read, &b->read);
		s->bytes[SP__BUILD] += b->bytes;
	}
}

/* Undoes what has been done.  Returns the error. */
static int drop(struct building *g)
{
	struct sp__stage *s = g->s;

	sp__table_empty(&s->h->table);
	s->bytes[SP__BUILD] = 0;
	s->balance[SP__BUILD].read = (struct sp__tally){ 0 };
	if (g->error != SP_EUNSUP && s->h->env->err)
		*s->h->env->err = g->err;
	return g->error;
}

static int build(struct building *g)
{
	struct sp__table *t = &g->s->h->table;
	int rc = open_building(g);

	if (rc < 0)
		return rc;
	run(g, read_parts);
	if (g->error)
		return drop(g);
	add_counts(g);
	/*
	 * The slots for the records that were counted last.  Lists of several bands do not have the
	 * order of the records of one.
	 */
	if (sp__table_over(t) || sp__table_bands(t->records) < g->nbands)
		g->error = SP_EUNSUP;
	else if (sp__table_begin(t) < 0)
		return sp__join_no_memory(g->s->h->env);
	else
		run(g, insert_bands);
	if (!g->error && sp__table_crowded(t))
		g->error = SP_EUNSUP;
	if (g->error)
		return drop(g);
	for (unsigned i = 0; i < g->n; i++)
		sp__tally_join(&t->made, &g->builders[i].made);
	sp__tally_join(&g->s->balance[SP__BUILD].kept, &t->made);
	return 0;
}

/* The number of builders for which there is surely memory; each has this many lists. */
static unsigned builders(const struct sp__stage *s, size_t nlists)
{
	const struct sp__hash *h = s->h;
	int side = s->side[SP__BUILD];
	uint64_t need = sp__join_need_of(h->opts, side), limit = h->table.limit_bytes;
	uint64_t each = (uint64_t)nlists * h->layout.page_bytes;
	uint64_t spare = need && need + need / 8 < limit ? limit - need - need / 8 : 0;
	uint64_t n = sp__min(sp__threads(h->opts->run.parallel), BUILDERS_MAX);

	return (unsigned)sp__min(sp__min(n, spare / each),
				 h->opts->input_bytes[side] / (2 * PART_BYTES));
}

static int build_parts(struct sp__stage *s)
{
	struct building g = { .s = s, .lock = PTHREAD_MUTEX_INITIALIZER };
	int rc;

	/* Half: that there are fewer records than expected is worse than more. */
	g.nbands = sp__table_bands(sp__join_records(s->h->opts, s->side[SP__BUILD]) / 2);
	g.nlists = g.nbands * s->npartitions;
	g.n = builders(s, g.nlists);
	rc = g.n < 2 ? SP_EUNSUP : sp__workers_parts(s, SP__BUILD, PART_BYTES, &g.parts);
	if (rc < 0)
		return rc;
	rc = build(&g);
	close_building(&g);
	return sp__workers_end_parts(s, SP__BUILD, g.parts, rc);
}

int sp__stage_build_parts(struct sp__stage *s)
{
	int side = s->side[SP__BUILD], rc;
	bool omitted;

	if (s->depth || !sp__workers_wanted(s) || s->h->sorting)
		return SP_EUNSUP;
	omitted = sp__numbers_omit(s->h, side);
	rc = build_parts(s);
	if (rc == SP_EUNSUP && omitted)
		sp__numbers_restore(s->h, side);
	return rc;
}
