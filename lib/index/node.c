/* SPDX-License-Identifier: MIT */
/*
 * Encodes and decodes nodes.
 *
 * Format of a page, little-endian:
 *
 *	0   8  checksum of the rest
 *	8   8  number of the page
 *	16  2  level; 0: leaf
 *	18  2  number of entries: n
 *	20  2  length of the prefix
 *	22  2  0
 *	24  2n offset of each entry
 *	    .. the prefix
 *	    .. entries: length of the rest of the key, that rest, two numbers
 *	    .. 0
 *
 * Lengths and numbers of entries have 7 bits per byte, the lowest first; bit 7: more bytes follow.
 *
 * All keys share the prefix, so bisection finds an entry without reading the entries before it.
 * While a node is filled, its prefix can only become shorter; the entries are then written again.
 * They grow by the bytes that the prefix loses, so it is known beforehand whether they still fit.
 *
 * Rejected: compression against the previous key.  It saves more bytes, but a search must decode a
 * node from its first entry.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "base/bisect.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "index/node.h"
#include "rec/key.h"

#define HEAD_BYTES 24
#define NUMBER_MAX 10 /* bytes of 64 bits */

static void put_fixed(uint8_t *to, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t get_64(const uint8_t *from)
{
	uint64_t v;

	memcpy(&v, from, sizeof(v));
	return le64toh(v);
}

static unsigned get_16(const uint8_t *from)
{
	uint16_t v;

	memcpy(&v, from, sizeof(v));
	return le16toh(v);
}

static size_t number_bytes(uint64_t v)
{
	size_t n = 1;

	for (; v >= 128; v >>= 7)
		n++;
	return n;
}

static uint8_t *put_number(uint8_t *to, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		*to++ = (uint8_t)(v | 128);
	*to++ = (uint8_t)v;
	return to;
}

static const uint8_t *get_number(const uint8_t *at, uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0;; shift += 7) {
		*v |= (uint64_t)(*at & 127) << shift;
		if (*at++ < 128)
			return at;
	}
}

/* Skips a number in unchecked bytes.  Returns NULL if none ends there. */
static const uint8_t *check_number(const uint8_t *at, const uint8_t *end)
{
	for (const uint8_t *p = at; p < end && p < at + NUMBER_MAX; p++)
		if (*p < 128)
			return p == at + NUMBER_MAX - 1 && *p > 1 ? NULL : p + 1;
	return NULL;
}

/*
 * Skips two numbers in unchecked bytes.  An offset and a length mostly end within one word, so they
 * are found without a branch per byte, which processors cannot predict.
 */
static const uint8_t *check_two(const uint8_t *at, const uint8_t *end)
{
	uint64_t ends;

	if (end - at >= 8) {
		ends = ~get_64(at) & UINT64_C(0x8080808080808080);
		ends &= ends - 1;
		if (ends)
			return at + __builtin_ctzll(ends) / 8 + 1;
	}
	at = check_number(at, end);
	return at ? check_number(at, end) : NULL;
}

static const uint8_t *check_entry(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *key = *at < 128 ? at + 1 : check_number(at, end);
	uint64_t bytes;

	if (!key)
		return NULL;
	(void)get_number(at, &bytes);
	return bytes > (uint64_t)(end - key) ? NULL : check_two(key + bytes, end);
}

const char *sp__node_open(struct sp__node *n, const uint8_t *data, uint32_t page_bytes,
			  uint64_t number)
{
	const uint8_t *at, *end = data + page_bytes;
	bool apart = false;

	if (get_64(data) != sp__checksum(data + 8, page_bytes - 8))
		return "its checksum is wrong";
	if (get_64(data + 8) != number)
		return "it is another page";
	n->data = data;
	n->level = get_16(data + 16);
	n->count = get_16(data + 18);
	n->prefix_bytes = get_16(data + 20);
	n->prefix = data + HEAD_BYTES + 2 * (size_t)n->count;
	if (n->level >= SP__NODE_LEVELS || (n->level && !n->count) ||
	    HEAD_BYTES + 2 * (size_t)n->count + n->prefix_bytes > page_bytes)
		return "its header is wrong";
	at = n->prefix + n->prefix_bytes;
	for (unsigned i = 0; i < n->count; i++) {
		/* Not `at`: the processor need not wait for the end of the previous entry. */
		const uint8_t *entry = data + get_16(data + HEAD_BYTES + 2 * (size_t)i);

		apart |= entry != at;
		at = entry < end ? check_entry(entry, end) : NULL;
		if (!at)
			return "an entry is wrong";
	}
	if (apart)
		return "an entry is not where it should be";
	for (; at < end; at++)
		if (*at)
			return "there are data after its entries";
	return NULL;
}

/* Returns entry i with its key only. */
static const uint8_t *entry_key(const struct sp__node *n, unsigned i, size_t *bytes)
{
	uint64_t rest;
	const uint8_t *at = n->data + get_16(n->data + HEAD_BYTES + 2 * (size_t)i);
	const uint8_t *key = get_number(at, &rest);

	*bytes = (size_t)rest;
	return key;
}

struct sp__nodeentry sp__node_entry(const struct sp__node *n, unsigned i)
{
	struct sp__nodeentry e;

	e.rest = entry_key(n, i, &e.rest_bytes);
	(void)get_number(get_number(e.rest + e.rest_bytes, &e.a), &e.b);
	return e;
}

/* Compares the prefix with as many bytes of the key; 0: the key begins with the prefix. */
static int compare_prefix(const struct sp__node *n, const uint8_t *key, size_t bytes)
{
	size_t common = sp__min(bytes, n->prefix_bytes);
	int order = common ? memcmp(n->prefix, key, common) : 0;

	return order || common == n->prefix_bytes ? order : 1;
}

static int compare_rest(const struct sp__node *n, unsigned i, const uint8_t *key, size_t bytes)
{
	size_t rest_bytes;
	const uint8_t *rest = entry_key(n, i, &rest_bytes);

	return sp__order_bytes(rest, rest_bytes, key + n->prefix_bytes, bytes - n->prefix_bytes);
}

int sp__node_compare(const struct sp__node *n, unsigned i, const uint8_t *key, size_t bytes)
{
	return compare_prefix(n, key, bytes) ?: compare_rest(n, i, key, bytes);
}

unsigned sp__node_below(const struct sp__node *n, const uint8_t *key, size_t bytes, bool equal)
{
	int order = compare_prefix(n, key, bytes);

	if (order)
		return order < 0 ? n->count : 0;
	return (unsigned)SP__BISECT(n->count, i,
				    compare_rest(n, (unsigned)i, key, bytes) < (equal ? 1 : 0));
}

uint64_t sp__node_child(const struct sp__node *n, const uint8_t *key, size_t bytes)
{
	unsigned i = sp__node_below(n, key, bytes, true);

	/* Entries with the same key, repeated from the previous child. */
	while (i > 1 && sp__node_entry(n, i - 1).b && !sp__node_compare(n, i - 1, key, bytes))
		i--;
	return sp__node_entry(n, i ? i - 1 : 0).a;
}

int sp__nodefill_init(struct sp__nodefill *f, uint32_t page_bytes, unsigned level)
{
	*f = (struct sp__nodefill){ .page_bytes = page_bytes, .level = level };
	f->memory = malloc(3 * (size_t)page_bytes);
	f->slots = malloc(page_bytes);
	if (!f->memory || !f->slots)
		return -ENOMEM;
	f->prefix = f->memory;
	f->entries = f->prefix + page_bytes;
	f->spare = f->entries + page_bytes;
	return 0;
}

void sp__nodefill_free(struct sp__nodefill *f)
{
	free(f->memory);
	free(f->slots);
	*f = (struct sp__nodefill){ 0 };
}

/* Moves the last bytes of the prefix into the entries, in spare memory. */
static bool shorten(struct sp__nodefill *f, size_t prefix_bytes, size_t capacity)
{
	size_t more = f->prefix_bytes - prefix_bytes, grown = 0;
	uint8_t *to = f->spare, *old = f->entries;

	for (unsigned i = 0; i < f->count; i++) {
		uint64_t rest;

		(void)get_number(f->entries + f->slots[i], &rest);
		grown += more + number_bytes(rest + more) - number_bytes(rest);
	}
	if (f->entries_bytes + grown > capacity)
		return false;
	for (unsigned i = 0; i < f->count; i++) {
		const uint8_t *end = old + (i + 1 < f->count ? f->slots[i + 1] : f->entries_bytes);
		uint64_t rest;
		const uint8_t *at = get_number(old + f->slots[i], &rest);

		f->slots[i] = (uint16_t)(to - f->spare);
		to = put_number(to, rest + more);
		memcpy(to, f->prefix + prefix_bytes, more);
		memcpy(to + more, at, (size_t)(end - at));
		to += more + (size_t)(end - at);
	}
	f->entries = f->spare;
	f->spare = old;
	f->entries_bytes = (size_t)(to - f->entries);
	f->prefix_bytes = prefix_bytes;
	return true;
}

bool sp__nodefill_add(struct sp__nodefill *f, const uint8_t *key, size_t bytes, uint64_t a,
		      uint64_t b)
{
	size_t common = 0, max = f->count ? sp__min(f->prefix_bytes, bytes) : bytes, own, fixed;
	uint8_t *to;

	while (common < max && (!f->count || f->prefix[common] == key[common]))
		common++;
	own = number_bytes(bytes - common) + bytes - common + number_bytes(a) + number_bytes(b);
	fixed = HEAD_BYTES + 2 * ((size_t)f->count + 1) + common + own;
	if (fixed > f->page_bytes || f->entries_bytes > f->page_bytes - fixed)
		return false;
	if (!f->count) {
		if (common)
			memcpy(f->prefix, key, common);
		f->prefix_bytes = common;
	} else if (common < f->prefix_bytes && !shorten(f, common, f->page_bytes - fixed)) {
		return false;
	}
	f->slots[f->count++] = (uint16_t)f->entries_bytes;
	to = put_number(f->entries + f->entries_bytes, bytes - common);
	if (bytes > common)
		memcpy(to, key + common, bytes - common);
	to = put_number(put_number(to + bytes - common, a), b);
	f->entries_bytes = (size_t)(to - f->entries);
	return true;
}

void sp__nodefill_take(struct sp__nodefill *f, uint8_t *page)
{
	size_t prefix_at = HEAD_BYTES + 2 * (size_t)f->count;
	size_t at = prefix_at + f->prefix_bytes, end = at + f->entries_bytes;

	put_fixed(page + 16, f->level, 2);
	put_fixed(page + 18, f->count, 2);
	put_fixed(page + 20, f->prefix_bytes, 2);
	put_fixed(page + 22, 0, 2);
	for (unsigned i = 0; i < f->count; i++)
		put_fixed(page + HEAD_BYTES + 2 * (size_t)i, at + f->slots[i], 2);
	memcpy(page + prefix_at, f->prefix, f->prefix_bytes);
	memcpy(page + at, f->entries, f->entries_bytes);
	memset(page + end, 0, f->page_bytes - end);
	f->count = 0;
	f->prefix_bytes = f->entries_bytes = 0;
}

void sp__node_seal(uint8_t *page, uint32_t page_bytes, uint64_t number)
{
	put_fixed(page + 8, number, 8);
	put_fixed(page, sp__checksum(page + 8, page_bytes - 8), 8);
}
