/* SPDX-License-Identifier: MIT */
/*
 * Declares the run buffer: the memory in which one run is collected and sorted.
 *
 * Memory: records are stored from the low end, their entries from the high end down.  The space
 * between them must hold the scratch of the sort, one more entry for each entry:
 *
 *	| record, record, ...   ->  | scratch (n entries) | <- entries (n) |
 *
 * So a buffer is full when used + 32 n would exceed its capacity, for any length of records.  A
 * table of keys, if there is one, is after the entries (distinct.c).
 *
 * INPLACE keys are slices of the records, which are stored unchanged.  ENCODED and COLLATED keys
 * are stored before their records: the bytes of the key (only if they exceed the eight of the
 * entry's prefix), a 32-bit length, the record.  With --count, and while identical records are
 * stored once, the number of a record is right before it (counted.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/tally.h"
#include "rec/jsonread.h"
#include "rec/key.h"
#include "rec/recfmt.h"
#include "sort/records/counted.h"

struct sp__runbuf;

/* The table of a buffer that collapses repeated keys while it is filled (distinct.c). */
struct sp__distinct {
	bool due;			     /* a table is made with the first record */
	bool always;			     /* it stays even if it does not pay */
	bool crowded;			     /* a search was too long */
	const struct sp__key_secret *secret; /* secret of the hashes */
	uint64_t *slots; /* hash bits << 40 | offset of the record + 1; 0: free */
	size_t nslots;	 /* a power of 2; 0: there is no table */
	/* Records looked up and found since the last judgement; `looked` at the next one. */
	uint64_t looked, found, judge_at;
	uint64_t collapsed; /* records found, over all uses of the buffer */
};

#define SP__NOKEY UINT32_MAX /* stored key length: COLLATED, not encodable */

#define SP__REF_LEN_BITS 23
#define SP__REF_LEN_LONG ((UINT64_C(1) << SP__REF_LEN_BITS) - 1)
/* The prefix is an encoded key that determines the whole record (sp__keybuf.tells). */
#define SP__REF_SUFFICES (UINT64_C(1) << SP__REF_LEN_BITS)
#define SP__REF_OFFSET_SHIFT (SP__REF_LEN_BITS + 1)
#define SP__REF_OFFSET_MAX (UINT64_C(1) << (64 - SP__REF_OFFSET_SHIFT))

/*
 * A record while it is sorted: the first eight bytes of its key as a number, and its location.  An
 * entry has 16 bytes, so a cache line holds four, and most comparisons need nothing else.
 */
struct sp__entry {
	uint64_t prefix; /* sorts as the first bytes of the key */
	uint64_t ref;	 /* offset of the record << 24 | SUFFICES | length, see above */
};

/* Bytes of an entry and its scratch. */
#define SP__ENTRY_COST (2 * sizeof(struct sp__entry))

/* Records of 8 MiB and more have LEN_LONG; their end is searched for. */
static inline uint64_t sp__ref(uint64_t offset, size_t bytes)
{
	return offset << SP__REF_OFFSET_SHIFT |
	       (bytes < SP__REF_LEN_LONG ? bytes : SP__REF_LEN_LONG);
}

static inline uint64_t sp__ref_offset(uint64_t ref)
{
	return ref >> SP__REF_OFFSET_SHIFT;
}

static inline uint64_t sp__ref_len(uint64_t ref)
{
	return ref & SP__REF_LEN_LONG;
}

struct sp__runbuf {
	const struct sp_keyset *keys;
	char *base; /* borrowed memory */
	size_t capacity;
	size_t head;	       /* bytes before each record for its number, or 0 */
	bool repeats;	       /* the number is how often the record occurred; none is dropped */
	size_t used;	       /* bytes stored, including keys */
	uint64_t record_bytes; /* bytes of the records only */
	uint64_t repeated, repeated_bytes; /* records that were counted, not stored */
	struct sp__entry *entries;	   /* in reverse input order; after sorting: in order */
	size_t n;
	bool ordered; /* no record so far precedes the one before it */
	/* All records since init(), over all uses: */
	struct sp__tally added;	  /* accepted by add() */
	struct sp__tally dropped; /* by add(), unique() and cut() */
	struct sp__keybuf keybuf;
	struct sp__json_reader json; /* of keybuf */
	struct sp__distinct distinct;
};

void sp__runbuf_init(struct sp__runbuf *rb, const struct sp_keyset *keys);
void sp__runbuf_release(struct sp__runbuf *rb);
/* Empties the buffer and assigns memory, aligned to 16 bytes at both ends. */
void sp__runbuf_use(struct sp__runbuf *rb, void *base, size_t capacity);

/*
 * From now on, keeps only the first record of equal keys in this empty buffer (distinct.c), while
 * that pays.  Valid until the next use().
 */
void sp__runbuf_collapse(struct sp__runbuf *rb);
/* The same, even where it does not pay.  Not for COLLATED keys. */
void sp__runbuf_collapse_always(struct sp__runbuf *rb);
static inline bool sp__runbuf_collapses(const struct sp__runbuf *rb)
{
	return rb->distinct.nslots != 0;
}

/*
 * Adds memory right after the buffer's own, if keys are still collapsed; otherwise returns false.
 */
bool sp__runbuf_extend(struct sp__runbuf *rb, size_t more);

/*
 * Copies whole records from a span while they fit.  *taken is their size; less than bytes: the
 * buffer is full (0 with n == 0: the first record is larger than the buffer).  Returns 0; -ENOMEM;
 * or SP_EFORMAT if the next record has no key (sp__keyset.encode_checks).
 */
int sp__runbuf_add(struct sp__runbuf *rb, const char *data, size_t bytes, size_t *taken);

/*
 * Returns the memory that an empty buffer needs for a record of record_bytes.  Called after add()
 * found no space for the record, so that the length of its key is known.
 */
size_t sp__runbuf_need(const struct sp__runbuf *rb, size_t record_bytes);

/* order.c */
/*
 * Sorts a[0..n) with tmp[0..n) as scratch; the result is in a.  Entries with equal keys (and equal
 * records, if there is a last resort) keep their order.  Prefixes are restored.
 */
void sp__order(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp, size_t n);
/* Compares the keys of two entries in their records. */
int sp__compare_without_key(const struct sp__runbuf *rb, const struct sp__entry *x,
			    const struct sp__entry *y);

/* Sorts; entries[0..n) are then in order. */
void sp__runbuf_sort(struct sp__runbuf *rb);
/*
 * After sorting: keeps the first record of each group of equal keys (-u), and adds up their
 * numbers.
 */
void sp__runbuf_unique(struct sp__runbuf *rb);
/* After sorting: keeps the first n records. */
void sp__runbuf_cut(struct sp__runbuf *rb, size_t n);

/* Returns the record of an entry, with its terminator. */
static inline const char *sp__runbuf_record(const struct sp__runbuf *rb, const struct sp__entry *e,
					    size_t *bytes)
{
	const char *rec = rb->base + sp__ref_offset(e->ref);
	size_t len = sp__ref_len(e->ref);

	if (__builtin_expect(len == SP__REF_LEN_LONG, 0)) {
		const struct sp_recfmt *f = &sp__ks(rb->keys)->format;

		len = (size_t)(sp__rec_end(f, rec, rb->capacity - sp__ref_offset(e->ref)) - rec);
	}
	*bytes = len;
	return rec;
}

/* Bytes of all records that the buffer stands for. */
static inline uint64_t sp__runbuf_gives(const struct sp__runbuf *rb)
{
	return rb->record_bytes + rb->repeated_bytes;
}

/* The number of records that an entry stands for. */
static inline uint64_t sp__runbuf_number(const struct sp__runbuf *rb, const struct sp__entry *e)
{
	return rb->head ? sp__count_load(rb->base + sp__ref_offset(e->ref)) : 1;
}

/*
 * Prefetches the start of a record.  Inlined, since the compiler drops a call of a function that
 * only prefetches.
 */
static inline __attribute__((always_inline)) void sp__runbuf_prefetch(const struct sp__runbuf *rb,
								      const struct sp__entry *e)
{
	const char *rec = rb->base + sp__ref_offset(e->ref);

	__builtin_prefetch(rec);
	__builtin_prefetch(rec + 64);
}

/* ENCODED, COLLATED: returns the key of the record at an offset; NULL: it has no byte key. */
static inline const unsigned char *sp__runbuf_stored_key(const struct sp__runbuf *rb,
							 uint64_t offset, size_t *bytes)
{
	const char *rec = rb->base + offset - rb->head;
	uint32_t klen;

	memcpy(&klen, rec - sizeof(klen), sizeof(klen));
	if (klen == SP__NOKEY)
		return NULL;
	*bytes = klen;
	return (const unsigned char *)rec - sizeof(klen) - klen;
}

/* Returns the key of an entry; NULL: COLLATED without a byte key. */
static inline const unsigned char *sp__runbuf_key(const struct sp__runbuf *rb,
						  const struct sp__entry *e, size_t *bytes)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	const char *rec, *key;
	size_t len;

	if (ks->form == SP__KEY_INPLACE) {
		rec = sp__runbuf_record(rb, e, &len);
		len -= sp__rec_term(&ks->format);
		if (ks->whole) {
			*bytes = len;
			return (const unsigned char *)rec;
		}
		sp__key_slice(rb->keys, rec, len, &key, bytes);
		return (const unsigned char *)key;
	}
	return sp__runbuf_stored_key(rb, sp__ref_offset(e->ref), bytes);
}

/* Compares the keys of two entries, as bytes if they have byte keys. */
static inline int sp__compare_keys(const struct sp__runbuf *rb, const struct sp__entry *x,
				   const struct sp__entry *y)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	size_t an, bn;
	const unsigned char *a = sp__runbuf_key(rb, x, &an), *b = sp__runbuf_key(rb, y, &bn);

	if (a && b) {
		int c = sp__order_bytes(a, an, b, bn);

		if (c || !sp__key_is_cut(ks, an))
			return ks->descending ? -c : c;
	}
	return sp__compare_without_key(rb, x, y);
}

/* A record that is being added; for runbuf.c and distinct.c alone. */
struct sp__arrival {
	const char *rec;
	size_t bytes;		  /* including the terminator */
	const unsigned char *key; /* in the record or in rb->keybuf; NULL: no byte key */
	size_t key_bytes;
	size_t reach, key_reach; /* bytes that may be read from rec, from key */
	bool suffices;		 /* see SP__REF_SUFFICES */
};

static inline bool sp__runbuf_fits(const struct sp__runbuf *rb, size_t bytes)
{
	return bytes + (rb->n + 1) * SP__ENTRY_COST <= rb->capacity - rb->used;
}

/* Finds the record at p and its key.  Returns 0, -ENOMEM or SP_EFORMAT. */
int sp__runbuf_look(struct sp__runbuf *rb, const char *p, const char *end, struct sp__arrival *a);
/* Stores a record.  False if the buffer is full. */
bool sp__runbuf_append(struct sp__runbuf *rb, const struct sp__arrival *a);

/* distinct.c */
/* Makes a table in an empty buffer, unless the buffer is too small. */
void sp__distinct_begin(struct sp__runbuf *rb);
/*
 * Does the work of sp__runbuf_add() while there is a table.  The table ends when it does not pay.
 */
int sp__distinct_add(struct sp__runbuf *rb, const char *data, size_t bytes, size_t *taken);
/* Moves entries and table to the end of `more` bytes that were added after the buffer. */
void sp__distinct_extend(struct sp__runbuf *rb, size_t more);
