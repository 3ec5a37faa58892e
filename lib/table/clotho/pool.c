/* SPDX-License-Identifier: MIT */
/*
 * Looks up A-pages in frames, reads and removes them (pool.h).
 *
 * Algorithm: a hash of the A-page numbers in frames; a lookup is a hit if the frame has the column
 * groups of the query.  A miss takes the frame that was used least recently.  It reads the page
 * schema that the manager chooses, of as many A-pages as the frame has space for, from a multiple
 * of this number on.
 *
 * A read of few records that misses reads less than a frame has.  Its bytes are counted for the
 * frame that would have them (schemas.h).
 *
 * The frames of a read that needs more than there are would all leave before it comes back to them,
 * and with them those of others.  So a frame that only such reads have used is the next one to be
 * taken, unless other queries of the table can share it: the read passes through few frames, which
 * stay in the caches of the processor, and the others stay in the pool.
 *
 * Memory: a frame has up to frame_bytes / 512 entries.  The frames are so many that all of these
 * fit into the memory of the pool.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "table/clotho/pool.h"
#include "table/layout/layout.h"

#define CELL_MIN 512	  /* bytes of the smallest cells */
#define BUCKET_BYTES 4096 /* bytes of frames per bucket */

int sp_pool_open(struct sp_pool **pool, const struct sp_pool_opts *opts, struct sp_errinfo *err)
{
	const uint64_t frame_bytes =
		opts->frame_bytes + opts->frame_bytes / CELL_MIN * sizeof(struct sp__clotho_entry) +
		sizeof(struct sp__clotho_frame) +
		SP__DEMANDS_MAX * sizeof(struct sp__clotho_demand);
	struct sp_pool *p = calloc(1, sizeof(*p));
	uint64_t bucket_bytes, frames;
	int rc;

	if (!p)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (p->nbuckets = 1; p->nbuckets < opts->bytes / BUCKET_BYTES;)
		p->nbuckets *= 2;
	bucket_bytes = p->nbuckets * sizeof(*p->buckets);
	frames = (opts->bytes - sp__min(opts->bytes, bucket_bytes)) / frame_bytes;
	if (!frames || opts->frame_bytes < CELL_MIN || opts->frame_bytes > opts->bytes) {
		free(p);
		return sp__errf(err, SP_EBUDGET, "open", "pool", -1,
				"a pool of %llu bytes has no space for a frame of %llu bytes: "
				"use smaller frames of at least %u bytes, or a larger pool",
				(unsigned long long)opts->bytes,
				(unsigned long long)opts->frame_bytes, CELL_MIN);
	}
	p->opts = *opts;
	sp__budget_init(&p->budget, opts->bytes);
	p->counters.frames = frames;
	p->counters.frame_bytes = opts->frame_bytes;
	TAILQ_INIT(&p->order);
	p->frames = calloc(frames, sizeof(*p->frames));
	p->buckets = calloc(p->nbuckets, sizeof(*p->buckets));
	rc = sp__demands_open(&p->demands, frames);
	sp__budget_charge(&p->budget, bucket_bytes + frames * sizeof(*p->frames) +
					      p->demands.n * sizeof(*p->demands.list));
	for (uint64_t i = 0; p->frames && i < frames; i++) {
		p->frames[i].pool = p;
		TAILQ_INSERT_TAIL(&p->order, &p->frames[i], link);
	}
	if (!p->frames || !p->buckets || rc) {
		sp_pool_close(p);
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	*pool = p;
	return 0;
}

void sp_pool_close(struct sp_pool *p)
{
	if (!p)
		return;
	for (uint64_t i = 0; p->frames && i < p->counters.frames; i++) {
		if (p->frames[i].memory)
			sp__pages_free(p->frames[i].memory, p->opts.frame_bytes);
		free(p->frames[i].entries);
	}
	free(p->frames);
	free(p->buckets);
	sp__demands_close(&p->demands);
	free(p);
}

struct sp__groupset sp__clotho_all(const struct sp__table_layout *l)
{
	struct sp__groupset all = { 0 };

	for (uint32_t g = 0; g < l->ngroups; g++)
		sp__bits_add(all.bits, g);
	return all;
}

/* Returns the bytes of a set of column groups in an A-page. */
static uint64_t set_bytes(const struct sp__clotho_table *t, const struct sp__groupset *set)
{
	uint64_t cells = 0;

	for (uint32_t g = 0; g < t->ngroups; g++)
		if (sp__groupset_has(set, g))
			cells += t->cells[g];
	return cells * t->cell_bytes;
}

static struct sp__clotho_entry **bucket(const struct sp_pool *p, const struct sp__clotho_table *t,
					uint64_t page)
{
	return &p->buckets[sp__mix64(page ^ sp__mix64(t->serial)) & (p->nbuckets - 1)];
}

static uint64_t page_of(const struct sp__clotho_entry *e)
{
	return e->frame->first + (uint64_t)(e - e->frame->entries);
}

/* Returns the next entry of an A-page, from e on, or NULL. */
static struct sp__clotho_entry *find(struct sp__clotho_entry *e, const struct sp__clotho_table *t,
				     uint64_t page)
{
	while (e && (e->frame->table != t || page_of(e) != page))
		e = e->next;
	return e;
}

static void touch(struct sp_pool *p, struct sp__clotho_frame *f)
{
	TAILQ_REMOVE(&p->order, f, link);
	TAILQ_INSERT_HEAD(&p->order, f, link);
	f->used_at = p->counters.lookups;
}

/* Makes a frame the next one to be taken. */
static void make_last(struct sp_pool *p, struct sp__clotho_frame *f)
{
	TAILQ_REMOVE(&p->order, f, link);
	TAILQ_INSERT_TAIL(&p->order, f, link);
	f->used_at = 0;
}

/* Removes an A-page from its frame.  A frame that no lookup finds is the next one to be taken. */
static void remove_entry(struct sp_pool *p, struct sp__clotho_entry *e)
{
	struct sp__clotho_frame *f = e->frame;
	struct sp__clotho_entry **at = bucket(p, f->table, page_of(e));

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	e->frame = NULL;
	if (!--f->live)
		make_last(p, f);
}

static void empty(struct sp_pool *p, struct sp__clotho_frame *f)
{
	for (uint64_t i = 0; f->live && i < f->pages; i++)
		if (f->entries[i].frame)
			remove_entry(p, &f->entries[i]);
}

/* Empties the frames of a table. */
static void forget(struct sp_pool *p, const struct sp__clotho_table *t)
{
	for (uint64_t i = 0; i < p->counters.frames; i++)
		if (p->frames[i].table == t)
			empty(p, &p->frames[i]);
}

static struct sp__clotho_table *add_table(const struct sp__clotho_user *u,
					  const struct sp__clotho_key *key)
{
	const struct sp__table_layout *l = u->layout;
	struct sp__clotho_table *t = calloc(1, sizeof(*t) + l->ngroups * sizeof(*t->cells));

	if (!t)
		return NULL;
	t->key = *key;
	t->serial = ++u->pool->serial;
	t->cell_bytes = l->cell_bytes;
	t->ngroups = l->ngroups;
	for (uint32_t g = 0; g < l->ngroups; g++)
		t->cells[g] = l->groups[g].cells;
	LIST_INSERT_HEAD(&u->pool->tables, t, link);
	return t;
}

int sp__clotho_attach(struct sp__clotho_user *u, const struct sp__clotho_key *key, const char *path,
		      struct sp_errinfo *err)
{
	const uint64_t page_bytes = u->layout->page_cells * u->layout->cell_bytes;
	struct sp__clotho_table *t;

	if (page_bytes > u->pool->opts.frame_bytes)
		return sp__errf(err, SP_EUNSUP, "open", path, -1,
				"an A-page of %llu bytes does not fit into a frame of %llu bytes: "
				"use larger frames",
				(unsigned long long)page_bytes,
				(unsigned long long)u->pool->opts.frame_bytes);
	LIST_FOREACH(t, &u->pool->tables, link)
	if (t->key.device == key->device && t->key.inode == key->inode && t->key.id == key->id)
		break;
	if (!t)
		t = add_table(u, key);
	if (!t)
		return sp__err(err, -ENOMEM, "open", path, -1);
	if (t->key.number != key->number || t->key.state != key->state)
		forget(u->pool, t);
	t->key = *key;
	t->users++;
	u->table = t;
	return 0;
}

void sp__clotho_detach(struct sp__clotho_user *u)
{
	struct sp__clotho_table *t = u->table;

	u->table = NULL;
	if (!t || --t->users)
		return;
	forget(u->pool, t);
	for (uint64_t i = 0; i < u->pool->counters.frames; i++)
		if (u->pool->frames[i].table == t)
			u->pool->frames[i].table = NULL;
	u->pool->counters.schema_changes += t->schemas.changes;
	LIST_REMOVE(t, link);
	sp__schemas_free(&t->schemas);
	free(t);
}

int sp__clotho_begin(struct sp__clotho_user *u, const struct sp__groupset *query)
{
	return sp__schemas_begin(&u->table->schemas, query);
}

void sp__clotho_end(struct sp__clotho_user *u, const struct sp__groupset *query)
{
	sp__schemas_end(&u->table->schemas, query);
}

/* Chooses the column groups of a frame, and returns the A-pages for which it has space. */
static uint64_t choose(const struct sp__clotho_user *u, const struct sp__groupset *query,
		       struct sp__groupset *set)
{
	const struct sp_pool_opts *o = &u->pool->opts;
	const struct sp__groupset *schema = sp__schemas_find(&u->table->schemas, query);
	const struct sp__groupset all = sp__clotho_all(u->layout);
	uint64_t n;

	*set = o->manager == SP_POOL_FULL		 ? all
	       : o->manager == SP_POOL_DYNAMIC && schema ? *schema
							 : *query;
	n = o->frame_bytes / set_bytes(u->table, set);
	if (n < 2 && !o->partial_alone)
		*set = all;
	return sp__max(n, 1);
}

bool sp__clotho_exceeds(const struct sp__clotho_user *u, const struct sp__groupset *set,
			uint64_t records)
{
	return sp__layout_pages(u->layout, records) / sp__clotho_pages(u, set) >
	       u->pool->counters.frames;
}

uint64_t sp__clotho_pages(const struct sp__clotho_user *u, const struct sp__groupset *set)
{
	struct sp__groupset schema;

	return choose(u, set, &schema);
}

/* Returns the frame that was used least recently and is free, or NULL. */
static struct sp__clotho_frame *victim(struct sp_pool *p)
{
	struct sp__clotho_frame *f;

	TAILQ_FOREACH_REVERSE(f, &p->order, sp__clotho_frames, link)
	if (!f->pins && !f->outstanding)
		break;
	return f;
}

/* Makes memory and entries of a frame. */
static int prepare(struct sp_pool *p, struct sp__clotho_frame *f)
{
	const size_t before = f->capacity;

	if (!f->memory) {
		f->memory = sp__pages_alloc(p->opts.frame_bytes, true);
		if (!f->memory)
			return -ENOMEM;
		sp__budget_charge(&p->budget, p->opts.frame_bytes);
	}
	if (f->pages > before) {
		if (!SP__ARRAY_RESIZE(f->entries, f->pages))
			return -ENOMEM;
		f->capacity = f->pages;
		sp__budget_charge(&p->budget, (f->capacity - before) * sizeof(*f->entries));
	}
	for (uint64_t i = 0; i < f->pages; i++) {
		struct sp__clotho_entry **at = bucket(p, f->table, f->first + i);

		f->entries[i] = (struct sp__clotho_entry){ *at, f };
		*at = &f->entries[i];
	}
	f->live = f->pages;
	return 0;
}

/* Begins to read a column group of all A-pages of a frame, strip by strip. */
static int fetch_group(struct sp__clotho_user *u, struct sp__clotho_frame *f, uint32_t group,
		       uint8_t *memory)
{
	const struct sp__table_layout *l = u->layout;
	const uint64_t end = f->first + f->pages;
	uint64_t n;
	int rc = 0;

	for (uint64_t page = f->first; !rc && page < end; page += n) {
		const struct sp__strip s = sp__layout_strip(l, page);

		n = l->ngroups > 1 ? sp__min(end, s.first + s.pages) - page : end - page;
		rc = u->fetch(u, f, group, page, n, memory);
		memory += n * l->groups[group].cells * l->cell_bytes;
	}
	return rc;
}

/* Begins to read an A-page and its neighbours.  Returns the frame, or NULL: none is free. */
static struct sp__clotho_frame *fetch(struct sp__clotho_user *u, const struct sp__groupset *query,
				      uint64_t page)
{
	struct sp__clotho_frame *f = victim(u->pool);
	const struct sp__table_layout *l = u->layout;
	uint8_t *memory;
	uint64_t n;

	if (!f)
		return NULL;
	if (f->live && u->pool->leaves)
		u->pool->leaves(u->pool->leaves_arg, f);
	empty(u->pool, f);
	n = choose(u, query, &f->set);
	f->used = (struct sp__groupset){ 0 };
	f->passing = true;
	f->fetches++;
	f->table = u->table;
	f->reader = u;
	f->first = page / n * n;
	f->pages = sp__min(n, sp__layout_pages(l, *u->records) - f->first);
	f->error = prepare(u->pool, f);
	touch(u->pool, f);
	memory = f->memory;
	for (uint32_t g = 0; !f->error && g < l->ngroups; g++)
		if (sp__groupset_has(&f->set, g)) {
			f->error = fetch_group(u, f, g, memory);
			memory += f->pages * l->groups[g].cells * l->cell_bytes;
		}
	u->pool->counters.full_fetches +=
		set_bytes(u->table, &f->set) == l->page_cells * l->cell_bytes;
	return f;
}

void sp__clotho_completed(struct sp__clotho_frame *f, int rc)
{
	f->outstanding--;
	if (!f->error)
		f->error = rc;
}

/* Returns the key of a frame with these column groups whose first A-page is n * number. */
static uint64_t key_of(const struct sp__clotho_table *t, const struct sp__groupset *set,
		       uint64_t number)
{
	uint64_t key = sp__mix64(number ^ sp__mix64(t->serial));

	for (uint32_t i = 0; i <= (t->ngroups - 1) / 64; i++)
		key = sp__mix64(key ^ set->bits[i]);
	return key;
}

/*
 * Counts the bytes that a read of few records would read itself.  Returns true if a frame is to be
 * read instead.
 */
static bool is_worth(struct sp__clotho_user *u, const struct sp__groupset *query, uint64_t page,
		     uint64_t bytes)
{
	struct sp_pool *p = u->pool;
	const struct sp__clotho_frame *f = victim(p);
	struct sp__groupset set;
	const uint64_t n = choose(u, query, &set), frame_bytes = n * set_bytes(u->table, &set);
	const uint64_t key = key_of(u->table, &set, page / n);

	if (!f || bytes >= frame_bytes)
		return f;
	return sp__demands_add(&p->demands, key, bytes, frame_bytes, f->used_at,
			       p->counters.lookups);
}

/* bytes: that the reader would read itself after a miss. */
static struct sp__clotho_frame *look_up(struct sp__clotho_user *u, const struct sp__groupset *set,
					uint64_t page, uint64_t bytes, bool passes)
{
	struct sp_pool *p = u->pool;
	struct sp__clotho_entry *e = *bucket(p, u->table, page);
	struct sp__clotho_frame *f;

	p->counters.lookups++;
	for (e = find(e, u->table, page); e; e = find(e->next, u->table, page))
		if (sp__groupset_contains(&e->frame->set, set))
			break;
	if (e) {
		f = e->frame;
		touch(p, f);
		p->counters.hits++;
	} else {
		f = is_worth(u, set, page, bytes) ? fetch(u, set, page) : NULL;
		p->counters.misses++;
		p->counters.refused += !f;
	}
	if (f) {
		sp__groupset_join(&f->used, set);
		f->passing &= passes;
	}
	return f;
}

bool sp__clotho_covers(const struct sp__clotho_pin *p, uint64_t page)
{
	const struct sp__clotho_frame *f = p->frame;

	return f && page - f->first < f->pages && f->live && f->entries[page - f->first].frame;
}

int sp__clotho_pin(struct sp__clotho_user *u, const struct sp__groupset *set, uint64_t page,
		   struct sp__clotho_pin *p)
{
	struct sp__clotho_frame *f;
	int rc;

	for (;;) {
		if (p->frame && p->page != page)
			sp__clotho_unpin(p);
		if (!p->frame) {
			p->frame = look_up(u, set, page, UINT64_MAX, p->passes);
			if (!p->frame)
				return SP_END;
			p->frame->pins++;
			p->page = page;
		}
		f = p->frame;
		if (f->outstanding)
			return SP_LATER;
		rc = f->error;
		if (rc)
			empty(u->pool, f);
		p->ready = p->ready || (!rc && sp__clotho_covers(p, page));
		if (p->ready)
			return SP_READY;
		sp__clotho_unpin(p);
		if (rc)
			return rc;
	}
}

int sp__clotho_pin_few(struct sp__clotho_user *u, const struct sp__groupset *set, uint64_t page,
		       uint64_t bytes, struct sp__clotho_pin *p)
{
	p->frame = look_up(u, set, page, bytes, p->passes);
	if (!p->frame)
		return SP_END;
	p->frame->pins++;
	p->page = page;
	return sp__clotho_pin(u, set, page, p);
}

/* True if a frame is the next one to be taken: others cannot share it, and no frame is free. */
static bool has_passed(const struct sp__clotho_frame *f)
{
	return !f->pins && f->passing && f->table->schemas.queries.n < 2 &&
	       TAILQ_LAST(&f->pool->order, sp__clotho_frames)->live;
}

void sp__clotho_unpin(struct sp__clotho_pin *p)
{
	struct sp__clotho_frame *f = p->frame;

	*p = (struct sp__clotho_pin){ .passes = p->passes };
	if (!f)
		return;
	f->pins--;
	if (has_passed(f))
		make_last(f->pool, f);
}

/* Removes an A-page from frames that have one of these column groups, except one frame. */
static void remove_page(struct sp__clotho_user *u, uint64_t page, const struct sp__groupset *set,
			const struct sp__clotho_frame *except)
{
	struct sp_pool *p = u->pool;
	struct sp__clotho_entry *next, *e = find(*bucket(p, u->table, page), u->table, page);

	for (; e; e = next) {
		next = find(e->next, u->table, page);
		if (e->frame == except || !sp__groupset_meets(&e->frame->set, set))
			continue;
		remove_entry(p, e);
		p->counters.invalidated++;
	}
}

int sp__clotho_pin_write(struct sp__clotho_user *u, uint64_t page, struct sp__clotho_pin *p)
{
	const struct sp__groupset all = sp__clotho_all(u->layout);
	int rc = sp__clotho_pin(u, &all, page, p);

	if (p->frame)
		remove_page(u, page, &all, p->frame);
	return rc;
}

struct sp__clotho_frame *sp__clotho_publish(struct sp__clotho_user *u, uint64_t page)
{
	const struct sp__groupset all = sp__clotho_all(u->layout);
	struct sp__clotho_entry *e = *bucket(u->pool, u->table, page);
	struct sp__clotho_frame *f = NULL;

	for (e = find(e, u->table, page); e; e = find(e->next, u->table, page))
		if (sp__groupset_contains(&e->frame->set, &all) && !e->frame->pins &&
		    !e->frame->outstanding && !e->frame->error)
			f = e->frame;
	remove_page(u, page, &all, f);
	return f;
}

uint8_t *sp__clotho_cell(const struct sp__clotho_user *u, const struct sp__clotho_frame *f,
			 const struct sp__layout_position *at)
{
	const struct sp__table_layout *l = u->layout;
	const uint64_t page = at->page - f->first, cells = l->groups[at->group].cells;
	uint64_t n = 0;

	for (uint32_t g = 0; g < at->group; g++)
		if (sp__groupset_has(&f->set, g))
			n += f->pages * l->groups[g].cells;
	/* Lines of lanes have a cell of each A-page. */
	n += sp__layout_lines_of(l, at->group) == 1 ? page * cells + at->j
						    : at->j * f->pages + page;
	return f->memory + n * l->cell_bytes;
}

void sp__clotho_invalidate(struct sp__clotho_user *u, uint64_t page,
			   const struct sp__groupset *changed)
{
	remove_page(u, page, changed, NULL);
}

/* Returns the bytes of an entry that were looked up, and that no entry before it has. */
static uint64_t useful_bytes(const struct sp_pool *p, const struct sp__clotho_entry *entry)
{
	const struct sp__clotho_table *t = entry->frame->table;
	const uint64_t page = page_of(entry);
	struct sp__groupset set = entry->frame->used;

	for (struct sp__clotho_entry *e = find(*bucket(p, t, page), t, page); e != entry;
	     e = find(e->next, t, page))
		for (size_t i = 0; i < SP__GROUPSET_WORDS; i++)
			set.bits[i] &= ~e->frame->used.bits[i];
	return set_bytes(t, &set);
}

void sp_pool_counters(const struct sp_pool *p, struct sp_pool_counters *c)
{
	const struct sp__clotho_table *t;

	*c = p->counters;
	LIST_FOREACH(t, &p->tables, link)
	c->schema_changes += t->schemas.changes;
	for (uint64_t i = 0; i < c->frames; i++) {
		const struct sp__clotho_frame *f = &p->frames[i];

		if (!f->live)
			continue;
		c->held_bytes += f->live * set_bytes(f->table, &f->set);
		for (uint64_t k = 0; k < f->pages; k++)
			if (f->entries[k].frame)
				c->useful_bytes += useful_bytes(p, &f->entries[k]);
	}
}
