/* SPDX-License-Identifier: MIT */
/*
 * Checks an index against its source; reads both in the order of their files.
 *
 * The entries of the leaves, and the keys and locations of the records, are two sets.  They are
 * equal if their sizes and the sums of the checksums of their members are equal.
 *
 * Pages are read in the order in which the tree was written (tree.c).  An inner node is written
 * when it has one child too many, or at the end.  So its children are the nodes of the level below
 * that have no parent yet, except the last one.  The check keeps a list of such nodes for each
 * level.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/array.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "base/task.h"
#include "index/nodecache.h"
#include "index/indexfile.h"
#include "index/keyscan.h"
#include "index/tree.h"
#include "index/lookup.h"
#include "index/node.h"
#include "index/leafscan.h"
#include "rec/key.h"
#include "run/memory.h"

#define SP__LEAFCHECK_BYTES ((size_t)256 << 10)

/* A page that was checked. */
struct sp__leafcheck_page {
	struct sp__node node;
	uint64_t separator; /* checksum of the separator before a leaf */
};

struct sp__leafcheck {
	/* Set by the caller: */
	uint32_t page_bytes;
	uint64_t number; /* number of the first page */
	size_t n;
	uint8_t *pages;
	/* Results: */
	struct sp__leafcheck_page *list; /* SP__LEAFCHECK_BYTES / page_bytes of them */
	size_t good;			 /* pages before the first bad one */
	const char *reason;		 /* why that one is bad; NULL: there is no memory */
	size_t first_leaf;		 /* n: there is none */
	struct sp__bytes first, last;	 /* keys */
	uint64_t first_offset, last_offset;
	uint64_t entries, keys, sum;
	/* Private: */
	struct sp__bytes key;
	struct sp__task task;
	bool busy;
};

static int leafcheck_init(struct sp__leafcheck *b, uint32_t page_bytes)
{
	*b = (struct sp__leafcheck){ .page_bytes = page_bytes,
				     .pages = malloc(SP__LEAFCHECK_BYTES),
				     .list = calloc(SP__LEAFCHECK_BYTES / page_bytes,
						    sizeof(*b->list)) };
	return b->pages && b->list ? 0 : -ENOMEM;
}

static void leafcheck_free(struct sp__leafcheck *b)
{
	sp__task_join(&b->task);
	sp__bytes_release(&b->first, NULL);
	sp__bytes_release(&b->last, NULL);
	sp__bytes_release(&b->key, NULL);
	free(b->pages);
	free(b->list);
	*b = (struct sp__leafcheck){ 0 };
}

/* Returns the checksum of an entry of a leaf, or of a record. */
static uint64_t leafcheck_sum(const void *key, size_t bytes, const struct sp__keymatch *match)
{
	uint64_t parts[3] = { sp__checksum(key, bytes), match->offset, match->bytes };

	return sp__checksum(parts, sizeof(parts));
}

/* Returns the checksum of a separator. */
static uint64_t leafcheck_separator(const struct sp__bytes *key, size_t bytes, bool repeated)
{
	return sp__checksum(key->data, bytes) + repeated;
}

/* Sets key to the whole key of an entry. */
static int leafcheck_key(const struct sp__node *n, const struct sp__nodeentry *e,
			 struct sp__bytes *key)
{
	return sp__bytes_set(key, (const char *)n->prefix, n->prefix_bytes, NULL)
		       ?: sp__bytes_append(key, (const char *)e->rest, e->rest_bytes, NULL);
}

/* Sets the separator before the leaf that begins with b->key, as tree.c chooses it. */
static void set_separator(struct sp__leafcheck *b, struct sp__leafcheck_page *p, bool repeated)
{
	p->separator =
		leafcheck_separator(&b->key, sp__separator_bytes(&b->last, &b->key), repeated);
}

/* Returns NULL, or the reason why the leaf is bad; *rc: -ENOMEM. */
static const char *check_leaf(struct sp__leafcheck *b, struct sp__leafcheck_page *p, int *rc)
{
	for (unsigned i = 0; i < p->node.count; i++) {
		struct sp__nodeentry e = sp__node_entry(&p->node, i);
		struct sp__keymatch match = { .offset = e.a, .bytes = e.b };
		struct sp__bytes swap = b->last;
		int order;

		*rc = leafcheck_key(&p->node, &e, &b->key);
		if (!*rc && !b->entries)
			*rc = sp__bytes_set(&b->first, b->key.data, b->key.bytes, NULL);
		if (*rc)
			return NULL;
		order = !b->entries ? -1
				    : sp__order_bytes(b->last.data, b->last.bytes, b->key.data,
						      b->key.bytes);
		if (order > 0 || (!order && e.a <= b->last_offset))
			return "its keys are not in order";
		if (!b->entries)
			b->first_offset = e.a;
		else if (!i)
			set_separator(b, p, !order);
		b->keys += order < 0;
		b->entries++;
		b->sum += leafcheck_sum(b->key.data, b->key.bytes, &match);
		b->last_offset = e.a;
		b->last = b->key;
		b->key = swap;
	}
	return NULL;
}

/* Checks the pages of a batch. */
static void leafcheck_run(void *arg)
{
	struct sp__leafcheck *b = arg;
	int rc = 0;

	b->reason = NULL;
	b->first_leaf = b->n;
	b->entries = b->keys = b->sum = 0;
	b->last.bytes = 0;
	for (b->good = 0; b->good < b->n; b->good++) {
		struct sp__leafcheck_page *p = &b->list[b->good];

		b->reason = sp__node_open(&p->node, b->pages + b->good * b->page_bytes,
					  b->page_bytes, b->number + b->good);
		if (b->reason)
			return;
		if (p->node.level)
			continue;
		p->separator = leafcheck_separator(&b->key, 0, false);
		if (b->first_leaf == b->n)
			b->first_leaf = b->good;
		b->reason = check_leaf(b, p, &rc);
		if (b->reason || rc)
			return;
	}
}

struct orphan {
	uint64_t page;
	uint64_t separator; /* its checksum, plus 1 if it is repeated */
};

/* Nodes of one level that have no parent yet. */
struct orphans {
	struct orphan *list;
	size_t n, capacity;
};

/* The sum over the records of one worker, in a cache line of its own. */
struct worker_sum {
	_Alignas(64) uint64_t sum;
};

struct check {
	struct sp__index *ix;
	struct sp__progress_phase *progress; /* NULL: none */
	struct sp__waits waits;
	struct orphans orphans[SP__NODE_LEVELS];
	struct sp__bytes last; /* the last key of the batches before */
	struct sp__bytes key;  /* key of an inner node */
	uint64_t last_offset;
	struct sp__leafcheck *batches; /* nbatches, used round-robin */
	unsigned nbatches;
	uint64_t last_leaf;
	uint64_t entries, keys, sum; /* totals of the index */
	struct worker_sum sums[SP__KEYSCAN_WORKERS];
};

static int bad(const struct check *c, uint64_t page, const char *reason)
{
	return sp__index_page_err(c->ix, 0, page, reason);
}

static int no_memory(const struct check *c)
{
	return sp__err(c->ix->env->err, -ENOMEM, "check", c->ix->path, -1);
}

/* Checks that its children are the nodes without a parent, and its keys their separators. */
static int check_inner(struct check *c, const struct sp__node *n, uint64_t page)
{
	struct orphans *o = &c->orphans[n->level - 1];

	if (o->n < n->count || o->n > n->count + 1)
		return bad(c, page, "it does not have the expected children");
	for (unsigned i = 0; i < n->count; i++) {
		struct sp__nodeentry e = sp__node_entry(n, i);

		if (leafcheck_key(n, &e, &c->key))
			return no_memory(c);
		if (e.a != o->list[i].page || e.b > 1)
			return bad(c, page, "it does not have the expected children");
		if (o->list[i].separator != leafcheck_separator(&c->key, c->key.bytes, e.b))
			return bad(c, page, "a key does not separate two of its children");
	}
	o->list[0] = o->list[n->count]; /* if there are more */
	o->n -= n->count;
	return 0;
}

/* Adds a page that was checked to the tree. */
static int check_node(struct check *c, const struct sp__leafcheck_page *p, uint64_t page)
{
	const struct sp__node *n = &p->node;
	struct orphans *o = &c->orphans[n->level];
	uint64_t first = p->separator;
	int rc = 0;

	if (n->level) {
		first = c->orphans[n->level - 1].n ? c->orphans[n->level - 1].list[0].separator : 0;
		rc = check_inner(c, n, page);
	} else {
		c->last_leaf = page;
	}
	if (rc)
		return rc;
	if (!SP__ARRAY_GROW(o->list, o->capacity, o->n + 2))
		return no_memory(c);
	o->list[o->n++] = (struct orphan){ page, first };
	return 0;
}

/* Compares the first leaf of a batch with the last leaf before. */
static int check_border(struct check *c, struct sp__leafcheck *b)
{
	int order;

	if (!b->entries)
		return 0;
	order = c->entries ? sp__order_bytes(c->last.data, c->last.bytes, b->first.data,
					     b->first.bytes)
			   : -1;
	if (order > 0 || (!order && b->first_offset <= c->last_offset))
		return bad(c, b->number + b->first_leaf, "its keys are not in order");
	b->list[b->first_leaf].separator = leafcheck_separator(
		&b->first, c->entries ? sp__separator_bytes(&c->last, &b->first) : 0, !order);
	c->entries += b->entries;
	c->keys += b->keys - !order;
	c->sum += b->sum;
	c->last_offset = b->last_offset;
	return sp__bytes_set(&c->last, b->last.data, b->last.bytes, NULL) ? no_memory(c) : 0;
}

/* Adds the pages of a batch to the tree. */
static int end_batch(struct check *c, struct sp__leafcheck *b)
{
	int rc;

	sp__task_join(&b->task);
	if (!b->busy)
		return 0;
	b->busy = false;
	rc = check_border(c, b);
	for (size_t i = 0; !rc && i < b->good; i++)
		rc = check_node(c, &b->list[i], b->number + i);
	if (rc || b->good == b->n)
		return rc;
	return b->reason ? bad(c, b->number + b->good, b->reason) : no_memory(c);
}

/* After the last page: checks that the root is as in the header, and the only node left. */
static int check_root(const struct check *c)
{
	const struct sp__index_header *h = &c->ix->header;
	bool good = c->last_leaf == h->last_leaf && c->entries == h->records && c->keys == h->keys;

	for (unsigned i = 0; i < SP__NODE_LEVELS; i++) {
		const struct orphans *o = &c->orphans[i];

		good &= o->n == (i + 1 == h->levels);
		good &= !o->n || o->list[0].page == h->root;
	}
	return good ? 0
		    : sp__errf(c->ix->env->err, SP_ECORRUPT, "check", c->ix->path, -1,
			       "the tree does not match the header");
}

static int open_batches(struct check *c)
{
	const struct sp__env *env = c->ix->env;
	uint64_t n = env->device ? 1 : sp__threads(env->opts->parallel);
	int rc = 0;

	n = n > 1 ? sp__min(n + 1, env->budget.limit_bytes / 16 / SP__LEAFCHECK_BYTES) : 1;
	n = sp__max(n, 1);
	c->batches = calloc(n, sizeof(*c->batches));
	for (; c->batches && !rc && c->nbatches < n; c->nbatches++)
		rc = leafcheck_init(&c->batches[c->nbatches], c->ix->header.page_bytes);
	return c->batches && !rc ? 0 : no_memory(c);
}

/* Copies pages to a batch, until it is full or the index ends. */
static int fill_batch(struct check *c, struct sp__nodestream *s, struct sp__leafcheck *b)
{
	const struct sp__index_header *h = &c->ix->header;
	const char *page;
	int rc = 0;

	b->number = s->page;
	for (b->n = 0;
	     rc >= 0 && b->n < SP__LEAFCHECK_BYTES / h->page_bytes && s->page < h->end_page;) {
		rc = sp__nodestream_page(s, &page);
		if (rc == SP_LATER)
			rc = sp__waits_block(&c->waits);
		else if (rc == SP_READY)
			memcpy(b->pages + b->n++ * h->page_bytes, page, h->page_bytes);
	}
	return rc < 0 ? rc : 0;
}

/* Reads batches of pages; while tasks check others, adds the oldest one to the tree. */
static int read_batches(struct check *c, struct sp__nodestream *s)
{
	unsigned i = 0;
	int rc = 0, end_rc = 0;

	for (; !rc && !end_rc && s->page < c->ix->header.end_page; i = (i + 1) % c->nbatches) {
		struct sp__leafcheck *b = &c->batches[i];

		rc = end_batch(c, b);
		if (rc)
			return rc;
		end_rc = fill_batch(c, s, b);
		sp__progress_add(c->progress, b->n * b->page_bytes);
		b->busy = b->n;
		if (c->nbatches > 1)
			sp__task_start(&b->task, leafcheck_run, b);
		else
			leafcheck_run(b);
	}
	for (unsigned k = 0; !rc && k < c->nbatches; k++)
		rc = end_batch(c, &c->batches[(i + k) % c->nbatches]);
	return rc ? rc : end_rc;
}

static int read_pages(struct check *c, struct sp_index_stats *st)
{
	const struct sp__index_header *h = &c->ix->header;
	struct sp__nodestream s;
	int rc = sp__nodestream_open(&s, c->ix, &c->waits, h->header_bytes / h->page_bytes, true);

	if (c->progress)
		sp__progress_begin(c->progress, 0, h->end_page * h->page_bytes - h->header_bytes);
	if (!rc)
		rc = open_batches(c);
	if (!rc)
		rc = read_batches(c, &s);
	for (unsigned i = 0; i < c->nbatches; i++)
		leafcheck_free(&c->batches[i]);
	free(c->batches);
	sp__nodestream_note(&s, &st->run);
	sp__nodestream_close(&s);
	return rc ? rc : check_root(c);
}

static int add_record(void *arg, unsigned worker, const uint8_t *key, size_t bytes,
		      const struct sp__keymatch *match, struct sp_errinfo *err)
{
	struct check *c = arg;

	(void)err;
	c->sums[worker].sum += leafcheck_sum(key, bytes, match);
	return 0;
}

static int begin_again(void *arg)
{
	struct check *c = arg;

	memset(c->sums, 0, sizeof(c->sums));
	return 0;
}

static uint64_t source_sum(const struct check *c)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < SP__KEYSCAN_WORKERS; i++)
		sum += c->sums[i].sum;
	return sum;
}

static int changed(const struct check *c)
{
	const struct sp__index *f = c->ix;

	if (*f->stale)
		return sp__errf(f->env->err, -ESTALE, "check", f->path, -1,
				"its source %.80s has changed since: its content, and %s",
				f->source, f->stale);
	return sp__errf(f->env->err, -ESTALE, "check", f->path, -1,
			"its source %.150s has changed, though not its size or time", f->source);
}

static int read_source(struct check *c, struct sp_index_stats *st)
{
	const struct sp__index *f = c->ix;
	const char *source = f->source;
	struct sp__keyscan scan = { .scan = { .format = f->header.format,
					      .inputs = &source,
					      .ninputs = 1,
					      .header_records = f->header.header_records,
					      .stream = sp__env_reading(c->ix->env),
					      .err = c->ix->env->err },
				    .key = &f->key,
				    .source_bytes = f->header.source_state.bytes,
				    .threads = sp__threads(f->env->opts->parallel),
				    .memory_bytes = f->env->budget.limit_bytes / 4,
				    .progress = c->progress,
				    .each = add_record,
				    .again = begin_again,
				    .arg = c };
	int rc;

	scan.scan.stream.sim_file = f->records->sim_file;
	if (c->progress)
		sp__progress_begin(c->progress, 1, scan.source_bytes);
	rc = sp__keyscan_run(&scan);
	sp__env_note_io(&st->run, &scan.io);
	if (rc)
		return rc;
	if (scan.read_bytes != f->header.source_state.bytes ||
	    scan.checksum != f->header.source_checksum)
		return changed(c);
	if (scan.records != c->entries || source_sum(c) != c->sum)
		return sp__errf(c->ix->env->err, SP_ECORRUPT, "check", f->path, -1,
				"its entries do not match the records of %.150s", source);
	return 0;
}

int sp__index_check(struct sp__index *ix, struct sp_index_stats *stats,
		    struct sp__progress_phase *progress)
{
	struct check c = { .ix = ix, .progress = progress };
	struct sp_index_stats own, *st = stats ? stats : &own;
	bool comparable = ix->source_fd >= 0;
	struct stat source;
	int rc;

	*st = (struct sp_index_stats){ 0 };
	rc = read_pages(&c, st);
	if (!rc && *ix->stale)
		comparable = comparable && fstat(ix->source_fd, &source) == 0 &&
			     (uint64_t)source.st_size == ix->header.source_state.bytes;
	if (!rc)
		rc = comparable ? read_source(&c, st) : sp__index_stale_err(ix);
	st->records = c.entries;
	st->keys = c.keys;
	st->pages = ix->header.end_page;
	st->levels = ix->header.levels;
	sp__env_note(ix->env, &st->run, true);
	if (!ix->nodes->direct && !ix->env->device)
		sp__env_note_cached(ix->env, &st->run, ix->path);
	for (unsigned i = 0; i < SP__NODE_LEVELS; i++)
		free(c.orphans[i].list);
	sp__bytes_release(&c.last, NULL);
	sp__bytes_release(&c.key, NULL);
	return rc;
}
