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
#include "base/minmax.h"
#include "index/indexcheck.h"
#include "index/keyscan.h"
#include "index/nodestream.h"
#include "run/memory.h"

struct orphan {
	uint64_t page;
	uint64_t separator; /* its checksum, plus 1 if it is repeated */
};

/* Nodes of one level that have no parent yet. */
struct orphans {
	struct orphan *list;
	size_t n, capacity;
};

/* Of the records of one worker, in a cache line of its own. */
struct worker_sum {
	_Alignas(64) uint64_t sum;
};

struct check {
	struct sp__index *ix;
	struct sp__waits waits;
	struct orphans orphans[SP__NODE_LEVELS];
	struct sp__bytes last, key; /* of leaves: the previous key, this key */
	uint64_t last_offset;
	bool after_entry; /* last is set */
	uint64_t last_leaf;
	uint64_t entries, keys, sum; /* of the index */
	struct worker_sum sums[SP__KEYSCAN_WORKERS];
};

static uint64_t checksum_of(const void *key, size_t bytes, const struct sp__keymatch *match)
{
	uint64_t parts[3] = { sp__checksum(key, bytes), match->offset, match->bytes };

	return sp__checksum(parts, sizeof(parts));
}

static int bad(const struct check *c, uint64_t page, const char *reason)
{
	return sp__index_page_err(c->ix, 0, page, reason);
}

static int no_memory(const struct check *c)
{
	return sp__err(c->ix->env->err, -ENOMEM, "check", c->ix->path, -1);
}

/* Sets c->key to the whole key of an entry. */
static int take_key(struct check *c, const struct sp__node *n, const struct sp__nodeentry *e)
{
	if (sp__bytes_set(&c->key, (const char *)n->prefix, n->prefix_bytes, NULL) ||
	    sp__bytes_append(&c->key, (const char *)e->rest, e->rest_bytes, NULL))
		return no_memory(c);
	return 0;
}

static uint64_t separator_of(const struct sp__bytes *key, size_t bytes, bool repeated)
{
	return sp__checksum(key->data, bytes) + repeated;
}

/* Returns the separator before the leaf that begins with c->key, as tree.c chooses it. */
static uint64_t separator(const struct check *c, bool repeated)
{
	size_t n = 0;

	while (n < c->key.bytes && n < c->last.bytes && c->key.data[n] == c->last.data[n])
		n++;
	return separator_of(&c->key, c->after_entry ? sp__min(n + 1, c->key.bytes) : 0, repeated);
}

static int check_leaf(struct check *c, const struct sp__node *n, uint64_t page, uint64_t *first)
{
	*first = separator_of(&c->key, 0, false);
	for (unsigned i = 0; i < n->count; i++) {
		struct sp__nodeentry e = sp__node_entry(n, i);
		struct sp__keymatch match = { e.a, e.b };
		struct sp__bytes swap = c->last;
		int order, rc = take_key(c, n, &e);

		if (rc)
			return rc;
		order = sp__order_bytes(c->last.data, c->last.bytes, c->key.data, c->key.bytes);
		if (c->after_entry && (order > 0 || (!order && e.a <= c->last_offset)))
			return bad(c, page, "its keys are not in order");
		if (!i)
			*first = separator(c, c->after_entry && !order);
		c->keys += !c->after_entry || order;
		c->entries++;
		c->sum += checksum_of(c->key.data, c->key.bytes, &match);
		c->after_entry = true;
		c->last_offset = e.a;
		c->last = c->key;
		c->key = swap;
	}
	c->last_leaf = page;
	return 0;
}

/* Checks that its children are the nodes without a parent, and its keys their separators. */
static int check_inner(struct check *c, const struct sp__node *n, uint64_t page)
{
	struct orphans *o = &c->orphans[n->level - 1];

	if (o->n < n->count || o->n > n->count + 1)
		return bad(c, page, "it does not have the expected children");
	for (unsigned i = 0; i < n->count; i++) {
		struct sp__nodeentry e = sp__node_entry(n, i);
		int rc = take_key(c, n, &e);

		if (rc)
			return rc;
		if (e.a != o->list[i].page || e.b > 1)
			return bad(c, page, "it does not have the expected children");
		if (o->list[i].separator != separator_of(&c->key, c->key.bytes, e.b))
			return bad(c, page, "a key does not separate two of its children");
	}
	o->list[0] = o->list[n->count]; /* if there are more */
	o->n -= n->count;
	return 0;
}

static int check_node(struct check *c, const struct sp__node *n, uint64_t page)
{
	struct orphans *o = &c->orphans[n->level];
	uint64_t first;
	int rc;

	if (n->level) {
		first = c->orphans[n->level - 1].n ? c->orphans[n->level - 1].list[0].separator : 0;
		rc = check_inner(c, n, page);
	} else {
		rc = check_leaf(c, n, page, &first);
	}
	if (rc)
		return rc;
	if (!SP__ARRAY_GROW(o->list, o->capacity, o->n + 2))
		return no_memory(c);
	o->list[o->n++] = (struct orphan){ page, first };
	return 0;
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

static int read_pages(struct check *c, struct sp_index_stats *st)
{
	const struct sp__index_header *h = &c->ix->header;
	struct sp__nodestream s;
	struct sp__node node;
	int rc = sp__nodestream_open(&s, c->ix, &c->waits, h->header_bytes / h->page_bytes, true);

	while (!rc && s.page < h->end_page) {
		rc = sp__nodestream_next(&s, &node);
		if (rc == SP_LATER)
			rc = sp__waits_block(&c->waits);
		else if (rc == SP_READY)
			rc = check_node(c, &node, s.page - 1);
	}
	sp__nodestream_note(&s, &st->run);
	sp__nodestream_close(&s);
	return rc ? rc : check_root(c);
}

static int add_record(void *arg, unsigned worker, const uint8_t *key, size_t bytes,
		      const struct sp__keymatch *match, struct sp_errinfo *err)
{
	struct check *c = arg;

	(void)err;
	c->sums[worker].sum += checksum_of(key, bytes, match);
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
				    .each = add_record,
				    .again = begin_again,
				    .arg = c };
	int rc;

	scan.scan.stream.sim_file = f->records->sim_file;
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

int sp__index_check(struct sp__index *ix, struct sp_index_stats *stats)
{
	struct check c = { .ix = ix };
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
