/* SPDX-License-Identifier: MIT */
/*
 * Holds records of the build side in memory, and the hash table over them.
 *
 * A record does not cross pages.  Each partition has its own pages, so that it can be evicted
 * alone.  A record larger than a page has separate memory.  When all records have been added the
 * table is made: one slot per key, and from it a chain of the records with that key.
 *
 * References are 32 bits: the location of a record in units of 8 bytes.  So the pages of one table
 * take at most 16 GiB.
 */
#pragma once

#include <string.h>
#include "base/tally.h"
#include "join/keys/keying.h"

#define SP__TABLE_MAX ((uint64_t)16 << 30)
#define SP__REF_GIANT 0x80000000u
#define SP__REC_MATCHED 0x80000000u /* in bytes, of the last of a chain */
#define SP__REC_BYTES_MAX 0x7ffffff0u
#define SP__KEY_MISSING UINT32_MAX

/* Followed by the record, its terminator or an unused byte, and a key that is not in the line. */
struct sp__rec {
	uint32_t next; /* next record with the same key; the last refers to the first; 0: itself */
	uint32_t bytes;
	uint32_t key; /* offset of the key in the line; SP__KEY_MISSING: no such field */
	uint32_t key_bytes;
};

/* bytes with the mark: several threads can mark a record while others read it. */
static inline uint32_t sp__rec_bytes(const struct sp__rec *r)
{
	return __atomic_load_n(&r->bytes, __ATOMIC_RELAXED);
}

static inline void sp__rec_mark(struct sp__rec *r)
{
	if (!(sp__rec_bytes(r) & SP__REC_MATCHED))
		__atomic_fetch_or(&r->bytes, SP__REC_MATCHED, __ATOMIC_RELAXED);
}

#define SP__NO_PAGE UINT32_MAX

/* Bands of the slots of a large table. */
#define SP__TABLE_BANDS 16u

/* The records of one partition. */
struct sp__reclist {
	uint32_t first, last; /* pages */
	char *at, *end;	      /* free space in the last page */
	uint64_t records, pages;
	uint64_t bytes; /* total of the records */
};

struct sp__giant {
	struct sp__rec *rec;
	size_t bytes;		  /* if freed: the giant freed before, from 1 */
	struct sp__reclist *list; /* NULL: freed */
};

struct sp__table {
	struct sp__budget *budget; /* charged for giants */
	size_t term_bytes;	   /* terminator bytes after each record */
	uint64_t limit_bytes;	   /* for pages, giants and slots */
	uint64_t giant_bytes;
	char *mem;
	uint64_t mem_bytes; /* reserved */
	uint32_t page_bytes;
	uint32_t npages, used; /* number available; used so far */
	uint32_t touched;      /* pages below this one can be resident */
	uint32_t free_list, nfree;
	uint32_t *next; /* page after a page */
	uint32_t *fill; /* bytes of records in a page that is not the last of a list */
	struct sp__giant *giants;
	size_t ngiants, giants_cap;
	size_t gone; /* the giant freed last, from 1; 0: none */
	uint64_t records;

	/* tag << 32 | reference; in bands of equal length, each of a part of the hash's range */
	uint64_t *slots;
	uint64_t nslots, slots_bytes, nbands, band_slots;
	uint64_t sorted; /* slots in use, sorted by key; 0: they are hashed */
	bool seed_known; /* keys could be made to have equal hashes, or neighbouring ones */
	struct {
		uint64_t n;
		char apart[56];	 /* from what other threads write */
	} keys[SP__TABLE_BANDS]; /* in the slots of each band */
	struct sp__tally made;	 /* the records in slots, and the hashes of their keys */
};

/* limit_bytes: for pages and slots together. */
int sp__table_init(struct sp__table *t, uint64_t limit_bytes, uint32_t page_bytes,
		   size_t term_bytes, struct sp__budget *budget);
void sp__table_release(struct sp__table *t);

/* Bytes of the slots of a number of records. */
static inline uint64_t sp__table_slots_bytes(uint64_t records)
{
	return (records + records / 2 + 16) * sizeof(uint64_t);
}

static inline size_t sp__rec_size(size_t bytes, size_t apart)
{
	return (sizeof(struct sp__rec) + bytes + 1 + apart + 7) & ~(size_t)7;
}

static inline struct sp__rec *sp__table_rec(const struct sp__table *t, uint32_t ref)
{
	if (__builtin_expect(ref & SP__REF_GIANT, 0))
		return t->giants[ref & ~SP__REF_GIANT].rec;
	return (struct sp__rec *)(void *)(t->mem + (uint64_t)(ref - 1) * 8);
}

/*
 * Iterates over a chain in insertion order, starting from its last record, which the slot refers
 * to; NULL: the end.
 */
static inline struct sp__rec *sp__chain_first(const struct sp__table *t, struct sp__rec *last)
{
	return last->next ? sp__table_rec(t, last->next) : last;
}

static inline struct sp__rec *sp__chain_next(const struct sp__table *t, const struct sp__rec *r,
					     const struct sp__rec *last)
{
	return r == last ? NULL : sp__table_rec(t, r->next);
}

static inline char *sp__rec_line(struct sp__rec *r)
{
	return (char *)(r + 1);
}

/* Key of a record, as it was hashed. */
static inline struct sp__slice sp__rec_key(struct sp__rec *r)
{
	if (r->key == SP__KEY_MISSING)
		return (struct sp__slice){ sp__no_field, 0 };
	return (struct sp__slice){ sp__rec_line(r) + r->key, r->key_bytes };
}

void sp__reclist_init(struct sp__reclist *l);
/*
 * Appends a record with its terminator (line[bytes]).  apart: the key is not in the line.  0; 1: no
 * page is left, nothing was appended; -ENOMEM.
 */
int sp__table_add(struct sp__table *t, struct sp__reclist *l, const char *line, size_t bytes,
		  const struct sp__slice *key, bool apart);

/* True if memory in use, including slots for all records, exceeds the limit. */
bool sp__table_over(const struct sp__table *t);

/* Iterates over the records of a list, from a zeroed walk; false: no more. */
struct sp__recwalk {
	uint32_t page;
	bool begun;
	const char *at, *end;
	size_t giant;
	uint32_t ref; /* reference to the record returned */
};
struct sp__rec *sp__table_walk(const struct sp__table *t, const struct sp__reclist *l,
			       struct sp__recwalk *w);
/* Empties a list and frees its pages. */
void sp__table_drop(struct sp__table *t, struct sp__reclist *l);

/* Makes slots for all records in n lists; seed as for sp__key_hash().  0 or -ENOMEM. */
int sp__table_make(struct sp__table *t, struct sp__reclist *const *lists, size_t n, uint64_t seed);
/* Returns the number of keys in slots. */
uint64_t sp__table_keys(const struct sp__table *t);

/*
 * Tables that several threads fill.  Each thread has a view: a table whose pages come from t one by
 * one, and whose records are counted in t with them.  A view accepts no record larger than a page.
 */
void sp__table_view(struct sp__table *view, const struct sp__table *t);
/* Gives a view that has no page a page of t, under a lock.  False: no page is left. */
bool sp__table_refill(struct sp__table *t, struct sp__table *view);
/* Counts the last records of a view in t. */
void sp__table_join(struct sp__table *t, struct sp__table *view);
/* Bands of a table of a number of records. */
uint64_t sp__table_bands(uint64_t records);
/* Allocates slots for all records.  0 or -ENOMEM. */
int sp__table_begin(struct sp__table *t);
/*
 * Puts the next n records of a walk into slots; any thread, if each has bands of its own.  made:
 * tally of the records.  False: a band has too many keys, or a search was too long, so the table
 * must be made by sp__table_make().
 */
SP_MUST_CHECK bool sp__table_insert(struct sp__table *t, const struct sp__reclist *l,
				    struct sp__recwalk *w, uint64_t n, uint64_t seed,
				    struct sp__tally *made);
/* True if slots that are filled so far make searches too long, which a known seed allows. */
SP_MUST_CHECK bool sp__table_crowded(const struct sp__table *t);
/* Frees the slots and everything else. */
void sp__table_empty(struct sp__table *t);

static inline uint64_t *sp__table_slot(const struct sp__table *t, uint64_t hash)
{
	return &t->slots[(uint64_t)(((unsigned __int128)hash * t->nslots) >> 64)];
}

/* The band of a hash, of n. */
static inline uint64_t sp__table_band(uint64_t hash, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)hash * n) >> 64);
}

/* The end of the band that the slots of a hash are in; after it comes the band's beginning. */
static inline uint64_t *sp__table_band_end(const struct sp__table *t, uint64_t hash)
{
	return t->slots + (sp__table_band(hash, t->nbands) + 1) * t->band_slots;
}

/* Does the work of sp__table_find() in sorted slots. */
struct sp__rec *sp__table_search(const struct sp__table *t, const struct sp__slice *key);

/* Returns the first record that a search compares; NULL: no record has that hash. */
static inline const struct sp__rec *sp__table_likely(const struct sp__table *t, uint64_t hash)
{
	const uint64_t *s = sp__table_slot(t, hash), *end = sp__table_band_end(t, hash);

	for (; *s && !t->sorted; s = s + 1 == end ? end - t->band_slots : s + 1)
		if (*s >> 32 == (uint32_t)hash)
			return sp__table_rec(t, (uint32_t)*s);
	return NULL;
}

/* Returns the last record with a key, or NULL. */
static inline struct sp__rec *sp__table_find(const struct sp__table *t, uint64_t hash,
					     const struct sp__slice *key)
{
	const uint64_t *s = sp__table_slot(t, hash), *end = sp__table_band_end(t, hash);
	uint32_t tag = (uint32_t)hash;

	if (__builtin_expect(t->sorted > 0, 0))
		return sp__table_search(t, key);
	while (*s) {
		if (*s >> 32 == tag) {
			struct sp__rec *r = sp__table_rec(t, (uint32_t)*s);

			if (r->key_bytes == key->n && !memcmp(sp__rec_key(r).p, key->p, key->n))
				return r;
		}
		if (++s == end)
			s -= t->band_slots;
	}
	return NULL;
}
