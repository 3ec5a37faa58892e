/* SPDX-License-Identifier: MIT */
/*
 * Compares texts by strcoll(), and decides when encoding begins.
 *
 * Memory: strcoll() needs NUL-terminated strings, and records are not.  Short texts are copied to
 * the stack, longer ones to memory that each thread keeps, up to a limit.  So no comparison
 * allocates.
 *
 * Rejected: terminating the record in place during a call, since other threads can read it.
 */
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/mem.h"
#include "rec/collate_table.h"

#define STACK_BYTES 512
#define KEPT_BYTES (256u << 10)
/* Sorting this many bytes of text by strcoll() takes longer than learning the locale. */
#define LEARN_BYTES (128u << 10)

/*
 * Long encodings are compared in windows: first FIRST_WINDOW bytes, since most texts differ there,
 * then growing windows, each at most 1/WINDOWS of the length of both texts plus FIRST_WINDOW.
 */
#define FIRST_WINDOW ((size_t)512)
#define GROWTH 16
#define WINDOWS 8

struct sp__collate {
	_Atomic(struct sp__collate_table *) table;
	_Atomic uint64_t text_bytes; /* seen or expected; grows only */
};

/* Memory that a thread keeps between comparisons. */
struct scratch {
	size_t capacity;
	char data[];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t scratch_key;
static bool have_key;
static atomic_bool starved;

static void make_key(void)
{
	have_key = pthread_key_create(&scratch_key, free) == 0;
}

bool sp__collate_hard(void)
{
	const char *name = setlocale(LC_COLLATE, NULL);

	return name && strcmp(name, "C") != 0 && strcmp(name, "POSIX") != 0;
}

int sp__collate_new(struct sp__collate **c)
{
	*c = calloc(1, sizeof(**c));
	return *c ? 0 : -ENOMEM;
}

void sp__collate_free(struct sp__collate *c)
{
	if (!c)
		return;
	free(c->table);
	free(c);
}

void sp__collate_expect(struct sp__collate *c, uint64_t bytes)
{
	uint64_t before = atomic_fetch_add_explicit(&c->text_bytes, bytes, memory_order_relaxed);

	/*
	 * Only the thread that passes LEARN_BYTES learns the locale; the others do not wait for it.
	 */
	if (before < LEARN_BYTES && bytes >= LEARN_BYTES - before)
		atomic_store(&c->table, sp__collate_learn());
}

/* Returns the table; NULL: there is none, or none yet. */
static const struct sp__collate_table *table_for(struct sp__collate *c, size_t bytes)
{
	const struct sp__collate_table *t = atomic_load_explicit(&c->table, memory_order_acquire);

	if (!t) {
		sp__collate_expect(c, bytes);
		t = atomic_load_explicit(&c->table, memory_order_acquire);
	}
	return t;
}

int sp__collate_encode(struct sp__collate *c, const char *s, size_t n, struct sp__keybuf *out)
{
	const struct sp__collate_table *t = table_for(c, n);

	return t ? sp__collate_encode_by(t, s, n, out) : 1;
}

bool sp__collate_starved(void)
{
	return atomic_load(&starved);
}

int sp__collate_check(const struct sp_keyset *keys, struct sp_errinfo *err)
{
	const struct sp__keyset *ks = sp__ks(keys);

	if ((ks->form == SP__KEY_COLLATED || ks->last_collated) && sp__collate_starved())
		return sp__err(err, -ENOMEM, "compare", NULL, -1);
	return 0;
}

/* Compares two parts, each followed by a NUL that its length does not count. */
static int compare_parts(const char *a, size_t an, const char *b, size_t bn)
{
	const char *a_end = a + an, *b_end = b + bn;
	int diff;

	for (;;) {
		diff = strcoll(a, b);
		if (diff)
			return diff;
		a += strlen(a) + 1;
		b += strlen(b) + 1;
		if (a > a_end || b > b_end)
			return (b > b_end) - (a > a_end);
	}
}

static int compare_copies(char *room, const char *a, size_t an, const char *b, size_t bn)
{
	char *b_copy = room + an + 1;

	memcpy(room, a, an);
	room[an] = '\0';
	memcpy(b_copy, b, bn);
	b_copy[bn] = '\0';
	return compare_parts(room, an, b_copy, bn);
}

/* Returns this thread's memory for need bytes; NULL: it keeps none, or not as much. */
static struct scratch *kept_scratch(size_t need)
{
	struct scratch *old, *s;

	pthread_once(&once, make_key);
	if (need > KEPT_BYTES || !have_key)
		return NULL;
	old = pthread_getspecific(scratch_key);
	if (old && old->capacity >= need)
		return old;
	if (need < KEPT_BYTES / 2)
		need *= 2;
	s = malloc(sizeof(*s) + need);
	if (!s)
		return NULL;
	s->capacity = need;
	if (pthread_setspecific(scratch_key, s)) {
		free(s);
		return NULL;
	}
	free(old);
	return s;
}

static int compare_long(const char *a, size_t an, const char *b, size_t bn)
{
	struct scratch *s = kept_scratch(an + bn + 2);
	char *room = s ? s->data : sp__block_resize(NULL, 0, an + bn + 2);
	int diff;

	if (!room) {
		atomic_store(&starved, true);
		return sp__order_bytes(a, an, b, bn);
	}
	diff = compare_copies(room, a, an, b, bn);
	if (!s)
		(void)sp__block_resize(room, an + bn + 2, 0);
	return diff;
}

int sp__collate_compare(const char *a, size_t an, const char *b, size_t bn)
{
	char room[STACK_BYTES];

	if (an == bn && (!an || !memcmp(a, b, an)))
		return 0;
	if (an < sizeof(room) && bn < sizeof(room) - 1 - an)
		return compare_copies(room, a, an, b, bn);
	return compare_long(a, an, b, bn);
}

struct long_text {
	const char *s;
	size_t n;
	struct sp__keybuf part;
};

/* Compares window by window.  Returns 0 and the order; 1: a text cannot be encoded; or -ENOMEM. */
static int compare_windows(const struct sp__collate_table *t, struct long_text *a,
			   struct long_text *b, int *order)
{
	const size_t most = (a->n + b->n) / WINDOWS + FIRST_WINDOW;
	size_t from = 0, room = FIRST_WINDOW;
	bool full;
	int rc;

	do {
		a->part.bytes = b->part.bytes = 0;
		rc = sp__collate_encode_window(t, a->s, a->n, from, room, &a->part);
		if (!rc)
			rc = sp__collate_encode_window(t, b->s, b->n, from, room, &b->part);
		if (rc)
			return rc;
		*order = sp__order_bytes(a->part.data, a->part.bytes, b->part.data, b->part.bytes);
		full = a->part.bytes == room;
		from += room;
		room = from * GROWTH < most ? from * GROWTH : most;
	} while (!*order && full);
	return 0;
}

int sp__collate_compare_long(struct sp__collate *c, const char *a, size_t an, const char *b,
			     size_t bn)
{
	struct long_text x = { .s = a, .n = an }, y = { .s = b, .n = bn };
	const struct sp__collate_table *t = table_for(c, an + bn);
	int order, rc;

	if (!t || (an == bn && !memcmp(a, b, an)))
		return sp__collate_compare(a, an, b, bn);
	order = sp__collate_order_letters(t, a, an, b, bn);
	if (order)
		return order;
	rc = compare_windows(t, &x, &y, &order);
	sp__keybuf_release(&x.part);
	sp__keybuf_release(&y.part);
	return rc ? sp__collate_compare(a, an, b, bn) : order;
}
