/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "sort/runbuf.h"

void sp__runbuf_init(struct sp__runbuf *rb, const struct sp_keyset *keys)
{
	*rb = (struct sp__runbuf){ .keys = keys, .ordered = true };
}

void sp__runbuf_release(struct sp__runbuf *rb)
{
	sp__keybuf_release(&rb->keybuf);
}

void sp__runbuf_use(struct sp__runbuf *rb, void *base, size_t capacity)
{
	rb->base = base;
	rb->capacity = capacity & ~(size_t)15;
	rb->used = 0;
	rb->record_bytes = 0;
	rb->entries = (void *)(rb->base + rb->capacity);
	rb->n = 0;
	rb->ordered = true;
}

size_t sp__runbuf_need(const struct sp__runbuf *rb, size_t record_bytes)
{
	size_t need = record_bytes + SP__ENTRY_COST + 64;

	return sp__ks(rb->keys)->form == SP__KEY_INPLACE ? need : need + rb->keybuf.bytes;
}

static bool fits(const struct sp__runbuf *rb, size_t bytes)
{
	return bytes + (rb->n + 1) * SP__ENTRY_COST <= rb->capacity - rb->used;
}

/* Is the new entry (already at entries[0]) not before its predecessor? */
static bool still_ordered(const struct sp__runbuf *rb)
{
	const struct sp__entry *now = rb->entries, *before = now + 1;
	const size_t term = sp__rec_term(&sp__ks(rb->keys)->format);
	const char *a, *b;
	size_t an, bn;

	if (sp__ks(rb->keys)->form != SP__KEY_COLLATED && before->prefix != now->prefix)
		return before->prefix < now->prefix;
	a = sp__runbuf_record(rb, before, &an);
	b = sp__runbuf_record(rb, now, &bn);
	return sp_keyset_compare(rb->keys, a, an - term, b, bn - term) <= 0;
}

static void push(struct sp__runbuf *rb, uint64_t prefix, size_t offset, size_t bytes)
{
	rb->entries--;
	*rb->entries = (struct sp__entry){ prefix, sp__ref(offset, bytes) };
	rb->n++;
	rb->record_bytes += bytes;
}

/* The records lie in the buffer as in the span: one copy for all of them. */
static size_t add_inplace(struct sp__runbuf *rb, const char *data, size_t bytes)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	const size_t term = sp__rec_term(&ks->format);
	const uint64_t flip = ks->descending ? ~UINT64_C(0) : 0;
	const char *p = data, *end = data + bytes;
	size_t first = rb->n;
	uint64_t sum = 0;

	while (p < end) {
		const char *next = sp__rec_end(&ks->format, p, (size_t)(end - p)), *key = p;
		size_t len = (size_t)(next - p), klen = len - term;

		if (!fits(rb, (size_t)(next - data)))
			break;
		if (!ks->whole)
			sp__key_slice(rb->keys, p, len - term, &key, &klen);
		push(rb, sp__key_prefix(key, klen) ^ flip, rb->used + (size_t)(p - data), len);
		sum += sp__record_hash(p, len);
		p = next;
	}
	bytes = (size_t)(p - data);
	sp__tally_join(&rb->added, &(struct sp__tally){ rb->n - first, sum, bytes });
	memcpy(rb->base + rb->used, data, bytes);
	rb->used += bytes;
	if (rb->ordered && rb->n > 1) {
		struct sp__entry *top = rb->entries;

		for (size_t i = first ? first : 1; i < rb->n && rb->ordered; i++) {
			rb->entries = top + (rb->n - 1 - i);
			rb->ordered = still_ordered(rb);
		}
		rb->entries = top;
	}
	return bytes;
}

static int add_encoded(struct sp__runbuf *rb, const char *data, size_t bytes, size_t *taken)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	const size_t term = sp__rec_term(&ks->format);
	const char *p = data, *end = data + bytes;
	struct sp__keybuf *kb = &rb->keybuf;

	while (p < end) {
		const char *next = sp__rec_end(&ks->format, p, (size_t)(end - p));
		size_t len = (size_t)(next - p);
		int rc = sp__key_encode(rb->keys, p, len - term, kb);
		uint32_t klen = rc == 1 ? SP__NOKEY : (uint32_t)kb->bytes;
		size_t stored = rc == 1 ? 0 : kb->bytes;
		char *to = rb->base + rb->used;

		if (rc < 0)
			return rc;
		if (!fits(rb, len + sizeof(klen) + stored))
			break;
		if (stored)
			memcpy(to, kb->data, stored);
		memcpy(to + stored, &klen, sizeof(klen));
		memcpy(to + stored + sizeof(klen), p, len);
		push(rb, rc == 1 ? 0 : sp__key_prefix(kb->data, stored),
		     rb->used + stored + sizeof(klen), len);
		rb->used += stored + sizeof(klen) + len;
		sp__tally_add(&rb->added, p, len);
		if (rb->ordered && rb->n > 1)
			rb->ordered = still_ordered(rb);
		p = next;
	}
	*taken = (size_t)(p - data);
	return 0;
}

int sp__runbuf_add(struct sp__runbuf *rb, const char *data, size_t bytes, size_t *taken)
{
	if (sp__ks(rb->keys)->form != SP__KEY_INPLACE) {
		sp__key_expect(rb->keys, bytes);
		return add_encoded(rb, data, bytes, taken);
	}
	*taken = add_inplace(rb, data, bytes);
	return 0;
}

static void reverse(struct sp__entry *a, size_t n)
{
	for (size_t i = 0, j = n; i + 1 < j; i++) {
		struct sp__entry t = a[i];

		a[i] = a[--j];
		a[j] = t;
	}
}

void sp__runbuf_sort(struct sp__runbuf *rb)
{
	reverse(rb->entries, rb->n);
	if (!rb->ordered)
		sp__order(rb, rb->entries, rb->entries - rb->n, rb->n);
	rb->ordered = true;
}

static bool same_key(const struct sp__runbuf *rb, const struct sp__entry *a,
		     const struct sp__entry *b)
{
	const size_t term = sp__rec_term(&sp__ks(rb->keys)->format);
	const unsigned char *ka, *kb;
	const char *ra, *rb_;
	size_t an, bn;

	if (a->prefix != b->prefix)
		return false;
	ka = sp__runbuf_key(rb, a, &an);
	kb = sp__runbuf_key(rb, b, &bn);
	if (ka && kb && (an != bn || memcmp(ka, kb, an)))
		return false;
	if (ka && kb && !sp__key_is_cut(sp__ks(rb->keys), an))
		return true;
	ra = sp__runbuf_record(rb, a, &an);
	rb_ = sp__runbuf_record(rb, b, &bn);
	return !sp__key_compare(rb->keys, ra, an - term, rb_, bn - term);
}

static void drop(struct sp__runbuf *rb, const struct sp__entry *e)
{
	size_t bytes;
	const char *rec = sp__runbuf_record(rb, e, &bytes);

	rb->record_bytes -= bytes;
	sp__tally_add(&rb->dropped, rec, bytes);
}

void sp__runbuf_unique(struct sp__runbuf *rb)
{
	size_t kept = 0;

	for (size_t i = 0; i < rb->n; i++) {
		if (kept && same_key(rb, &rb->entries[kept - 1], &rb->entries[i]))
			drop(rb, &rb->entries[i]);
		else
			rb->entries[kept++] = rb->entries[i];
	}
	rb->n = kept;
}

void sp__runbuf_cut(struct sp__runbuf *rb, size_t n)
{
	for (size_t i = n; i < rb->n; i++)
		drop(rb, &rb->entries[i]);
	if (n < rb->n)
		rb->n = n;
}
