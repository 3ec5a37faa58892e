/* SPDX-License-Identifier: MIT */
/*
 * Stores records of the build side and finds them by key.
 *
 * Algorithm: slots are probed linearly, at most two thirds full, each with 32 bits of the hash next
 * to the reference, so an absent key costs one cache miss.  Records with equal keys form a ring, in
 * the order of their lists with giants last.  The slot refers to the last record, so even a
 * frequent key costs one comparison per record.
 *
 * Keys can be made to have equal hashes, if the seed is known.  If a search passes too many slots,
 * or too many different keys with equal tags, the slots are sorted by key instead, and searched by
 * bisection.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/minmax.h"
#include "join/hash/table.h"

#define GROUP 16

#define BANDS_MIN_RECORDS (UINT64_C(1) << 16)

/* Maximum number of slots that a search passes; slots for which a different key counts. */
#define MAX_PASSED (4 * SP__PROBES_MAX)
#define COLLISION_SLOTS 64

int sp__table_init(struct sp__table *t, uint64_t limit_bytes, uint32_t page_bytes,
		   size_t term_bytes, struct sp__budget *budget)
{
	*t = (struct sp__table){ .budget = budget,
				 .term_bytes = term_bytes,
				 .limit_bytes = limit_bytes,
				 .page_bytes = page_bytes,
				 .free_list = SP__NO_PAGE };
	t->mem_bytes = (limit_bytes < SP__TABLE_MAX ? limit_bytes : SP__TABLE_MAX) / page_bytes *
		       page_bytes;
	t->npages = (uint32_t)(t->mem_bytes / page_bytes);
	t->mem = sp__pages_alloc(t->mem_bytes, true);
	t->next = malloc(t->npages * sizeof(*t->next));
	t->fill = malloc(t->npages * sizeof(*t->fill));
	return t->mem && t->next && t->fill ? 0 : -ENOMEM;
}

void sp__table_release(struct sp__table *t)
{
	sp__table_empty(t);
	if (t->mem)
		sp__pages_free(t->mem, t->mem_bytes);
	free(t->next);
	free(t->fill);
	free(t->giants);
	*t = (struct sp__table){ 0 };
}

void sp__reclist_init(struct sp__reclist *l)
{
	*l = (struct sp__reclist){ .first = SP__NO_PAGE, .last = SP__NO_PAGE };
}

/* Closes the last page of a list. */
static void seal(struct sp__table *t, const struct sp__reclist *l)
{
	if (l->last != SP__NO_PAGE)
		t->fill[l->last] = (uint32_t)(l->at - (t->mem + (uint64_t)l->last * t->page_bytes));
}

/* True if there is memory for more bytes, and for slots for all records. */
static bool fits(const struct sp__table *t, uint64_t more)
{
	return (uint64_t)(t->used - t->nfree) * t->page_bytes + t->giant_bytes +
		       sp__table_slots_bytes(t->records + 1) + more <=
	       t->limit_bytes;
}

bool sp__table_over(const struct sp__table *t)
{
	return !fits(t, 0);
}

/* Adds a page to a list.  1: no page is left. */
static int add_page(struct sp__table *t, struct sp__reclist *l)
{
	uint32_t page = t->free_list;

	if (!fits(t, t->page_bytes))
		return 1;
	if (page != SP__NO_PAGE) {
		t->free_list = t->next[page];
		t->nfree--;
	} else if (t->used < t->npages) {
		page = t->used++;
	} else {
		return 1;
	}
	seal(t, l);
	if (l->last == SP__NO_PAGE)
		l->first = page;
	else
		t->next[l->last] = page;
	l->last = page;
	t->next[page] = SP__NO_PAGE;
	l->at = t->mem + (uint64_t)page * t->page_bytes;
	l->end = l->at + t->page_bytes;
	l->pages++;
	return 0;
}

static struct sp__rec *add_giant(struct sp__table *t, struct sp__reclist *l, size_t size)
{
	size_t at = t->gone ? t->gone - 1 : t->ngiants;
	struct sp__rec *r;

	if (!SP__ARRAY_GROW(t->giants, t->giants_cap, at + 1))
		return NULL;
	r = malloc(size);
	if (!r)
		return NULL;
	sp__budget_charge(t->budget, size);
	t->giant_bytes += size;
	if (t->gone)
		t->gone = t->giants[at].bytes;
	else
		t->ngiants++;
	t->giants[at] = (struct sp__giant){ r, size, l };
	return r;
}

int sp__table_add(struct sp__table *t, struct sp__reclist *l, const char *line, size_t bytes,
		  const struct sp__slice *key, bool apart)
{
	size_t size = sp__rec_size(bytes, apart ? key->n : 0);
	struct sp__rec *r;

	if (__builtin_expect(size > (size_t)(l->end - l->at), 0)) {
		if (size > t->page_bytes) {
			if (t->records && !fits(t, size))
				return 1;
			r = add_giant(t, l, size);
			if (!r)
				return -ENOMEM;
			goto fill;
		}
		if (add_page(t, l))
			return 1;
	}
	r = (struct sp__rec *)(void *)l->at;
	l->at += size;
fill:
	l->records++;
	l->bytes += size;
	t->records++;
	*r = (struct sp__rec){ .bytes = (uint32_t)bytes, .key_bytes = (uint32_t)key->n };
	memcpy(sp__rec_line(r), line, bytes + t->term_bytes);
	if (apart) {
		r->key = (uint32_t)bytes + 1;
		memcpy(sp__rec_line(r) + bytes + 1, key->p, key->n);
	} else {
		r->key = key->p == sp__no_field ? SP__KEY_MISSING : (uint32_t)(key->p - line);
	}
	return 0;
}

static size_t size_of(const struct sp__rec *r)
{
	size_t bytes = r->bytes & ~SP__REC_MATCHED;

	return sp__rec_size(bytes,
			    r->key == bytes + 1 && r->key != SP__KEY_MISSING ? r->key_bytes : 0);
}

static struct sp__rec *walk_giants(const struct sp__table *t, const struct sp__reclist *l,
				   struct sp__recwalk *w)
{
	for (; w->giant < t->ngiants; w->giant++) {
		if (t->giants[w->giant].list == l) {
			w->ref = SP__REF_GIANT | (uint32_t)w->giant;
			return t->giants[w->giant++].rec;
		}
	}
	return NULL;
}

struct sp__rec *sp__table_walk(const struct sp__table *t, const struct sp__reclist *l,
			       struct sp__recwalk *w)
{
	struct sp__rec *r;

	while (w->at == w->end) {
		if (w->begun && w->page == SP__NO_PAGE)
			return walk_giants(t, l, w);
		w->page = w->begun ? t->next[w->page] : l->first;
		w->begun = true;
		if (w->page == SP__NO_PAGE)
			continue;
		w->at = t->mem + (uint64_t)w->page * t->page_bytes;
		w->end = w->page == l->last ? l->at : w->at + t->fill[w->page];
	}
	r = (struct sp__rec *)(void *)(uintptr_t)w->at;
	w->ref = (uint32_t)((uint64_t)(w->at - t->mem) / 8) + 1;
	w->at += size_of(r);
	return r;
}

static void drop_giants(struct sp__table *t, const struct sp__reclist *l)
{
	for (size_t i = 0; i < t->ngiants; i++) {
		struct sp__giant *g = &t->giants[i];

		if (g->list != l)
			continue;
		sp__budget_credit(t->budget, g->bytes);
		t->giant_bytes -= g->bytes;
		free(g->rec);
		*g = (struct sp__giant){ .bytes = t->gone };
		t->gone = i + 1;
	}
}

void sp__table_drop(struct sp__table *t, struct sp__reclist *l)
{
	if (l->first != SP__NO_PAGE) {
		t->next[l->last] = t->free_list;
		t->free_list = l->first;
		t->nfree += (uint32_t)l->pages;
	}
	t->records -= l->records;
	drop_giants(t, l);
	sp__reclist_init(l);
}

void sp__table_empty(struct sp__table *t)
{
	if (t->slots)
		sp__pages_free(t->slots, t->slots_bytes);
	t->slots = NULL;
	for (size_t i = 0; i < t->ngiants; i++) {
		if (t->giants[i].rec)
			sp__budget_credit(t->budget, t->giants[i].bytes);
		free(t->giants[i].rec);
	}
	t->ngiants = t->gone = 0;
	t->giant_bytes = 0;
	t->touched = sp__max(t->touched, t->used);
	t->used = t->nfree = 0;
	t->free_list = SP__NO_PAGE;
	t->records = 0;
}

/* Making the table. */

struct pending {
	struct sp__rec *rec;
	uint64_t hash;
	uint32_t ref;
};

/* False: no slot of the band would be free, at which a search ends, or the search was too long. */
static bool insert(struct sp__table *t, const struct pending *p)
{
	uint64_t *s = sp__table_slot(t, p->hash), *end = sp__table_band_end(t, p->hash);
	uint64_t *keys = &t->keys[sp__table_band(p->hash, t->nbands)].n;
	const struct sp__slice key = sp__rec_key(p->rec);
	uint32_t tag = (uint32_t)p->hash;
	unsigned passed = 0;

	for (; *s; s = s + 1 == end ? end - t->band_slots : s + 1) {
		struct sp__rec *r;

		if (++passed > MAX_PASSED)
			return false;
		if (*s >> 32 != tag)
			continue;
		r = sp__table_rec(t, (uint32_t)*s);
		if (r->key_bytes != key.n || memcmp(sp__rec_key(r).p, key.p, key.n) != 0) {
			passed += COLLISION_SLOTS;
			continue;
		}
		p->rec->next = r->next ? r->next : (uint32_t)*s;
		r->next = p->ref;
		break;
	}
	if (!*s && ++*keys == t->band_slots)
		return false;
	*s = (uint64_t)tag << 32 | p->ref;
	return true;
}

bool sp__table_insert(struct sp__table *t, const struct sp__reclist *l, struct sp__recwalk *w,
		      uint64_t n, uint64_t seed, struct sp__tally *made)
{
	struct pending group[GROUP];
	struct sp__rec *r;

	for (size_t m; n; n -= m) {
		for (m = 0; m < GROUP && m < n && (r = sp__table_walk(t, l, w)); m++) {
			struct sp__slice key = sp__rec_key(r);

			uint64_t hash = sp__key_hash(key.p, key.n, seed);

			sp__tally_count(made, hash);
			r->next = 0;
			group[m] = (struct pending){ r, hash, w->ref };
			__builtin_prefetch(sp__table_slot(t, group[m].hash), 1);
		}
		for (size_t i = 0; i < m; i++)
			if (!insert(t, &group[i]))
				return false;
	}
	return true;
}

/* Releases unused resident pages, as many as the slots need. */
static void free_for_slots(struct sp__table *t)
{
	uint32_t touched = sp__max(t->touched, t->used);
	uint64_t all =
		(uint64_t)(touched - t->nfree) * t->page_bytes + t->giant_bytes + t->slots_bytes;
	uint64_t over = all > t->limit_bytes ? all - t->limit_bytes : 0;
	uint32_t n = (uint32_t)sp__min((over + t->page_bytes - 1) / t->page_bytes,
				       (uint64_t)(touched - t->used));

	for (uint32_t p = t->free_list; p != SP__NO_PAGE; p = t->next[p])
		sp__pages_drop(t->mem + (uint64_t)p * t->page_bytes, t->page_bytes);
	t->touched = touched - n;
	sp__pages_drop(t->mem + (uint64_t)t->touched * t->page_bytes, (uint64_t)n * t->page_bytes);
}

uint64_t sp__table_bands(uint64_t records)
{
	/* Then no band gets nearly as many keys as slots, if the keys are not chosen for that. */
	return records < BANDS_MIN_RECORDS ? 1 : SP__TABLE_BANDS;
}

/* Divides slots that are empty into bands. */
static void divide(struct sp__table *t, uint64_t nbands)
{
	t->nbands = nbands;
	t->band_slots = t->slots_bytes / sizeof(*t->slots) / nbands;
	t->nslots = nbands * t->band_slots;
	t->sorted = 0;
	t->made = (struct sp__tally){ 0 };
	memset(t->keys, 0, sizeof(t->keys));
}

int sp__table_begin(struct sp__table *t)
{
	t->slots_bytes = sp__table_slots_bytes(t->records);
	divide(t, sp__table_bands(t->records));
	t->slots = sp__pages_alloc(t->slots_bytes, true);
	if (!t->slots)
		return -ENOMEM;
	free_for_slots(t);
	return 0;
}

bool sp__table_crowded(const struct sp__table *t)
{
	uint64_t used = 0;

	/* A search passes at most the slots between two free ones. */
	for (uint64_t i = 0; i < t->nslots && used <= MAX_PASSED && t->seed_known; i++)
		used = t->slots[i] ? used + 1 : 0;
	return used > MAX_PASSED;
}

static bool insert_all(struct sp__table *t, struct sp__reclist *const *lists, size_t n,
		       uint64_t seed)
{
	for (size_t i = 0; i < n; i++) {
		struct sp__recwalk w = { 0 };

		if (!sp__table_insert(t, lists[i], &w, lists[i]->records, seed, &t->made))
			return false;
	}
	return !sp__table_crowded(t);
}

/* Sorted slots. */

static int compare_keys(const struct sp__slice *a, const struct sp__slice *b)
{
	return a->n != b->n ? (a->n < b->n ? -1 : 1) : memcmp(a->p, b->p, a->n);
}

/* Compares two records by key, and those with equal keys by number: number << 32 | reference. */
static bool follows(void *table, uint64_t a, uint64_t b)
{
	const struct sp__slice ka = sp__rec_key(sp__table_rec(table, (uint32_t)a));
	const struct sp__slice kb = sp__rec_key(sp__table_rec(table, (uint32_t)b));
	int diff = compare_keys(&ka, &kb);

	return diff ? diff > 0 : a > b;
}

/* Makes a ring of sorted records with equal keys; returns the reference of the last one. */
static uint64_t link_records(struct sp__table *t, const uint64_t *refs, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sp__table_rec(t, (uint32_t)refs[i])->next =
			n > 1 ? (uint32_t)refs[i + 1 < n ? i + 1 : 0] : 0;
	return (uint32_t)refs[n - 1];
}

static void sort_slots(struct sp__table *t, struct sp__reclist *const *lists, size_t n,
		       uint64_t seed)
{
	struct sp__heap heap = { .item = t->slots };
	struct sp__rec *r;
	uint64_t all, end;

	for (size_t i = 0; i < n; i++) {
		struct sp__recwalk w = { 0 };

		while ((r = sp__table_walk(t, lists[i], &w))) {
			sp__tally_count(&t->made,
					sp__key_hash(sp__rec_key(r).p, r->key_bytes, seed));
			sp__heap_push(&heap, (uint64_t)heap.n << 32 | w.ref, follows, NULL, t);
		}
	}
	all = heap.n;
	while (heap.n) {
		uint64_t last = sp__heap_take(&heap, 0, follows, NULL, t);

		t->slots[heap.n] = last;
	}
	for (uint64_t i = 0; i < all; i = end) {
		struct sp__slice key = sp__rec_key(sp__table_rec(t, (uint32_t)t->slots[i])), next;

		for (end = i + 1; end < all; end++) {
			next = sp__rec_key(sp__table_rec(t, (uint32_t)t->slots[end]));
			if (compare_keys(&key, &next) != 0)
				break;
		}
		t->slots[t->sorted++] = link_records(t, t->slots + i, end - i);
	}
	memset(t->slots + t->sorted, 0, t->slots_bytes - t->sorted * sizeof(*t->slots));
}

struct sp__rec *sp__table_search(const struct sp__table *t, const struct sp__slice *key)
{
	uint64_t low = 0, high = t->sorted;

	while (low < high) {
		uint64_t middle = (low + high) / 2;
		struct sp__rec *r = sp__table_rec(t, (uint32_t)t->slots[middle]);
		const struct sp__slice at = sp__rec_key(r);
		int diff = compare_keys(key, &at);

		if (!diff)
			return r;
		if (diff < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

int sp__table_make(struct sp__table *t, struct sp__reclist *const *lists, size_t n, uint64_t seed)
{
	int rc = sp__table_begin(t);

	if (rc || insert_all(t, lists, n, seed))
		return rc;
	/* One band has space for all keys. */
	memset(t->slots, 0, t->slots_bytes);
	divide(t, 1);
	if (insert_all(t, lists, n, seed))
		return 0;
	divide(t, 1);
	sort_slots(t, lists, n, seed);
	return 0;
}

uint64_t sp__table_keys(const struct sp__table *t)
{
	uint64_t n = t->sorted;

	for (size_t i = 0; i < SP__TABLE_BANDS; i++)
		n += t->keys[i].n;
	return n;
}

/* Several threads. */

void sp__table_view(struct sp__table *view, const struct sp__table *t)
{
	*view = (struct sp__table){ .term_bytes = t->term_bytes,
				    .limit_bytes = UINT64_MAX,
				    .mem = t->mem,
				    .page_bytes = t->page_bytes,
				    .free_list = SP__NO_PAGE,
				    .next = t->next,
				    .fill = t->fill };
}

void sp__table_join(struct sp__table *t, struct sp__table *view)
{
	t->records += view->records;
	view->records = 0;
}

bool sp__table_refill(struct sp__table *t, struct sp__table *view)
{
	sp__table_join(t, view);
	if (t->used == t->npages || !fits(t, t->page_bytes))
		return false;
	t->next[t->used] = SP__NO_PAGE;
	view->free_list = t->used++;
	view->nfree = 1;
	return true;
}
