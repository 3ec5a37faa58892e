/* SPDX-License-Identifier: MIT */
/*
 * Collapses repeated keys while a run buffer is filled.
 *
 * Algorithm: a hash table has the records in the buffer.  A record whose key is in the table is
 * dropped, or counted with the first one, so a buffer holds as many groups as fit, however many
 * records they have.  The buffer is sorted and stored like any other.
 *
 * Memory: the table is at the end of the buffer, after the entries.  If it is doubled, the entries
 * move down.  A slot has 8 bytes: 24 bits of the hash, and the offset of the record, whose key is
 * then compared in full.  At most half the slots are used: 16 to 32 bytes per group.
 *
 *	| record, record, ...   ->  | scratch (n entries) | <- entries (n) | table |
 *
 * When the table ends: if records with G different keys arrive in random order, a share of g / G is
 * found among the g groups in the buffer, so G is about g looked / found.  The table pays if G is
 * at most four times the number of groups that fit in the buffer, or if a quarter of the records is
 * found, as when repetitions are close together.  It is judged each time that random order would
 * have found 16 records at this limit, and ends if it does not pay.  Each judgement uses only
 * records since the last one, since later records can differ.  The buffer is then filled without a
 * table, and the next buffer tries again.  A trial takes about 11 sqrt(groups that fit) records, a
 * few percent of a buffer.
 *
 * Identical records: if the key is the whole record, a sort without -u also stores identical
 * records once, with their number, and writes each one as often as it occurred.  Then only records
 * that fit save temporary space, so the table pays if G is at most twice the number of groups that
 * fit.  Once a table has ended, the next buffers do not try again.  Short records take as long to
 * look up as to sort, and the lookup runs in the thread that reads; so seven of eight must be
 * found.
 *
 * Keys made to have equal hashes, which needs the random seed of the process, would make searches
 * long.  So the table ends at a search that passes more than SP__PROBES_MAX slots; a table that has
 * to stay is full instead.
 *
 * Records without a byte key (COLLATED) are not in the table; sorting finds equal ones.
 *
 * Lookups of many groups miss the caches.  So records are processed 32 at a time: first all are
 * hashed and their slots prefetched, then the records in these slots, and then keys are compared.
 *
 * Rejected:
 * - the hash aggregation of flow/group.c, which allocates memory for each group, 150 bytes;
 * - a table of entries, which costs one more cache miss;
 * - two threads that look up halves of a batch while the table does not change: on a virtual
 *   machine a thread starts 50 us late, and 1 GB of repeated lines took as long (0.53 and 0.56 s,
 *   also in the page cache) and a third more processor time.
 */
#include <string.h>
#include "base/keyhash.h"
#include "sort/records/runbuf.h"

#define BLOCK 32
#define BEGIN_SLOTS 16384
#define MIN_SLOTS 64
/* Reciprocal of the maximum share of an empty buffer for the table. */
#define BEGIN_SHARE 16
#define JUDGE_EACH 256
#define FOUND_ENOUGH 16
#define TIMES_GROUPS 4
#define TIMES_REPEATED 2
#define SHORT_BYTES 32u
#define SHORT_SHARE 8
#define OFFSET_MASK (SP__REF_OFFSET_MAX - 1)

static size_t table_bytes(const struct sp__runbuf *rb)
{
	return rb->distinct.nslots * sizeof(*rb->distinct.slots);
}

/* Moves the entries to the new end of the buffer's memory. */
static void set_capacity(struct sp__runbuf *rb, size_t capacity)
{
	struct sp__entry *to = (void *)(rb->base + capacity);

	to -= rb->n;
	memmove(to, rb->entries, rb->n * sizeof(*to));
	rb->entries = to;
	rb->capacity = capacity;
}

void sp__distinct_begin(struct sp__runbuf *rb)
{
	struct sp__distinct *d = &rb->distinct;
	size_t n = BEGIN_SLOTS;

	d->due = false;
	while (n * sizeof(*d->slots) > rb->capacity / BEGIN_SHARE)
		n /= 2;
	if (n < MIN_SLOTS)
		return;
	d->nslots = n;
	d->looked = d->found = d->judge_at = 0;
	d->secret = sp__key_secret();
	d->crowded = false;
	set_capacity(rb, rb->capacity - table_bytes(rb));
	d->slots = (void *)(rb->base + rb->capacity);
	memset(d->slots, 0, table_bytes(rb));
}

/* If no record was repeated, moves the records to where they would be without numbers. */
static void strip(struct sp__runbuf *rb)
{
	size_t bytes;

	rb->used = 0;
	for (struct sp__entry *e = rb->entries + rb->n; e-- > rb->entries;) {
		const char *rec = sp__runbuf_record(rb, e, &bytes);

		memmove(rb->base + rb->used, rec, bytes);
		e->ref = sp__ref(rb->used, bytes);
		rb->used += bytes;
	}
	rb->head = 0;
}

static void end(struct sp__runbuf *rb)
{
	set_capacity(rb, rb->capacity + table_bytes(rb));
	rb->distinct.nslots = 0;
	if (rb->repeats && !rb->repeated)
		strip(rb);
}

void sp__distinct_extend(struct sp__runbuf *rb, size_t more)
{
	size_t bytes = rb->n * sizeof(*rb->entries) + table_bytes(rb);

	memmove((char *)rb->entries + more, rb->entries, bytes);
	rb->capacity += more;
	rb->entries = (void *)((char *)rb->entries + more);
	rb->distinct.slots = (void *)(rb->base + rb->capacity);
}

static uint64_t *free_slot(const struct sp__distinct *d, uint64_t hash)
{
	size_t at = hash & (d->nslots - 1);

	while (d->slots[at])
		at = (at + 1) & (d->nslots - 1);
	return &d->slots[at];
}

static void fill_slot(uint64_t *slot, uint64_t hash, uint64_t offset)
{
	*slot = (hash & ~OFFSET_MASK) | (offset + 1);
}

/* Doubles the table.  False if the buffer is full. */
static bool grow(struct sp__runbuf *rb)
{
	struct sp__distinct *d = &rb->distinct;
	const struct sp__key_secret *const secret = d->secret;
	const unsigned char *key;
	size_t bytes;

	if (!sp__runbuf_fits(rb, table_bytes(rb)))
		return false;
	set_capacity(rb, rb->capacity - table_bytes(rb));
	d->nslots *= 2;
	d->slots = (void *)(rb->base + rb->capacity);
	memset(d->slots, 0, table_bytes(rb));
	for (size_t i = rb->n; i-- > 0;) {
		uint64_t hash;

		key = sp__runbuf_key(rb, &rb->entries[i], &bytes);
		if (!key)
			continue;
		hash = sp__key_hash_secret((const char *)key, bytes, secret);
		fill_slot(free_slot(d, hash), hash, sp__ref_offset(rb->entries[i].ref));
	}
	return true;
}

/* True if the record at this offset has the key of the new record. */
static bool same_key(const struct sp__runbuf *rb, uint64_t offset, const struct sp__arrival *a)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	const size_t term = sp__rec_term(&ks->format);
	const char *rec = rb->base + offset, *slice;
	size_t bytes, left = rb->used - offset;
	const unsigned char *key;

	if (ks->whole)
		return left >= a->bytes && !memcmp(rec, a->rec, a->bytes);
	if (ks->form != SP__KEY_INPLACE) {
		key = sp__runbuf_stored_key(rb, offset, &bytes);
		if (!key || bytes != a->key_bytes || memcmp(key, a->key, bytes))
			return false;
		return !sp__key_is_cut(ks, bytes) ||
		       !sp__key_compare(rb->keys, rec,
					(size_t)(sp__rec_end(&ks->format, rec, left) - rec) - term,
					a->rec, a->bytes - term);
	}
	bytes = (size_t)(sp__rec_end(&ks->format, rec, left) - rec) - term;
	sp__key_slice(rb->keys, rec, bytes, &slice, &bytes);
	return bytes == a->key_bytes && !memcmp(slice, a->key, bytes);
}

/* Returns the slot with the key of the new record, or the free slot for it. */
static uint64_t *find(struct sp__runbuf *rb, uint64_t hash, const struct sp__arrival *a)
{
	struct sp__distinct *d = &rb->distinct;
	size_t at = hash & (d->nslots - 1);
	unsigned passed = 0;

	for (; d->slots[at]; at = (at + 1) & (d->nslots - 1)) {
		if (!((d->slots[at] ^ hash) & ~OFFSET_MASK) &&
		    same_key(rb, (d->slots[at] & OFFSET_MASK) - 1, a))
			break;
		if (++passed > SP__PROBES_MAX)
			d->crowded = true;
	}
	return &d->slots[at];
}

/* Counts one more record of the group. */
static void count(struct sp__runbuf *rb, uint64_t offset)
{
	char *rec = rb->base + offset;

	sp__count_store(rec, sp__count_load(rec) + 1);
}

/* Adds a record.  False if the buffer is full. */
static bool take(struct sp__runbuf *rb, uint64_t hash, const struct sp__arrival *a)
{
	struct sp__distinct *d = &rb->distinct;
	struct sp__tally one = { 1, sp__record_hash_near(a->rec, a->bytes, a->bytes), a->bytes };
	uint64_t *slot = a->key ? find(rb, hash, a) : NULL;

	if (slot && *slot) {
		d->found++;
		d->collapsed++;
		if (rb->head)
			count(rb, (*slot & OFFSET_MASK) - 1);
		if (!rb->repeats)
			sp__tally_join(&rb->dropped, &one);
		rb->repeated += rb->repeats;
		rb->repeated_bytes += rb->repeats ? a->bytes : 0;
	} else {
		if (__builtin_expect(d->crowded, 0) && d->always)
			return false;
		if (2 * (rb->n + 1) > d->nslots) {
			if (!grow(rb))
				return false;
			slot = a->key ? find(rb, hash, a) : NULL;
		}
		if (!sp__runbuf_append(rb, a))
			return false;
		if (slot)
			fill_slot(slot, hash, sp__ref_offset(rb->entries->ref));
	}
	d->looked++;
	sp__tally_join(&rb->added, &one);
	return true;
}

static bool pays(const struct sp__runbuf *rb, uint64_t expected)
{
	const struct sp__distinct *d = &rb->distinct;

	if (rb->repeats && rb->record_bytes / (rb->n + 1) < SHORT_BYTES)
		return d->found >= d->looked - d->looked / SHORT_SHARE;
	return d->found >= expected || d->found >= d->looked / 4;
}

/* Ends the table if it does not pay. */
static void judge(struct sp__runbuf *rb)
{
	struct sp__distinct *d = &rb->distinct;
	const uint64_t times = rb->repeats ? TIMES_REPEATED : TIMES_GROUPS;
	uint64_t each, max, expected;

	if (d->always)
		return;
	if (d->crowded) {
		end(rb);
		return;
	}
	if (d->looked < d->judge_at)
		return;
	d->judge_at = d->looked + JUDGE_EACH;
	each = rb->used / (rb->n + 1) + SP__ENTRY_COST + 2 * sizeof(*d->slots);
	max = (rb->capacity + table_bytes(rb)) / each + 1;
	/* Since the last judgement g grew from about half of its present value. */
	expected = d->looked * rb->n / 2 / (times * max);
	if (expected < FOUND_ENOUGH && d->looked < max)
		return;
	if (!pays(rb, expected))
		end(rb);
	d->looked = d->found = d->judge_at = 0;
}

int sp__distinct_add(struct sp__runbuf *rb, const char *data, size_t bytes, size_t *taken)
{
	const struct sp__distinct *d = &rb->distinct;
	const struct sp__key_secret *const secret = d->secret;
	const char *p = data, *end = data + bytes;
	/* An encoded key is valid until the next one is encoded. */
	unsigned max = sp__ks(rb->keys)->form == SP__KEY_INPLACE ? BLOCK : 1, n;
	struct sp__arrival a[BLOCK];
	uint64_t hash[BLOCK];
	bool fits = true;

	while (p < end && fits && d->nslots) {
		const char *next = p;

		for (n = 0; n < max && next < end; n++) {
			int rc = sp__runbuf_look(rb, next, end, &a[n]);

			if (rc < 0) {
				*taken = (size_t)(p - data);
				return rc;
			}
			next += a[n].bytes;
			hash[n] = a[n].key ? sp__key_hash_secret((const char *)a[n].key,
								 a[n].key_bytes, secret)
					   : 0;
			__builtin_prefetch(&d->slots[hash[n] & (d->nslots - 1)]);
		}
		for (unsigned i = 0; i < n && n > 1; i++) {
			uint64_t slot = d->slots[hash[i] & (d->nslots - 1)];

			__builtin_prefetch(rb->base + (slot & OFFSET_MASK));
			__builtin_prefetch(rb->base + (slot & OFFSET_MASK) + 64);
		}
		for (unsigned i = 0; i < n && (fits = take(rb, hash[i], &a[i])); i++)
			p += a[i].bytes;
		judge(rb);
	}
	*taken = (size_t)(p - data);
	return 0;
}
