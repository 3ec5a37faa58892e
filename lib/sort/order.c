/* SPDX-License-Identifier: MIT */
/*
 * Sorting entries.
 *
 * Idea: radix sort on the eight prefix bytes, most significant first, out of place and
 * stable, with insertion sort for small buckets.  If all eight bytes are equal, the
 * next eight bytes of the key replace the prefix and the sort continues one level
 * deeper (a caching string radix sort); at the end of the keys, the record itself
 * follows as a second key if the key set has a last resort by bytes.  Long common
 * prefixes, deep recursion, and keys of different lengths that are equal but for
 * padding, are sorted by a stable merge sort with full comparison, so that neither long
 * common prefixes nor NUL bytes cost more than in a comparison sort.
 *
 * Rejected: a comparison sort of (prefix, reference) throughout (a third of the speed on
 * random keys); LSD radix (touches all bytes of all prefixes, most of which decide
 * nothing); in-place American flag (not stable).
 */
#include "sort/runbuf.h"

#define INSERTION_MAX 24
/* Recursion is bounded for the stacks of threads; common prefixes alone are a loop. */
#define LEVELS_MAX 4
#define COMMON_MAX 512

/* The bytes that the prefixes of a group now hold. */
struct depth {
	size_t offset;	/* into the key, or into the record */
	bool in_record; /* at the last resort */
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

/* Full comparison, by bytes if there are byte keys. */
static int compare(const struct sp__runbuf *rb, const struct sp__entry *x,
		   const struct sp__entry *y)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	const size_t term = sp__rec_term(&ks->format);
	const unsigned char *a, *b;
	const char *ra, *rc;
	bool keys_decide = false;
	size_t an, bn;
	int c;

	a = sp__runbuf_key(rb, x, &an);
	b = sp__runbuf_key(rb, y, &bn);
	if (a && b) {
		c = sp__order_bytes(a, an, b, bn);
		if (c)
			return ks->descending ? -c : c;
		keys_decide = !sp__key_is_cut(ks, an);
	}
	ra = sp__runbuf_record(rb, x, &an);
	rc = sp__runbuf_record(rb, y, &bn);
	if (keys_decide)
		return sp__key_last_resort(rb->keys, ra, an - term, rc, bn - term);
	return sp_keyset_compare(rb->keys, ra, an - term, rc, bn - term);
}

/* Bottom-up stable merge sort by full comparison. */
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

/* Puts the next eight bytes of every entry of a group into its prefix. */
static void reload(const struct sp__runbuf *rb, struct sp__entry *a, size_t n,
		   const struct depth *d)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	bool down = d->in_record ? ks->last_reverse : ks->descending;
	uint64_t flip = down ? ~UINT64_C(0) : 0;
	size_t len;

	for (size_t i = 0; i < n; i++) {
		const unsigned char *p = bytes_at(rb, &a[i], d->in_record, &len);

		a[i].prefix =
			flip ^
			(len > d->offset ? sp__key_prefix(p + d->offset, len - d->offset) : 0);
	}
}

enum ends { ALL_GO_ON, ALL_END_TOGETHER, MIXED };

/* Where the strings of a group end relative to the eight bytes on which they agree. */
static enum ends look_at_ends(const struct sp__runbuf *rb, const struct sp__entry *a, size_t n,
			      const struct depth *d)
{
	size_t len, first = 0, ended = 0;
	bool same = true;

	for (size_t i = 0; i < n; i++) {
		bytes_at(rb, &a[i], d->in_record, &len);
		if (len <= d->offset + 8)
			ended++;
		if (i == 0)
			first = len;
		same &= len == first;
	}
	if (ended == 0)
		return ALL_GO_ON;
	return ended == n && same ? ALL_END_TOGETHER : MIXED;
}

/*
 * All prefixes of the group are equal: decides by the following bytes.  The loop
 * handles a group that stays together; by_prefix() recurses into the parts of one that
 * splits.
 */
static void refine(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp,
		   size_t n, struct depth d)
{
	for (;;) {
		enum ends ends = look_at_ends(rb, a, n, &d);

		if (ends == MIXED || d.level >= LEVELS_MAX || d.offset >= COMMON_MAX) {
			merge_sort(rb, a, tmp, n);
			return;
		}
		if (ends == ALL_GO_ON) {
			d.offset += 8;
		} else {
			if (d.in_record || !sp__ks(rb->keys)->last_resort)
				return;
			if (sp__ks(rb->keys)->last_collated) {
				merge_sort(rb, a, tmp, n);
				return;
			}
			d.in_record = true;
			d.offset = 0;
		}
		reload(rb, a, n, &d);
		for (size_t i = 1; i < n; i++) {
			if (a[i].prefix != a[0].prefix) {
				d.level++;
				by_prefix(rb, a, tmp, n, &d);
				return;
			}
		}
	}
}

/* A group of equal prefixes; restores them afterwards. */
static void group(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp, size_t n,
		  const struct depth *d)
{
	uint64_t prefix = a[0].prefix;

	refine(rb, a, tmp, n, *d);
	for (size_t i = 0; i < n; i++)
		a[i].prefix = prefix;
}

static void groups(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp,
		   size_t n, const struct depth *d)
{
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && a[j].prefix == a[i].prefix; j++)
			;
		if (j - i > 1)
			group(rb, a + i, tmp + i, j - i, d);
	}
}

static void insertion(struct sp__entry *a, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sp__entry e = a[i];
		size_t j = i;

		for (; j > 0 && a[j - 1].prefix > e.prefix; j--)
			a[j] = a[j - 1];
		a[j] = e;
	}
}

/*
 * Where the bucket of each byte value begins; false if there is only one.  Not
 * inlined: its counts must not stay on the stack while radix() recurses.
 */
static bool __attribute__((noinline))
count_buckets(const struct sp__entry *src, size_t n, int shift, size_t *start)
{
	size_t count[256] = { 0 };

	for (size_t i = 0; i < n; i++)
		count[src[i].prefix >> shift & 255]++;
	if (count[src[0].prefix >> shift & 255] == n)
		return false;
	for (size_t b = 0, sum = 0; b < 256; b++) {
		start[b] = sum;
		sum += count[b];
	}
	return true;
}

/*
 * Sorts src[0..n) on prefix bytes shift/8 and below; the result goes to final,
 * which is src or other.
 */
static void radix(const struct sp__runbuf *rb, struct sp__entry *src, struct sp__entry *other,
		  bool to_other, size_t n, int shift, const struct depth *d)
{
	size_t start[256];

	for (;; shift -= 8) {
		if (n <= INSERTION_MAX || shift < 0) {
			struct sp__entry *fin = to_other ? other : src;

			if (shift >= 0)
				insertion(src, n);
			if (to_other)
				memcpy(other, src, n * sizeof(*src));
			groups(rb, fin, to_other ? src : other, n, d);
			return;
		}
		if (count_buckets(src, n, shift, start))
			break;
	}
	for (size_t i = 0; i < n; i++)
		other[start[src[i].prefix >> shift & 255]++] = src[i];
	for (size_t b = 0, lo = 0; b < 256; lo = start[b++])
		if (start[b] > lo)
			radix(rb, other + lo, src + lo, !to_other, start[b] - lo, shift - 8, d);
}

static void by_prefix(const struct sp__runbuf *rb, struct sp__entry *a, struct sp__entry *tmp,
		      size_t n, const struct depth *d)
{
	radix(rb, a, tmp, false, n, 56, d);
}

/* Equal in every respect: the earlier one in the input first. */
static bool precedes(const struct sp__runbuf *rb, const struct sp__entry *x,
		     const struct sp__entry *y)
{
	int c = compare(rb, x, y);

	return c ? c < 0 : x->ref < y->ref;
}

/* How many of a[0..n), which is in order, precede an entry: fast if few do. */
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
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (precedes(rb, &a[mid], e))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Merges two sequences by searching for the place of each entry of the shorter one: m
 * log n comparisons instead of m + n.
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
 * Collated keys: records with byte keys by radix, the others by strcoll(),
 * then both together.
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
