/* SPDX-License-Identifier: MIT */
/*
 * Sorts entries.
 *
 * Algorithm: a stable radix sort of the eight prefix bytes, most significant first and out of
 * place, with insertion sort for small buckets.  A digit consists of bits in which the prefixes of
 * a bucket differ, from one byte or from two, and has about as many values as there are entries:
 * ten bits hold two decimal digits or two letters.  When the prefixes are sorted, one pass finds
 * the groups of equal ones.  In a group, the bytes that all keys share are skipped in one step.
 * The eight bytes after them replace the prefix, and the sort continues one level deeper (a caching
 * string radix sort).  At the end of the keys, the record follows as a second key if the key set
 * has a last resort by bytes.  A stable merge sort with full comparison sorts small groups, groups
 * at the maximum depth, and keys that are equal except for padding.
 *
 * Rejected:
 * - a comparison sort of (prefix, reference) throughout: a third of the speed on random keys;
 * - LSD radix sort: it reads all bytes of all prefixes, most of which do not matter;
 * - in-place American flag sort: it is not stable;
 * - whole bytes as digits: text has 10 to 30 values per byte, so there were twice as many passes.
 */
#include "base/bisect.h"
#include "base/minmax.h"
#include "sort/records/ovc.h"
#include "sort/records/runbuf.h"

#define INSERTION_MAX 24
/* Smaller groups of equal prefixes are merge-sorted immediately. */
#define FEW_MAX 4
/* Limits recursion, for the stacks of threads. */
#define LEVELS_MAX 4
#define PREFETCH 8
#define GROUPS_AHEAD 24
#define KEY_AHEAD 32
/* More buckets need more write streams than the caches hold. */
#define DIGIT_BITS 10u
#define DIGITS (1u << DIGIT_BITS)
#define FEW_BITS 6u
#define FEW_DIGITS (1u << FEW_BITS)

/* The bytes that the prefixes of a group hold now. */
struct depth {
	size_t offset;	/* in the key, or in the record */
	bool in_record; /* the last resort compares records */
	int level;
};

static const unsigned char *bytes_at(const struct sp__runbuf *rb, const struct sp__entry *e,
				     bool in_record, size_t *len)
{
	if (!in_record)
		return sp__runbuf_key(rb, e, len);
	const char *rec = sp__runbuf_record(rb, e, len);

	*len -= sp__rec_term(&sp__ks(rb->keys)->format);
	return (const unsigned char *)rec;
}

int sp__compare_without_key(const struct sp__runbuf *rb, const struct sp__entry *x,
			    const struct sp__entry *y)
{
	const size_t term = sp__rec_term(&sp__ks(rb->keys)->format);
	size_t an, bn;
	const char *a = sp__runbuf_record(rb, x, &an), *b = sp__runbuf_record(rb, y, &bn);

	return sp__key_compare(rb->keys, a, an - term, b, bn - term);
}

/* Compares in full. */
static int compare(const struct sp__runbuf *rb, const struct sp__entry *x,
		   const struct sp__entry *y)
{
	const size_t term = sp__rec_term(&sp__ks(rb->keys)->format);
	int c = sp__compare_keys(rb, x, y);
	const char *a, *b;
	size_t an, bn;

	if (c)
		return c;
	a = sp__runbuf_record(rb, x, &an);
	b = sp__runbuf_record(rb, y, &bn);
	return sp__key_last_resort(rb->keys, a, an - term, b, bn - term);
}

/* A stable merge sort from the bottom up, by full comparison. */
static void merge_sort(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp,
		       size_t n)
{
	struct sp__entry *from = a, *to = tmp;

	for (size_t width = 1; width < n; width *= 2) {
		for (size_t lo = 0; lo < n; lo += 2 * width) {
			size_t i = lo, mid = lo + width < n ? lo + width : n;
			size_t j = mid, hi = mid + width < n ? mid + width : n, k = lo;

			while (i < mid && j < hi)
				to[k++] =
					compare(rb, &from[j], &from[i]) < 0 ? from[j++] : from[i++];
			memcpy(to + k, from + i, (mid - i) * sizeof(*to));
			memcpy(to + k + (mid - i), from + j, (hi - j) * sizeof(*to));
		}
		struct sp__entry *t = from;

		from = to;
		to = t;
	}
	if (from != a)
		memcpy(a, from, n * sizeof(*a));
}

static void by_prefix(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp,
		      size_t n, const struct depth *d);

/* Returns the eight bytes of an entry at a depth, padded. */
static inline uint64_t prefix_at(const struct sp__runbuf *rb, const struct sp__entry *e,
				 const struct depth *d)
{
	size_t len;
	const unsigned char *p = bytes_at(rb, e, d->in_record, &len);

	return len > d->offset ? sp__key_prefix(p + d->offset, len - d->offset) : 0;
}

/* A short encoded key is right before the record.  Calls that only prefetch would be dropped. */
static inline __attribute__((always_inline)) void prefetch_one(const struct sp__runbuf *rb,
							       const struct sp__entry *e)
{
	const char *rec = rb->base + sp__ref_offset(e->ref);

	if (sp__ks(rb->keys)->form != SP__KEY_INPLACE)
		rec -= KEY_AHEAD;
	__builtin_prefetch(rec);
	__builtin_prefetch(rec + 64);
}

/* Records will be read in this order. */
static inline __attribute__((always_inline)) void
prefetch(const struct sp__runbuf *rb, const struct sp__entry *a, size_t i, size_t n)
{
	if (i + PREFETCH < n)
		prefetch_one(rb, &a[i + PREFETCH]);
}

/* Loads the next eight bytes of each entry of a group into its prefix. */
static void reload(const struct sp__runbuf *rb, struct sp__entry *a, size_t n,
		   const struct depth *d)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	bool down = d->in_record ? ks->last_reverse : ks->descending;
	uint64_t flip = down ? ~UINT64_C(0) : 0;

	for (size_t i = 0; i < n; i++) {
		prefetch(rb, a, i, n);
		a[i].prefix = flip ^ prefix_at(rb, &a[i], d);
	}
}

/*
 * Returns how many bytes all strings of a group share.  The first `known` bytes, as far as they
 * exist, are shared.  *same: all strings are identical.
 */
static size_t common(const struct sp__runbuf *rb, const struct sp__entry *a, size_t n,
		     bool in_record, size_t known, bool *same)
{
	size_t len = 0, shared, first_len = 0;
	const unsigned char *first = bytes_at(rb, &a[0], in_record, &first_len);

	shared = first_len;
	*same = true;
	for (size_t i = 1; i < n; i++) {
		const unsigned char *p;

		if (first_len > known)
			prefetch(rb, a, i, n);
		p = bytes_at(rb, &a[i], in_record, &len);
		*same &= len == first_len;
		if (shared > len)
			shared = len;
		if (shared > known)
			shared = sp__mismatch(first, shared, p, shared, known);
	}
	*same &= shared == first_len;
	return shared;
}

static bool all_suffice(const struct sp__entry *a, size_t n)
{
	uint64_t all = SP__REF_SUFFICES;

	for (size_t i = 0; i < n; i++)
		all &= a[i].ref;
	return all;
}

/* True if the records of a group are identical, and so their keys.  It reads each record once. */
static bool identical(const struct sp__runbuf *rb, const struct sp__entry *a, size_t n)
{
	size_t bytes, len;
	const char *first, *p;

	if (all_suffice(a, n))
		return true;
	first = sp__runbuf_record(rb, &a[0], &bytes);
	for (size_t i = 1; i < n; i++) {
		prefetch(rb, a, i, n);
		p = sp__runbuf_record(rb, &a[i], &len);
		if (len != bytes || !sp__same_bytes(p, first, len))
			return false;
	}
	return true;
}

static bool same_prefixes(const struct sp__entry *a, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (a[i].prefix != a[0].prefix)
			return false;
	return true;
}

/* Moves the depth past the shared bytes.  False: the entries are identical, or have been sorted. */
static bool skip_common(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp,
			size_t n, struct depth *d)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	bool same;
	size_t shared = common(rb, a, n, d->in_record, d->offset, &same);

	if (same && !d->in_record &&
	    (sp__key_is_cut(ks, shared) || (ks->last_resort && ks->last_collated))) {
		merge_sort(rb, a, tmp, n);
		return false;
	}
	if (same && !d->in_record && ks->last_resort && !ks->exact) {
		d->in_record = true;
		shared = common(rb, a, n, true, 0, &same);
	}
	d->offset = shared;
	return !same;
}

/* Sorts a group with equal prefixes by the following bytes. */
static void refine(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp,
		   size_t n, struct depth d)
{
	if (sp__ks(rb->keys)->form != SP__KEY_INPLACE && !d.in_record && identical(rb, a, n))
		return;
	if (n > FEW_MAX && d.level++ < LEVELS_MAX) {
		d.offset += 8;
		if (prefix_at(rb, &a[0], &d) == prefix_at(rb, &a[n - 1], &d) &&
		    !skip_common(rb, a, tmp, n, &d))
			return;
		reload(rb, a, n, &d);
		/* They can still be equal if NUL bytes look like padding. */
		if (!same_prefixes(a, n)) {
			by_prefix(rb, a, tmp, n, &d);
			return;
		}
	}
	merge_sort(rb, a, tmp, n);
}

/* Sorts a group of equal prefixes, and restores the prefixes. */
static void group(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp, size_t n,
		  const struct depth *d)
{
	uint64_t prefix = a[0].prefix;

	refine(rb, a, tmp, n, *d);
	for (size_t i = 0; i < n; i++)
		a[i].prefix = prefix;
}

static inline __attribute__((always_inline)) void prefetch_both(const struct sp__runbuf *rb,
								const struct sp__entry *a)
{
	prefetch_one(rb, &a[0]);
	prefetch_one(rb, &a[1]);
}

/*
 * Sorts all groups of a sequence that is in order of prefixes; prefetches records of later groups.
 */
static void groups(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp,
		   size_t n, const struct depth *d)
{
	size_t ahead = 1;

	for (size_t i = 0, j; i < n; i = j) {
		for (; ahead < n && ahead < i + GROUPS_AHEAD; ahead++)
			if (a[ahead].prefix == a[ahead - 1].prefix &&
			    !all_suffice(&a[ahead - 1], 2))
				prefetch_both(rb, &a[ahead - 1]);
		for (j = i + 1; j < n && a[j].prefix == a[i].prefix; j++)
			;
		ahead = sp__max(ahead, j + 1);
		if (j - i > 1)
			group(rb, a + i, tmp + i, j - i, d);
	}
}

/* Insertion sort by prefixes; src and to may be the same. */
static void insertion(const struct sp__entry *src, struct sp__entry *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sp__entry e = src[i];
		size_t j = i;

		for (; j > 0 && to[j - 1].prefix > e.prefix; j--)
			to[j] = to[j - 1];
		to[j] = e;
	}
}

struct spread {
	uint64_t differ; /* bits in which prefixes differ */
	uint64_t spare;	 /* bits that in each prefix equal the next lower bit of the byte */
};

static struct spread spread_of(const struct sp__entry *src, size_t n)
{
	uint64_t differ = 0, change = 0;

	for (size_t i = 0; i < n; i++) {
		differ |= src[i].prefix ^ src[0].prefix;
		change |= src[i].prefix ^ src[i].prefix << 1;
	}
	return (struct spread){ differ, ~(change | 0x0101010101010101u) };
}

/* Bits of a prefix from one or two offsets, concatenated to a number. */
struct digit {
	unsigned bits;				  /* total */
	unsigned high_shift, low_shift, low_bits; /* low_bits 0: from one offset */
	uint64_t high_mask, low_mask;
};

static inline size_t digit_of(const struct digit *d, uint64_t prefix)
{
	size_t high = prefix >> d->high_shift & d->high_mask;

	return d->low_bits ? high << d->low_bits | (prefix >> d->low_shift & d->low_mask) : high;
}

/* About as many buckets as entries: more would cost more than they separate. */
static unsigned bits_for(size_t n)
{
	unsigned bits = 63 - (unsigned)__builtin_clzll(n);

	return bits < DIGIT_BITS ? bits : DIGIT_BITS;
}

/* Returns the highest bit of a byte that differs and is not spare. */
static unsigned first_bit(const struct spread *s, unsigned byte)
{
	unsigned bit = byte + 31 - (unsigned)__builtin_clz((unsigned)(s->differ >> byte & 0xFF));

	while (s->spare >> bit & 1)
		bit--;
	return bit;
}

/*
 * Returns a digit of the highest bits that differ, at most max: from one byte, then from the next.
 * If a byte has only digits and padding, or letters of one case, its first bit equals the second
 * and is spare.
 */
static struct digit first_digit(const struct spread *s, unsigned max)
{
	unsigned byte = (63 - (unsigned)__builtin_clzll(s->differ)) & ~7u;
	unsigned top = first_bit(s, byte), bits = (unsigned)sp__min(top - byte + 1, max);
	struct digit d = { .bits = bits,
			   .high_shift = top + 1 - bits,
			   .high_mask = (1u << bits) - 1 };

	if (!byte || bits == max || !(s->differ >> (byte - 8) & 0xFF))
		return d;
	top = first_bit(s, byte - 8);
	d.low_bits = (unsigned)sp__min(top - (byte - 8) + 1, max - bits);
	d.low_shift = top + 1 - d.low_bits;
	d.low_mask = (1u << d.low_bits) - 1;
	d.bits += d.low_bits;
	return d;
}

/* Computes the offset of each digit's bucket. */
static void count_buckets(const struct sp__entry *src, size_t n, struct digit d, size_t *start)
{
	size_t sum = 0, bytes = sizeof(*start) << d.bits;

	memset(start, 0, bytes);
	for (size_t i = 0; i < n; i++)
		start[digit_of(&d, src[i].prefix)]++;
	for (size_t b = 0; b < (size_t)1 << d.bits; b++) {
		size_t count = start[b];

		start[b] = sum;
		sum += count;
	}
}

static void radix(struct sp__entry *src, struct sp__entry *other, bool to_other, size_t n);

/* Distributes src[0..n) by a digit and sorts the buckets. */
static inline void part(struct sp__entry *src, struct sp__entry *other, bool to_other, size_t n,
			struct digit digit, size_t *start)
{
	count_buckets(src, n, digit, start);
	for (size_t i = 0; i < n; i++)
		other[start[digit_of(&digit, src[i].prefix)]++] = src[i];
	for (size_t b = 0, lo = 0; b < (size_t)1 << digit.bits; lo = start[b++]) {
		if (start[b] > lo + 1)
			radix(other + lo, src + lo, !to_other, start[b] - lo);
		else if (start[b] > lo && !to_other)
			src[lo] = other[lo];
	}
}

/* The counts are on the stack while buckets are sorted; few entries need few counts. */
static void __attribute__((noinline)) part_few(struct sp__entry *src, struct sp__entry *other,
					       bool to_other, size_t n, struct digit digit)
{
	size_t start[FEW_DIGITS];

	part(src, other, to_other, n, digit, start);
}

static void __attribute__((noinline)) part_many(struct sp__entry *src, struct sp__entry *other,
						bool to_other, size_t n, struct digit digit)
{
	size_t start[DIGITS];

	part(src, other, to_other, n, digit, start);
}

/* Sorts src[0..n) by prefixes.  The result goes to other, or stays in src. */
static void radix(struct sp__entry *src, struct sp__entry *other, bool to_other, size_t n)
{
	struct spread spread = { 0 };
	struct digit digit;

	if (n > INSERTION_MAX)
		spread = spread_of(src, n);
	if (spread.differ) {
		digit = first_digit(&spread, bits_for(n));
		(digit.bits > FEW_BITS ? part_many : part_few)(src, other, to_other, n, digit);
	} else if (n <= INSERTION_MAX) {
		insertion(src, to_other ? other : src, n);
	} else if (to_other) {
		memcpy(other, src, n * sizeof(*src));
	}
}

static void by_prefix(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp,
		      size_t n, const struct depth *d)
{
	radix(a, tmp, false, n);
	groups(rb, a, tmp, n, d);
}

/* Equal entries: the earlier one in the input is first. */
static bool precedes(const struct sp__runbuf *rb, const struct sp__entry *x,
		     const struct sp__entry *y)
{
	int c = compare(rb, x, y);

	return c ? c < 0 : x->ref < y->ref;
}

/* Returns how many entries of a[0..n), which is in order, precede an entry.  Fast if few do. */
static size_t gallop(const struct sp__runbuf *rb, const struct sp__entry *a, size_t n,
		     const struct sp__entry *e)
{
	size_t lo = 0, step = 1, hi = n;

	for (; lo + step <= n; step *= 2) {
		if (!precedes(rb, &a[lo + step - 1], e)) {
			hi = lo + step - 1;
			break;
		}
		lo += step;
	}
	return lo + SP__BISECT(hi - lo, i, precedes(rb, &a[lo + i], e));
}

/*
 * Merges two sequences.  Searches for the position of each entry of the shorter one: m log n
 * comparisons instead of m + n.
 */
static void merge_few(const struct sp__runbuf *rb, struct sp__entry *to,
		      const struct sp__entry *few, size_t m, const struct sp__entry *many, size_t n)
{
	for (size_t i = 0; i < m; i++) {
		size_t before = gallop(rb, many, n, &few[i]);

		memcpy(to, many, before * sizeof(*to));
		to += before;
		many += before;
		n -= before;
		*to++ = few[i];
	}
	memcpy(to, many, n * sizeof(*to));
}

/*
 * Sorts collated keys: records with byte keys by radix, the others by strcoll(), then merges both.
 */
static void order_collated(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp,
			   size_t n)
{
	struct depth top = { 0 };
	size_t coded = 0, rest = 0, len;

	for (size_t r = 0; r < n; r++) {
		if (sp__runbuf_key(rb, &a[r], &len))
			a[coded++] = a[r];
		else
			tmp[rest++] = a[r];
	}
	by_prefix(rb, a, tmp + rest, coded, &top);
	memcpy(a + coded, tmp, rest * sizeof(*a));
	merge_sort(rb, a + coded, tmp, rest);
	if (!rest || !coded)
		return;
	memcpy(tmp, a, n * sizeof(*a));
	if (rest < coded)
		merge_few(rb, a, tmp + coded, rest, tmp, coded);
	else
		merge_few(rb, a, tmp, coded, tmp + coded, rest);
}

void sp__order(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp, size_t n)
{
	struct depth top = { 0 };

	if (sp__ks(rb->keys)->form == SP__KEY_COLLATED)
		order_collated(rb, a, tmp, n);
	else
		by_prefix(rb, a, tmp, n, &top);
}
