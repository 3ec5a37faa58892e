/* SPDX-License-Identifier: MIT */
/*
 * Fills run buffers, sorts them, and drops equal records.
 *
 * If keys are slices of records, the entries of all records of a span that fit are made first, and
 * one memcpy() then copies these records.  Other records are copied one by one, after
 * their keys.
 */
#include "sort/records/runbuf.h"

void sp__runbuf_init(struct sp__runbuf *rb, const struct sp_keyset *keys)
{
	*rb = (struct sp__runbuf){ .keys = keys, .ordered = true };
	rb->keybuf.json = &rb->json;
}

void sp__runbuf_release(struct sp__runbuf *rb)
{
	sp__keybuf_release(&rb->keybuf);
	sp__json_reader_release(&rb->json);
}

void sp__runbuf_use(struct sp__runbuf *rb, void *base, size_t capacity)
{
	rb->base = base;
	rb->capacity = capacity & ~(size_t)15;
	rb->used = 0;
	rb->record_bytes = 0;
	rb->repeated = rb->repeated_bytes = 0;
	rb->entries = (void *)(rb->base + rb->capacity);
	rb->n = 0;
	rb->ordered = true;
	rb->distinct.due = false;
	rb->distinct.nslots = 0;
}

size_t sp__runbuf_need(const struct sp__runbuf *rb, size_t record_bytes)
{
	size_t need = record_bytes + rb->head + SP__ENTRY_COST + 64;

	return sp__ks(rb->keys)->form == SP__KEY_INPLACE ? need : need + rb->keybuf.bytes;
}

/* True if the new entry, already at entries[0], does not precede its predecessor. */
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

static void push(struct sp__runbuf *rb, uint64_t prefix, uint64_t ref, size_t bytes)
{
	rb->entries--;
	*rb->entries = (struct sp__entry){ prefix, ref };
	rb->n++;
	rb->record_bytes += bytes;
}

/* The records are in the buffer as they were in the span: one copy for all. */
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

		if (!sp__runbuf_fits(rb, (size_t)(next - data)))
			break;
		if (!ks->whole)
			sp__key_slice(rb->keys, p, len - term, &key, &klen);
		push(rb, sp__key_prefix_near(key, klen, (size_t)(end - key)) ^ flip,
		     sp__ref(rb->used + (size_t)(p - data), len), len);
		sum += sp__record_hash_near(p, len, (size_t)(end - p));
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

/* Inline here, where each record is added. */
inline int sp__runbuf_look(struct sp__runbuf *rb, const char *p, const char *end,
			   struct sp__arrival *a)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	size_t content;
	const char *key = p;
	int rc;

	a->rec = p;
	a->reach = (size_t)(end - p);
	a->bytes = (size_t)(sp__rec_end(&ks->format, p, (size_t)(end - p)) - p);
	a->key_bytes = content = a->bytes - sp__rec_term(&ks->format);
	if (ks->form == SP__KEY_INPLACE) {
		if (!ks->whole)
			sp__key_slice(rb->keys, p, content, &key, &a->key_bytes);
		a->key = (const unsigned char *)key;
		a->key_reach = (size_t)(end - key);
		a->suffices = false;
		return 0;
	}
	rb->keybuf.reach = a->reach;
	rc = sp__key_encode(rb->keys, p, content, &rb->keybuf);
	/* Not NULL, even if the key is empty and has no address. */
	a->key = rc == 1 ? NULL : rb->keybuf.bytes ? rb->keybuf.data : (const unsigned char *)"";
	a->key_bytes = rc == 1 ? 0 : rb->keybuf.bytes;
	a->key_reach = a->key_bytes ? rb->keybuf.capacity : 0;
	a->suffices = rb->keybuf.tells;
	return rc < 0 ? rc : 0;
}

inline bool sp__runbuf_append(struct sp__runbuf *rb, const struct sp__arrival *a)
{
	const struct sp__keyset *ks = sp__ks(rb->keys);
	uint32_t klen = a->key ? (uint32_t)a->key_bytes : SP__NOKEY;
	size_t stored = ks->form == SP__KEY_INPLACE ? 0 : a->key_bytes + sizeof(klen);
	size_t before = stored + rb->head;
	char *to = rb->base + rb->used;
	uint64_t prefix = 0;

	if (!sp__runbuf_fits(rb, before + a->bytes))
		return false;
	if (a->key)
		prefix = sp__key_prefix_near(a->key, a->key_bytes, a->key_reach) ^
			 (ks->descending ? UINT64_MAX : 0);
	/* The memory after the copied bytes is at least the new entry's scratch. */
	if (stored) {
		if (a->key_bytes <= 8 && a->key_reach >= 8)
			memcpy(to, a->key, 8);
		else if (a->key_bytes)
			memcpy(to, a->key, a->key_bytes);
		memcpy(to + a->key_bytes, &klen, sizeof(klen));
	}
	if (rb->head)
		sp__count_store(to + before, 1);
	sp__copy_near(to + before, a->rec, a->bytes, a->reach);
	push(rb, prefix,
	     sp__ref(rb->used + before, a->bytes) | (a->suffices ? SP__REF_SUFFICES : 0), a->bytes);
	rb->used += before + a->bytes;
	if (rb->ordered && rb->n > 1)
		rb->ordered = still_ordered(rb);
	return true;
}

static int add_each(struct sp__runbuf *rb, const char *data, size_t bytes, size_t *taken)
{
	const char *p = data, *end = data + bytes;
	struct sp__arrival a;

	for (; p < end; p += a.bytes) {
		int rc = sp__runbuf_look(rb, p, end, &a);

		if (rc < 0 || !sp__runbuf_append(rb, &a)) {
			*taken = (size_t)(p - data);
			return rc;
		}
		sp__tally_add_near(&rb->added, p, a.bytes, (size_t)(end - p));
	}
	*taken = bytes;
	return 0;
}

int sp__runbuf_add(struct sp__runbuf *rb, const char *data, size_t bytes, size_t *taken)
{
	size_t before = 0;
	int rc = 0;

	if (sp__ks(rb->keys)->form != SP__KEY_INPLACE)
		sp__key_expect(rb->keys, bytes);
	if (rb->distinct.due)
		sp__distinct_begin(rb);
	if (sp__runbuf_collapses(rb)) {
		rc = sp__distinct_add(rb, data, bytes, &before);
		*taken = before;
		if (rc < 0 || sp__runbuf_collapses(rb))
			return rc;
	}
	if (sp__ks(rb->keys)->form != SP__KEY_INPLACE || rb->head)
		rc = add_each(rb, data + before, bytes - before, taken);
	else
		*taken = add_inplace(rb, data + before, bytes - before);
	*taken += before;
	return rc;
}

void sp__runbuf_collapse(struct sp__runbuf *rb)
{
	rb->distinct.due = true;
}

void sp__runbuf_collapse_always(struct sp__runbuf *rb)
{
	sp__runbuf_collapse(rb);
	rb->distinct.always = true;
}

bool sp__runbuf_extend(struct sp__runbuf *rb, size_t more)
{
	if (!sp__runbuf_collapses(rb))
		return false;
	sp__distinct_extend(rb, more);
	return true;
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

static void drop(struct sp__runbuf *rb, const struct sp__entry *e)
{
	size_t bytes;
	const char *rec = sp__runbuf_record(rb, e, &bytes);

	rb->record_bytes -= bytes;
	sp__tally_add(&rb->dropped, rec, bytes);
}

void sp__runbuf_unique(struct sp__runbuf *rb)
{
	struct sp__entry *last = rb->entries, *now = last, *end = last + rb->n;

	while (++now < end) {
		if (last->prefix != now->prefix || sp__compare_keys(rb, last, now)) {
			*++last = *now;
			continue;
		}
		if (rb->head)
			sp__count_store(rb->base + sp__ref_offset(last->ref),
					sp__runbuf_number(rb, last) + sp__runbuf_number(rb, now));
		drop(rb, now);
	}
	if (rb->n)
		rb->n = (size_t)(last + 1 - rb->entries);
}

void sp__runbuf_cut(struct sp__runbuf *rb, size_t n)
{
	for (size_t i = n; i < rb->n; i++)
		drop(rb, &rb->entries[i]);
	if (n < rb->n)
		rb->n = n;
}
